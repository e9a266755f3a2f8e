"""Seconds for 128 calls where a server refuses some at random, without Retry-After; and requests sent where it has a
quota. `random_429.py serve SHARE` and `random_429.py serve quota` are the servers."""

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import urlopen

from loopback import baseline_python
from measure import Line, in_turns, main, report

CALLS, AT_ONCE = 128, 32
ANSWER_S = 0.05
"""What the server takes for each request, answered or refused."""
QUOTA_PER_S, QUOTA_AT_ONCE = 10.0, 10
"""Calls that the server with a quota answers."""
SHARES = ("0.05", "0.15", "0.3")
MOST_TIMES_SDK = 1.5
"""How many times the SDK's seconds ours may take."""


def measure(repeats: int) -> list[Line]:
    try:
        sdk = baseline_python()
    except subprocess.CalledProcessError:
        print("random_429.py: openai is not installed and cannot be, so nothing is compared", file=sys.stderr)
        return []
    lines: list[Line] = []
    for gate in (*SHARES, "quota"):
        ours, theirs = in_turns(
            partial(play, [sys.executable, __file__, "ours"], gate),
            partial(play, [sdk, Path(__file__).with_name("play_openai_retrying.py")], gate),
            repeats,
        )
        seconds = [figures["wall_s"] for figures in theirs]
        what = (
            "10 calls a second allowed" if gate == "quota" else f"{100 * float(gate):.0f} % refused at random"
        )
        lines.append(
            Line(
                what=f"{CALLS} calls, {AT_ONCE} at once, {what}, no Retry-After",
                unit="s",
                ours=[figures["wall_s"] for figures in ours],
                versus="openai SDK with retries",
                baseline=seconds,
                target=MOST_TIMES_SDK * median(seconds),
            )
        )
        if gate == "quota":
            requests = [figures["requests"] for figures in theirs]
            lines.append(
                Line(
                    what=f"requests sent for these {CALLS} calls",
                    unit="requests",
                    ours=[figures["requests"] for figures in ours],
                    versus="openai SDK with retries",
                    baseline=requests,
                    target=2 * CALLS,
                )
            )
    return lines


def play(player: list[str | Path], gate: str) -> dict[str, Any]:
    """The figures of one player against a new server, with the requests that reached it."""
    with serving(gate) as url:
        figures = report([*player, url, str(CALLS), str(AT_ONCE)])
        with urlopen(f"{url}/requests") as answer:
            return figures | {"requests": int(answer.read())}


@contextmanager
def serving(gate: str) -> Generator[str]:
    """The server while the context is open; gives its base URL."""
    with subprocess.Popen(
        [sys.executable, __file__, "serve", gate], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


class Gate:
    """Decides which requests are refused, and counts all."""

    def __init__(self, gate: str) -> None:
        self.requests = 0
        self._share = None if gate == "quota" else float(gate)
        self._random = random.Random(3)
        self._left, self._at = float(QUOTA_AT_ONCE), time.monotonic()
        self._lock = threading.Lock()

    def refuses(self) -> bool:
        with self._lock:
            self.requests += 1
            if self._share is not None:
                return self._random.random() < self._share
            now = time.monotonic()
            self._left = min(QUOTA_AT_ONCE, self._left + QUOTA_PER_S * (now - self._at))
            self._at = now
            if self._left < 1:
                return True
            self._left -= 1
            return False


ANSWER = {
    "id": "a",
    "object": "chat.completion",
    "model": "loopback",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10},
}


class Handler(BaseHTTPRequestHandler):
    """Answers or refuses; `gate` is set before it serves."""

    protocol_version = "HTTP/1.1"
    gate: Gate

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self._send(200, str(self.gate.requests).encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(ANSWER_S)
        if self.gate.refuses():
            self._send(429, b'{"error": {"message": "Rate limit reached"}}')
        else:
            self._send(200, json.dumps(ANSWER).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    request_queue_size = 256


def serve(gate: str) -> None:
    Handler.gate = Gate(gate)
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def play_ours(base_url: str, calls: str, at_once: str) -> None:
    """A whole run of as many one-step tasks, recorded and judged."""
    from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
    from wildtool.data.data_set import data_of
    from wildtool.engine.plan import Plan
    from wildtool.engine.run.runner import run_plan
    from wildtool.models.providers.openai_chat import OpenAIModel

    plan = Plan(
        benchmark=WILDTOOLBENCH,
        source=data_of(WILDTOOLBENCH).locate("wild-mini"),
        models={"agent": OpenAIModel("loopback", base_url, "EMPTY")},
        profile="official",
        concurrency=int(at_once),
    )
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        result = run_plan(plan, Path(out, "run"), command=["bench"])
        wall = time.perf_counter() - began
    assert result.counts.units == int(calls) and result.counts.infra_error == 0, result
    print(json.dumps({"wall_s": wall}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2])
    elif sys.argv[1:2] == ["ours"]:
        play_ours(*sys.argv[2:])
    else:
        main(measure)
