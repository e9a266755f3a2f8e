"""Models of other roles than the one under test: which model plays each, and all that the user is told of it."""

from dataclasses import replace
from typing import Any

import pytest

from engine.echo_benchmark import EchoBenchmark, ScriptedModel
from models.options import model_options
from wildtool.benchmark import JUDGE
from wildtool.config.config_file import ModelEntry
from wildtool.config.named_models import (
    ConfiguredModel,
    ModelCatalog,
    OtherRoles,
    RoleOptions,
    assign_other_roles,
)
from wildtool.errors import UsageError
from wildtool.models.replay import ReplayModel
from wildtool.models.resolve import ModelOptions
from wildtool.models.settings import EndpointOptions, Rates
from wildtool.models.token_usage import FREE
from wildtool.types import Role

BENCHMARK: Any = EchoBenchmark()
BENCHMARK.roles = {
    "user": Role("says something first", "baseline/user"),
    "narrator": Role("tells more", "baseline/chat"),
    JUDGE: Role("judges texts", ""),
    "retriever": Role("finds tools", "bm25", searches=True),
}


class NotedCatalog:
    """In place of a `ModelCatalog`: notes what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def find(self, name: str, options: ModelOptions, typed: Any, rates: Rates) -> ConfiguredModel:
        self.calls.append((name, options, list(typed), rates))
        return ConfiguredModel(Named(name), rates, None)


class Named(ScriptedModel):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def beside(
    agent: ModelOptions, endpoint: EndpointOptions, temperature: float | None, max_tokens: int | None,
    option: str = "--user-base-url", **changes: Any,
) -> ModelOptions:  # fmt: skip
    """The options of a model beside the agent, whose address is told by an option."""
    options = agent.for_other_role(endpoint, temperature, max_tokens)
    return replace(options, endpoint=replace(options.endpoint, base_url_option=option), **changes)


def test_each_role_is_asked_at_its_endpoint_within_its_limits() -> None:
    catalog: Any = NotedCatalog()
    limits = {"user": 7, JUDGE: 8}
    benchmark: Any = EchoBenchmark()
    benchmark.roles = {
        name: replace(role, max_tokens=limits.get(name)) for name, role in BENCHMARK.roles.items()
    }
    settings = model_options(base_url="http://h/v1", temperature=0.5, max_tokens=99, seed=3)
    others = OtherRoles(ScriptedModel(), settings, catalog, Rates(rpm=1, tpm=2))
    own = EndpointOptions(base_url="http://own/v1", api_key_env="OWN")

    def asked(*roles: str, options: RoleOptions) -> list[Any]:
        catalog.calls.clear()
        more = {"tools": Role("plays tools", "baseline/chat", max_tokens=6)}
        assign_other_roles(benchmark, roles, others, lambda role: options, {"t": "text"}, more)
        return catalog.calls

    bare, both = EndpointOptions(), Rates(rpm=1, tpm=2)
    assert asked("user", "narrator", options=RoleOptions(temperature=0.25)) == [
        ("baseline/user", beside(settings, bare, 0.25, 7), ["temperature"], both),
        ("baseline/chat", beside(settings, bare, 0.25, None), ["temperature"], both),
        ("baseline/chat", beside(settings, bare, 0.25, 6), ["temperature"], both),
    ]
    options = RoleOptions(
        model="m", endpoint=own, temperature=0.25, max_tokens=5, rates=Rates(tpm=9), top_k=4
    )
    typed = ["base_url", "api_key_env", "temperature", "max_tokens"]
    judged = beside(settings, own, 0.0, 5, "--judge-base-url")
    searched = beside(settings, own, None, None, "--retriever-base-url", api="embeddings")
    assert asked("user", "narrator", JUDGE, "retriever", options=options) == [
        ("m", beside(settings, own, 0.25, 5), typed, Rates(rpm=1, tpm=9)),
        ("baseline/chat", beside(settings, own, 0.25, 5), typed, Rates(rpm=1, tpm=9)),
        ("m", judged, typed, both),
        ("m", beside(settings, own, 0.25, 5), typed, Rates(rpm=1, tpm=9)),
        ("m", searched, typed, both),
    ]
    judged = beside(settings, bare, 0.0, 8, "--judge-base-url")
    assert asked(JUDGE, options=RoleOptions(model="m"))[0] == ("m", judged, [], both)


def test_a_ranker_of_tools_has_its_endpoint_or_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog: Any = NotedCatalog()
    settings = model_options(base_url="http://h/v1")
    monkeypatch.setattr("wildtool.models.providers.ranker.as_ranker", lambda model: ("ranker", model.name))
    others = OtherRoles(ScriptedModel(), settings, catalog, Rates(rpm=1))
    assert others.ranker("e", RoleOptions(temperature=0.5)).model == ("ranker", "e")
    options = beside(settings, EndpointOptions(), None, None, "--among-base-url", api="embeddings")
    assert catalog.calls == [("e", options, ["temperature"], Rates(rpm=1))]
    replayed = ReplayModel("replay:x", lambda item, repeat: None)
    ranker = replace(others, agent=replayed).ranker("e", RoleOptions())
    assert ranker == ConfiguredModel(replayed, Rates(), FREE)


def test_a_name_close_to_one_of_the_config_file_is_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    catalog = ModelCatalog({"my-model": ModelEntry(model="m")}, {})
    with pytest.raises(UsageError) as caught:
        catalog.find("baseline/my-mode", model_options(), (), Rates())
    assert str(caught.value).startswith("unknown baseline 'baseline/my-mode'")
    with pytest.raises(UsageError, match=r"; did you mean 'my-model' of wildtool\.toml\?$"):
        catalog.find("my-modle", model_options(), (), Rates())


def test_a_simulated_user_is_asked_with_the_originals_sampling_a_tools_model_is_not() -> None:
    catalog: Any = NotedCatalog()
    settings = model_options(base_url="http://h/v1")
    others = OtherRoles(ScriptedModel(), settings, catalog, Rates(), {"top_p": 1})
    options = {
        "user": RoleOptions(model="u", temperature=0.001, max_tokens=1000),
        "tools": RoleOptions(model="t"),
    }
    tools = {"tools": Role("plays tools", default="baseline/chat")}
    assign_other_roles(BENCHMARK, ["user"], others, lambda role: options.get(role, RoleOptions()), {}, tools)
    asked = {name: options.sampling for name, options, _, _ in catalog.calls}
    assert (asked["u"].temperature, asked["u"].max_tokens, asked["u"].extra_body) == (
        0.001,
        1000,
        {"top_p": 1},
    )
    assert asked["t"].extra_body == {}
