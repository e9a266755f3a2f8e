"""Reads the record of a run: an index by item, then the steps of one item at a time, so memory stays flat.

Rows of a segment, one JSON line each:
- `header`: format and version, first line of a segment;
- `step`: address (item, repeat, unit, step), role, `request` (the hash that names it), `sends` (the links
  of the request's chain that this item had not recorded before, see `format.py`), the reply;
- `error`: address, role, request and sends likewise, kind, message and attempts of a call that failed for
good. A later `step` replaces an `error` of the same address; of two steps of one address the first counts, unless the
second says `again`: what came before it was lost, and nothing recorded of its unit from that step on counts any more.

Each line ends with a checksum (`format.py`). A damaged line is named; one that a power loss can have left so, and
that no later line calls synced, is left out.
"""

import os
import re
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from wildtool import json_codec
from wildtool.engine.record.format import (
    LOST_MARKER,
    REPLY_COLUMNS,
    Closing,
    LostLine,
    SegmentFingerprint,
    check_columns,
    check_line,
    find_segments,
    fingerprint_of,
    is_as_written,
    is_torn,
    line_number_at,
    open_segment,
    rebuild_request,
    reply_from_row,
    synced_length,
    whole_length,
)
from wildtool.engine.record.writer import LOG_VERSION
from wildtool.errors import DISK_FULL, RecordError, StorageError
from wildtool.json_codec import as_object
from wildtool.reply_ends import error_class, failing_end
from wildtool.types import Address, Message, Reply, Tool, Transcript


@dataclass(frozen=True, slots=True)
class LoggedReply:
    """One recorded reply."""

    role: str
    request: str | None
    """Hash of the request; None where only the reply is known (an imported result file)."""
    reply: Reply


@dataclass(frozen=True, slots=True)
class LoggedFailure:
    """One recorded call that failed for good."""

    role: str
    request: str | None
    kind: str
    message: str
    attempts: int
    reply: Reply | None = None
    """What came, if the call failed by the end of its reply; it was paid for."""


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """What one recorded step was asked."""

    messages: list[Message]
    tools: list[Tool]
    time: float
    """When its answer was recorded, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class RequestChains:
    """What the steps of one item and repeat were asked, each message once."""

    links: Mapping[str, Mapping[str, Any]]
    """By hash: `tools` of the first one of a chain, `parent` and `message` of any other."""
    ends: Mapping[tuple[str, int], str]
    """By unit and step the hash of the last link of its request; absent where nobody knows what was asked."""


ItemLog = dict[str, dict[int, LoggedReply | LoggedFailure]]
"""What is recorded of one item and repeat: unit → step → what came of it."""

_OFFSET_BITS = 48
"""A place in the record is one integer, segment index and offset in it, to keep the index small."""
_LINE_READ = 1 << 14
"""Bytes read for a line at first; most lines are shorter."""


def transcripts(log: ItemLog, *, scripted: bool = False) -> dict[str, Transcript]:
    """The replies of each unit up to the first step that is missing or failed."""
    by_unit: dict[str, Transcript] = {}
    for unit, steps in log.items():
        replies: list[Reply] = []
        while isinstance(step := steps.get(len(replies)), LoggedReply):
            replies.append(step.reply)
        failure = f"{step.kind}: {step.message}" if isinstance(step, LoggedFailure) else None
        by_unit[unit] = Transcript(tuple(replies), infra_error=failure, scripted=scripted)
    return by_unit


class RecordReader(Protocol):
    """What a run needs of its record: what was asked before."""

    has_lost_lines: bool
    """Whether any line was ever lost."""

    def log(self, item: str, repeat: int) -> ItemLog:
        """What is recorded of an item; empty where nothing is."""
        ...


class LogReader(Closing):
    """Reads the record of a run folder as it was when opened; a torn last line is left out. A context
    manager."""

    def __init__(self, folder: Path, *, check_all: bool = False) -> None:
        """Indexes all segments. Raises RecordError naming file and line of a damaged row.

        Args:
            check_all: look for damage in every line now, not only when its item is read.
        """
        self.lost: list[LostLine] = []
        """Lines that are left out since they never reached the disk."""
        self.has_lost_lines = False
        """Whether any line was ever lost, now or before the run was resumed."""
        self._check_all = check_all
        self.torn = 0
        """Bytes of torn last lines that were left out."""
        self.fingerprints: list[SegmentFingerprint] = []
        """What tells each segment, as it was read, from any other."""
        self._ends: list[int] = []
        self._files: list[IO[bytes]] = []
        self._paths: list[Path] = []
        self._index: dict[tuple[str, int], array[int]] = {}
        self._damaged_places: set[int] = set()
        """Of the lines that are not as they were written: an error where their item is read, not before."""
        try:
            for segment in find_segments(folder):
                self._paths.append(segment.path)
                self._files.append(open_segment(segment))
                self._index_segment(len(self._files) - 1)
                self.fingerprints.append(fingerprint_of(segment, self._files[-1], self._ends[-1]))
        except OSError as error:
            self.close()
            if error.errno in DISK_FULL:
                raise StorageError(
                    f"{folder}: no room to expand a compressed segment in {tempfile.gettempdir()} "
                    f"({error.strerror}); make room, then run the same command again"
                ) from error
            raise RecordError(f"{folder}: the record cannot be read ({error.strerror})") from error
        except RecordError:
            self.close()
            raise
        self.has_lost_lines = self.has_lost_lines or bool(self.lost)

    def billed_usages(self) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
        """Role and usage of everything that a model was asked, not the cache, failed attempts included; and whether its
        reply came by a batch, which of a failure nobody knows."""
        for item, repeat in self._index:
            for row in self._rows(item, repeat, replies_only=True):
                if not row.get("cached"):
                    yield row["role"], as_object(row.get("usage")), bool(row.get("batched"))
                    yield row["role"], as_object(row.get("lost_usage")), bool(row.get("batched"))

    def jobs(self) -> Iterable[tuple[str, int]]:
        """Item and repeat of everything recorded, in order of their first rows."""
        return self._index.keys()

    @property
    def rows(self) -> int:
        """How many steps are recorded."""
        return sum(map(len, self._index.values()))

    def log(self, item: str, repeat: int) -> ItemLog:
        """What is recorded of an item; empty where nothing is."""
        return _log_of(self._rows(item, repeat, replies_only=True))

    def request(self, address: Address) -> dict[str, Any]:
        """What was asked at a step: `messages` and `tools`. Raises RecordError where the record does not
        know."""
        rows = list(self._rows(address.item, address.repeat))
        links = [link for row in rows for link in row["sends"]]
        for row in _without_superseded(rows):
            if row["unit"] == address.unit and row["step"] == address.step and row["request"] is not None:
                try:
                    return rebuild_request(row["request"], links)
                except KeyError as error:
                    raise RecordError(
                        f"{address}: part {error} of the request is missing in the record"
                    ) from error
        raise RecordError(f"{address}: the record holds no request for this step")

    def requests(self, item: str, repeat: int) -> dict[tuple[str, int], LoggedRequest]:
        """What each step of an item was asked, by unit and step; without those whose request nobody knows.

        Raises RecordError where a part of a request is missing.
        """
        rows = list(self._rows(item, repeat))
        links = [link for row in rows for link in row["sends"]]
        requests: dict[tuple[str, int], LoggedRequest] = {}
        for row in _without_superseded(rows):
            place = row["unit"], row["step"]
            if row["request"] is None or place in requests:
                continue
            try:
                request = rebuild_request(row["request"], links)
            except KeyError as error:
                raise RecordError(
                    f"{item}, unit {place[0]}, step {place[1]}: part {error} of the request is missing in the record"
                ) from error
            requests[place] = LoggedRequest(request["messages"], request["tools"], row.get("time", 0.0))
        return requests

    def chains(self, item: str, repeat: int) -> RequestChains:
        """What each step of an item was asked, as it is recorded: as chains of links that begin alike."""
        return _chains_of(list(self._rows(item, repeat)))

    def log_and_chains(self, item: str, repeat: int) -> tuple[ItemLog, RequestChains]:
        """What `log` and `chains` give, from one reading."""
        rows = list(self._rows(item, repeat))
        return _log_of(rows), _chains_of(rows)

    def close(self) -> None:
        for file in self._files:
            file.close()

    def _index_segment(self, number: int) -> None:
        file = self._files[number]
        end = whole_length(file)
        self._ends.append(end)
        self.torn += file.seek(0, 2) - end
        file.seek(0)
        offset, lost_lines = 0, list[LostLine]()
        for count, line in enumerate(json_codec.lines_within(file), 1):
            if offset >= end:
                break
            intact = is_as_written(line)
            if intact is False:
                self._damaged_places.add(number << _OFFSET_BITS | offset)
            # One that is too long is cut here, which does not make it a torn one.
            if not intact and len(line) <= json_codec.LINE_LIMITS.bytes and is_torn(line):
                lost_lines.append(LostLine(self._paths[number], count, offset, len(line)))
            else:
                damage = lost_lines[0] if lost_lines else None
                self._index_line(number, offset, line, damage, is_sealed=intact is not None)
            offset += len(line)
        self.lost += lost_lines

    def _index_line(
        self, number: int, offset: int, line: bytes, damage: LostLine | None, *, is_sealed: bool
    ) -> None:
        if not line.strip():
            return
        try:
            if len(line) > json_codec.LINE_LIMITS.bytes:
                raise json_codec.TooLargeError(f"more than {json_codec.LINE_LIMITS.bytes:,} bytes")
            key = _key(line)
            if self._check_all:
                self._check(number << _OFFSET_BITS | offset, line)
                if key is not None and not is_sealed:
                    # No checksum covers the part of it that is seldom read.
                    _checked(_parsed(line))
            synced = 0 if damage is None else synced_length(line)
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(number, offset, error) from error
        if damage is not None and synced > damage.offset:
            raise self._damaged(number, damage.offset, ValueError("a part of it is missing"))
        if key is not None:
            places = self._index.get(key)
            if places is None:
                places = self._index[key] = array("Q")
            places.append(number << _OFFSET_BITS | offset)
        elif LOST_MARKER in line:
            self.has_lost_lines = True

    def _rows(self, item: str, repeat: int, *, replies_only: bool = False) -> Iterator[dict[str, Any]]:
        """The rows of an item; with replies only, `sends` is empty where it need not be read."""
        for place in self._index.get((item, repeat), ()):
            number, offset = place >> _OFFSET_BITS, place & (1 << _OFFSET_BITS) - 1
            try:
                line = _line_at(self._files[number], offset)
                row = (_without_request(line) if replies_only else None) or _checked(_parsed(line))
                self._check(place, line)
            except (ValueError, KeyError, TypeError) as error:
                raise self._damaged(number, offset, error) from error
            yield row

    def _check(self, place: int, line: bytes) -> None:
        """Raises ValueError for a line that is not as it was written."""
        if place in self._damaged_places:
            check_line(line)

    def _damaged(self, number: int, offset: int, error: Exception) -> RecordError:
        file = self._files[number]
        line = line_number_at(file, offset)
        return RecordError(
            f"{self._paths[number]}, line {line}: damaged or not a row of a wildtool record ({error}); "
            "restore the file from a copy, or delete the line to have its step asked again"
        )


_REQUEST_COLUMNS = {"unit": str, "step": int, "role": str, "request": (str, type(None)), "sends": list}
_COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "step": {**_REQUEST_COLUMNS, **REPLY_COLUMNS},
    "error": {**_REQUEST_COLUMNS, "kind": str, "message": str, "attempts": int},
}
"""Columns of each row with their types, beside item and repeat."""


_PLAIN_ADDRESS = re.compile(
    rb'\{"row":"(?:step|error)","item":"([^"\\\x00-\x1f]*)","repeat":(0|[1-9]\d{0,8}),"unit":'
)
"""The beginning of a row as the writer writes it, of an item whose id needs no escapes."""


def _key(line: bytes) -> tuple[str, int] | None:
    """Item and repeat of a row, None for a header; reads no more of the line than its beginning where it
    can."""
    if match := _PLAIN_ADDRESS.match(line):
        return match[1].decode(), int(match[2])
    # Inside a JSON string the quotes would be escaped, so this finds the column and never a text.
    cut = line.find(b',"unit":') if line.startswith(b'{"row":"') else -1
    row = _parsed(line[:cut] + b"}" if cut > 0 else line)
    if row["row"] in _COLUMNS:
        if not isinstance(row["item"], str) or not isinstance(row["repeat"], int):
            raise TypeError("item or repeat has the wrong type")
        return row["item"], row["repeat"]
    if row["row"] != "header" or row["version"] > LOG_VERSION:
        raise ValueError("written by a newer wildtool")
    return None


def _line_at(file: IO[bytes], offset: int) -> bytes:
    """The line at an offset, or the beginning of one that is too long. The position of the file, which a copy of this
    process shares, stays where it is."""
    size = _LINE_READ
    while True:
        data = os.pread(file.fileno(), size, offset)
        end = data.find(b"\n") + 1
        if end or len(data) < size:
            return data[:end] if end else data
        if size > json_codec.LINE_LIMITS.bytes:
            return data
        size = min(4 * size, json_codec.LINE_LIMITS.bytes + 1)


def _without_request(line: bytes) -> dict[str, Any] | None:
    """The row without what was asked, which is most of a line; None if that is not at the end of the line."""
    cut = line.find(b',"sends":[')
    try:
        return _checked(_parsed(line[:cut] + b',"sends":[]}')) if cut > 0 else None
    except (ValueError, KeyError, TypeError):
        return None


def _parsed(line: bytes) -> dict[str, Any]:
    return json_codec.loads_within(line, json_codec.LINE_LIMITS)


def _checked(row: dict[str, Any]) -> dict[str, Any]:
    check_columns(row, _COLUMNS[row["row"]])
    return row


def _without_superseded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of an item without those that were asked again."""
    if not any(row.get("again") for row in rows):
        return rows
    live: list[dict[str, Any]] = []
    for row in rows:
        if row.get("again"):
            live = [old for old in live if old["unit"] != row["unit"] or old["step"] < row["step"]]
        live.append(row)
    return live


def _log_of(rows: Iterable[dict[str, Any]]) -> ItemLog:
    log: ItemLog = {}
    for row in _without_superseded(list(rows)):
        steps = log.setdefault(row["unit"], {})
        if not isinstance(steps.get(row["step"]), LoggedReply):
            steps[row["step"]] = _log_entry(row)
    return log


def _chains_of(rows: list[dict[str, Any]]) -> RequestChains:
    links = {link["hash"]: link for row in rows for link in row["sends"]}
    ends: dict[tuple[str, int], str] = {}
    for row in _without_superseded(rows):
        if row["request"] is not None:
            ends.setdefault((row["unit"], row["step"]), row["request"])
    return RequestChains(links, ends)


def _log_entry(row: dict[str, Any]) -> LoggedReply | LoggedFailure:
    if row["row"] == "error":
        return LoggedFailure(row["role"], row["request"], row["kind"], row["message"], row["attempts"])
    reply = reply_from_row(row)
    if end := failing_end(row["role"], reply):
        message = f"the reply ended with the finish reason {reply.finish_reason}"
        return LoggedFailure(row["role"], row["request"], error_class(end), message, reply.attempts, reply)
    return LoggedReply(row["role"], row["request"], reply)
