"""Turns exceptions of a verb into a message that users can act on, and into the exit status."""

import errno
import os
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from wildtool.cli.terminal import print_err
from wildtool.errors import DISK_FULL, StorageError, UsageError, WildtoolError

Verb = ParamSpec("Verb")

WORST_LAST = (0, 3, 2, 1, 130)
"""Exit statuses, the worst last: if several models end differently, the worst counts."""


_USER_FIXABLE_ERRORS = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip
"""System errors that only the user can fix: a place that cannot be written or read."""


def worst_status(statuses: list[int]) -> int:
    """The worst of some exit statuses; 0 for none."""
    return max(statuses, key=WORST_LAST.index, default=0)


def with_exit_status(verb: Callable[Verb, int | None]) -> Callable[Verb, None]:
    """The verb as a command that ends with its exit status and never with a traceback."""

    @wraps(verb)
    def command(*args: Verb.args, **kwargs: Verb.kwargs) -> None:
        raise typer.Exit(run_to_status(lambda: verb(*args, **kwargs)))

    return command


def run_to_status(command: Callable[[], int | None]) -> int:
    """Runs a command; returns its exit status."""
    try:
        status = command() or 0
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print_err("interrupted")
        return 130
    except BrokenPipeError:
        # The reader of our output has seen enough (`wildtool show … | head`). Buffered output must still go
        # somewhere, or Python complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the one place where anything left becomes a message
        return report_error(error)


def report_error(error: Exception) -> int:
    """Prints what went wrong; returns the exit status."""
    if isinstance(error, WildtoolError):
        for text in (str(error), *getattr(error, "__notes__", ())):
            print_err(f"wildtool: {text}")
        return error.exit_status
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        print_err(
            f"wildtool: {error.filename or 'output'}: could not be written ({error.strerror}); what was recorded "
            "is intact. Make room, then run the same command again."
        )
        return StorageError.exit_status
    if isinstance(error, OSError) and (error.errno in _USER_FIXABLE_ERRORS or _no_temporary_folder(error)):
        place = f"{error.filename}: " if error.filename else ""
        print_err(
            f"wildtool: {place}cannot be read or written ({error.strerror}); check its permissions, or name another place"
        )
        return UsageError.exit_status
    if os.environ.get("WILDTOOL_DEBUG"):
        print_err("".join(traceback.format_exception(error)).rstrip())
    place = traceback.extract_tb(error.__traceback__)[-1]
    print_err(f"wildtool: internal error: {type(error).__name__}: {error} ({place.filename}:{place.lineno})")
    print_err(
        "Please report this, with your command and its output with WILDTOOL_DEBUG=1. All recorded replies are intact."
    )
    return 1


def _no_temporary_folder(error: OSError) -> bool:
    """Whether there is no folder for temporary files that can be written to."""
    return error.errno == errno.ENOENT and "temporary directory" in (error.strerror or "")
