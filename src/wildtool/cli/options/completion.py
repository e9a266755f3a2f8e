"""Shell completion: names of benchmarks and their files, profiles, modes, models and formats."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.errors import WildtoolError

if TYPE_CHECKING:
    from wildtool.benchmark import Benchmark


def benchmarks(incomplete: str) -> list[str]:
    """Names of benchmarks, and Python files, which may define one, in the folder that is typed."""
    from wildtool.engine.registry import benchmark_names

    folder = incomplete[: incomplete.rfind("/") + 1]
    files = (folder + path.name for path in sorted(Path(folder or ".").glob("*.py")))
    return _with_prefix(incomplete, (*benchmark_names(), *files))


def benchmarks_and_suites(incomplete: str) -> list[str]:
    """What `wildtool run` takes."""
    from wildtool.benchmarks import SUITES

    return [*benchmarks(incomplete), *_with_prefix(incomplete, SUITES)]


def profiles(ctx: Any, incomplete: str) -> list[str]:
    """Profiles of the benchmark on the command line, or of all."""
    return _with_prefix(
        incomplete, (name for benchmark in _matching_benchmarks(ctx) for name in benchmark.profiles)
    )


def modes(ctx: Any, incomplete: str) -> list[str]:
    """Modes of the benchmark on the command line, or of all."""
    return _with_prefix(
        incomplete, (name for benchmark in _matching_benchmarks(ctx) for name in benchmark.modes)
    )


def models(incomplete: str) -> list[str]:
    """Models of `wildtool.toml`, baselines, and prefixes of known endpoints."""
    from wildtool.config.config_file import read_config
    from wildtool.models.baselines import BASELINES
    from wildtool.models.resolve import PRESETS, installed_prefixes

    try:
        entries = list(read_config(None).models)
    except WildtoolError:
        entries = []
    prefixes = [f"{prefix}/" for prefix in (*PRESETS, *installed_prefixes())]
    return _with_prefix(incomplete, (*entries, *BASELINES, *prefixes))


def tool_formats(incomplete: str) -> list[str]:
    """Formats in which models write tool calls."""
    from wildtool.tool_formats import CALL_FORMATS

    return _with_prefix(incomplete, (*CALL_FORMATS, "auto"))


def _matching_benchmarks(ctx: Any) -> "list[Benchmark]":
    from wildtool.engine.registry import benchmark_names, load_benchmark

    names = benchmark_names()
    # While an option waits for its value, the words before it are not parsed into parameters yet.
    words = [name for name in (ctx.params.get("benchmark"), *ctx.args) if name in names]
    try:
        return [load_benchmark(name) for name in words[:1] or names]
    except WildtoolError:
        return []


def _with_prefix(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
