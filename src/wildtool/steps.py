"""What takes long says so, and a command with a terminal shows it."""

from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TypeVar

Job = TypeVar("Job")
_SILENT_S = 2.0
"""Time after which a long task says how far it is."""
_EVERY = 32

_show: Callable[[str], None] | None = None


def show_steps(show: Callable[[str], None]) -> None:
    """Takes the function that shows a line in place of the last one; an empty line clears it."""
    global _show
    _show = show


def with_steps(what: str, jobs: Iterable[Job], place: Callable[[Job], int]) -> Iterator[Job]:
    """The jobs one after another; if they take long, shows how many were done.

    Args:
        what: is done, such as `judging runs/demo`.
        place: of a job among all, from 0.
    """
    if _show is None:
        yield from jobs
        return
    begun, shown = monotonic(), False
    for number, job in enumerate(jobs):
        if number % _EVERY == 0 and (shown or monotonic() - begun > _SILENT_S):
            _show(f"{what}: {place(job):,} items")
            shown = True
        yield job
    if shown:
        _show("")
