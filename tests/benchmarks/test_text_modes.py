"""In the modes that a benchmark names as those of text no request has native tools."""

from collections.abc import Iterator
from itertools import islice
from pkgutil import resolve_name

import pytest

from wildtool.benchmark import NATIVE, Benchmark
from wildtool.benchmarks import OURS
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.episode import COOPERATIVE, GOLD_STYLE
from wildtool.types import Episode, Request


def requests(episode: Episode) -> Iterator[Request]:
    """Of a walk by gold answers."""
    while (request := episode.request()) is not None:
        yield request
        assert request.gold is not None
        episode.advance(request.gold(GOLD_STYLE if request.role == "agent" else COOPERATIVE))


@pytest.mark.parametrize("mode", ACEBENCH.modes)
def test_only_a_request_of_another_mode_has_native_tools(mode: str):
    benchmark = ACEBENCH.in_mode(mode)
    asked = [
        request
        for item in islice(benchmark.load(ACEBENCH.data.locate("finance")), 20)
        for profile in benchmark.profiles
        for unit in item.units
        for request in requests(benchmark.rules(profile).episode(item, unit))
        if request.role == "agent"
    ]
    assert asked and bool([request for request in asked if request.tools]) is (
        mode not in benchmark.text_modes
    )


@pytest.mark.parametrize("place", OURS.values())
def test_modes_of_text_are_modes_of_the_benchmark_and_not_the_native_one(place: str):
    benchmark: Benchmark = resolve_name(place)
    assert {*benchmark.text_modes} <= benchmark.modes.keys() - {NATIVE}
