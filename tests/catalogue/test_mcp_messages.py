"""What an MCP server at an address is asked, message by message."""

import io
import json
import shlex
import sys
from email.message import Message
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.catalogue import mcp
from wildtool.catalogue.mcp import server_tools
from wildtool.errors import DataError

URL = "http://tools.example/mcp"


class Web:
    """Answers posts in turn; an answer is a result, bytes or an exception."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.posts = [*answers], list[Any]()

    def open(self, message: Any, timeout: float) -> Any:
        body = json.loads(message.data)
        self.posts.append((body, message.get_header("Mcp-session-id"), timeout))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, bytes):
            answer = json.dumps({"jsonrpc": "2.0", "id": body.get("id"), **answer}).encode()
        stream = io.BytesIO(answer)
        headers = {"Mcp-Session-Id": f"s{len(self.posts)}"} if len(self.posts) < 3 else {}
        return SimpleNamespace(headers=headers, read1=stream.read)


class Opened:
    def __init__(self, response: Any) -> None:
        self.response = response

    def __enter__(self) -> Any:
        return self.response

    def __exit__(self, *error: object) -> None:
        pass


def listed(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> tuple[Web, list[Any]]:
    web = Web({"result": {}}, b"", *answers)
    monkeypatch.setattr(mcp, "open_unredirected", lambda message, timeout: Opened(web.open(message, timeout)))
    return web, server_tools(URL, 7.0)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"result": {"tools": 3}}, "tools/list gave no list `tools`; is this an MCP server?"),
        ({"error": {"message": "no"}}, "tools/list was refused: no"),
        ({"x": 1}, 'tools/list was refused: {"jsonrpc":"2.0","id":3,"x":1}'),
        (b"<html><h1>Sign in</h1>", "the answer to tools/list is no message of MCP: Sign in"),
        (b"", "the answer to tools/list is no message of MCP: nothing"),
        (
            b'{"id": 9, "result": {}}',
            'the answer to tools/list is no message of MCP: {"id": 9, "result": {}}',
        ),
        (TimeoutError("slow"), "tools/list was not answered: slow"),
        (
            mcp.errors.HTTPError(URL, 404, "Not Found", Message(), io.BytesIO()),
            "tools/list was answered with HTTP 404 Not Found",
        ),
    ],
)
def test_an_answer_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch, answer: Any, error: str):
    with pytest.raises(DataError) as caught:
        listed(monkeypatch, answer)
    assert str(caught.value) == f"{URL}: {error}"


def test_a_program_that_refuses_is_named_with_its_command():
    answer = '{"id": 1, "error": {"message": "no"}}'
    refusal = f"input(); print({answer!r}, flush=True)"
    command = f"{sys.executable} -c {shlex.quote(refusal)}"
    with pytest.raises(DataError) as caught:
        server_tools(f"mcp:{command}")
    assert str(caught.value) == f"mcp:{command}: initialize was refused: no"


def serving(script: str) -> str:
    return f"mcp:sh -c {shlex.quote(script)}"


def error_of(source: str, timeout_s: float = 30.0) -> str:
    with pytest.raises(DataError) as caught:
        server_tools(source, timeout_s)
    return str(caught.value).removeprefix(f"{source}: ")


def test_a_program_that_ends_is_named_with_its_last_words():
    words = "for word in one two 'th\xe9ree' four; do echo $word >&2; done; read line; exit 3"
    assert error_of(serving(words)).startswith(
        "the server ended before it answered initialize (exit status 3); it wrote: two | th\xe9ree | four; "
    )
    assert error_of(serving("read line; exit 0")).startswith(
        "the server ended before it answered initialize (exit status 0); "
    )
    later = """read line; echo '{"id": 1, "result": {}}'; read line; read line; exit 1"""
    assert error_of(serving(later)).startswith(
        "the server ended before it answered tools/list (exit status 1); "
    )


def test_a_program_that_does_not_answer_is_not_waited_for():
    assert error_of(serving("cat >/dev/null"), 0.05) == "no answer to initialize in 0.05 s"
