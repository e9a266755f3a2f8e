"""Plays the scenes of docs/first-hour.md against a scripted server, and writes their screens into the page.

The server knows the gold answers of wild-mini, so that what goes wrong is the endpoint's fault alone. Each screen is what
the command above it leaves on 80 columns, without times and earlier states of the live line.
"""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.episode import gold_replies
from wildtool.tool_formats import CALL_FORMATS, ToolCall
from wildtool.types import Message

PAGE = Path(__file__).parent / "first-hour.md"
Answer = Callable[[int, Message, Sequence[Message]], tuple[int, dict[str, Any]]]
"""HTTP status and body for the number of a request, from 1, the gold answer to it, and its messages."""
_BASE = "http://127.0.0.1:8000/v1"


def gold_answers() -> Mapping[str, Message]:
    """The gold answer to each request of wild-mini, by its messages."""
    rules = WILD_MINI.rules("official")
    answers: dict[str, Message] = {}
    for item in WILD_MINI.load(WILD_MINI.data.locate(None)):
        for unit in item.units:
            episode = rules.episode(item, unit)
            for reply in gold_replies(rules.episode(item, unit), "parallel") or ():
                request = episode.request()
                assert request is not None
                answers[_key(request.messages)] = reply
                episode.advance(reply)
    return answers


def completion(message: Mapping[str, Any], reason: str | None = None) -> tuple[int, dict[str, Any]]:
    reason = reason or ("tool_calls" if message.get("tool_calls") else "stop")
    usage = {"prompt_tokens": 900, "completion_tokens": 40}
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return 200, {"model": "my-model", "choices": [choice], "usage": usage}


def as_text(message: Message) -> Message:
    """The calls of a reply as a server without a parser leaves them."""
    calls = [
        ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or ()
    ]
    return {"content": CALL_FORMATS["hermes"].write_calls(calls)} if calls else message


def cut(message: Message) -> tuple[int, dict[str, Any]]:
    text = message.get("content") or ""
    calls = message.get("tool_calls") or ()
    if not calls:
        return completion({"content": text[:40]}, "length" if len(text) > 40 else None)
    first = calls[0]["function"]
    if len(first["arguments"]) <= 45:
        return completion(message)
    function = {**first, "arguments": first["arguments"][:45]}
    return completion({"content": None, "tool_calls": [{**calls[0], "function": function}]}, "length")


def context_length(number: int, gold: Message, messages: Sequence[Message]) -> tuple[int, dict[str, Any]]:
    words = "This model's maximum context length is 2048 tokens. However, you requested 2319 tokens."
    return (400, {"error": {"message": words, "code": 400}}) if number % 3 == 0 else completion(gold)


def quota(number: int, gold: Message, messages: Sequence[Message]) -> tuple[int, dict[str, Any]]:
    words = "You exceeded your current quota, please check your plan and billing details."
    return 429, {"error": {"message": words, "type": "insufficient_quota", "code": "insufficient_quota"}}


def with_arguments(message: Message, write: Callable[[str], Any]) -> Message:
    """A reply with the arguments of its calls in another encoding."""
    calls = message.get("tool_calls")
    if not calls:
        return message
    functions = [call["function"] for call in calls]
    written = [{**function, "arguments": write(function["arguments"])} for function in functions]
    return {
        **message,
        "tool_calls": [{**call, "function": function} for call, function in zip(calls, written, strict=True)],
    }


def thinking(
    gold: Message, messages: Sequence[Message], is_enough: Callable[[Any], bool]
) -> tuple[int, dict[str, Any]]:
    """A model in a thinking mode that wants the reasoning of all earlier replies."""
    for place, message in enumerate(messages):
        if message["role"] == "assistant" and not is_enough(message.get("reasoning_content")):
            words = f"Missing `reasoning_content` field in the assistant message at message index {place}."
            return 400, {"error": {"message": words, "type": "invalid_request_error"}}
    return completion({**gold, "reasoning_content": "The user wants something."})


def refusing_results(
    gold: Message, messages: Sequence[Message], status: int, words: str
) -> tuple[int, dict[str, Any]]:
    """A server whose chat template has no place for results of tools."""
    if any(message["role"] == "tool" for message in messages):
        return status, {"error": {"message": words, "type": "server_error", "code": status}}
    return completion(gold)


SCENES: Mapping[str, tuple[Answer, str]] = {
    "dies": (
        lambda number, gold, messages: completion(gold) if number <= 40 else (503, {}),
        "--retries 0",
    ),
    "no-parser": (lambda number, gold, messages: completion(as_text(gold)), ""),
    "cut": (lambda number, gold, messages: cut(gold), "--max-tokens 16"),
    "context": (context_length, ""),
    "quota": (quota, ""),
    "objects": (lambda number, gold, messages: completion(with_arguments(gold, json.loads)), ""),
    "twice": (lambda number, gold, messages: completion(with_arguments(gold, json.dumps)), ""),
    "thinking": (
        lambda number, gold, messages: thinking(gold, messages, lambda text: text is not None),
        "",
    ),
    "thinking-strict": (lambda number, gold, messages: thinking(gold, messages, bool), ""),
    "results": (
        lambda number, gold, messages: refusing_results(gold, messages, 500, "Jinja: unsupported role tool"),
        "--retries 1",
    ),
}
"""Scene to what the server answers, and the options beside model and address."""


@contextmanager
def serving(answer: Answer, answers: Mapping[str, Message]) -> Iterator[str]:
    """The address of a server that answers so."""
    received = 0
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        """Head and body leave together: the body would wait for the other side's late acknowledgement of the head."""

        def log_message(self, format: str, *args: object) -> None:
            return

        def do_POST(self) -> None:
            nonlocal received
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                received += 1
                number = received
            messages = body["messages"]
            status, reply = answer(
                number, answers.get(_key(messages), {"content": "I cannot help."}), messages
            )
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def screens() -> Mapping[str, str]:
    """By scene the commands and what they show."""
    answers = gold_answers()
    shown: dict[str, str] = {}
    with TemporaryDirectory() as place:
        for name, (answer, options) in SCENES.items():
            with serving(answer, answers) as address:
                command = (
                    f"wildtool run wild-mini -m my-model --base-url {_BASE} -j 1 {options} -o runs/{name}"
                )
                shown[name] = _screen(" ".join(command.split()), address, Path(place))
        with serving(lambda number, gold, messages: completion(gold), answers) as address:
            _screen(
                f"wildtool run wild-mini -m my-model --base-url {_BASE} -o runs/well", address, Path(place)
            )
        shown["compare"] = _screen("wildtool compare runs/well runs/dies", "", Path(place))
    return shown


def _screen(command: str, address: str, place: Path) -> str:
    words = [word.replace(_BASE, address) for word in command.split()]
    words[0] = str(Path(sys.executable).with_name("wildtool"))
    ended = subprocess.run(
        words,
        cwd=place,
        env={**os.environ, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    # Lines of progress have the time before them, as this output is piped.
    lines = [re.sub(r"^\d\d:\d\d:\d\d ", "", line.rstrip()) for line in ended.stdout.splitlines()]
    progress = [line for line in lines if re.match(r"my-model: \d+/\d+ tasks", line)]
    text = "\n".join(line for line in lines if line not in progress[:-1])
    if address:
        text = text.replace(address, _BASE)
    text = re.sub(r" · [\d.,]+ calls/s", "", text)
    text = re.sub(r"\b\d+(\.\d+)? (m?s|min)\b", "… s", text)
    return f"$ {command}\n{text.strip()}\n$ echo $?\n{ended.returncode}\n"


def _key(messages: Any) -> str:
    return json.dumps(
        [[m.get("role"), m.get("content"), m.get("tool_calls")] for m in messages], sort_keys=True
    )


def written(page: str, shown: Mapping[str, str]) -> str:
    """The page with each screen in its block, which a comment names."""
    for name, screen in shown.items():
        block = re.compile(rf"(<!-- screen: {name} -->\n```text\n).*?(```)", re.DOTALL)
        assert block.search(page), name
        page = block.sub(lambda match, screen=screen: match[1] + screen + match[2], page)
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), screens()), encoding="utf-8")
