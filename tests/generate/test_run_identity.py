"""Runs in which models generate resume under a newer wildtool: what identifies them changes with the recipe alone."""

from pathlib import Path
from typing import Any

import pytest

import wildtool
from wildtool.sets.make.core.maker import RoleBenchmark
from wildtool.sets.make.core.plan import SessionGenerationSpec
from wildtool.sets.make.core.prompts import SESSION_PROMPTS
from wildtool.sets.make.items.maker import ItemGenerationSpec, ItemMaker
from wildtool.sets.make.items.script import ITEM_PROMPTS
from wildtool.sets.make.sessions.maker import SessionMaker
from wildtool.sets.make.tools.maker import ApiMaker, ToolGenerationSpec
from wildtool.sets.make.tools.script import API_PROMPTS

BEGUN_WITH_0_1_0 = {
    "sessions": "19bf23941d4eb181b88381d37c72ce792bc6ddad78c8a06b7c675432c4063958",
    "items": "2b6f7525cd7b9adafe807959c5197c02979b3af63c0043920fd4ed2889a64c5a",
    "tools": "c001856613f6ad83cbc136cf3f9e8186a6d20ff92788b1fd8a7aeef9739855c7",
}
"""Identities that wildtool 0.1.0 wrote; a changed prompt or recipe changes them, and then such runs must not resume."""

SESSION_SETTINGS: list[dict[str, Any]] = [
    {},
    {"tasks": 3},
    {"seed": "2"},
    {"langs": ("zh",)},
    {"langs": ("en", "zh")},
    {"judges": 3},
    {"checkers": 3},
    {"langs": ("en", "zh"), "paired_languages": True},
]
ITEM_SETTINGS: list[dict[str, Any]] = [
    {},
    {"kinds": {"single": 1}},
    {"seed": "2"},
    {"langs": ("zh",)},
    {"judges": 2},
    {"agree": 2},
]
TOOL_SETTINGS: list[dict[str, Any]] = [{}, {"seed": "2"}, {"langs": ("zh",)}]


@pytest.mark.parametrize(
    "maker",
    [
        SessionMaker(SessionGenerationSpec(8)),
        ItemMaker(ItemGenerationSpec(8)),
        ApiMaker(ToolGenerationSpec(8)),
    ],
    ids=lambda maker: maker.name,
)
def test_a_run_begun_with_an_earlier_version_has_the_same_identity(
    maker: SessionMaker | ItemMaker | ApiMaker,
):
    assert wildtool.__version__ != "0.1.0"
    assert maker.source().sha256 == BEGUN_WITH_0_1_0[maker.name]


def test_pairs_and_votes_count_as_they_did():
    paired = SessionGenerationSpec(8, langs=("en", "zh"), paired_languages=True, judges=3)
    begun = "9f7bb4cea39947268c7b7c7d066c79429b93c2dfaaf43b4a18bc92f207fa4966"
    assert SessionMaker(paired).source().sha256 == begun


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


def test_what_is_made_from_has_the_name_of_its_file_or_of_what_is_built_in(tmp_path: Path):
    file = tmp_path / "t.json"
    file.write_text("[]")
    named: list[tuple[RoleBenchmark, str, Path]] = [
        (SessionMaker(SessionGenerationSpec(8)), "built-in tools", SESSION_PROMPTS),
        (SessionMaker(SessionGenerationSpec(8, tools=file)), str(file), file),
        (ItemMaker(ItemGenerationSpec(8)), "built-in tools", ITEM_PROMPTS),
        (ItemMaker(ItemGenerationSpec(8, tools=file)), str(file), file),
        (ItemMaker(ItemGenerationSpec(8, sessions=file)), str(file), file),
        (ApiMaker(ToolGenerationSpec(8)), "built-in tree", API_PROMPTS),
        (ApiMaker(ToolGenerationSpec(8, documents=(file,))), "documents", API_PROMPTS),
        (ApiMaker(ToolGenerationSpec(8, tree=file)), str(file), file),
    ]
    for maker, name, path in named:
        source = maker.source()
        assert (source.name, source.path) == (name, path)
        assert maker.data.locate(None) == source
        assert maker.data.name == maker.name


def test_each_setting_that_requests_depend_on_gives_another_identity(tmp_path: Path):
    one, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    third = tmp_path / "c.jsonl"
    for file in (one, other, third):
        file.write_text(file.name)
    makers: list[RoleBenchmark] = [
        *(SessionMaker(SessionGenerationSpec(8, **more)) for more in SESSION_SETTINGS),
        SessionMaker(SessionGenerationSpec(8, tools=one)),
        SessionMaker(SessionGenerationSpec(8, avoid_near=(third,))),
        SessionMaker(SessionGenerationSpec(8, avoid_near=(other,))),
        *(ItemMaker(ItemGenerationSpec(8, **more)) for more in ITEM_SETTINGS),
        ItemMaker(ItemGenerationSpec(8, tools=one)),
        ItemMaker(ItemGenerationSpec(8, tools=one, sessions=other)),
        *(ApiMaker(ToolGenerationSpec(8, **more)) for more in TOOL_SETTINGS),
        ApiMaker(ToolGenerationSpec(8, tree=one)),
        ApiMaker(ToolGenerationSpec(8, documents=(one,))),
        ApiMaker(ToolGenerationSpec(8, documents=(one, other))),
    ]
    identities = [maker.source().sha256 for maker in makers]
    assert len({*identities}) == len(identities)
    more = [
        SessionMaker(SessionGenerationSpec(9)),
        ItemMaker(ItemGenerationSpec(9)),
        ApiMaker(ToolGenerationSpec(9)),
    ]
    assert [maker.source().sha256 for maker in more] == [*BEGUN_WITH_0_1_0.values()]
