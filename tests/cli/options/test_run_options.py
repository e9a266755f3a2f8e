"""What the options of a run mean: each reaches the settings it is for, and what nothing can keep is refused by name."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.alter.aid.aid import Aid
from wildtool.alter.distractors.distractors import Catalogue
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.history.history import OwnHistory
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.injection.injection import Injection
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.alter.noise.noise import Noise
from wildtool.cli.options.run import RunOptions
from wildtool.errors import UsageError


def options(**settings: Any) -> RunOptions:
    return RunOptions(model=["m"], **settings)


def test_alterations_come_in_their_order(tmp_path: Path) -> None:
    assert options().alterations() == ()
    hints = tmp_path / "hints.jsonl"
    hints.write_text('{"item": "i", "unit": "0", "step": 0, "text": "t"}\n', "utf-8")
    given = options(
        history="own", tools_model="m",
        catalogue="9", catalogue_kinds="random", catalogue_seed=1, catalogue_retriever="e", catalogue_top_k=4,
        failures="down", failures_seed=2,
        noise="order:slight", noise_seed=3,
        inject="base", inject_seed=4,
        hints=str(hints), rationale="own",
    )  # fmt: skip
    assert given.alterations() == (
        OwnHistory(Unrecorded.simulate),
        Catalogue.parse("9", "random", seed=1, retriever="e", top_k=4, tools=()),
        Failures(FailureSchedule.parse("down"), 2),
        Noise.parse("order:slight", 3),
        Injection(InjectionSetting.base, 4),
        Aid.given(str(hints), "own"),
    )
    assert options(history="own").alterations() == (OwnHistory(Unrecorded.refuse),)
    assert options(hints=str(hints)).alterations() == (Aid.given(str(hints), None),)
    assert options(rationale="own").alterations() == (Aid.given(None, "own"),)
    assert len(options(catalogue="9", noise="names:slight").alterations()) == 2
    with pytest.raises(UsageError) as caught:
        options(catalogue="9", catalogue_retriever="bm25", noise="names:slight").alterations()
    assert str(caught.value) == (
        "--catalogue-retriever goes by the names of tools, which --noise names changes; leave out one of the two"
    )


def test_tools_of_a_file_join_the_catalogue(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "own", "description": "Own.", "parameters": {}}}
    (tmp_path / "t.json").write_text(json.dumps([tool]))
    (catalogue,) = options(catalogue="9", catalogue_tools=str(tmp_path / "t.json")).alterations()
    default = options()
    assert catalogue == Catalogue.parse(
        "9", default.catalogue_kinds, seed=0, retriever="", top_k=default.catalogue_top_k, tools=[tool]
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
        options(**settings).check_roles(benchmark)
    else:
        with pytest.raises(UsageError) as caught:
            options(**settings).check_roles(benchmark)
        needs = f"--retriever-{option} needs --retriever with the name of an embedding model"
        assert str(caught.value) == needs
