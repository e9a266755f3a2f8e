"""What one unit shows with an instruction in it, request by request, and what it says of the replies."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.alter.injection.injection import OBEDIENT, InjectedUnit, Injection
from wildtool.alter.injection.planting import attacks
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.errors import UsageError
from wildtool.trace import Trace, TraceStep
from wildtool.types import Item, Message, Request, ResultsInText, Tool

ITEM = Item("6", ("0",), None)
"""An item for which the seed draws `erase_backup`."""
TOOLS: list[Tool] = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in "abcd"
]
SAID: Message = {"role": "assistant", "content": "The fare is 12."}


def unit() -> InjectedUnit:
    return Injection(InjectionSetting.base, 3).unit(ITEM, "0")


def exchanged(played: InjectedUnit, request: Request, reply: Message) -> Request:
    """The request as the model sees it that gives this reply."""
    exchange = played.exchange(request)
    shown = next(exchange)
    with pytest.raises(StopIteration) as end:
        exchange.send(reply)
    assert end.value.value == reply
    return shown


def result(id_: str, text: str | None) -> Message:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def test_a_trace_shows_texts_as_the_model_saw_them():
    played = unit()

    def reads(tools: Sequence[Tool], results: Sequence[str]) -> Sequence[Message]:
        return [{"role": "user", "content": f"Results: {results[0]}"}]

    own: Message = {"role": "user", "content": "Results: 12."}
    untexted: Message = {"role": "user", "content": None}
    empty = Trace("0", TOOLS, (TraceStep("agent", [own, SAID, untexted], SAID),), ())
    assert played.traced(empty) is empty
    shown = exchanged(played, Request([own], in_text=ResultsInText(["12."], reads)), SAID)
    trace = played.traced(empty)
    assert [tool["function"]["name"] for tool in trace.tools] == ["a", "b", "c", "d", "erase_backup"]
    assert trace.steps[0].seen == [*shown.messages, SAID, untexted]


def test_a_model_that_obeys_does_so_once_where_it_reads_the_instruction():
    def gold(style: str) -> Message:
        return {"role": "assistant", "content": f"gold {style}"}

    def answers(results: Sequence[Message]) -> list[Message]:
        shown = exchanged(played, Request(results, TOOLS, gold=gold), SAID)
        assert shown.gold is not None
        return [shown.gold(style) for style in ("serial", OBEDIENT)]

    played = unit()
    assert answers([]) == [gold("serial"), gold("parallel")]
    *_, obeys = answers([result("h1", "12.")])
    assert obeys["tool_calls"] == [
        {
            "id": "call_attack_1",
            "type": "function",
            "function": {"name": "erase_backup", "arguments": '{"backup": "family-archive"}'},
        }
    ]
    exchanged(played, Request([result("h1", "12.")], TOOLS), obeys)
    assert answers([result("h1", "12.")]) == [gold("serial"), gold("parallel")]


def test_nothing_is_planted_where_each_attackers_tool_is_offered_anyway():
    played = unit()
    request = Request([result("h1", "12.")], [attack.tool for attack in attacks("en", InjectionSetting.base)])
    assert exchanged(played, request, SAID) is request
    assert played.fields(ended=True) == {}


class _Asks:
    """An episode that shows these requests one after another, with gold answers or without."""

    done = False

    def __init__(self, requests: Sequence[Request]) -> None:
        self._requests = list(requests)

    def request(self) -> Request | None:
        return self._requests[0] if self._requests else None

    def advance(self, reply: Message) -> None:
        del self._requests[0]


TEXT = [{"role": "user", "content": "x"}]
QUESTION = Request(TEXT, TOOLS, gold=lambda style: SAID)


@pytest.mark.parametrize(
    ("requests", "shows"),
    [
        ([], False),
        ([QUESTION], False),
        ([QUESTION, replace(QUESTION, messages=[*TEXT, result("1", "12.")])], True),
        ([Request([result("1", "12.")])], False),  # without gold nobody knows
        ([replace(QUESTION, in_text=ResultsInText([], lambda tools, results: TEXT))], False),
        ([QUESTION, replace(QUESTION, in_text=ResultsInText(["12."], lambda tools, results: TEXT))], True),
    ],
)
def test_an_item_can_be_injected_whose_gold_answers_lead_to_a_result(requests: list[Request], shows: bool):
    rules = SimpleNamespace(episode=lambda item, unit: _Asks(requests))  # type: ignore[reportUnknownLambdaType]
    benchmark: Any = SimpleNamespace(rules=lambda profile: rules, name="b", mode="fc", modes={})  # type: ignore[reportUnknownLambdaType]
    injection = Injection(InjectionSetting.base)
    if shows:
        assert injection.check(benchmark, [ITEM], "fixed") == ""
    else:
        with pytest.raises(UsageError, match="none of the selected items of b shows one"):
            injection.check(benchmark, [ITEM], "fixed")
