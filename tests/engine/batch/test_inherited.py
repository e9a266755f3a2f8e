"""Batches that an earlier process sent: waited for, read, and asked again only where nothing can be paid twice."""

import asyncio
from pathlib import Path
from typing import Any

from engine.batch.scripted_batches import (
    URL,
    ScriptedBatches,
    Sender,
    begun,
    outcomes,
    queue_of,
    request,
    result_lines,
)
from engine.batch.test_queue import IDS
from engine.batch.test_rounds import BODIES, ENDED, RUNNING, failure
from wildtool.engine.batch.queue import BatchQueue
from wildtool.engine.batch.rounds import FIRST_POLL_S, POLL_GROWTH

GOOD = result_lines({"id": IDS[0], "answer": "A"}, {"id": IDS[1], "answer": "B"})


async def taken_up(api: ScriptedBatches, folder: Path) -> tuple[BatchQueue, list[asyncio.Future[Any]]]:
    """A queue that continues a batch of two requests, and has a third request for the next one."""
    first = queue_of(ScriptedBatches(), folder, key="k")
    earlier = await begun(*(first.send(BODIES[step], request(step)) for step in range(2)))
    (sent,) = first.drain()
    first.journal.created(sent.entry, "b7")
    first.close("killed")
    await asyncio.gather(*earlier, return_exceptions=True)
    again = queue_of(api, folder, key="k")
    return again, await begun(*(again.send(BODIES[step], request(step)) for step in range(3)))


async def test_earlier_batches_go_before_new_ones(tmp_path: Path):
    queue, asks = await taken_up(ScriptedBatches(), tmp_path)
    batches = queue.drain()
    assert [(batch.inherited, [*batch.waiting]) for batch in batches] == [(True, IDS[:2]), (False, IDS[2:3])]
    assert queue.running == batches
    queue.close("enough")
    assert await outcomes(asks) == [("LimitError", "limit", "enough", None)] * 3


async def sent(api: ScriptedBatches, folder: Path) -> tuple[Sender, BatchQueue, list[asyncio.Future[Any]]]:
    """What becomes of the earlier batch alone."""
    queue, asks = await taken_up(api, folder)
    asks[2].cancel()
    batches = queue.drain()[:1]
    queue.drain = lambda: batches
    sender = Sender(queue, folder)
    await sender.send_batches()
    for _ in range(3):
        await asyncio.sleep(0)
    return sender, queue, asks[:2]


async def test_an_earlier_batch_is_looked_for_at_once_and_after_failures_at_growing_intervals(tmp_path: Path):
    looks = [failure("http 500"), failure("http 500", retry_after_s=50.0), RUNNING, ENDED]
    api = ScriptedBatches(state=looks, fetch=[GOOD])
    sender, _, asks = await sent(api, tmp_path)
    assert await outcomes(asks) == [b"A", b"B"]
    assert sender.waits == [FIRST_POLL_S * POLL_GROWTH, 50.0, 60.0]
    assert [call[0] for call in api.asked] == ["state"] * 4 + ["fetch"]


async def test_what_an_earlier_batch_does_not_answer_goes_into_a_new_one(tmp_path: Path):
    failed = result_lines({"id": IDS[0], "answer": "A"}, {"id": IDS[1], "error": "http 500"})
    for number, results in enumerate((failed, GOOD.splitlines(keepends=True)[0])):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, queue, (first, second) = await sent(ScriptedBatches(fetch=[results]), folder)
        assert (first.done(), second.done()) == (True, False)
        (batch,) = [batch for batch in BatchQueue.drain(queue) if not batch.inherited]
        assert IDS[1] in batch.waiting
        queue.close("enough")
        assert await outcomes([first, second]) == [b"A", ("LimitError", "limit", "enough", None)]


async def test_what_may_be_in_a_line_that_cannot_be_read_is_not_paid_for_again(tmp_path: Path):
    torn = GOOD.splitlines(keepends=True)[0] + b"{\n"
    _, queue, asks = await sent(ScriptedBatches(fetch=[torn]), tmp_path)
    message = f"batch b1 at {URL}: 1 lines of the results cannot be read; the same command reads them again"
    assert await outcomes(asks) == [b"A", ("InfraError", "unreadable results", message, None)]
    (batch,) = queue.running[:1]
    assert (batch.all_readable, batch.entry.anomalies) == (False, {"missing": 1, "unreadable": 1})
