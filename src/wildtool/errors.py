"""The named errors of the project and the exit status each one leads to."""

import errno

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
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
