"""An endpoint at which scripted models answer; the model's name is the role."""

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from e2e.command import END_S, ended, start
from generate.scripted import Scripted
from wildtool.types import Request


class Gate(threading.Event):
    """Open while it is set; closed, it lets only the first calls through."""

    def __init__(self, let_through: int = 1 << 30) -> None:
        super().__init__()
        self.let_through = let_through
        self.reached = threading.Event()
        """Set by the next call."""
        self.set()


class _Endpoint(BaseHTTPRequestHandler):
    """Chat completions by the players."""

    players: Scripted
    asked: list[dict[str, Any]]
    gate: Gate
    refuse: tuple[int, int]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        if len(self.asked) > self.gate.let_through:
            self.gate.reached.set()
            self.gate.wait()
        after, status = self.refuse
        if len(self.asked) > after:
            self._send(status, b'{"error": {"message": "no such luck"}}')
            return
        messages = body["messages"]
        said = self.players.said(body["model"], messages, Request(messages))
        choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 3}
        answer = json.dumps({"choices": [choice], "usage": usage}).encode()
        self._send(200, answer)

    def _send(self, status: int, answer: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        return


@contextmanager
def served(
    players: Scripted,
    asked: list[dict[str, Any]],
    gate: Gate,
    refuse: tuple[int, int] = (1 << 30, 200),
) -> Iterator[str]:
    """Serves the players; gives the address.

    Args:
        asked: takes the body of each request.
        refuse: after so many calls all others get this status.
    """
    bound = {"players": players, "asked": asked, "gate": gate, "refuse": refuse}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Endpoint,), bound))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def kill_at(gate: Gate, asked: list[dict[str, Any]], line: str) -> None:
    """Starts a command, and kills it once the gate has been closed to one of its calls."""

    async def killed() -> int:
        process = await start(*line.split(), cwd=Path.cwd())
        assert await asyncio.to_thread(gate.reached.wait, END_S)
        process.kill()
        return (await ended(process)).status

    asked.clear()
    gate.clear()
    gate.reached.clear()
    assert asyncio.run(killed()) == -signal.SIGKILL
    gate.set()
