"""What sends the requests of a check."""

from typing import Any, cast

import pytest

from wildtool.check.sender import Sender
from wildtool.engine.call import client
from wildtool.errors import CallError, InfraError
from wildtool.models.providers.base import HttpModel


class LoadingModel:
    """An endpoint that loads its model for some requests, then refuses."""

    def __init__(self, requests: int) -> None:
        self.requests = requests

    async def answer_to(self, body: Any) -> Any:
        self.requests -= 1
        if self.requests >= 0:
            raise CallError("http 503", "HTTP 503: Loading model")
        raise CallError("http 404", "HTTP 404: no such model")


async def test_an_endpoint_that_loads_its_model_is_asked_again_before_anything_is_said_of_it(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(client, "RESTART_PAUSE_S", 0.0)
    notices: list[str] = []
    sender = Sender("m", cast(HttpModel, LoadingModel(3)), concurrency=1, tell=notices.append)
    answer = await sender.send("first", {"messages": []})
    assert answer.failure == "HTTP 404: no such model" and sender.sent == 1
    assert notices == ["the endpoint loads its model (http 503); waiting for it, 60 s at most"]


class RepeatedAnswer:
    """An endpoint that answers each request with the same bytes, or refuses where there are none."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    async def answer_to(self, body: Any) -> Any:
        if not self.raw:
            raise CallError("http 404", "HTTP 404: no such model")
        return self.raw


async def test_an_error_within_an_answer_is_an_answer_to_the_first_request():
    answers, demanded = await Sender(
        "m", cast(HttpModel, RepeatedAnswer(b'{"error": {"message": "busy"}}')), concurrency=1
    ).first()
    assert ([answer.failure for answer in answers], demanded) == (["busy"] * 6, False)
    with pytest.raises(InfraError, match=r"^m: HTTP 404: no such model$") as caught:
        await Sender("m", cast(HttpModel, RepeatedAnswer(b"")), concurrency=1).first()
    assert caught.value.kind == "no answer"


async def test_a_finish_reason_of_calls_is_as_good_as_a_call():
    raw = b'{"choices": [{"message": {"content": ""}, "finish_reason": "%s"}]}'
    for finish, count in ((b"tool_calls", 6), (b"stop", 12)):
        sender = Sender("m", cast(HttpModel, RepeatedAnswer(raw % finish)), concurrency=1)
        answers, demanded = await sender.first()
        assert (len(answers), sender.sent, demanded) == (6, count, False)


class SilentModel:
    """An endpoint that never answers."""

    async def answer_to(self, body: Any) -> Any:
        raise CallError("timeout", "no complete answer within 120 s")


async def test_an_endpoint_that_never_answers_is_waited_for_once_streamed_and_once_whole():
    sender = Sender("m", cast(HttpModel, SilentModel()), concurrency=1)
    with pytest.raises(InfraError, match="no complete answer"):
        await sender.first()
    assert sender.sent == 2
