"""The named errors of the project and the exit status each one leads to."""

import errno
from collections.abc import Iterable
from difflib import get_close_matches

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
"""System errors of a disk without room."""


class WildtoolError(Exception):
    """Something a user can act on: the message names the thing, what was expected and what to do next."""

    exit_status = 1


class UsageError(WildtoolError):
    """A setting that cannot work: an unknown name, a missing option, options that exclude each other."""

    exit_status = 2


class DataError(WildtoolError):
    """Data that do not follow their format; the message names file, line, id and field."""

    exit_status = 2


class RecordError(WildtoolError):
    """A run folder that cannot be read, written or continued."""

    exit_status = 2


class StorageError(RecordError):
    """The record could not be written (disk full, quota, I/O error); what was written before is intact."""

    exit_status = 3


class InfraError(WildtoolError):
    """A model call that failed for reasons that say nothing about the model, after all retries."""

    exit_status = 3

    def __init__(self, kind: str, message: str, *, attempts: int = 1) -> None:
        super().__init__(message)
        self.kind = kind
        self.attempts = attempts


class CallError(Exception):
    """One failed model call, raised by an adapter; the engine decides whether to try again.

    `kind` is a short stable name (`timeout`, `http 429`, `truncated body`, `invalid JSON`, `wrong shape`, …),
    `retry_after_s` what the server asked for, `final` true where another try cannot help (401, 404, …).
    """

    def __init__(
        self, kind: str, message: str, *, retry_after_s: float | None = None, final: bool = False
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.final = final


def unknown_name(kind: str, name: str, known: Iterable[str], *, of: str = "") -> str:
    """What to say of an unknown name: the one that was probably meant, and all that there are.

    Args:
        kind: what should have that name, such as `profile`.
        of: what it belongs to, such as a benchmark.
    """
    names = list(dict.fromkeys(known))
    folded = {_folded(each): each for each in names}
    close = get_close_matches(_folded(name), folded, 1)
    meant = f"; did you mean {folded[close[0]]!r}?" if close else ""
    return f"unknown {kind} {name!r}{f' of {of}' if of else ''}{meant} (known: {', '.join(names) or 'none'})"


def match_name(kind: str, name: str, known: Iterable[str]) -> str:
    """The known name that was meant, whatever its case and with `_` or `-` for a blank. Raises UsageError."""
    names = list(dict.fromkeys(known))
    meant = name if name in names else next((each for each in names if _folded(each) == _folded(name)), None)
    if meant is None:
        raise UsageError(unknown_name(kind, name, names))
    return meant


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")
