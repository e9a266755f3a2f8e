"""Benchmarks are found by name among the installed ones."""

from importlib.metadata import EntryPoint

import pytest

from wildtool.engine import registry
from wildtool.errors import UsageError


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("thing", "math:pi", registry.GROUP)
    monkeypatch.setattr(registry, "_entries", lambda: {"thing": entry, "also": entry})


def test_a_benchmark_is_loaded_by_its_name():
    import math

    assert registry.load_benchmark("thing") is math.pi


def test_an_unknown_benchmark_is_answered_with_the_known_ones():
    with pytest.raises(UsageError, match="unknown benchmark 'thin'; known are: also, thing"):
        registry.load_benchmark("thin")
