"""What every reader here carries along: where it is, and what it had to leave out."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, NoReturn

from wildtool.errors import DataError
from wildtool.json_codec import LINE_LIMITS, loads_within


class ShapeError(DataError):
    """Something of the outer world has a shape that no reader knows; the message names place, key and what was
    expected."""


class BrokenError(ShapeError):
    """Something is broken in every shape, such as a call without a name. Where a model may have written it, it stays as
    received, for the judge."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A place in what is read, and what was left out on the way to it."""

    place: str = ""
    """What a message begins with, such as `chats.jsonl:3: message 2`; empty where the caller names it."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """By name how often something was left out that OpenAI's shape has no place for. Shared by all places of a
    reading."""
    anything: bool = False
    """Whether nothing says yet what is read, as in a file that somebody names: an object with a name is then a tool only
    if its keys are those of one."""
    absent_arguments: str | None = None
    """The text that takes the place of arguments where a call has not even empty ones; None to read these as empty."""

    def at(self, part: str) -> "Reading":
        """The same reading at a part of this place."""
        return replace(self, place=f"{self.place}: {part}" if self.place else part)

    def fail(self, message: str) -> NoReturn:
        """Raises ShapeError with the place before the message."""
        raise ShapeError(f"{self.place}: {message}" if self.place else message)

    def broken(self, message: str) -> NoReturn:
        """Raises BrokenError with the place before the message."""
        raise BrokenError(f"{self.place}: {message}" if self.place else message)

    def lose(self, name: str) -> None:
        """Counts something that is left out."""
        self.lost[name] += 1


def resembles(key: str, known: Iterable[str]) -> bool:
    """Whether a key is one of the known ones with a slip of the pen."""
    return bool(get_close_matches(key.casefold(), [name.casefold() for name in known], 1, 0.75))


def did_you_mean(key: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown key: the known one that it resembles, or all of them."""
    names = list(known)
    close = get_close_matches(key.casefold(), [name.casefold() for name in names], 1)
    meant = [name for name in names if name.casefold() in close]
    return f"did you mean `{meant[0]}`?" if meant else f"expected {', '.join(f'`{name}`' for name in names)}"


def of_json(value: Any) -> Any:
    """The object or the list of a text that holds one; all else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return loads_within(value, LINE_LIMITS)
    except ValueError:
        return value


def part_type(part: Mapping[str, Any]) -> str:
    """What a part of a message says it is; empty where it does not."""
    kind = part.get("type", part.get("part_kind"))
    return kind if isinstance(kind, str) else ""
