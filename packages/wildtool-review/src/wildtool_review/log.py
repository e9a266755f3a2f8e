"""The log of a review: append-only JSON lines in a hash chain, from which any state can be rebuilt.

Each line has the digest of the line before it and its own: SHA-256 of the line without that field. So a line that was
changed, moved or removed is found, and `read_log` names the first bad one. A missing end is only seen beside a digest
that was kept elsewhere, such as that of a release (`read_log(…, last=…)`).
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast, get_args

from wildtool import json_codec
from wildtool.errors import DataError, RecordError
from wildtool_data.pointers import ABSENT, Change

EntryKind = Literal[
    "import", "check", "assign", "edit", "choose", "decision", "settle", "resolve", "recheck", "note",
    "stale", "propose", "discard", "withdraw", "round opened", "round closed", "person",
]  # fmt: skip
ENTRY_KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
CHANGING = ("edit", "choose")
"""Kinds that replace a part of an item."""
GENESIS = hashlib.sha256(b"wildtool review 1").hexdigest()
"""What the first line names as the digest before it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is about to be logged."""

    kind: EntryKind
    who: str
    """Name of the person; `import`, `rules` or a model's name where nobody acted."""
    item: str = ""
    """Id of the item; empty for entries about rounds and people."""
    branch: str = ""
    """Whose own copy of the item this concerns, during a blind review; empty for the item itself."""
    version: str = ""
    """Digest of the content that the person saw."""
    content: str = ""
    """Digest of the content that results, of entries that change one or propose to; of a discarded proposal, its own."""
    field: str = ""
    """JSON pointer of the part that was replaced."""
    before: Any = ABSENT
    after: Any = ABSENT
    reason: tuple[str, ...] = ()
    """Reason codes of a decision; where a chosen candidate comes from."""
    round: int = 0
    """Number of the round; 0 outside of rounds."""
    note: str = ""
    origin: str = ""
    """Digest of the entry in the file that it was merged from."""
    when: str = ""
    """Time in UTC by ISO 8601, in milliseconds; empty for now."""

    @property
    def change(self) -> Change:
        """The replaced part."""
        return Change(self.field, self.before, self.after)


@dataclass(frozen=True, slots=True)
class Entry(Draft):
    """One line of the log."""

    n: int = 0
    """Its number, from 1."""
    prev: str = ""
    """Digest of the line before it."""
    digest: str = field(default="", compare=False)


_TEXTS = ("item", "branch", "version", "content", "field", "note", "origin")


def now() -> str:
    """The time in UTC, in milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def chained(drafts: Iterable[Draft], n: int, prev: str) -> list[Entry]:
    """Drafts as the entries that follow entry `n`, whose digest is `prev`."""
    entries: list[Entry] = []
    for draft in drafts:
        n += 1
        values = {name: getattr(draft, name) for name in Draft.__slots__}
        values["when"] = values["when"] or now()
        for name in ("before", "after"):
            values[name] = values[name] if values[name] is ABSENT else json_codec.normalize(values[name])
        entry = Entry(**values, n=n, prev=prev)
        prev = hashlib.sha256(json_codec.dumps(_row(entry))).hexdigest()
        entries.append(replace(entry, digest=prev))
    return entries


def entry_line(entry: Entry) -> bytes:
    """An entry as a line of JSON, without its line end; empty fields are left out."""
    return json_codec.dumps({**_row(entry), "digest": entry.digest})


def parse_entry(line: bytes) -> Entry:
    """The entry of a line, whose chain is not checked. Raises ValueError if it is none."""
    row = json_codec.loads_within(line, json_codec.LINE_LIMITS)
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    row = cast(dict[str, Any], row)
    unknown = row.keys() - set(Entry.__slots__) - set(Draft.__slots__)
    reasons = row.get("reason", [])
    texts = [row.get(name, "") for name in (*_TEXTS, "prev", "digest", "when", "who")]
    numbers = [row.get("n"), row.get("round", 0)]
    if (
        unknown
        or row.get("kind") not in ENTRY_KINDS
        or not all(isinstance(text, str) for text in texts)
        or not all(type(number) is int for number in numbers)
        or not isinstance(reasons, list)
        or not all(isinstance(reason, str) for reason in cast(list[Any], reasons))
    ):
        raise ValueError(f"not an entry of a review log{': unknown fields' if unknown else ''}")
    values: dict[str, Any] = {**row, "reason": tuple(cast(list[str], reasons))}
    return Entry(**values)


def verified(lines: Iterable[bytes], where: str, *, last: str | None = None) -> Iterator[Entry]:
    """The entries of a log's lines, each checked against the one before it.

    Args:
        where: what the lines come from, for messages.
        last: digest that the last entry must have; None if that is not known.

    Raises RecordError naming the first bad line.
    """
    prev, n = GENESIS, 0
    for n, line in enumerate(lines, 1):
        try:
            entry = parse_entry(line)
        except (ValueError, TypeError) as error:
            raise RecordError(f"{where}, line {n}: damaged: {error}; {_ADVICE}") from error
        if entry.n != n or entry.prev != prev:
            raise RecordError(
                f"{where}, line {n}: does not follow the line before it; one was removed, moved or added; {_ADVICE}"
            )
        if (
            hashlib.sha256(json_codec.dumps(_row(entry))).hexdigest() != entry.digest
            or entry_line(entry) != line
        ):
            raise RecordError(f"{where}, line {n}: was changed after it was written; {_ADVICE}")
        prev = entry.digest
        yield entry
    if last is not None and prev != last:
        raise RecordError(f"{where}, line {n + 1}: missing: the log should end with another entry; {_ADVICE}")


def read_log(path: Path, *, last: str | None = None) -> Iterator[Entry]:
    """The checked entries of a file. Raises RecordError naming the first bad line, DataError if it cannot be read."""
    try:
        with path.open("rb") as file:
            yield from verified(_whole_lines(file, path), str(path), last=last)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _whole_lines(file: Iterable[bytes], path: Path) -> Iterator[bytes]:
    for n, line in enumerate(json_codec.lines_within(cast(Any, file)), 1):
        if not line.endswith(b"\n"):
            raise RecordError(f"{path}, line {n}: ends in the middle; {_ADVICE}")
        yield line[:-1]


_ADVICE = "restore the log from a copy"


def _row(entry: Entry) -> dict[str, Any]:
    """The fields of an entry that its digest covers, in order."""
    row: dict[str, Any] = {"n": entry.n, "when": entry.when, "who": entry.who, "kind": entry.kind}
    row |= {name: value for name in _TEXTS if (value := getattr(entry, name))}
    for name in ("before", "after"):
        if (value := getattr(entry, name)) is not ABSENT:
            row[name] = value
    if entry.reason:
        row["reason"] = list(entry.reason)
    if entry.round:
        row["round"] = entry.round
    return {**row, "prev": entry.prev}
