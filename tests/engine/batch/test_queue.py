"""The files of batches and their queue, without a server: what is written, and what the journal says of it."""

import asyncio
import errno
import hashlib
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.batch.scripted_batches import (
    ScriptedBatches,
    begun,
    outcomes,
    queue_of,
    request,
    result_lines,
)
from wildtool.engine.batch.queue import BatchFile, BatchResults, ResendRequestError
from wildtool.engine.call.client import RetryPolicy
from wildtool.errors import StorageError
from wildtool.models.batch.protocol import BatchState
from wildtool.types import Request

IDS = [
    "wt_" + hashlib.sha256(text.encode()).hexdigest()[:48]
    for text in (
        f'["k","agent","i",0,"u",{step},"{hashlib.sha256(body).hexdigest()}"]'
        for step, body in enumerate((b"zero", b"one", b"two", b"three"))
    )
]
"""The custom ids of four steps: a part of the format, since a later process finds paid replies by them."""


@pytest.mark.parametrize(
    ("body", "inherited", "limits"), [(b"zero", True, 0), (b"other", False, 1)], ids=["same", "changed"]
)
async def test_a_request_of_an_earlier_process_waits_for_its_batch_where_its_bytes_are_the_same(
    body: bytes, inherited: bool, limits: int, tmp_path: Path
):
    first = queue_of(ScriptedBatches(), tmp_path, key="k")
    tasks = await begun(first.send(b"zero", request()))
    (sent,) = first.drain()
    first.journal.created(sent.entry, "b7")
    first.close("killed")
    await asyncio.gather(*tasks, return_exceptions=True)
    reserved: list[Request] = []

    @contextmanager
    def reserve(request: Request):
        reserved.append(request)
        yield

    again = queue_of(ScriptedBatches(), tmp_path, reserve=reserve, key="k")
    tasks = await begun(again.send(body, request()))
    batches = again.drain()
    taken_up = batches[0] if inherited else None
    assert [batch.inherited for batch in batches if batch.waiting] == [inherited]
    assert len(reserved) == limits
    if taken_up is not None:
        assert (taken_up.entry.id, taken_up.file, list(taken_up.waiting)) == ("b7", None, IDS[:1])
        taken_up.fail(ResendRequestError)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (fresh,) = again.drain()
        assert (len(reserved), fresh.inherited, list(fresh.waiting)) == (1, False, IDS[:1])
    again.close("stop")
    assert await outcomes(tasks) == [("LimitError", "limit", "stop", None)]


def ended(*results: str) -> BatchState:
    return BatchState("b1", "completed", True, 2, 2, results)


async def read(api: ScriptedBatches, state: BatchState, folder: Path, attempts: int) -> tuple[Any, ...]:
    """The results; what was read of them; the failures tried again, and the waits."""
    waits: list[float] = []
    retries: list[tuple[str, float]] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    with BatchResults(api, state, folder) as results:
        policy = RetryPolicy(1.0, attempts, sleep, lambda: 1.0)
        await results.read(policy, lambda *what: retries.append(what))
        rows = [(each.custom_id, each.answer, each.error and each.error.kind) for each in results]
        return rows, results.ids, (results.repeated, results.unreadable), retries, waits


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda folder: BatchFile(folder, ScriptedBatches()),
            "the requests of a batch could not be written (No space left on device); the record is intact. "
            "Make room, then run the same command again to continue.",
        ),
        (
            lambda folder: BatchResults(ScriptedBatches(), ended("out"), folder),
            "the results of a batch could not be written (No space left on device); the record is intact. "
            "Make room, then run the same command again to continue.",
        ),
    ],
    ids=["requests", "results"],
)
def test_a_folder_without_room_is_named(
    make: Any, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*arguments: Any, **settings: Any) -> None:
        assert settings["dir"] == tmp_path
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(StorageError) as caught:
        make(tmp_path)
    assert str(caught.value) == f"{tmp_path}: {text}"


async def test_a_line_that_is_too_long_is_no_result_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("wildtool.engine.batch.queue.MAX_RESULT_LINE", 16)
    lines = result_lines({"id": "a"}, {"id": "b", "answer": "b" * 20}, {"id": "c"})
    rows, ids, counts, *_ = await read(ScriptedBatches(fetch=[lines]), ended("out"), tmp_path, 1)
    assert (rows, ids, counts) == ([("a", b"", None), ("c", b"", None)], {"a", "c"}, (0, 3))
