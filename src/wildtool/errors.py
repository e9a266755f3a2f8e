"""The errors of wildtool with their exit statuses."""

import errno
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Any

from wildtool.redact import redacted_text

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
"""System errors of a full disk."""
BLOCKED_PROMPT = "blocked prompt"
"""Error kind of a prompt that the provider does not pass on to the model: final, and no network error."""
NOT_RECORDED = "not recorded"
"""Error kind of a call that asks a record for a reply which it does not hold: final, but no fault of a key or a name."""
RATE_LIMITED_KINDS = frozenset({"http 429", "http 529"})
"""Error kinds by which an endpoint says that it is asked too much: at another moment the call is answered."""

TOOLS_MISSING = "tools missing"
"""Error kind of a unit that cannot be played, since what lies between benchmark and model leaves out some of its tools:
final, since it would again."""
NOT_CHOSEN = "not chosen"
"""Error kind of a unit that a run leaves out; never recorded."""


class WildtoolError(Exception):
    """An error that the user can act on: the message names the cause, what was expected and what to do.

    Pages translate a message by its text, in which `{0}`, `{1}` … stand for its values.
    """

    exit_status = 1

    def __init__(self, text: str = "", *values: object) -> None:
        super().__init__(text.format(*values) if values else text)
        self.text = text
        self.values = values

    def __str__(self) -> str:
        return redacted_text(super().__str__())


class UsageError(WildtoolError):
    """A command that cannot work: an unknown name, a missing option, or options that exclude each other."""

    exit_status = 2


class NoSuchPlaceError(UsageError, IndexError):
    """A place behind the end of a sequence of wildtool's, for which Python itself expects an IndexError."""


class DataError(WildtoolError):
    """Data that break their format; the message names file, line, id and field."""

    exit_status = 2


class ToolsNotListedError(DataError):
    """Cases name servers or files whose tools a command must list before anything can be judged."""


class RecordError(WildtoolError):
    """A run folder that cannot be read, written or continued."""

    exit_status = 2


class StorageError(RecordError):
    """The record could not be written (disk full, quota, I/O error); everything written before is intact."""

    exit_status = 3


class InfraError(WildtoolError):
    """A model call that failed after all retries, for reasons that say nothing about the model."""

    exit_status = 3

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        attempts: int = 1,
        usage: Mapping[str, Any] | None = None,
        advised: bool = False,
    ) -> None:
        """
        Args:
            usage: what the provider reported of all attempts, in the words of `Reply.usage`.
            advised: whether the message says what to do.
        """
        super().__init__(message)
        self.kind = kind
        self.advised = advised
        self.attempts = attempts
        self.usage = usage or {}


class LimitOf(Enum):
    """Whose limit ends a run."""

    USER = "user"
    """One that the user gave."""
    ENDPOINT = "endpoint"
    """The endpoint's, such as a quota."""
    DOWN = "down"
    """An endpoint that has answered is down."""


class LimitError(InfraError):
    """A call that was not made since a limit is reached. It is not recorded: its unit stays unplayed."""

    def __init__(self, message: str, of: LimitOf = LimitOf.USER) -> None:
        super().__init__("limit", message)
        self.of = of


class CallError(Exception):
    """One failed model call, raised by an adapter; the engine decides whether to try again.

    `kind` is a short stable name (`timeout`, `http 429`, `truncated body`, `invalid JSON`, `wrong shape`, …),
    `retry_after_s` what the server asked for, `final` true where another try cannot help (401, 404, …), `advised`
    true where the message says what to do, `usage` the tokens that the provider reported although it did not finish the
    reply.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retry_after_s: float | None = None,
        final: bool = False,
        advised: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.final = final
        self.advised = advised
        self.usage: Mapping[str, Any] = {}


_MOST_LISTED, _FEW_LISTED = 40, 10
"""Known names that a message lists at most, and how many of them where there are more: nobody reads a screen of names."""


def unknown_name(
    kind: str, name: str, known: Iterable[str], *, of: str = "", meant: Iterable[str] = ()
) -> str:
    """The message for an unknown name, with the closest known name and all known names, of very many the first.

    Args:
        kind: what should have that name, such as `profile`.
        of: what it belongs to, such as a benchmark.
        meant: the known names that are meant by it; without any, the closest one.
    """
    names = list(dict.fromkeys(known))
    folded = {_folded(each): each for each in names}
    likely = list(meant) or [folded[each] for each in get_close_matches(_folded(name), folded, 1)]
    question = f"; did you mean {' or '.join(map(repr, likely))}?" if likely else ""
    few = [*names[:_FEW_LISTED], f"… and {len(names) - _FEW_LISTED} more"]
    shown = few if len(names) > _MOST_LISTED else names
    return (
        f"unknown {kind} {name!r}{f' of {of}' if of else ''}{question} (known: {', '.join(shown) or 'none'})"
    )


def match_name(kind: str, name: str, known: Iterable[str]) -> str:
    """The known name that equals the given one apart from case and `_`, `-` or blanks. Raises UsageError."""
    names = list(dict.fromkeys(known))
    meant = name if name in names else next((each for each in names if _folded(each) == _folded(name)), None)
    if meant is None:
        raise UsageError(unknown_name(kind, name, names))
    return meant


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")
