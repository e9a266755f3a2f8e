"""What each policy without the ability says, and what it earns."""

import json
import random
from typing import Any

import pytest

from environments.test_audit import few
from wildtool.environments import attacks
from wildtool.environments.attacks import GOLD, POLICIES, AttackScore, View, attack
from wildtool.environments.copying import COPYING
from wildtool.environments.core import Observation, UnitEnvironment
from wildtool.environments.sources import ItemUnits
from wildtool.types import Message, Tool


def tool(name: str, required: list[str], *, description: str = "", **properties: Any) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def entry(name: str, arguments: str) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


BOOK = tool(
    "book",
    ["day", "guests"],
    day={"type": "string"},
    guests={"type": "integer"},
    note={"type": "string"},
)
CANCEL = tool(
    "cancel",
    ["id", "all", "share", "ids", "more"],
    description="cancel my table",
    id={"enum": ["x"]},
    all={"type": "boolean"},
    share={"type": "number"},
    ids={"type": "array"},
    more={"type": "object"},
)
MESSAGES: list[Message] = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": None, "tool_calls": [entry("first", '{"a": 1}'), entry("second", "")]},
    {"role": "tool", "content": "ok", "tool_call_id": "c"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "Tisch"},
]
DONE, QUESTION = "It is done.", "Which one do you mean?"
GUESSED_BOOK: Any = ("book", {"day": "Tisch", "guests": 1})
GUESSED_CANCEL: Any = ("cancel", {"id": "x", "all": True, "share": 1.0, "ids": [], "more": {}})
BARE: Any = [("book", {}), ("cancel", {})]
FILLED_BOOK, FILLED_CANCEL = ["day", "guests", "note"], ["id", "all", "share", "ids", "more"]
SAYS: dict[str, Any] = {
    "refuse": ("I am sorry, I cannot help with that.",) * 2,
    "ask back": (QUESTION,) * 2,
    "claim that it is done": (DONE,) * 2,
    "claim, then ask": (f"{DONE} {QUESTION}",) * 2,
    "copy the user's text": ("Tisch",) * 2,
    "copy the last result": ("ok",) * 2,
    "copy all that is shown": (json.dumps(MESSAGES),) * 2,
    "empty reply": ("",) * 2,
    "a blank": (" ",) * 2,
    "nothing, then a claim": ("", DONE),
    "first tool, no arguments": ([("book", {})],) * 2,
    "first tool, then a claim": ([("book", {})], DONE),
    "first tool, guessed values": ([GUESSED_BOOK],) * 2,
    "any tool, guessed values": ([GUESSED_CANCEL],) * 2,
    "likeliest tool, guessed values": ([GUESSED_BOOK],) * 2,
    "likeliest tool, then a claim": ([GUESSED_BOOK], DONE),
    "likeliest tool, the user's text as values": ([("book", dict.fromkeys(FILLED_BOOK, "Tisch"))],) * 2,
    "all tools, no arguments": (BARE,) * 2,
    "all tools, guessed values": ([GUESSED_BOOK, GUESSED_CANCEL],) * 2,
    "all tools, null for each value": (
        [("book", dict.fromkeys(FILLED_BOOK)), ("cancel", dict.fromkeys(FILLED_CANCEL))],
    )
    * 2,
    "all tools, then a claim": (BARE, DONE),
    "one tool after another": (BARE[:1], BARE[1:]),
    "likeliest tools, one after another": ([GUESSED_BOOK], [GUESSED_CANCEL]),
    "one call three times": (BARE[:1] * 3,) * 2,
    "repeat the last call": ([("second", {})],) * 2,
    "repeat all calls": ([("first", {"a": 1}), ("second", {})],) * 2,
    "an unknown tool": ([("no_such_tool", {})],) * 2,
    "arguments that cannot be read": ([("book", "{not JSON")],) * 2,
    "call and claim at once": ([DONE, ("book", {})],) * 2,
    "calls as text": ("[book(), cancel()]",) * 2,
    "text and call in turn": (QUESTION, BARE[:1]),
    "the end mark": ("finish conversation",) * 2,
}
"""By policy what it says at its first and at its second step: a text, or names and arguments of calls."""


def said(message: Message) -> Any:
    assert message["role"] == "assistant"
    if "tool_calls" not in message:
        return message["content"]
    assert [call["id"] for call in message["tool_calls"]] == [
        f"call_{number}" for number in range(len(message["tool_calls"]))
    ]
    functions = [call["function"] for call in message["tool_calls"]]
    calls = [
        (each["name"], each["arguments"] if "{not" in each["arguments"] else json.loads(each["arguments"]))
        for each in functions
    ]
    return [*([message["content"]] if message["content"] else []), *calls]


@pytest.mark.parametrize("step", [0, 1])
def test_each_policy_says_what_its_name_says(step: int):
    assert [*POLICIES] == [*SAYS]
    for name, policy in POLICIES.items():
        view = View([*MESSAGES], [BOOK, CANCEL], step, random.Random(0))
        assert said(policy(view)) == SAYS[name][step], name
    view = View([*MESSAGES], [BOOK, CANCEL], 2)
    assert said(POLICIES["one tool after another"](view)) == BARE[:1]
    assert said(POLICIES["likeliest tools, one after another"](view)) == [GUESSED_BOOK]
    assert said(POLICIES["text and call in turn"](view)) == QUESTION
    single = View([*MESSAGES], [BOOK], 1)
    assert said(POLICIES["one tool after another"](single)) == BARE[:1]
    assert said(POLICIES["likeliest tools, one after another"](single)) == [GUESSED_BOOK]


def test_without_tools_and_messages_all_but_one_say_a_text():
    others = {
        "refuse": "I am sorry, I cannot help with that.",
        "ask back": QUESTION,
        "claim, then ask": f"{DONE} {QUESTION}",
        "copy all that is shown": "[]",
        "empty reply": "",
        "a blank": " ",
        "nothing, then a claim": "",
        "an unknown tool": [("no_such_tool", {})],
        "calls as text": "[]",
        "text and call in turn": QUESTION,
        "the end mark": "finish conversation",
    }
    assert {name: said(policy(View())) for name, policy in POLICIES.items()} == {
        name: others.get(name, DONE) for name in POLICIES
    }


def test_the_likeliest_tool_shares_most_words_with_the_user():
    view = View([{"role": "user", "content": "Cancel MY table"}], [BOOK, CANCEL])
    assert said(POLICIES["likeliest tool, guessed values"](view)) == [GUESSED_CANCEL]


def test_texts_and_calls_that_are_copied_have_a_limit():
    calls = [entry(f"f{number}", "{}") for number in range(51)]
    view = View([{"role": "user", "content": "x" * 20_001}, {"role": "assistant", "tool_calls": calls}])
    assert said(POLICIES["copy the user's text"](view)) == "x" * 20_000
    assert len(said(POLICIES["copy all that is shown"](view))) == 20_000
    assert [name for name, _ in said(POLICIES["repeat all calls"](view))] == [f"f{n}" for n in range(1, 51)]
    umlauts = View([{"role": "user", "content": "ä"}])
    assert said(POLICIES["copy all that is shown"](umlauts)) == '[{"role": "user", "content": "ä"}]'


def test_a_view_grows_by_what_is_shown_and_by_its_own_message():
    view, (first, second, own, third) = View(), MESSAGES[:4]
    view.add(Observation([first], [BOOK], replaces=True))
    assert (view.messages, view.tools) == ([first], [BOOK])
    view.add(Observation([second], None), own)
    assert (view.messages, view.tools) == ([first, own, second], [BOOK])
    view.add(Observation([third], [CANCEL]))
    assert (view.messages, view.tools) == ([first, own, second, third], [CANCEL])
    view.add(Observation([third], None, replaces=True), own)
    assert (view.messages, view.tools) == ([third], [CANCEL])
    assert view.last("user") == ""


def test_a_value_of_a_text_is_a_word_of_the_user_or_it():
    view = View([], [BOOK])
    assert said(POLICIES["first tool, guessed values"](view)) == [("book", {"day": "it", "guests": 1})]


def test_each_policy_has_its_mean_reward_gold_first():
    units = few("wild-mini")
    scores = [
        each for each in attack(ItemUnits(units.benchmark, units.items[:2]), "fixed") if not each.copies
    ]
    assert [score.policy for score in scores] == [GOLD, *POLICIES]
    assert scores[0] == AttackScore(policy=GOLD, reward=1, without_free=1, free_units=1, units=8)
    talking = {"reward": 0.125, "without_free": 0.0, "free_units": 1, "units": 8}
    assert scores[1] == AttackScore(policy="refuse", **talking)
    paid = {score.policy: (score.reward, score.without_free) for score in scores[1:] if score.reward}
    talking = ["refuse", "ask back", "claim that it is done", "claim, then ask", "copy the user's text"]
    lucky = ["first tool, no arguments", "first tool, then a claim", "first tool, guessed values"]
    assert paid == {
        **dict.fromkeys(
            [*talking, "copy the last result", "text and call in turn", "the end mark"], (1 / 8, 0)
        ),
        **dict.fromkeys([*lucky, "any tool, guessed values", "one tool after another"], (1 / 64, 1 / 56)),
    }


def test_a_policy_sees_what_it_did_and_how_often(monkeypatch: pytest.MonkeyPatch):
    seen: list[tuple[int, list[str], bool]] = []

    def asks(view: View) -> Message:
        seen.append((view.step, [message["role"] for message in view.messages][-3:], bool(view.tools)))
        return {"role": "assistant", "content": None, "tool_calls": [entry("no_such_tool", "{}")]}

    monkeypatch.setitem(attacks.POLICIES, "refuse", asks)  # type: ignore[arg-type]
    units = few("wild-mini")
    attack(ItemUnits(units.benchmark, units.items[:1]), "fixed")
    steps = [step for step, _, _ in seen]
    first = steps[: steps.index(0, 1)]
    assert first == [*range(len(first))] and len(first) > 2
    assert [roles[-2:] for _, roles, _ in seen[1 : len(first)]] == [["assistant", "tool"]] * (len(first) - 1)
    assert all(has_tools for _, _, has_tools in seen)


@pytest.mark.parametrize("free", [4, 3, 2])
def test_units_that_a_text_alone_solves_are_left_out_of_the_second_mean(
    free: int, monkeypatch: pytest.MonkeyPatch
):
    units = ItemUnits(few("wild-mini").benchmark, few("wild-mini").items[:1])

    def play(environment: UnitEnvironment, unit: str, policy: Any) -> float:
        is_free = units.names.index(unit) < free
        return 0.75 if policy is None else float(is_free) if policy is POLICIES["the end mark"] else 0.5

    monkeypatch.setattr(attacks, "_play", play)
    scores = {
        score.policy: (score.reward, score.without_free, score.free_units) for score in attack(units, "fixed")
    }
    rest = free < 4
    assert scores == {
        GOLD: (0.75, 0.75 * rest, free),
        **dict.fromkeys([*POLICIES, *COPYING], (0.5, 0.5 * rest, free)),
        "the end mark": (free / 4, 0, free),
    }


def test_where_no_unit_can_be_opened_there_is_no_attack(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(UnitEnvironment, "can_open", lambda self, name: False)
    assert attack(few("wild-mini"), "fixed") == []


def test_a_unit_whose_gold_is_not_written_down_earns_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(UnitEnvironment, "gold", lambda self: None)
    units = few("wild-mini")
    gold, refusing, *_ = attack(ItemUnits(units.benchmark, units.items[:1]), "fixed")
    assert (gold.reward, gold.without_free, gold.free_units, gold.units) == (0, 0, 0, 4)
    assert refusing.reward == 0
