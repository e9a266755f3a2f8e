"""Single calls of a run: where a reply comes from, what is recorded and counted, and which error ends what."""

import asyncio
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from engine.instant_time import instantly
from wildtool.engine.call.cache import ReplyCache
from wildtool.engine.call.client import (
    MAX_FAILED_CALLS,
    GivenUpError,
    Invocation,
    RefusedError,
    all_refused,
)
from wildtool.engine.observer import Observer
from wildtool.engine.record.reader import LogReader
from wildtool.engine.record.writer import LogWriter
from wildtool.engine.run import scheduler
from wildtool.engine.run.scheduler import LogClient, RunContext, most_actionable
from wildtool.errors import CallError, InfraError, LimitError, LimitOf, UsageError
from wildtool.types import Reply, Request

REQUEST = Request([{"role": "user", "content": "hi"}])


class Events(Observer):
    """Notes what it is shown."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def call_done(self, reply: Reply, *, replayed: bool) -> None:
        self.seen.append(("done", reply.message["content"], replayed))

    def call_failed(self, kind: str) -> None:
        self.seen.append(("failed", kind))

    def limit_reached(self, error: LimitError) -> None:
        self.seen.append(("limit", str(error)))

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


class Networked(ScriptedModel):
    """A model at an address: only the replies of such are kept in a cache."""

    def settings(self) -> Mapping[str, Any]:
        return {**super().settings(), "base_url": "http://127.0.0.1:9/v1"}


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
        assert (str(caught.value), caught.value.of) == (words, LimitOf.ENDPOINT)
        assert context.limit_error is caught.value
        assert seen(context) == [("limit", words)]


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
    ("leaves", "first"),
    [([KeyError("a"), UsageError("b"), InfraError("k", "c")], 1), ([KeyError("a"), OSError()], 0)],
)
def test_of_several_errors_the_first_that_a_user_can_act_on_is_told(leaves: list[Exception], first: int):
    assert most_actionable(ExceptionGroup("", leaves)) is leaves[first]
    nested = ExceptionGroup("", [ExceptionGroup("", leaves[:1]), *leaves[1:]])
    assert most_actionable(nested) is leaves[first]


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
