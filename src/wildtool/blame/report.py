"""The numbers of a blame: failures by cause, the score if a party had been right, and what none of it rests on."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wildtool.alter.base import UNDER_TEST
from wildtool.blame.blaming import Blamed, BlamedUnit
from wildtool.blame.causes import ASKED_AGAIN, NO_PARTY, NOT_DECIDED, RIGHT_GOLD, Trial
from wildtool.blame.of_run import Prepared
from wildtool.blame.parties import GOLD, MODEL, PARTIES, USER
from wildtool.blame.trials import trial_name
from wildtool.blame.turning import TurningPoint, turn_of
from wildtool.engine.score.formatting import counted
from wildtool.stats.intervals import clustered_rate


@dataclass(frozen=True, slots=True)
class CauseRow:
    """Failed units with one cause."""

    cause: str
    units: int
    share: float
    """Of the failed units whose cause is known, those without any included."""
    low: float
    high: float
    """Its 95 % interval, clustered by item."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The score of the run if one party had been right, and all others as they were."""

    party: str
    score: float
    low: float
    high: float
    """The 95 % interval, clustered by item; units that were right are taken to stay so."""
    units: int
    """All units of the run with a verdict."""
    tried: int
    """Failed units that this rests on; each stands for as many as were not tried."""


@dataclass(frozen=True, slots=True)
class FailedUnitRow:
    """One failed unit."""

    item: str
    repeat: int
    unit: str
    cause: str
    turned: int | None
    """Step of the record, from 0 and over all roles, at which the model's calls part from those of a play that ends
    right; of an endpoint the reply that it cut; None where no play ends right, or no calls differ."""
    said_before: int | None
    """The last reply of the blamed user before that; None for other causes."""
    plays: Mapping[str, Sequence[int]]
    """By trial plays that ended right, that ended wrong, and that have no verdict."""
    reason: str
    """Why it was judged wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlameReport:
    """What came of a blame."""

    run: str
    models: Mapping[str, str]
    """By role the model of the run."""
    asked_again: Mapping[str, str]
    """By role the model that was asked again."""
    benchmark: str
    profile: str
    judged: int
    """Units of the run with a verdict."""
    score: float
    """Share of them that are right."""
    without_verdict: int
    """Units of the run without one: their calls failed, or they were not played."""
    failed: int
    tried: int
    undecided: int
    """Tried units whose cause is not known, since calls failed or were not made."""
    unreviewed: int
    """Tried units of which reviewed gold answers say nothing: they are asked in other words there, or go on where the
    record ends."""
    plays: int
    """Plays of each trial in which anybody was asked."""
    stopped: str
    """The limit that ended it early; empty for none."""
    cannot_replace: Mapping[str, str]
    """Parties that nothing is known to be right for in this run, each with the reason."""
    causes: Sequence[CauseRow]
    scores: Sequence[ScoreRow]
    units: Sequence[FailedUnitRow]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def report_of(prepared: Prepared, blamed: Blamed) -> BlameReport:
    """The numbers of a blame."""
    job, units = blamed.trials.job, blamed.units
    models = blamed.trials.make_models()
    return BlameReport(
        run=job.run_info.run,
        models={role: its["name"] for role, its in job.run_json["identity"]["models"].items()},
        asked_again={role: model.model.name for role, model in models.items()},
        benchmark=job.run_info.benchmark,
        profile=job.run_info.profile,
        judged=units.judged,
        score=units.right.total() / units.judged if units.judged else 0.0,
        without_verdict=units.without_verdict,
        failed=len(units.failed),
        tried=len(blamed.tried),
        undecided=sum(unit.cause == NOT_DECIDED for unit in blamed.tried),
        unreviewed=prepared.unreviewed + sum(_goes_on(blamed, unit) for unit in blamed.tried),
        plays=blamed.trials.plays,
        stopped=blamed.stopped,
        cannot_replace=blamed.trials.setting.lacking,
        causes=_cause_rows(blamed.tried),
        scores=_score_rows(blamed),
        units=[_unit_row(blamed, unit) for unit in blamed.tried],
    )


def remarks(report: BlameReport) -> Iterator[str]:
    """Sentences on what the numbers do not rest on."""
    if report.failed > report.tried:
        untried = counted(report.failed - report.tried, "failed unit")
        yield f"Not tried: {untried}; those that were are a sample."
    if report.without_verdict:
        yield f"Without a verdict in the run, so not tried: {counted(report.without_verdict, 'unit')}."
    if report.undecided:
        reason = f" ({report.stopped})" if report.stopped else ""
        yield (
            f"Undecided, since calls failed or were not made{reason}: {counted(report.undecided, 'tried unit')}; the "
            "same command continues. Where a trial says nothing of them, its score counts them like the others."
        )
    if report.unreviewed:
        units = counted(report.unreviewed, "tried unit")
        yield (
            f"The reviewed gold answers say nothing of {units}: they ask in other words than the run, or continue where "
            "its record ends."
        )
    for role, name in report.asked_again.items():
        if name != report.models[role]:
            yield f"Asked again as the {role} was {name}, not the run's {report.models[role]}."
    for party, reason in report.cannot_replace.items():
        yield f"Not replaced: {party}, since {reason}."


def _goes_on(blamed: Blamed, unit: BlamedUnit) -> bool:
    """Whether a unit goes on, by reviewed gold answers, where its record ends."""
    return (unit.failed.item.id, unit.failed.unit) in blamed.trials.reviewed and GOLD not in unit.parties


def _cause_rows(tried: Sequence[BlamedUnit]) -> list[CauseRow]:
    decided = [unit for unit in tried if unit.cause != NOT_DECIDED]
    of_item = Counter(unit.failed.item.id for unit in decided)
    counts = Counter(unit.cause.label for unit in decided)
    rows: list[CauseRow] = []
    for label, count in counts.most_common():
        its = Counter(unit.failed.item.id for unit in decided if unit.cause.label == label)
        rate = clustered_rate([(its[item], size) for item, size in of_item.items()])
        assert rate is not None
        rows.append(CauseRow(label, count, *rate))
    return rows


def _score_rows(blamed: Blamed) -> list[ScoreRow]:
    suspects = {party for unit in blamed.tried for party in unit.parties}
    trials: dict[str, Trial] = {party: frozenset({party}) for party in PARTIES if party in suspects - {MODEL}}
    trials["nobody, asked again"] = NO_PARTY
    rows = [_score_row(blamed, name, trial) for name, trial in trials.items()]
    return [row for row in rows if row is not None]


def _score_row(blamed: Blamed, name: str, trial: Trial) -> ScoreRow | None:
    """None where no play has a verdict."""
    units = blamed.units
    of_tried = {unit.failed.key: _mended_share(unit, trial) for unit in blamed.tried}
    shares = {key: share for key, share in of_tried.items() if share is not None}
    if not shares:
        return None
    weight = len(units.failed) / len(shares)
    sums = {item: (float(right), float(right)) for item, right in units.right.items()}
    for (item, _, _), share in shares.items():
        right, size = sums[item]
        sums[item] = right + weight * share, size + weight
    rate = clustered_rate(list(sums.values()))
    return None if rate is None else ScoreRow(name, *rate, units.judged, len(shares))


def _mended_share(unit: BlamedUnit, trial: Trial) -> float | None:
    """Share of the plays of a trial that end right; None where none has a verdict, or reviewed gold answers say nothing
    of the unit. One whose cause was found without that trial, or in which the party has no part, stays as it was."""
    if trial == RIGHT_GOLD:
        return float(unit.right_by_reviewed) if GOLD in unit.parties else None
    result = unit.results_of.get(trial)
    if result is None:
        return None if unit.cause == NOT_DECIDED else 0.0
    return result.tally.share


def _unit_row(blamed: Blamed, unit: BlamedUnit) -> FailedUnitRow:
    turn = turned(blamed, unit)
    plays = {
        trial_name(trial): (its.right, its.wrong, its.missing)
        for trial, its in sorted(unit.tallies().items(), key=lambda pair: (len(pair[0]), trial_name(pair[0])))
    }
    failed = unit.failed
    return FailedUnitRow(
        failed.item.id,
        failed.repeat,
        failed.unit,
        unit.cause.label,
        turn and turn.step,
        turn and turn.said_before,
        plays,
        failed.reason,
    )


def turned(blamed: Blamed, unit: BlamedUnit) -> TurningPoint | None:
    """Where a unit turned; None where nothing was played that ends right."""
    by = unit.cause.mended_by
    if by is None:
        return None
    if by == ASKED_AGAIN:
        return TurningPoint(min(step for _, _, step in unit.failed.faults()), None)
    rules = blamed.trials.setting.variant.benchmark.rules(blamed.trials.job.run_info.profile)
    role = USER if USER in by else UNDER_TEST
    return turn_of(rules, unit.failed.unit, unit.failed.log, unit.mended_log(), role)
