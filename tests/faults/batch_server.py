"""A loopback server with the batch endpoints of OpenAI and Anthropic: strict in what it takes, right or wrong as told.

Shapes are those of the providers' guides and references (files, batches, message batches). A request inside a batch is
checked like one that came alone. What went wrong with a request is answered HTTP 400 and kept in `mistakes`.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from email.parser import BytesParser
from typing import Any

from faults.server import Answer, FaultServer, http
from models.peers import PROTOCOLS, Body, digest_of, keys
from wildtool.types import Message

BEGAN = 1_750_000_000
"""When the first batch is created, by the server's own clock; each later one a second after."""
ENDPOINTS = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}
CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
Row = dict[str, Any]
Said = Callable[[Body, str], Message | Answer]
"""Answers a request by its body and digest: an assistant message in OpenAI's shape, or an HTTP answer."""


@dataclass
class Held:
    """A batch as the server holds it."""

    id: str
    requests: dict[str, Body]
    """Custom id to the request's body."""
    created: int
    metadata: dict[str, str] | None = None
    input_file: str = ""
    polls: int = 0
    canceled: bool = False
    failure: list[Row] = field(default_factory=list[Row])
    """`errors.data` of a batch that is refused."""
    expired: set[str] = field(default_factory=set[str])
    """Custom ids that are not asked before it expires."""
    rows: list[Row] | None = None
    """Its results, once they were asked for."""


class BatchServer(FaultServer):
    """The server; `protocol` is a key of `PROTOCOLS` but gemini."""

    def __init__(self, protocol: str, said: Said, *, now: float = BEGAN) -> None:
        super().__init__("ok")
        self.protocol = PROTOCOLS[protocol]
        self.kind = protocol
        self.said = said
        self.polls = 1
        """How often a batch must be asked for until it is over."""
        self.frozen = False
        """Whether no batch gets over."""
        self.spoil: Callable[[str, int], Answer | None] = lambda endpoint, number: None
        """Answers in place of an endpoint (`upload`, `create`, `list`, `state`, `content`), by its name and how often it
        has been asked; None for its own answer."""
        self.begin: Callable[[Held], None] = lambda batch: None
        """Is given each batch when it is created, and may spoil it."""
        self.write: Callable[[Held, list[Row]], list[Row | bytes]] = lambda batch, rows: list(rows)
        """Makes the lines of the results of the rows that they should be."""
        self.batches: dict[str, Held] = {}
        self.files: dict[str, bytes] = {}
        self.mistakes: list[str] = []
        self.counts: Counter[str] = Counter()
        """How often each endpoint was asked."""
        self.lose: set[int] = set()
        """Numbers of creations, from 1, that happen and whose answer is lost."""
        self.last = 0
        """Number of the request, by `received`, that is done and not answered any more; 0 for none."""
        self._began = int(now)

    @property
    def digests(self) -> list[str]:
        """The requests of all batches, by digest."""
        return [digest_of(json.dumps(b).encode()) for h in self.batches.values() for b in h.requests.values()]

    def answer(self, head: bytes, body: bytes) -> Answer:
        self.received += 1
        self.heads.append(head)
        answer = self._serve(head, body)
        return Answer(None) if self.received == self.last else answer

    def _serve(self, head: bytes, body: bytes) -> Answer:
        text = head.decode("latin-1")
        method, path = text.split(" ", 2)[:2]
        try:
            self._check_key(text)
            for endpoint, pattern, serve in self._routes():
                if match := re.fullmatch(pattern, f"{method} {path}"):
                    self.counts[endpoint] += 1
                    spoilt = self.spoil(endpoint, self.counts[endpoint])
                    return spoilt or serve(match, text, body)
        except AssertionError as error:
            self.mistakes.append(f"{method} {path}: {error}")
            return self._refuse(400, f"invalid: {error}")
        self.mistakes.append(f"no such path: {method} {path}")
        return self._refuse(404, "no such path")

    def _routes(self) -> list[tuple[str, str, Callable[[re.Match[str], str, bytes], Answer]]]:
        if self.kind == "anthropic":
            base = "/v1/messages/batches"
            return [
                ("create", f"POST {base}", self._create_messages),
                ("list", rf"GET {base}\?limit=100(?:&after_id=(\w+))?", self._list),
                ("state", rf"GET {base}/(\w+)", self._state),
                ("content", rf"GET {base}/(\w+)/results", self._results),
                ("cancel", rf"POST {base}/(\w+)/cancel", self._cancel),
            ]
        return [
            ("upload", "POST /v1/files", self._upload),
            ("content", r"GET /v1/files/(\w+)_(output|error)/content", self._results),
            ("create", "POST /v1/batches", self._create),
            ("list", r"GET /v1/batches\?limit=100(?:&after=(\w+))?", self._list),
            ("state", r"GET /v1/batches/(\w+)", self._state),
            ("cancel", r"POST /v1/batches/(\w+)/cancel", self._cancel),
        ]

    def _check_key(self, head: str) -> None:
        if self.kind == "anthropic":
            assert "\r\nx-api-key: " in head
            assert re.search(r"\r\nanthropic-version: (2026-10-21|2023-06-01)\r\n", head)
        else:
            assert "\r\nAuthorization: Bearer " in head

    def _refuse(self, status: int, why: str, *headers: str) -> Answer:
        return Answer(http(status, json.dumps(self.protocol.error(status, why)).encode(), *headers))

    def _json(self, value: Any) -> Answer:
        return Answer(http(200, json.dumps(value, ensure_ascii=False).encode()))

    # OpenAI: POST /v1/files, POST /v1/batches

    def _upload(self, match: re.Match[str], head: str, body: bytes) -> Answer:
        fields = head.partition("\r\n")[2]
        form = BytesParser().parsebytes(fields.encode() + b"\r\n\r\n" + body)
        assert form.get_content_type() == "multipart/form-data" and form.is_multipart()
        parts = {part.get_param("name", header="content-disposition"): part for part in form.get_payload()}
        assert parts.keys() == {"purpose", "file"}, parts
        assert parts["purpose"].get_payload(decode=True) == b"batch"
        assert str(parts["file"].get_filename()).endswith(".jsonl")
        content = parts["file"].get_payload(decode=True)
        assert isinstance(content, bytes) and len(content) <= 200_000_000
        id_ = f"file{len(self.files) + 1}"
        self.files[id_] = content
        about = {"id": id_, "object": "file", "bytes": len(content), "created_at": self._began}
        return self._json({**about, "filename": "x.jsonl", "purpose": "batch", "status": "processed"})

    def _create(self, match: re.Match[str], head: str, body: bytes) -> Answer:
        wanted = json.loads(body)
        keys(wanted, "input_file_id endpoint completion_window", "metadata")
        assert wanted["completion_window"] == "24h" and wanted["endpoint"] == ENDPOINTS[self.kind]
        metadata = wanted.get("metadata") or {}
        assert len(metadata) <= 16 and all(len(k) <= 64 and len(v) <= 512 for k, v in metadata.items())
        requests: dict[str, Body] = {}
        lines = self.files[wanted["input_file_id"]].decode().removesuffix("\n").split("\n")
        for line in lines:
            row = json.loads(line)
            keys(row, "custom_id method url body")
            assert row["method"] == "POST" and row["url"] == wanted["endpoint"]
            requests[row["custom_id"]] = row["body"]
        assert 0 < len(requests) == len(lines) <= 50_000, "custom ids must be unique"
        return self._hold(Held("", requests, 0, metadata, wanted["input_file_id"]), head)

    # Anthropic: POST /v1/messages/batches

    def _create_messages(self, match: re.Match[str], head: str, body: bytes) -> Answer:
        assert len(body) <= 256_000_000
        wanted = json.loads(body)
        keys(wanted, "requests")
        requests: dict[str, Body] = {}
        for request in wanted["requests"]:
            keys(request, "custom_id params")
            requests[request["custom_id"]] = request["params"]
        assert 0 < len(requests) == len(wanted["requests"]) <= 100_000, "custom ids must be unique"
        return self._hold(Held("", requests, 0), head)

    # Both

    def _hold(self, batch: Held, head: str) -> Answer:
        assert all(CUSTOM_ID.fullmatch(id_) for id_ in batch.requests)
        assert not any(body.get("stream") for body in batch.requests.values())
        assert len({body["model"] for body in batch.requests.values()}) == 1
        fields = head.partition("\r\n")[2]
        path = "/v1/messages" if self.kind == "anthropic" else ENDPOINTS[self.kind]
        for body in batch.requests.values():
            self.protocol.check(f"POST {path} HTTP/1.1\r\n{fields}", body)
        batch.created = self._began + len(self.batches)
        batch.id = f"b{len(self.batches) + 1}"
        self.batches[batch.id] = batch
        self.begin(batch)
        if self.counts["create"] in self.lose:
            return Answer(b"", close=True)
        return self._json(self._shown(batch))

    def _state(self, match: re.Match[str], head: str, body: bytes) -> Answer:
        if (batch := self.batches.get(match[1])) is None:
            return self._refuse(404, "no such batch")
        batch.polls += not self.frozen
        return self._json(self._shown(batch))

    def _cancel(self, match: re.Match[str], head: str, body: bytes) -> Answer:
        self.batches[match[1]].canceled = True
        return self._json(self._shown(self.batches[match[1]]))

    def _list(self, match: re.Match[str], head: str, body: bytes) -> Answer:
        newest = list(reversed(self.batches.values()))
        after = match[1]
        page = newest[[b.id for b in newest].index(after) + 1 :] if after else newest
        shown = [self._shown(batch) for batch in page[:100]]
        ends = {"first_id": shown[0]["id"], "last_id": shown[-1]["id"]} if shown else {}
        return self._json({"object": "list", "data": shown, "has_more": len(page) > 100, **ends})

    def _results(self, match: re.Match[str], head: str, body: bytes) -> Answer:
        batch = self.batches[match[1]]
        assert self._over(batch)
        wanted = match[2] if self.kind != "anthropic" else None
        if batch.rows is None:
            # What was said once stays said.
            batch.rows = [self._row(batch, custom_id, asked) for custom_id, asked in batch.requests.items()]
        rows = [row for row in batch.rows if wanted is None or wanted == _file(row)]
        # Results come in any order.
        written = self.write(batch, rows[::-1])
        lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in written]
        return Answer(http(200, b"\n".join(lines), kind="application/octet-stream"))

    def _row(self, batch: Held, custom_id: str, body: Body) -> Row:
        digest = digest_of(json.dumps(body).encode())
        said = None if custom_id in batch.expired or batch.canceled else self.said(body, digest)
        if isinstance(said, Answer):
            assert said.payload is not None
            status, answer = int(said.payload[9:12]), json.loads(said.payload.partition(b"\r\n\r\n")[2])
        else:
            status, answer = 200, self.protocol.write(said, digest) if said else None
        return self._message_row(batch, custom_id, status, answer) if self.kind == "anthropic" else (
            self._line(batch, custom_id, status, answer)
        )  # fmt: skip

    def _line(self, batch: Held, custom_id: str, status: int, answer: Any) -> Row:
        row: Row = {"id": f"batch_req_{custom_id}", "custom_id": custom_id, "response": None, "error": None}
        if answer is None:
            code = "batch_cancelled" if batch.canceled else "batch_expired"
            return {**row, "error": {"code": code, "message": "This request could not be executed."}}
        return {**row, "response": {"status_code": status, "request_id": "req_1", "body": answer}}

    def _message_row(self, batch: Held, custom_id: str, status: int, answer: Any) -> Row:
        result: Row
        if answer is None:
            result = {"type": "canceled" if batch.canceled else "expired"}
        elif status == 200:
            result = {"type": "succeeded", "message": answer}
        else:
            result = {"type": "errored", "error": answer}
        return {"custom_id": custom_id, "result": result}

    def _over(self, batch: Held) -> bool:
        return batch.canceled or (not self.frozen and batch.polls >= self.polls)

    def _shown(self, batch: Held) -> Row:
        over, total = self._over(batch), len(batch.requests)
        if self.kind == "anthropic":
            counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
            counts["succeeded" if over else "processing"] = total
            url = f"{self.base_url}/messages/batches/{batch.id}/results"
            return {
                "id": batch.id,
                "type": "message_batch",
                "processing_status": "ended" if over else "in_progress",
                "request_counts": counts,
                "ended_at": None,
                "created_at": _rfc3339(batch.created),
                "expires_at": _rfc3339(batch.created + 86_400),
                "cancel_initiated_at": None,
                "results_url": url if over else None,
            }
        failed = over and bool(batch.failure)
        status = (
            ("failed" if failed else "cancelled" if batch.canceled else "completed")
            if over
            else "in_progress"
        )
        if over and batch.expired:
            status = "expired"
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": ENDPOINTS[self.kind],
            "errors": {"object": "list", "data": batch.failure} if failed else None,
            "input_file_id": batch.input_file,
            "completion_window": "24h",
            "status": status,
            "output_file_id": f"{batch.id}_output" if over and not failed else None,
            "error_file_id": f"{batch.id}_error" if over and not failed else None,
            "created_at": batch.created,
            "expires_at": batch.created + 86_400,
            "request_counts": {"total": total, "completed": total if over else 0, "failed": 0},
            "metadata": batch.metadata,
        }


def _file(row: Row) -> str:
    """Which of the two files a line of OpenAI's stands in."""
    good = row["response"] is not None and row["response"]["status_code"] == 200
    return "output" if good else "error"


def _rfc3339(seconds: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
