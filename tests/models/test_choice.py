"""Which model a name stands for, at which address, with which key; and each refusal to the word."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from wildtool.errors import UsageError
from wildtool.models import resolve
from wildtool.models.resolve import (
    PRESETS,
    ModelOptions,
    Preset,
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


def refusal(name: str, options: ModelOptions | None = None) -> str:
    with pytest.raises(UsageError) as raised:
        model_from_name(name, options or ModelOptions())
    return str(raised.value)


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


# Providers of packages ---------------------------------------------------------------------------------


def make_own(display_name: str, sent_as: str, options: ModelOptions) -> Any:
    return (display_name, sent_as, options)


OWN_PRESET = Preset("http://127.0.0.1:5/v1")


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[EntryPoint, ...]]:
    entries: dict[str, tuple[EntryPoint, ...]] = {}
    monkeypatch.setattr(resolve, "installed_entries", lambda group: entries)
    return entries


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{value}", "wildtool.providers")


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        (
            (entry("own", "KEY"),),
            f"its entry point {__name__}:KEY is str; name a Preset of wildtool.models.resolve, or a function that makes"
            " models",
        ),
        (
            (entry("own", "ModelOptions"),),
            f"its entry point {__name__}:ModelOptions is type; name a Preset of wildtool.models.resolve, or a function"
            " that makes models",
        ),
        (
            (entry("own", "make_own"), entry("own", "OWN_PRESET")),
            f"{__name__} offers that prefix too; uninstall one of them",
        ),
    ],
)
def test_a_prefix_that_cannot_be_used_is_refused(
    entries: tuple[EntryPoint, ...], problem: str, offered: dict[str, tuple[EntryPoint, ...]]
):
    offered["own"] = entries
    assert refusal("own/x") == f"provider 'own' of package {__name__} cannot be used: {problem}"
