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
from wildtool.engine.batch.queue import BatchQueue

GOOD = result_lines({"id": IDS[0], "answer": "A"}, {"id": IDS[1], "answer": "B"})

BODIES = (b"zero", b"one", b"two")


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


async def test_what_may_be_in_a_line_that_cannot_be_read_is_not_paid_for_again(tmp_path: Path):
    torn = GOOD.splitlines(keepends=True)[0] + b"{\n"
    _, queue, asks = await sent(ScriptedBatches(fetch=[torn]), tmp_path)
    message = f"batch b1 at {URL}: 1 lines of the results cannot be read; the same command reads them again"
    assert await outcomes(asks) == [b"A", ("InfraError", "unreadable results", message, None)]
    (batch,) = queue.running[:1]
    assert (batch.all_readable, batch.entry.anomalies) == (False, {"missing": 1, "unreadable": 1})
