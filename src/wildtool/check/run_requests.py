"""The requests that a run of the benchmark that ships with wildtool sends, with the right replies before them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from wildtool.alter.variant import Variant
from wildtool.benchmarks import SHIPPED
from wildtool.check.features import Feature, features_of
from wildtool.check.probe import WHOLE, Probe
from wildtool.data.data_set import data_of
from wildtool.engine.plan import Selection
from wildtool.engine.registry import load_benchmark
from wildtool.episode import EMPTY_REPLY
from wildtool.types import Reply, Request

REQUESTS, QUICK_REQUESTS = 8, 4
"""Of a run, as a check sends them."""
_ITEMS = 8
"""Items whose requests they are taken from."""


async def paired_probes(count: int | None) -> list[Probe]:
    """The first request of each task, with the right replies before it; one of each session first.

    Args: count: how many; None for all.
    """
    probes: dict[tuple[int, int], Probe] = {}
    for number, (item, steps) in enumerate((await _requests(None)).items()):
        for place, (unit, requests) in enumerate(steps.items()):
            probes[place, number] = _probe(f"{item}/{unit}", requests[0])
    return [probe for _, probe in sorted(probes.items(), key=lambda pair: pair[0])][:count]


async def run_probes(*, quick: bool) -> list[Probe]:
    """The first request of a run, then those that have most of what no earlier one has: a second step, parallel calls."""
    every = [
        replace(_probe(f"{item}/{unit}, step {number}", request), as_run=True)
        for item, steps in (await _requests(_ITEMS)).items()
        for unit, requests in steps.items()
        for number, request in enumerate(requests, 1)
    ]
    return list(_most_different(every, QUICK_REQUESTS if quick else REQUESTS))


def _most_different(probes: Sequence[Probe], count: int) -> Iterator[Probe]:
    rest = {probe.name: set(features_of(probe.body(WHOLE, forced=False))) for probe in probes}
    by_name = {probe.name: probe for probe in probes}
    covered: set[Feature] = set()
    name = probes[0].name
    for _ in range(min(count, len(probes))):
        yield by_name[name]
        covered |= rest.pop(name)
        name = max(rest, key=lambda each: len(rest[each] - covered), default="")


async def _requests(count: int | None) -> Mapping[str, Mapping[str, Sequence[Request]]]:
    """By item and unit, the requests of each step. Args: count: of the first items; None for all."""
    benchmark = load_benchmark(SHIPPED)
    items = Selection(benchmark=benchmark, source=data_of(benchmark).locate(None)).read()
    every: dict[str, dict[str, list[Request]]] = {}
    for item in list(items)[:count]:
        steps = every.setdefault(item.id, {})

        async def ask(unit: str, request: Request, steps: dict[str, list[Request]] = steps) -> Reply:
            steps.setdefault(unit, []).append(request)
            return Reply(request.gold(benchmark.gold_styles[0]) if request.gold else EMPTY_REPLY)

        await Variant(benchmark).play(item, ask, next(iter(benchmark.profiles)), in_order=True)
    return every


def _probe(name: str, request: Request) -> Probe:
    return Probe(name=name, messages=request.messages, tools=request.tools, forms=[WHOLE], repeats=1)
