"""What the workers of a run last said of themselves, for people: one line of them all, and a list in the run folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from wildtool.engine.record.worker_list import ListedWorker, is_amount
from wildtool.engine.run.progress import ProgressObserver
from wildtool.json_codec import as_list, as_object
from wildtool.scale.claims import EXPIRY_S, ShardState
from wildtool.scale.store import ObjectStore
from wildtool.terminal import ellipsize


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The heartbeat of a worker."""

    content: Mapping[str, Any]
    at: float
    """When it was written, in seconds on the store's clock."""

    @property
    def has_ended(self) -> bool:
        return bool(self.content.get("ended"))

    @property
    def last_words(self) -> str:
        """Why it ended; empty if it did not, or nothing was left to do."""
        return str(self.content.get("said") or "") if self.has_ended else ""


def worker_reports(
    store: ObjectStore, sitting: int, earlier: Mapping[str, WorkerReport] | None = None
) -> dict[str, WorkerReport]:
    """What each worker of one start of the command last said, damaged heartbeats left out. Raises StoreError.

    Args:
        earlier: reports that are not read again where no newer one is there, or a damaged one.
    """
    reports: dict[str, WorkerReport] = {}
    for entry in store.entries("worker/"):
        name = entry.key.removeprefix("worker/")
        report = (earlier or {}).get(name)
        if report is None or report.at != entry.modified:
            content = store.get_json(entry.key)
            report = WorkerReport(content, entry.modified) if _is_sound(content) else report
        if report is not None and report.content.get("sitting") == sitting:
            reports[name] = report
    return reports


def _is_sound(content: Mapping[str, Any]) -> bool:
    """Whether what a heartbeat says has the types that it should have."""
    lists = [content.get(name, []) for name in ("shares", "waits")]
    spending = [content.get(name, {}) for name in ("spent", "held", "needed")]
    amounts = [content.get(name, 0) for name in ("items", "calls", "version")]
    amounts += chain(as_list(lists[0]), *(as_object(each).values() for each in spending))
    return (
        isinstance(content.get("sitting"), int)
        and all(isinstance(each, list) for each in lists)
        and all(isinstance(each, dict) for each in spending)
        and all(map(is_amount, amounts))
    )


def listed_workers(reports: Mapping[str, WorkerReport]) -> list[ListedWorker]:
    """The workers for the list in a run folder, those that work first."""
    return [
        ListedWorker(
            name=name,
            last_sign=report.at,
            ended=report.has_ended,
            items=int(report.content.get("items", 0)),
            calls=int(report.content.get("calls", 0)),
            shares=[int(shard) for shard in report.content.get("shares", ())],
            last_words=report.last_words,
        )
        for name, report in sorted(reports.items(), key=lambda pair: (pair[1].has_ended, pair[0]))
    ]


class SharedProgress(ProgressObserver):
    """The line of a run that workers share."""

    def __init__(self, label: str, shards: int) -> None:
        super().__init__(label)
        self.progress.total = shards
        self._shared_label = label
        self._counts = "no worker has reported yet"
        self._printed_words: set[str] = set()
        self.reports: Mapping[str, WorkerReport] = {}
        """As last counted."""

    def update(
        self, states: Mapping[int, ShardState], reports: Mapping[str, WorkerReport], own_machine: str
    ) -> None:
        """Counts again.

        Args:
            states: of the shards.
            reports: of all workers.
            own_machine: begins the names of workers whose words are printed anyway.
        """
        self.reports = reports
        now = max((report.at for report in reports.values()), default=0.0)
        working = [report for report in reports.values() if not report.has_ended]
        lost_count = sum(now - report.at > EXPIRY_S for report in working)
        items, calls = (
            sum(int(report.content.get(name, 0)) for report in reports.values())
            for name in ("items", "calls")
        )
        self.progress.done = sum(state.complete for state in states.values())
        lease_count = sum(
            len(report.content.get("shares", ())) for report in working if now - report.at <= EXPIRY_S
        )
        parts = [
            f"{self.progress.done:,} of {self.progress.total:,} shards done, {lease_count:,} held",
            f"{len(working) - lost_count:,} workers" + (f", {lost_count:,} lost" if lost_count else ""),
        ]
        # Workers report from time to time: before the first report a zero would look like a run that stands still.
        parts += [f"{items:,} items and {calls:,} calls reported in this start"] if calls else []
        self._counts = " · ".join(parts)
        for name, report in reports.items():
            words = report.last_words
            if words and words not in self._printed_words and not name.startswith(own_machine):
                self._printed_words.add(words)
                self.messages.append(f"{name}: {words}")

    def text(self, room: int | None) -> str:
        line = f"{self._shared_label}: {self._counts}"
        return line if room is None else ellipsize(line, max(room, 3))
