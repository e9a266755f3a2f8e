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
    URL,
    ScriptedBatches,
    begun,
    journal_rows,
    outcome,
    outcomes,
    queue_of,
    request,
    result_lines,
)
from wildtool.engine.batch.queue import Batch, BatchFile, BatchResults, ResendRequestError
from wildtool.engine.call.client import RetryPolicy
from wildtool.engine.call.rate_limit import LimitError
from wildtool.errors import CallError, StorageError
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
DIGESTS = [hashlib.sha256(body).hexdigest() for body in (b"zero", b"one", b"two", b"three")]


def test_a_file_holds_its_envelope_and_its_requests_byte_for_byte(tmp_path: Path):
    file = BatchFile(tmp_path, ScriptedBatches())
    file.add("a", b"one")
    file.add("b", b"three")
    file.add("c", b"")
    for _ in range(2):
        with file.open() as whole:
            assert whole.read() == b"[one,three,]"
    assert (len(file), list(file.lines())) == (3, [("a", b"one"), ("b", b"three"), ("c", b"")])
    file.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("length", "most_requests", "fits"),
    [(34, 2, True), (35, 2, False), (34, 1, False), (1, 1, False), (1, 2, True)],
)
def test_a_file_has_room_up_to_the_last_byte_and_request(
    length: int, most_requests: int, fits: bool, tmp_path: Path
):
    file = BatchFile(tmp_path, ScriptedBatches())
    file.add("a", b"one")
    assert file.has_room(b"x" * length, most_requests) is fits


async def test_requests_of_a_role_are_collected_in_files_and_answered_under_their_ids(tmp_path: Path):
    queue = queue_of(ScriptedBatches(), tmp_path, key="k")
    bodies = (b"zero", b"one", b"two", b"three")
    tasks = await begun(*(queue.send(body, request(step)) for step, body in enumerate(bodies)))
    first, second = queue.drain()
    assert queue.running == [first, second] and queue.drain() == []
    assert [list(batch.waiting) for batch in (first, second)] == [IDS[:3], IDS[3:]]
    assert first.file and list(first.file.lines()) == list(zip(IDS[:3], bodies[:3], strict=True))
    for number, id_ in enumerate(IDS[:3]):
        assert not first.is_settled
        first.waiting[id_].set_result((b"answer %d" % number, 0.5))
    assert first.is_settled
    assert await asyncio.gather(*tasks[:3]) == [(b"answer %d" % number, 0.5) for number in range(3)]
    queue.note_used(first)
    assert (queue.running, first.file) == ([second], None)
    sent = {"row": "begun", "role": "agent", "endpoint": URL}
    assert journal_rows(tmp_path) == [
        {"row": "header", "format": "wildtool batches", "version": 1},
        sent | {"requests": dict(zip(IDS[:3], DIGESTS[:3], strict=True))},
        sent | {"requests": {IDS[3]: DIGESTS[3]}},
        {"row": "over", "why": "read"},
    ]
    queue.close("enough")
    assert await outcomes(tasks[3:]) == [("LimitError", "limit", "enough", None)]


@pytest.mark.parametrize(
    ("asked", "body", "error"),
    [
        (
            Request([], []),
            b"x",
            ("CallError", "unsendable request", "a request needs an address to go by a batch", True),
        ),
        (
            request(),
            b"x" * 2000,
            ("CallError", "unsendable request", "the request has 2,000 bytes, a batch at most 40", True),
        ),
    ],
)
async def test_a_request_that_no_batch_can_take_is_refused_for_good(
    asked: Request, body: bytes, error: Any, tmp_path: Path
):
    queue = queue_of(ScriptedBatches(), tmp_path)
    assert await outcomes(await begun(queue.send(body, asked))) == [error]
    assert queue.drain() == []


async def test_a_request_holds_its_reserve_while_it_waits_and_no_longer(tmp_path: Path):
    events: list[str] = []

    @contextmanager
    def waiting():
        events.append("waits")
        yield
        events.append("waited")

    @contextmanager
    def reserve(request: Request):
        events.append("reserved")
        yield
        events.append("freed")

    queue = queue_of(ScriptedBatches(), tmp_path, waiting=waiting, reserve=reserve)
    tasks = await begun(queue.send(b"one", request()))
    (batch,) = queue.drain()
    assert events == ["reserved", "waits"]
    (future,) = batch.waiting.values()
    future.set_result((b"right", 1.0))
    assert await tasks[0] == (b"right", 1.0)
    assert events == ["reserved", "waits", "waited", "freed"]


async def test_a_batch_in_parts_keeps_the_order_and_the_next_files_are_small_too(tmp_path: Path):
    queue = queue_of(ScriptedBatches(), tmp_path, key="k")
    bodies = (b"zero", b"one", b"two", b"three")
    tasks = await begun(*(queue.send(body, request(step)) for step, body in enumerate(bodies[:3])))
    (whole,) = queue.drain()
    later = await begun(queue.send(bodies[3], request(3)))
    parts = queue.split(whole)
    assert queue.most_requests == 1
    assert (whole.file, queue.running) == (None, parts)
    assert [dict(part.file.lines()) for part in parts if part.file] == [
        {id_: body} for id_, body in zip(IDS[:3], bodies[:3], strict=True)
    ]
    assert [list(batch.waiting) for batch in queue.drain()] == [[IDS[3]]], (
        "what was collected meanwhile waits"
    )
    assert [(row["row"], row.get("why")) for row in journal_rows(tmp_path)] == [
        ("header", None),
        ("begun", None),
        ("over", "asked too much at once"),
        *[("begun", None)] * 4,
    ]
    queue.close("stop")
    assert await outcomes(tasks + later) == [("LimitError", "limit", "stop", None)] * 4


@pytest.mark.parametrize(("size", "most"), [(2, 1), (3, 1)])
async def test_half_a_batch_is_rounded_down(size: int, most: int, tmp_path: Path):
    queue = queue_of(ScriptedBatches(), tmp_path)
    tasks = await begun(*(queue.send(b"x", request(step)) for step in range(size)))
    (whole,) = queue.drain()
    assert (len(queue.split(whole)), queue.most_requests) == (size, most)
    queue.close("stop")
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_closed_queue_takes_no_request_and_leaves_what_is_under_way_pending(tmp_path: Path):
    queue = queue_of(ScriptedBatches(), tmp_path)
    tasks = await begun(queue.send(b"one", request(0)), queue.send(b"two", request(1)))
    (under_way,) = queue.drain()
    settled, waiting = under_way.waiting.values()
    settled.set_result((b"right", 1.0))
    tasks += await begun(queue.send(b"three", request(2)))
    queue.close("time is up")
    tasks += await begun(queue.send(b"four", request(3)))
    late = ("LimitError", "limit", "time is up", None)
    assert await outcomes(tasks) == [b"right", late, late, late]
    assert waiting.done() and under_way.abandoned and not under_way.is_settled


async def test_a_settled_batch_is_not_abandoned_by_a_close(tmp_path: Path):
    queue = queue_of(ScriptedBatches(), tmp_path)
    tasks = await begun(queue.send(b"one", request()))
    (batch,) = queue.drain()
    batch.fail(lambda: LimitError("before"))
    queue.close("after")
    assert (batch.abandoned, await outcomes(tasks)) == (False, [("LimitError", "limit", "before", None)])


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


async def test_a_part_of_a_reply_is_noted_with_the_whole_and_not_before(tmp_path: Path):
    queue = queue_of(ScriptedBatches(), tmp_path, key="k")

    async def answered(*bodies: bytes) -> Batch:
        asks = await begun(*(queue.send(body, request(step)) for step, body in enumerate(bodies)))
        (batch,) = [batch for batch in queue.drain() if batch.waiting]
        for future in batch.waiting.values():
            future.set_result((b"paused", 1.0))
        await asyncio.gather(*asks)
        return batch

    def rows() -> list[tuple[str, Any]]:
        return [(row["row"], row.get("requests", row.get("why"))) for row in journal_rows(tmp_path)][1:]

    part = await answered(b"zero", b"one")
    asks = await begun(queue.send(b"zero and more", request(0)))
    queue.note_used(part)
    start = ("begun", dict(zip(IDS[:2], DIGESTS[:2], strict=True)))
    assert rows() == [start, ("read", IDS[1:2])], "of the step that goes on nothing is noted"
    (whole,) = [batch for batch in queue.drain() if batch.waiting]
    (future,) = whole.waiting.values()
    future.set_result((b"whole", 1.0))
    assert await asks[0] == (b"whole", 1.0)
    queue.note_used(whole)
    assert rows()[3:] == [("over", "read"), ("over", "read")]
    assert (part.entry.finished, whole.entry.finished) == (True, True)
    assert queue.journal.open_batches("agent") == []


async def test_results_that_cannot_be_read_leave_their_batch_in_the_journal(tmp_path: Path):
    queue = queue_of(ScriptedBatches(), tmp_path)
    await begun(queue.send(b"one", request()))
    (batch,) = queue.drain()
    batch.fail(lambda: LimitError("x"))
    batch.all_readable = False
    queue.note_used(batch)
    assert queue.running == []
    assert [row["row"] for row in journal_rows(tmp_path)] == ["header", "begun"]


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


async def test_answers_come_before_failures_and_the_first_result_of_an_id_counts(tmp_path: Path):
    first = result_lines(
        {"id": "f", "error": "http 500"}, {"id": "a", "answer": "A"}, {"id": "a", "answer": "again"}
    )
    second = b" \n" + result_lines({"id": "f", "answer": "late"}, {"id": "c", "canceled": True})
    second += result_lines({"id": "b", "answer": "B"})
    api = ScriptedBatches(fetch=[first, second])
    rows = [("a", b"A", None), ("b", b"B", None), ("f", b"", "http 500"), ("c", b"", None)]
    state = ended("one", "two")
    assert await read(api, state, tmp_path, 3) == (rows, {"a", "b", "c", "f"}, (2, 0), [], [])
    assert api.asked == [("fetch", "one"), ("fetch", "two")]


@pytest.mark.parametrize(("attempts", "fetches", "unreadable"), [(1, 1, 3), (2, 2, 1), (3, 3, 0), (4, 3, 0)])
async def test_results_with_unreadable_lines_are_fetched_again_as_often_as_allowed(
    attempts: int, fetches: int, unreadable: int, tmp_path: Path
):
    good = result_lines({"id": "a", "answer": "A"})
    api = ScriptedBatches(fetch=[good + b"[]\n{\nx", b"[]\n" + good, good, b"never"])
    rows, ids, counts, retries, waits = await read(api, ended("out"), tmp_path, attempts)
    assert (rows, ids, counts) == ([("a", b"A", None)], {"a"}, (0, unreadable))
    assert (retries, waits) == ([("unreadable results", 0.5)] * (fetches - 1), [0.5] * (fetches - 1))
    assert api.asked == [("fetch", "out")] * fetches


async def test_a_fetch_that_fails_is_tried_again_and_then_raised(tmp_path: Path):
    gone = CallError("http 500", "down", retry_after_s=3.0)
    good = result_lines({"id": "a", "answer": "A"})
    rows, *_, retries, waits = await read(ScriptedBatches(fetch=[gone, good]), ended("out"), tmp_path, 2)
    assert (rows, retries, waits) == ([("a", b"A", None)], [("http 500", 3.5)], [3.5])
    with pytest.raises(CallError) as caught:
        await read(ScriptedBatches(fetch=[gone]), ended("out"), tmp_path, 2)
    assert outcome(caught.value) == ("CallError", "http 500", "down", False)


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
