"""Endpoints that cannot be reached, and those that ask for a wait that nobody can mean."""

import math
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.errors import CallError
from wildtool.models.http import endpoint
from wildtool.models.http.failures import retry_after_s
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.types import Request

REQUEST = Request([{"role": "user", "content": "hi"}])


async def test_a_connection_that_does_not_come_about_is_given_up_long_before_the_call(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(endpoint, "CONNECT_TIMEOUT_S", 0.05)
    with full_backlog() as base_url:
        model = OpenAIModel("m", base_url, "EMPTY", timeout_s=600)
        with pytest.raises(CallError) as caught:
            await model.complete(REQUEST)
        await model.close()
    assert caught.value.kind == "network"
    assert "no connection within 0.05 s (check host and port" in str(caught.value)
    assert not caught.value.final


@contextmanager
def full_backlog() -> Generator[str]:
    """The base URL of a server that accepts nobody, and whose queue is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, ExitStack() as waiting:
        port = listener.getsockname()[1]
        for _ in range(4):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        yield f"http://127.0.0.1:{port}/v1"


@pytest.mark.parametrize("digits", ["9999999999", "123456789012345678901234567890", "0012345678901.5"])
def test_a_retry_after_of_many_digits_is_a_long_wait(digits: str):
    assert (retry_after_s(digits) or 0) >= 9_999_999_999


@pytest.mark.parametrize(
    "date",
    ["Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 -2359", "Mon, 01 Jan 0001 00:00:00 +2359"],
)
def test_a_retry_after_at_the_ends_of_time_is_a_wait_of_some_length(date: str):
    wait = retry_after_s(date)
    assert wait is None or 0 <= wait < math.inf


@given(st.text() | st.text("0123456789.:-+ eENnaAiIfFtTyGMT,"))
def test_no_retry_after_raises_or_gives_what_is_no_wait(text: str):
    wait = retry_after_s(text)
    assert wait is None or 0 <= wait < math.inf
