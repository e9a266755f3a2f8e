"""Asks an MCP server for its tools: one that a command starts (stdio), or one at an address (streamable HTTP)."""

import json
import shlex
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from queue import Empty, Queue
from tempfile import TemporaryFile
from threading import Event, Thread
from time import monotonic
from typing import IO, Any
from urllib import error as errors
from urllib import request as requests

from wildtool import __version__
from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object

STDIO = "mcp:"
"""How the name of a server begins that is a command line."""
ANSWER_TIMEOUT_S = 30.0
"""Longest wait for one answer."""
MAX_PAGES = 200
_MAX_BYTES = 64 * 1024 * 1024
_WAITING_LINES = 2
"""Lines of a server that are read before they are asked for: the last and the end, so that its reader can end."""
_VERSION = "2025-06-18"
AskServer = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Sends a method with its parameters and gives the result. Raises DataError."""


def is_server(source: str) -> bool:
    """Whether a source names a server, and no file."""
    return source.startswith((STDIO, "http://", "https://"))


def server_tools(source: str, timeout_s: float = ANSWER_TIMEOUT_S) -> list[Any]:
    """The tools that a server lists, as it writes them.

    Raises DataError where it cannot be started or reached, dies, takes too long, or answers otherwise than the protocol
    says.
    """
    opened = (
        _process(source.removeprefix(STDIO), timeout_s)
        if source.startswith(STDIO)
        else _address(source, timeout_s)
    )
    with opened as ask:
        client = {"name": "wildtool", "version": __version__}
        ask("initialize", {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": client})
        ask("notifications/initialized", {})
        tools: list[Any] = []
        cursor: Any = None
        for _ in range(MAX_PAGES):
            result = ask("tools/list", {} if cursor is None else {"cursor": cursor})
            if not isinstance(result.get("tools"), list):
                raise DataError(f"{source}: tools/list gave no list `tools`; is this an MCP server?")
            tools += as_list(result["tools"])
            cursor = result.get("nextCursor")
            if not cursor:
                return tools
    raise DataError(f"{source}: tools/list has more than {MAX_PAGES:,} pages; its nextCursor never ends")


def _message(method: str, params: dict[str, Any], number: int) -> bytes:
    numbered = {} if method.startswith("notifications/") else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **numbered, "method": method, "params": params}).encode()


def _result(source: str, method: str, answer: dict[str, Any]) -> dict[str, Any]:
    if (fault := as_object(answer.get("error"))) or "result" not in answer:
        words = str(fault.get("message") or answer)[:300]
        raise DataError(f"{source}: {method} was refused: {words}")
    return as_object(answer["result"])


@contextmanager
def _process(command: str, timeout_s: float) -> Generator[AskServer]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DataError(f"{STDIO}{command}: not a command line ({error})") from error
    if not words:
        raise DataError(f"{STDIO} names no command; write {STDIO}'npx -y my-server'")
    with TemporaryFile() as log:
        try:
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        except OSError as error:
            raise DataError(f"{STDIO}{command}: cannot be started: {error.strerror}") from error
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        lines: Queue[bytes] = Queue(_WAITING_LINES)
        closed = Event()
        Thread(target=_read_lines, args=(stdout, lines, closed), daemon=True).start()
        number = 0

        def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
            nonlocal number
            number += 1
            try:
                stdin.write(_message(method, params, number) + b"\n")
                stdin.flush()
            except OSError:
                raise DataError(_death(command, process, log, method)) from None
            deadline = monotonic() + timeout_s
            while not method.startswith("notifications/"):
                try:
                    line = lines.get(timeout=max(0.0, deadline - monotonic()))
                except Empty:
                    line = None
                if line is None or monotonic() > deadline:
                    raise DataError(f"{STDIO}{command}: no answer to {method} in {timeout_s:g} s")
                if not line:
                    raise DataError(_death(command, process, log, method))
                if (answer := _json(line)).get("id") == number:
                    return _result(STDIO + command, method, answer)
            return {}

        try:
            yield ask
        finally:
            process.kill()
            process.wait()
            closed.set()
            while not lines.empty():  # the reader may wait for room
                lines.get_nowait()


def _read_lines(stream: IO[bytes], lines: "Queue[bytes]", closed: Event) -> None:
    """Puts each line of a stream into a queue until it is closed, and an empty one at its end."""
    while (line := stream.readline(_MAX_BYTES)) and not closed.is_set():
        lines.put(line)
    lines.put(b"")


def _death(command: str, process: "subprocess.Popen[bytes]", log: IO[bytes], method: str) -> str:
    try:
        status = f"exit status {process.wait(timeout=5)}"
    except subprocess.TimeoutExpired:
        status = "its output is closed"
    log.seek(0)
    last = log.read(_MAX_BYTES).decode("utf-8", "replace").strip().splitlines()[-3:]
    words = f"; it wrote: {' | '.join(last)[:500]}" if last else ""
    return f"{STDIO}{command}: the server ended before it answered {method} ({status}){words}"


@contextmanager
def _address(url: str, timeout_s: float) -> Generator[AskServer]:
    number, session = 0, dict[str, str]()

    def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
        nonlocal number
        number += 1
        accepted = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        message = requests.Request(url, _message(method, params, number), {**accepted, **session})
        try:
            with requests.urlopen(message, timeout=timeout_s) as response:
                if name := response.headers.get("Mcp-Session-Id"):
                    session["Mcp-Session-Id"] = name
                body = _read_until(response, monotonic() + timeout_s)
        except errors.HTTPError as error:
            raise DataError(f"{url}: {method} was answered with HTTP {error.code} {error.reason}") from error
        except (OSError, ValueError, HTTPException) as error:
            raise DataError(f"{url}: {method} was not answered: {getattr(error, 'reason', error)}") from error
        if method.startswith("notifications/"):
            return {}
        lines = [line.removeprefix(b"data:") for line in body.splitlines() if line.startswith(b"data:")]
        answer = next((each for each in map(_json, lines or [body]) if each.get("id") == number), None)
        if answer is None:
            raise DataError(f"{url}: the answer to {method} is no message of MCP: {body[:200]!r}")
        return _result(url, method, answer)

    yield ask


def _read_until(response: HTTPResponse, deadline: float) -> bytes:
    """The body of a response. Raises TimeoutError where it does not end in time."""
    body = bytearray()
    while len(body) < _MAX_BYTES and (part := response.read1(65_536)):
        body += part
        if monotonic() > deadline:
            raise TimeoutError("its answer does not end")
    return bytes(body)


def _json(text: bytes) -> dict[str, Any]:
    """A message; empty for what is none, such as a line of a log."""
    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}
