"""`wildtool review quick`: one key a case, each decision is saved at once, and nothing that lint refuses is kept."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from review.terminals import terminal
from wildtool.cli import app
from wildtool.own_cases.case_files import read_case_file
from wildtool.temporary import temporary_folder
from wildtool_review.drafts.quick import open_quick_review

TOOL = {
    "name": "search",
    "description": "Finds things.",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
}
CASES: list[dict[str, Any]] = [
    {"id": "kettle", "input": "Find a kettle.", "expect": [{"search": {"q": "kettle"}}]},
    {"id": "thanks", "input": "Thanks!", "expect": "none", "note": "look at this"},
    {"id": "wrong", "input": "Find tea.", "expect": [{"search": {"query": "tea"}}]},
    {"id": "later", "input": "Find soup.", "expect": "none", "skip": "search has no q"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    document = {"defaults": {"tools": [TOOL]}, "cases": CASES}
    (tmp_path / "cases.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return tmp_path


def kept(folder: Path, name: str = "cases.kept.yaml") -> dict[str, Any]:
    document = yaml.safe_load((folder / name).read_text(encoding="utf-8"))
    return {case["id"]: case for case in document["cases"]}


@pytest.mark.long
def test_a_case_is_shown_with_words_calls_and_notes(folder: Path):
    with terminal(folder, "cases.yaml") as opened:
        assert "Find a kettle." in opened.text
        assert 'search {"q": "kettle"}' in opened.text
        assert "look at this" in opened.type("n")


def test_a_decision_outlives_a_kill_and_the_next_start_continues_behind_it(folder: Path):
    before = (folder / "cases.yaml").read_bytes()
    with terminal(folder, "cases.yaml") as opened:
        opened.type("kr")
    assert kept(folder)["kettle"]["expect"] == [{"search": {"q": "kettle"}}]
    assert kept(folder)["thanks"]["skip"]
    with terminal(folder, "cases.yaml") as opened:
        assert "Find tea." in opened.text
        opened.type("q")
        assert opened.process.wait() == 0
    assert (folder / "cases.yaml").read_bytes() == before
    read = read_case_file(folder / "cases.kept.yaml")
    assert not read.errors
    assert [case.id for case in read.cases] == ["kettle"]


def test_what_lint_or_a_run_would_refuse_is_not_kept_and_the_reason_is_said(folder: Path):
    with terminal(folder, "cases.yaml") as opened:
        opened.type("kk")
        said = opened.type("k")
        assert "not kept" in said
        assert "query" in said
        assert "search has no q" in opened.type("nk")
    assert list(kept(folder)) == ["kettle", "thanks"]


@pytest.mark.long
def test_the_editor_mends_a_case_and_keeps_it(folder: Path):
    script = folder / "editor.py"
    script.write_text(
        "import pathlib, sys\np = pathlib.Path(sys.argv[1])\n"
        "p.write_text(p.read_text().replace('query:', 'q:'))\n",
        encoding="utf-8",
    )
    with terminal(folder, "cases.yaml", VISUAL="", EDITOR=f"{sys.executable} {script}") as opened:
        opened.type("nne")
    assert kept(folder)["wrong"]["expect"] == [{"search": {"q": "tea"}}]


@pytest.mark.long
def test_without_an_editor_nothing_changes_and_it_is_said(folder: Path):
    with terminal(folder, "cases.yaml", VISUAL="", EDITOR="") as opened:
        assert "EDITOR" in opened.type("e")
    assert not (folder / "cases.kept.yaml").exists()


@pytest.mark.long
def test_undo_takes_back_a_decision_and_back_shows_the_one_before(folder: Path):
    with terminal(folder, "cases.yaml") as opened:
        assert "Find a kettle." in opened.type("ku")
        assert not (folder / "cases.kept.yaml").exists()
        assert "Find a kettle." in opened.type("kb")
        opened.type("r")
    assert kept(folder)["kettle"]["skip"]


@pytest.mark.long
def test_what_somebody_else_wrote_into_the_kept_cases_meanwhile_is_not_overwritten(folder: Path):
    with terminal(folder, "cases.yaml") as opened:
        opened.type("k")
        out = folder / "cases.kept.yaml"
        theirs = out.read_bytes() + b"# looked at by Ann\n"
        out.write_bytes(theirs)
        assert "cases.kept.yaml was changed" in opened.type("k")
        assert "cases.kept.yaml was changed" in opened.type("u")
        assert out.read_bytes() == theirs


@pytest.mark.long
def test_keys_that_come_at_once_decide_nothing(folder: Path):
    with terminal(folder, "cases.yaml") as opened:
        os.write(opened.master, b"kk")
        opened.wait_for_key()
    assert not (folder / "cases.kept.yaml").exists()


@pytest.mark.long
def test_after_the_last_case_its_decision_can_be_undone(folder: Path):
    with terminal(folder, "cases.yaml", "-o", "mine.jsonl") as opened:
        assert "Find soup." in opened.type("rrrru")
    rows = (folder / "mine.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row).get("id") for row in rows] == [None, "kettle", "thanks", "wrong"]


@pytest.mark.long
@pytest.mark.parametrize(
    "out",
    ["cases.yaml", "elsewhere/kept.yaml", "kept.csv", "other.yaml"],
    ids=["itself", "folder", "form", "set"],
)
def test_a_place_that_cannot_keep_the_cases_is_refused_by_name(folder: Path, out: str):
    before = (folder / "cases.yaml").read_bytes()
    (folder / "other.yaml").write_text("cases:\n- {id: x, input: Hello., expect: none}\n", encoding="utf-8")
    with terminal(folder, "cases.yaml", "-o", out) as opened:
        assert opened.process.wait() == 2
        assert out.split("/")[-1] in opened.text
    assert (folder / "cases.yaml").read_bytes() == before


def test_without_a_terminal_the_command_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    refused = CliRunner().invoke(app, ["review", "quick", "cases.yaml"])
    assert refused.exit_code == 2
    assert "terminal" in refused.output
    assert "wildtool review cases.yaml" in refused.output


@pytest.mark.long
@given(
    st.lists(
        st.sampled_from(["keep", "reject"]).flatmap(lambda act: st.tuples(st.just(act), st.integers(0, 1))),
        max_size=6,
    )
)
def test_undoing_all_decisions_leaves_what_was_there_before(decisions: list[tuple[str, int]]):
    with temporary_folder() as place:
        path = Path(place) / "cases.jsonl"
        path.write_text("".join(f"{json.dumps(case)}\n" for case in CASES[1:2]), encoding="utf-8")
        with path.open("a", encoding="utf-8") as lines:
            lines.write(f"{json.dumps({'input': 'Hello.', 'expect': 'none'})}\n")
        review = open_quick_review(path, None)
        ids = list(review.drafts)
        review.reject(ids[0])
        before = review.out.read_bytes()
        for act, number in decisions:
            if act == "keep":
                review.keep(ids[number], review.shown(ids[number]))
            else:
                review.reject(ids[number])
        assert open_quick_review(path, None).decided == review.decided
        for _ in decisions:
            review.undo()
        assert review.out.read_bytes() == before
