"""Batches as each provider describes them: requests sent, states, results and lists read, field by field."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from wildtool.errors import CallError
from wildtool.models.batch.anthropic import AnthropicBatchClient
from wildtool.models.batch.openai import OpenAIBatchClient
from wildtool.models.batch.protocol import (
    BatchResult,
    BatchState,
    NoResultError,
    parse_count,
    parse_id,
    quote_id,
)
from wildtool.models.http.endpoint import Endpoint

BASE = "http://h/v1"


class Sent(Endpoint):
    """Gives these answers in turn, and notes what it was sent."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(BASE, "/x", api_key=None, timeout_s=1.0, max_body_bytes=100)
        self.answers, self.sent = list(answers), list[Any]()

    async def exchange(self, method: str, path: str, **more: Any) -> bytes:  # type: ignore[override]
        query, body = more.pop("query", None), more.pop("body", None)
        body = body.read() if hasattr(body, "read") else body
        self.sent.append((method, path, body, query and dict(query), more))
        answer = self.answers.pop(0)
        return answer if isinstance(answer, bytes) else json.dumps(answer).encode()


def openai(*answers: Any) -> tuple[OpenAIBatchClient, Sent]:
    endpoint = Sent(*answers)
    return OpenAIBatchClient(endpoint, "/chat/completions"), endpoint


def anthropic(*answers: Any) -> tuple[AnthropicBatchClient, Sent]:
    endpoint = Sent(*answers)
    return AnthropicBatchClient(endpoint, "/messages"), endpoint


def as_plain(result: BatchResult) -> tuple[Any, ...]:
    error = result.error
    words = None if error is None else (error.kind, str(error), error.final)
    return result.custom_id, result.answer, words, result.canceled


WHERE = "a batch at http://h/v1: "


@pytest.mark.parametrize(
    ("row", "result"),
    [
        (
            {"custom_id": "a", "response": {"status_code": 200, "body": {"b": "é"}}},
            ("a", '{"b":"é"}'.encode(), None, False),
        ),
        ({"custom_id": "a", "response": {"status_code": 299, "body": 0}}, ("a", b"0", None, False)),
        (
            {"custom_id": "a", "response": {"status_code": 400, "body": {"error": {"message": "m"}}}},
            ("a", b"", ("http 400", f"{WHERE}HTTP 400: m", True), False),
        ),
        (
            {"custom_id": "a", "response": {"status_code": 500, "body": ""}, "error": {"message": "why"}},
            ("a", b"", ("http 500", f"{WHERE}HTTP 500: why", False), False),
        ),
        ({"custom_id": "a", "error": {"code": "batch_cancelled"}}, ("a", b"", None, True)),
        (
            {"custom_id": "a", "error": {"code": "batch_expired", "message": "late"}},
            (
                "a",
                b"",
                ("batch expired", f"{WHERE}the batch expired before it was asked: late", False),
                False,
            ),
        ),
        (
            {"custom_id": "a", "error": {"code": "invalid_x", "message": "m"}},
            ("a", b"", ("batch error", f"{WHERE}invalid_x: m", True), False),
        ),
        (
            {"custom_id": "a", "error": {"code": "other"}},
            ("a", b"", ("batch error", f"{WHERE}other", False), False),
        ),
        (
            {"custom_id": "a", "error": {"code": "content_filter", "message": "m"}},
            ("a", b"", ("blocked prompt", f"{WHERE}the provider blocked the prompt: m", True), False),
        ),
    ],
)
def test_a_result_of_openai(row: Any, result: Any):
    assert as_plain(openai()[0].result(row)) == result


@pytest.mark.parametrize(
    ("row", "result"),
    [
        (
            {"custom_id": "a", "result": {"type": "succeeded", "message": {"b": 1}}},
            ("a", b'{"b":1}', None, False),
        ),
        ({"custom_id": "a", "result": {"type": "canceled"}}, ("a", b"", None, True)),
        (
            {"custom_id": "a", "result": {"type": "expired"}},
            ("a", b"", ("batch expired", f"{WHERE}the batch expired before it was asked", False), False),
        ),
        (
            {
                "custom_id": "a",
                "result": {"type": "errored", "error": {"type": "overloaded_error", "message": "m"}},
            },
            ("a", b"", ("http 529", f"{WHERE}HTTP 529: m", False), False),
        ),
        (
            {"custom_id": "a", "result": {"type": "errored", "error": {"type": "new", "message": "m"}}},
            ("a", b"", ("batch error", f"{WHERE}the request failed: m", False), False),
        ),
        (
            {"custom_id": "a", "result": {"type": "errored"}},
            ("a", b"", ("batch error", f"{WHERE}the request failed: no error is named", False), False),
        ),
    ],
)
def test_a_result_of_anthropic(row: Any, result: Any):
    assert as_plain(anthropic()[0].result(row)) == result


@pytest.mark.parametrize("status", [100, 599])
def test_a_refusal_has_any_status_of_http(status: int):
    row = {"custom_id": "a", "response": {"status_code": status, "body": {}}, "error": {"message": "why"}}
    result = openai()[0].result(row)
    assert result.error is not None
    assert (result.custom_id, result.error.kind, str(result.error)[-3:]) == ("a", f"http {status}", "why")


@pytest.mark.parametrize(
    ("client", "row", "problem"),
    [
        (openai, {"response": {}}, "no custom_id"),
        (openai, {"custom_id": "a"}, "neither response nor error"),
        (
            openai,
            {"custom_id": "a", "response": {"status_code": True, "body": 1}},
            "a response without status or body",
        ),
        (
            openai,
            {"custom_id": "a", "response": {"status_code": 99, "body": 1}},
            "a response without status or body",
        ),
        (
            openai,
            {"custom_id": "a", "response": {"status_code": 600, "body": 1}},
            "a response without status or body",
        ),
        (openai, {"custom_id": "a", "response": {"status_code": 200}}, "a response without status or body"),
        (anthropic, {"custom_id": 5}, "no custom_id"),
        (anthropic, {"custom_id": "a", "result": {"type": "succeeded"}}, "no result of a known type"),
    ],
)
def test_a_line_that_is_no_result(client: Any, row: Any, problem: str):
    with pytest.raises(NoResultError) as raised:
        client()[0].result(row)
    assert str(raised.value) == problem


@pytest.mark.parametrize(
    ("document", "state"),
    [
        ({"id": "b", "status": "in_progress"}, BatchState("b", "in_progress", False)),
        (
            {
                "id": "b",
                "status": "completed",
                "output_file_id": "o",
                "error_file_id": "e",
                "request_counts": {"total": 5, "completed": 3, "failed": 1},
            },
            BatchState("b", "completed", True, 5, 4, ("o", "e")),
        ),
        ({"id": "b", "status": "failed"}, BatchState("b", "failed", True, failure="no reason given")),
        (
            {
                "id": "b",
                "status": "failed",
                "output_file_id": "bad id",
                "errors": {
                    "data": [
                        {"code": "a", "message": "m", "line": 3},
                        {"code": "b", "message": "n", "line": True},
                        *({"code": "c", "message": "o"} for _ in range(2)),
                    ]
                },
            },
            BatchState("b", "failed", True, failure="a: m; b: n; c: o", failed_lines={3: "m"}),
        ),
        (
            {
                "id": "b",
                "status": "failed",
                "errors": {"data": [{"code": "token_limit_exceeded", "message": "m"}]},
            },
            BatchState("b", "failed", True, failure="token_limit_exceeded: m", too_large=True),
        ),
        (
            {
                "id": "b",
                "status": "expired",
                "errors": {"data": [{"code": "timeout"}, {"code": "server_error"}]},
            },
            BatchState("b", "expired", True, transient=True),
        ),
        (
            {"id": "b", "status": "cancelled", "errors": {"data": [{"code": "timeout"}, {"code": "x"}]}},
            BatchState("b", "cancelled", True),
        ),
    ],
)
def test_a_state_of_openai(document: Any, state: BatchState):
    assert openai()[0].read_state(document) == state


@pytest.mark.parametrize(
    ("document", "state"),
    [
        (
            {
                "id": "b",
                "processing_status": "in_progress",
                "request_counts": {"processing": 3, "succeeded": 2},
            },
            BatchState("b", "in_progress", False, 5, 2),
        ),
        (
            {"id": "b", "processing_status": "ended", "results_url": f"{BASE}/x/y.jsonl"},
            BatchState("b", "ended", True, 0, 0, ("/x/y.jsonl",)),
        ),
        *(
            (
                {"id": "b", "processing_status": "ended", "results_url": url},
                BatchState("b", "ended", True, 0, 0, ("/messages/batches/b/results",)),
            )
            for url in (None, "http://other/v1/x", f"{BASE}/x/../y", f"{BASE}/x?k=v", "http://h/v10/x")
        ),
    ],
)
def test_a_state_of_anthropic(document: Any, state: BatchState):
    assert anthropic()[0].read_state(document) == state


def test_a_document_that_is_no_batch_is_named():
    for client, noun in ((openai()[0], "batch"), (anthropic()[0], "message batch")):
        for document in ({"id": "b"}, {"status": "x", "processing_status": "x"}):
            with pytest.raises(CallError) as raised:
                client.read_state(document)
            assert (raised.value.kind, str(raised.value)) == (
                "wrong shape",
                f"http://h/v1: the answer is no {noun}: {document}",
            )


async def test_requests_are_sent_as_each_provider_wants_them():
    client, endpoint = openai(
        {"id": "f"}, {"id": "b", "status": "s"}, {"id": "b", "status": "s"}, {"id": 5}, b"[1]"
    )
    assert client.line("i", b"{}") == (
        b'{"custom_id":"i","method":"POST","url":"/v1/chat/completions","body":{}}\n'
    )
    head, tail = client.envelope("M")
    assert head.decode() == (
        '--M\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        '--M\r\nContent-Disposition: form-data; name="file"; filename="M.jsonl"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    assert tail == b"\r\n--M--\r\n"
    assert await client.upload("M", io.BytesIO(b"F")) == "f"
    assert (await client.create("M", None, "f")).id == "b"
    assert (await client.state("b/c")).status == "s"
    fields = {
        "input_file_id": "f",
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {"wildtool": "M"},
    }
    assert endpoint.sent == [
        ("POST", "/files", b"F", None, {"kind": "multipart/form-data; boundary=M"}),
        ("POST", "/batches", json.dumps(fields, separators=(",", ":")).encode(), None, {}),
        ("GET", "/batches/b%2Fc", None, None, {}),
    ]
    with pytest.raises(CallError, match=r"^http://h/v1: the answer is no file: \{'id': 5\}$"):
        await client.upload("M", io.BytesIO())
    with pytest.raises(CallError, match=r"^/batches/x: the answer is no JSON object: \[1\]$"):
        await client.state("x")
    other, sent = anthropic({"id": "b", "processing_status": "s"}, b"")
    assert (other.line("i", b"{}"), other.separator) == (b'{"custom_id":"i","params":{}}', b",")
    assert other.envelope("M") == (b'{"requests":[', b"]}")
    assert await other.upload("M", io.BytesIO()) is None
    await other.create("M", io.BytesIO(b"F"), None)
    await other.fetch("/x", io.BytesIO())
    assert [each[:3] for each in sent.sent] == [("POST", "/messages/batches", b"F"), ("GET", "/x", None)]
    assert client.cancel_url("b") == "http://h/v1/batches/b/cancel"
    limits = [(each.most_requests, each.most_bytes, each.stores_mark) for each in (client, other)]
    assert limits == [(50_000, 200_000_000, True), (100_000, 256_000_000, False)]


async def test_results_are_fetched_by_the_id_of_their_file():
    client, endpoint = openai(b"")
    into = io.BytesIO()
    await client.fetch("f/1", into)
    assert endpoint.sent == [("GET", "/files/f%2F1/content", None, None, {"into": into})]


async def found(client: Any, since: float = 100.0) -> list[str]:
    return [state.id async for state in client.find("M", 2, since)]


def listed(id_: str, created: Any = 200, mark: str = "x") -> dict[str, Any]:
    return {"id": id_, "status": "s", "created_at": created, "metadata": {"wildtool": mark}}


async def test_a_batch_of_openai_is_found_by_its_mark():
    client, endpoint = openai(
        {"data": [listed("a"), listed("b")], "has_more": True},
        {"data": [listed("c", mark="M"), listed("d", mark="M")]},
    )
    assert await found(client) == ["c"]
    assert [each[3] for each in endpoint.sent] == [{"limit": "100"}, {"limit": "100", "after": "b"}]
    for page in (
        {"data": [listed("a")]},
        {"data": [], "has_more": True},
        {"data": [listed("a", 99)], "has_more": True},
        {"data": [listed("bad id")], "has_more": True},
    ):
        client, endpoint = openai(page, {"data": [listed("c", mark="M")]})
        assert (await found(client), len(endpoint.sent)) == ([], 1)
    for created in (100, None, float("inf")):
        client, _ = openai(
            {"data": [listed("a", created)], "has_more": True}, {"data": [listed("c", mark="M")]}
        )
        assert await found(client) == ["c"]
    client, endpoint = openai(*[{"data": [listed("a")], "has_more": True}] * 30)
    assert (await found(client), len(endpoint.sent)) == ([], 20)


def counted(id_: str, requests: int = 2, second: int = 200) -> dict[str, Any]:
    created = datetime.fromtimestamp(second, UTC).isoformat()
    return {"id": id_, "processing_status": "s", "created_at": created, "request_counts": {"x": requests}}


async def test_batches_of_anthropic_are_found_by_their_size_and_time():
    client, endpoint = anthropic(
        {"data": [counted("a"), counted("b", 3)], "has_more": True, "last_id": "z"},
        {
            "data": [counted("c"), {**counted("d"), "created_at": "?"}, counted("e", 2, 99), counted("f")],
            "has_more": True,
        },
    )
    assert await found(client) == ["a", "c", "d"]
    assert [each[3] for each in endpoint.sent] == [{"limit": "100"}, {"limit": "100", "after_id": "z"}]
    for more in ({"last_id": "z"}, {"has_more": True}, {"has_more": True, "last_id": "bad id"}):
        client, endpoint = anthropic({"data": [counted("a", 2, 100)], **more}, {"data": [counted("b")]})
        assert (await found(client), len(endpoint.sent)) == (["a"], 1)
    client, endpoint = anthropic(*[{"data": [], "has_more": True, "last_id": "z"}] * 30)
    assert (await found(client), len(endpoint.sent)) == ([], 20)


def test_ids_and_counts():
    assert [parse_id(each) for each in ("a!", "", "a b", 5, "x" * 200, "x" * 201)] == [
        "a!",
        None,
        None,
        None,
        "x" * 200,
        None,
    ]
    assert [quote_id(each) for each in ("a/b", "..", "a.b", ".")] == ["a%2Fb", "%2E%2E", "a.b", "%2E"]
    assert [parse_count(each) for each in (0, 3, -1, True, "3", 1.5)] == [0, 3, 0, 0, 0, 0]
