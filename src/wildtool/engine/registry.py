"""Finds benchmarks by name: our own, and those that other packages offer under the entry point group below."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.benchmarks import OURS
from wildtool.errors import DataError, RecordError, UsageError, unknown_name
from wildtool.types import Benchmark, OriginalPrompts

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "wildtool.benchmarks"
ATTRITION_FILE = "yield.json"
"""Lies beside a run folder that holds how something was made, and no answers to a benchmark."""


@cache
def _entries() -> "dict[str, EntryPoint]":
    """What other packages offer."""
    # Reading the descriptions of all packages takes as long as a tenth of a judging; our own need none of it.
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}


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
        raise UsageError(unknown_name("benchmark", name, benchmark_names()))
    return in_mode(entry.load(), mode)


def played_benchmark(folder: Path, name: str, mode: str | None) -> Benchmark:
    """The benchmark of a run in a folder.

    Raises RecordError where there is none of that name, UsageError where it has no such mode.
    """
    if name not in benchmark_names():
        made = folder.parent / ATTRITION_FILE
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
        raise UsageError(unknown_name("mode", mode, benchmark.modes, of=benchmark.name))
    return benchmark.in_mode(mode)


OWN_WORDING, ORIGINAL_WORDING = "own", "original"
"""Whose prompts are sent."""


def choose_prompts(benchmark: Benchmark, which: str | None, split: str | None) -> Benchmark:
    """The benchmark with the prompts that are wanted; None for the original's where they were pulled, else our own.

    Raises UsageError where the original's are wanted and not there, DataError where they are damaged.
    """
    if which not in (None, OWN_WORDING, ORIGINAL_WORDING):
        raise UsageError(f"--prompts is {which!r}; it takes {OWN_WORDING} or {ORIGINAL_WORDING}")
    if which == OWN_WORDING:
        return benchmark
    original = _original(benchmark, split)
    if original is not None or which is None:
        return original or benchmark
    if not isinstance(benchmark, OriginalPrompts):
        raise UsageError(f"{benchmark.name} has no prompts of an original to fetch; leave --prompts out")
    first = next(iter(benchmark.modes))
    asked = f" in mode {benchmark.mode}" if benchmark.mode != first else ""
    asked += f" for split {split}" if split is not None else ""
    raise UsageError(
        f"no original prompts of {benchmark.name}{asked}: there are some for mode {first} of the official data, once "
        f"`wildtool data pull {benchmark.name}` has fetched them; otherwise leave out --prompts"
    )


def with_recorded_prompts(benchmark: Benchmark, prompts: str) -> Benchmark:
    """The benchmark as it was played with the original's prompts of this digest (empty: our own wording).

    Where they are not at hand any more it is the benchmark with our wording, which judges alike.
    """
    try:
        original = _original(benchmark, None) if prompts else None
    except DataError:
        original = None
    return original if original is not None and prompts_of(original) == prompts else benchmark


def prompts_of(benchmark: Benchmark) -> str:
    """Digest of the original's prompts that a benchmark sends; empty where it sends our own wording."""
    return benchmark.prompts if isinstance(benchmark, OriginalPrompts) else ""


def original_sampling(benchmark: Benchmark) -> Mapping[str, Any]:
    """What the original asks models with. Raises UsageError where that is not known."""
    if not isinstance(benchmark, OriginalPrompts):
        raise UsageError(
            f"how the original of {benchmark.name} samples is not known here; leave --sampling out"
        )
    return benchmark.original_sampling


def _original(benchmark: Benchmark, split: str | None) -> Benchmark | None:
    return benchmark.in_original_prompts(split) if isinstance(benchmark, OriginalPrompts) else None
