"""Finds benchmarks by name: any installed package can offer some under the entry point group below."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from wildtool.errors import UsageError
from wildtool.types import Benchmark

GROUP = "wildtool.benchmarks"


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def benchmark_names() -> list[str]:
    """Names of all installed benchmarks, sorted."""
    return sorted(_entries())


def load_benchmark(name: str) -> Benchmark:
    """The benchmark of that name. Raises UsageError listing the known names where there is none."""
    entry = _entries().get(name)
    if entry is None:
        known = ", ".join(benchmark_names()) or "none is installed"
        raise UsageError(f"unknown benchmark {name!r}; known are: {known}")
    benchmark: Benchmark = entry.load()
    return benchmark
