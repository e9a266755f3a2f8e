"""An endpoint on this machine at which a scripted model answers, for commands that are typed in tests."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Answer = Callable[[Body], dict[str, Any] | None]
"""The assistant message to a request; with the key `finish_reason` if it is not `stop`. None refuses the request."""


@contextmanager
def teaching(answer: Answer, fails_after: int = 1 << 30) -> Iterator[tuple[str, list[Body]]]:
    """The options that name the endpoint, and the body of each request that it received.

    Args: fails_after: how many requests it answers before it refuses all others.
    """
    received: list[Body] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            return

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.append(body)
            answered = None if len(received) > fails_after else answer(body)
            said = {"error": {"message": "no"}} if answered is None else _completion(answered)
            data = json.dumps(said).encode()
            self.send_response(500 if answered is None else 200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"--base-url http://127.0.0.1:{server.server_port}/v1", received
    finally:
        server.shutdown()
        server.server_close()


def _completion(message: dict[str, Any]) -> dict[str, Any]:
    reason = message.pop("finish_reason", "tool_calls" if message.get("tool_calls") else "stop")
    return {
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 90, "completion_tokens": 3},
    }
