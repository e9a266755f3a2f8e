"""`wildtool data pull`."""

from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.command import opt
from wildtool.cli.options import shared as options
from wildtool.errors import DataError
from wildtool.terminal import escape_text, print_err, print_out

if TYPE_CHECKING:
    from wildtool.benchmark import Benchmark
    from wildtool.types import Upstream


def pull(
    benchmark: str = options.BENCHMARK_ARGUMENT,
    file: Path | None = opt("--from FILE", "Use this file or folder instead of downloading."),
    mirror: str | None = opt("URL", "Download from this address instead."),
    version: str | None = opt(
        "NAME", "An older version of the data, such as 2025-08, kept beside the newest (default: the newest)."
    ),
    upstream: bool = opt(
        "Ask too whether its authors have changed anything since the version that is pinned."
    ),
) -> None:
    """Download a benchmark's official data and verify them.

    \b
    Examples:
      wildtool data pull wildtoolbench
      wildtool data pull wildtoolbench --from Wild-Tool-Bench.jsonl
      wildtool data pull acebench --version 2025-08
    """
    from wildtool.data.data_set import data_of
    from wildtool.engine.registry import load_benchmark

    owner = load_benchmark(benchmark)
    data = data_of(owner) if version is None else data_of(owner).at_version(version)
    print_out(str(data.pull(file=file, mirror=mirror, report=print_err)))
    if upstream:
        for pin in pins_of(owner):
            news, _ = upstream_news(pin, mirror)
            print_err(escape_text(f"{pin}: {news}"))


def pins_of(owner: "Benchmark") -> "list[Upstream]":
    """The commits of public repositories that a benchmark is pinned to."""
    from wildtool.benchmark import evaluators_of
    from wildtool.data.data_set import data_of
    from wildtool.data.upstream import sources_of

    return sources_of(evaluators_of(owner).values(), data_of(owner).upstream)


def upstream_news(pin: "Upstream", mirror: str | None) -> tuple[str, bool]:
    """What is new since a pinned commit, or why that is not known; and whether it is known.

    Args: mirror: address to ask in place of the forge's.
    """
    from wildtool.data.upstream import news_of

    try:
        return news_of(pin, mirror), True
    except DataError as error:
        return f"not known: {error}", False
