"""Senders of batches and the rounds they go in, against a scripted batch API: each call, wait and error in order."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.batch.scripted_batches import (
    URL,
    ScriptedBatches,
    Sender,
    begun,
    journal_rows,
    outcomes,
    queue_of,
    request,
    result_lines,
)
from wildtool.engine.batch.queue import Batch, BatchQueue
from wildtool.engine.batch.rounds import (
    QUIET_PASSES,
    UNCERTAIN_FAILURES,
    Activity,
    BatchScheduler,
    RoundProgress,
    RunningBatch,
)
from wildtool.errors import CallError, StorageError
from wildtool.models.batch.protocol import BatchState

RUNNING = BatchState("b1", "in_progress", False, 2, 1)
ENDED = BatchState("b1", "completed", True, 2, 2, ("out",))
BODIES = (b"zero", b"one", b"two")


async def sent(
    api: ScriptedBatches, folder: Path, requests: int = 2, attempts: int = 2
) -> tuple[list[Any], Sender, BatchQueue, list[str]]:
    """What becomes of a batch of some requests; its sender, its queue, and the custom ids.

    In the results `{0}`, `{1}` … stand for the custom ids.
    """
    queue = queue_of(api, folder, key="k")
    tasks = await begun(*(queue.send(BODIES[step], request(step)) for step in range(requests)))
    sender = Sender(queue, folder, attempts)
    drained: list[Batch] = []
    drain = queue.drain

    def noted() -> list[Batch]:
        drained.extend(drain())
        ids = [id_ for batch in drained for id_ in batch.waiting]
        api.script["fetch"] = [
            text if isinstance(text, Exception) else _named(text, ids) for text in api.script["fetch"]
        ]
        return list(drained)

    queue.drain = noted
    await sender.send_batches()
    return await outcomes(tasks), sender, queue, [id_ for batch in drained for id_ in batch.waiting]


def _named(text: bytes, ids: list[str]) -> bytes:
    for number, id_ in enumerate(ids):
        text = text.replace(b"{%d}" % number, id_.encode())
    return text


def answers(*numbers: int) -> bytes:
    return result_lines(*({"id": f"{{{number}}}", "answer": f"A{number}"} for number in numbers))


def failure(kind: str, **settings: Any) -> CallError:
    return CallError(kind, f"it says {kind}", **settings)


async def test_a_batch_is_uploaded_created_waited_for_and_read(tmp_path: Path):
    api = ScriptedBatches(fetch=[answers(1, 0)], state=[RUNNING, ENDED])
    ends, sender, queue, ids = await sent(api, tmp_path)
    assert ends == [b"A0", b"A1"]
    assert api.asked == [
        ("upload", b"[zero,one]"),
        ("create", None, "f1"),
        ("state", "b1"),
        ("state", "b1"),
        ("fetch", "out"),
    ]
    assert (sender.waits, sender.retries, sender.states) == ([0.5, 0.75], [], 3)
    (batch,) = queue.running
    assert (batch.state, batch.all_readable, batch.entry.anomalies, batch.entry.id) == (ENDED, True, {}, "b1")
    assert [row["row"] for row in journal_rows(tmp_path)] == ["header", "begun", "uploaded", "created"]
    assert list(batch.waiting) == ids


async def test_requests_go_with_the_creation_where_there_is_no_upload(tmp_path: Path):
    api = ScriptedBatches(upload=[None], fetch=[answers(0)])
    ends, *_ = await sent(api, tmp_path, requests=1)
    assert ends == [b"A0"]
    assert api.asked[:2] == [("upload", b"[zero]"), ("create", b"[zero]", None)]
    assert [row["row"] for row in journal_rows(tmp_path)] == ["header", "begun", "created"]


async def test_states_are_asked_for_at_growing_intervals_up_to_a_minute(tmp_path: Path):
    slow = [RUNNING] * 13
    _, sender, *_ = await sent(ScriptedBatches(state=[*slow, ENDED], fetch=[answers(0, 1)]), tmp_path)
    waits = [0.5 * 1.5**number for number in range(12)]
    assert sender.waits == [*waits, 60.0, 60.0]
    assert waits[-1] < 60.0


@pytest.mark.parametrize(("says", "waits"), [(None, 1.125), (0.1, 1.125), (20.0, 20.0), (1e6, 60.0)])
async def test_a_failed_look_is_waited_out_as_the_server_says(
    says: float | None, waits: float, tmp_path: Path
):
    down = failure("http 503", retry_after_s=says)
    api = ScriptedBatches(state=[RUNNING, down, ENDED], fetch=[answers(0, 1)])
    ends, sender, *_ = await sent(api, tmp_path)
    assert ends == [b"A0", b"A1"]
    assert sender.retries == [("http 503", waits)]
    assert sender.waits == [0.5, 0.75, waits]


@pytest.mark.parametrize(("failures", "answered"), [(29, True), (30, False)])
async def test_thirty_failed_looks_in_a_row_end_the_wait(failures: int, answered: bool, tmp_path: Path):
    down = failure("network")
    api = ScriptedBatches(
        state=[down, RUNNING, *[down] * failures, *([ENDED] if answered else [])], fetch=[answers(0)]
    )
    ends, sender, *_ = await sent(api, tmp_path, requests=1)
    assert ends == ([b"A0"] if answered else [("InfraError", "network", "it says network", None)])
    assert len(sender.retries) == 30


GONE = (
    "it says http 404 (the batch or its results are gone: deleted, too old, or another key's; to have its requests "
    "sent again, and paid for again, delete {folder}/batches.jsonl)"
)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ({"state": [failure("http 404", final=True)]}, ("CallError", "http 404", GONE, True)),
        (
            {"create": [failure("http 404", final=True)]},
            ("CallError", "http 404", "it says http 404", True),
        ),
        ({"state": [failure("http 401", final=True)]}, ("CallError", "http 401", "it says http 401", True)),
        ({"upload": [failure("http 500")]}, ("InfraError", "http 500", "it says http 500", None)),
        ({"fetch": [failure("http 500")]}, ("InfraError", "http 500", "it says http 500", None)),
        ({"upload": [failure("http 413", final=True)]}, ("CallError", "http 413", "it says http 413", True)),
    ],
    ids=["gone", "no endpoint", "refused", "upload", "results", "one request is too large"],
)
async def test_a_batch_that_fails_fails_its_requests(script: Any, error: Any, tmp_path: Path):
    ends, _, queue, _ = await sent(ScriptedBatches(**script), tmp_path, requests=1)
    class_, kind, message, final = error
    assert ends == [(class_, kind, message.format(folder=tmp_path), final)]
    (batch,) = queue.running
    assert (batch.all_readable, batch.entry.finished) == (False, False)


@pytest.mark.parametrize(
    ("state", "errors"),
    [
        (
            replace(ENDED, failure="no credit"),
            [("CallError", "batch refused", "no credit", True)] * 2,
        ),
        (
            replace(ENDED, failure="busy", transient=True),
            [("CallError", "batch refused", "busy", False)] * 2,
        ),
        (
            replace(ENDED, failure="bad", failed_lines={0: "none", 2: "no such model", 3: "beyond"}),
            [
                ("CallError", "batch refused", "bad", False),
                ("CallError", "batch refused", "no such model", True),
            ],
        ),
        (
            replace(ENDED, failure="bad", failed_lines={1: "first"}),
            [("CallError", "batch refused", "first", True), ("CallError", "batch refused", "bad", False)],
        ),
        (
            replace(ENDED, failure="bad", failed_lines={0: "none", 3: "beyond"}),
            [("CallError", "batch refused", "bad", True)] * 2,
        ),
    ],
    ids=["for good", "for now", "one line", "the first line", "lines that are not there"],
)
async def test_a_refused_batch_fails_the_requests_at_fault_for_good(state: Any, errors: Any, tmp_path: Path):
    ends, *_ = await sent(ScriptedBatches(state=[state]), tmp_path)
    where = f"batch b1 at {URL}: the batch was refused"
    assert ends == [(name, kind, f"{where}: {quote}", final) for name, kind, quote, final in errors]


async def test_one_request_that_is_too_large_alone_may_be_sent_again(tmp_path: Path):
    large = replace(ENDED, failure="too many tokens", too_large=True)
    ends, *_ = await sent(ScriptedBatches(state=[large]), tmp_path, requests=1)
    message = f"batch b1 at {URL}: the batch was refused: too many tokens"
    assert ends == [("CallError", "batch refused", message, False)]


@pytest.mark.parametrize("how", ["state", "upload"])
async def test_a_batch_that_is_too_large_is_sent_in_parts_one_after_another(how: str, tmp_path: Path):
    large = replace(ENDED, failure="too many tokens", too_large=True)
    over = failure("http 413", final=True)
    script = {"state": [large, ENDED]} if how == "state" else {"upload": [over, "f2"]}
    api = ScriptedBatches(**script, fetch=[answers(0), answers(1)])
    ends, _, queue, _ = await sent(api, tmp_path)
    assert ends == [b"A0", b"A1"]
    parts = [
        step
        for body in (b"[zero]", b"[one]")
        for step in (
            ("upload", body),
            ("create", None, "f2" if how == "upload" else "f1"),
            ("state", "b1"),
            ("fetch", "out"),
        )
    ]
    assert api.asked[-8:] == parts
    assert (queue.most_requests, len(queue.running)) == (1, 2)


async def test_what_is_odd_about_results_is_counted(tmp_path: Path):
    lines = answers(0, 0) + result_lines({"id": "x"}, {"id": "y"})
    ends, _, queue, _ = await sent(ScriptedBatches(fetch=[lines]), tmp_path, requests=3)
    missing = f"batch b1 at {URL}: it is over and holds no result for this request"
    assert ends == [b"A0", *[("CallError", "missing result", missing, False)] * 2]
    (batch,) = queue.running
    assert batch.entry.anomalies == {"missing": 2, "repeated": 1, "unknown": 2}
    assert batch.all_readable


async def test_requests_without_a_result_may_be_in_a_line_that_cannot_be_read(tmp_path: Path):
    lines = answers(0) + b"[]\n[]\n"
    ends, sender, queue, _ = await sent(ScriptedBatches(fetch=[lines]), tmp_path)
    message = f"batch b1 at {URL}: 2 lines of the results cannot be read; the same command reads them again"
    assert ends == [b"A0", ("InfraError", "unreadable results", message, None)]
    (batch,) = queue.running
    assert (batch.entry.anomalies, batch.all_readable) == ({"missing": 1, "unreadable": 2}, False)
    assert sender.retries == [("unreadable results", 0.5)]


@pytest.mark.parametrize("status", ["cancelled", "canceled"])
async def test_requests_of_a_canceled_batch_are_not_sent_again_at_once(status: str, tmp_path: Path):
    lines = answers(0) + result_lines({"id": "{1}", "canceled": True})
    api = ScriptedBatches(state=[replace(ENDED, status=status)], fetch=[lines])
    ends, *_ = await sent(api, tmp_path, requests=3)
    marked = "batch b1 was canceled before this request was started; the same command sends it again"
    absent = f"batch b1 at {URL}: canceled before this request was started"
    assert ends == [
        b"A0",
        ("InfraError", "batch canceled", marked, None),
        ("InfraError", "batch canceled", absent, None),
    ]


async def test_a_failed_request_has_its_own_error(tmp_path: Path):
    lines = answers(1) + result_lines({"id": "{0}", "error": "http 400"})
    ends, _, queue, _ = await sent(ScriptedBatches(fetch=[lines]), tmp_path)
    assert ends == [("CallError", "http 400", "the request failed", False), b"A1"]
    assert queue.running[0].entry.anomalies == {}


@pytest.mark.parametrize("kind", sorted(UNCERTAIN_FAILURES))
async def test_after_an_unsure_creation_the_batch_is_looked_for_before_it_is_made_again(
    kind: str, tmp_path: Path
):
    api = ScriptedBatches(
        create=[failure(kind), RUNNING], find=[[replace(ENDED, id="b9")]], fetch=[answers(0)]
    )
    ends, _, queue, _ = await sent(api, tmp_path, requests=1)
    assert ends == [b"A0"]
    assert [call[0] for call in api.asked] == ["upload", "create", "find", "fetch"]
    mark, requests, since = api.asked[2][1:]
    entry = queue.running[0].entry
    assert (mark, requests, since, entry.id) == (entry.mark, 1, entry.time - 3600.0, "b9")


async def test_after_a_clear_refusal_a_batch_is_made_again_at_once(tmp_path: Path):
    api = ScriptedBatches(create=[failure("http 429"), RUNNING], fetch=[answers(0)])
    ends, *_ = await sent(api, tmp_path, requests=1)
    assert ends == [b"A0"]
    assert [call[0] for call in api.asked] == ["upload", "create", "create", "state", "fetch"]


async def test_a_batch_that_nobody_finds_is_made_again(tmp_path: Path):
    api = ScriptedBatches(create=[failure("timeout"), RUNNING], fetch=[answers(0)])
    ends, *_ = await sent(api, tmp_path, requests=1)
    assert ends == [b"A0"]
    assert [call[0] for call in api.asked] == ["upload", "create", "find", "create", "state", "fetch"]


class Unmarked(ScriptedBatches):
    """A provider that does not keep marks, and takes the requests with the creation."""

    stores_mark = False


@pytest.mark.parametrize(
    ("foreign", "calls"),
    [
        (result_lines({"id": "wt_other"}), ["fetch", "state", "fetch", "fetch"]),
        (failure("http 404", final=True), ["fetch", "state", "fetch", "fetch"]),
    ],
    ids=["of somebody else", "deleted"],
)
async def test_without_marks_a_batch_is_known_by_its_results(foreign: Any, calls: list[str], tmp_path: Path):
    other, own = replace(ENDED, id="b8"), replace(RUNNING, id="b9")
    api = Unmarked(
        upload=[None],
        create=[failure("network"), RUNNING],
        find=[[other, own]],
        state=[replace(ENDED, id="b9")],
        fetch=[foreign, answers(0), answers(0)],
    )
    ends, _, queue, _ = await sent(api, tmp_path, requests=1)
    assert (ends, queue.running[0].entry.id) == ([b"A0"], "b9")
    assert [call[0] for call in api.asked] == ["upload", "create", "find", *calls]


async def test_a_search_that_fails_makes_no_second_batch(tmp_path: Path):
    api = Unmarked(upload=[None], create=[failure("network")], find=[[ENDED]], fetch=[failure("http 500")])
    ends, *_ = await sent(api, tmp_path, requests=1)
    assert ends == [("InfraError", "http 500", "it says http 500", None)]
    assert [call[0] for call in api.asked].count("create") == 1


def progress_of(queue: Any, *more: Any) -> list[str]:
    texts: list[str] = []
    progress = RoundProgress([queue, *more], texts.append)
    progress.number = 3
    progress.report()
    return texts


async def test_the_progress_of_a_round_counts_its_batches_and_names_each_status_once(tmp_path: Path):
    queue, other = queue_of(ScriptedBatches(), tmp_path), queue_of(ScriptedBatches(), tmp_path)
    assert progress_of(queue) == [""]
    asks = await begun(*(queue.send(b"x", request(step)) for step in range(4)), other.send(b"y", request(9)))
    first, second = queue.drain()
    assert progress_of(queue, other) == ["round 3: 2 batches being sent, 0/4 done"]
    other.drain()
    first.state, second.state = replace(RUNNING, done=2), replace(ENDED, done=1)
    assert progress_of(queue, other) == ["round 3: 3 batches in_progress, completed, being sent, 3/5 done"]
    second.state = RUNNING
    assert progress_of(queue) == ["round 3: 2 batches in_progress, 3/4 done"]
    queue.running.remove(second)
    assert progress_of(queue) == ["round 3: batch in_progress, 2/3 done"]
    for ask in asks:
        ask.cancel()
    await asyncio.gather(*asks, return_exceptions=True)


def scheduler_of(queues: list[Any], events: list[str]) -> BatchScheduler:
    async def sync() -> None:
        events.append("sync")

    return BatchScheduler(Activity(), queues, [], RoundProgress(queues, events.append), sync)


async def test_batches_that_still_run_are_named_with_how_to_cancel_them(tmp_path: Path):
    queue = queue_of(ScriptedBatches(), tmp_path)
    asks = await begun(*(queue.send(b"x", request(step)) for step in range(12)))
    unsent, unknown, running, over = queue.drain()
    assert unsent.entry.id is None
    for number, (batch, state) in enumerate([(unknown, None), (running, RUNNING), (over, ENDED)]):
        batch.entry.id, batch.state = f"b{number}", state
    scheduler = scheduler_of([queue], [])
    assert scheduler.running_batches() == [
        RunningBatch("b0", 3, "unknown", f"{URL}/batches/b0/cancel"),
        RunningBatch("b1", 3, "in_progress", f"{URL}/batches/b1/cancel"),
    ]
    scheduler.stop("enough")
    assert {ended[2] for ended in await outcomes(asks)} == {"enough"}


async def test_the_record_is_synced_before_the_journal_says_so(tmp_path: Path):
    queue, events = queue_of(ScriptedBatches(), tmp_path), list[str]()
    scheduler = scheduler_of([queue], events)
    asks = await begun(*(queue.send(b"x", request(step)) for step in range(4)))
    first, second = queue.drain()
    await scheduler.commit_results()
    assert (queue.running, events) == ([first, second], ["round 0: 2 batches being sent, 0/4 done"])
    for future in first.waiting.values():
        future.set_result((b"right", 1.0))
    events.clear()
    await scheduler.commit_results()
    assert (queue.running, events) == ([second], ["sync", "round 0: batch being sent, 0/1 done"])
    assert [row["row"] for row in journal_rows(tmp_path)][-1] == "over"
    scheduler.stop("enough")
    await asyncio.gather(*asks, return_exceptions=True)


async def test_no_round_begins_where_nothing_waits_any_more_once_the_record_is_on_the_disk(tmp_path: Path):
    queue, events, stack = queue_of(ScriptedBatches(), tmp_path), list[str](), ExitStack()
    asks = await begun(queue.send(b"x", request()))
    (batch,) = queue.drain()
    batch.fail(lambda: CallError("x", "x"))

    async def sync() -> None:
        events.append("sync")
        stack.close()

    class Never:
        async def send_batches(self) -> None:
            events.append("sent")

    activity, never = Activity(), list[Any]([Never()])
    progress = RoundProgress([], events.append)
    scheduler = BatchScheduler(activity, [queue], never, progress, sync)
    activity.job_started("a")
    activity.all_jobs_started()
    stack.enter_context(activity.asking("a"))
    stack.enter_context(activity.waiting())
    playing = asyncio.create_task(scheduler.play())
    for _ in range(3 * QUIET_PASSES):
        await asyncio.sleep(0)
    assert (events, progress.number) == (["sync", ""], 0)
    stack.enter_context(activity.asking("a"))
    stack.enter_context(activity.waiting())
    for _ in range(3 * QUIET_PASSES):
        await asyncio.sleep(0)
    assert (events, progress.number) == (["sync", "", "", "sent"], 1)
    playing.cancel()
    stack.close()
    await asyncio.gather(*asks, return_exceptions=True)


async def test_a_round_that_fails_ends_the_run():
    class Full:
        async def send_batches(self) -> None:
            raise StorageError("no room")

    async def sync() -> None:
        raise AssertionError

    activity, full = Activity(), list[Any]([Full()])
    scheduler = BatchScheduler(activity, [], full, RoundProgress([], lambda text: None), sync)
    activity.job_started("a")
    activity.all_jobs_started()
    with activity.asking("a"), activity.waiting():
        ended: Any = await asyncio.wait_for(asyncio.gather(scheduler.play(), return_exceptions=True), 5)
    assert [str(error) for error in ended[0].exceptions] == ["no room"]


async def test_each_change_of_what_a_run_does_is_seen():
    activity, changes = Activity(), list[bool]()

    def note() -> None:
        changes.append(activity.changed.is_set())
        activity.changed.clear()

    activity.job_started("a")
    note()
    activity.all_jobs_started()
    note()
    with activity.asking("a"):
        note()
        with activity.waiting():
            note()
        note()
    note()
    activity.job_ended("a")
    note()
    assert changes == [True] * 7


@pytest.mark.parametrize("missing", ["nothing", "all started", "asked", "waits", "idle", "busy"])
async def test_a_run_is_quiet_only_when_all_its_items_wait(missing: str):
    activity = Activity()
    with ExitStack() as stack:
        activity.job_started("a")
        activity.job_started("over")
        activity.job_ended("over")
        if missing == "idle":
            activity.job_started("idle")
        if missing != "all started":
            activity.all_jobs_started()
        if missing != "asked":
            stack.enter_context(activity.asking("a"))
            if missing != "waits":
                stack.enter_context(activity.waiting())
        if missing == "busy":
            stack.enter_context(activity.asking("a"))
        assert await activity.is_quiet() is (missing == "nothing")
        assert activity.changed.is_set()


async def test_an_item_that_asks_twice_at_once_is_idle_again_after_both():
    activity = Activity()
    activity.job_started("a")
    activity.job_started("b")
    activity.all_jobs_started()
    with activity.asking("a"), activity.waiting():
        with activity.asking("b"):
            with activity.asking("b"), activity.waiting():
                assert not await activity.is_quiet(), "b asks elsewhere too"
            with activity.waiting():
                assert (await activity.is_quiet(), activity.requests_waiting) == (True, 2)
        assert (await activity.is_quiet(), activity.requests_waiting) == (False, 1)
        activity.job_ended("b")
        assert await activity.is_quiet()


@pytest.mark.parametrize("turns", [0, 1, QUIET_PASSES - 1])
async def test_a_run_in_which_something_happens_is_not_quiet(turns: int):
    activity = Activity()
    activity.job_started("a")
    activity.all_jobs_started()
    with activity.asking("a"), activity.waiting():
        looking = asyncio.ensure_future(activity.is_quiet())
        await asyncio.sleep(0)
        for _ in range(turns):
            await asyncio.sleep(0)
        activity.all_jobs_started()
        assert not await looking
