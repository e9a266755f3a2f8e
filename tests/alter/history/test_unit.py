"""One task of a session after the model's own: what it is shown, what follows its verdict, and what is said of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.alter.history.history import OwnHistory
from wildtool.alter.history.own_history import LATER_NOTE, MOST_LATER_REPLIES, OwnHistoryUnit
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.tool_answers import TOOLS_PLAYER, TOOLS_PLAYER_ROLE
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.errors import UsageError
from wildtool.trace import Trace, TraceStep
from wildtool.types import Item, Message, Request, Role, Tool

TOOLS: list[Tool] = [{"type": "function", "function": {"name": name}} for name in ("get", "set")]
GOLD: list[Message] = [{"role": "user", "content": "gold 0"}, {"role": "assistant", "content": "gold answer"}]
SYSTEM: Message = {"role": "system", "content": "s"}


def _own_run(unit: str, replies: Sequence[Message]) -> list[Message]:
    return [{"role": "user", "content": f"task {unit}"}, *replies]


def _result(unit: str, name: str, arguments: Any) -> str | None:
    return '{"degrees": 14}' if (name, arguments) == ("get", '{"day": 1}') else None


RECORD: Any = SimpleNamespace(
    own_run=_own_run,
    result=_result,
    results=lambda unit, name: [{"degrees": 3}] if name == "get" else [],  # type: ignore[reportUnknownLambdaType]
    missing=lambda unit, messages: [] if "degrees" in str(messages) else ["14"],  # type: ignore[reportUnknownLambdaType]
    history=lambda unit: {"0": slice(1, 3)} if unit == "1" else {},  # type: ignore[reportUnknownLambdaType]
)


def unit(
    name: str = "0",
    earlier: Mapping[str, OwnHistoryUnit] | None = None,
    unrecorded: Unrecorded = Unrecorded.refuse,
    lang: str = "en",
) -> OwnHistoryUnit:
    return OwnHistoryUnit(unrecorded, RECORD, Item("i", ("0", "1"), None, lang=lang), name, earlier or {})


def says(text: Any) -> Message:
    return {"role": "assistant", "content": text}


def called(*calls: tuple[Any, Any], content: Any = None) -> Message:
    listed = [
        {"id": f"own{n}", "function": {"name": name, "arguments": text}}
        for n, (name, text) in enumerate(calls)
    ]
    return {"role": "assistant", "content": content, "tool_calls": listed}


def answered(played: OwnHistoryUnit, reply: Message, *messages: Message) -> list[Message]:
    """What the model is shown that gives this reply."""
    exchange = played.exchange(Request([SYSTEM, *messages], TOOLS))
    shown = next(exchange)
    with pytest.raises(StopIteration):
        exchange.send(reply)
    return [*shown.messages]


def ended(played: OwnHistoryUnit, *replies: Message) -> list[Request]:
    """What is asked after the verdict, and answered by these."""
    afterwards, asked = played.afterwards(), list[Request]()
    try:
        asked.append(next(afterwards))
        for reply in replies:
            asked.append(afterwards.send(reply))
    except StopIteration:
        return asked
    pytest.fail("it asks more")


def names(messages: Sequence[Message]) -> list[str]:
    """Each message in short: its role and text, its calls."""
    calls = (
        [
            f"{call['function']['name']}({call['function']['arguments']})"
            for call in message.get("tool_calls", ())
        ]
        for message in messages
    )
    heads = (f"{message['role']}: {message.get('content')}" for message in messages)
    return [" ".join([head, *its]) for head, its in zip(heads, calls, strict=True)]


def test_a_task_that_ended_in_text_is_history_as_it_is() -> None:
    first = unit()
    assert (first.history, first.fields(ended=True)["settled"]) == ([], False)
    assert answered(first, says("Fine."), GOLD[0]) == [SYSTEM, GOLD[0]]
    assert ended(first) == []
    assert first.history == [{"role": "user", "content": "task 0"}, says("Fine.")]
    asked: Message = {"role": "user", "content": "task 1"}
    assert answered(unit("1", {"0": first}), says("x"), *GOLD, asked) == [SYSTEM, *first.history, asked]
    assert answered(unit("1"), says("x"), *GOLD, asked) == [SYSTEM, *GOLD, asked]
    assert answered(unit("1", {"0": unit()}), says("x"), *GOLD, asked) == [SYSTEM, *GOLD, asked]
    second = unit("1", {"0": first})
    assert second.fields(ended=True) == {
        "session_place": 2, "settled": False, "unrecorded_calls": 0, "later_replies": 0
    }  # fmt: skip
    assert unit("1", {"0": unit()}).fields(ended=True)["settled"] is None
    assert [*unit().afterwards()] == []


@pytest.mark.parametrize(
    ("lang", "no_result", "no_tool"),
    [
        ("en", "no result for these arguments", "there is no tool a_b_"),
        ("zh", "没有与这些参数对应的结果", "没有名为 a_b_ 的工具"),
    ],
)
def test_calls_after_the_verdict_get_what_the_record_holds_or_an_error(
    lang: str, no_result: str, no_tool: str
) -> None:
    first = unit(lang=lang)
    asks = called(("get", '{"day": 1}'), ("get", '{"day": 2}'), ("set", "no JSON"), content="I look.")
    answered(first, asks)
    (asked, again) = ended(first, called(("a b!", {"x": "市"}), (3, "{}"), ("get", "{}")), says(""))
    assert names(first.history) == [
        "user: task 0",
        'assistant: I look. get({"day": 1}) get({"day": 2}) set({})',
        'tool: {"degrees": 14}',
        f'tool: {{"error": "{no_result}"}}',
        f'tool: {{"error": "{no_result}"}}',
        'assistant:  a_b_({"x": "市"}) get({})',
        f'tool: {{"error": "{no_tool}"}}',
        f'tool: {{"error": "{no_result}"}}',
    ]
    ids = [call["id"] for message in first.history for call in message.get("tool_calls", ())]
    assert ids == [message["tool_call_id"] for message in first.history if message["role"] == "tool"]
    assert len(set(ids)) == 5
    assert asked.gold is not None
    assert asked.gold("any") == says("…")
    assert (names(asked.messages), asked.tools) == (["system: s", *names(first.history)[1:5]], TOOLS)
    assert names(again.messages) == ["system: s", *names(first.history)[1:]]
    assert first.fields(ended=True) == {
        "session_place": 1, "settled": False, "unrecorded_calls": 4, "later_replies": 2
    }  # fmt: skip


def test_reasoning_is_shown_with_the_calls_of_its_own_task_alone() -> None:
    first = unit()
    details: Message = {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}
    answered(first, {**called(("get", '{"day": 1}')), **details})
    (asked, again) = ended(first, {**called(("get", '{"day": 2}')), "reasoning": "so"}, says("Fine."))
    thoughts = [message for message in again.messages if message["role"] == "assistant"]
    assert asked.messages[1].items() >= details.items() and thoughts[0].items() >= details.items()
    assert thoughts[1]["reasoning"] == "so"
    assert not any(key.startswith("reasoning") for message in first.history for key in message)


def test_a_model_that_calls_on_is_cut_off() -> None:
    first = unit()
    call = called(("get", '{"day": 1}'))
    answered(first, call)
    assert len(ended(first, *[call] * MOST_LATER_REPLIES)) == MOST_LATER_REPLIES
    assert first.fields(ended=True)["later_replies"] == MOST_LATER_REPLIES
    assert [message["role"] for message in first.history[-2:]] == ["assistant", "tool"]


def test_what_the_record_does_not_hold_may_be_made_up() -> None:
    first = unit(unrecorded=Unrecorded.simulate)
    answered(first, called(("get", '{"day": 2}'), ("gone", "{}")))
    simulated, asked = ended(first, says("```json\n[1]\n```"), says("Done."))
    assert (simulated.role, asked.role) == ("tools", "agent")
    assert json.loads(simulated.messages[1]["content"])["other results"] == [{"degrees": 3}]
    assert names(first.history)[2:] == [
        "tool: [1]", 'tool: {"error": "there is no tool gone"}', "assistant: Done."
    ]  # fmt: skip


def test_a_trace_goes_on_after_the_verdict() -> None:
    first = unit()
    answered(first, called(("get", '{"day": 1}')))
    ended(first, called(("get", '{"day": 1}')), says("Done."))
    second = unit("1", {"0": first})
    empty = Trace("1", TOOLS, (), ())
    assert second.traced(empty) is empty
    asked: Message = {"role": "user", "content": "task 1"}
    steps = (TraceStep("agent", [SYSTEM, *GOLD, asked], says("x")), TraceStep("agent", [asked], says("y")))
    trace = second.traced(Trace("1", TOOLS, steps, ()))
    assert trace.steps == (TraceStep("agent", [SYSTEM, *first.history, asked], says("x")), steps[1])
    own = first.traced(Trace("0", TOOLS, (TraceStep("agent", [SYSTEM, GOLD[0]], says("x")),), ()))
    assert [(step.note, names(step.seen), names([step.reply])) for step in own.steps[1:]] == [
        (LATER_NOTE, ['tool: {"degrees": 14}'], ['assistant:  get({"day": 1})']),
        (LATER_NOTE, ['tool: {"degrees": 14}'], ["assistant: Done."]),
    ]


@pytest.mark.parametrize(
    ("unrecorded", "label", "folder", "roles"),
    [
        (Unrecorded.refuse, "own", ["history-own"], {}),
        (
            Unrecorded.simulate,
            "own, unrecorded calls simulated",
            ["history-own", "simulate"],
            {TOOLS_PLAYER: TOOLS_PLAYER_ROLE},
        ),
    ],
)
def test_a_run_says_what_becomes_of_calls_that_are_not_recorded(
    unrecorded: Unrecorded, label: str, folder: list[str], roles: dict[str, Role]
) -> None:
    history = OwnHistory(unrecorded)
    assert (history.label, history.folder_parts, history.played_roles) == (label, folder, roles)
    assert history.identity() == {"history": {"own": unrecorded.value}}
    assert OwnHistory.recorded(history.identity()) == history
    with pytest.raises(UsageError, match="follows from the rules of a benchmark"):
        history.unit(Item("i", ("0",), None), "0")


def test_sessions_of_one_task_have_no_history() -> None:
    benchmark = load_benchmark("wild-mini")
    item = next(iter(benchmark.load(data_of(benchmark).locate(None))))
    history = OwnHistory(Unrecorded.refuse)
    assert history.check(benchmark, [replace(item, units=item.units[:1]), item], "fixed") == ""
    with pytest.raises(UsageError, match="each selected session has one task"):
        history.check(benchmark, [replace(item, units=item.units[:1])], "fixed")
