"""Runs in which models generate resume under a newer wildtool: what identifies them changes with the recipe alone."""

from pathlib import Path

import pytest

import wildtool
from wildtool_data.make.core.maker import RoleBenchmark
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.items.maker import ItemGenerationSpec, ItemMaker
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.tools.maker import ApiMaker, ToolGenerationSpec

BEGUN_WITH_0_1_0 = {
    "sessions": "19bf23941d4eb181b88381d37c72ce792bc6ddad78c8a06b7c675432c4063958",
    "items": "2b6f7525cd7b9adafe807959c5197c02979b3af63c0043920fd4ed2889a64c5a",
    "tools": "c001856613f6ad83cbc136cf3f9e8186a6d20ff92788b1fd8a7aeef9739855c7",
}
"""Identities that wildtool 0.1.0 wrote; a changed prompt or recipe changes them, and then such runs must not resume."""


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
