"""Units without their earlier turns: what a model is sent, what a run says of it, and what it is refused for."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool as wt
from alter.history.session_play import gold, own, play
from benchmarks.acebench.reply_build import item, normal
from wildtool.alter.history.left_out import LeftOutHistory
from wildtool.alter.history.settings import HistorySetting
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.errors import RecordError, UsageError
from wildtool.types import Item, Message, Transcript

TOOL = {"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": {}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
EARLIER: list[Message] = [
    {"role": "user", "content": "Find it."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
    {"role": "assistant", "content": "There it is."},
]
SYSTEM: Message = {"role": "system", "content": "Help."}
NOW: Message = {"role": "user", "content": "And now?"}
LEAVE_OUT = [
    setting for setting in HistorySetting if setting not in (HistorySetting.gold, HistorySetting.own)
]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def cases(*messages: Message) -> str:
    case = {"id": "late", "tools": [TOOL], "messages": [*messages], "expect": {"find": {}}}
    first = {"id": "first", "tools": [TOOL], "messages": [SYSTEM, NOW], "expect": {"find": {}}}
    Path("mine.cases.yaml").write_text(json.dumps({"cases": [case, first]}), encoding="utf-8")
    return "mine.cases.yaml"


def shown(data: str, history: Any) -> list[list[tuple[str, str]]]:
    """Role and text of each message of each request of a run."""
    requests: list[list[tuple[str, str]]] = []

    def model(messages: Sequence[Any], tools: Sequence[Any]) -> Any:
        requests.append([(message["role"], message.get("content") or "") for message in messages])
        return "No."

    wt.run(data, model=model, out="out", history=history, limit=2)
    return sorted(requests, key=len, reverse=True)


@pytest.mark.parametrize(
    ("history", "kept"),
    [
        ("none", []),
        ("without:user", EARLIER[1:]),
        ("without:assistant", EARLIER[:1]),
        ("without:tool", [EARLIER[0], EARLIER[3]]),
    ],
)
def test_of_earlier_turns_the_chosen_are_left_out_with_what_no_endpoint_takes_alone(
    history: str, kept: list[Message]
):
    asked, first = shown(cases(SYSTEM, *EARLIER, NOW), history)
    assert asked == [(each["role"], each["content"] or "") for each in (SYSTEM, *kept, NOW)]
    assert first == [("system", "Help."), ("user", "And now?")]


def test_what_the_user_says_in_a_row_is_one_turn_and_stays():
    more: Message = {"role": "user", "content": "Please."}
    asked, _ = shown(cases(SYSTEM, *EARLIER, NOW, more), "none")
    assert [text for _, text in asked] == ["Help.", "And now?", "Please."]


def test_what_is_said_within_a_unit_stays():
    benchmark = load_benchmark("wild-mini")
    item = next(iter(benchmark.load(data_of(benchmark).locate(None))))
    whole, alone = (
        play(variant, item, gold) for variant in (own(benchmark), altered(benchmark, HistorySetting.none))
    )
    for unit, requests in alone.asked.items():
        before = len(whole.asked[unit][0].messages) - len(requests[0].messages)
        assert [len(each.messages) + before for each in requests] == [
            len(each.messages) for each in whole.asked[unit]
        ]
        assert requests[-1].messages[-1] == whole.asked[unit][-1].messages[-1]
        assert [message["role"] for message in requests[0].messages] == ["system", "user"]


def test_a_unit_whose_first_call_failed_is_one_of_those_that_lose_turns():
    benchmark = load_benchmark("wild-mini")
    item = next(iter(benchmark.load(data_of(benchmark).locate(None))))
    variant = altered(benchmark, HistorySetting.none)
    asked = {unit: requests[0].messages for unit, requests in play(own(benchmark), item, gold).asked.items()}
    failed = {unit: Transcript((), infra_error="http 400: no") for unit in item.units}
    found = {each.unit: each.fields["turns_left_out"] for each in variant.judge(item, failed, "fixed")}
    # All but the instructions and what the user says last.
    assert found == {unit: len(messages) - 2 for unit, messages in asked.items()}


def altered(benchmark: Benchmark, setting: HistorySetting) -> Variant:
    return Variant(benchmark, (LeftOutHistory(setting),), "fixed")


def test_a_conversation_inside_a_text_loses_its_turns_too():
    question = "user: A room.\nsystem: For when?\nuser: Tomorrow.\nand cheap\n"
    played: Item = item(normal(question=question))
    benchmark = load_benchmark("acebench")
    texts = {
        setting: play(altered(benchmark, setting), played, gold).asked["0"][0].messages[-1]["content"]
        for setting in LEAVE_OUT
    }

    def said(text: str) -> list[str]:
        return text.split("\n", 1)[1].splitlines()

    assert said(texts[HistorySetting.none]) == ["user: Tomorrow.", "and cheap"]
    assert said(texts[HistorySetting.without_user]) == ["system: For when?", "user: Tomorrow.", "and cheap"]
    assert said(texts[HistorySetting.without_assistant])[:2] == ["user: A room.", "user: Tomorrow."]
    assert said(texts[HistorySetting.without_tool]) == question.splitlines()


@pytest.mark.parametrize("setting", LEAVE_OUT)
def test_a_run_knows_what_it_left_out(setting: HistorySetting):
    alteration = LeftOutHistory(setting)
    assert LeftOutHistory.recorded(alteration.identity()) == alteration


@pytest.mark.parametrize("entry", [{}, None, "own", "without:system", ["none"]])
def test_a_damaged_entry_is_named(entry: Any):
    with pytest.raises(RecordError, match="history_left_out"):
        LeftOutHistory.recorded({"history_left_out": entry})


def test_units_that_lose_nothing_are_counted_before_a_run_and_apart_after_it():
    data = cases(SYSTEM, *EARLIER, NOW)
    words = ["run", data, "-m", "baseline/gold", "--history", "none", "-o", "out"]
    ran = CliRunner().invoke(app, words, prog_name="wildtool")
    assert (ran.exit_code, "1 of 2 units" in ran.output) == (0, True), ran.output
    counts = re.findall(r"correct where (\w+) are .* (\d+/\d+)", ran.output)
    assert counts == [("turns", "1/1")], "the other is asked as in any run, and is no headline"


def test_where_nothing_would_be_left_out_a_run_is_refused():
    data = cases(SYSTEM, *EARLIER[:1], EARLIER[3], NOW)
    with pytest.raises(UsageError, match="earlier turns of tool"):
        shown(data, "without:tool")


def test_a_model_that_plays_tools_has_nothing_to_play_without_own_history():
    roles = wt.Roles(tools_model="baseline/user")
    with pytest.raises(UsageError, match="tools_model= plays tools with history="):
        wt.run("wild-mini", model="baseline/gold", history="none", roles=roles, out="out")
