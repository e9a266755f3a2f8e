"""Finds benchmarks by name: our own, and those that other packages offer under the entry point group below."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.benchmarks import OURS
from wildtool.errors import RecordError, UsageError, unknown
from wildtool.types import Benchmark

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "wildtool.benchmarks"
MADE = "yield.json"
"""Lies beside a run folder that holds how something was made, and no answers to a benchmark."""


@cache
def _entries() -> "dict[str, EntryPoint]":
    """What other packages offer."""
    # Reading the descriptions of all packages takes as long as a tenth of a judging; our own need none of it.
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def benchmark_names() -> list[str]:
    """Names of our benchmarks and of those of all installed packages, sorted."""
    return sorted({*OURS, *_entries()})


def load_benchmark(name: str, mode: str | None = None) -> Benchmark:
    """The benchmark of that name in a mode (None: its first). Ours win over others of their name.

    Raises UsageError listing the known names or modes where there is none of that name.
    """
    if name in OURS:
        module, _, found = OURS[name].partition(":")
        return in_mode(getattr(import_module(module), found), mode)
    entry = _entries().get(name)
    if entry is None:
        raise UsageError(unknown("benchmark", name, benchmark_names()))
    return in_mode(entry.load(), mode)


def played_benchmark(folder: Path, name: str, mode: str | None) -> Benchmark:
    """The benchmark of a run in a folder.

    Raises RecordError where there is none of that name, UsageError where it has no such mode.
    """
    if name not in benchmark_names():
        made = folder.parent / MADE
        if made.exists():
            raise RecordError(
                f"{folder}: holds how {name} were made, no answers that could be judged. What came of it stands in "
                f"{folder.parent}: {made.name} says where attempts were lost; play and check what was made there"
            )
        raise RecordError(
            f"{folder}: a run of {name!r}, which is no benchmark here; known are: {', '.join(benchmark_names())}. "
            "Install the package that it comes from"
        )
    return load_benchmark(name, mode)


def in_mode(benchmark: Benchmark, mode: str | None) -> Benchmark:
    """The benchmark in a mode (None: as it is). Raises UsageError listing its modes where it has none of that name."""
    if mode is None:
        return benchmark
    if mode not in benchmark.modes:
        raise UsageError(unknown("mode", mode, benchmark.modes, of=benchmark.name))
    return benchmark.in_mode(mode)
