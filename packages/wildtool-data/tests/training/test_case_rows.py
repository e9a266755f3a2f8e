"""A file of own cases as training data: what a case says in full is a row, and nothing is made up for the others."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.engine import benchmark_file

CASES = """
defaults:
  tools: [{name: find, parameters: {type: object, properties: {id: {type: string}}}}]
cases:
- id: late
  repeat: 3
  turns:
  - {input: where is A-1, expect: {find: {id: A-1}, returns: {status: late}}, answer: It is late.}
  - {input: and A-2, expect: {find: {id: {$one_of: [A-2, a-2]}}}}
- {id: any, input: find one, expect: {find: {id: {$any: true}}}}
- {id: name, input: find one, expect: find}
- {id: bye, input: bye, expect: none}
- {id: words, input: hello, says: hello}
"""


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    Path("own.cases.yaml").write_text(CASES, encoding="utf-8")
    yield
    benchmark_file.BY_NAME.clear()


def converted(form: str, *options: str, place: str = "own.cases.yaml") -> tuple[list[dict[str, Any]], str]:
    words = ("data", "convert", place, "--to", form, "--out", "made.jsonl", *options)
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0, ended.output
    return [json.loads(line) for line in Path("made.jsonl").read_text("utf-8").splitlines()], ended.output


def test_turns_that_say_a_whole_answer_are_rows_and_the_others_are_counted():
    rows, output = converted("openai")
    said = [
        [
            [call["function"]["arguments"] for call in message["tool_calls"]]
            if "tool_calls" in message
            else message["content"]
            for message in row["messages"]
            if message["role"] == "assistant" and message.get("weight") != 0
        ]
        for row in rows
    ]
    assert said == [[['{"id": "A-1"}'], "It is late."], [['{"id": "A-2"}']]]
    assert "without a whole answer 4" in output
    assert [tool["function"]["name"] for tool in rows[0]["tools"]] == ["find"]


def test_a_reply_of_an_earlier_turn_is_learned_once_where_a_form_has_no_weights():
    rows, _ = converted("trl")
    learned = [message["content"] for row in rows for message in row["completion"]]
    assert learned.count("It is late.") == 1


def test_a_folder_of_case_files_gives_the_rows_of_each():
    of_file, _ = converted("openai")
    Path("cases/more").mkdir(parents=True)
    for place in ("cases/a.yaml", "cases/more/b.cases.yaml"):
        Path(place).write_text(CASES, encoding="utf-8")
    Path("cases/notes.json").write_text('{"no": "case"}', encoding="utf-8")
    rows, output = converted("openai", "--force", place="cases")
    assert rows == [*of_file, *of_file]
    assert "without a whole answer 8" in output


def test_a_run_of_own_cases_is_no_data_of_a_benchmark_and_a_folder_with_both_is_refused():
    ended = CliRunner().invoke(app, ["run", "own.cases.yaml", "--model", "baseline/gold", "--out", "run"])
    assert ended.exit_code == 0, ended.output
    rows, _ = converted("openai", place="run")
    assert rows
    ended = CliRunner().invoke(app, ["data", "convert", ".", "--to", "openai", "--out", "both.jsonl"])
    assert ended.exit_code == 2 and "runs and case files" in ended.output
    Path("empty").mkdir()
    ended = CliRunner().invoke(app, ["data", "convert", "empty", "--to", "openai", "--out", "none.jsonl"])
    assert ended.exit_code == 2 and "case files" in ended.output
