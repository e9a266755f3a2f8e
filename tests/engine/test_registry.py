"""Benchmarks are found by name among the installed ones."""

import re
from importlib import import_module
from importlib.metadata import EntryPoint

import pytest

from engine.echo_benchmark import ECHO
from wildtool import benchmarks
from wildtool.engine import registry
from wildtool.errors import UsageError


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, no_benchmark_files: object) -> None:
    entry = EntryPoint("thing", "math:pi", registry.ENTRY_POINT_GROUP)
    echo = EntryPoint("echo", "engine.echo_benchmark:ECHO", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry, "_OURS", {"ours": "math:tau"})
    monkeypatch.setattr(registry, "_entries", lambda: {"thing": (entry,), "echo": (echo,)})


def test_a_benchmark_is_loaded_by_its_name():
    import math

    assert registry.load_benchmark("echo") is ECHO
    assert registry.load_benchmark("ours") is math.tau


def test_our_own_are_found_without_looking_through_all_packages(monkeypatch: pytest.MonkeyPatch):
    import math

    monkeypatch.delattr(registry, "_entries")
    assert registry.load_benchmark("ours") is math.tau


def test_ours_win_over_others_of_their_name(monkeypatch: pytest.MonkeyPatch):
    import math

    monkeypatch.setattr(
        registry, "_entries", lambda: {"ours": (EntryPoint("ours", "math:pi", registry.ENTRY_POINT_GROUP),)}
    )
    assert registry.load_benchmark("ours") is math.tau
    assert registry.benchmark_names() == ["ours"]


def test_what_does_not_inherit_from_the_base_class_is_refused_by_name():
    with pytest.raises(UsageError, match=r"'thing' .* math:pi is float; inherit from wildtool.benchmark"):
        registry.load_benchmark("thing")


def test_an_unknown_benchmark_is_answered_with_the_known_ones():
    with pytest.raises(UsageError, match=re.escape("did you mean 'thing'? (known: echo, ours, thing)")):
        registry.load_benchmark("thin")


def test_a_benchmark_is_loaded_in_the_mode_that_is_asked_for():
    assert [registry.load_benchmark("echo", mode).mode for mode in (None, "loud")] == ["plain", "loud"]


def test_an_unknown_mode_is_answered_with_those_of_the_benchmark():
    with pytest.raises(UsageError, match=re.escape("unknown mode 'sung' of echo (known: plain, loud)")):
        registry.load_benchmark("echo", "sung")


def test_a_column_that_every_benchmark_has_is_refused_at_load(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ECHO, "columns", {"calls": "VARCHAR", "mood": "VARCHAR", "detail": "VARCHAR"})
    with pytest.raises(UsageError, match="has columns that every table of verdicts has: calls, detail; give"):
        registry.load_benchmark("echo")


def test_none_of_our_own_replaces_a_column_that_every_benchmark_has():
    for name, place in {**benchmarks.OURS, **benchmarks.OF_ANY_FILE}.items():
        module, _, benchmark = place.partition(":")
        assert not registry.replaced_columns(getattr(import_module(module), benchmark)), name
