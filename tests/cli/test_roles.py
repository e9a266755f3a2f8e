"""Models of other roles than the one under test: which model plays each, and all that the user is told of it."""

from collections.abc import Mapping
from typing import Any

import pytest

from engine.echo_benchmark import EchoBenchmark, ScriptedModel
from models.options import model_options
from wildtool.benchmark import JUDGE
from wildtool.cli.options.config_file import ModelEntry
from wildtool.cli.options.run import RoleOptions
from wildtool.cli.plans import ModelCatalog, assign_other_roles, check_prices
from wildtool.errors import UsageError
from wildtool.models.replay import ReplayModel
from wildtool.models.retrievers import DEFAULT_TOP_K
from wildtool.models.settings import Rates
from wildtool.models.token_usage import FREE, Price
from wildtool.types import Role

BENCHMARK: Any = EchoBenchmark()
BENCHMARK.roles = {
    "user": Role("says something first", "baseline/user"),
    "narrator": Role("tells more", "baseline/chat"),
    JUDGE: Role("judges texts", ""),
    "retriever": Role("finds tools", "bm25", searches=True),
}
DOCUMENTS = {f"t{number}": "text" for number in range(1_200)}


def assigned(
    *roles: str, agent: Any = None, options: Mapping[str, RoleOptions] | None = None, **more: Any
) -> tuple[dict[str, tuple[str, Any]], list[str]]:
    """Name and price of the model of each role, and the notes."""

    def of(role: str) -> RoleOptions:
        return (options or {}).get(role, RoleOptions())

    settings = model_options(base_url="http://h/v1")
    models, notes = assign_other_roles(BENCHMARK, roles, agent or ScriptedModel(), settings, of, **more)
    return {role: (model.model.name, model.price) for role, model in models.items()}, notes


def test_roles_are_played_by_their_defaults_and_that_is_told() -> None:
    models, notes = assigned("user", "narrator", "retriever", documents=DOCUMENTS)
    assert models == {
        "user": ("baseline/user", FREE),
        "narrator": ("baseline/chat", FREE),
        "retriever": ("bm25", FREE),
    }
    assert notes == [
        "user is played by baseline/user; for a model give --user-model NAME",
        "narrator is played by baseline/chat",
        f"the {DEFAULT_TOP_K} best of 1,200 tools are found by bm25",
    ]


def test_named_models_play_and_only_the_judge_and_the_retriever_are_told() -> None:
    options = {
        "user": RoleOptions(model="u"),
        "judge": RoleOptions(model="scripted"),
        "retriever": RoleOptions(model="e", top_k=3),
    }
    ready = {"scripted": ScriptedModel()}
    catalog = ModelCatalog({}, {"u": Price(input=1, output=2)}, ready)
    models, notes = assigned(
        "user", JUDGE, "retriever", options=options, catalog=catalog, documents=DOCUMENTS
    )
    assert models == {
        "user": ("u", Price(input=1, output=2)),
        JUDGE: ("scripted", FREE),
        "retriever": ("e", None),
    }
    assert notes == [
        "texts are judged by scripted, the tested model itself",
        "the 3 best of 1,200 tools are found by e",
    ]


def test_a_named_user_that_no_item_asks_is_told_and_a_judge_must_be_named() -> None:
    options = {"user": RoleOptions(model="u"), "judge": RoleOptions(model="j")}
    assert assigned(JUDGE, options=options) == (
        {JUDGE: ("j", None)},
        ["texts are judged by j", "no selected item needs a user; u is not called"],
    )
    with pytest.raises(UsageError) as caught:
        assigned(JUDGE)
    assert str(caught.value) == "name the model that judges texts: --judge NAME"


def test_a_recorded_model_replays_all_other_roles() -> None:
    replayed = ReplayModel("replay:x", lambda item, repeat: None)
    models, notes = assigned("user", JUDGE, "retriever", agent=replayed, documents=DOCUMENTS)
    assert models == dict.fromkeys(("user", JUDGE, "retriever"), ("replay:x", FREE))
    assert notes == [
        "user is played by replay:x; for a model give --user-model NAME",
        "texts are judged by replay:x, the tested model itself",
        "replay:x replays what was retrieved",
    ]


def test_roles_of_alterations_are_played_and_not_told() -> None:
    more = {"tools": Role("plays tools", "baseline/chat")}
    assert assigned(more_roles=more) == ({"tools": ("baseline/chat", FREE)}, [])
    named = {"tools": RoleOptions(model="t")}
    assert assigned(more_roles=more, options=named) == ({"tools": ("t", None)}, [])


def test_prices_are_needed_for_a_limit_of_cost_alone() -> None:
    check_prices({"a": None}, None)
    check_prices({"a": FREE}, 1.0)
    with pytest.raises(UsageError) as caught:
        check_prices({"a": None, "b": FREE, "c": None}, 1.0)
    assert str(caught.value) == (
        "--max-cost needs prices, and none is known for a, c. Give USD per million tokens: "
        "in wildtool.toml, `prices = {input = 2.5, output = 10}` under [models.NAME], or with --prices FILE holding "
        '{"models": {"NAME": {"input": 2.5, "output": 10}}}; 0 if it is free'
    )


def test_a_name_close_to_one_of_the_config_file_is_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    catalog = ModelCatalog({"my-model": ModelEntry(model="m")}, {})
    with pytest.raises(UsageError) as caught:
        catalog.find("baseline/my-mode", model_options(), (), Rates())
    assert str(caught.value).startswith("unknown baseline 'baseline/my-mode'")
    with pytest.raises(UsageError, match=r"; did you mean 'my-model' of wildtool\.toml\?$"):
        catalog.find("my-modle", model_options(), (), Rates())


def test_several_names_in_one_are_refused_but_paths_may_hold_commas() -> None:
    catalog = ModelCatalog({}, {})
    with pytest.raises(UsageError) as caught:
        catalog.find("a, b", model_options(base_url="http://h/v1"), (), Rates())
    assert str(caught.value) == "'a, b' is not one model; to run several, repeat the option: -m a -m b"
    assert catalog.find("a,", model_options(base_url="http://h/v1"), (), Rates()).model.name == "a,"
