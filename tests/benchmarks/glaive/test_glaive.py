"""Glaive: its dialogues as items, the corrected rules by example, its numbers, and the command over a file."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.text_server import serving
from wildtool.benchmark import Check
from wildtool.benchmarks.glaive import GLAIVE
from wildtool.benchmarks.glaive.data import GlaiveRecord, convert
from wildtool.benchmarks.glaive.judge import COUNTS_OF, FORMAT, GlaiveRules
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.declared import lint
from wildtool.errors import DataError
from wildtool.types import Item, Reply, Transcript

FUNCTION = {
    "name": "book",
    "description": "x",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer"},
            "pets": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city"],
    },
}
SYSTEM = f"Use functions -\n{json.dumps(FUNCTION)}"
GOLD: dict[str, Any] = {"name": "book", "arguments": {"city": "Rome", "nights": 2}}


def dialogue(call: str = json.dumps(GOLD), system: str = f"SYSTEM: {SYSTEM}\n", end: str = "\n") -> str:
    return f"{system}USER: Two nights in Rome.\nASSISTANT: <functioncall> {call}{end}"


def record(gold: Any = GOLD) -> GlaiveRecord:
    return GlaiveRecord(SYSTEM, "Two nights in Rome.", json.dumps(gold))


def check(text: str | None, gold: Any = GOLD, profile: str = "fixed") -> Check:
    return GlaiveRules(COUNTS_OF[profile]).check(text, record(gold))


def correct(text: str, gold: Any = GOLD) -> list[bool]:
    """What toleap and fixed say."""
    return [check(text, gold, profile).correct for profile in ("toleap", "fixed")]


def said(**arguments: Any) -> str:
    return json.dumps({"name": "book", "arguments": arguments})


# Corrected faults ------------------------------------------------------------------------------------


def test_an_object_that_is_no_call_counts_once_q1():
    assert [check('{"name": "book"}', profile=name).fields["counted"] for name in COUNTS_OF] == [2, 1]


def test_gold_arguments_in_a_text_are_read_q2():
    assert correct(json.dumps(GOLD), GOLD | {"arguments": json.dumps(GOLD["arguments"])}) == [False, True]


def test_brackets_before_the_call_do_no_harm_q3():
    assert correct(f"see [the tool] {json.dumps(GOLD)}") == [False, True]


def test_further_keys_and_arguments_in_a_text_are_read_q4():
    assert correct(json.dumps(GOLD | {"id": 1})) == [False, True]
    assert correct(json.dumps(GOLD | {"arguments": json.dumps(GOLD["arguments"])})) == [False, True]


def test_texts_are_compared_by_meaning_at_every_depth_q5():
    gold = GOLD | {"arguments": {"city": "Rome", "tags": ["Quiet room"]}}
    assert correct(said(city="rome ", tags=["Quiet room"]), gold) == [True, True]
    assert correct(said(city="Rome", tags=["quiet room"]), gold) == [False, True]


def test_one_is_not_true_q6():
    gold = GOLD | {"arguments": {"city": "Rome", "pets": True}}
    assert correct(said(city="Rome", pets=1), gold) == [True, False]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (None, "Invalid Prediction"),
        ("Done.", "Invalid Prediction"),
        (json.dumps(GOLD | {"name": "cancel"}), "Wrong Function"),
        (said(city="Rome"), "Wrong Argument Names"),
        (said(city="Rome", nights=2, dogs=1), "Wrong Argument Names"),
        (said(city="Rome", nights=3), "Wrong Argument Values"),
    ],
)
def test_the_first_thing_that_is_wrong_is_named(text: str | None, error: str):
    assert [check(text, profile=name).error for name in COUNTS_OF] == [error, error]


PIECES = [*'{}[]":,\\\n 1', '"name"', '"arguments"', '"book"', '"city"', "NaN", "null", json.dumps(GOLD)]
EXTREMES = ["9" * 5000, "[" * 9000, '{"a":' * 9000, "\ud800", json.dumps(GOLD)[:-1]]
CONTENTS = st.lists(st.sampled_from([*PIECES, *EXTREMES])).map("".join) | st.text() | st.none()


@given(CONTENTS)
def test_no_reply_makes_the_judge_raise(content: Any):
    item = Item("00000", ("0",), record())
    for profile in GLAIVE.profiles:
        reply = Reply({"role": "assistant", "content": content})
        (verdict,) = GLAIVE.judge(item, {"0": Transcript((reply,))}, profile)
        assert verdict.outcome in ("correct", "wrong")


# Conversion and files --------------------------------------------------------------------------------


def test_a_dialogue_without_system_text_gets_that_before_it_q7():
    first, second = convert([dialogue(), dialogue(system="")])
    assert first["system"] == second["system"] == SYSTEM


@pytest.mark.parametrize("lost", [dialogue(end=""), dialogue("{\n}"), dialogue("{'name': 'book'}")])
def test_a_call_that_is_not_on_a_line_of_its_own_is_lost_q8(lost: str):
    assert convert([lost]) == []


@pytest.fixture
def dialogues(tmp_path: Path) -> Path:
    path = tmp_path / "glaive-function-calling.json"
    samples = [dialogue(), dialogue(end=""), dialogue(system="")]
    path.write_text("".join(json.dumps({"sample": one}) + "\n" for one in samples), encoding="utf-8")
    return path


def wildtool(*words: object, status: int = 0) -> str:
    ended = CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")
    assert ended.exit_code == status, ended.output
    return ended.stdout


def test_the_pull_converts_and_the_result_is_the_same_data(
    dialogues: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    wildtool("data", "pull", "glaive", status=2)
    made = Path(wildtool("data", "pull", "glaive", "--from", dialogues).strip())
    assert json.loads(made.read_text("utf-8"))[0]["conversations"][0] == {
        "from": "human",
        "value": "Two nights in Rome.",
    }
    converted, raw = ([i.data for i in GLAIVE.load(GLAIVE.data.locate(d))] for d in (None, str(dialogues)))
    assert converted == raw and len(raw) == 2


def test_lint_names_what_the_conversion_loses(dialogues: Path):
    found = wildtool("data", "lint", dialogues, status=1)
    assert ("record 1: lost call" in found, "record 2: no system text" in found) == (True, True)


def test_lint_names_gold_that_the_functions_do_not_admit(tmp_path: Path):
    path = tmp_path / "x.json"
    calls = [{"name": "cancel", "arguments": {}}, said(dogs=1), {"name": "book", "arguments": "{}"}]
    golds = [call if isinstance(call, str) else json.dumps(call) for call in calls]
    path.write_text(json.dumps([{"sample": dialogue(gold)} for gold in golds]), encoding="utf-8")
    rules = [finding.rule for finding in lint(GLAIVE, GLAIVE.data.locate(str(path)))]
    assert rules == ["unknown function", "unknown argument", "arguments"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[{"conversations": []}]', "record 0: field system|conversations: expected"),
        ('{"sample": 3}', "record 0: field sample: expected a text"),
        ('{"sample": ', "neither a JSON list nor JSON Lines"),
        ("{}", "expected objects with `sample`"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: str, words: str):
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        list(GLAIVE.load(GLAIVE.data.locate(str(path))))


# Numbers ---------------------------------------------------------------------------------------------


def test_the_command_sends_functions_and_request_and_counts_as_toleap(dialogues: Path, tmp_path: Path):
    run = ("run", "glaive", "--data", dialogues, "--model", "m", "--out", tmp_path / "run", "-q")
    with serving('{"name": "book"}') as (url, received):
        wildtool(*run, "--base-url", url, "--sampling", "original")
    path, body = received[0]
    assert path == "/v1/chat/completions"
    assert body["messages"] == [{"role": "user", "content": f"{SYSTEM}\nTwo nights in Rome.\n{FORMAT}"}]
    assert (body["temperature"], body["max_tokens"]) == (0, 512)
    shown = json.loads(wildtool("show", tmp_path / "run", "--all", "--json"))
    metrics = {(m["group"], m["name"]): m for m in shown["runs"][0]["metrics"]}
    assert metrics["counts as ToLeaP reports them", "total_samples"]["numerator"] == 4
    assert metrics["accuracy", "function"]["denominator"] == 4
    assert metrics["errors", "Invalid Prediction"]["value"] == 1.0


def test_a_request_that_asks_for_the_format_itself_is_sent_as_it_is():
    rules = GLAIVE.rules("toleap")
    request = rules.episode(Item("0", ("0",), GlaiveRecord("S", "R\nJSON!", "{}")), "0").request()
    assert request is not None and request.messages[0]["content"] == "S\nR\nJSON!"


def test_a_pull_from_a_folder_says_that_it_takes_a_file_and_what_lies_there(tmp_path: Path):
    (tmp_path / "raw.jsonl").write_text("{}\n")
    (tmp_path / "readme.md").write_text("text")
    with pytest.raises(
        DataError, match=r"is a folder; --from takes one file .*; there are raw\.jsonl in it$"
    ):
        data_of(GLAIVE).pull(file=tmp_path, mirror=None, report=print)
