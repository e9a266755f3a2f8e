"""Conversations as drafts of own cases: gold is what the agent did, findings name what to look at, and the file runs."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from traces.spans_written import LIBRARIES, spans_of
from wildtool.cli import app
from wildtool.json_codec import as_object
from wildtool.own_cases.case_files import read_case_file
from wildtool.own_cases.drafts import day_of, draft_case
from wildtool.temporary import temporary_folder
from wildtool_review.drafts.case_drafts import write_cases
from wildtool_review.project import OpenFindingsError
from wildtool_review.release import write_release
from wildtool_review.sets import open_review

SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Finds things.",
        "parameters": {
            "type": "object",
            "properties": {"q": {"type": "string"}, "limit": {"type": "number"}},
            "required": ["q"],
        },
    },
}


def said(role: str, content: str | None, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def calling(*arguments: Any, name: str = "search", first: int = 1) -> dict[str, Any]:
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(each)}}
        for number, each in enumerate(arguments, first)
    ]
    return said("assistant", None, tool_calls=calls)


def result(value: Any, number: int = 1) -> dict[str, Any]:
    return said("tool", value if isinstance(value, str) else json.dumps(value), tool_call_id=f"c{number}")


WRITTEN = json.dumps({"name": "search", "arguments": {"q": "kettle"}})
HERMES = {
    "conversations": [
        {"from": "system", "value": f"You may call these. <tools>{json.dumps([SEARCH])}</tools>"},
        {"from": "human", "value": "Find the kettle."},
        {"from": "gpt", "value": f"<tool_call>\n{WRITTEN}\n</tool_call>"},
        {"from": "tool", "value": "<tool_response>k-17</tool_response>"},
        {"from": "gpt", "value": "It is k-17."},
    ]
}
TOOLACE = {
    "system": f"Here is a list of functions: {json.dumps([SEARCH['function']])}",
    "conversations": [
        {"from": "user", "value": "Find the kettle."},
        {"from": "assistant", "value": '[search(q="kettle")]'},
        {"from": "tool", "value": "k-17"},
        {"from": "assistant", "value": "It is k-17."},
    ],
}
CHAT = [
    said("system", "You help. Today is 2025-03-04."),
    said("user", "Find the blue kettle."),
    calling({"q": "blue kettle", "limit": 3}),
    result({"found": ["k-17"]}),
    said("assistant", "It is k-17."),
    said("user", "Thanks!"),
    said("assistant", "You are welcome."),
]


def imported(folder: Path, rows: list[Any], *options: str, out: str = "cases.yaml") -> Any:
    (folder / "chats.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return CliRunner().invoke(app, ["review", "import", "chats.jsonl", "-o", out, *options])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_ordinary_chats_are_a_set_without_findings_that_gold_passes(folder: Path):
    things = ("kettle", "lamp", "chair", "table", "clock", "mirror", "shelf", "carpet", "curtain", "vase")
    rows = [
        {"messages": json.loads(json.dumps(CHAT).replace("kettle", thing)), "tools": [SEARCH]}
        for thing in things
    ]
    ended = imported(folder, rows)
    assert ended.exit_code == 0, ended.output
    assert "10 cases, 0 skipped until put right, 0 notes" in ended.stdout
    run = CliRunner().invoke(app, ["run", "cases.yaml", "--model", "baseline/gold"])
    assert run.exit_code == 0, run.output
    assert "20/20" in run.output


def test_a_draft_keeps_prompt_day_results_and_the_words_of_schemas(folder: Path):
    imported(folder, [{"messages": CHAT, "tools": [SEARCH]}])
    document = yaml.safe_load((folder / "cases.yaml").read_text(encoding="utf-8"))
    (case,) = document["cases"]
    assert (case["system"], case["date"]) == ("You help. Today is 2025-03-04.", "2025-03-04")
    assert case["turns"] == [
        {
            "input": "Find the blue kettle.",
            "expect": [{"search": {"q": "blue kettle", "limit": 3}, "returns": {"found": ["k-17"]}}],
            "answer": "It is k-17.",
        },
        {"input": "Thanks!", "expect": "none", "answer": "You are welcome."},
    ]
    assert document["defaults"]["tools"][0]["parameters"] == SEARCH["function"]["parameters"]


@pytest.mark.parametrize("name", ["cases.yaml", "cases.jsonl"])
def test_a_review_opens_the_drafts_and_shows_their_findings(folder: Path, name: str):
    bad = [said("user", "Go."), calling({"q": "a"}, name="other"), said("assistant", "Ok.")]
    rows = [{"messages": each, "tools": [SEARCH]} for each in (CHAT, bad)]
    imported(folder, rows, out=name)
    opened = CliRunner().invoke(app, ["review", "start", name])
    assert opened.exit_code == 0, opened.output
    assert "1 with findings of rules: items go-" in opened.stdout


def test_a_review_names_what_lint_refuses_in_a_case_and_reads_files_beside_it(folder: Path):
    (folder / "set").mkdir()
    (folder / "set" / "tools.json").write_text(json.dumps([SEARCH]), encoding="utf-8")
    (folder / "set" / "prompt.md").write_text("You help.", encoding="utf-8")
    good = {"id": "good", "input": "Find tea.", "expect": [{"search": {"q": "tea"}}]}
    bad = {"id": "bad", "input": "Find tea.", "expect": [{"search": {"query": "tea"}}]}
    text = yaml.safe_dump({"defaults": {"tools": "tools.json", "system": "@prompt.md"}, "cases": [good, bad]})
    (folder / "set" / "cases.yaml").write_text(text, encoding="utf-8")
    opened = CliRunner().invoke(app, ["review", "start", "set/cases.yaml"])
    assert opened.exit_code == 0, opened.output
    assert "1 with findings of rules: items bad" in opened.stdout


def test_a_note_is_shown_and_neither_an_approval_nor_a_release_is_refused_for_it(folder: Path):
    cases = [
        {"id": "noted", "input": "Thanks!", "expect": "none", "note": "look at this"},
        {"id": "skipped", "input": "Thanks!", "expect": "none", "skip": "no tools"},
    ]
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in cases), encoding="utf-8")
    assert CliRunner().invoke(app, ["review", "start", "cases.jsonl"]).exit_code == 0
    review = open_review("cases.jsonl")
    assert [finding.message for finding in review.item("noted").findings() or ()] == ["look at this"]
    review.decide("me", "noted", review.item("noted").digest, "approve", despite_findings=False)
    with pytest.raises(OpenFindingsError, match="no tools"):
        review.decide("me", "skipped", review.item("skipped").digest, "approve", despite_findings=False)
    write_release(review, folder / "out")
    assert [case.id for case in read_case_file(folder / "out" / "cases.jsonl").cases] == ["noted"]


def test_definitions_are_taken_from_a_file_where_a_conversation_has_none(folder: Path):
    without = imported(folder, [{"messages": CHAT}])
    assert "1 skipped until put right" in without.stdout
    assert "--tools" in without.stdout
    (folder / "tools.json").write_text(json.dumps([SEARCH]))
    given_them = imported(folder, [{"messages": CHAT}], "--tools", "tools.json", "--force")
    assert "0 skipped until put right" in given_them.stdout


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        (
            [said("user", "Go."), calling({"q": "a"}, name="other"), said("assistant", "Ok.")],
            "other is called",
        ),
        ([said("user", "Go."), calling({"qq": "a"}), said("assistant", "Ok.")], "qq"),
        ([said("user", "Go.")], "neither a call nor an answer"),
        (
            [said("user", "Go."), said("assistant", "f(x)"), result("35"), CHAT[4]],
            "without any call before it",
        ),
        ([said("user", "Go."), said("assistant", '[search(q="a")]')], "written as text"),
        ([said("user", "Go."), said("assistant", f"<tool_call>{WRITTEN}</tool_call>")], "written as text"),
    ],
)
def test_a_problem_skips_the_case_says_why_and_leaves_the_file_sound(
    folder: Path, messages: list[Any], problem: str
):
    rows = [{"messages": each, "tools": [SEARCH]} for each in (CHAT, messages)]
    ended = imported(folder, rows)
    assert "2 cases, 1 skipped until put right" in ended.stdout
    assert problem in ended.stdout
    read = read_case_file(folder / "cases.yaml")
    assert not read.errors
    assert len(read.cases) == 1
    skipped = yaml.safe_load((folder / "cases.yaml").read_text())["cases"][1]
    assert problem in skipped["skip"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_traces_of_every_library_are_known_as_such(folder: Path, library: str):
    ended = imported(folder, spans_of(library))
    assert ended.stdout.startswith("calls of a model: "), ended.output
    assert "1 case, 0 skipped" in ended.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(folder: Path):
    os.mkfifo(folder / "chats.jsonl")
    ended = CliRunner().invoke(app, ["review", "import", "chats.jsonl", "-o", "cases.yaml"])
    assert ended.exit_code == 2
    assert "no regular file" in ended.stderr


@pytest.mark.parametrize("name", ["cases.csv", "cases.json", "cases"])
def test_a_file_whose_name_says_another_form_is_not_written(folder: Path, name: str):
    ended = imported(folder, [{"messages": CHAT, "tools": [SEARCH]}], out=name)
    assert (ended.exit_code, (folder / name).exists()) == (2, False)
    assert ".yaml or .jsonl" in ended.stderr


@pytest.mark.parametrize("row", [HERMES, TOOLACE])
def test_calls_that_a_public_set_writes_as_text_are_calls(folder: Path, row: dict[str, Any]):
    assert "1 case, 0 skipped until put right, 0 notes" in imported(folder, [row]).stdout
    (case,) = yaml.safe_load((folder / "cases.yaml").read_text())["cases"]
    assert case["turns"][0]["expect"] == [{"search": {"q": "kettle"}, "returns": "k-17"}]
    assert case["turns"][0]["answer"] == "It is k-17."


@pytest.mark.parametrize(
    ("messages", "finding"),
    [
        (
            [said("user", "Go."), calling({"q": "a"}), result({"error": "down"}), said("assistant", "No.")],
            "is an error",
        ),
        ([said("user", "Go."), calling({"q": "a"}), said("assistant", "Ok.")], "is not recorded"),
        ([said("assistant", "Hello!"), *CHAT[1:]], "before the user"),
        ([*CHAT[1:4], result("late", 9), *CHAT[4:]], "belongs to no call"),
    ],
)
def test_a_finding_is_a_note_of_a_case_that_runs(messages: list[Any], finding: str):
    draft = draft_case(messages, [SEARCH])
    assert draft is not None
    assert (finding in draft.case["note"], "skip" in draft.case) == (True, False)


def test_a_call_that_takes_a_value_of_an_earlier_result_comes_after_it():
    first, second = calling({"q": "kettle"}), calling({"q": "k-17"}, {"q": "other"}, first=2)
    messages = [
        said("user", "Go."),
        first,
        result({"id": "k-17"}),
        second,
        result("x", 2),
        result("y", 3),
        said("assistant", "Ok."),
    ]
    draft = draft_case(messages, [SEARCH])
    assert draft is not None
    expected = draft.case["turns"][0]["expect"]
    assert [(call.get("as"), call.get("after")) for call in expected] == [
        ("call_1", None),
        (None, ["call_1"]),
        (None, None),
    ]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Today is 2025-03-04.", "2025-03-04"),
        ("today is Tuesday, March 4th, 2025", "2025-03-04"),
        ("Current date: 4 Mar 2025", "2025-03-04"),
        ("今天是2025年3月4日。", "2025-03-04"),
        ("Today is a good day. Built 2024-01-01.", ""),
        ("Today is 2025-02-30.", ""),
    ],
)
def test_the_day_of_a_prompt_is_read(text: str, day: str):
    assert day_of(text) == day


def test_personal_details_are_replaced_unless_they_are_to_stay(folder: Path):
    chat = [said("user", "My name is Ann Smith, mail ann@corp.co."), said("assistant", "Hello Ann!")]
    ended = imported(folder, [{"messages": chat}])
    text = (folder / "cases.yaml").read_text(encoding="utf-8")
    assert not any(word in text for word in ("Ann", "Smith", "ann-", "corp"))
    assert "replaced: name: 2" in ended.stdout
    imported(folder, [{"messages": chat}], "--no-redact", "--force")
    assert "Ann Smith" in (folder / "cases.yaml").read_text(encoding="utf-8")


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
VALUES = st.recursive(
    TEXTS
    | st.booleans()
    | st.none()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ANY = {"type": "function", "function": {"name": "f", "description": "", "parameters": {"type": "object"}}}


@given(
    TEXTS,
    st.dictionaries(TEXTS, VALUES, max_size=3),
    VALUES,
    TEXTS,
    st.sampled_from(["cases.yaml", "cases.jsonl"]),
)
@example("0\x85", {}, [], "", "cases.yaml")
@example("one\ntwo\u2028three\x85four", {}, [], "", "cases.yaml")
def test_any_draft_is_written_as_it_is_and_read_again(
    asked: str, arguments: dict[str, Any], given_back: Any, answer: str, name: str
):
    messages = [
        said("user", asked),
        calling(arguments, name="f"),
        result(given_back),
        said("assistant", answer),
    ]
    draft = draft_case(messages, [ANY])
    if draft is None:
        assert not asked.strip()
        return
    with temporary_folder() as place:
        path = Path(place) / name
        write_cases([draft], path)
        read = read_case_file(path)
    assert not read.errors
    if not draft.problems:
        (case,) = read.cases
        (slot,) = case.units["1"].expectation.slots
        assert slot.returns == (as_object(draft.case["turns"][0]["expect"][0])["returns"],)
        assert case.units["1"].messages[-1]["content"] == asked
