"""Runs the rules over new items while the pages are open, a portion at a time between requests, and finds user texts
that are nearly the same. Long items are read in a thread of their own, since nobody should wait for them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from wildtool import json_codec
from wildtool.errors import StorageError, WildtoolError
from wildtool.findings import Finding, fault
from wildtool.report.server.serving import WorkerThread
from wildtool.toolcall.text.similarity import NEAR_DUPLICATE, NearDuplicateIndex, fold_text
from wildtool_data.pointers import value_at
from wildtool_review.project import ReviewProject

_PORTION_S = 0.05
_LONG_ITEM = 64_000
"""Bytes of JSON beyond which the rules read an item after its save, and not with it."""
_LONG_TEXT = 20_000
"""Characters beyond which a user text is the same as another one only if all of them are."""


def is_long(content: Any) -> bool:
    """Whether the rules read a content after its save."""
    return len(json_codec.dumps(content)) > _LONG_ITEM


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text stands."""

    item: str
    task: int


class SimilarTexts:
    """The user texts of all items as they are in the items themselves, without the copies of reviewers."""

    def __init__(self, project: ReviewProject) -> None:
        self._project = project
        self._index = NearDuplicateIndex(NEAR_DUPLICATE)
        self._places: list[_Place] = []
        """By number of a text; those of older versions stay, and do not count."""
        self._indexed: list[int] = []
        """Of each text of the index its number among all."""
        self._long: dict[str, list[int]] = {}
        """The numbers of the texts that are too long for the index."""
        self._read: dict[str, str] = {}
        """The digests of the items that were read."""
        self._numbers: dict[str, dict[tuple[int, str], int]] = {}
        """By item the texts that count: of each task and text its number."""

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
        for number, similarity in self._near(fold_text(text)):
            place = self._places[number]
            if place.item != item and number in self._numbers[place.item].values():
                return f"{similarity:.0f} % like the user text of task {place.task + 1} in {place.item}"
        return ""

    def _near(self, folded: str) -> Iterable[tuple[int, float]]:
        if len(folded) > _LONG_TEXT:
            return [(number, 100.0) for number in self._long.get(folded, ())]
        return ((self._indexed[k], similarity) for k, similarity in self._index.near(folded))

    def _digest(self, item: str) -> str:
        return self._project.state.items[item].digest

    def _add(self, item: str) -> None:
        """Reads an item; texts that it had before keep their numbers."""
        history = self._project.item(item)
        before = self._numbers.get(item, {})
        texts = [(task, fold_text(text)) for _, task, text in self._texts(history.content)]
        self._numbers[item] = {
            text: before[text] if text in before else self._number(item, *text) for text in texts
        }
        self._read[item] = history.digest

    def _number(self, item: str, task: int, folded: str) -> int:
        """Adds a text."""
        number = len(self._places)
        self._places.append(_Place(item, task))
        if len(folded) > _LONG_TEXT:
            self._long.setdefault(folded, []).append(number)
        else:
            self._index.add(folded)
            self._indexed.append(number)
        return number

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


@dataclass(frozen=True, slots=True)
class _LateItem:
    """A content that the rules read without anybody waiting."""

    item: str
    digest: str


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
        self._late_problem = ""
        """The same of long items."""
        self._done = False
        self._reader = WorkerThread()
        self._late: asyncio.Queue[_LateItem] = asyncio.Queue()
        self._awaited: set[_LateItem] = set()
        """Long items that the rules have still to read."""

    def progress(self) -> ChecksProgress:
        """For the thread that has the store."""
        items = self._project.state.items.values()
        checked = sum(item.warnings is not None for item in items)
        running = not self._done or bool(self._awaited)
        return ChecksProgress(checked, len(items), running, self._problem or self._late_problem)

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._run())
        self._late_task = self._loop.create_task(self._run_late())

    async def stop(self) -> None:
        """Ends them after the portion at hand."""
        for task in (self._task, self._late_task):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await asyncio.to_thread(self._reader.close)

    def check_later(self, item: str, digest: str) -> None:
        """Has the rules read a long item soon, without anybody waiting. For the thread that has the store.

        Args: digest: of the item's own content, or of somebody's copy.
        """
        late = _LateItem(item, digest)
        if late not in self._awaited:
            self._awaited.add(late)
            self._loop.call_soon_threadsafe(self._late.put_nowait, late)

    async def _run_late(self) -> None:
        while True:
            late = await self._late.get()
            if not await self._is_checked(late):
                await asyncio.sleep(STORE_RETRY_S)
                self._late.put_nowait(late)

    async def _is_checked(self, late: "_LateItem") -> bool:
        """Checks a long item; whether nothing is left to do for it."""
        problem, is_over = "", True
        try:
            content = await self._work(lambda: self._content_of(late))
            # A content that was replaced meanwhile needs no rules.
            if content is not None:
                findings = await self._reader.call(lambda: self._project.findings_in(content))
                await self._work(lambda: self._project.keep_check(late.item, late.digest, findings))
        except WildtoolError as error:
            problem = str(error)
            # A database that is away comes back, and a full disk gets room.
            is_over = not isinstance(error, StorageError)
        if is_over:
            self._awaited.discard(late)
        await self._work(lambda: self._say_late(problem))
        return is_over

    def _say_late(self, problem: str) -> None:
        self._late_problem = problem
        self._on_progress(self.progress())

    def _content_of(self, late: "_LateItem") -> Any:
        history = self._project.item(late.item)
        copies = history.open.branches if history.open else ()
        seen = [(history.content, history.digest), *map(history.seen_by, copies)]
        return next((content for content, digest in seen if digest == late.digest), None)

    def _check_long_items(self) -> None:
        for item, digest in self._project.checked_later():
            self.check_later(item, digest)

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
            if not checked:
                self._check_long_items()
            has_more = bool(checked) or self.similar.read_some()
        except WildtoolError as error:
            self._problem = str(error)
            # A database that is away comes back, and a full disk gets room.
            has_more = isinstance(error, StorageError)
        self._done = not checked and not (has_more and self._problem)
        if checked or self._problem != before:
            self._on_progress(self.progress())
        return has_more
