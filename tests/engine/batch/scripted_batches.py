"""A provider's batch API that answers by a script and notes what it is asked, and queues and senders of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any, cast

from wildtool.engine.batch.journal import BatchJournal
from wildtool.engine.batch.queue import BatchAnswer, BatchQueue
from wildtool.engine.batch.rounds import BatchSender
from wildtool.engine.call.client import RetryPolicy
from wildtool.errors import CallError
from wildtool.models.batch.protocol import BatchClient, BatchResult, BatchState, NoResultError
from wildtool.models.http.endpoint import Endpoint
from wildtool.types import Address, Request

URL = "http://127.0.0.1:9/v1"


class ScriptedBatches(BatchClient):
    """Each call takes the next of its answers, or raises it; the last one stays. Results are rows of JSON: `id`, and
    `answer`, `error` or `canceled`."""

    most_requests = 3
    most_bytes = 40
    separator = b","
    stores_mark = True
    batches = "/batches"

    def __init__(self, **script: list[Any]) -> None:
        super().__init__(Endpoint(URL, "/chat", api_key=None, timeout_s=1.0, max_body_bytes=100), "/chat")
        ended = BatchState("b1", "completed", True, 2, 2, ("out",))
        self.script: dict[str, list[Any]] = {
            "upload": ["f1"],
            "create": [BatchState("b1", "validating", False)],
            "state": [ended],
            "find": [[]],
            "fetch": [b""],
            **script,
        }
        self.asked: list[tuple[Any, ...]] = []

    def _next(self, method: str, *arguments: Any) -> Any:
        self.asked.append((method, *arguments))
        answers = self.script[method]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def line(self, custom_id: str, body: bytes) -> bytes:
        return body

    def envelope(self, mark: str) -> tuple[bytes, bytes]:
        return b"[", b"]"

    async def upload(self, mark: str, file: IO[bytes]) -> str | None:
        return self._next("upload", file.read())

    async def create(self, mark: str, file: IO[bytes] | None, uploaded: str | None) -> BatchState:
        return self._next("create", file and file.read(), uploaded)

    async def state(self, id_: str) -> BatchState:
        return self._next("state", id_)

    def read_state(self, document: Mapping[str, Any]) -> BatchState:
        raise NotImplementedError

    async def find(self, mark: str, requests: int, since: float) -> AsyncIterator[BatchState]:
        for state in self._next("find", mark, requests, since):
            yield state

    async def fetch(self, where: str, into: IO[bytes]) -> None:
        into.write(self._next("fetch", where))

    def result(self, row: Any) -> BatchResult:
        if not isinstance(row, dict):
            raise NoResultError
        fields = cast(dict[str, Any], row)
        error = CallError(fields["error"], "the request failed") if "error" in fields else None
        answer = fields.get("answer", "").encode()
        return BatchResult(fields["id"], answer, error, fields.get("canceled", False))


def result_lines(*rows: Any) -> bytes:
    """The file with these results."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def address(step: int, unit: str = "u", item: str = "i") -> Address:
    return Address(item, 0, unit, step)


def request(step: int = 0, **place: str) -> Request:
    return Request([], [], address=address(step, **place))


class _Model:
    def __init__(self, api: BatchClient) -> None:
        self._api = api

    def use_batches(self, send: Any) -> BatchClient:
        return self._api


def no_limit(request: Request) -> AbstractContextManager[None]:
    return nullcontext()


def queue_of(api: BatchClient, folder: Path, **settings: Any) -> BatchQueue:
    journal = BatchJournal(folder)
    journal.key = settings.pop("key", journal.key)
    settings = {"reserve": no_limit, "waiting": nullcontext[None]} | settings
    model: Any = _Model(api)
    return BatchQueue("agent", model, journal, folder, **settings)


class Sender:
    """A sender that notes its waits, the failures it retries, and how often a state is new."""

    def __init__(self, queue: BatchQueue, folder: Path, attempts: int = 2) -> None:
        self.waits: list[float] = []
        self.retries: list[tuple[str, float]] = []
        self.states = 0
        policy = RetryPolicy(1.0, attempts, self._sleep, lambda: 1.0)
        self.send_batches = BatchSender(
            queue, folder, policy, on_retry=lambda *what: self.retries.append(what), on_state=self._on_state
        ).send_batches

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def _on_state(self) -> None:
        self.states += 1


async def begun(*asks: Awaitable[BatchAnswer]) -> list[asyncio.Future[BatchAnswer]]:
    """The tasks of requests that have come as far as they do by themselves."""
    tasks: list[asyncio.Future[BatchAnswer]] = [asyncio.ensure_future(ask) for ask in asks]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


async def outcomes(tasks: list[asyncio.Future[BatchAnswer]]) -> list[Any]:
    """The answer of each, or its error as (class, kind, message, final)."""
    ended: list[Any] = await asyncio.gather(*tasks, return_exceptions=True)
    return [outcome(each) if isinstance(each, Exception) else each[0] for each in ended]


def outcome(error: Any) -> tuple[str, str, str, bool | None]:
    """What matters of an error."""
    return type(error).__name__, error.kind, str(error), getattr(error, "final", None)
