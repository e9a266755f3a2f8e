"""What sends the requests of a check."""

from typing import Any, cast

import pytest

from wildtool.check.sender import Sender
from wildtool.engine.call import client
from wildtool.errors import CallError
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
