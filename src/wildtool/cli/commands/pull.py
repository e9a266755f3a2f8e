"""`wildtool data pull`."""

from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.command import opt
from wildtool.cli.options import shared as options
from wildtool.cli.terminal import escape_text, print_err, print_out
from wildtool.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wildtool.benchmark import Benchmark


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
        for source, news, _ in upstream_news(owner, mirror):
            print_err(escape_text(f"{source}: {news}"))


def upstream_news(owner: "Benchmark", mirror: str | None) -> "Iterator[tuple[str, str, bool]]":
    """What became of each repository that a benchmark is pinned to: the pin, what is new or why that is not known, and
    whether it is known. Args: mirror: address to ask in place of the forge's."""
    from wildtool.benchmark import evaluators_of
    from wildtool.data.data_set import data_of
    from wildtool.data.upstream import news_of, sources_of

    for pin in sources_of(evaluators_of(owner), data_of(owner).upstream):
        try:
            yield str(pin), news_of(pin, mirror), True
        except DataError as error:
            yield str(pin), f"could not be asked: {error}", False
