"""Batches as each provider describes them: requests sent, states, results and lists read, field by field."""

import json
from typing import Any

import pytest

from wildtool.models.batch.openai import OpenAIBatchClient
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


@pytest.mark.parametrize("status", [100, 599])
def test_a_refusal_has_any_status_of_http(status: int):
    row = {"custom_id": "a", "response": {"status_code": status, "body": {}}, "error": {"message": "why"}}
    result = openai()[0].result(row)
    assert result.error is not None
    assert (result.custom_id, result.error.kind, str(result.error)[-3:]) == ("a", f"http {status}", "why")
