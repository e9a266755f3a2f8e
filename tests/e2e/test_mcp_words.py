"""An MCP server that refuses, or ends, is reported in its own words: bounded, without keys, safe to show. One of the
transport before streamable HTTP is named as such."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from e2e.command import wildtool
from wildtool.errors import DataError
from wildtool.tools.sources.mcp import server_tools

HTML = {"Content-Type": "text/html"}
STREAM = {"Content-Type": "text/event-stream"}
ENDPOINT = b"event: endpoint\r\ndata: /message?sessionId=1\r\n\r\n"
PAGE = b"""<!DOCTYPE html><html><head><title>Error</title><style>p {color: red}</style></head>
<body><pre>Cannot POST /sse</pre></body></html>"""


@contextmanager
def answering(
    status: int, body: bytes, opened: bytes = b"", *, stays_open: bool = False
) -> Iterator[tuple[str, list[Any]]]:
    """A server that answers posts with a status and a body and gives a stream to whoever opens one, and the headers of
    each request.

    Args:
        opened: what the stream begins with; without it there is none.
        stays_open: whether a body is followed by further ones without an end.
    """
    asked: list[Any] = []
    is_over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def say(self, status: int, headers: dict[str, str], body: bytes, *, is_open: bool) -> None:
            asked.append((self.command, dict(self.headers)))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)
                self.wfile.flush()
                while is_open and not is_over.wait(0.01):
                    self.wfile.write(body)

        def do_GET(self) -> None:
            if opened:
                self.say(200, STREAM, opened, is_open=True)
            else:
                self.say(404, HTML, PAGE, is_open=False)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.say(status, {}, body, is_open=stays_open)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", asked
    finally:
        is_over.set()
        server.shutdown()
        server.server_close()


def refusal(source: str, timeout_s: float = 20.0) -> str:
    """The message about a server, without its source."""
    with pytest.raises(DataError) as caught:
        server_tools(source, timeout_s)
    return str(caught.value).removeprefix(f"{source}: ")


def started(folder: Path, text: str, *words: str) -> str:
    (folder / "server.py").write_text(text)
    quoted = " ".join(f"'{word}'" for word in (sys.executable, str(folder / "server.py"), *words))
    return f"mcp:{quoted}"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"Access is only allowed at localhost:8931", "Access is only allowed at localhost:8931"),
        (
            b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "No valid session ID"}}',
            "No valid session ID",
        ),
        (
            b'{"error": "invalid_token", "error_description": "Missing header"}',
            '"error_description": "Missing header"',
        ),
        (PAGE, "Cannot POST /sse"),
        ("拒否されました\n\n二行目".encode(), "拒否されました 二行目"),
    ],
)
def test_a_refusal_over_http_is_told_in_the_words_of_its_body(body: bytes, words: str):
    with answering(403, body) as (url, _):
        told = refusal(url)
    assert told.startswith("initialize was answered with HTTP 403 Forbidden: ")
    assert words in told
    assert "<" not in told and "color" not in told and "\n" not in told


def test_an_error_of_the_protocol_is_told_with_its_data(tmp_path: Path):
    error = {"code": -32602, "message": "Unsupported version", "data": {"supported": ["2024-11-05"]}}
    text = "import sys; input(); print(sys.argv[1], flush=True); input()"
    for number in (1, None):
        answer = json.dumps({"jsonrpc": "2.0", "id": number, "error": error})
        told = 'initialize was refused: Unsupported version ({"supported":["2024-11-05"]})'
        assert refusal(started(tmp_path, text, answer)) == told
        with answering(200, answer.encode()) as (url, _):
            assert refusal(url) == told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit('GITHUB_TOKEN is not set')", "it wrote: GITHUB_TOKEN is not set;"),
        ("print('usage: server FOLDER')", "it wrote: usage: server FOLDER;"),
        (
            r"import sys; sys.exit('\x1b[31mError: no folder\x1b[0m\n    at main (index.js:3:5)\n\nNode.js v22.1.0')",
            "it wrote: Error: no folder;",
        ),
    ],
)
def test_a_server_that_ends_is_told_in_its_last_words_on_either_output(text: str, words: str, tmp_path: Path):
    assert words in refusal(started(tmp_path, text))


def test_a_server_that_closes_its_input_is_told_in_what_it_writes_after_that(tmp_path: Path):
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}})
    text = (
        "import os, sys, time; input(); os.close(0); print(sys.argv[1], flush=True); time.sleep(0.3);"
        " print('usage: server FOLDER')"
    )
    told = refusal(started(tmp_path, text, answer))
    assert (
        told.startswith("the server ended before it answered") and "it wrote: usage: server FOLDER;" in told
    )


def test_a_server_that_waits_for_something_is_told_in_its_words(tmp_path: Path):
    text = (
        "import sys, time; print('Open https://login.example', file=sys.stderr, flush=True); time.sleep(60)"
    )
    told = refusal(started(tmp_path, text), 2.0)
    assert told == "no answer to initialize in 2 s; it wrote: Open https://login.example"


@pytest.mark.parametrize("stays_open", [False, True])
def test_words_without_an_end_are_cut(stays_open: bool):
    with answering(500, b"never again " * 100_000, stays_open=stays_open) as (url, _):
        assert len(refusal(url)) < 600


async def test_words_show_no_key_and_steer_no_terminal(tmp_path: Path):
    key = "sk-canary-0123456789abcdef"
    body = f"\x1b]0;title\x07\u202e{'x' * 380} your key {key} is refused".encode()
    with answering(403, body) as (url, _):
        ended = await wildtool("tools", "lint", f"{url}?token={key}", cwd=tmp_path)
    assert ended.status == 2
    assert "403" in ended.err and "xxx" in ended.err
    assert not any(part in ended.err for part in (key[:14], "\x1b", "\x07", "\u202e"))


@pytest.mark.parametrize("status", [400, 404, 405])
@pytest.mark.parametrize("opened", [ENDPOINT, b": hello\n\nevent:endpoint\ndata: x\n\n"])
async def test_a_server_of_the_older_transport_is_named_with_what_to_do(
    status: int, opened: bytes, tmp_path: Path
):
    with answering(status, b"Missing sessionId", opened) as (url, asked):
        ended = await wildtool("tools", "lint", url, cwd=tmp_path)
    told = " ".join(ended.err.split())
    assert ended.status == 2
    assert "Missing sessionId" in told
    assert "speaks only HTTP+SSE" in told and "2024-11-05" in told
    assert "/mcp" in told and "--sse" in told
    assert [(method, headers["Accept"]) for method, headers in asked][1:] == [("GET", "text/event-stream")]


@pytest.mark.parametrize("opened", [b"", b"event: message\ndata: {}\n\n", b": still here\n\n"])
def test_no_other_server_is_taken_for_one_of_the_older_transport(opened: bytes):
    with answering(404, PAGE, opened) as (url, _):
        told = refusal(url, 0.3)
    assert told == "initialize was answered with HTTP 404 Not Found: Cannot POST /sse"


def test_a_server_that_allows_no_access_is_not_asked_again():
    with answering(403, b"no", ENDPOINT) as (url, asked):
        assert "HTTP+SSE" not in refusal(url)
    assert [method for method, _ in asked] == ["POST"]
