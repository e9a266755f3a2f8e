"""Runs the rules over new items while the pages are open, a portion at a time between requests."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from wildtool.errors import StorageError, WildtoolError
from wildtool.review.project import ReviewProject
from wildtool.review.server.similar import SimilarTexts

STORE_RETRY_S = 5.0
"""Seconds until a store that could not be used is tried again."""
Work = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Gives the result of an action in the thread that has the store."""


@dataclass(frozen=True, slots=True)
class ChecksProgress:
    """How far the rules are."""

    checked: int
    total: int
    """Items of the review."""
    running: bool
    problem: str
    """Why they wait or have stopped, such as a full disk; empty if they do not."""


class RuleChecks:
    """The rules over all items that were not checked yet. Stopped or killed, they continue there at the next start; while
    the store cannot be used, they wait for it."""

    def __init__(
        self, project: ReviewProject, work: Work, on_progress: Callable[[ChecksProgress], None]
    ) -> None:
        """Args: on_progress: called after each portion, in the thread that has the store."""
        self.similar = SimilarTexts(project)
        """Read once all items are checked."""
        self._project = project
        self._work = work
        self._on_progress = on_progress
        self._problem = ""
        self._done = False

    def progress(self) -> ChecksProgress:
        """For the thread that has the store."""
        items = self._project.state.items.values()
        checked = sum(item.warnings is not None for item in items)
        return ChecksProgress(checked, len(items), not self._done, self._problem)

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Ends them after the portion at hand."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while await self._work(self._portion):
            if self._problem:
                await asyncio.sleep(STORE_RETRY_S)

    def _portion(self) -> bool:
        """Whether something is left to do."""
        before, self._problem = self._problem, ""
        checked: list[str] = []
        left = False
        try:
            checked = self._project.check_some()
            left = bool(checked) or self.similar.read_some()
        except WildtoolError as error:
            self._problem = str(error)
            # A database that is away comes back, and a full disk gets room.
            left = isinstance(error, StorageError)
        self._done = not checked and not (left and self._problem)
        if checked or self._problem != before:
            self._on_progress(self.progress())
        return left
