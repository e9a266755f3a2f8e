"""JSON pointers (RFC 6901) into the content of an item: reading, replacing and comparing parts."""

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, cast

from wildtool.errors import DataError, UsageError


class Absent(Enum):
    """The value of a member that does not exist, which differs from null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
_INDEX_DIGITS = 18
"""Most digits of a position in a list."""


@dataclass(frozen=True, slots=True)
class Change:
    """One replaced part of an item."""

    field: str
    """JSON pointer of the part."""
    before: Any
    """Its value before; ABSENT if it was added."""
    after: Any
    """Its value now; ABSENT if it was removed."""


def pointer(*parts: str | int) -> str:
    """The pointer to a part, such as `/tasks/0`."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def pointer_parts(field: str) -> list[str]:
    """The parts of a pointer. Raises DataError if it is none."""
    if field and not field.startswith("/"):
        raise DataError("{0} is no JSON pointer; expected one like /english_tasks/0", field)
    return [part.replace("~1", "/").replace("~0", "~") for part in field.split("/")[1:]]


def value_at(content: Any, field: str) -> Any:
    """The part of a content; ABSENT if there is none. Raises DataError for a text that is no pointer."""
    for part in pointer_parts(field):
        content = _member(content, part)
        if content is ABSENT:
            return ABSENT
    return content


def nearest(content: Any, field: str) -> str:
    """The longest beginning of a pointer that leads to a part of the content."""
    found: list[str] = []
    for part in pointer_parts(field):
        content = _member(content, part)
        if content is ABSENT:
            break
        found.append(part)
    return pointer(*found)


def _member(content: Any, part: str) -> Any:
    """The member of an object or a list that one part of a pointer names; ABSENT if there is none."""
    if isinstance(content, Mapping):
        return cast(Mapping[str, Any], content).get(part, ABSENT)
    # What has more digits than an index can have is none, and would take long to read as a number.
    if not isinstance(content, list) or len(part) > _INDEX_DIGITS or not (part.isascii() and part.isdigit()):
        return ABSENT
    members = cast(list[Any], content)
    index = int(part)
    return members[index] if str(index) == part and index < len(members) else ABSENT


def with_change(content: Any, change: Change) -> Any:
    """A copy of a content with a part replaced, added to or removed from an object; lists are replaced as a whole.

    Raises DataError if the part is not what the change says it was, or has no parent.
    """
    if not same_json(value_at(content, change.field), change.before):
        raise DataError(
            "{0} is not what this change replaces; read the item again", change.field or "the item"
        )
    parts = pointer_parts(change.field)
    if not parts:
        return copy.deepcopy(change.after)
    parent = value_at(content, change.field.rpartition("/")[0])
    adds_or_removes = ABSENT in (change.before, change.after)
    if not isinstance(parent, dict) and (adds_or_removes or not isinstance(parent, list)):
        raise DataError(
            "{0}: only members of objects can be added or removed; replace the whole list", change.field
        )
    return _replaced(content, parts, change.after)


def _replaced(content: Any, parts: Sequence[str], after: Any) -> Any:
    """Copies only the containers on the way."""
    first, *rest = parts
    if isinstance(content, list):
        members = list(cast(list[Any], content))
        members[int(first)] = _replaced(members[int(first)], rest, after) if rest else copy.deepcopy(after)
        return members
    fields = dict(cast(Mapping[str, Any], content))
    if rest:
        fields[first] = _replaced(fields[first], rest, after)
    elif after is ABSENT:
        fields.pop(first, None)
    else:
        fields[first] = copy.deepcopy(after)
    return fields


def overlap(field: str, other: str) -> bool:
    """Whether two pointers lead to the same part, or one into the other's."""
    return field == other or field.startswith(f"{other}/") or other.startswith(f"{field}/")


def check_together(changes: Sequence[Change]) -> None:
    """Raises UsageError for changes of which one would replace what another one made."""
    for k, change in enumerate(changes):
        for other in changes[:k]:
            if overlap(change.field, other.field):
                raise UsageError(
                    "{0} and {1} exclude each other: take only one of these edits", other.field, change.field
                )


def differences(old: Any, new: Any, field: str = "") -> Iterator[Change]:
    """The smallest parts in which two contents differ; lists of different lengths differ as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        ours, theirs = cast(dict[str, Any], old), cast(dict[str, Any], new)
        for name in dict.fromkeys([*ours, *theirs]):
            place = field + pointer(name)
            if name in ours and name in theirs:
                yield from differences(ours[name], theirs[name], place)
            else:
                yield Change(place, ours.get(name, ABSENT), theirs.get(name, ABSENT))
    elif (
        isinstance(old, list)
        and isinstance(new, list)
        and len(cast(list[Any], old)) == len(cast(list[Any], new))
    ):
        for index, (before, other) in enumerate(zip(cast(list[Any], old), cast(list[Any], new), strict=True)):
            yield from differences(before, other, field + pointer(index))
    elif not same_json(old, new):
        yield Change(field, old, new)


def same_json(value: Any, other: Any) -> bool:
    """Whether two values are the same JSON value; true differs from 1, and 1 from 1.0."""
    if value is ABSENT or other is ABSENT:
        return value is other
    return value is other or canonical(value) == canonical(other)


def canonical(value: Any) -> bytes:
    """The one JSON text of a value: sorted keys, no blanks, UTF-8."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def content_digest(content: Any) -> str:
    """The version of a content: SHA-256 of its canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(content)).hexdigest()
