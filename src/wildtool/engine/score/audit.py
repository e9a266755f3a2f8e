"""Audits a profile: what the gold answers score under it, and whether it notices a mistake put into them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark, Mutant
from wildtool.engine.plan import SelectedItems, Selection, check_profile
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.score.verdict_table import OutcomeCounts, RunInfo, VerdictTable, relation, verdicts_path
from wildtool.episode import COOPERATIVE
from wildtool.errors import UsageError
from wildtool.temporary import temporary_folder
from wildtool.types import Item, Metric, Reply, Source, Transcript, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """What gold answers of one style score."""

    style: str
    counts: OutcomeCounts
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongGold:
    """A gold answer that was not judged correct."""

    item: str
    unit: str
    style: str
    error: str | None
    reason: str
    """The rule that refused it."""
    why: str
    """The benchmark's explanation; empty where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KillRate:
    """How many mutants of one kind were judged wrong."""

    kind: str
    killed: int
    mutants: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivors:
    """Mutants that a profile lets pass for one reason, with the first as example."""

    why: str
    """The benchmark's explanation; empty where it has none."""
    count: int
    item: str
    unit: str
    kind: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit of one profile found."""

    profile: str
    mode: str
    ceilings: tuple[Ceiling, ...]
    wrong_gold: tuple[WrongGold, ...]
    """Each unit once in each style."""
    kills: tuple[KillRate, ...]
    survivors: tuple[Survivors, ...]
    faults: tuple[str, ...]
    """Items that the judge failed on, with the reason."""

    @property
    def passed(self) -> bool:
        """Whether all gold is judged correct and every mutant wrong."""
        return all(c.counts.correct == c.counts.units for c in self.ceilings) and not self.survivors


def audit_profile(
    benchmark: Benchmark, source: Source, profile: str, *, split: str | None = None, lang: str | None = None
) -> Audit:
    """Audits a profile over data. Raises UsageError where it is unknown or where nothing is selected."""
    check_profile(benchmark, profile)
    items = Selection(benchmark=benchmark, source=source, split=split, lang=lang).read()
    faults: list[str] = []
    wrong_gold: list[WrongGold] = []
    ceilings = tuple(
        _ceiling(benchmark, items, profile, style, faults, wrong_gold) for style in benchmark.gold_styles
    )
    kills: Counter[str] = Counter()
    mutants: Counter[str] = Counter()
    survivors: dict[str, Survivors] = {}
    for item in items:
        for mutant, killed in _run_mutants(benchmark, item, profile, faults):
            mutants[mutant.kind] += 1
            kills[mutant.kind] += killed
            if not killed:
                explanation = benchmark.rules(profile).explain(item, mutant)
                first = survivors.get(explanation) or Survivors(
                    why=explanation,
                    count=0,
                    item=item.id,
                    unit=mutant.unit,
                    kind=mutant.kind,
                    note=mutant.note,
                )
                survivors[explanation] = replace(first, count=first.count + 1)
    return Audit(
        profile=profile,
        mode=benchmark.mode,
        ceilings=ceilings,
        wrong_gold=tuple(wrong_gold),
        kills=tuple(
            KillRate(kind=kind, killed=kills[kind], mutants=count) for kind, count in mutants.items()
        ),
        survivors=tuple(sorted(survivors.values(), key=lambda survivor: -survivor.count)),
        faults=tuple(faults),
    )


def gold_transcript(benchmark: Benchmark, item: Item, unit: str, profile: str, style: str) -> Transcript:
    """What models with the right answers reply in one unit: the agent in a style, any other role cooperatively.

    Raises UsageError where there is no gold.
    """
    episode = benchmark.rules(profile).episode(item, unit)
    replies: list[Reply] = []
    while (request := episode.request()) is not None:
        if request.gold is None:
            raise UsageError(f"{benchmark.name} knows no gold answer for item {item.id!r}, unit {unit!r}")
        message = request.gold(style if request.role == "agent" else COOPERATIVE)
        replies.append(Reply(message))
        episode.advance(message)
    return Transcript(tuple(replies))


def _ceiling(
    benchmark: Benchmark,
    items: SelectedItems,
    profile: str,
    style: str,
    faults: list[str],
    wrong_gold: list[WrongGold],
) -> Ceiling:
    player = RunInfo(run="gold", model=f"gold, {style}", benchmark=benchmark.name, profile=profile)
    with (
        temporary_folder() as folder,
        VerdictTable(verdicts_path(Path(folder), profile), Variant(benchmark)) as table,
    ):
        for order, item in enumerate(items):
            gold = {unit: gold_transcript(benchmark, item, unit, profile, style) for unit in item.units}
            verdicts = _judged(benchmark, item, gold, profile, faults)
            wrong_gold += (
                WrongGold(
                    item=item.id,
                    unit=v.unit,
                    style=style,
                    error=v.error,
                    reason=v.reason,
                    why=benchmark.rules(profile).explain_gold(item, v.unit),
                )
                for v in verdicts
                if v.outcome != "correct"
            )
            table.add(order, player, item, 0, verdicts, {})
        metrics = benchmark.summarize(relation([table.write()]), profile)
        return Ceiling(style=style, counts=table.counts(), metrics=tuple(metrics))


def _run_mutants(
    benchmark: Benchmark, item: Item, profile: str, faults: list[str]
) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant of an item, and whether it was judged wrong."""
    for mutant in benchmark.rules(profile).mutants(item):
        script = Transcript(tuple(Reply(message) for message in mutant.replies), scripted=True)
        # Nothing else is judged: what the other units are without replies would be found thousands of times.
        transcripts = {mutant.unit: script}
        (verdict,) = _judged(benchmark, item, transcripts, profile, faults, only=mutant.unit)
        yield mutant, verdict.outcome == "wrong"


def _judged(
    benchmark: Benchmark,
    item: Item,
    transcripts: Mapping[str, Transcript],
    profile: str,
    faults: list[str],
    only: str | None = None,
) -> list[Verdict]:
    verdicts, fault = safe_judge(Variant(benchmark), item, transcripts, profile, only=only)
    if fault is not None:
        faults.append(f"{item.id}: {fault}")
    return verdicts
