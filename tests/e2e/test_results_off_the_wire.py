"""The schema of a tool's results, which MCP, OpenAPI and others give, is sent to no model: no API has a place for it."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.command import contents, wildtool
from faults.batch_server import BatchServer
from generate.sessions.players import TOOLS, Players
from generate.sessions.test_maker import made
from models.peers import PROTOCOLS, Body, Peer
from wildtool.types import Message

KEY = "sk-peer-7d21f0c4"
RESULT = {"type": "object", "properties": {"canary_height": {"type": "number"}}}
TAKES = {
    "type": "object",
    "properties": {"harbour": {"type": "string", "description": "Name of the harbour"}},
    "required": ["harbour"],
}
ABOUT = {"name": "get_tides", "description": "Lists the tides of a harbour by day"}
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Tides", "version": "1"},
    "paths": {
        "/tides": {
            "get": {
                "operationId": "get_tides",
                "description": ABOUT["description"],
                "parameters": [
                    {"name": "harbour", "in": "query", "required": True, "schema": {"type": "string"}}
                ],
                "responses": {
                    "200": {"description": "", "content": {"application/json": {"schema": RESULT}}}
                },
            }
        }
    },
}
SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = json.load(open(sys.argv[1])) if asked["method"] == "tools/list" else {}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
MCP = {**ABOUT, "inputSchema": TAKES, "outputSchema": RESULT}
FILES: dict[str, Any] = {
    "mcp": {"tools": [MCP]},
    "openapi": OPENAPI,
    "openai": [{"type": "function", "function": {**ABOUT, "parameters": TAKES, "returns": RESULT}}],
    "bare": [{**ABOUT, "parameters": TAKES, "output_schema": RESULT}],
    "gemini": [{"functionDeclarations": [{**ABOUT, "parameters": TAKES, "response": RESULT}]}],
}


def source(kind: str, folder: Path) -> str:
    """A source with one tool whose results have a schema."""
    file, server = folder / "tools.json", folder / "server.py"
    file.write_text(json.dumps(FILES["mcp" if kind == "server" else kind]))
    server.write_text(SERVER)
    return f"mcp:{shlex.join([sys.executable, str(server), str(file)])}" if kind == "server" else file.name


def says_nothing(body: Body, digest: str) -> Message:
    return {"role": "assistant", "content": "Which harbour?"}


def words(peer: Peer | BatchServer) -> list[str]:
    address = ["--base-url", peer.base_url, "--api-key-env", "PEER_KEY", "--no-check", "-q"]
    return ["--model", peer.protocol.prefix, *address]


def check(peer: Peer, folder: Path) -> None:
    """What was sent has the tool and not the schema of its results, which is not recorded as sent either."""
    assert peer.mistakes == []
    bodies = [bytes(body).decode() for body in peer.bodies]
    assert bodies and all("get_tides" in body and "harbour" in body for body in bodies)
    assert not any("canary_height" in body for body in bodies)
    written = {path: text for path, text in contents(folder).items() if "out" in str(path)}
    assert written and not any(b"canary_height" in text for text in written.values())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.jsonl").write_text('{"request": "High tide in Harwich?", "tool": "get_tides"}\n')
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("kind", [*FILES, "server"])
async def test_no_source_of_tools_sends_it(kind: str, folder: Path):
    async with Peer("chat", says_nothing) as peer:
        asked = ("tools", "try", source(kind, folder), "--requests", "mine.jsonl", "-o", "out")
        ended = await wildtool(*asked, *words(peer), cwd=folder, PEER_KEY=KEY)
    assert ended.status == 0, ended.err
    check(peer, folder)


@pytest.mark.long
@pytest.mark.parametrize("form", [(), ("--tool-format", "hermes")], ids=["native", "as text"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_no_protocol_sends_it(protocol: str, form: tuple[str, ...], folder: Path):
    async with Peer(protocol, says_nothing) as peer:
        asked = ("tools", "try", source("mcp", folder), "--requests", "mine.jsonl", "-o", "out")
        ended = await wildtool(*asked, *form, *words(peer), cwd=folder, PEER_KEY=KEY)
    assert ended.status == 0, ended.err
    check(peer, folder)


@pytest.mark.parametrize("protocol", ["chat", "anthropic", "responses"])
async def test_no_batch_sends_it(protocol: str, folder: Path):
    prepared = await wildtool(
        "tools", "try", source("mcp", folder), "--requests", "mine.jsonl", "-o", "out", cwd=folder
    )
    assert prepared.status == 0, prepared.err
    async with BatchServer(protocol, says_nothing) as server:
        server.polls = 0
        asked = ("run", "own-tools", "--data", "out/tools.json", "--batch", "-o", "out/run")
        ended = await wildtool(*asked, *words(server), cwd=folder, PEER_KEY=KEY)
        sent = [body for batch in server.batches.values() for body in batch.requests.values()]
    assert ended.status == 0, ended.err
    assert server.mistakes == []
    assert sent and all("get_tides" in json.dumps(body) for body in sent)
    assert "canary_height" not in json.dumps(sent)


async def test_tools_that_fill_a_catalogue_are_sent_without_it(folder: Path):
    async with Peer("chat", says_nothing) as peer:
        others = ("--among", 8, "--among-tools", source("mcp", folder), "--limit", 2, "-o", "out")
        ended = await wildtool("run", "wild-mini", *others, *words(peer), cwd=folder, PEER_KEY=KEY)
    assert ended.status == 0, ended.err
    bodies = b"".join(map(bytes, peer.bodies))
    assert b"get_tides" in bodies and b"canary_height" not in bodies


def test_sets_are_checked_by_it_and_show_it_to_none_that_calls(tmp_path: Path):
    described = [{**tool, "function": {**tool["function"], "returns": RESULT}} for tool in TOOLS]
    (tmp_path / "described.json").write_text(json.dumps(described))
    players = Players()
    _, found = made(tmp_path, players, sessions=2, tools=tmp_path / "described.json")
    assert {loss["reason"] for loss in found.losses} == {"tool T9"}, "results have other fields"
    asked = [request for request in players.asked if request.role != "tool"]
    assert asked
    assert not any("canary_height" in json.dumps([*each.messages, *each.tools]) for each in asked)
