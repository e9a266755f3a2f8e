"""A redirect to another host gets nothing: no key, no body, no second request; the failure says where it pointed."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from faults.attacker import Attacker
from wildtool.data.embeddings import endpoint_encode
from wildtool.errors import CallError, DataError, UsageError
from wildtool.models.headers import parse_headers
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.scale.servers import ModelServer
from wildtool.tools.sources.mcp import server_tools
from wildtool.types import Request

STATUSES = [301, 302, 303, 307, 308]


@pytest.fixture
def attacker() -> Iterator[Attacker]:
    with Attacker().at_work() as peer:
        yield peer


@contextmanager
def redirecting(status: int, place: str) -> Iterator[str]:
    """The address of a server that redirects everything."""

    class Redirects(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Location", place)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *words: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Redirects)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("status", STATUSES)
async def test_a_model_is_asked_at_no_other_host(status: int, attacker: Attacker):
    with redirecting(status, f"{attacker.address}/v1/chat/completions") as url:
        headers = parse_headers(["X-Team=canary"])
        model = OpenAIModel("m", f"{url}/v1", "sk-canary-0451-long", extra_headers=headers)
        with pytest.raises(CallError, match=attacker.address):
            await model.complete(Request([{"role": "user", "content": "a secret"}]))
        await model.close()
    assert attacker.heard == []


@pytest.mark.parametrize("status", STATUSES)
def test_an_mcp_server_is_asked_at_no_other_host(
    status: int, attacker: Attacker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MCP_TOKEN", "sk-canary-0451-long")
    headers = parse_headers(["Authorization=env:MCP_TOKEN"])
    with redirecting(status, attacker.address) as url, pytest.raises(DataError, match=attacker.address):
        server_tools(url, headers=headers)
    assert attacker.heard == []


@pytest.mark.parametrize("status", STATUSES)
def test_an_encoder_is_asked_at_no_other_host(
    status: int, attacker: Attacker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WILDTOOL_ENCODER_API_KEY", "sk-canary-0451-long")
    with redirecting(status, attacker.address) as url, pytest.raises(UsageError, match=attacker.address):
        endpoint_encode(f"{url}/v1#m")(["a secret"])
    assert attacker.heard == []


async def test_a_server_of_a_worker_is_looked_for_at_no_other_host(attacker: Attacker, tmp_path: Path):
    with redirecting(302, attacker.address) as url:
        server = ModelServer("sleep 60", f"{url}/v1", tmp_path / "log")
        with server:
            await asyncio.to_thread(server.wait)  # it answers, whatever it says
    assert attacker.heard == []
