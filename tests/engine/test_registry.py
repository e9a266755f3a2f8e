"""Benchmarks are found by name among the installed ones."""

import re
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.echo_benchmark import ECHO, EchoBenchmark
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


class Base(EchoBenchmark):
    """Reads a format of its own; its package is called as it is."""

    __module__ = "packages.base"
    name, modes = "base", {"plain": "as it stands"}


class Alike(Base):
    """Other data of the same format, in the same package."""

    name, title = "alike", "Alike"


class Further(Base):
    """Reads more than the format."""

    __module__ = "packages.further"
    name, columns = "further", {"mood": "VARCHAR"}


def test_data_are_read_by_one_benchmark_of_each_format(monkeypatch: pytest.MonkeyPatch):
    base, alike, further = Base(), Alike(), Further()
    monkeypatch.setattr(registry, "OF_ANY_FILE", {"any": "x:y"})
    anything = Further()
    anything.name = "any"
    for usable, formats in (
        ([anything, alike, base, further], [base, further]),
        ([base, alike, anything, further], [base, further]),
        ([alike, anything], [alike]),
    ):
        monkeypatch.setattr(registry, "usable_benchmarks", lambda usable=usable: usable)
        assert registry._formats() == formats


@pytest.mark.parametrize(
    ("located", "read", "choice"),
    [
        ("x", "x", "x"),
        ("xy", "y", "y"),
        ("z", "", "z"),
        ("xy", "", "x, y"),
        ("", "", "x, y, z"),
        ("", "y", "y"),
        ("yz", "yz", "y, z"),
    ],
)
def test_data_are_of_the_benchmark_that_alone_knows_or_reads_them(
    located: str, read: str, choice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(registry, "_formats", lambda: [SimpleNamespace(name=name) for name in "xyz"])
    monkeypatch.setattr(registry, "_locates", lambda benchmark, data: benchmark.name in located)
    monkeypatch.setattr(registry, "_reads", lambda benchmark, data: benchmark.name in read)
    file = tmp_path / "f"
    file.write_text("")
    if len(choice) == 1:
        assert registry.detect_benchmark(None, str(file)).name == choice
        return
    for data, reason in (
        (file, "cannot tell which benchmark these data belong to;"),
        (
            tmp_path,
            "a folder of no known benchmark; of training files, name one of them; of a benchmark's data,",
        ),
        (tmp_path / "no", "there is no such file or folder; if a benchmark has data of that name,"),
    ):
        with pytest.raises(UsageError) as raised:
            registry.detect_benchmark(None, str(data))
        assert str(raised.value) == f"{data}: {reason} add --benchmark NAME, one of: {choice}"


def test_a_benchmark_is_named_or_called_as_its_data():
    assert registry.detect_benchmark("echo", None) is registry.detect_benchmark(None, "echo") is ECHO
    with pytest.raises(UsageError) as raised:
        registry.detect_benchmark(None, None)
    assert str(raised.value) == (
        "give the data with --data FILE, or the name of their benchmark with --benchmark NAME"
    )


def test_none_of_our_own_replaces_a_column_that_every_benchmark_has():
    for name, place in {**benchmarks.OURS, **benchmarks.OF_ANY_FILE}.items():
        module, _, benchmark = place.partition(":")
        assert not registry.replaced_columns(getattr(import_module(module), benchmark)), name
