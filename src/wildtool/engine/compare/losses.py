"""Where the units of two runs were lost: the difference of their accuracies as a sum over places.

Every wrong unit of both runs has a place. A bar is what the run lost at a place less what its baseline lost there, so
that all bars together are the difference. The units that one run lost and the other did not would be no such split: two
runs of one model lose and gain many by chance. What chance does to each bar is the floor, from a run like the baseline.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wildtool.alter.expose.lost import lost_unit
from wildtool.alter.expose.outcomes import EXPOSURE_COLUMNS, ExposedUnit
from wildtool.alter.expose.places import LOSS_PLACES, LossPlace, loss_place
from wildtool.engine.compare.pairs import Share, UnitKey, UnitScores, pair_units, share
from wildtool.engine.record.reader import LogReader, transcripts
from wildtool.engine.score.score import JudgedItem, JudgingJob, prepare_judging
from wildtool.errors import RecordError
from wildtool.stats.tests import AccuracyDifference
from wildtool.types import Transcript

UnitTries = Mapping[UnitKey, Sequence[LossPlace | None]]
"""By unit the place that each of its tries was lost at; None for one that is right. Tries without a verdict are left
out, so that a unit without any has none."""
BY_RUN, BY_REPEATS = "another run like it", "its own repeats"
"""What a floor is from."""


@dataclass(frozen=True, slots=True)
class PlaceDifference:
    """What a run lost at one place, beside its baseline."""

    place: LossPlace
    baseline: float
    """Units lost there, each with the share of its tries."""
    run: float
    difference: float
    """Share of all units that the run lost there, less the baseline's."""
    low: float
    """Lower end of its 95 % interval, paired and robust to clusters."""
    high: float
    floor: float | None = None
    """The same difference between the baseline and a run like it; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSplit:
    """The difference of two runs by place."""

    units: int
    """Those with a verdict in both runs; the others are in no place."""
    left_out: int
    """Those of either run that have no verdict in one of them, or in both."""
    baseline: float
    """Accuracy of the baseline over these units."""
    net: float
    """Accuracy of the run less the baseline's, over these units: minus the sum of all places."""
    low: float
    high: float
    places: tuple[PlaceDifference, ...]
    """Those that either run lost a unit at, in order."""
    floor: str = ""
    """What the floor is from; empty without one."""


def is_exposed(columns: Mapping[str, object]) -> bool:
    """Whether verdict columns, or the cells of a verdict, tell what an exposure did."""
    return EXPOSURE_COLUMNS.keys() <= columns.keys()


def lost_tries(folder: Path, profile: str) -> UnitTries:
    """Where each try of a run was lost. Raises as `prepare_judging`, and RecordError where its record is damaged."""
    job = prepare_judging(folder, profile=profile)
    tries: dict[UnitKey, list[LossPlace | None]] = {}
    with LogReader(folder) as reader:
        for judged in job.items(reader):
            if judged.fault is not None:
                raise RecordError(f"{folder}: {judged.item.id}: {judged.fault}; score the run first")
            places = _places(job, judged)
            for verdict in judged.verdicts:
                its = tries.setdefault((judged.item.id, verdict.unit), [])
                if verdict.unit in places:
                    its.append(places[verdict.unit])
    return tries


def _places(job: JudgingJob, judged: JudgedItem) -> Mapping[str, LossPlace | None]:
    """By unit with a verdict where it was lost."""
    profile, variant, item = job.run_info.profile, job.variant, judged.item
    places: dict[str, LossPlace | None] = {
        verdict.unit: None for verdict in judged.verdicts if verdict.outcome == "correct"
    }
    wrong = [verdict for verdict in judged.verdicts if verdict.outcome == "wrong"]
    if not wrong:
        return places
    silent_after: bool = job.run_json["identity"].get("silent_after", False)
    answers = transcripts(judged.log, scripted=silent_after)
    restored = variant.restored(item, answers, profile)
    settled = variant.settled(item, answers, profile)
    for verdict in wrong:
        said = restored.get(verdict.unit, Transcript(()))
        lost = lost_unit(variant, settled, verdict.unit, said, profile)
        # A unit that a refusal decided has no cells of its exposure.
        exposed = ExposedUnit.read(verdict.fields) if is_exposed(verdict.fields) else None
        places[verdict.unit] = loss_place(lost, exposed)
    return places


def split_losses(baseline: UnitTries, run: UnitTries, weights: Mapping[str, float]) -> LossSplit | None:
    """The difference of a run from its baseline by place; None where no unit has a verdict in both.

    Args:
        weights: by item how much its units count; empty where all count alike.
    """
    keys = [key for key in baseline if baseline[key] and run.get(key)]
    net = _difference(keys, run, baseline, None, weights)
    if net is None:
        return None
    rows: list[PlaceDifference] = []
    for place in LOSS_PLACES:
        if any(place in tries[key] for tries in (baseline, run) for key in keys):
            bar = _difference(keys, run, baseline, place, weights)
            assert bar is not None, "the units are the same"
            before, now = (float(sum(_share(tries[key], place) for key in keys)) for tries in (baseline, run))
            rows.append(PlaceDifference(place, before, now, bar.value, bar.low, bar.high))
    right = [(_share(baseline[key], None), weights.get(key[0], 1)) for key in keys]
    accuracy = sum(float(value) * weight for value, weight in right) / sum(weight for _, weight in right)
    return LossSplit(
        units=len(keys),
        left_out=len({*baseline, *run}) - len(keys),
        baseline=accuracy,
        net=net.value,
        low=net.low,
        high=net.high,
        places=tuple(rows),
    )


def _difference(
    keys: Sequence[UnitKey],
    run: UnitTries,
    baseline: UnitTries,
    place: LossPlace | None,
    weights: Mapping[str, float],
) -> AccuracyDifference | None:
    """The share of units with a place in a run, less that of its baseline."""
    scores = [
        UnitScores({key: _share(tries[key], place) for key in keys}, weights=weights)
        for tries in (baseline, run)
    ]
    both = pair_units(*scores)
    return None if both is None else both.difference


def _share(tries: Sequence[LossPlace | None], place: LossPlace | None) -> Share:
    return share(tries.count(place), len(tries))


def with_floor(split: LossSplit, floor: LossSplit, source: str) -> LossSplit:
    """A split with what chance does to each place. Args: floor: of two runs that are alike; source: what it is from."""
    by_place = {each.place: each.difference for each in floor.places}
    places = [replace(each, floor=by_place.get(each.place, 0.0)) for each in split.places]
    return replace(split, places=tuple(places), floor=source)


def repeats_apart(tries: UnitTries) -> tuple[UnitTries, UnitTries]:
    """The odd and the even repeats of a run, as two runs that are alike; without units that have one try alone."""
    repeated = {key: its for key, its in tries.items() if len(its) > 1}
    return {key: its[::2] for key, its in repeated.items()}, {key: its[1::2] for key, its in repeated.items()}
