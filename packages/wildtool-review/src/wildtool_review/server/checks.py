"""Runs the rules over new items while the pages are open, a portion at a time between requests, and finds user texts
that are nearly the same."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from wildtool.errors import StorageError, WildtoolError
from wildtool.findings import Finding, fault
from wildtool.toolcall.text.similarity import NEAR_DUPLICATE, NearDuplicateIndex, fold_text
from wildtool_data.pointers import value_at
from wildtool_review.project import ReviewProject

_PORTION_S = 0.05


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text stands."""

    item: str
    digest: str
    """Of the item's content that has it."""
    task: int


class SimilarTexts:
    """The user texts of all items as they are in the items themselves, without the copies of reviewers."""

    def __init__(self, project: ReviewProject) -> None:
        self._project = project
        self._index = NearDuplicateIndex(NEAR_DUPLICATE)
        self._places: list[_Place] = []
        """By number of a text; those of older versions stay, and do not count."""
        self._read: dict[str, str] = {}
        """The digests of the items that were read."""

    def read_some(self, seconds: float = _PORTION_S) -> bool:
        """Reads items that were not read yet, for about so long; whether some were left."""
        end = monotonic() + seconds
        for item in self._project.state.items:
            if item not in self._read:
                self._add(item)
                if monotonic() >= end:
                    return True
        return False

    def findings(self, item: str, content: Any) -> list[Finding]:
        """The first near text of another item for each user text of a content.

        Args: content: of the item, as a person sees it.
        """
        for outdated in [other for other, digest in self._read.items() if self._digest(other) != digest]:
            self._add(outdated)
        findings: list[Finding] = []
        for field, _, text in self._texts(content):
            if message := self.near(item, text):
                findings.append(fault("duplicate", message, field, "warning"))
        return findings

    def near(self, item: str, text: str) -> str:
        """How a text is like the first near one of the items that were read; empty if there is none.

        Args: item: the item of the text, whose own texts do not count.
        """
        for number, similarity in self._index.near(fold_text(text)):
            place = self._places[number]
            if place.item != item and self._digest(place.item) == place.digest:
                return f"{similarity:.0f} % like the user text of task {place.task + 1} in {place.item}"
        return ""

    def _digest(self, item: str) -> str:
        return self._project.state.items[item].digest

    def _add(self, item: str) -> None:
        history = self._project.item(item)
        self._read[item] = history.digest
        for _, task, text in self._texts(history.content):
            self._index.add(fold_text(text))
            self._places.append(_Place(item, history.digest, task))

    def _texts(self, content: Any) -> Iterator[tuple[str, int, str]]:
        """Field, task and text."""
        for part in self._project.format.parts(content):
            text = value_at(content, part.field) if part.kind == "user text" else None
            if isinstance(text, str) and text.strip():
                yield part.field, part.task or 0, text


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
        has_more = False
        try:
            checked = self._project.check_some()
            has_more = bool(checked) or self.similar.read_some()
        except WildtoolError as error:
            self._problem = str(error)
            # A database that is away comes back, and a full disk gets room.
            has_more = isinstance(error, StorageError)
        self._done = not checked and not (has_more and self._problem)
        if checked or self._problem != before:
            self._on_progress(self.progress())
        return has_more
