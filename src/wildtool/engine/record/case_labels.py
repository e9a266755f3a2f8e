"""What people say about failures of a run: `labels.jsonl` in its folder, which travels with the run.

Its first line has the labels that can be given and the cases that are read, with what a rule proposes for each. Every
further line is what one reader says about one case; the last one of a reader and a case counts.
"""

import fcntl
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from wildtool.engine.record.format import LABELS_FILE, whole_length
from wildtool.engine.record.writer import AppendLog
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_list, checked, read_json_lines, required_field
from wildtool.outputs import write_error

LABELS_FORMAT = "wildtool labels"
LABELS_VERSION = 1


@dataclass(frozen=True, slots=True, order=True)
class CaseKey:
    """Which unit of a run."""

    item: str
    repeat: int
    unit: str

    def __str__(self) -> str:
        sample = f", sample {self.repeat + 1}" if self.repeat else ""
        return f"{self.item}, unit {self.unit}{sample}"


@dataclass(frozen=True, slots=True)
class CaseReading:
    """What one reader says about one case."""

    reader: str
    case: CaseKey
    labels: tuple[str, ...]
    """Names of labels; none for a case that no label fits."""
    note: str = ""
    when: str = ""
    """Date and time, as ISO 8601."""


@dataclass(frozen=True, slots=True)
class LabelledCases:
    """The cases of a run that people read, and what they say."""

    profile: str
    """The rules under which the cases are failures."""
    failures: int
    """How many failures the cases were drawn from."""
    seed: str
    labels: Mapping[str, str]
    """By name what each label means."""
    proposals: Mapping[CaseKey, tuple[str, ...]]
    """By case, in the order of the data, the labels that a rule proposes."""
    readings: Sequence[CaseReading] = field(default_factory=tuple[CaseReading, ...])

    @property
    def by_case(self) -> dict[CaseKey, dict[str, CaseReading]]:
        """By case and reader what counts."""
        found: dict[CaseKey, dict[str, CaseReading]] = {}
        for reading in self.readings:
            found.setdefault(reading.case, {})[reading.reader] = reading
        return found

    @property
    def readers(self) -> list[str]:
        """Who read anything, in the order in which they began."""
        return list(dict.fromkeys(reading.reader for reading in self.readings))

    def same_sample(self, other: "LabelledCases") -> bool:
        """Whether other cases are the same ones with the same labels, whatever was said about them."""
        return (self.profile, dict(self.labels), list(self.proposals)) == (
            other.profile,
            dict(other.labels),
            list(other.proposals),
        )


def labels_of_run(folder: Path) -> LabelledCases | None:
    """What people said about failures of a run; None where nobody was asked.

    Raises DataError naming the line that cannot be read.
    """
    file = folder / LABELS_FILE
    return read_case_labels(file) if file.is_file() else None


def read_case_labels(file: Path) -> LabelledCases:
    """The labels of a file. Raises DataError naming the line that cannot be read."""
    _check_whole(file)
    cases: LabelledCases | None = None
    readings: list[CaseReading] = []
    for where, record in read_json_lines(file, "line of labels"):
        if cases is None:
            cases = _head(record, where)
        else:
            readings.append(_reading(record, cases, where))
    if cases is None:
        raise DataError(f"{file}: is empty, and its first line should have the labels; move the file away")
    return replace(cases, readings=tuple(readings))


def _check_whole(file: Path) -> None:
    """Raises DataError where the last line is torn, since the next one would be added to it."""
    try:
        with file.open("rb") as stream:
            is_torn = whole_length(stream) < file.stat().st_size
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from error
    if is_torn:
        raise DataError(f"{file}: its last line is not whole; remove it, or complete it")


def start_labels(folder: Path, cases: LabelledCases) -> None:
    """Writes the cases to read into the folder of a run, where nobody else has meanwhile.

    Raises UsageError or StorageError if they cannot be written.
    """
    head = {
        "format": LABELS_FORMAT,
        "version": LABELS_VERSION,
        "profile": cases.profile,
        "failures": cases.failures,
        "seed": cases.seed,
        "labels": [{"name": name, "about": about} for name, about in cases.labels.items()],
        "cases": [{**asdict(case), "proposed": list(names)} for case, names in cases.proposals.items()],
    }
    _append(folder / LABELS_FILE, first=_line(head))


def add_readings(folder: Path, readings: Iterable[CaseReading]) -> None:
    """Adds what readers said, kept once this returns. Raises UsageError or StorageError if it cannot be written."""
    rows = [
        {
            "reader": each.reader,
            **asdict(each.case),
            "labels": list(each.labels),
            "note": each.note,
            "when": each.when,
        }
        for each in readings
    ]
    _append(folder / LABELS_FILE, b"".join(map(_line, rows)))


def _line(row: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(row)}\n".encode()


def _append(file: Path, lines: bytes = b"", *, first: bytes = b"") -> None:
    """Adds all lines or none. Args: first: the line that a file without any begins with."""
    try:
        # Who saves at the same time waits here: opening the log looks for its last whole line.
        with file.open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with closing(AppendLog(file, first)) as log:
                log.append(lines)
                log.sync()
    except OSError as error:
        raise write_error(file, error) from error


def _head(line: dict[str, Any], where: str) -> LabelledCases:
    if line.get("format") != LABELS_FORMAT:
        raise DataError(f"{where}: expected the format {LABELS_FORMAT!r}; move the file away")
    if required_field(line, "version", int, where) > LABELS_VERSION:
        raise DataError(f"{where}: it was written by a newer wildtool; update wildtool")
    labels = {
        required_field(each, "name", str, where): required_field(each, "about", str, where)
        for each in _objects(line, "labels", where)
    }
    proposals = {
        _key(each, where): _names(each, "proposed", labels, where) for each in _objects(line, "cases", where)
    }
    profile, seed = (required_field(line, key, str, where) for key in ("profile", "seed"))
    return LabelledCases(profile, required_field(line, "failures", int, where), seed, labels, proposals)


def _reading(line: dict[str, Any], cases: LabelledCases, where: str) -> CaseReading:
    case = _key(line, where)
    if case not in cases.proposals:
        raise DataError(f"{where}: {case} is none of the cases of the first line")
    labels = _names(line, "labels", cases.labels, where)
    reader, note, when = (required_field(line, key, str, where) for key in ("reader", "note", "when"))
    return CaseReading(reader, case, labels, note, when)


def _objects(line: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    held = as_list(required_field(line, key, list, where))
    if not held:
        raise DataError(f"{where}: field {key}: is empty")
    return [checked(each, dict, f"{where}: field {key}") for each in held]


def _key(line: dict[str, Any], where: str) -> CaseKey:
    item, unit = (required_field(line, key, str, where) for key in ("item", "unit"))
    return CaseKey(item, required_field(line, "repeat", int, where), unit)


def _names(line: dict[str, Any], key: str, known: Mapping[str, str], where: str) -> tuple[str, ...]:
    held = as_list(required_field(line, key, list, where))
    names = [checked(name, str, f"{where}: field {key}") for name in held]
    for name in names:
        if name not in known:
            raise DataError(f"{where}: {key!r} has {name!r}, which is no label of the first line")
    return tuple(names)


def merge_readings(folder: Path, file: Path) -> int:
    """Adds what others said about the same cases of a copy of a run; returns how much was new.

    What a reader said in the copy before what is here of the same case is no news.

    Raises UsageError if the file is of other cases, DataError if a file cannot be read.
    """
    own, others = labels_of_run(folder), read_case_labels(file)
    if own is None or not own.same_sample(others):
        raise UsageError(
            f"{file}: has other cases or labels than {folder}; merge what was read of the same sample"
        )
    known, said = set(own.readings), own.by_case
    fresh = [
        reading
        for reading in others.readings
        if reading not in known and not _is_outdated(reading, said.get(reading.case, {}))
    ]
    if fresh:
        add_readings(folder, fresh)
    return len(fresh)


def _is_outdated(reading: CaseReading, said: Mapping[str, CaseReading]) -> bool:
    """Whether its reader said something later. Args: said: by reader what counts of the case."""
    own = said.get(reading.reader)
    return own is not None and reading.when < own.when
