"""The files of batches, their results, and what is told of them, without a server."""

import asyncio
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from engine.echo_benchmark import PATIENT
from wildtool import json_codec
from wildtool.engine.batch import queue as queue_module
from wildtool.engine.batch.journal import BatchEntry, BatchJournal
from wildtool.engine.batch.queue import (
    REFETCH_WAIT_S,
    Batch,
    BatchFile,
    BatchQueue,
    BatchResults,
)
from wildtool.engine.batch.rounds import BatchScheduler, RoundProgress, RunningBatch
from wildtool.engine.call.rate_limit import LimitError
from wildtool.errors import CallError
from wildtool.models.batch.protocol import BatchResult, BatchState, NoResultError
from wildtool.types import Address, Request


class Api:
    """The batches of a provider that lists requests in brackets, with results in files by name."""

    separator = b","
    most_requests = 3
    most_bytes = 20

    def __init__(self, *fetches: dict[str, bytes]) -> None:
        """Args: fetches: what the files of results hold at each round of fetches; at last the same for ever."""
        self.endpoint = SimpleNamespace(redacted_url="http://host")
        self._fetches = list(fetches)
        self.fetched: list[str] = []

    def envelope(self, mark: str) -> tuple[bytes, bytes]:
        return b"[", b"]\n"

    def line(self, custom_id: str, body: bytes) -> bytes:
        return body

    def cancel_url(self, id_: str) -> str:
        return f"http://host/{id_}/cancel"

    async def fetch(self, place: str, file: IO[bytes]) -> None:
        self.fetched.append(place)
        contents = self._fetches[0]
        if place == max(contents) and len(self._fetches) > 1:
            self._fetches.pop(0)
        file.write(contents[place])

    def result(self, row: Any) -> BatchResult:
        if not isinstance(row, dict) or "id" not in row:
            raise NoResultError("no result")
        error = CallError("http 500", row["error"]) if "error" in row else None
        return BatchResult(row["id"], row.get("answer", "").encode(), error, "canceled" in row)


def state(*places: str, **fields: Any) -> BatchState:
    return BatchState("b1", "completed", True, results=places, **fields)


def queue(folder: Path, api: Any = None) -> BatchQueue:
    model: Any = SimpleNamespace(use_batches=lambda send: api or Api())
    return BatchQueue(
        "agent",
        model,
        BatchJournal(folder),
        folder,
        reserve=lambda request: nullcontext(),
        waiting=nullcontext,
    )


def request(item: str) -> Request:
    return Request((), (), address=Address(item, 1, "0", 0))


def test_a_file_has_all_requests_between_head_and_tail(tmp_path: Path):
    file = BatchFile(tmp_path, Api())  # pyright: ignore[reportArgumentType]
    assert re.fullmatch(r"wildtool-[0-9a-f]{32}", file.mark)
    assert len(file) == 0
    file.add("a", b"first")
    file.add("b", b"2nd")
    assert len(file) == 2
    assert list(file.lines()) == [("a", b"first"), ("b", b"2nd")]
    for _ in range(2):
        with file.open() as content:
            assert content.read() == b"[first,2nd]\n"
    assert list(file.lines()) == [("a", b"first"), ("b", b"2nd")]
    file.close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_a_batch_lies_nameless_in_the_folder_of_its_run(tmp_path: Path):
    file = BatchFile(tmp_path, Api())  # pyright: ignore[reportArgumentType]
    with file.open() as content:
        assert Path(f"/proc/self/fd/{content.fileno()}").readlink().parent == tmp_path
    file.close()


def test_a_request_has_room_up_to_the_last_byte_and_the_last_place(tmp_path: Path):
    api: Any = Api()
    file = BatchFile(tmp_path, api)
    # A separator is reckoned before the first line too: [ , and ]\n beside 16 bytes.
    assert file.has_room(b"x" * 16, 3)
    assert not file.has_room(b"x" * 17, 3)
    file.add("a", b"12345")
    assert file.has_room(b"x" * 11, 2)
    assert not file.has_room(b"x" * 12, 2)
    assert not file.has_room(b"x", 1)
    file.add("b", b"6")
    assert file.has_room(b"x" * 9, 3)
    assert not file.has_room(b"x" * 10, 3)
    file.close()


async def test_a_batch_is_settled_once_all_have_something_and_lets_go_of_its_file_once(tmp_path: Path):
    futures = [asyncio.get_running_loop().create_future() for _ in range(3)]
    file = BatchFile(tmp_path, Api())  # pyright: ignore[reportArgumentType]
    batch = Batch(BatchEntry("m", "agent", {}, 0.0), file, dict(zip("abc", futures, strict=True)))
    futures[0].set_result((b"answer", 1.0))
    assert not batch.is_settled
    batch.fail(lambda: ValueError("gone"))
    assert batch.is_settled
    assert futures[0].result() == (b"answer", 1.0)
    errors = [future.exception() for future in futures[1:]]
    assert [str(error) for error in errors] == ["gone", "gone"] and errors[0] is not errors[1]
    batch.abandoned = True
    assert not batch.is_settled
    batch.close()
    assert batch.file is None
    with pytest.raises(ValueError, match="closed"):
        file.open()
    batch.close()


async def test_a_queue_fills_one_batch_after_another(tmp_path: Path):
    batches = queue(tmp_path)
    asking = [
        asyncio.create_task(batches.send(body, request(f"i{number}")))
        for number, body in enumerate([b"12345678", b"1234567", b"1", b"2", b"3", b"4"])
    ]
    await asyncio.sleep(0)
    drained = batches.drain()
    assert [[line for _, line in batch.file.lines()] for batch in drained if batch.file] == [
        [b"12345678", b"1234567"],
        [b"1", b"2", b"3"],
        [b"4"],
    ]
    assert batches.drain() == [] and batches.running == drained
    for batch in drained:
        for number, future in enumerate(batch.waiting.values()):
            future.set_result((b"%d" % number, 0.5))
    assert await asyncio.gather(*asking) == [(b"%d" % n, 0.5) for n in (0, 1, 0, 1, 2, 0)]
    for batch in drained:
        batches.note_used(batch)
    assert batches.running == [] and all(batch.file is None for batch in drained)
    assert batches.journal.open_batches("agent") == []


async def test_a_request_that_no_file_holds_is_refused_by_its_size(tmp_path: Path):
    with pytest.raises(CallError) as refused:
        await queue(tmp_path).send(b"x" * 17, request("i0"))
    assert (refused.value.kind, str(refused.value), refused.value.final) == (
        "unsendable request",
        "the request has 17 bytes, a batch at most 20",
        True,
    )
    with pytest.raises(CallError) as refused:
        await queue(tmp_path).send(b"x", Request((), ()))
    assert (refused.value.kind, str(refused.value), refused.value.final) == (
        "unsendable request",
        "a request needs an address to go by a batch",
        True,
    )


@pytest.mark.parametrize(("size", "parts"), [(2, [1, 1]), (3, [1, 1, 1])])
async def test_a_batch_that_is_too_much_goes_in_halves_and_no_later_one_is_larger(
    size: int, parts: list[int], tmp_path: Path
):
    batches = queue(tmp_path)
    asking = [asyncio.create_task(batches.send(b"%d" % n, request(f"i{n}"))) for n in range(size)]
    await asyncio.sleep(0)
    (whole,) = batches.drain()
    asking.append(asyncio.create_task(batches.send(b"later", request("later"))))
    await asyncio.sleep(0)
    halves = batches.split(whole)
    assert batches.most_requests == 1
    assert [len(half.file) for half in halves if half.file] == parts
    assert batches.running == halves
    assert whole.file is None and whole.entry.finished
    (later,) = batches.drain()
    assert later.file is not None and [line for _, line in later.file.lines()] == [b"later"]
    for batch in (*halves, later):
        batch.fail(lambda: CallError("gone", "gone", final=True))
    assert [type(error) for error in await asyncio.gather(*asking, return_exceptions=True)] == [
        CallError
    ] * len(asking)


async def test_a_queue_that_is_closed_fails_what_waits_and_what_comes(tmp_path: Path):
    batches = queue(tmp_path)
    sent = asyncio.create_task(batches.send(b"sent", request("i0")))
    await asyncio.sleep(0)
    (batch,) = batches.drain()
    collected = asyncio.create_task(batches.send(b"collected", request("i1")))
    await asyncio.sleep(0)
    batches.close("out of time")
    late = asyncio.create_task(batches.send(b"late", request("i2")))
    errors = await asyncio.gather(sent, collected, late, return_exceptions=True)
    assert [(type(error), str(error)) for error in errors] == [(LimitError, "out of time")] * 3
    assert batch.abandoned and not batch.is_settled


async def read_results(
    folder: Path, fetches: list[dict[str, bytes]]
) -> tuple[BatchResults, Api, list[tuple[str, float] | float]]:
    api, waits = Api(*fetches), list[tuple[str, float] | float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    results = BatchResults(api, state("one", "two"), folder)  # pyright: ignore[reportArgumentType]
    await results.read(replace(PATIENT, sleep=sleep), lambda kind, wait: waits.append((kind, wait)))
    return results, api, waits


def rows(*entries: Any) -> bytes:
    return b"".join(
        entry if isinstance(entry, bytes) else json_codec.dumps(entry) + b"\n" for entry in entries
    )


async def test_results_are_read_from_all_files_and_answers_come_first(tmp_path: Path):
    one = rows({"id": "a", "error": "busy"}, b"\n", {"id": "b", "answer": "B"})
    two = rows({"id": "c", "canceled": 1}, {"id": "b", "answer": "other"}, {"id": "a"}, {"id": "d"})
    results, api, waits = await read_results(tmp_path, [{"one": one, "two": two}])
    assert (api.fetched, waits) == (["one", "two"], [])
    assert results.ids == {"a", "b", "c", "d"}
    assert (results.unreadable, results.repeated) == (0, 2)
    facts = [
        (result.custom_id, result.answer, str(result.error or ""), result.canceled) for result in results
    ]
    assert facts == [
        ("b", b"B", "", False),
        ("d", b"", "", False),
        ("a", b"", "busy", False),
        ("c", b"", "", True),
    ]
    results.close()


async def test_results_that_cannot_be_read_are_fetched_anew_and_whole(tmp_path: Path):
    bad = {
        "one": rows({"id": "a", "answer": "longer than before"}, b"<html>\n"),
        "two": rows([1], {"id": "b"}),
    }
    good = {"one": rows({"id": "a"}), "two": rows({"id": "b"})}
    results, api, waits = await read_results(tmp_path, [bad, good])
    assert api.fetched == ["one", "two"] * 2
    assert waits == [("unreadable results", REFETCH_WAIT_S), REFETCH_WAIT_S]
    assert (results.ids, results.unreadable, results.repeated) == ({"a", "b"}, 0, 0)
    results.close()
    results, api, waits = await read_results(tmp_path, [bad])
    assert api.fetched == ["one", "two"] * PATIENT.max_attempts
    assert len(waits) == 2 * (PATIENT.max_attempts - 1)
    assert (results.ids, results.unreadable) == ({"a", "b"}, 2)
    results.close()


async def test_a_line_that_is_too_long_is_no_result_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(queue_module, "MAX_RESULT_LINE", 16)
    long = {"one": rows({"id": "a"}, {"id": "b", "answer": "b" * 20}, {"id": "c"}), "two": rows({"id": "d"})}
    results, _, _ = await read_results(tmp_path, [long])
    assert (results.ids, results.unreadable) == ({"a", "c", "d"}, 3)
    assert [result.custom_id for result in results] == ["a", "c", "d"]
    results.close()


def entry(id_: str | None, requests: int) -> BatchEntry:
    return BatchEntry("m", "agent", {str(n): "" for n in range(requests)}, 0.0, id_)


def test_what_is_under_way_is_told_in_one_line_and_listed(tmp_path: Path):
    waiting: Any = {"a": None, "b": None}
    batches = queue(tmp_path)
    lines: list[str] = []
    progress = RoundProgress([batches, queue(tmp_path)], lines.append)
    scheduler = BatchScheduler(None, [batches], [], progress, None)  # pyright: ignore[reportArgumentType]
    progress.number = 2
    progress.report()
    assert scheduler.running_batches() == []
    unsent = Batch(entry(None, 4), None, waiting)
    batches.running = [unsent]
    progress.report()
    assert scheduler.running_batches() == []
    begun = BatchState("b1", "in_progress", False, total=2, done=1)
    batches.running = [
        Batch(entry("b1", 2), None, waiting, begun),
        unsent,
        Batch(entry("b2", 1), None, waiting, state(done=2)),
        Batch(entry("b3", 3), None, waiting),
        Batch(entry("b4", 1), None, waiting, begun),
    ]
    progress.report()
    assert lines == [
        "",
        "round 2: batch being sent, 0/2 done",
        "round 2: 5 batches in_progress, being sent, completed, 4/10 done",
    ]
    assert scheduler.running_batches() == [
        RunningBatch("b1", 2, "in_progress", "http://host/b1/cancel"),
        RunningBatch("b3", 3, "unknown", "http://host/b3/cancel"),
        RunningBatch("b4", 1, "in_progress", "http://host/b4/cancel"),
    ]
