"""Plays the batches of one lane: begins each or finds it again, waits until it is over, tells everybody who waits."""

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from wildtool.engine.batch.queue import AskAnewError, Batch, Lane
from wildtool.engine.batch.results import BatchResults
from wildtool.engine.call.retry import LONGEST_RETRY_AFTER_S, Patience, patiently
from wildtool.errors import CallError, InfraError
from wildtool.models.batch.protocol import BatchResult, BatchState

FIRST_POLL_S = 0.5
LONGEST_POLL_S = 60.0
POLL_GROWTH = 1.5
POLL_FAILURES = 30
"""Asked how a batch stands, an endpoint may fail so often in a row, half an hour at most, before we stop waiting."""
CLOCKS_S = 3600.0
"""How far the provider's clock may be behind ours."""
AT_ONCE = 500
"""Results that are told before those who got them go on."""
MAYBE_BEGUN = frozenset(
    (
        *("network", "timeout", "truncated body", "invalid JSON", "wrong shape", "body too large"),
        *("http 500", "http 502", "http 504", "http 520", "http 522", "http 524"),
    )
)
"""Failures after which nobody knows whether a batch was created."""


class BatchSender:
    """Sends what a lane has collected."""

    def __init__(
        self,
        lane: Lane,
        folder: Path,
        patience: Patience,
        *,
        on_retry: Callable[[str, float], None],
        on_state: Callable[[], None],
    ) -> None:
        """Args: patience: of one HTTP call. on_state: is called when a batch stands otherwise than before."""
        self._lane = lane
        self._folder = folder
        self._patience = patience
        self._on_retry = on_retry
        self._on_state = on_state
        self._beginning = asyncio.Lock()
        self._in_turn = asyncio.Lock()

    async def play(self) -> None:
        """Plays all batches that the lane has for now; those who wait have been told then."""
        batches = self._lane.take()
        if self._lane.most_requests < self._lane.batches.most_requests:
            # The provider has said that they would be too much at once.
            for batch in batches:
                await self._play(batch)
        else:
            async with asyncio.TaskGroup() as group:
                for batch in batches:
                    group.create_task(self._play(batch))

    async def _play(self, batch: Batch, *, alone: bool = False) -> None:
        try:
            try:
                async with self._beginning:
                    await self._begin(batch)
                state = await self._ended(batch)
                too_much = state.too_much
            except CallError as error:
                state, too_much = None, error.kind == "http 413"
                if not too_much or not _can_split(batch):
                    raise
            if too_much and _can_split(batch):
                await self._play_halves(batch, alone)
            elif state is not None:
                await (self._refuse(batch, state) if state.failure else self._tell(batch, state))
        except AskAnewError:
            self._lane.journal.end(batch.begun, "never begun")
            batch.fail(AskAnewError)
        except CallError as error:
            batch.whole = False
            lost = error
            batch.fail(lambda: self._lost(batch, lost))

    def _lost(self, batch: Batch, error: CallError) -> Exception:
        """What to tell of a batch that cannot be begun or read; it stays in the journal, for the next process."""
        if error.kind == "http 404" and batch.begun.id is not None:
            why = (
                f"{error} (the batch or its results are gone: deleted, too old, or another key's; to have its requests "
                f"sent anew, and paid for again, delete {self._lane.journal.path})"
            )
            return CallError(error.kind, why, final=True)
        if error.final:
            return CallError(error.kind, str(error), final=True)
        return InfraError(error.kind, str(error))

    async def _play_halves(self, batch: Batch, alone: bool) -> None:
        """Plays a batch in parts, one after another, since they count together until they are over."""
        if not alone:
            async with self._in_turn:
                await self._play_halves(batch, alone=True)
            return
        for half in self._lane.halves(batch):
            await self._play(half, alone=True)

    async def _begin(self, batch: Batch) -> None:
        """Brings a batch into being, unless it is. Raises AskAnewError, and CallError after the last try."""
        begun, api, journal = batch.begun, self._lane.batches, self._lane.journal
        if begun.id is not None:
            return
        if batch.spool is not None and begun.file is None:
            spool = batch.spool

            async def upload() -> str | None:
                with closing(spool.open()) as file:
                    return await api.upload(begun.mark, file)

            if (uploaded := await patiently(upload, self._patience, self._on_retry)) is not None:
                journal.uploaded(begun, uploaded)
        batch.state = await self._created(batch)
        journal.created(begun, batch.state.id)
        self._on_state()

    async def _created(self, batch: Batch) -> BatchState:
        """Creates a batch; where nobody knows whether an earlier try did so, looks for it first."""
        begun, api = batch.begun, self._lane.batches
        unsure = batch.spool is None

        async def create() -> BatchState:
            nonlocal unsure
            if unsure and (found := await self._found(batch)) is not None:
                return found
            unsure = False
            try:
                if begun.file is not None:
                    return await api.create(begun.mark, None, begun.file)
                if batch.spool is None:
                    raise AskAnewError
                with closing(batch.spool.open()) as file:
                    return await api.create(begun.mark, file, None)
            except CallError as error:
                unsure = error.kind in MAYBE_BEGUN
                raise

        return await patiently(create, self._patience, self._on_retry)

    async def _found(self, batch: Batch) -> BatchState | None:
        """The batch where it was created and we were not told so."""
        begun, api = batch.begun, self._lane.batches
        if api.marked and begun.file is None:
            return None
        known = self._lane.journal.ids()

        async def look() -> list[BatchState]:
            found = api.find(begun.mark, len(begun.requests), begun.time - CLOCKS_S)
            return [state async for state in found if state.id not in known]

        for state in await patiently(look, self._patience, self._on_retry):
            if api.marked:
                return state
            # Whose it is only its results tell.
            over = await self._polled(state.id, state)
            try:
                with BatchResults(api, over, self._folder) as results:
                    await results.read(self._patience, self._on_retry)
            except CallError as error:
                if not error.final:
                    raise
                # Somebody else's, who has deleted it meanwhile.
                continue
            if begun.requests.keys() & results.ids:
                return over
        return None

    async def _ended(self, batch: Batch) -> BatchState:
        """Waits until a batch is over."""
        assert batch.begun.id is not None

        def seen(state: BatchState) -> None:
            batch.state = state
            self._on_state()

        return await self._polled(batch.begun.id, batch.state, seen)

    async def _polled(
        self,
        id_: str,
        state: BatchState | None,
        seen: Callable[[BatchState], None] = lambda state: None,
    ) -> BatchState:
        """Asks, ever more seldom, until a batch is over."""
        wait, failures = FIRST_POLL_S, 0
        while state is None or not state.over:
            if state is not None or failures:
                await self._patience.sleep(wait)
            try:
                state = await self._lane.batches.state(id_)
                seen(state)
                failures = 0
            except CallError as error:
                failures += 1
                if error.final or failures >= POLL_FAILURES:
                    raise
                wait = max(wait, min(error.retry_after_s or 0.0, LONGEST_RETRY_AFTER_S))
                self._on_retry(error.kind, wait)
            wait = min(wait * POLL_GROWTH, LONGEST_POLL_S)
        return state

    async def _refuse(self, batch: Batch, state: BatchState) -> None:
        """Tells those who wait that the whole batch was refused, and which requests were at fault where that is known."""
        api = self._lane.batches
        where = f"batch {state.id} at {api.endpoint.shown_url}"
        kind, said = "batch refused", "the batch was refused"
        ids = list(batch.begun.requests)
        at_fault = {ids[line - 1]: why for line, why in state.failed_lines.items() if 0 < line <= len(ids)}
        final = not at_fault and not state.passing and not state.too_much
        for custom_id, future in batch.waiting.items():
            if not future.done():
                fault = at_fault.get(custom_id)
                quote = state.failure if fault is None else fault
                error: Exception = api.endpoint.error(
                    kind, said, quote, final=final or fault is not None, where=where
                )
                future.set_exception(AskAnewError() if batch.earlier else error)

    async def _tell(self, batch: Batch, state: BatchState) -> None:
        """Reads the results and gives each to who waits for it: answers first, then failures, then what is missing."""
        with BatchResults(self._lane.batches, state, self._folder) as results:
            await results.read(self._patience, self._on_retry)
            came = max(0.0, time.time() - batch.begun.time)
            told = 0
            for result in results:
                future = batch.waiting.get(result.custom_id)
                if future is None or future.done():
                    continue
                failure = self._failure(result, state)
                if failure is None:
                    future.set_result((result.answer, came))
                else:
                    future.set_exception(AskAnewError() if batch.earlier else failure)
                told += 1
                if told % AT_ONCE == 0:
                    await asyncio.sleep(0)
        missing = [future for future in batch.waiting.values() if not future.done()]
        odd = {
            "missing": len(missing),
            "repeated": results.repeated,
            "unknown": len(results.ids - batch.begun.requests.keys()),
            "unreadable": results.unreadable,
        }
        batch.begun.found = {name: count for name, count in odd.items() if count}
        batch.whole = not results.unreadable
        for future in missing:
            anew = batch.earlier and not results.unreadable
            future.set_exception(AskAnewError() if anew else self._missing(state, results.unreadable))

    def _failure(self, result: BatchResult, state: BatchState) -> Exception | None:
        if result.canceled:
            # Whoever canceled it does not want it sent again at once.
            why = f"batch {state.id} was canceled before this request was begun; the same command again sends it anew"
            return InfraError("batch canceled", why)
        return result.error

    def _missing(self, state: BatchState, unreadable: int) -> Exception:
        where = f"batch {state.id} at {self._lane.batches.endpoint.shown_url}"
        if state.status in ("cancelled", "canceled"):
            return InfraError("batch canceled", f"{where}: canceled before this request was begun")
        if unreadable:
            # It may stand in a line that cannot be read, and is paid for then.
            why = f"{where}: {unreadable} lines of the results cannot be read; the same command again reads them anew"
            return InfraError("unreadable results", why)
        return CallError("missing result", f"{where}: it is over and holds no result for this request")


def _can_split(batch: Batch) -> bool:
    return batch.spool is not None and len(batch.spool) > 1
