"""A training file played like a benchmark."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from training.procedures.student import teaching
from training.procedures.training_files import call, message, row, wrote
from wildtool.benchmark import accepts
from wildtool.cli import app
from wildtool.training.procedures.agreement import DISAGREEMENTS
from wildtool.training.procedures.playing import TEXT_NOTE, TRAINING
from wildtool.types import Item, Reply, Transcript, Verdict

HUSUM, KIEL = call(station="Husum"), call(station="Kiel")


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def items(path: Path) -> list[Item]:
    return list(TRAINING.load(TRAINING.data.locate(str(path))))


def judged(path: Path, reply: dict[str, Any], unit: str = "1") -> Verdict:
    (item,) = items(path)
    verdicts = TRAINING.judge(item, {unit: Transcript((Reply(reply),))}, "fixed")
    return next(verdict for verdict in verdicts if verdict.unit == unit)


def test_a_record_is_an_item_and_each_turn_to_learn_a_unit(tmp_path: Path):
    path = wrote(tmp_path / "a.jsonl", row(HUSUM, id="tide"), row(HUSUM), row(HUSUM, id="tide"))
    assert [(item.id, item.units) for item in items(path)] == [
        ("tide", ("1", "3")),
        ("row 2", ("1", "3")),
        ("tide (row 3)", ("1", "3")),
    ]


def test_a_unit_is_shown_the_system_text_the_tools_and_the_gold_turns_before(tmp_path: Path):
    (item,) = items(wrote(tmp_path / "a.jsonl", row(HUSUM, KIEL)))
    request = TRAINING.rules("fixed").episode(item, "3").request()
    assert request is not None
    assert [one["role"] for one in request.messages] == ["system", "user", "assistant", "tool", "tool"]
    assert request.messages[2]["tool_calls"][1]["function"] == {
        "name": "level",
        "arguments": '{"station": "Kiel"}',
    }
    assert [one["tool_call_id"] for one in request.messages[3:]] == ["call_1", "call_2"]
    assert [tool["function"]["name"] for tool in request.tools] == ["level", "tide"]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (message(KIEL, HUSUM), None),
        (message(HUSUM, KIEL, text="One moment."), None),
        (message(HUSUM), "other number of calls"),
        (message(HUSUM, HUSUM), "other arguments"),
        (message(HUSUM, KIEL, KIEL), "other number of calls"),
        (message(HUSUM, call("tide", station="Kiel")), "other tools"),
        (message(HUSUM, call(station="Kiel", day=3)), "other arguments"),
        (message(text="High."), "no call"),
        (message(text=" "), "blank reply"),
        ({"content": None, "tool_calls": [{"function": {"name": "level", "arguments": "{"}}]}, "unreadable call"),
    ],
)  # fmt: skip
def test_calls_are_right_in_any_order_with_arguments_that_mean_the_same(
    tmp_path: Path, reply: dict[str, Any], error: str | None
):
    verdict = judged(wrote(tmp_path / "a.jsonl", row(HUSUM, KIEL)), reply)
    assert (verdict.error, verdict.outcome) == (error, "wrong" if error else "correct")
    assert error is None or error in DISAGREEMENTS
    assert verdict.reason


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (message(text="Something else."), None),
        (message(text=""), "blank reply"),
        (message(HUSUM, text="High."), "call not due"),
    ],
)
def test_a_text_is_right_without_a_call_whatever_it_says(
    tmp_path: Path, reply: dict[str, Any], error: str | None
):
    assert judged(wrote(tmp_path / "a.jsonl", row(HUSUM)), reply, "3").error == error


def test_of_a_pair_the_chosen_reply_is_asked(tmp_path: Path):
    pair = row(HUSUM)
    prompt, chosen = pair["conversations"][:1], pair["conversations"][1]
    pair |= {"conversations": prompt, "chosen": chosen, "rejected": {"from": "gpt", "value": "No."}}
    path = wrote(tmp_path / "a.jsonl", pair)
    assert [item.units for item in items(path)] == [("1",)]
    assert judged(path, message(HUSUM)).outcome == "correct"
    assert judged(path, message(text="No.")).error == "no call"


def test_a_turn_of_weight_0_is_shown_and_not_asked(tmp_path: Path):
    said = {"role": "assistant", "content": "Well?"}
    messages = [
        {"role": "user", "content": "Hello."},
        {**said, "weight": 0},
        {"role": "user", "content": "Bye."},
        said,
    ]
    (item,) = items(wrote(tmp_path / "a.jsonl", {"messages": messages}))
    assert item.units == ("3",)
    request = TRAINING.rules("fixed").episode(item, "3").request()
    assert request is not None
    assert [one.get("weight") for one in request.messages] == [None, None, None]


def test_gold_is_right_and_every_mistake_in_it_is_caught(tmp_path: Path):
    path = wrote(tmp_path / "a.jsonl", row(HUSUM, KIEL), row(call("tide", station="Sylt", day=2)))
    read = items(path)
    assert len(read) == 2
    for item in read:
        rules = TRAINING.rules("fixed")
        mutants = list(rules.mutants(item))
        assert len(mutants) > 5
        assert "other text" in {one.kind for one in mutants}
        assert not [one.kind for one in mutants if accepts(rules, item, one.unit, one.replies)]


def test_a_file_is_run_scored_compared_and_audited_like_a_benchmark(tmp_path: Path):
    path = wrote(tmp_path / "a.jsonl", row(HUSUM), row(KIEL), "broken")
    ended = type_(f"run training --data {path} --model baseline/gold --out {tmp_path}/gold -q")
    assert (ended.exit_code, ended.stdout.count("2/2")) == (0, 2)
    other = type_(f"run training --data {path} --model baseline/chat --out {tmp_path}/chat -q")
    # Any text passes for a text, so it has its own number, and no call is lifted by it.
    assert (other.exit_code, TEXT_NOTE in other.stdout) == (0, True)
    lines = {
        line.split()[1]: line.split()[-1] for line in other.stdout.splitlines() if line.startswith("turn: ")
    }
    assert lines == {"call": "0/2", "text": "2/2"}
    compared = json.loads(type_(f"compare {tmp_path}/gold {tmp_path}/chat --json").stdout)
    assert compared["remarks"][0].startswith("training gives a number for each turn (call, text) and none")
    # Also where several runs are compared, which are broken down on request only.
    assert type_(f"run training --data {path} --model baseline/random --out {tmp_path}/r -q").exit_code == 0
    several = json.loads(type_(f"compare {tmp_path}/gold {tmp_path}/chat {tmp_path}/r --json").stdout)
    for one in (compared, several):
        parts = {part["name"]: part["difference"] for part in one["comparisons"][0]["parts"]}
        assert parts == {"call": -1.0, "text": 0.0}
    assert type_(f"score {tmp_path}/gold").exit_code == 0
    run = json.loads((tmp_path / "gold" / "run.json").read_text("utf-8"))
    assert (run["identity"]["benchmark"], run["identity"]["profile"]) == ("training", "fixed")
    audited = type_(f"audit training --data {path}")
    assert (audited.exit_code, "100.0 %" in audited.stdout) == (0, True)


@pytest.mark.long
def test_a_learning_curve_has_a_score_of_calls_and_one_of_texts(tmp_path: Path):
    path = wrote(tmp_path / "a.jsonl", row(HUSUM), row(KIEL, id="tide"))
    calls = wrote(tmp_path / "b.jsonl", row(HUSUM) | {"conversations": row(HUSUM)["conversations"][:2]})
    series = tmp_path / "series.toml"
    series.write_text(
        f"[series]\nbenchmarks = [{{name = 'training', data = '{path}'}}, {{name = 'training', data = '{calls}'}}]\n"
        "[[point]]\nname = 'base'\nmodel = 'baseline/gold'\nsize = 0\n"
        "[[point]]\nname = 's'\nmodel = 'baseline/chat'\nsize = 9\n"
    )
    ended = type_(f"curve {series} -o {tmp_path}/runs -q")
    assert ended.exit_code == 0, ended.output
    with (tmp_path / "runs" / "curve.csv").open(newline="") as file:
        found = {(one["benchmark"], one["size"]): one for one in csv.DictReader(file)}
    scores = {key: (one["score"], one["units"]) for key, one in found.items()}
    assert scores == {
        ("training-a-call", "0"): ("1.0", "2"),
        ("training-a-call", "9"): ("0.0", "2"),
        ("training-a-text", "0"): ("1.0", "2"),
        ("training-a-text", "9"): ("1.0", "2"),
        # Of one kind alone there is nothing to mix.
        ("training-b", "0"): ("1.0", "1"),
        ("training-b", "9"): ("0.0", "1"),
    }
    assert found["training-a-text", "9"]["diff_base"] == "0.0"


def test_without_a_file_a_run_says_what_to_give():
    ended = type_("run training --model baseline/gold")
    assert (ended.exit_code, "--data FILE" in ended.stderr) == (2, True)


def test_rows_that_are_no_records_are_counted_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = wrote(tmp_path / "a.jsonl", "oops", row(HUSUM), "[]")
    assert [item.id for item in items(path)] == ["row 2"]
    assert "2; the first: row 1: unreadable-line" in caplog.text


def test_no_file_is_told_to_be_a_training_file(tmp_path: Path):
    ended = type_(f"data stats {wrote(tmp_path / 'a.jsonl', {'messages': []})}")
    assert "training" not in ended.stderr


def test_a_model_that_writes_calls_as_text_is_played(tmp_path: Path):
    path = wrote(tmp_path / "a.jsonl", row(HUSUM, id="tide"))

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        asked = body["messages"][-1]["content"].startswith("<tool_response>")
        written = '<tool_call>{"name": "level", "arguments": {"station": "Husum"}}</tool_call>'
        return {"content": "1.2 m" if asked else written}

    with teaching(answer) as (endpoint, _):
        run = f"run training --data {path} --model m {endpoint} --tool-format hermes -o {tmp_path}/r"
        assert type_(run).exit_code == 0
    shown = type_(f"show {tmp_path}/r --all")
    assert (shown.exit_code, "calls read from text (training" in shown.output) == (0, True), shown.output
