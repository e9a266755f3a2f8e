"""Which model a name stands for, at which address, with which key; and each refusal to the word."""

from typing import Any

import pytest

from wildtool.errors import UsageError
from wildtool.models.resolve import (
    PRESETS,
    ModelOptions,
    model_from_name,
)

LOCAL = "http://127.0.0.1:8000/v1"
KEY = "sk-preset-0123456789"


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "AWS_REGION", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for preset in PRESETS.values():
        monkeypatch.delenv(preset.key_env or "NO_SUCH", raising=False)


def key_headers(model: Any) -> dict[str, str]:
    """The headers that carry a key."""
    headers: dict[str, str] = model._endpoint._headers
    return {header: value for header, value in headers.items() if KEY in value or "other" in value}


def test_searches_go_to_the_address_of_the_environment_with_its_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WILDTOOL_SEARCH_URL", f" {LOCAL} ")
    for value, keys in ((f" {KEY}\n", {"Authorization": f"Bearer {KEY}"}), (" ", {})):
        monkeypatch.setenv("WILDTOOL_SEARCH_API_KEY", value)
        model = model_from_name("web/search", ModelOptions())
        assert (model.name, model.settings()) == ("web/search", {"endpoint": LOCAL})
        assert key_headers(model) == keys
    monkeypatch.delenv("WILDTOOL_SEARCH_URL")
    with pytest.raises(UsageError, match=r"^web search is not runnable here"):
        model_from_name("web/search", ModelOptions())
