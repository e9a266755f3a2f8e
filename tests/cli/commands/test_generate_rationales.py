"""Reasoning before the calls of a training file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from training.procedures.student import Body, teaching
from training.procedures.training_files import call, message, row, wrote
from wildtool.cli import app
from wildtool.training.procedures.supervised import supervised_turns
from wildtool.training.reading import training_records
from wildtool.training.record import TrainingRecord
from wildtool_data.make.training.rationales import reasoning_fault

HUSUM = call(station="Husum", day=12)
GOOD = (
    "1. What is asked\nThe user wants to know how high the water is today, so a level is needed.\n"
    "2. What is known\nThe place is named in the request, and today is the day that the text gives.\n"
    "3. Another way\nThe tide tool would give a forecast, which is not what the user wants to hear."
)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def lines(name: str) -> list[Any]:
    return [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]


def first_turn(user: str) -> Any:
    (record,) = training_records(wrote(Path("one.jsonl"), row(HUSUM, user=user)))
    assert isinstance(record, TrainingRecord)
    return supervised_turns(record, "calls")[0]


@pytest.mark.parametrize(
    ("user", "text", "fault"),
    [
        ("Level at Husum on day 12?", GOOD, ""),
        ("Level at Husum on day 12?", GOOD + " Husum, day 12.", ""),
        ("Level?", GOOD + " So it must be HUSUM.", "tells a value"),
        ("Level at Husum?", GOOD + " Day 12 it is.", "tells a value"),
        ("Level at Husum?", GOOD + " It was 1200 then, or 3.12.5?", "tells a value"),
        ("Level at Husum?", GOOD + " It was 1200 then.", ""),
        ("Level?", GOOD + " Think of Husumer Bucht.", ""),
        ("Level at Husum?", GOOD + " Day_12", ""),
        ("Husum今天12号的潮位?", GOOD + " 在Husum，第12天。", ""),
        ("今天12号的潮位?", GOOD + " 应该是Husum的。", "tells a value"),
        ("Husum 12", "1. a\n2. b\n3. c", "fewer than 30 tokens"),
        ("Husum 12", GOOD.replace("3. ", "And "), "fewer than 3 steps"),
        ("Husum 12", GOOD + ' {"name": "level"}', "call syntax"),
        ("Husum 12", GOOD + ' level(station="Husum")', "call syntax"),
        ("Husum 12", GOOD + " <tool_call>", "call syntax"),
        ("Husum 12", GOOD + " The level (of water) counts.", ""),
    ],
)
def test_reasoning_that_cannot_be_learned_from_is_left_out(user: str, text: str, fault: str):
    found = reasoning_fault(text, first_turn(user), 30)
    assert found.startswith(fault) if fault else not found


def thinker(thoughts: Callable[[str], str], *, finds: bool = True) -> Callable[[Body], dict[str, Any]]:
    """Writes thoughts, and finds the call if it is shown some."""

    def answer(body: Body) -> dict[str, Any]:
        if "Write down the thoughts" in body["messages"][0]["content"]:
            shown = json.loads(body["messages"][1]["content"])
            return message(text=thoughts(shown["conversation"][-1]["content"]))
        shown_thoughts = "What is asked" in body["messages"][-1]["content"]
        return message(HUSUM) if finds and shown_thoughts else message(text="Hm.")

    return answer


USER = "Level at Husum on day 12?"


def test_reasoning_is_put_beside_the_calls_as_thinking_or_before_tags():
    wrote(Path("a.jsonl"), row(HUSUM, user=USER))
    with teaching(thinker(lambda user: GOOD)) as (endpoint, received):
        ended = type_(f"generate rationales a.jsonl --model m {endpoint} -o out")
        assert (ended.exit_code, "1 record with reasoning at 1 of 1 turn\n" in ended.stdout) == (0, True)
        assert [body["temperature"] for body in received] == [0.7, 0.0]
        (made,) = lines("out/reasoned.jsonl")
        value = made["conversations"][1]["value"]
        assert value == f"<think>\n{GOOD}\n</think>\n\n{json.dumps(HUSUM)}"
        assert [turn["from"] for turn in made["conversations"]] == [
            "human",
            "function_call",
            "observation",
            "gpt",
        ]
        type_(f"generate rationales a.jsonl --model m {endpoint} --text-with-calls tags -o out")
        assert len(received) == 2
    (made,) = lines("out/reasoned.jsonl")
    assert made["conversations"][1]["value"].startswith(f"{GOOD}\n<tool_call>\n")
    assert [(one["kept"], one["reply"]) for one in lines("out/audit.jsonl")] == [(True, GOOD)]


@pytest.mark.parametrize(("option", "kept"), [("", 0), ("--no-check", 1)])
def test_reasoning_that_does_not_lead_to_the_calls_is_left_out(option: str, kept: int):
    wrote(Path("a.jsonl"), row(HUSUM, user=USER))
    with teaching(thinker(lambda user: GOOD, finds=False)) as (endpoint, received):
        ended = type_(f"generate rationales a.jsonl --model m {endpoint} {option} -o out")
    assert (ended.exit_code, len(received)) == (0, 2 - kept)
    assert f"1/1 items · {100.0 * kept} % usable" in ended.stderr
    assert len(lines("out/reasoned.jsonl")) == kept
    assert lines("out/audit.jsonl")[0]["reason"] == (
        "breaks no rule" if kept else "does not lead to the calls"
    )


def test_the_same_reasoning_is_kept_once():
    wrote(Path("a.jsonl"), row(HUSUM, user=USER), row(HUSUM, user=USER))
    with teaching(thinker(lambda user: GOOD)) as (endpoint, _):
        type_(f"generate rationales a.jsonl --model m {endpoint} -o out")
    assert len(lines("out/reasoned.jsonl")) == 1
    assert lines("out/audit.jsonl")[1]["reason"] == "equal to the reasoning of another turn"


def test_a_record_ends_before_its_first_call_without_reasoning():
    both = row(HUSUM, user=USER)
    both["conversations"] += row(HUSUM, user="And then, Husum 12?")["conversations"]
    wrote(Path("a.jsonl"), both, row(HUSUM, user="Third, Husum 12?"))

    def thoughts(user: str) -> str:
        return GOOD if user == USER else "1. no"

    with teaching(thinker(thoughts)) as (endpoint, _):
        type_(f"generate rationales a.jsonl --model m {endpoint} --to openai -o out")
    (made,) = lines("out/reasoned.jsonl")
    assert [one["role"] for one in made["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert made["messages"][2]["content"] == GOOD
    counts = {one["name"]: one["numerator"] for one in json.loads(Path("out/yield.json").read_text())}
    assert (counts["fit"], counts["in written records"], counts["fewer than 30 tokens"]) == (1, 1, 2)


def test_a_stopped_procedure_asks_nothing_twice():
    wrote(Path("a.jsonl"), *(row(HUSUM, user=f"{USER} {number}") for number in range(5)))
    with teaching(thinker(lambda user: f"{GOOD} {user[-1]}")) as (endpoint, received):
        stopped = type_(
            f"generate rationales a.jsonl --model m {endpoint} --max-tokens-total 850 -j 1 -o out"
        )
        assert (stopped.exit_code, 0 < len(received) < 10) == (3, True)
        ended = type_(f"generate rationales a.jsonl --model m {endpoint} -o out")
    assert (ended.exit_code, len(received)) == (0, 10)
    assert len(lines("out/reasoned.jsonl")) == 5
