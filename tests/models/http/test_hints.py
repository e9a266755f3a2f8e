"""An endpoint that is none is told apart from one that refuses, and what to do is said."""

import pytest

from faults.server import Answer, FaultServer, http
from models.options import model_options
from wildtool.errors import CallError, UsageError
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.models.resolve import ModelOptions, model_from_name
from wildtool.types import Request

PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head></html>"


class Saying(FaultServer):
    """Answers everything alike."""

    def __init__(self, answer: bytes) -> None:
        super().__init__("ok")
        self.said = Answer(answer)

    def answer(self, head: bytes, body: bytes) -> Answer:
        return self.said


async def failure(base_url: str) -> CallError:
    model = OpenAIModel("m", base_url, "sk-advice-0011")
    try:
        with pytest.raises(CallError) as caught:
            await model.complete(Request([{"role": "user", "content": "hi"}]))
    finally:
        await model.close()
    return caught.value


@pytest.mark.parametrize("status", [200, 403, 404])
async def test_a_web_page_is_told_from_an_api(status: int):
    async with Saying(http(status, PAGE, kind="text/html")) as server:
        error = await failure(server.base_url)
    assert "this is a web page; check the base URL" in str(error) and "<title>Sign in" in str(error)


async def test_a_missing_version_is_advised_and_a_missing_model_is_not_blamed_on_it():
    async with Saying(http(404, b'{"error":{"message":"no model m"}}')) as server:
        without = await failure(server.base_url.removesuffix("/v1"))
        with_it = await failure(server.base_url)
    assert "most base URLs end in a version" in str(without)
    assert str(with_it).endswith("HTTP 404: no model m")


async def test_a_port_where_nobody_listens_is_told_as_that():
    async with FaultServer() as server:
        gone = server.base_url
    assert "no server listens there" in str(await failure(gone))


@pytest.mark.parametrize("name", ["m", "anthropic/m", "openai-responses/m"])
def test_an_address_that_holds_the_protocols_own_path_is_refused(name: str):
    path = {"m": "/chat/completions", "anthropic/m": "/messages", "openai-responses/m": "/responses"}[name]
    with pytest.raises(UsageError, match=f"ends in {path}, which is added"):
        model_from_name(name, model_options(base_url=f"http://u:secret@h/v1{path}/"))


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("antropic/claude-x", "did you mean anthropic/claude-x?"),
        ("anthropic/", "is a prefix alone; name the model too, such as anthropic/NAME"),
        ("my-model", "put a provider before the name"),
    ],
)
def test_a_name_without_an_endpoint_is_answered_with_what_was_meant(
    name: str, advice: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError) as caught:
        model_from_name(name, ModelOptions())
    assert advice in str(caught.value)
