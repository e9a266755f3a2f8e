"""The runs below a folder as `wildtool view` lists them: what they are, how far they got, their score so far."""

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from wildtool.engine.record.run_folder import is_held, read_run
from wildtool.engine.record.segments import find_segments
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.formatting import counts_of, value_of
from wildtool.engine.score.results import Result, folders_below, judged
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import RecordError, WildtoolError
from wildtool.report.text import interval_of
from wildtool.sanitize import middle, plain

Stamp = tuple[tuple[str, int, int], ...]
"""Name, size and time of change of each file that a run's numbers follow from."""
GOING, INTERRUPTED, BROKEN = "running", "interrupted", "cannot be read"
ENDED = {
    "done": "done",
    "infra errors": "done, calls failed",
    "judge faults": "done, internal error",
    "limit reached": "stopped at a limit",
}
"""What `run.json` says of a sitting that ended by itself, and how the list says it."""
SHARE, LATEST_S = 10, 10.0
"""Numbers of a run that goes on are made anew when so many times what making them took has passed, or so many seconds."""
_LONGEST_PROBLEM = 500


@dataclass(slots=True)
class Known:
    """What is known of one run folder."""

    folder: Path
    stamp: Stamp
    head: dict[str, Any]
    """What `run.json` says of it."""
    state: str
    measured: Stamp | None = None
    """The state of the files that the numbers were made from."""
    numbers: Mapping[str, Any] | None = None
    due: float = 0.0
    """When its numbers may be made anew, by the clock."""


class Listing:
    """Runs below a folder. `scan` and `measure` read files, never at the same time; `shown` may be read any time."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.root = root
        self.shown: dict[str, Any] = {"runs": [], "again": False}
        """The list as JSON; `again`: whether it may change by itself."""
        self._clock = clock
        self._known: dict[str, Known] = {}

    def scan(self) -> None:
        """Looks which runs there are and what state they are in; makes no numbers."""
        folders = folders_below(self.root)
        self._known = {key: self._look(key, folder) for folder in folders for key in [self._key(folder)]}
        self._show()

    def measure(self) -> bool:
        """Makes the numbers of one run that lacks them, or whose have changed; whether there was one."""
        for known in self._known.values():
            if self._is_due(known):
                began = self._clock()
                stamp = known.stamp
                known.numbers = _numbers(known.folder)
                known.measured = stamp
                ended = self._clock()
                known.due = ended + min(SHARE * (ended - began), LATEST_S)
                self._show()
                return True
        return False

    def find(self, keys: list[str]) -> list[Path] | None:
        """The folders of runs, in the order of the list; None where one of them is not in it."""
        if not keys or not all(key in self._known for key in keys):
            return None
        return [known.folder for key, known in self._known.items() if key in keys]

    def _key(self, folder: Path) -> str:
        return hashlib.sha256(os.fsencode(folder.relative_to(self.root))).hexdigest()[:16]

    def _is_due(self, known: Known) -> bool:
        if known.state == BROKEN or known.measured == known.stamp:
            return False
        return known.state != GOING or self._clock() >= known.due

    def _look(self, key: str, folder: Path) -> Known:
        stamp = stamp_of(folder)
        known = self._known.get(key)
        if known is not None and known.stamp == stamp and known.state != GOING:
            return known
        try:
            about = read_run(folder)
        except RecordError as error:
            problem = middle(str(error), _LONGEST_PROBLEM)
            return Known(folder, stamp, {"problem": problem}, BROKEN)
        head, state = _head(about), _state(folder, about)
        if known is None:
            return Known(folder, stamp, head, state)
        known.stamp, known.head, known.state = stamp, head, state
        return known

    def _show(self) -> None:
        runs = [self._row(key, known) for key, known in self._known.items()]
        again = any(known.state == GOING or self._is_due(known) for known in self._known.values())
        self.shown = {"runs": runs, "again": again}

    def _row(self, key: str, known: Known) -> dict[str, Any]:
        inner = known.folder.relative_to(self.root)
        where = inner if inner.parts else known.folder.resolve().name
        row = {"id": key, "folder": middle(where), "state": known.state, "going": known.state == GOING}
        return row | known.head | dict(known.numbers or {})


def stamp_of(folder: Path) -> Stamp:
    """Changes whenever the run does; empty where its files cannot be seen."""
    try:
        files = [folder / "run.json", *(segment.path for segment in find_segments(folder))]
        states = [(file.name, file.stat()) for file in files]
    except OSError:
        return ()
    return tuple((file, state.st_size, state.st_mtime_ns) for file, state in states)


def _head(about: Mapping[str, Any]) -> dict[str, Any]:
    identity, data = about["identity"], about["data"]["name"]
    parts = [
        "" if data == identity["benchmark"] else f"data {middle(data, 60)}",
        *(
            f"{key} {middle(identity[key], 60)}"
            for key in ("split", "lang", "mode", "profile")
            if identity[key] is not None
        ),
    ]
    return {
        "model": middle(identity["models"]["agent"]["name"]),
        "benchmark": middle(identity["benchmark"], 60),
        "how": ", ".join(filter(None, parts)),
        "since": middle(_sitting(about).get("started") or "", 40),
    }


def _sitting(about: Mapping[str, Any]) -> Mapping[str, Any]:
    last = about["sittings"][-1] if about["sittings"] else None
    return cast(Mapping[str, Any], last) if isinstance(last, dict) else {}


def _state(folder: Path, about: Mapping[str, Any]) -> str:
    sitting = _sitting(about)
    if sitting.get("ended") is None and is_held(folder):
        return GOING
    return ENDED.get(str(sitting.get("status")), INTERRUPTED)


def _numbers(folder: Path) -> dict[str, Any]:
    """How far a run got and its first headline number; the problem where they cannot be had."""
    try:
        with judged(folder, keep=False) as (result, table):
            return {"problem": "", **_progress(result), **_score(result, table, read_run(folder))}
    except WildtoolError as error:
        return {"problem": middle(str(error), _LONGEST_PROBLEM)}
    except Exception as error:  # noqa: BLE001 - one run that nobody foresaw must not take the list away
        return {"problem": middle(f"internal error: {type(error).__name__}: {error}", _LONGEST_PROBLEM)}


def _progress(result: Result) -> dict[str, Any]:
    counts = result.counts
    remarks = [f"{counts.infra_error} by failed calls"] if counts.infra_error else []
    remarks += [f"scoring failed {len(result.faults)} times"] if result.faults else []
    return {
        "done": counts.units - counts.unplayed,
        "planned": counts.units,
        "remark": ", ".join(remarks),
    }


def _score(result: Result, table: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """The number that models are ranked by, over items that were played to their end."""
    rows = relation([table])
    if result.counts.unplayed:
        left = "count(*) FILTER (outcome = 'unplayed') OVER (PARTITION BY lang, item, repeat) AS units_left"
        rows = rows.project(f"*, {left}").filter("units_left = 0").project("* EXCLUDE units_left")
    if not rows.limit(1).fetchall():
        return {"score": "–"}
    owner = load_benchmark(result.benchmark, about["identity"]["mode"])
    metric = next((its for its in owner.summarize(rows, result.profile) if its.headline), None)
    if metric is None:
        return {"score": "–"}
    return {
        "metric": plain(f"{metric.group}, {metric.name}"),
        "score": value_of(metric),
        "interval": interval_of(metric),
        "counts": counts_of(metric),
    }
