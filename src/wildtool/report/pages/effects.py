"""What alterations cost: altered runs of a report beside the same runs without them, on the same units."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wildtool.engine.compare.pairs import UnitKey, UnitScores, format_difference, pair_units
from wildtool.engine.compare.runs import agent_settings
from wildtool.engine.compare.side_scores import Accuracy
from wildtool.engine.score.formatting import format_p, format_possible, format_range
from wildtool.report.model import ReportRun
from wildtool.stats.tests import finding


@dataclass(frozen=True, slots=True)
class AlterationEffect:
    """One altered run against the run with the fewest other alterations, as texts."""

    model: str
    board: str
    """Benchmark and profile."""
    alteration: str
    """What the altered run has and the other has not."""
    units: int
    before: str
    after: str
    difference: str
    interval: str
    p: str
    finding: str


def alteration_effects(runs: Sequence[ReportRun]) -> list[AlterationEffect]:
    """The altered runs that have a counterpart among the runs, in order."""
    effects = (_effect(run, base) for run in runs if (base := _counterpart(run, runs)) is not None)
    return [effect for effect in effects if effect is not None]


def _counterpart(run: ReportRun, runs: Sequence[ReportRun]) -> ReportRun | None:
    """The run that has only some of a run's alterations, the most of them; None where there is none."""
    own = set(run.result.disturbances)
    others = [
        each for each in runs if _setting(each) == _setting(run) and set(each.result.disturbances) < own
    ]
    return max(others, key=lambda each: len(each.result.disturbances), default=None)


def _setting(run: ReportRun) -> tuple[object, ...]:
    result = run.result
    rules = (result.benchmark, result.profile, result.played, result.mode, result.prompts)
    asked = agent_settings(run.about["identity"])
    return (result.model, asked, result.roles, *rules, result.data_sha256, result.split, result.read_as)


def _effect(run: ReportRun, base: ReportRun) -> AlterationEffect | None:
    pairs = pair_units(base.scores, run.scores)
    if pairs is None:
        return None
    shared = run.scores.shares.keys() & base.scores.shares.keys()
    before, after = (_accuracy(side.scores, shared) for side in (base, run))
    drop, p = pairs.difference, pairs.test()[0]
    more = [text for text in run.result.disturbances if text not in base.result.disturbances]
    return AlterationEffect(
        model=run.result.model,
        board=f"{run.result.benchmark}, {run.result.profile_label}",
        alteration="; ".join(more),
        units=pairs.units,
        before=before,
        after=after,
        difference=format_difference(drop.value, pairs.ends),
        interval=format_range(drop.low, drop.high, signed=True),
        p=format_p(p),
        finding=finding(drop.value, p, pairs.missing),
    )


def _accuracy(scores: UnitScores, units: Collection[UnitKey]) -> str:
    """The share of some units that is right, weighted as the difference is; or the range that those without a verdict
    leave open."""
    weights = {key: scores.weights.get(key[0], 1) for key in units}
    whole = sum(weights.values())
    least = sum(weight * scores.shares[key] for key, weight in weights.items()) / whole
    missing = sum(weight * scores.missing.get(key, 0) for key, weight in weights.items()) / whole
    return format_possible(Accuracy(float(least), None, None, float(least), float(least + missing)))
