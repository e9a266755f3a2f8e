"""`wildtool catalogue` on tools: files, and MCP servers that answer, die, hang or are none."""

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

TOOLS = [
    {
        "name": "tides",
        "description": "Lists the tides of a harbour by day",
        "inputSchema": {"type": "object"},
    },
    {"name": "ferries", "description": "", "inputSchema": {"type": "object"}},
]
SERVER = """
import json, sys
tools = json.loads(sys.argv[1])
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    print("a line of a log", flush=True)
    page = int(asked["params"].get("cursor", 0))
    more = {"nextCursor": str(page + 1)} if page + 1 < len(tools) else {}
    result = {"tools": tools[page:page + 1], **more} if asked["method"] == "tools/list" else {}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def command(script: Path, text: str, *words: str) -> str:
    script.write_text(text)
    quoted = " ".join(f"'{word}'" for word in (sys.executable, str(script), *words))
    return f"mcp:{quoted}"


async def test_tools_of_a_file_are_checked(tmp_path: Path):
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    ended = await wildtool("tools", "lint", "tools.json", cwd=tmp_path)
    assert ended.status == 1
    assert "no description" in ended.out
    assert "1 of 2 tools have a finding" in ended.out
    ended = await wildtool("tools", "lint", "tools.json", "--json", cwd=tmp_path)
    assert [each["where"] for each in json.loads(ended.out)["findings"]] == ["ferries"]


async def test_a_server_that_is_started_lists_its_tools_page_by_page(tmp_path: Path):
    source = command(tmp_path / "server.py", SERVER, json.dumps(TOOLS))
    ended = await wildtool("tools", "lint", source, "--json", cwd=tmp_path)
    assert ended.status == 1, ended.err
    assert json.loads(ended.out)["tools"] == 2


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        (
            "raise SystemExit('no token is set')",
            (),
            "ended before it answered initialize (exit status 1); it wrote: no token",
        ),
        (SERVER, ("[]",), "lists no tool"),
        ("openapi: 3.0.0", (), "ended before it answered initialize"),
    ],
)
async def test_a_server_that_dies_or_has_nothing_is_told(
    tmp_path: Path, text: str, words: tuple[str, ...], told: str
):
    ended = await wildtool("tools", "lint", command(tmp_path / "server.py", text, *words), cwd=tmp_path)
    assert ended.status == 2
    assert told in " ".join(ended.err.split())
    assert "Traceback" not in ended.err.replace("it wrote: Traceback", "")


async def test_what_is_no_source_is_told(tmp_path: Path):
    (tmp_path / "openapi.json").write_text('{"openapi": "9.1", "paths": {}}')
    for source, told in (
        ("openapi.json", "the document says version '9.1'"),
        ("nothing.json", "there is no such file; give tools"),
        ("mcp:no-such-command-here", "cannot be started"),
        ("http://127.0.0.1:9/mcp", "initialize was not answered"),
        ("http://127.0.0.1:9/a b", "URL can't contain control characters"),
    ):
        ended = await wildtool("tools", "lint", source, cwd=tmp_path)
        assert ended.status == 2, source
        assert told in " ".join(ended.err.split())


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path):
    with pytest.raises(DataError, match=r"no answer to initialize in 0\.2 s"):
        server_tools(command(tmp_path / "server.py", "import time; time.sleep(60)"), 0.2)


@pytest.mark.parametrize("text", ["while True: print('{}', flush=True)", "while True: print('{}' * 9999)"])
def test_a_server_that_says_other_things_without_end_is_given_up(tmp_path: Path, text: str):
    before = set(threading.enumerate())
    with pytest.raises(DataError, match=r"no answer to initialize in 0\.2 s"):
        server_tools(command(tmp_path / "server.py", text), 0.2)
    for reader in set(threading.enumerate()) - before:
        reader.join(timeout=20)
        assert not reader.is_alive()


@contextmanager
def serving(
    answers: dict[str, Any], *, stream: bool = False, endless: bool = False
) -> Iterator[tuple[str, list[Any]]]:
    """An MCP server at an address, perhaps one that never ends its answer, and the session that each request names."""
    sessions: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            sessions.append(self.headers.get("Mcp-Session-Id"))
            answer = answers.get(asked["method"], {"result": {}})
            body = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), **answer}).encode()
            body = b"event: message\ndata: " + body + b"\n\n" if stream else body
            self.send_response(200)
            if endless:
                self.end_headers()
                with suppress(OSError):
                    while True:
                        self.wfile.write(b": wait\n")
                return
            self.send_header("Mcp-Session-Id", "s1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", sessions
    finally:
        server.shutdown()
        server.server_close()


def test_an_address_whose_answer_does_not_end_is_given_up():
    with serving({}, endless=True) as (url, _), pytest.raises(DataError, match=r"initialize .*does not end"):
        server_tools(url, 0.2)


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_at_an_address_lists_its_tools(stream: bool):
    with serving({"tools/list": {"result": {"tools": TOOLS}}}, stream=stream) as (url, sessions):
        assert server_tools(url) == TOOLS
    assert sessions == [None, "s1", "s1"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (
            {"initialize": {"error": {"code": -32602, "message": "old version"}}},
            "initialize was refused: old version",
        ),
        ({"tools/list": {"result": {"tool": []}}}, "gave no list `tools`"),
        ({"tools/list": {"result": {"tools": [], "nextCursor": "x"}}}, "never ends"),
    ],
)
def test_an_address_that_answers_otherwise_is_told(answers: dict[str, Any], told: str):
    with serving(answers) as (url, _), pytest.raises(DataError, match=told):
        server_tools(url)
