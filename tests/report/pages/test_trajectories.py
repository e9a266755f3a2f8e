"""Data of the trajectories page: what it holds of a run, and that nothing a model says changes its form."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from report.report_build import type_
from wildtool.engine.score.number_units import UnitsOfNumbers
from wildtool.engine.score.results import run_folders
from wildtool.engine.score.score import score_run
from wildtool.report.model import read_runs
from wildtool.report.pages.trajectory_data import message_view, part_text, run_shards, set_shards
from wildtool.report.pages.trajectory_page import trajectory_writer
from wildtool.report.site.site import Site

NO_NUMBERS = UnitsOfNumbers()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from typer.testing import CliRunner

    from wildtool.cli import app

    out = tmp_path_factory.mktemp("runs")
    command = ["run", "wild-mini", "--limit", "3", "--model", "baseline/gold", "--model", "baseline/chat"]
    result = CliRunner().invoke(app, [*command, "--out", str(out), "--quiet"])
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture(scope="module")
def chat(runs: Path) -> dict[str, Any]:
    (folder,) = [folder for folder in run_folders(runs) if "chat" in folder.name]
    return dict(
        [
            *set_shards(0, folder, "fixed"),
            *run_shards(0, folder, "fixed", folder, read_runs([folder], "fixed")[0].numbers),
        ]
    )


@pytest.mark.long
def test_every_unit_of_a_run_stands_in_its_index(chat: dict[str, Any]) -> None:
    items, index = chat["ts-0"]["items"], chat["tx-0"]
    assert len(index["place"]) == sum(len(units) for _, _, _, units, _ in items) == 12
    assert index["starts"] == [0]


def test_the_verdicts_of_all_profiles_stand_at_a_unit(chat: dict[str, Any]) -> None:
    assert [verdict[0] for verdict in chat["tr-0-0"][0]["verdicts"]] == ["official", "fixed", "paper"]


def test_a_page_is_the_same_where_its_run_was_scored_under_other_rules(runs: Path, tmp_path: Path) -> None:
    folders = [shutil.copytree(runs, tmp_path / name) for name in ("once", "often")]
    for folder in run_folders(folders[1]):
        for profile in ("official", "paper"):
            score_run(folder, profile=profile)
    pages = [
        [dict(run_shards(0, each, "fixed", each, NO_NUMBERS)) for each in sorted(run_folders(folder))]
        for folder in folders
    ]
    assert pages[0] == pages[1]


def test_what_is_seen_first_is_kept_once_for_all_runs(chat: dict[str, Any]) -> None:
    assert chat["ti-0-0"][0][0]["seen"][0][0] == "system"
    assert all(unit["steps"][0][1] is None for unit in chat["tr-0-0"])


def test_gold_stands_with_the_item_and_its_status_with_the_run(chat: dict[str, Any]) -> None:
    unit = chat["tr-0-0"][0]
    assert unit["gold"] is None
    assert len(unit["status"]) == len(chat["ti-0-0"][0][0]["gold"])


@pytest.fixture(scope="module", params=["official", "fixed", "paper"])
def filtered(request: pytest.FixtureRequest, runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The units of a run in which the provider filtered the second right reply of each unit, under a profile."""
    (gold,) = [folder for folder in run_folders(runs) if "gold" in folder.name]
    folder = tmp_path_factory.mktemp("filtered") / gold.name
    shutil.copytree(gold, folder)
    (record,) = folder.glob("record*")
    rows = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    for row in rows:
        row.pop("crc32", None)
        row.pop("synced", None)
        if row["row"] == "step" and row["step"] == 1:
            row["finish_reason"] = "content_filter"
    record.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    shards = dict(run_shards(0, folder, request.param, folder, NO_NUMBERS))
    return [unit for unit in shards["tr-0-0"] if unit["verdicts"][0][2] == "reply filtered"]


def test_a_filtered_reply_is_shown_as_what_decided_its_unit(filtered: list[Any]) -> None:
    assert filtered
    for unit in filtered:
        *before, (role, _, _, fulfilled, note) = unit["steps"]
        assert (len(before), role, fulfilled) == (1, "agent", [])
        assert note == "the provider filtered the reply"
        assert "missed" in unit["status"] and unit["differences"] == []


@pytest.mark.long
def test_shards_of_the_page_name_each_other(runs: Path, tmp_path: Path) -> None:
    site = Site(tmp_path, title="t")
    with trajectory_writer(site, read_runs(run_folders(runs))):
        pass
    names = {path.stem for path in (tmp_path / "data").iterdir()}
    assert names == {"t", "ts-0", "ti-0-0", "tx-0", "tr-0-0", "tx-1", "tr-1-0"} | {
        "tn-0",
        "tw-0-0",
        "tn-1",
        "tw-1-0",
    }
    # In a single file they follow each other so.
    runs_shards = ["tr-0-0", "tw-0-0", "tn-0", "tx-0", "tr-1-0", "tw-1-0", "tn-1", "tx-1"]
    assert site._shards == ["t", "ti-0-0", "ts-0", *runs_shards]  # pyright: ignore[reportPrivateUsage]


def test_runs_on_different_samples_show_each_its_own_items(tmp_path: Path) -> None:
    for size in ("2", "3"):
        type_("run", "wild-mini", "--sample", size, "-m", "baseline/gold", "-q", "-o", str(tmp_path / size))
    site = Site(tmp_path / "site", title="t")
    with trajectory_writer(site, read_runs([tmp_path / "2", tmp_path / "3"])):
        pass
    for number, run in enumerate(shard(site, "t")["runs"]):
        assert len(shard(site, f"tx-{number}")["place"]) == run["units"] > 0


def shard(site: Site, name: str) -> Any:
    return json.loads(site.shards.path(name).read_text("utf-8").partition(",")[2].removesuffix(");\n"))


def test_a_run_whose_data_are_gone_says_so(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    shards = dict(run_shards(0, tmp_path, "fixed", tmp_path, NO_NUMBERS))
    assert list(shards) == ["tn-0", "tx-0"]
    assert "run.json" in shards["tx-0"]["problem"]
    assert dict(set_shards(0, tmp_path, "fixed"))["ts-0"]["items"] == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.dictionaries(
    st.sampled_from(["role", "content", "tool_calls", "reasoning_content", "__proto__"]) | st.text(), JSON
)


@settings(deadline=None, max_examples=a_fiftieth_of(500))
@given(MESSAGES)
def test_any_message_is_shown_by_texts_alone(message: dict[str, Any]) -> None:
    def texts(part: Any) -> Iterator[Any]:
        if isinstance(part, list):
            for inner in part:
                yield from texts(inner)
        else:
            yield part

    assert all(isinstance(part, str) for part in texts(message_view(message)))


@pytest.mark.parametrize("value", [{1: 2}, {"a": (1, {2})}, float("nan"), "\ud800", 10**400])
def test_values_that_json_lacks_are_shown(value: Any) -> None:
    assert part_text(value)


def test_a_value_nested_too_deep_is_named_so() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert "too deep" in part_text(deep)


def test_shards_end_no_script(runs: Path, tmp_path: Path) -> None:
    site = Site(tmp_path, title="t")
    site.shard("x", {"text": "</script><script>"})
    text = (tmp_path / "data" / "x.js").read_text()
    assert "</script>" not in text
    found = re.fullmatch(r'wildtool\.put\("x",(.*)\);\n', text)
    assert found and json.loads(found[1]) == {"text": "</script><script>"}


@pytest.mark.long
def test_runs_of_one_model_under_two_rules_are_told_apart_by_the_rules(runs: Path, tmp_path: Path) -> None:
    site = Site(tmp_path, title="t")
    (gold,) = [folder for folder in run_folders(runs) if "gold" in folder.name]
    with trajectory_writer(site, [*read_runs([gold]), *read_runs([gold], "fixed")]):
        pass
    found = re.search(r"\{.*\}", (tmp_path / "data" / "t.js").read_text())
    assert found
    assert [(run["how"], run["label"]) for run in json.loads(found[0])["runs"]] == [
        ("wild-mini, profile official", "baseline/gold"),
        ("wild-mini, played official, judged fixed", "baseline/gold"),
    ]
