"""`wildtool run` names broken tool calls in the first replies, and sends nothing for it."""

import json
from pathlib import Path
from typing import Any

import pytest

from check.faulty_endpoint import Endpoint, Made, faults
from e2e.command import Ended, wildtool
from faults.server import Answer, Call, FaultServer, http
from wildtool.check.first_replies import MOST, FirstReplies
from wildtool.types import Reply


class Breaking:
    """Calls the first offered tool, with a defect."""

    def __init__(self, fault: str | None, content: str | None = None) -> None:
        self.requests = 0
        self._content = content
        self._endpoint = Endpoint(None if fault is None else faults()[fault])

    def __call__(self, call: Call) -> Answer:
        self.requests += 1
        name = call.body["tools"][0]["function"]["name"]
        calls = [{"id": "c", "name": name, "arguments": "{}"}]
        made = Made(finish="tool_calls", tokens=5, prompt=9, calls=calls, content=self._content)
        self._endpoint.fault.change(made, call.body)
        return Answer(http(200, json.dumps(self._endpoint.completion(made)).encode()))


async def ran(tmp_path: Path, behave: Any, *words: str) -> Ended:
    server = FaultServer("ok")
    server.behave = behave
    async with server:
        address = ("--base-url", server.base_url)
        return await wildtool("run", "wild-mini", "-m", "m", *address, "--limit", "2", *words, cwd=tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("10 object", "`arguments` is an object (defect 10"),
        ("6 no ids", "a call without an id (defect 6"),
        ("8 no call", "and no call (defect 8"),
    ],
)
async def test_a_run_names_a_defect_of_its_first_replies_once(tmp_path: Path, fault: str, words: str):
    ended = await ran(tmp_path, Breaking(fault))
    assert ended.err.count(words) == 1, ended.err
    assert "a reply with" not in ended.err, "the same in other words"


async def test_a_run_says_nothing_of_sound_replies_and_sends_nothing_more(tmp_path: Path):
    looked, plain = Breaking(None), Breaking(None)
    ended = await ran(tmp_path, looked, "--out", "looked")
    await ran(tmp_path, plain, "--out", "plain", "--no-check")
    assert "defect" not in ended.err and looked.requests == plain.requests > 0


async def test_no_check_says_nothing(tmp_path: Path):
    ended = await ran(tmp_path, Breaking(None, content="<think>hm</think>"), "--no-check")
    assert "defect 21" not in ended.err
    ended = await ran(tmp_path, Breaking(None, content="<think>hm</think>"), "--out", "looked")
    assert "<think> in the text (defect 21" in ended.err


async def test_a_run_that_continues_says_it_of_new_replies_only(tmp_path: Path):
    server = FaultServer("ok")
    server.behave = Breaking("10 object")
    async with server:
        words = ("run", "wild-mini", "-m", "m", "--base-url", server.base_url, "--limit", "2")
        first, again = [await wildtool(*words, cwd=tmp_path) for _ in range(2)]
    assert "defect 10" in first.err
    assert again.status == 0 and "defect" not in again.err


def raw(*calls: dict[str, Any], content: str | None = None, finish: str = "tool_calls") -> str:
    message = {"content": content, "tool_calls": list(calls)}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]})


@pytest.mark.parametrize(
    ("reply", "remark"),
    [
        ('{"arguments": "\\"{}\\"", "name": "f"}', "is the JSON text of a JSON text (defect 31"),
        ('{"arguments": {}, "name": "f"}', "`arguments` is an object (defect 10"),
    ],
)
def test_arguments_that_are_no_json_text_of_an_object_are_named(reply: str, remark: str):
    (said,) = FirstReplies()(Reply({}, raw=raw({"id": "c", "function": json.loads(reply)})))
    assert remark in said


def test_later_replies_are_not_looked_at():
    broken = '{"choices": [{"message": {"content": "</think>"}}]}'
    look = FirstReplies()
    for _ in range(MOST):
        assert look(Reply({}, raw='{"choices": [{"message": {"content": "Hello"}}]}')) == []
    assert look(Reply({}, raw=broken)) == []
    assert FirstReplies()(Reply({}, raw=broken))


@pytest.mark.parametrize(
    "raw", ["", "{", "[]", '{"content": [{"type": "text", "text": "<think>"}]}', "\ud800"]
)
def test_replies_of_other_protocols_are_left_alone(raw: str):
    assert FirstReplies()(Reply({}, raw=raw)) == []
