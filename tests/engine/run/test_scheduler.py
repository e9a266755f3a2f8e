"""Single calls of a run: where a reply comes from, what is recorded and counted, and which error ends what."""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from engine.instant_time import instantly, now
from wildtool.engine.call.budget import Budget, SpendingLimits
from wildtool.engine.call.cache import ReplyCache
from wildtool.engine.call.client import (
    MAX_FAILED_CALLS,
    GivenUpError,
    Invocation,
    RefusedError,
    all_refused,
)
from wildtool.engine.call.rate_limit import LimitError
from wildtool.engine.observer import Observer
from wildtool.engine.record.reader import LoggedFailure, LoggedReply, LogReader
from wildtool.engine.record.writer import LogWriter
from wildtool.engine.run import scheduler
from wildtool.engine.run.scheduler import LogClient, RunContext, most_actionable
from wildtool.engine.score.reply_signs import TOKEN_LIMIT
from wildtool.engine.score.trust import early_remark
from wildtool.errors import CallError, InfraError, RecordError, UsageError
from wildtool.types import Reply, Request, Role

REQUEST = Request([{"role": "user", "content": "hi"}])


class Events(Observer):
    """Notes what it is shown."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def call_done(self, reply: Reply, *, replayed: bool) -> None:
        self.seen.append(("done", reply.message["content"], replayed))

    def call_failed(self, kind: str) -> None:
        self.seen.append(("failed", kind))

    def limit_reached(self, reason: str) -> None:
        self.seen.append(("limit", reason))

    def reply_noticed(self, text: str) -> None:
        self.seen.append(("noticed", text))


@contextmanager
def context_of(folder: Path, invocation: Invocation | None = None, **settings: Any) -> Generator[RunContext]:
    """Of a run in a folder that holds its record."""
    plan = plan_of(settings.pop("benchmark", EchoBenchmark(1, 1, 1)), **settings)
    with LogWriter(folder) as writer, LogReader(folder) as reader:
        yield RunContext(plan, reader, writer, Events(), PATIENT, invocation or Invocation(), folder)


def seen(context: RunContext) -> list[tuple[Any, ...]]:
    assert isinstance(context.observer, Events)
    return context.observer.seen


def counts(context: RunContext) -> tuple[int, int, int, bool]:
    return context.calls, context.replayed, context.cached, context.has_new_requests


def lines(folder: Path) -> Sequence[tuple[str, int, str]]:
    with LogReader(folder) as reader:
        log = reader.log("i0", 0)
    return [
        (unit, step, row.reply.message["content"] if isinstance(row, LoggedReply) else row.kind)
        for unit, steps in log.items()
        for step, row in steps.items()
    ]


async def test_replies_come_from_the_model_then_from_the_record(tmp_path: Path):
    with context_of(tmp_path) as context:
        ask = LogClient(context, "i0", 0)
        for unit in ("0", "0", "1"):
            assert (await ask(unit, REQUEST)).message["content"] == "right"
        assert counts(context) == (3, 0, 0, True)
        assert seen(context) == [("done", "right", False)] * 3
    assert lines(tmp_path) == [("0", 0, "right"), ("0", 1, "right"), ("1", 0, "right")]
    with context_of(tmp_path, model=ScriptedModel(lambda request: "new")) as context:
        ask = LogClient(context, "i0", 0)
        replies = [(await ask("0", REQUEST)).message["content"] for _ in range(3)]
        assert replies == ["right", "right", "new"]
        assert counts(context) == (1, 2, 0, True)
        assert seen(context) == [("done", "right", True)] * 2 + [("done", "new", False)]
    with context_of(tmp_path) as context:
        await LogClient(context, "i0", 0)("1", REQUEST)
        assert counts(context) == (0, 1, 0, False)


@pytest.mark.parametrize("change", [{"messages": []}, {"role": "user"}], ids=["messages", "role"])
async def test_a_request_that_differs_is_named_by_its_place(change: dict[str, Any], tmp_path: Path):
    with context_of(tmp_path) as context:
        await LogClient(context, "i0", 0)("0", REQUEST)
    with context_of(tmp_path) as context, pytest.raises(RecordError) as caught:
        await LogClient(context, "i0", 0)("0", Request(**{"messages": REQUEST.messages, **change}))
    assert str(caught.value).startswith(
        "item i0, repeat 0, unit 0, step 0: this request differs from the recorded one ("
    )
    assert str(caught.value).endswith(
        "so the benchmark's code or its prompts have changed. What is recorded can be scored and shown as before; to "
        "resume, use the version of wildtool that started this run, or another --out to start again"
    )


async def test_a_failed_call_is_recorded_and_asked_again_by_the_next_run(tmp_path: Path):
    def refuse(request: Request) -> Any:
        raise CallError("http 400", "bad tools", final=True)

    with context_of(tmp_path, model=ScriptedModel(refuse)) as context:
        ask = LogClient(context, "i0", 0)
        with pytest.raises(InfraError, match="bad tools"):
            await ask("0", REQUEST)
        row = ask.log["0"][0]
        assert isinstance(row, LoggedFailure)
        assert (row.role, row.kind, row.message, row.attempts) == ("agent", "http 400", "bad tools", 1)
        assert (counts(context), seen(context)) == ((0, 0, 0, True), [("failed", "http 400")])
        assert lines(tmp_path) == [], "a model that never answers has no results"
        context.has_new_requests = False
        context.flush_failures()
    assert lines(tmp_path) == [("0", 0, "http 400")]
    with context_of(tmp_path) as context:
        await LogClient(context, "i0", 0)("0", REQUEST)
        assert counts(context) == (1, 0, 0, False)
    assert lines(tmp_path) == [("0", 0, "right")]


class Networked(ScriptedModel):
    """A model at an address: only the replies of such are kept in a cache."""

    def settings(self) -> Mapping[str, Any]:
        return {**super().settings(), "base_url": "http://127.0.0.1:9/v1"}


async def test_a_reply_of_the_cache_is_recorded_and_no_call(tmp_path: Path):
    cache = ReplyCache(tmp_path / "cache")
    for name, expected in (("one", (1, 0, 0, True)), ("other", (0, 0, 1, True))):
        (tmp_path / name).mkdir()
        with context_of(tmp_path / name, Invocation(cache=cache), model=Networked()) as context:
            reply = await LogClient(context, "i0", 0)("0", REQUEST)
            assert (reply.message["content"], counts(context)) == ("right", expected)
            assert seen(context) == [("done", "right", name == "other")]
        assert lines(tmp_path / name) == [("0", 0, "right")]
    cache.close()


async def test_a_filtered_reply_of_the_cache_is_none_of_another_role(tmp_path: Path):
    cache = ReplyCache(tmp_path / "cache")
    message = {"role": "user", "content": "hi"}
    for name, end, role, expected in (
        ("one", "content_filter", "agent", (1, 0, 0, True)),
        ("same", "never", "agent", (0, 0, 1, True)),
        ("other", "stop", "user", (1, 0, 0, True)),
    ):
        (tmp_path / name).mkdir()
        model = Networked(lambda request, end=end: Reply({"content": end}, finish_reason=end))
        models = {"agent": model, "user": model}
        with context_of(tmp_path / name, Invocation(cache=cache), models=models) as context:
            await LogClient(context, "i0", 0)("0", Request([message], role=role))
            assert counts(context) == expected
    cache.close()


@pytest.mark.parametrize(("role", "words"), [("agent", "no credit"), ("user", "user (scripted): no credit")])
async def test_an_empty_account_is_a_limit_of_the_endpoint_that_names_another_role(
    role: str, words: str, tmp_path: Path
):
    model = ScriptedModel(lambda request: CallError("quota used up", "no credit", final=True))
    with context_of(tmp_path, models={"agent": model, "user": model}) as context:
        with pytest.raises(LimitError) as caught:
            await LogClient(context, "i0", 0)("0", Request(REQUEST.messages, role=role))
        assert (str(caught.value), caught.value.of_endpoint) == (words, True)
        assert context.limit_error is caught.value
        assert seen(context) == [("limit", words)]


async def test_a_role_without_a_model_is_named(tmp_path: Path):
    with context_of(tmp_path) as context, pytest.raises(UsageError) as caught:
        await LogClient(context, "i0", 0)("0", Request([], role="judge"))
    assert str(caught.value) == "echo asks for a model in the role 'judge'; name one"


@pytest.mark.parametrize(("role", "prefix"), [("agent", ""), ("user", "user (scripted): ")])
async def test_a_model_that_refuses_every_call_ends_the_run_with_its_role(
    role: str, prefix: str, tmp_path: Path
):
    def refuse(request: Request) -> Any:
        raise CallError("http 401", "wrong key", final=True)

    models = {
        name: ScriptedModel(refuse if name == role else lambda request: "right") for name in ("agent", "user")
    }
    errors: list[InfraError | GivenUpError] = []
    with context_of(tmp_path, models=models) as context:
        ask = LogClient(context, "i0", 0)
        while not errors or isinstance(errors[-1], RefusedError):
            with pytest.raises((InfraError, GivenUpError)) as caught:
                await ask(str(len(errors)), Request(REQUEST.messages, role=role))
            errors.append(caught.value)
    *refused, last = errors
    assert isinstance(last, GivenUpError)
    assert [str(error) for error in refused] == ["wrong key"] * (MAX_FAILED_CALLS - 1)
    assert str(last) == prefix + str(all_refused(InfraError("http 401", "wrong key")))


@pytest.mark.parametrize(
    ("role", "text"),
    [("user", "--user-max-tokens"), ("judge", "--max-tokens"), ("stranger", "--max-tokens")],
)
async def test_of_a_cut_reply_of_another_role_the_option_is_named_once(role: str, text: str, tmp_path: Path):
    class Roles(EchoBenchmark):
        def __init__(self) -> None:
            super().__init__(1, 1, 1)
            self.roles = {"user": Role("plays", "m", max_tokens=5), "judge": Role("judges", "m")}

    def cut(request: Request) -> Reply:
        return Reply({"content": "ri"}, "ri", "length", {}, 0.1)

    models = {"agent": ScriptedModel(), role: ScriptedModel(cut)}
    with context_of(tmp_path, benchmark=Roles(), models=models) as context:
        ask = LogClient(context, "i0", 0)
        for _ in range(2):
            await ask("0", Request(REQUEST.messages, role=role))
        done = ("done", "ri", False)
        noticed = ("noticed", f"a reply of the {role} was cut off at a token limit: {text}")
        assert seen(context) == [done, noticed, done]


async def test_of_a_cut_reply_of_the_agent_the_remark_is_that_of_its_settings(tmp_path: Path):
    model = ScriptedModel(lambda request: Reply({"content": "ri"}, "ri", "length", {}, 0.1))
    with context_of(tmp_path, model=model) as context:
        reply = await LogClient(context, "i0", 0)("0", REQUEST)
        remark = early_remark(TOKEN_LIMIT, reply, model.settings())
        assert seen(context) == [("done", "ri", False), ("noticed", remark)]


async def test_a_model_that_failed_in_an_earlier_run_too_is_given_up_and_the_others_remain(tmp_path: Path):
    def refuse(request: Request) -> Any:
        raise CallError("http 401", "wrong key", final=True)

    units = [str(number) for number in range(MAX_FAILED_CALLS + 1)]
    with context_of(tmp_path, model=ScriptedModel(refuse)) as context:
        for unit in units:
            with pytest.raises((InfraError, GivenUpError)):
                await LogClient(context, "i0", 0)(unit, REQUEST)
        context.has_new_requests = False
        context.flush_failures()
    recorded = [(unit, 0, "http 401") for unit in units]
    assert lines(tmp_path) == recorded[: MAX_FAILED_CALLS - 1]
    model = ScriptedModel(refuse)
    with context_of(tmp_path, model=model) as context:
        errors: list[tuple[type[Exception], str]] = []
        for unit in [*units[: MAX_FAILED_CALLS - 1], "0", "1"]:
            context.has_new_requests = False
            with pytest.raises(InfraError) as caught:
                await LogClient(context, "i0", 0)(unit, REQUEST)
            errors.append((type(caught.value), str(caught.value)))
            assert not isinstance(caught.value, LimitError) or caught.value.of_endpoint
        refusal = "every call was refused (http 401: wrong key)"
        assert errors[:-2] == [(RefusedError, "wrong key")] * (MAX_FAILED_CALLS - 1)
        assert errors[-2:] == [(LimitError, refusal)] * 2
        assert len(model.asked) == MAX_FAILED_CALLS


@pytest.mark.parametrize("role", ["agent", "user"])
async def test_a_limit_of_the_user_is_of_all_roles_and_nothing_is_recorded(role: str, tmp_path: Path):
    models = {"agent": ScriptedModel(), "user": ScriptedModel()}
    budget = Budget(SpendingLimits(max_tokens_total=1))
    with context_of(tmp_path, Invocation(budget), models=models) as context:
        ask = LogClient(context, "i0", 0)
        with pytest.raises(InfraError) as caught:
            for _ in range(3):
                await ask("0", Request(REQUEST.messages, role=role))
        assert caught.value is context.limit_error
        assert seen(context)[-1] == ("limit", str(caught.value))
        assert "user (" not in str(caught.value)


@pytest.mark.parametrize(
    ("leaves", "first"),
    [([KeyError("a"), UsageError("b"), InfraError("k", "c")], 1), ([KeyError("a"), OSError()], 0)],
)
def test_of_several_errors_the_first_that_a_user_can_act_on_is_told(leaves: list[Exception], first: int):
    assert most_actionable(ExceptionGroup("", leaves)) is leaves[first]
    nested = ExceptionGroup("", [ExceptionGroup("", leaves[:1]), *leaves[1:]])
    assert most_actionable(nested) is leaves[first]


@pytest.mark.parametrize(
    ("deadline", "waits", "reason"),
    [
        (None, [], None),
        (0.0, [], "the deadline of 0 s is over (--deadline)"),
        (30.0, [30.0], "the deadline of 30 s is over (--deadline)"),
    ],
)
def test_what_waits_is_stopped_at_the_deadline(
    deadline: float | None, waits: list[float], reason: str | None, monkeypatch: pytest.MonkeyPatch
):
    slept: list[float] = []

    async def play() -> tuple[str | None, list[str]]:
        sleep, stopped = asyncio.sleep, list[str]()

        async def noted(seconds: float) -> None:
            slept.append(seconds)
            await sleep(seconds)

        monkeypatch.setattr(asyncio, "sleep", noted)
        budget = Budget(SpendingLimits(deadline_s=deadline), clock=now)
        batches = SimpleNamespace(stop=stopped.append)
        context: Any = SimpleNamespace(invocation=Invocation(budget), batch_scheduler=batches)
        await scheduler._stop_at_deadline(context)
        context.batch_scheduler = None
        await scheduler._stop_at_deadline(context)
        return budget.stopped, stopped

    assert instantly(play()) == (reason, [] if reason is None else [reason])
    assert slept == waits


def test_the_record_is_brought_to_the_disk_each_second(monkeypatch: pytest.MonkeyPatch):
    async def at_once(function: Callable[[], None]) -> None:
        # The clock of this test does not wait for threads.
        function()

    monkeypatch.setattr(asyncio, "to_thread", at_once)

    async def play() -> list[float]:
        synced: list[float] = []
        loop = asyncio.get_running_loop()
        writer: Any = SimpleNamespace(sync=lambda: synced.append(loop.time()))
        task = asyncio.create_task(scheduler._sync_periodically(writer))
        await asyncio.sleep(2.5)
        task.cancel()
        return synced

    assert instantly(play()) == [1.0, 2.0]
