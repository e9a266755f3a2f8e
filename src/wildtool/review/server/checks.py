"""Runs the rules over new items while the pages are open, a portion at a time between requests."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from wildtool.errors import WildtoolError
from wildtool.review.project import ReviewProject
from wildtool.review.server.similar import SimilarTexts

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
    """Why they stopped early, such as a full disk; empty if they did not."""


class RuleChecks:
    """The rules over all items that were not checked yet. Stopped or killed, they continue there at the next start."""

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
            pass

    def _portion(self) -> bool:
        """Whether something is left to do."""
        checked: list[str] = []
        left = False
        try:
            checked = self._project.check_some()
            left = bool(checked) or self.similar.read_some()
        except WildtoolError as error:
            self._problem = str(error)
        self._done = not checked
        if checked or self._problem:
            self._on_progress(self.progress())
        return left
