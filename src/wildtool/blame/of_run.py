"""Prepares the blame of a run: what can be replaced in it, which units are tried, who is asked again."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.blame.asked_again import MakeModels
from wildtool.blame.blaming import BlamedUnit
from wildtool.blame.failed_units import FailedUnit, RunUnits, parties_of, read_units, reviewed_items, sampled
from wildtool.blame.parties import trial_setting
from wildtool.blame.trials import Trials, Watch, unwatched
from wildtool.data.data_set import data_of
from wildtool.engine.record.reader import LogReader
from wildtool.engine.score.score import JudgingJob, prepare_judging
from wildtool.errors import RecordError, UsageError
from wildtool.outputs import check_folder, make_folder, write_file
from wildtool.types import Item

PLAYS = 5
"""Plays of each trial unless the user says otherwise."""
ABOUT_FILE = "blame.json"
"""Says which run the plays in a folder belong to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlameSettings:
    """What is tried, and where it is kept."""

    out: Path
    plays: int = PLAYS
    sample: int | None = None
    """Failed units to try; None for all."""
    data: str | None = None
    """Where the run's data are now; None for where it found them."""
    reviewed: str | None = None
    """Data with reviewed gold answers, as `--data` takes them; None where there are none."""
    profile: str | None = None
    """Rules to judge by; None for the run's."""
    concurrency: int = 32
    force: bool = False
    command: Sequence[str] = ("wildtool.blame",)
    watch: Watch = unwatched


@dataclass(frozen=True, slots=True)
class Prepared:
    """The blame of a run before anything is played."""

    trials: Trials
    units: RunUnits
    tried: Sequence[BlamedUnit]
    unreviewed: int
    """Failed units that the reviewed data do not have, or ask in other words."""


def _job_of(run: Path, settings: BlameSettings) -> JudgingJob:
    """What is needed to judge a run and to play it again. Raises RecordError and UsageError where it cannot be."""
    job = prepare_judging(run, profile=settings.profile, data=settings.data)
    if job.run_json["kind"] != "played":
        raise RecordError(
            f"{run}: was {job.run_json['kind']}: the record does not hold what its replies answer, so nothing can be "
            "played again; --blame takes runs of `wildtool run`"
        )
    return job


def prepare_blame(
    run: Path, settings: BlameSettings, models_of: Callable[[JudgingJob], MakeModels]
) -> Prepared:
    """Sorts the units of a run and says what can be replaced in those that are tried.

    Args:
        models_of: gives the models to ask, of a run that can be played again.

    Raises UsageError for one that cannot, RecordError for a damaged one, and what `models_of` raises.
    """
    job = _job_of(run, settings)
    check_folder(settings.out, lambda folder: (folder / ABOUT_FILE).is_file(), force=settings.force)
    played, models = job.variant.played or job.run_info.profile, job.run_json["identity"]["models"]
    setting = trial_setting(job.variant, played, models, reviewed=settings.reviewed is not None)
    make_models = models_of(job)
    units = read_units(job, run, setting)
    units_to_try = sampled(units.failed, settings.sample)
    reviewed, unreviewed = {}, 0
    if settings.reviewed is not None:
        reviewed, unreviewed = _read_reviewed(job, settings.reviewed, units_to_try)
    trials = Trials(
        job=job,
        setting=setting,
        make_models=make_models,
        reviewed=reviewed,
        plays=settings.plays,
        out=settings.out,
        concurrency=settings.concurrency,
        command=settings.command,
        watch=settings.watch,
    )
    tried = [BlamedUnit(unit, parties_of(unit, setting, reviewed)) for unit in units_to_try]
    return Prepared(trials, units, tried, unreviewed)


def _read_reviewed(
    job: JudgingJob, data: str, units: Sequence[FailedUnit]
) -> tuple[dict[tuple[str, str], Item], int]:
    """As `reviewed_items`, of data that are named. Raises UsageError where they have none of the units."""
    benchmark, selection = job.variant.benchmark, job.selection
    source = data_of(benchmark).locate(data, selection.split)
    reviewed, unreviewed = reviewed_items(
        job, benchmark.load(source, split=selection.split, lang=selection.lang), units
    )
    if units and not reviewed:
        raise UsageError(
            f"{data}: asks none of the failed units in the words of the run, so its gold answers say nothing about them; "
            "give the run's data with gold answers that were reviewed"
        )
    return reviewed, unreviewed


def begin(run: Path, settings: BlameSettings) -> None:
    """Makes the folder of plays, or checks that it belongs to this record. Raises RecordError where it does not."""
    file = settings.out / ABOUT_FILE
    with LogReader(run) as reader:
        details = {"format": "wildtool blame", "record": [each.as_json() for each in reader.fingerprints]}
    if file.is_file():
        try:
            before: Any = json.loads(file.read_bytes())
        except ValueError as error:
            raise RecordError(f"{file}: damaged ({error}); use another --out") from error
        if before != details:
            raise RecordError(
                f"{settings.out}: holds plays for another record, or for this run as it was before; use another --out"
            )
        return
    make_folder(settings.out)
    write_file(file, json.dumps(details, indent=1).encode())
