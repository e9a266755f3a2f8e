"""A loopback server that speaks chat completions: right, wrong, late, half, or not at all.

In a test: `async with FaultServer("mix:0.3") as server: ... server.base_url ... server.asked`.
As a process: `python tests/faults/server.py --port 0 --behaviour ok --delay-ms 200` prints its port.

It writes bytes to sockets itself, so that an answer can be cut anywhere and the server stays cheap beside a
measured client. `/log` (in a test: `asked`, `answered`) tells what was asked how often. Behaviours:

    ok               an answer that depends on the request only: a text, or calls of some offered tools
    constant         always the same text; keeps no log
    gold:FILE        what FILE (JSON: request digest -> message) says, else HTTP 404
    calls            always one call of the first offered tool
    NAME             any key of `FAILURES` or `HOSTILE`, at every call
    NAME:SECONDS     `429` with that Retry-After
    mix:SHARE        a failure for that share of the calls, chosen by digest, try and --seed; else ok
    hostile:SHARE    the same with hostile messages
    faults-then-ok:K each request fails K times, then ok
    A+B              where A would answer ok, B answers: `mix:0.3+gold:FILE`
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Any, Self

PHRASES = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True)
class Call:
    """One request as the server read it."""

    body: dict[str, Any]
    digest: str
    attempt: int
    """How often this model has sent this request before, from 0."""
    authorization: str
    seed: int

    def chance(self, purpose: str) -> float:
        """A number from 0 to 1 made of seed, request and try, whatever the order of arrival."""
        text = f"{self.seed} {purpose} {self.digest} {self.attempt}"
        return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 0x1_0000_0000


@dataclass(frozen=True, slots=True)
class Answer:
    """The bytes that go out; `close` hangs up after them, None instead of bytes says nothing at all."""

    payload: bytes | None
    close: bool = False


Behaviour = Callable[[Call], Answer]


def request_digest(messages: Sequence[Any]) -> str:
    """16 hex digits of the SHA-256 of the messages as compact JSON with sorted keys, whoever is asked."""
    text = json.dumps(messages, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def http(status: int, body: bytes, *headers: str, kind: str = "application/json", length: int = 0) -> bytes:
    """An HTTP answer; `length` claims another Content-Length than the body has."""
    lines = [
        f"HTTP/1.1 {status} {PHRASES.get(status, 'Error')}",
        f"Content-Type: {kind}",
        f"Content-Length: {length or len(body)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def completion(message: str) -> bytes:
    """A chat completion around a message given as JSON text, which need not be sound."""
    return (
        '{"id":"chatcmpl-1","object":"chat.completion","created":1750000000,"model":"loopback","choices":[{"index":0,'
        f'"message":{message},"finish_reason":"stop"}}],'
        '"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}'
    ).encode()


def _with_arguments(arguments: str) -> str:
    """A message with one call whose `arguments` are the given JSON text."""
    call = '{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":' + arguments + "}}"
    return '{"role":"assistant","content":null,"tool_calls":[' + call + "]}"


def _refusal(status: int, message: str, *headers: str) -> bytes:
    return http(status, json.dumps({"error": {"message": message, "code": status}}).encode(), *headers)


GOOD = completion('{"role":"assistant","content":"Good.","tool_calls":null}')
NESTED = "[" * 5000 + "]" * 5000

FAILURES: dict[str, Answer] = {
    "429": Answer(_refusal(429, "slow down")),
    "500": Answer(_refusal(500, "broken")),
    "502": Answer(http(502, b"<html><h1>502 Bad Gateway</h1></html>", kind="text/html")),
    "half-body": Answer(http(200, GOOD[:40], length=len(GOOD)), close=True),
    "not-json": Answer(http(200, GOOD[:40])),
    "no-choices": Answer(http(200, b'{"id":"chatcmpl-1"}')),
    "choices-dict": Answer(http(200, b'{"choices":{"0":{}}}')),
    "choices-empty": Answer(http(200, b'{"choices":[]}')),
    "message-text": Answer(http(200, completion('"hello"'))),
    "message-null": Answer(http(200, completion("null"))),
    "message-missing": Answer(http(200, b'{"choices":[{"index":0}]}')),
    "error-in-200": Answer(http(200, b'{"error":{"message":"upstream broke"}}')),
    "429-in-200": Answer(http(200, b'{"error":{"message":"slow down","code":429}}')),
    "error-in-choice": Answer(
        http(200, GOOD.replace(b'"index":0', b'"index":0,"error":{"code":502,"message":"died"}'))
    ),
    "error-beside-choices": Answer(http(200, GOOD[:-1] + b',"error":{"message":"upstream broke"}}')),
    "error-finish": Answer(http(200, GOOD.replace(b'"finish_reason":"stop"', b'"finish_reason":"error"'))),
    "closed": Answer(b"", close=True),
    "no-http": Answer(b"220 mail.example.org ESMTP\r\n\r\n", close=True),
}
"""Answers that are a failed call, which another try may cure."""

FAILED = frozenset(FAILURES.values())

HOSTILE: dict[str, str] = {
    "huge-content": json.dumps({"role": "assistant", "content": "x" * 10_000_000}),
    "content-list": '{"role":"assistant","content":[{"type":"text","text":"hi"}]}',
    "content-number": '{"role":"assistant","content":7}',
    "arguments-null": _with_arguments("null"),
    "arguments-object": _with_arguments('{"city":"Oslo"}'),
    "arguments-list": _with_arguments('["Oslo"]'),
    "arguments-number": _with_arguments("7"),
    "arguments-text": _with_arguments('"the weather in Oslo"'),
    "arguments-duplicate-keys": _with_arguments(r'"{\"city\": \"Oslo\", \"city\": \"Rome\"}"'),
    "arguments-nan": _with_arguments(r'"{\"degrees\": NaN}"'),
    "arguments-nan-object": _with_arguments('{"degrees":NaN}'),
    "arguments-nested": _with_arguments(json.dumps(NESTED)),
    "arguments-surrogate": _with_arguments(r'"{\"city\": \"\ud800\"}"'),
    "arguments-big-integer": _with_arguments('{"id":123456789012345678901234567890}'),
    "ids-missing": '{"role":"assistant","tool_calls":[{"function":{"name":"get_weather","arguments":"{}"}}]}',
    "tool-calls-dict": '{"role":"assistant","content":null,"tool_calls":{"name":"get_weather"}}',
    "tool-calls-text": '{"role":"assistant","content":null,"tool_calls":"get_weather()"}',
    "empty-message": "{}",
}
"""Messages (as JSON text) that arrive well and are the judge's business."""

YEAR_3000 = 32_503_680_000
_VALUES = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}


def _call_of(tool: dict[str, Any], number: int) -> dict[str, Any]:
    function = tool["function"]
    parameters = function.get("parameters") or {}
    properties = parameters.get("properties") or {}
    required = [name for name in parameters.get("required") or [] if name in properties]
    arguments = {name: _VALUES.get(str(properties[name].get("type")), "x") for name in required}
    called = {"name": function["name"], "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": called}


def _message(calls: list[dict[str, Any]], text: str) -> Answer:
    message = {"role": "assistant", "content": None if calls else text, "tool_calls": calls or None}
    return Answer(http(200, completion(json.dumps(message))))


def ok(call: Call) -> Answer:
    """A text for two requests in five, else calls of one or two offered tools; the messages alone decide."""
    tools = call.body.get("tools") or []
    number = int(call.digest, 16)
    how_many = min((0, 0, 1, 1, 2)[number % 5], len(tools))
    first = (number >> 8) % max(1, len(tools))
    return _message([_call_of(tools[first - i], i) for i in range(how_many)], f"It is {call.digest}.")


def calls(call: Call) -> Answer:
    """One call of the first offered tool, for ever."""
    return _message([_call_of(tool, 0) for tool in (call.body.get("tools") or [])[:1]], "No tool.")


def gold(file: str) -> Behaviour:
    """Answers by request digest from a JSON file."""
    messages = json.loads(Path(file).read_text("utf-8"))
    answers = {digest: Answer(http(200, completion(json.dumps(m)))) for digest, m in messages.items()}
    unknown = Answer(_refusal(404, "no gold answer for this request"))
    return lambda call: answers.get(call.digest, unknown)


def mix(share: str) -> Callable[[Behaviour], Behaviour]:
    """Lets that share of the calls fail."""
    return _sometimes(float(share), list(FAILURES.values()))


def hostile(share: str) -> Callable[[Behaviour], Behaviour]:
    """Gives that share of the calls a hostile message."""
    return _sometimes(float(share), [Answer(http(200, completion(text))) for text in HOSTILE.values()])


def _sometimes(share: float, answers: list[Answer]) -> Callable[[Behaviour], Behaviour]:
    def around(otherwise: Behaviour) -> Behaviour:
        def behave(call: Call) -> Answer:
            if call.chance("whether") >= share:
                return otherwise(call)
            return answers[int(call.chance("which") * len(answers))]

        return behave

    return around


def faults_then_ok(count: str) -> Callable[[Behaviour], Behaviour]:
    """Lets each request fail that many times."""
    failures = list(FAILURES.values())

    def around(otherwise: Behaviour) -> Behaviour:
        def behave(call: Call) -> Answer:
            if call.attempt >= int(count):
                return otherwise(call)
            return failures[(int(call.digest, 16) + call.attempt) % len(failures)]

        return behave

    return around


def _echo_key(status: int) -> Behaviour:
    def behave(call: Call) -> Answer:
        if status == 200:
            return _message([], call.authorization)
        return Answer(_refusal(status, f"wrong key in {call.authorization!r}"))

    return behave


PLAIN: dict[str, Behaviour] = {
    "ok": ok,
    "calls": calls,
    "constant": lambda call: Answer(http(200, GOOD)),
    "silence": lambda call: Answer(None),
    "echo-key-401": _echo_key(401),
    "echo-key-200": _echo_key(200),
    "429-date": lambda call: Answer(
        _refusal(429, "later", f"Retry-After: {formatdate(YEAR_3000, usegmt=True)}")
    ),
}
AROUND = {"mix": mix, "hostile": hostile, "faults-then-ok": faults_then_ok}


def behaviour_named(name: str) -> Behaviour:
    """The behaviour of a name as the module's docstring lists them. Raises ValueError for any other."""
    first, _, rest = name.partition("+")
    kind, _, argument = first.partition(":")
    if kind in AROUND:
        return AROUND[kind](argument)(behaviour_named(rest or "ok"))
    if kind == "gold":
        return gold(argument)
    if kind in PLAIN:
        return PLAIN[kind]
    if kind.isdigit() and (argument or kind not in FAILURES):
        headers = [f"Retry-After: {argument}"] if argument else []
        status = Answer(_refusal(int(kind), "as asked", *headers))
        return lambda call: status
    if kind in HOSTILE:
        answer = Answer(http(200, completion(HOSTILE[kind])))
        return lambda call: answer
    if kind in FAILURES:
        return lambda call: FAILURES[kind]
    raise ValueError(f"no behaviour is called {name!r}")


class FaultServer:
    """The server; an async context manager that listens on 127.0.0.1 while it is open."""

    def __init__(self, behaviour: str = "ok", *, delay_s: float = 0.0, port: int = 0, seed: int = 0) -> None:
        self.behave = behaviour_named(behaviour)
        self.constant = http(200, GOOD) if behaviour == "constant" else None
        self.delay_s = delay_s
        self.port = port
        self.seed = seed
        self.received = 0
        """Completions asked for."""
        self.asked: Counter[tuple[str, str]] = Counter()
        """How often each (model, request digest) came, failed tries included."""
        self.answered: Counter[tuple[str, str]] = Counter()
        """How often each (model, request digest) got a sound chat completion."""
        self.bodies: list[bytes] = []
        """The last 100 request bodies, as they came."""
        self.heads: list[bytes] = []
        """The request lines and headers that belong to them."""
        self.connections: set[Connection] = set()
        self.opened = 0
        """Connections opened so far."""
        self._held: list[Callable[[], None]] | None = None

    def hold(self) -> None:
        """Keeps back all answers from now on, until `release`."""
        self._held = []

    def release(self) -> None:
        """Sends what was kept back, and answers again."""
        held, self._held = self._held or [], None
        for send in held:
            send()

    def send(self, write: Callable[[], None]) -> None:
        """Sends an answer now, after the delay, or once it is released."""
        if self._held is not None:
            self._held.append(write)
        elif self.delay_s:
            asyncio.get_running_loop().call_later(self.delay_s, write)
        else:
            write()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self), "127.0.0.1", self.port, backlog=4096
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for connection in list(self.connections):
            connection.transport.abort()

    def answer(self, head: bytes, body: bytes) -> Answer:
        """Answers one request."""
        path = head.split(b" ", 2)[1]
        if path.endswith(b"/log"):
            return Answer(http(200, json.dumps(self._log()).encode()))
        if path.endswith(b"/models"):
            return Answer(http(200, b'{"object":"list","data":[{"id":"loopback","object":"model"}]}'))
        if not path.partition(b"?")[0].endswith(b"/v1/chat/completions"):
            return Answer(_refusal(404, "no such path"))
        self.received += 1
        return self._complete(head, body)

    def _complete(self, head: bytes, body: bytes) -> Answer:
        self.bodies.append(body)
        self.heads.append(head)
        del self.bodies[:-100], self.heads[:-100]
        parsed = json.loads(body)
        digest = request_digest(parsed["messages"])
        key = (str(parsed.get("model")), digest)
        call = Call(parsed, digest, self.asked[key], _header(head, b"authorization").decode(), self.seed)
        self.asked[key] += 1
        answer = self.behave(call)
        if (answer.payload or b"").startswith(b"HTTP/1.1 200") and answer not in FAILED:
            self.answered[key] += 1
        return answer

    def _log(self) -> dict[str, Any]:
        shown = {name: [[*k, n] for k, n in getattr(self, name).items()] for name in ("asked", "answered")}
        return {"received": self.received, "connections": self.opened, **shown}


class Connection(asyncio.Protocol):
    """One client connection: reads requests with Content-Length, writes the server's answers."""

    transport: asyncio.Transport

    def __init__(self, server: FaultServer) -> None:
        self._server = server
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._server.connections.add(self)
        self._server.opened += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end]
            total = end + 4 + int(_header(head, b"content-length") or 0)
            if len(self._buffer) < total:
                return
            body, self._buffer = self._buffer[end + 4 : total], self._buffer[total:]
            self._respond(head, body)

    def _respond(self, head: bytes, body: bytes) -> None:
        server = self._server
        if server.constant is not None and head.startswith(b"POST"):
            server.received += 1
            answer = Answer(server.constant)
        else:
            answer = server.answer(head, body)
        server.send(lambda: self._write(answer))

    def _write(self, answer: Answer) -> None:
        if answer.payload is None or self.transport.is_closing():
            return
        self.transport.write(answer.payload)
        if answer.close:
            self.transport.close()


def _header(head: bytes, name: bytes) -> bytes:
    start = head.lower().find(b"\r\n" + name + b":")
    return head[start + len(name) + 3 :].partition(b"\r\n")[0].strip() if start >= 0 else b""


async def _serve(arguments: argparse.Namespace) -> None:
    server = FaultServer(
        arguments.behaviour, delay_s=arguments.delay_ms / 1000, port=arguments.port, seed=arguments.seed
    )
    async with server:
        print(server.port, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--behaviour", default="ok")
    parser.add_argument("--delay-ms", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
