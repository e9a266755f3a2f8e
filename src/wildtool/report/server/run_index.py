"""The runs in a folder as `wildtool view` lists them: identity, state, progress and score so far."""

import hashlib
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from wildtool.engine.record.format import find_segments
from wildtool.engine.record.run_folder import is_locked, read_run
from wildtool.engine.record.worker_list import ListedWorker, read_workers
from wildtool.engine.registry import load_benchmark, names_in
from wildtool.engine.score.formatting import counted, format_counts, format_value
from wildtool.engine.score.results import ScoreResult, folders_below, open_results
from wildtool.engine.score.trust import MISSING_SIGNS
from wildtool.engine.score.verdict_table import relation
from wildtool.engine.versions import in_todays_names
from wildtool.errors import RecordError, WildtoolError
from wildtool.sanitize import ellipsize, escape_text
from wildtool.stats.metrics import headline_first
from wildtool.table import cell_of

FileStates = tuple[tuple[str, int, int], ...]
"""Name, size and modification time of each file that a run's numbers depend on."""
RUNNING, INTERRUPTED, BROKEN = "running", "interrupted", "cannot be read"
NO_RECORD = "record missing"
STATUS_LABELS = {
    "done": "done",
    "infra errors": "done, calls failed",
    "judge faults": "done, internal error",
    "limit reached": "stopped at a limit",
}
"""How the list names the end of an invocation that `run.json` records."""
RECOMPUTE_FACTOR, MAX_RECOMPUTE_DELAY_S = 10, 10.0
"""The numbers of a running run are computed again after this many times the duration of the last computation, and after
at most this many seconds.
"""
_LONGEST_PROBLEM = 500
SILENCE_S = 150.0
"""Seconds since its last sign of life for which a worker is shown as working: workers beat every 30 s, copies of a run in
a store are brought up to date every 10 s, and the clock of a store is not this one."""
_MOST_WORKERS, _MOST_SHARDS = 20, 8


@dataclass(slots=True)
class RunEntry:
    """One run folder in the index."""

    folder: Path
    files: FileStates
    head: dict[str, Any]
    """The contents of `run.json`."""
    state: str
    measured_files: FileStates | None = None
    """The state of the files when the numbers were computed."""
    numbers: Mapping[str, Any] | None = None
    due: float = 0.0
    """Clock time from which its numbers may be computed again."""


class RunIndex:
    """Runs in a folder. `scan` and `measure` read files, never at the same time; `shown` may be read at any
    time."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.root = root
        self.listing: dict[str, Any] = {"runs": [], "again": False}
        """The list as JSON; `again`: whether it may change without a new request."""
        self._clock = clock
        self._entries: dict[str, RunEntry] = {}

    def scan(self) -> None:
        """Finds the runs and their states; computes no numbers."""
        folders = folders_below(self.root)
        self._entries = {key: self._look(key, folder) for folder in folders for key in [self._key(folder)]}
        self._show()

    def measure(self) -> bool:
        """Computes the numbers of one run whose numbers are missing or outdated; returns whether there was
        one."""
        for entry in self._entries.values():
            if self._is_due(entry):
                began = self._clock()
                stamp = entry.files
                entry.numbers = _numbers(entry.folder)
                entry.measured_files = stamp
                ended = self._clock()
                entry.due = ended + min(RECOMPUTE_FACTOR * (ended - began), MAX_RECOMPUTE_DELAY_S)
                self._show()
                return True
        return False

    def find(self, keys: list[str]) -> list[Path] | None:
        """The folders of runs, in the order of the list; None if one is not in it."""
        if not keys or not all(key in self._entries for key in keys):
            return None
        return [entry.folder for key, entry in self._entries.items() if key in keys]

    def _key(self, folder: Path) -> str:
        return hashlib.sha256(os.fsencode(folder.relative_to(self.root))).hexdigest()[:16]

    def _is_due(self, entry: RunEntry) -> bool:
        if entry.state == BROKEN or entry.measured_files == entry.files:
            return False
        return entry.state != RUNNING or self._clock() >= entry.due

    def _look(self, key: str, folder: Path) -> RunEntry:
        stamp = file_states(folder)
        entry = self._entries.get(key)
        if entry is not None and entry.files == stamp and entry.state != RUNNING:
            return entry
        try:
            run_json = read_run(folder)
        except RecordError as error:
            problem = ellipsize(str(error), _LONGEST_PROBLEM)
            return RunEntry(folder, stamp, {"problem": problem}, BROKEN)
        workers = read_workers(folder)
        alive = {worker.name for worker in workers if _is_seen(worker)}
        state = RUNNING if alive else _state(folder, run_json)
        head = _head(run_json) | {"workers": _worker_lines(workers, alive)}
        if entry is None:
            return RunEntry(folder, stamp, head, state)
        entry.files, entry.head, entry.state = stamp, head, state
        return entry

    def _show(self) -> None:
        runs = [self._row(key, entry) for key, entry in self._entries.items()]
        again = any(entry.state == RUNNING or self._is_due(entry) for entry in self._entries.values())
        self.listing = {"runs": runs, "again": again}

    def _row(self, key: str, entry: RunEntry) -> dict[str, Any]:
        inner = entry.folder.relative_to(self.root)
        where = inner if inner.parts else entry.folder.resolve().name
        row = {"id": key, "folder": ellipsize(where), "state": entry.state, "going": entry.state == RUNNING}
        return row | entry.head | dict(entry.numbers or {})


def file_states(folder: Path) -> FileStates:
    """Changes whenever the run does; empty if its files cannot be read."""
    try:
        files = [folder / "run.json", *(segment.path for segment in find_segments(folder))]
        states = [(file.name, file.stat()) for file in files]
    except OSError:
        return ()
    return tuple((file, state.st_size, state.st_mtime_ns) for file, state in states)


def _is_seen(worker: ListedWorker) -> bool:
    """Whether it works, by clocks that may differ a little: no more than this list depends on it."""
    return not worker.ended and time.time() - worker.last_sign <= SILENCE_S


def _worker_lines(workers: Sequence[ListedWorker], alive: Collection[str]) -> str:
    """A line for each worker that works or that ended with a reason."""
    lines: list[str] = []
    for worker in workers:
        if worker.name in alive:
            ago = max(0, round(time.time() - worker.last_sign))
            shards = ", ".join(map(str, worker.shares[:_MOST_SHARDS])) or "none"
            more = ", …" if len(worker.shares) > _MOST_SHARDS else ""
            done = f"{counted(worker.items, 'item')}, {counted(worker.calls, 'call')}"
            lines.append(f"{worker.name}: shards {shards}{more}; {done}; seen {ago} s ago")
        elif worker.last_words:
            lines.append(f"{worker.name} ended: {worker.last_words}")
    rest = [f"and {len(lines) - _MOST_WORKERS} more workers"] if len(lines) > _MOST_WORKERS else []
    return "\n".join(ellipsize(line, 300) for line in [*lines[:_MOST_WORKERS], *rest])


def _head(run_json: Mapping[str, Any]) -> dict[str, Any]:
    names = names_in(run_json)
    identity, data = in_todays_names(run_json["identity"], names), names.now(run_json["data"]["name"])
    parts = [
        "" if data == identity["benchmark"] else f"data {ellipsize(data, 60)}",
        *(
            f"{key} {ellipsize(identity[key], 60)}"
            for key in ("split", "lang", "mode", "profile")
            if identity[key] is not None
        ),
    ]
    return {
        "model": ellipsize(identity["models"]["agent"]["name"]),
        "benchmark": ellipsize(identity["benchmark"], 60),
        "how": ", ".join(filter(None, parts)),
        "since": ellipsize(_last_invocation(run_json).get("started") or "", 40),
    }


def _last_invocation(run_json: Mapping[str, Any]) -> Mapping[str, Any]:
    last = run_json["sittings"][-1] if run_json["sittings"] else None
    return cast(Mapping[str, Any], last) if isinstance(last, dict) else {}


def _state(folder: Path, run_json: Mapping[str, Any]) -> str:
    sitting = _last_invocation(run_json)
    if sitting.get("ended") is None and is_locked(folder):
        return RUNNING
    if not any(segment.path.stat().st_size for segment in find_segments(folder)):
        return NO_RECORD
    return STATUS_LABELS.get(str(sitting.get("status")), INTERRUPTED)


def _numbers(folder: Path) -> dict[str, Any]:
    """The progress of a run and its first headline number, or the problem."""
    try:
        with open_results(folder, keep=False) as (result, table):
            return {"problem": "", **_progress(result), **_score(result, table, read_run(folder))}
    except WildtoolError as error:
        return {"problem": ellipsize(str(error), _LONGEST_PROBLEM)}
    except Exception as error:  # noqa: BLE001 - one run that nobody foresaw must not take the list away
        return {"problem": ellipsize(f"internal error: {type(error).__name__}: {error}", _LONGEST_PROBLEM)}


def _progress(result: ScoreResult) -> dict[str, Any]:
    counts = result.counts
    remarks = [f"{counts.infra_error} by failed calls"] if counts.infra_error else []
    # A run that still goes on lacks units anyway; the progress says how many.
    remarks += [remark.text for remark in result.trust if remark.sign not in MISSING_SIGNS]
    remarks += [f"scoring failed {counted(len(result.faults), 'time')}"] if result.faults else []
    return {"done": counts.units - counts.unplayed, "planned": counts.units, "remark": ", ".join(remarks)}


def _score(result: ScoreResult, table: Path, run_json: Mapping[str, Any]) -> dict[str, Any]:
    """The number that models are ranked by, over finished items."""
    rows = relation([table])
    if result.counts.unplayed:
        unplayed = (
            "count(*) FILTER (outcome = 'unplayed') OVER (PARTITION BY lang, item, repeat) AS units_left"
        )
        rows = rows.project(f"*, {unplayed}").filter("units_left = 0").project("* EXCLUDE units_left")
    if not rows.limit(1).fetchall():
        return {"score": "–"}
    owner = load_benchmark(result.benchmark, run_json["identity"]["mode"])
    metrics = headline_first(owner.summarize(rows, result.profile), owner.headline.get(result.profile))
    metric = next((each for each in metrics if each.headline), None)
    if metric is None:
        return {"score": "–"}
    return {
        "metric": escape_text(f"{metric.group}, {metric.name}"),
        "score": format_value(metric),
        "interval": cell_of(metric).interval,
        "counts": format_counts(metric),
    }
