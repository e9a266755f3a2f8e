"""Plays hand-made sessions with own history, by functions in place of models."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from wildtool.alter.history.history import OwnHistory
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.errors import InfraError
from wildtool.types import Item, Message, Reply, Request, Transcript, Verdict

REFUSE, SIMULATE = OwnHistory(Unrecorded.refuse), OwnHistory(Unrecorded.simulate)
Policy = Callable[[str, Request], Message]
"""Answers a request of a unit; raises InfraError where the call fails."""


@dataclass
class Record:
    """What was asked and said in each unit."""

    asked: dict[str, list[Request]] = field(default_factory=dict[str, list[Request]])
    said: dict[str, list[Message]] = field(default_factory=dict[str, list[Message]])
    failed: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def transcripts(self) -> Mapping[str, Transcript]:
        return {
            unit: Transcript(tuple(map(Reply, self.said.get(unit, ()))), infra_error=self.failed.get(unit))
            for unit in self.asked
        }


def gold(unit: str, request: Request) -> Message:
    assert request.gold is not None
    return request.gold("parallel" if request.role == "agent" else "cooperative 0")


def own(
    benchmark: Benchmark = WILDTOOLBENCH, alteration: OwnHistory = REFUSE, played: str = "fixed"
) -> Variant:
    return Variant(benchmark, (alteration,), played)


def play(variant: Variant, item: Item, policy: Policy) -> Record:
    """One session, under the profile that the variant names."""
    record = Record()

    async def ask(unit: str, request: Request) -> Reply:
        record.asked.setdefault(unit, []).append(request)
        try:
            reply = policy(unit, request)
        except InfraError as error:
            record.failed[unit] = str(error)
            raise
        record.said.setdefault(unit, []).append(reply)
        return Reply(reply)

    assert variant.played is not None
    asyncio.run(variant.play(item, ask, variant.played))
    return record


def judged(variant: Variant, item: Item, record: Record, profile: str | None = None) -> list[Verdict]:
    return variant.judge(item, record.transcripts, profile or variant.played or "fixed")


def scripted(**replies: list[Message]) -> Policy:
    """Says these in the units `u0`, `u1`, … and the gold answers once they are used up."""
    left = {name.removeprefix("u"): list(each) for name, each in replies.items()}
    return lambda unit, request: left[unit].pop(0) if left.get(unit) else gold(unit, request)
