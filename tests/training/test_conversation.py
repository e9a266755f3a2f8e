"""Turns put in order: what is joined, dropped and refused while a record is read; its forms, keys and safe names."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b, sha256
from typing import Any

import pytest

from training.record_forms import call, calls, results, tool
from wildtool.json_codec import canonical_json
from wildtool.sets.prepare.conversation import REJECT_REASONS, ROW_REPAIRS, ConversationBuilder
from wildtool.sets.prepare.keys import drawn_number, prompt_key, record_digest, split_of, tools_key
from wildtool.sets.prepare.record import (
    AssistantTurn,
    ObservedResult,
    RejectedRow,
    ResultTurn,
    RowError,
    TrainingCall,
    TrainingRecord,
    TrainingTurn,
    UserTurn,
    place_record,
    says_the_same,
    up_to_replies,
)
from wildtool.sets.prepare.safe_names import with_safe_names
from wildtool.sets.prepare.tools import FoundTools

Q, R = UserTurn("q"), AssistantTurn("r")
F, G = call("f", "a"), call("g", "b")
Build = Callable[[ConversationBuilder], object]


def q(text: str = "q", **extras: Any) -> Build:
    return lambda builder: builder.add_user(text, extras)


def r(text: str | None = "r", *entries: TrainingCall, **more: Any) -> Build:
    return lambda builder: builder.add_reply(text, entries, **more)


def res(text: str, own_id: str | None = None, **extras: Any) -> Build:
    return lambda builder: builder.add_result(text, extras, own_id)


def built(*steps: Build, splits: bool = False) -> ConversationBuilder:
    builder = ConversationBuilder(splits_results=splits)
    for step in steps:
        step(builder)
    return builder


@pytest.mark.parametrize(
    ("steps", "turns", "repairs"),
    [
        ([q(), r()], (Q, R), ()),
        ([r(), q(), r()], (Q, R), ("leading-assistant",)),
        ([r(None, F), res("5"), q(), r()], (Q, R), ("leading-assistant",)),
        ([q("a", k=1, m=1), q("b", k=2), r()], (UserTurn("a\n\nb", {"k": 2, "m": 1}), R), ("merge-user",)),
        ([q(), r("a"), r("b")], (Q, AssistantTurn("a\n\nb")), ("merge-assistant",)),
        ([q(), r("a"), r(None, F)], (Q, calls(F, text="a")), ("merge-assistant",)),
        ([q(), r(None, F), r(None, G)], (Q, calls(F, G)), ("merge-calls",)),
        (
            [q(), r(None, F), r(None, G), res("5"), res("6"), r()],
            (Q, calls(F, G), results("5", "6"), R),
            ("merge-calls",),
        ),
        ([q(), r(None, F), r("a"), r("b")], (Q, calls(F)), ("text-after-call",)),
        ([q(), r(None, F), r("a"), q(), r()], (Q, calls(F), Q, R), ("text-after-call",)),
        (
            [q(), r("a", learned=False, extras={"k": 1, "m": 1}), r("b", learned=False, extras={"k": 2})],
            (Q, AssistantTurn("a\n\nb", (), False, {"k": 2, "m": 1})),
            ("merge-assistant",),
        ),
        ([q(), r("a", learned=False), r("b")], (Q, AssistantTurn("a\n\nb")), ("merge-assistant",)),
        ([q(), r("a"), r("b", learned=False)], (Q, AssistantTurn("a\n\nb")), ("merge-assistant",)),
        ([q(), r(), q()], (Q, R), ("trailing-turns",)),
        ([q(), r(None, F), res("5")], (Q, calls(F)), ("trailing-turns",)),
        ([q(), r(None, F), res("5"), q()], (Q, calls(F)), ("trailing-turns",)),
        (
            [q(), r(None, F, G), res("5", "b", k=1), res("6", "a"), r()],
            (Q, calls(F, G), ResultTurn((ObservedResult("6"), ObservedResult("5", {"k": 1}))), R),
            (),
        ),
        ([q(), r(None, F, F), res("5", "a"), res("6", "a"), r()], (Q, calls(F, F), results("5", "6"), R), ()),
        ([q(), r(None, F, G), res("5", "b"), res("6"), r()], (Q, calls(F, G), results("5", "6"), R), ()),
        ([q(), r(None, F), res("5", "a"), r()], (Q, calls(F), results("5"), R), ()),
        ([q(), r(None, F), res("5", ""), r()], (Q, calls(F), results("5"), R), ()),
    ],
)
def test_turns_are_joined_and_dropped(
    steps: list[Build], turns: tuple[TrainingTurn, ...], repairs: tuple[str, ...]
):
    builder = built(*steps)
    assert builder.finish() == turns
    assert builder.repairs == repairs
    assert set(repairs) <= ROW_REPAIRS.keys()


@pytest.mark.parametrize(
    ("steps", "turns", "repairs"),
    [
        ([q()], (Q,), ()),
        ([q(), r(), q()], (Q, R, Q), ()),
        ([q(), r(None, F), res("5")], (Q, calls(F), results("5")), ()),
    ],
)
def test_a_prompt_ends_before_a_reply(
    steps: list[Build], turns: tuple[TrainingTurn, ...], repairs: tuple[str, ...]
):
    builder = built(*steps)
    assert (builder.finish(prompt=True), builder.repairs) == (turns, repairs)


@pytest.mark.parametrize(
    ("steps", "prompt", "reason", "detail"),
    [
        ([r()], False, "no-user", "no user turn"),
        ([], True, "no-user", "no user turn"),
        ([q()], False, "nothing-to-learn", "no assistant turn is left"),
        ([q(), r(), q(" "), r()], False, "empty-user", "turn 3 is blank"),
        ([q(), r(" "), q(), r()], False, "empty-reply", "turn 2 is blank"),
        ([q(), r(None)], False, "empty-reply", "turn 2 is blank"),
        ([q(), r()], True, "prompt-end", "the prompt of a pair must end with the user or with results"),
        ([q(), res("5")], False, "orphan-result", "turn 2 is a result without a call before it"),
        ([res("5")], False, "orphan-result", "turn 1 is a result without a call before it"),
        ([q(), r(), res("5")], False, "orphan-result", "turn 3 is a result without a call before it"),
        ([q(), r(None, F), res("5"), res("6")], False, "result-count", "2 results for 1 calls"),
        ([q(), r(None, F, G), res("5"), q()], False, "result-count", "1 results for 2 calls"),
        (
            [q(), r(None, F, G), res("5", "a"), res("6", "c")],
            False,
            "orphan-result",
            "a result names a call that was not made directly before it",
        ),
        (
            [q(), r(None, F), res("5", "b")],
            False,
            "orphan-result",
            "a result names a call that was not made directly before it",
        ),
    ],
)
def test_what_cannot_be_put_in_order_is_refused(steps: list[Build], prompt: bool, reason: str, detail: str):
    with pytest.raises(RowError) as refused:
        built(*steps).finish(prompt=prompt)
    assert (refused.value.reason, refused.value.detail) == (reason, detail)
    assert str(refused.value) == f"{reason}: {detail}"
    assert reason in REJECT_REASONS
    assert refused.value.rejected("s", 3, [1]) == RejectedRow(
        source="s", row=3, reason=reason, detail=detail, raw=[1]
    )


def test_a_system_turn_is_the_first():
    builder = built(q(), r(None, F))
    with pytest.raises(RowError, match=r"^late-system: turn 3 is a system turn$"):
        builder.add_system("S")
    builder = ConversationBuilder()
    builder.add_system("", {"k": 1})
    assert (builder.system, builder.system_extras) == ("", {"k": 1})
    with pytest.raises(RowError, match=r"^late-system: turn 1 is a system turn$"):
        builder.add_system("S")


def test_calls_that_wait_for_results_are_counted():
    assert built().open_calls == 0
    assert built(q(), r(None, F, G), r(None, F)).open_calls == 3
    assert built(q(), r(None, F, G), r("a")).open_calls == 0
    assert built(q(), r(None, F), q(), r(None, G)).open_calls == 1


@pytest.mark.parametrize(
    ("text", "texts", "repairs"),
    [
        ('["5", {"a": 1}]', ("5", '{"a": 1}'), ()),
        ("[5]", ("[5]", ""), ("shared-result",)),
        ("broken", ("broken", ""), ("shared-result",)),
    ],
)
def test_one_text_may_be_split_into_results(text: str, texts: tuple[str, ...], repairs: tuple[str, ...]):
    builder = built(q(), r(None, F, G), res(text), r(), splits=True)
    assert builder.finish() == (Q, calls(F, G), results(*texts), R)
    assert builder.repairs == repairs
    alone = built(q(), r(None, F), res("[5]"), q(), r(None, F, G), res("5"), res("6"), r(), splits=True)
    assert alone.finish() == (Q, calls(F), results("[5]"), Q, calls(F, G), results("5", "6"), R)


def test_a_record_has_what_was_read():
    tools = FoundTools((tool("f"),), ({"x": 1},), ("odd",))
    builder = built(r(), q(), r())
    builder.note_repair("python-literal")
    assert builder.record(tools, system="S", notes=("n",)) == TrainingRecord(
        turns=(Q, R),
        tools=tools.tools,
        given_tools=({"x": 1},),
        unknown_types=("odd",),
        repairs=("leading-assistant", "python-literal"),
        system="S",
        notes=("n",),
    )


def test_both_replies_of_a_pair_are_numbered_from_the_same_call():
    builder = built(q())
    assert builder.next_call_id() == "call_1"
    pair = builder.record(replies=lambda name: calls(call(name, builder.next_call_id())))
    assert pair == TrainingRecord(
        kind="preference",
        turns=(Q,),
        chosen=calls(call("chosen", "call_2")),
        rejected=calls(call("rejected", "call_2")),
    )
    with pytest.raises(RowError, match=r"^same-pair: chosen and rejected are equal$"):
        built(q()).record(replies=lambda name: R)


# Records ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "other", "same"),
    [
        (R, AssistantTurn(" r\n"), True),
        (AssistantTurn(None), AssistantTurn(""), True),
        (AssistantTurn(""), AssistantTurn(None), True),
        (R, AssistantTurn("s"), False),
        (calls(F), calls(call("f", "c")), True),
        (calls(F), calls(F, text="a"), True),
        (calls(F), calls(call("f", "a", x=1)), False),
        (calls(F), calls(call("g", "a")), False),
        (calls(F, G), calls(G, F), False),
        (calls(F), AssistantTurn(None), False),
        (AssistantTurn(None), calls(F), False),
    ],
)
def test_replies_are_the_same_by_calls_or_by_text(first: AssistantTurn, other: AssistantTurn, same: bool):
    assert says_the_same(first, other) is same


PAIR = TrainingRecord(
    kind="preference",
    turns=(Q, calls(F), results("5")),
    chosen=calls(G),
    rejected=R,
    tools=(tool("f"), tool("g")),
)


def test_parts_of_a_record():
    assert PAIR.told_turns == (Q, calls(F), results("5"), calls(G))
    assert list(PAIR.replies) == [calls(F), calls(G), R]
    assert (PAIR.user_texts, PAIR.calls, PAIR.tool_names) == (["q"], [F, G], ["f", "g"])
    assert PAIR.functions == [tool("f")["function"], tool("g")["function"]]
    plain = TrainingRecord(turns=(Q, R))
    assert (plain.told_turns, list(plain.replies)) == ((Q, R), [R])
    assert AssistantTurn("r", extras={"reasoning_content": "a", "reasoning": 5}).reasoning == "a"
    assert (call("f", 1, x="é").arguments_text, call("f", 1, "{ }").arguments_text) == ('{"x": "é"}', "{ }")
    assert (calls(F, text="").text, AssistantTurn("").text) == (None, "")


def test_a_record_gets_its_place():
    fresh = TrainingRecord(turns=(Q, R), id="old", columns={"a": 1})
    assert place_record(fresh, "s", 3, {}) == TrainingRecord(
        turns=(Q, R), id="old", columns={"a": 1}, source="s", row=3
    )
    placed = place_record(fresh, "s", 4, {"b": 2, "id": 0})
    columns = {"a": 1, "b": 2, "id": 0}
    assert placed == TrainingRecord(turns=(Q, R), id="0", columns=columns, source="s", row=4)
    assert place_record(fresh, "s", 5, {"id": None}).id == "0"


def test_each_reply_to_learn_ends_a_row():
    unlearned = AssistantTurn("s", learned=False)
    whole = TrainingRecord(turns=(Q, unlearned, Q, R, Q, unlearned, Q, R), id="i")
    learned = AssistantTurn("s")
    assert list(up_to_replies(whole)) == [
        TrainingRecord(turns=(Q, learned, Q, R), id="i"),
        TrainingRecord(turns=(Q, learned, Q, R, Q, learned, Q, R), id="i"),
    ]
    for unchanged in (PAIR, TrainingRecord(turns=(Q, unlearned))):
        assert list(up_to_replies(unchanged)) == [unchanged]


# Keys ------------------------------------------------------------------------------------------------

RICH = TrainingRecord(
    turns=(Q, calls(F, text="a"), results("5"), AssistantTurn("r", learned=False)),
    tools=(tool("f"),),
    system="S",
)


def changed(**parts: Any) -> TrainingRecord:
    return replace(RICH, **parts)


def test_records_that_say_the_same_have_one_digest():
    same = changed(
        turns=(UserTurn("q", {"k": 1}), calls(call("f", "z", "{ }"), text="a"), results("5"), R),
        id="i",
        row=5,
    )
    assert record_digest(same) == record_digest(RICH)
    assert record_digest(changed(system="")) == record_digest(changed(system=None))
    different = [
        RICH,
        changed(system=None),
        changed(tools=()),
        changed(turns=(UserTurn("p"), *RICH.turns[1:])),
        changed(turns=(Q, calls(F), *RICH.turns[2:])),
        changed(turns=(Q, calls(call("f", "a", x=1), text="a"), *RICH.turns[2:])),
        changed(turns=(Q, calls(G, text="a"), *RICH.turns[2:])),
        changed(turns=(*RICH.turns[:2], results("6"), R)),
        changed(turns=(*RICH.turns[:3], AssistantTurn("s"))),
        changed(chosen=R),
        changed(rejected=R),
    ]
    assert len({record_digest(entry) for entry in different}) == len(different)


def test_digests_are_those_of_a_form_in_json():
    first = {"name": "f", "arguments": {}}
    turns = [{"from": "human", "value": "q"}, {"from": "function_call", "value": [first], "text": "a"}]
    result = {"from": "observation", "value": ["5"]}
    form: dict[str, Any] = {
        "conversations": [*turns, result, {"from": "gpt", "value": "r"}],
        "tools": [tool("f")["function"]],
        "system": "S",
    }
    assert record_digest(RICH) == sha256(canonical_json(form)).digest()
    del turns[1]["text"]
    form = {
        "conversations": [*turns, result],
        "tools": [tool("f")["function"], tool("g")["function"]],
        "chosen": {"from": "function_call", "value": [{"name": "g", "arguments": {}}]},
        "rejected": {"from": "gpt", "value": "r"},
    }
    assert record_digest(PAIR) == sha256(canonical_json(form)).digest()
    assert prompt_key(RICH) == blake2b(canonical_json([["q"], ["f"]]), digest_size=16).digest()
    assert tools_key(PAIR) == blake2b(canonical_json(["f", "g"]), digest_size=16).digest()
    assert drawn_number("a", "b") == int.from_bytes(blake2b(b"a\x1fb", digest_size=8).digest(), "big")


def test_prompts_are_equal_by_tokens_and_tools():
    one = TrainingRecord(turns=(UserTurn("Rain, now?"), R), tools=(tool("f"), tool("g"), tool("f")))
    assert prompt_key(one) == prompt_key(
        TrainingRecord(
            turns=(UserTurn("rain now"), AssistantTurn("s")), tools=(tool("g"), tool("f")), system="S"
        )
    )
    assert prompt_key(one) != prompt_key(TrainingRecord(turns=one.turns, tools=(tool("f"),)))
    assert prompt_key(one) != prompt_key(TrainingRecord(turns=(Q, R), tools=one.tools))
    two = TrainingRecord(turns=(Q, R, Q, R))
    assert prompt_key(two) == record_digest(two)[:16]
    assert prompt_key(two) != prompt_key(TrainingRecord(turns=(Q, AssistantTurn("s"), Q, R)))
    assert tools_key(one) == tools_key(TrainingRecord(turns=(), tools=(tool("g"), tool("f"))))
    assert tools_key(one) != tools_key(RICH)


def test_numbers_and_splits_are_drawn_from_seed_and_key():
    shares = (("train", 0.5), ("test", 0.25), ("rest", 0.25))
    for key in map(str, range(50)):
        unit = drawn_number("s", key) / 2**64
        expected = "train" if unit < 0.5 else "test" if unit < 0.75 else "rest"
        assert split_of("s", key, shares) == expected
    assert split_of("s", "x", (("a", 0.0), ("b", 0.0))) == "b"
    assert split_of("s", "x", (("a", 1.0), ("b", 0.0))) == "a"


# Safe names ------------------------------------------------------------------------------------------


def test_names_that_endpoints_refuse_are_exchanged_everywhere():
    names = ("get rain", "get_rain", "get.rain", "ok-1", "x" * 65, "x" * 64, "x" * 66, "", "é")
    new = (
        "get_rain_2",
        "get_rain",
        "get_rain_3",
        "ok-1",
        "x" * 62 + "_2",
        "x" * 64,
        "x" * 62 + "_3",
        "_",
        "__2",
    )
    turns = (Q, AssistantTurn("t"), Q, calls(*(call(name, name) for name in names)))
    record = TrainingRecord(
        kind="preference",
        turns=turns,
        chosen=calls(call("get rain")),
        rejected=calls(call("other one")),
        tools=tuple(map(tool, names)),
        given_tools=({"name": "get rain", "strict": True}, {"function": {"name": "ok-1", "x": 1}, "y": 2}),
        id="i",
    )
    assert with_safe_names(record) == TrainingRecord(
        kind="preference",
        turns=(*turns[:3], calls(*(call(name, old) for name, old in zip(new, names, strict=True)))),
        chosen=calls(call("get_rain_2")),
        rejected=calls(call("other_one")),
        tools=tuple(map(tool, new)),
        given_tools=({"name": "get_rain_2", "strict": True}, {"function": {"name": "ok-1", "x": 1}, "y": 2}),
        renamed={
            **{name: old for name, old in zip(new, names, strict=True) if name != old},
            "other_one": "other one",
        },
        id="i",
    )
    other = TrainingRecord(turns=(Q, calls(call("a.b"))), tools=(tool("a b"),))
    assert with_safe_names(other) == TrainingRecord(
        turns=(Q, calls(call("a_b_2"))),
        tools=(tool("a_b"),),
        renamed={"a_b": "a b", "a_b_2": "a.b"},
    )
    plain = TrainingRecord(turns=(Q, calls(call("get rain"))))
    assert with_safe_names(plain) == TrainingRecord(
        turns=(Q, calls(call("get_rain"))), renamed={"get_rain": "get rain"}
    )


def test_safe_names_stay_as_they_are():
    assert with_safe_names(RICH) is RICH
    odd = {**tool("a b"), "strict": True}
    odd["function"]["more"] = 1
    (renamed,) = with_safe_names(TrainingRecord(turns=(Q, R), tools=(odd,))).tools
    assert renamed == {**tool("a_b"), "strict": True, "function": {**tool("a_b")["function"], "more": 1}}
