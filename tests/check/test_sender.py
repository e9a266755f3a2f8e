"""What sends the requests of a check."""

import asyncio
from typing import Any, cast

import pytest

from wildtool.check.sender import Sender, ask_all
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


class CountingModel:
    """An endpoint that calls a tool on each request, and counts the requests that are in flight."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.most = {"serial": 0, "load": 0, "other": 0}

    async def answer_to(self, body: Any) -> bytes:
        text = str(body["messages"][-1]["content"])
        group = "serial" if "about the sea" in text else "load" if '"room 1' in text else "other"
        self.in_flight += 1
        self.most[group] = max(self.most[group], self.in_flight)
        await asyncio.sleep(0)
        self.in_flight -= 1
        call = b'{"id": "c", "function": {"name": "f", "arguments": "{}"}}'
        return b'{"choices": [{"message": {"tool_calls": [%s]}, "finish_reason": "tool_calls"}]}' % call


async def test_only_requests_of_the_load_are_sent_at_once():
    model, shown = CountingModel(), list[tuple[int, int]]()
    sender = Sender("m", cast(HttpModel, model), concurrency=4)
    answers, demanded = await ask_all(sender, quick=True, load=9, show=lambda *counts: shown.append(counts))
    # Each of the load is asked for whole and streamed.
    assert model.most == {"serial": 1, "load": 2 * 9, "other": 4}
    sent = [name for name, group in answers.items() if group]
    assert (demanded, shown) == (False, [(number, len(sent)) for number in range(2, len(sent) + 1)])
