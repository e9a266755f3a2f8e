"""Judges what was recorded, offline and under any profile: run folders, replies files, original result
files."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.engine.judging import judge
from wildtool.engine.plan import Selection, check_profile
from wildtool.engine.record import Log, RecordReader, Step, transcripts
from wildtool.engine.registry import load_benchmark
from wildtool.engine.replies import Scripted, read_replies
from wildtool.engine.rundir import read_run
from wildtool.engine.verdicts import Counts, Player, VerdictTable, verdicts_path
from wildtool.errors import DataError, RecordError
from wildtool.types import Benchmark, Item, Source, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What judging came to."""

    verdicts: Path
    profile: str
    played: str | None
    """The profile the run was played under; None where nobody knows (replies and result files)."""
    counts: Counts
    faults: tuple[str, ...]
    """Items that our own judge failed on, with the reason."""
    models: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        return 1 if self.faults else 3 if self.counts.infra_error else 0


def score_run(
    folder: Path, *, profile: str | None = None, data: str | None = None, out: Path | None = None
) -> Scored:
    """Judges a run folder and writes its table of verdicts.

    Args:
        folder: the run, finished or not; what it has not played yet counts as unplayed.
        profile: the rules to judge by; None for those it was played under.
        data: where the data are now; None for where the run found them. They must be the same data.
        out: the folder to write the table to; None for the run's own.

    Raises RecordError where the run or its record cannot be read, or where the data are not those of the run.
    """
    about = read_run(folder)
    identity, scope = about["identity"], about["scope"]
    benchmark = load_benchmark(identity["benchmark"])
    played: str | None = identity["profile"]
    rules = profile or played or next(iter(benchmark.profiles))
    check_profile(benchmark, rules)
    selection = Selection(
        benchmark=benchmark,
        source=_same_data(benchmark, folder, about, data),
        split=identity["split"],
        lang=identity["lang"],
        limit=scope["limit"],
        ids=tuple(scope["ids"]),
        repeats=scope["repeats"],
    )
    model: str = identity["models"]["agent"]["name"]
    silent_after: bool = identity.get("silent_after", False)

    def jobs(reader: RecordReader) -> Iterator[_Job]:
        for item, repeat in selection.jobs():
            log = reader.log(item.id, repeat)
            yield _Job(model, item, repeat, transcripts(log, silent_after=silent_after), log)

    table = VerdictTable(verdicts_path(out or folder, rules), benchmark)
    with table, RecordReader(folder) as reader:
        judged = _judge_all(benchmark, rules, folder.resolve().name, jobs(reader), table)
    return replace(judged, played=played)


def score_replies(
    benchmark: Benchmark,
    source: Source,
    replies: Path,
    *,
    profile: str,
    out: Path,
    split: str | None = None,
    lang: str | None = None,
) -> Scored:
    """Judges a replies file (see replies.py) or an original result file; writes
    `out/verdicts-<profile>.parquet`.

    Only what the file holds is judged. Raises DataError naming file, line and field where the file is wrong.
    """
    check_profile(benchmark, profile)
    selection = Selection(benchmark=benchmark, source=source, split=split, lang=lang)
    out.mkdir(parents=True, exist_ok=True)
    jobs = (
        _Job(row.model, row.item, row.repeat, row.transcripts, _as_log(row))
        for row in read_replies(selection, replies)
    )
    with VerdictTable(verdicts_path(out, profile), benchmark) as table:
        return _judge_all(benchmark, profile, replies.stem, jobs, table)


@dataclass(frozen=True, slots=True)
class _Job:
    """One item to judge."""

    model: str
    item: Item
    repeat: int
    transcripts: Mapping[str, Transcript]
    log: Log


def _judge_all(
    benchmark: Benchmark, profile: str, run: str, jobs: Iterable[_Job], table: VerdictTable
) -> Scored:
    faults: list[str] = []
    players: dict[str, Player] = {}
    for order, job in enumerate(jobs):
        player = players.get(job.model)
        if player is None:
            player = Player(run=run, model=job.model, benchmark=benchmark.name, profile=profile)
            players[job.model] = player
        verdicts, fault = judge(benchmark, job.item, job.transcripts, profile)
        if fault is not None:
            faults.append(f"{job.item.id}: {fault}")
        table.add(order, player, job.item, job.repeat, verdicts, job.log)
    return Scored(
        verdicts=table.write(),
        profile=profile,
        played=None,
        counts=table.counts(),
        faults=tuple(faults),
        models=tuple(players),
    )


def _as_log(row: Scripted) -> Log:
    return {
        unit: {step: Step("agent", None, reply) for step, reply in enumerate(transcript.replies)}
        for unit, transcript in row.transcripts.items()
    }


def _same_data(benchmark: Benchmark, folder: Path, about: Mapping[str, Any], data: str | None) -> Source:
    name_them = f"name those it used: wildtool score {shlex.quote(str(folder))} --data FILE"
    try:
        source = _locate(benchmark, data, about["data"])
    except DataError as error:
        raise RecordError(
            f"{folder}: the data of this run are not where they were ({error}); {name_them}"
        ) from error
    if source.sha256 != about["identity"]["data_sha256"]:
        raise RecordError(
            f"{source.path}: these are not the data of the run (SHA-256 {source.sha256} instead of "
            f"{about['identity']['data_sha256']}); {name_them}"
        )
    return source


def _locate(benchmark: Benchmark, data: str | None, known: Mapping[str, Any]) -> Source:
    if data is not None:
        return benchmark.locate(data)
    try:
        return benchmark.locate(known["name"])
    except DataError:
        # A relative name means nothing in another folder; the path that run.json keeps does.
        return benchmark.locate(known["path"])
