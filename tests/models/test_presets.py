"""A prefix leads to an endpoint of the table, and a key goes nowhere but where it belongs."""

import re
from pathlib import Path

import pytest

from models.options import model_options
from wildtool.errors import UsageError
from wildtool.models.providers.anthropic import AnthropicModel
from wildtool.models.providers.base import HttpModel
from wildtool.models.providers.gemini import GeminiModel
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.models.providers.openai_responses import ResponsesModel
from wildtool.models.resolve import PRESETS, ModelOptions, destination_of, model_from_name, preset_of
from wildtool.models.settings import EndpointOptions

LOCAL = "http://127.0.0.1:8000/v1"
KEY = "sk-preset-0123456789"


@pytest.fixture(autouse=True)
def no_settings_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AWS_REGION", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for preset in PRESETS.values():
        if preset.key_env:
            monkeypatch.delenv(preset.key_env, raising=False)


def made(name: str, options: ModelOptions | None = None) -> HttpModel:
    model = model_from_name(name, options or ModelOptions())
    assert isinstance(model, HttpModel)
    return model


def headers(model: HttpModel) -> dict[str, str]:
    return model._endpoint._headers  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("name", "kind", "header"),
    [
        ("anthropic/claude-x", AnthropicModel, "x-api-key"),
        ("gemini/gemini-x", GeminiModel, "x-goog-api-key"),
        ("openai-responses/gpt-x", ResponsesModel, "Authorization"),
        ("openai-chat/gpt-x", OpenAIModel, "Authorization"),
        ("openrouter/meta-llama/llama-x:free", OpenAIModel, "Authorization"),
    ],
)
def test_a_prefix_names_protocol_address_and_key(
    name: str, kind: type, header: str, monkeypatch: pytest.MonkeyPatch
):
    prefix, _, rest = name.partition("/")
    monkeypatch.setenv(PRESETS[prefix].key_env or "", KEY)
    model = made(name)
    assert type(model) is kind and model.name == name
    assert model.settings()["sent_as"] == rest
    assert model.settings()["base_url"] == PRESETS[prefix].base_url
    assert headers(model)[header].removeprefix("Bearer ") == KEY


def test_the_key_of_a_preset_does_not_go_to_another_address(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert KEY not in headers(made("anthropic/m", model_options(base_url=LOCAL))).values()


def test_a_named_key_goes_to_the_address_that_was_given(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MINE", KEY)
    model = made("anthropic/m", model_options(base_url=LOCAL, api_key_env="MINE"))
    assert headers(model)["x-api-key"] == KEY and model.settings()["base_url"] == LOCAL


def test_without_its_key_the_variable_is_named():
    with pytest.raises(UsageError, match=r"set GROQ_API_KEY.*--api-key-env"):
        made("groq/llama-x")


def test_servers_of_ones_own_need_no_key():
    model = made("ollama/qwen3:8b")
    assert model.settings()["base_url"] == "http://127.0.0.1:11434/v1"
    assert "Authorization" not in headers(model)


def test_azure_sends_its_own_header_to_the_resource_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com/")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    model = made("azure/my-deployment")
    assert model.settings()["base_url"] == "https://me.openai.azure.com/openai/v1"
    assert headers(model)["api-key"] == KEY and "Authorization" not in headers(model)


def test_a_variable_that_an_address_lacks_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    with pytest.raises(UsageError, match=r"needs AWS_REGION; set it or give --base-url"):
        made("bedrock/openai.gpt-oss-20b-1:0")


@pytest.mark.parametrize(
    "name", ["openai/gpt-oss-20b", "Qwen/Qwen3-8B", "nvidia/x", "anthropic", "anthropic/", "a"]
)
def test_other_names_are_plain_ones(name: str):
    assert preset_of(name) is None


def test_any_name_can_be_sent_as_it_is_behind_a_prefix_of_its_own():
    assert made("openai-chat/anthropic/claude-x", model_options(base_url=LOCAL)).settings()["sent_as"] == (
        "anthropic/claude-x"
    )


def test_the_address_of_the_model_under_test_is_not_that_of_a_preset_beside_it(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    agent = model_options(base_url=LOCAL, api_key_env="MINE")
    user = made("gemini/g", agent.for_other_role(EndpointOptions(), None))
    assert user.settings()["base_url"] == PRESETS["gemini"].base_url
    assert headers(user)["x-goog-api-key"] == KEY


def test_the_key_of_another_role_goes_to_its_own_provider_and_not_to_the_tested_models_address():
    agent = model_options(base_url=LOCAL, given_at=LOCAL)
    beside = agent.for_other_role(EndpointOptions(api_key_env="THEIRS"), None)
    assert where("gemini/g", beside) == (PRESETS["gemini"].base_url, "THEIRS")
    # A plain name is asked where the tested model is, with the key that was named for it there.
    assert where("u", beside) == (LOCAL, "THEIRS")


def test_the_key_of_the_tested_model_goes_to_no_address_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)
    groq = PRESETS["groq"].base_url
    for tested, key in ((groq, "OPENAI_API_KEY"), (LOCAL, "MINE")):
        agent = model_options(api_key_env="MINE", given_at=tested)
        assert where("u", agent.for_other_role(EndpointOptions(), None)) == (LOCAL, key)


def where(name: str, options: ModelOptions) -> tuple[str, str]:
    """The address of a model, and the variable whose key it gets."""
    destination = destination_of(name, options)
    return destination.address, destination.key


def test_streams_are_said_in_the_settings():
    assert made("vllm/m", model_options(stream=True)).settings()["stream"] is True


def test_anthropics_limit_is_said_where_none_was_given(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert made("anthropic/m").settings()["max_tokens"] == 4096


def test_the_documentation_has_every_preset():
    told = Path(__file__).parents[2].joinpath("docs", "models.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)/", told, re.MULTILINE)) >= PRESETS.keys()
