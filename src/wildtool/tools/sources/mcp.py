"""Asks an MCP server for its tools: one that a command starts (stdio), or one at an address (streamable HTTP)."""

import json
import os
import re
import select
import shlex
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from queue import Empty, Queue
from subprocess import PIPE, TimeoutExpired
from threading import Event, Thread
from time import monotonic
from typing import IO, Any
from urllib import error as errors
from urllib import request as requests

from wildtool import __version__
from wildtool.children import GRACE_S, Child
from wildtool.data.unredirected import open_unredirected
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_list, as_object
from wildtool.models.headers import Header, read_headers, refuse_own
from wildtool.models.secrets import VARIABLE_NAME
from wildtool.tools.sources.server_words import MAX_REFUSAL_BYTES, words_of_body, words_of_error, words_of_log

STDIO = "mcp:"
"""How the name of a server begins that is a command line."""
ANSWER_TIMEOUT_S = 30.0
"""Longest wait for one answer."""
LISTING_ANSWERS = 4
"""Longest wait for all of them together, in times of the longest one for one."""
MAX_PAGES = 200
INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""Variables that a server gets which a command starts: those of MCP's own SDK, so that no key is among them."""
_MAX_BYTES = 64 * 1024 * 1024
_MAX_LINE_BYTES = 8 * 1024 * 1024
"""Of one answer of a process; read as JSON it takes up to twenty times as much memory."""
_LOG_BYTES = 64 * 1024
"""Of what a process writes to its error output: the end, for messages."""
_PRINTED_LINES = 20
"""Of what a process writes to its output that is no message: the end, for messages."""
_WAITING_LINES = 2
"""Lines of a server that are read before they are asked for: the last and the end, so that its reader can end."""
_LEGACY_STATUSES = frozenset({400, 404, 405})
"""With which servers refuse the first message of streamable HTTP that speak only the transport before it."""
_LEGACY_WAIT_S = 5.0
"""Longest wait for the first event of such a server."""
_EVENT = re.compile(rb"^event: *(\w*)\s", re.MULTILINE)
_LEGACY = (
    "; this address speaks only HTTP+SSE, the transport of MCP 2024-11-05, and not streamable HTTP: give the server's "
    "address for that, often /mcp in place of /sse, or start a bridge: mcp:'npx -y supergateway --sse ADDRESS'"
)
_VERSION = "2025-06-18"
_OWN_HEADERS = ("accept", "mcp-session-id", "mcp-protocol-version")
"""Headers that the protocol sets, in lower case."""
AskServer = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Sends a method with its parameters and gives the result. Raises DataError."""


def is_server(source: str) -> bool:
    """Whether a source names a server, and no file."""
    return source.startswith((STDIO, "http://", "https://"))


def server_tools(
    source: str,
    timeout_s: float = ANSWER_TIMEOUT_S,
    *,
    variables: Collection[str] = (),
    headers: Sequence[Header] = (),
) -> list[Any]:
    """The tools that a server lists, as it writes them.

    Args:
        timeout_s: longest wait for one answer.
        variables: names of environment variables that a command gets beside `INHERITED`.
        headers: those of the user, which a server at an address gets.

    Raises DataError where it cannot be started or reached, dies, takes too long, or answers otherwise than the protocol
    says, and UsageError where a name is not one of a variable that is set, or a header cannot be sent.
    """
    opened = (
        _StartedServer(source.removeprefix(STDIO), timeout_s, server_environment(variables))
        if source.startswith(STDIO)
        else _address(source, timeout_s, headers)
    )
    until = monotonic() + LISTING_ANSWERS * timeout_s
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
            if monotonic() > until:
                raise DataError(f"{source}: tools/list has not ended after {LISTING_ANSWERS * timeout_s:g} s")
    raise DataError(f"{source}: tools/list has more than {MAX_PAGES:,} pages; its nextCursor never ends")


def server_environment(variables: Collection[str]) -> dict[str, str]:
    """The variables of a server that a command starts. Args and errors: as of `server_tools`."""
    for name in variables:
        if not VARIABLE_NAME.fullmatch(name):
            raise UsageError(
                "--mcp-env takes the name of a variable, such as GITHUB_TOKEN, and never its value: set it in your shell"
            )
        if name not in os.environ:
            raise UsageError(f"--mcp-env names {name}, which is not set; set it, or leave this option out")
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    # As the SDK does: some shells take such a value for a function to define.
    safe = {name: value for name, value in inherited.items() if not value.startswith("()")}
    return {**safe, **{name: os.environ[name] for name in variables}}


def _message(method: str, params: dict[str, Any], number: int) -> bytes:
    numbered = {} if method.startswith("notifications/") else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **numbered, "method": method, "params": params}).encode()


def _result(source: str, method: str, answer: dict[str, Any]) -> dict[str, Any]:
    if answer.get("error") or "result" not in answer:
        words = words_of_error(answer.get("error") or answer)
        raise DataError(f"{source}: {method} was refused: {words}")
    return as_object(answer["result"])


def _is_answer(message: dict[str, Any], number: int) -> bool:
    """Whether a message answers a request; an error without a number says that the request could not be read."""
    return message.get("id") == number or (message.get("id") is None and bool(message.get("error")))


class _StartedServer:
    """A server that a command starts, and its end."""

    def __init__(self, command: str, timeout_s: float, environment: dict[str, str]) -> None:
        """Raises DataError where it cannot be started."""
        self._source = STDIO + command
        self._timeout_s = timeout_s
        self._process = _started(command, environment)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin = self._process.stdin
        self._lines: Queue[bytes] = Queue(_WAITING_LINES)
        self._closed = Event()
        self._log = bytearray()
        self._printed: deque[str] = deque(maxlen=_PRINTED_LINES)
        self._number = 0
        streams = (self._process.stdout, self._lines, self._closed)
        Thread(target=_read_lines, args=streams, daemon=True).start()
        self._logging = Thread(target=_read_end, args=(self._process.stderr, self._log), daemon=True)
        self._logging.start()

    def __enter__(self) -> AskServer:
        return self._ask

    def __exit__(self, kind: object, *error: object) -> None:
        try:
            if kind is None:
                # The protocol's way to end a server: what it started, such as a container, may end with it.
                self._stdin.close()
                with suppress(TimeoutExpired):
                    self._process.wait(GRACE_S)
        finally:
            self._process.end()
            self._closed.set()
            while not self._lines.empty():  # the reader may wait for room
                self._lines.get_nowait()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        deadline = monotonic() + self._timeout_s
        message = _message(method, params, self._number) + b"\n"
        # Where it takes no more, it has ended, and its last lines say why.
        with suppress(OSError):
            if not _written(self._stdin, message, deadline):
                raise self._late(method)
        if method.startswith("notifications/"):
            return {}
        answer: dict[str, Any] = {}
        while not _is_answer(answer, self._number):
            # Other lines are of a log, or notifications.
            line = self._line(method, deadline)
            answer = _json(line)
            if not answer:
                self._printed.append(line[:_LOG_BYTES].decode("utf-8", "replace"))
        return _result(self._source, method, answer)

    def _line(self, method: str, deadline: float) -> bytes:
        """The next line that it says. Raises DataError where there is none in time, or it is too long."""
        try:
            line = self._lines.get(timeout=max(0.0, deadline - monotonic()))
        except Empty:
            raise self._late(method) from None
        if monotonic() > deadline:
            raise self._late(method)
        if not line:
            raise self._death(method)
        if len(line) >= _MAX_LINE_BYTES:
            raise DataError(
                f"{self._source}: the answer to {method} is longer than {_MAX_LINE_BYTES >> 20} MiB"
            )
        return line

    def _late(self, method: str) -> DataError:
        return DataError(f"{self._source}: no answer to {method} in {self._timeout_s:g} s{self._words()}")

    def _words(self) -> str:
        """The last that it wrote to its error output, or else to its output where that is no message."""
        errors_output = words_of_log(bytes(self._log).decode("utf-8", "replace"))
        words = errors_output or words_of_log("\n".join(self._printed))
        return f"; it wrote: {words}" if words else ""

    def _death(self, method: str) -> DataError:
        try:
            status = f"exit status {self._process.wait(timeout=5)}"
            self._logging.join(5)
        except TimeoutExpired:
            status = "its output is closed"
        needs = f"; of your variables it has only {', '.join(INHERITED)} and those that --mcp-env names"
        return DataError(
            f"{self._source}: the server ended before it answered {method} ({status}){self._words()}{needs}"
        )


def _started(command: str, environment: dict[str, str]) -> Child:
    """The program of a command. Raises DataError where it cannot be started."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DataError(f"{STDIO}{command}: not a command line ({error})") from error
    if not words:
        raise DataError(f"{STDIO} names no command; write {STDIO}'npx -y my-server'")
    try:
        return Child(words, grace_s=GRACE_S, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment)
    except OSError as error:
        raise DataError(f"{STDIO}{command}: cannot be started: {error.strerror}") from error


def _written(stream: IO[bytes], data: bytes, deadline: float) -> bool:
    """Whether a process took all of it in time. Raises OSError where it has ended."""
    file = stream.fileno()
    os.set_blocking(file, False)
    while data:
        if not select.select([], [file], [], max(0.0, deadline - monotonic()))[1]:
            return False
        data = data[os.write(file, data) :]
    return True


def _read_lines(stream: IO[bytes], lines: "Queue[bytes]", closed: Event) -> None:
    """Puts each line of a stream into a queue until it is closed, and an empty one at its end."""
    while (line := stream.readline(_MAX_LINE_BYTES)) and not closed.is_set():
        lines.put(line)
    lines.put(b"")


def _read_end(stream: IO[bytes], log: bytearray) -> None:
    """Reads all of a stream and keeps its end."""
    while part := os.read(stream.fileno(), 65_536):
        log += part
        del log[:-_LOG_BYTES]


@contextmanager
def _address(url: str, timeout_s: float, headers: Sequence[Header]) -> Generator[AskServer]:
    refuse_own(headers, _OWN_HEADERS, "the protocol of MCP")
    extra = read_headers(headers)
    number, session = 0, dict[str, str]()

    def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
        nonlocal number
        number += 1
        accepted = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        message = requests.Request(url, _message(method, params, number), {**accepted, **session, **extra})
        try:
            with open_unredirected(message, timeout_s) as response:
                if name := response.headers.get("Mcp-Session-Id"):
                    session["Mcp-Session-Id"] = name
                body = _read_until(response, monotonic() + timeout_s)
        except errors.HTTPError as error:
            words = _words_of_refusal(error, timeout_s)
            is_legacy = (
                method == "initialize" and error.code in _LEGACY_STATUSES and _is_legacy(message, timeout_s)
            )
            advice = _LEGACY if is_legacy else ""
            raise DataError(f"{url}: {method} was answered with HTTP {error.code} {words}{advice}") from error
        except (OSError, ValueError, HTTPException) as error:
            raise DataError(f"{url}: {method} was not answered: {getattr(error, 'reason', error)}") from error
        if method.startswith("notifications/"):
            return {}
        lines = [line.removeprefix(b"data:") for line in body.splitlines() if line.startswith(b"data:")]
        answer = next((each for each in map(_json, lines or [body]) if _is_answer(each, number)), None)
        if answer is None:
            body_words = words_of_body(body[:MAX_REFUSAL_BYTES]) or "nothing"
            raise DataError(f"{url}: the answer to {method} is no message of MCP: {body_words}")
        return _result(url, method, answer)

    yield ask


def _words_of_refusal(refusal: errors.HTTPError, timeout_s: float) -> str:
    """The reason of a refusal and what its body says, which may add nothing."""
    if refusal.code < 400:
        return refusal.reason
    body = bytearray()
    with suppress(OSError, ValueError, HTTPException):
        for part in _parts_until(refusal.fp, monotonic() + timeout_s):
            body += part
            if len(body) >= MAX_REFUSAL_BYTES:
                break
    body_words = words_of_body(bytes(body[:MAX_REFUSAL_BYTES]))
    return (
        f"{refusal.reason}: {body_words}" if body_words and body_words != refusal.reason else refusal.reason
    )


def _is_legacy(message: requests.Request, timeout_s: float) -> bool:
    """Whether an address that refused a message of streamable HTTP opens a stream with the event `endpoint`, as servers
    of MCP 2024-11-05 do."""
    headers = {**message.headers, "Accept": "text/event-stream"}
    wait_s = min(timeout_s, _LEGACY_WAIT_S)
    begin = bytearray()
    with (
        suppress(OSError, ValueError, HTTPException),
        open_unredirected(requests.Request(message.full_url, headers=headers), wait_s) as response,
    ):
        if response.headers.get_content_type() != "text/event-stream":
            return False
        for part in _parts_until(response, monotonic() + wait_s):
            begin += part
            if _EVENT.search(begin) or len(begin) >= MAX_REFUSAL_BYTES:
                break
    event = _EVENT.search(begin)
    return event is not None and event[1] == b"endpoint"


def _read_until(response: HTTPResponse, deadline: float) -> bytes:
    """The body of a response. Raises TimeoutError where it does not end in time."""
    body = bytearray()
    for part in _parts_until(response, deadline):
        body += part
        if len(body) >= _MAX_BYTES:
            break
    return bytes(body)


def _parts_until(response: Any, deadline: float) -> Iterator[bytes]:
    """The body of a response, part by part. Raises TimeoutError where it does not end in time."""
    while part := response.read1(65_536):
        yield part
        if monotonic() > deadline:
            raise TimeoutError("its answer does not end")


def _json(text: bytes) -> dict[str, Any]:
    """A message; empty for what is none, such as a line of a log."""
    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}
