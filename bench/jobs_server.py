"""A scripted server of chat completions for `jobs.py`: two checkpoints of a shop's assistant, and four planted faults.

`python bench/jobs_server.py ANSWERS` prints its port. ANSWERS is a JSON file: by model, by what the user said, the
message of the reply. The path of the address says which fault it has:

    /ok/v1           none
    /key/v1          every key is refused, with status 401
    /parser/v1       calls come as text, as from a server without a tool parser
    /failures/v1     15 % of the calls fail with status 500, whoever asks again
    /third/v1        a third of the calls fail
    /cut/v1          replies end in the middle, with `finish_reason: length`
    /slow/v1         each call takes two seconds, so that there is something to kill

`/asked` says how many completions were asked for so far.
"""

import json
import sys
import time
from collections import Counter
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ANSWERS: dict[str, dict[str, Any]] = {}
TRIES: Counter[str] = Counter()
SHARES = {"failures": 0.15, "third": 1 / 3}


class Handler(BaseHTTPRequestHandler):
    """Answers one request after the other on a connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/asked":
            self.send(200, sum(TRIES.values()))
            return
        data = [{"id": model, "object": "model"} for model in ANSWERS]
        self.send(200, {"object": "list", "data": data})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = self.path.split("/")[1]
        if fault == "key":
            self.send(401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
        elif fails(fault, body):
            self.send(500, {"error": {"message": "the server had an error"}})
        else:
            time.sleep(2.0 if fault == "slow" else 0.0)
            self.send(200, completion(fault, body))

    def send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        return


class Server(ThreadingHTTPServer):
    """Says nothing of clients that hang up: one of the faults is that they are killed."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def fails(fault: str, body: dict[str, Any]) -> bool:
    """Whether this try fails: by request and try, so that each program meets the same share."""
    request = json.dumps([body["model"], body["messages"]])
    TRIES[request] += 1
    drawn = int(sha256(f"{request} {TRIES[request]}".encode()).hexdigest()[:8], 16) / 0x1_0000_0000
    return drawn < SHARES.get(fault, 0)


def completion(fault: str, body: dict[str, Any]) -> dict[str, Any]:
    """The completion of a request."""
    said = next(m["content"] for m in reversed(body["messages"]) if m["role"] == "user")
    text = said if isinstance(said, str) else "".join(part.get("text", "") for part in said)
    message = ANSWERS[body["model"]].get(text.strip(), {"role": "assistant", "content": "Hello."})
    calls = message.get("tool_calls") or []
    reason = "tool_calls" if calls else "stop"
    if calls and fault == "parser":
        written = (
            {"name": c["function"]["name"], "arguments": json.loads(c["function"]["arguments"])}
            for c in calls
        )
        content = "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in written)
        message, reason = {"role": "assistant", "content": content}, "stop"
    if fault == "cut":
        message, reason = {"role": "assistant", "content": "Let me think about wh"}, "length"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320},
    }


if __name__ == "__main__":
    ANSWERS.update(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
