"""Runs in which models generate resume under a newer wildtool: what identifies them changes with the recipe alone."""

from pathlib import Path
from typing import Any

import pytest

import wildtool
from wildtool_data.make.core.maker import RoleBenchmark
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.items.maker import ItemGenerationSpec, ItemMaker
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.tools.maker import ApiMaker, ToolGenerationSpec

BEGUN_WITH_0_1_0 = {
    "items": "2b6f7525cd7b9adafe807959c5197c02979b3af63c0043920fd4ed2889a64c5a",
    "tools": "c001856613f6ad83cbc136cf3f9e8186a6d20ff92788b1fd8a7aeef9739855c7",
}
"""Identities that wildtool 0.1.0 wrote; a changed prompt or recipe changes them, and then such runs must not resume."""


@pytest.mark.parametrize(
    "maker",
    [
        ItemMaker(ItemGenerationSpec(8)),
        ApiMaker(ToolGenerationSpec(8)),
    ],
    ids=lambda maker: maker.name,
)
def test_a_run_begun_with_an_earlier_version_has_the_same_identity(
    maker: ItemMaker | ApiMaker,
):
    assert wildtool.__version__ != "0.1.0"
    assert maker.source().sha256 == BEGUN_WITH_0_1_0[maker.name]


SESSIONS_BEGUN_WITH_0_1_0 = (
    ({}, "19bf23941d4eb181b88381d37c72ce792bc6ddad78c8a06b7c675432c4063958"),
    (
        {"langs": ("en", "zh"), "paired_languages": True, "judges": 3},
        "9f7bb4cea39947268c7b7c7d066c79429b93c2dfaaf43b4a18bc92f207fa4966",
    ),
)
"""Settings of sets of sessions, and the identities that wildtool 0.1.0 and 0.2.0 wrote of them."""


@pytest.mark.parametrize(("settings", "begun"), SESSIONS_BEGUN_WITH_0_1_0)
def test_sessions_begun_by_an_earlier_recipe_are_known_by_it(settings: dict[str, Any], begun: str):
    maker = SessionMaker(SessionGenerationSpec(8, **settings))
    assert maker.source().sha256 != begun
    assert "recipe 0.1.0" in maker.begun_before(begun)
    assert not maker.begun_before(maker.source().sha256)
    assert not SessionMaker(SessionGenerationSpec(8, seed="2", **settings)).begun_before(begun)


def test_each_new_setting_of_sessions_gives_another_identity(tmp_path: Path):
    prompts, words = tmp_path / "prompts", tmp_path / "scenarios.txt"
    (prompts / "en").mkdir(parents=True)
    (prompts / "en" / "judge.txt").write_text("Choose the best.")
    words.write_text("A flight is cancelled.")
    talks = tmp_path / "talks.jsonl"
    talks.write_text('{"messages": [{"role": "user", "content": "Hello there"}]}')
    settings: list[dict[str, Any]] = [
        {}, {"users": 2}, {"clarify": "some"}, {"role_prompts": prompts}, {"scenarios": words}, {"examples": talks},
    ]  # fmt: skip
    makers = [SessionMaker(SessionGenerationSpec(8, **each)) for each in settings]
    assert len({maker.source().sha256 for maker in makers}) == len(settings)


def test_other_tools_give_another_identity(tmp_path: Path):
    file = tmp_path / "tools.json"
    file.write_text("[]")
    makers: list[RoleBenchmark] = [
        SessionMaker(SessionGenerationSpec(8, tools=file)),
        ItemMaker(ItemGenerationSpec(8, tools=file)),
    ]
    assert not {maker.source().sha256 for maker in makers} & {*BEGUN_WITH_0_1_0.values()}


def test_a_change_in_the_current_folder_is_no_change_of_built_in_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for maker in (SessionMaker(SessionGenerationSpec(8)), ApiMaker(ToolGenerationSpec(8))):
        assert maker.source().path.is_dir()
        assert not maker.source().path.samefile(tmp_path)
