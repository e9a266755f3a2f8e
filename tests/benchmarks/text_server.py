"""A server on this machine that answers completions and embeddings, for commands that are typed in tests."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Call = tuple[str, dict[str, Any]]


def vector(text: str) -> list[float]:
    """How often each letter occurs in a text."""
    return [0.01 + len(re.findall(letter, text.lower())) for letter in "abcdefghijklmnopqrstuvwxyz"]


@contextmanager
def serving(text: str) -> Iterator[tuple[str, list[Call]]]:
    """Base URL of a server that says this text, and the path and body of each call it has received."""
    received: list[Call] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.append((self.path, body))
            choice = {"index": 0, "text": text, "message": {"content": text}, "finish_reason": "stop"}
            data = [{"index": n, "embedding": vector(one)} for n, one in enumerate(body.get("input", ()))]
            answer = json.dumps({"data": data} if data else {"choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", received
    finally:
        server.shutdown()
        server.server_close()
