"""What an audit finds: ceilings of gold answers, gold that is refused, and mistakes that pass."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from engine.echo_benchmark import EchoBenchmark, EchoEpisode, EchoRules
from wildtool.benchmark import Check, Mutant
from wildtool.data.data_set import data_of
from wildtool.engine.score.audit import (
    Audit,
    Ceiling,
    KillRate,
    Survivors,
    WrongGold,
    audit_profile,
)
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.types import Item, Metric, Request


def replies(*words: str) -> tuple[dict[str, Any], ...]:
    return tuple({"content": word} for word in words)


class OddGold(EchoEpisode):
    """Its gold answers are wrong in the style `serial`."""

    def request(self) -> Request | None:
        request = super().request()
        if request is None or self._user_next:
            return request
        return replace(request, gold=lambda style: {"content": "no" if style == "serial" else "right"})


class AuditedRules(EchoRules):
    def episode(self, item: Item, unit: str) -> EchoEpisode:
        return OddGold(item, unit) if (item.id, unit) == ("i1", "1") else super().episode(item, unit)

    def verdict(self, episode: EchoEpisode, item: Item, unit: str) -> Check:
        if any(answer.get("content") == "boom" for answer in episode.answers):
            raise KeyError("boom")
        return super().verdict(episode, item, unit)

    def mutants(self, item: Item) -> Iterable[Mutant]:  # pyright: ignore[reportIncompatibleMethodOverride]
        yield Mutant("0", "wrong word", replies("no", "right"), "no for right")
        yield Mutant("1", "added key", replies("right", "right"), f"a key in {item.id}")
        yield Mutant("1", "added key", replies("right", "no"), "a key and a word")
        if item.id == "i1":
            yield Mutant("0", "wrong word", replies("boom", "right"), "an unreadable word")
            yield Mutant("0", "other", replies("right", "right"), "nothing")

    def explain(self, item: Item, mutant: Mutant) -> str:
        return "" if mutant.kind == "other" else "F1"

    def explain_gold(self, item: Item, unit: str) -> str:
        return f"G of {item.id}/{unit}"


class Audited(EchoBenchmark):
    gold_styles = ("parallel", "serial")

    def rules(self, profile: str) -> AuditedRules:
        return AuditedRules(self, profile)


def test_an_audit_has_ceilings_refused_gold_and_what_passes_with_the_first_example():
    benchmark = Audited(items=2)
    audit = audit_profile(benchmark, data_of(benchmark).locate(None), "official")
    assert audit == Audit(
        profile="official",
        mode="plain",
        ceilings=(
            Ceiling(
                style="parallel",
                counts=OutcomeCounts(correct=4),
                metrics=(Metric("all", "accuracy", 1.0, 4, 4),),
            ),
            Ceiling(
                style="serial",
                counts=OutcomeCounts(correct=3, wrong=1),
                metrics=(Metric("all", "accuracy", 0.75, 3, 4),),
            ),
        ),
        wrong_gold=(
            WrongGold(item="i1", unit="1", style="serial", error=None, reason="echo", why="G of i1/1"),
        ),
        kills=(
            KillRate(kind="wrong word", killed=2, mutants=3),
            KillRate(kind="added key", killed=2, mutants=4),
            KillRate(kind="other", killed=0, mutants=1),
        ),
        survivors=(
            Survivors(why="F1", count=3, item="i0", unit="1", kind="added key", note="a key in i0"),
            Survivors(why="", count=1, item="i1", unit="0", kind="other", note="nothing"),
        ),
        faults=("i1: the judge of echo failed: KeyError: 'boom'",),
    )
    assert not audit.passed
    passing = replace(audit, survivors=(), ceilings=audit.ceilings[:1])
    assert passing.passed
    assert not replace(passing, survivors=audit.survivors[1:]).passed
    assert not replace(passing, ceilings=audit.ceilings).passed
