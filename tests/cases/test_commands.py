"""The commands on case files: a first file, its check, a run of standard input, and replies that are scored."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool as wt
from wildtool.cli import app
from wildtool.engine import benchmark_file


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    benchmark_file.BY_NAME.clear()


def command(*words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(app, list(words))
    return ended.exit_code, ended.output


def test_a_first_file_has_no_faults_and_its_gold_answers_are_right():
    assert command("new", "cases")[0] == 0
    status, text = command("data", "lint", "cases.yaml")
    assert (status, "no findings" in text) == (0, True)
    run = wt.run("cases.yaml", model="baseline/gold", out="out")
    headline = run.scores.headline
    assert headline is not None and headline.value == 1


def test_a_first_file_replaces_none_that_was_written_by_hand():
    Path("tools.json").write_text("[]", encoding="utf-8")
    assert command("new", "cases")[0] == 2
    assert not Path("cases.yaml").exists()


def test_lint_prints_a_line_for_each_mistake_and_fails():
    Path("bad.cases.yaml").write_text(
        "- input: x\n  expects: f\n- input: y\n  expect: f\n  must: 'yes'\n", "utf-8"
    )
    status, text = command("data", "lint", "bad.cases.yaml")
    assert status == 1
    assert "bad.cases.yaml:2: expects: " in text and "bad.cases.yaml:5: must: " in text


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("shop.yaml", "- input: note: this\n  expect: none\n", 1),
        ("shop.jsonl", '{"input": "a", "expect": []}\n{"input": "b",\n', 2),
    ],
)
def test_a_file_that_is_not_well_written_is_no_file_without_cases(name: str, text: str, line: int):
    Path("folder").mkdir()
    Path("folder", "other.yaml").write_text("- input: x\n  expect: none\n", encoding="utf-8")
    Path("folder", name).write_text(text, encoding="utf-8")
    status, output = command("data", "lint", f"folder/{name}")
    assert (status, f"{name}:{line}: " in output) == (1, True), output
    status, output = command("run", "folder", "--model", "baseline/gold", "--out", "out")
    assert (status, f"{name}:{line} " in output) == (2, True), output


def test_cases_of_standard_input_are_kept_so_that_they_can_be_scored(monkeypatch: pytest.MonkeyPatch):
    cases = b'{"input": "Bye", "expect": []}\n{"input": "Hello", "expect": []}\n'
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(cases)))
    run = wt.run("-", model="baseline/gold", out="out")
    (kept,) = Path().glob("standard-input-*.jsonl")
    assert kept.read_bytes() == cases
    benchmark_file.BY_NAME.clear()
    for table in Path("out").rglob("*.parquet"):
        table.unlink()
    assert len(wt.Run("out").verdicts()) == len(run.verdicts()) == 2


TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ('{"input": "Bye", "expect": "none"}', ".json"),
        (json.dumps({"messages": TALK}, indent=1), ".json"),
        (json.dumps([{"input": "Bye", "expect": "none"}]), ".json"),
        ("id,input,expect,note\n1,Bye,none,x\n", ".csv"),
        ("question,expected_tool\nBye,none\n", ".csv"),
        ("{cases: [{input: Bye, expect: none}]}", ".yaml"),
        ("- input: Bye, then\n  expect: none\n", ".yaml"),
    ],
)
def test_standard_input_may_have_every_form_that_a_file_has(
    monkeypatch: pytest.MonkeyPatch, text: str, suffix: str
):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    run = wt.run("-", model="baseline/gold", out="out")
    assert len(run.verdicts()) == 1
    assert [path.suffix for path in Path().glob("standard-input-*")] == [suffix]


def test_what_holds_no_case_to_run_is_refused_and_writes_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"\n")))
    Path("later.yaml").write_text("- input: x\n  expect: none\n  skip: later\n", encoding="utf-8")
    for name, words in (("-", "standard input: is empty"), ("later.yaml", "each case has 'skip'")):
        status, text = command("run", name, "--model", "baseline/gold", "--out", "out")
        assert (status, words in text) == (2, True), text
    assert [path.name for path in Path().iterdir()] == ["later.yaml"]


@pytest.mark.parametrize(
    ("row", "is_case"),
    [
        ({"input": "a", "expects": ["f"]}, True),
        ({"messages": [{"role": "user", "content": "a"}], "expects": ["f"]}, True),
        ({"instruction": "a", "input": "b", "output": "c"}, False),
        ({"input": "a", "text": "b", "system": "c", "server": "d"}, False),
    ],
)
def test_a_misspelt_key_makes_a_case_and_a_column_of_training_data_does_not(
    row: dict[str, Any], is_case: bool
):
    Path("rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    status, text = command("data", "convert", "rows.jsonl", "--to", "trl", "-o", "train.jsonl")
    assert (status, "did you mean 'expect'?" in text, "fits no set" in text) == (2, is_case, not is_case), (
        text
    )


def test_replies_of_another_program_are_scored_by_the_cases():
    Path("own.cases.jsonl").write_text('{"id": "bye", "input": "Bye", "expect": []}\n', encoding="utf-8")
    reply = {"item": "bye", "units": {"1": [{"role": "assistant", "content": "Bye!"}]}}
    Path("replies.jsonl").write_text(json.dumps(reply), encoding="utf-8")
    status, text = command("score", "--data", "own.cases.jsonl", "--replies", "replies.jsonl", "--out", "out")
    assert (status, "1/1" in text) == (0, True), text


SHOP = """
defaults:
  tools: [{name: get, parameters: {type: object, properties: {a: {type: integer}}}}, {name: pay, parameters: {}}]
cases:
- {input: one, expect: {get: {a: 1}}, tags: orders}
- {input: two, expect: {get: {a: 2}}, tags: [orders, p0]}
- {input: pay, expect: pay}
- {input: bye, expect: none}
"""


def test_a_run_prints_the_overall_row_first_then_tags_tools_and_mistakes():
    Path("shop.yaml").write_text(SHOP, encoding="utf-8")
    status, text = command("run", "shop.yaml", "--model", "baseline/chat", "--out", "out")
    titles = [line.split(" (")[0] for line in text.splitlines() if "profile fixed" in line]
    assert status == 0 and titles[0].startswith("shop")
    assert titles[1:] == ["overall", "by tag", "called when expected", "errors"]
    assert "no call" in text and "wrong text" not in text  # what nobody did is left out
    status, text = command("show", "out", "--why", "errors: no call")
    assert status == 0 and "expected get" in text


@pytest.mark.long
def test_several_models_are_one_table_in_which_those_that_cannot_be_told_apart_share_a_rank(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("COLUMNS", "80")
    Path("shop.yaml").write_text(SHOP, encoding="utf-8")
    models = ("gold", "chat", "first-tool")
    words = [word for name in models for word in ("--model", f"baseline/{name}")]
    status, text = command("run", "shop.yaml", *words, "--out", "out")
    assert status == 0
    table = text.partition("Which model?")[2].partition("overall (")[0]
    ranks = [line.split()[0] for line in table.splitlines() if "baseline/" in line]
    assert len(ranks) == 3 and ranks[0].startswith("=1"), table
    assert "(3)" in table
    tables = text[text.index("shop, profile") :].splitlines()
    assert all(len(line) <= 80 for line in tables if not line.startswith("More tables"))


def test_a_file_that_changed_is_no_other_data_to_the_process_that_read_it_before():
    for number, text in enumerate((SHOP, SHOP.replace("p0", "p1"))):
        Path("shop.yaml").write_text(text, encoding="utf-8")
        status, text = command("run", "shop.yaml", "--model", "baseline/gold", "--out", f"out{number}")
        assert status == 0
        assert re.search("^shop, profile", text, re.MULTILINE), text


@pytest.mark.long
def test_two_versions_of_tools_are_compared_by_whole_calls_on_the_same_cases():
    beside = SHOP[: SHOP.index("  tools:")] + "  tools: tools.json\n" + SHOP[SHOP.index("cases:") :]
    Path("shop.yaml").write_text(beside, encoding="utf-8")
    get = {"name": "get", "parameters": {"properties": {"a": {"type": "integer"}}}}
    pay = {"name": "pay", "parameters": {}}
    Path("tools.json").write_text(json.dumps([get, pay]), encoding="utf-8")
    Path("new.json").write_text(json.dumps([pay, {**get, "description": "Orders"}]), encoding="utf-8")
    words = ("--requests", "shop.yaml", "--model", "baseline/first-tool", "--out", "out")
    status, text = command("tools", "compare", "tools.json", "new.json", *words)
    assert status == 0, text
    assert "tools that differ: get" in text
    assert re.findall(r"^(gained|lost): (pay)-\w+ 1: (\w+) is called; expected pay", text, re.MULTILINE) == [
        ("gained", "pay", "get")
    ]
    assert Path("out/old/shop.yaml").read_bytes() == Path("shop.yaml").read_bytes()


def test_cases_with_tools_of_their_own_cannot_be_compared_with_two_versions():
    Path("shop.yaml").write_text(SHOP, encoding="utf-8")
    Path("tools.json").write_text('[{"name": "get", "parameters": {}}]', encoding="utf-8")
    words = ("--requests", "shop.yaml", "--model", "baseline/chat", "--out", "out")
    status, text = command("tools", "compare", "tools.json", "tools.json", *words)
    assert (status, "one file of tools" in text) == (2, True), text


def test_lint_names_the_mistake_of_a_file_that_cannot_be_run():
    Path("shop.yaml").write_text("- user: Hello!\n  expect: none\n", encoding="utf-8")
    told = [command("data", "lint", "shop.yaml"), command("run", "shop.yaml", "--model", "baseline/chat")]
    assert all("shop.yaml:1" in text and "'user' is not a key here" in text for _, text in told), told
    assert [status for status, _ in told] == [1, 2]
