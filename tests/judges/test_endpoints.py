"""An endpoint as a judge: what it is sent, what it may answer, and calls that fail."""

import asyncio
import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest
from typer.testing import Result

from faults.server import Answer, FaultServer, http

Run = Callable[[str], Result]


class Judging(FaultServer):
    """Answers `POST /judge` with what a function makes of the body."""

    def __init__(self, judged: Callable[[dict[str, Any]], Any]) -> None:
        super().__init__("ok")
        self.judged = judged
        self.seen: list[dict[str, Any]] = []

    def answer(self, head: bytes, body: bytes) -> Answer:
        assert head.startswith(b"POST /v2/judge ")
        self.heads.append(head)
        self.seen.append(json.loads(body))
        answer = self.judged(self.seen[-1])
        return answer if isinstance(answer, Answer) else Answer(http(200, json.dumps(answer).encode()))


@contextmanager
def serving(judged: Callable[[dict[str, Any]], Any]) -> Generator[tuple[str, Judging]]:
    """The address of an endpoint that judges in a thread, and the endpoint."""
    server, ready, loop = Judging(judged), Event(), asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await stop.wait()

    thread = Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait()
    try:
        yield f"http://127.0.0.1:{server.port}/v2/judge", server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def last_name(body: dict[str, Any]) -> str:
    calls = body["messages"][-1].get("tool_calls") or [{"function": {"name": ""}}]
    return calls[0]["function"]["name"]


def test_it_is_sent_messages_and_tools_and_answers_with_a_verdict_or_a_score(run: Run):
    with serving(lambda body: {"score": 9 if last_name(body) == "tides" else 2}) as (url, server):
        result = run(f"audit wild-mini --judge {url} --twins none --json -q")
    assert {frozenset(body) for body in server.seen} == {frozenset(["messages", "tools", "start"])}
    found = json.loads(result.stdout)["audits"][0]
    kinds = {kind["kind"]: kind["share"]["value"] for kind in found["figures"]["wrong"]["kinds"]}
    assert kinds == {"wrong value": 0, "wrong name": 1, "needless refusal": 1}
    assert found["usd_per_call"] is None, "what an endpoint costs is not known"


@pytest.mark.long
def test_the_reference_is_sent_where_it_is_wanted(run: Run):
    with serving(lambda body: {"pass": last_name(body) == "tides"}) as (url, server):
        run(f"audit wild-mini --judge {url} --reference --twins none -q")
    assert all(body["reference"][0]["tool_calls"] for body in server.seen)


def test_a_key_is_sent_only_where_one_is_named(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else-0123456789")
    monkeypatch.setenv("JUDGE_KEY", "key-of-the-judge-0123456789")
    with serving(lambda body: {"pass": True}) as (url, server):
        run(f"audit wild-mini --judge {url} --twins none -q -o a")
        assert not any(b"uthorization" in head for head in server.heads)
        run(f"audit wild-mini --judge {url} --twins none -q -o b --api-key-env JUDGE_KEY")
        assert b"Bearer key-of-the-judge-0123456789" in server.heads[-1]


@pytest.mark.long
@pytest.mark.parametrize(
    "answer", [{"verdict": "pass"}, {"pass": "yes"}, {"pass": True, "score": 9}, [], "pass", None]
)
def test_any_other_answer_is_a_failed_call_and_no_judgement(run: Run, answer: Any):
    with serving(lambda body: answer) as (url, _):
        result = run(f"audit wild-mini --judge {url} --twins none --retries 0 -q")
    assert result.exit_code == 3
    assert "none of 60 cases has an answer" in result.stdout.replace("\n", " ")
    assert "What a score means: not known" in result.stdout.replace("\n", " ")


@pytest.mark.long
def test_a_score_outside_the_scale_is_unreadable(run: Run):
    with serving(lambda body: {"score": 70}) as (url, _):
        result = run(f"audit wild-mini --judge {url} --twins none -q")
    assert "Nothing could be read in any of 60 judgements" in result.stdout


def test_failed_calls_decide_nothing_and_count_against_what_is_required(run: Run):
    def a_third_fails(body: dict[str, Any]) -> Any:
        number = int(body["messages"][4]["content"].split()[-1].rstrip("?"))
        failed = number % 3 == 0
        return Answer(http(500, b"{}")) if failed else {"pass": last_name(body) == "tides"}

    with serving(a_third_fails) as (url, _):
        line = f"audit wild-mini --judge {url} --twins none --retries 0 -q"
        result = run(f"{line} --require tp:0.6")
        found = json.loads(run(f"{line} --json").stdout)["audits"][0]["figures"]
    assert "20 of 60 cases have no answer" in result.stdout and "Not reached: tp" in result.stdout
    assert found["right"]["share"]["value"] == 1 and found["right"]["least"]["value"] == pytest.approx(2 / 3)
    assert found["missing"] == 20


def test_the_same_command_asks_again_what_failed(run: Run):
    failing = [True]

    def judged(body: dict[str, Any]) -> Any:
        return Answer(http(500, b"{}")) if failing[0] and last_name(body) == "tides" else {"pass": False}

    with serving(judged) as (url, server):
        line = f"audit wild-mini --judge {url} --twins none --retries 0 -q -o a"
        assert run(line).exit_code == 3
        failing[0], before = False, len(server.seen)
        assert run(line).exit_code == 0
    assert len(server.seen) - before == 36
