"""What the options of a run mean: each reaches the settings it is for, and what nothing can keep is refused by name."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from api.settings_for import settings_for as options
from wildtool.alter.distractors.distractors import Distractors
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.hints.hints import Hints
from wildtool.alter.history.history import OwnHistory
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.injection.injection import Injection
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.alter.noise.noise import Noise
from wildtool.api import meaning
from wildtool.errors import UsageError


def made(settings: Any) -> Any:
    """The alterations of settings."""
    return meaning.alterations_of(settings.alterations, settings.roles)


def test_alterations_come_in_their_order(tmp_path: Path) -> None:
    assert made(options()) == ()
    hints = tmp_path / "hints.jsonl"
    hints.write_text('{"item": "i", "unit": "0", "step": 0, "text": "t"}\n', "utf-8")
    given = options(
        history="own", tools_model="m",
        among="9", among_kinds="random", among_seed=1, among_retriever="e", among_top_k=4,
        failures="down", failures_seed=2,
        noise="order:slight", noise_seed=3,
        inject="base", inject_seed=4,
        hints=str(hints), rationale="own",
    )  # fmt: skip
    assert made(given) == (
        OwnHistory(Unrecorded.simulate),
        Distractors.parse("9", "random", seed=1, retriever="e", top_k=4, tools=()),
        Failures(FailureSchedule.parse("down"), 2),
        Noise.parse("order:slight", 3),
        Injection(InjectionSetting.base, 4),
        Hints.given(str(hints), "own"),
    )
    assert made(options(history="own")) == (OwnHistory(Unrecorded.refuse),)
    assert made(options(hints=str(hints))) == (Hints.given(str(hints), None),)
    assert made(options(rationale="own")) == (Hints.given(None, "own"),)
    assert len(made(options(among="9", noise="names:slight"))) == 2
    with pytest.raises(UsageError) as caught:
        made(options(among="9", among_retriever="bm25", noise="names:slight"))
    assert str(caught.value) == (
        "--among-retriever goes by the names of tools, which --noise names changes; leave out one of the two"
    )


def test_tools_of_a_file_join_the_catalogue(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "own", "description": "Own.", "parameters": {}}}
    (tmp_path / "t.json").write_text(json.dumps([tool]))
    (catalogue,) = made(options(among="9", among_tools=str(tmp_path / "t.json")))
    default = options().alterations
    assert catalogue == Distractors.parse(
        "9", default.among_kinds, seed=0, retriever="", top_k=default.among_top_k, tools=[tool]
    )


@pytest.mark.parametrize(
    ("settings", "option"),
    [
        ({"retriever_base_url": "http://h", "retriever_api_key_env": "KEY"}, "base-url"),
        ({"retriever_api_key_env": "KEY"}, "api-key-env"),
        ({"retriever_base_url": "http://h", "retriever": "bm25"}, "base-url"),
        ({"retriever_base_url": "http://h", "retriever_api_key_env": "KEY", "retriever": "e"}, None),
        ({"retriever": "bm25"}, None),
    ],
)
def test_an_endpoint_of_a_retriever_is_one_of_embeddings(
    settings: dict[str, str], option: str | None
) -> None:
    benchmark: Any = SimpleNamespace(name="b", roles={}, mode="retrieval", modes={"retrieval": ""})
    if option is None:
        meaning.check_fit(options(**settings), benchmark)
    else:
        with pytest.raises(UsageError) as caught:
            meaning.check_fit(options(**settings), benchmark)
        needs = f"--retriever-{option} needs --retriever with the name of an embedding model"
        assert str(caught.value) == needs


@pytest.mark.parametrize(
    ("given", "roles", "mode", "fault"),
    [
        ({}, (), "plain", ""),
        ({"user_model": "u", "judge": "j"}, ("user", "judge"), "judged", ""),
        ({"user_model": "u"}, ("judge",), "plain", "b has no simulated user; leave out --user-model"),
        ({"judge": "j"}, ("user",), "plain", "b is judged by rules; leave out --judge"),
        ({"judge": "j"}, ("judge",), "fc", "--judge works only with --mode judged"),
        ({"retriever": "r"}, (), "retrieval", ""),
        ({"retriever": "r"}, (), "plain", "--retriever finds nothing: b has no pool of tools"),
        ({"retriever_top_k": 3}, (), "fc", "--retriever-top-k works only with --mode retrieval"),
    ],
)
def test_a_setting_that_means_nothing_for_a_benchmark_is_refused(
    given: dict[str, Any], roles: tuple[str, ...], mode: str, fault: str
) -> None:
    modes = {"plain"} if mode == "plain" else {"fc", "retrieval", "judged"}
    benchmark: Any = SimpleNamespace(name="b", roles=roles, mode=mode, modes=modes)
    if not fault:
        meaning.check_fit(options(**given), benchmark)
        return
    with pytest.raises(UsageError) as error:
        meaning.check_fit(options(**given), benchmark)
    assert str(error.value) == fault
