"""What each rule for items and each reader of a role's reply says, in full: roles are shown these words."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from generate.careless import careless
from generate.golden import check
from generate.items.test_rules import FUNCTIONS, LESSON, PARALLEL, SOUND, called, plan, user
from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.findings import Finding
from wildtool.types import Request
from wildtool_data.make.core.parsing import Action, RefusedReplyError
from wildtool_data.make.core.roles import AttemptFailedError
from wildtool_data.make.items.acebench_format import acebench_records, numbered_calls, roundtrip_problem
from wildtool_data.make.items.call_rules import CallContext, call_faults, ungrounded_parameters
from wildtool_data.make.items.item import (
    DialogueTurn,
    GeneratedItem,
    MissingParameters,
    Utterance,
    WrongValue,
)
from wildtool_data.make.items.plan import ITEM_KINDS, item_plans, parse_shares
from wildtool_data.make.items.procedural_wording import wrong_value
from wildtool_data.make.items.role_replies import (
    parse_assistant_action,
    parse_messages,
    parse_opinion,
    parse_role_calls,
    parse_text_reply,
)
from wildtool_data.make.items.rules import item_faults
from wildtool_data.make.items.tool_catalog import (
    ToolCatalog,
    can_be_violated,
    chinese_noun,
    item_parameter_class,
)
from wildtool_data.make.procedural.guess_semantics import ReturnSemantics
from wildtool_data.make.procedural.tool_sets import ParameterSlot, ToolSpec


def _texts(faults: list[Finding]) -> list[str]:
    return [
        f"{finding.rule}{'?' if finding.level == 'warning' else ''}: {finding.message}" for finding in faults
    ]


def _read(read: Callable[[], Any]) -> Any:
    try:
        return repr(read())
    except RefusedReplyError as refused:
        return ["refused", *_texts(refused.faults)]


def _turn(item: GeneratedItem, **more: Any) -> GeneratedItem:
    return replace(item, turns=(replace(item.turns[0], **more), *item.turns[1:]))


def _variants(item: GeneratedItem) -> Iterator[tuple[str, GeneratedItem]]:
    """The item with one thing changed."""
    first = item.turns[0]
    call = first.calls[0]
    other = Action("buildTeam", {"members": ["Ada Moss"], "captain": "Ada Moss"})
    for kind in ITEM_KINDS:
        yield f"as {kind}", replace(item, plan=replace(item.plan, kind=kind))
    for turns in (1, 2, 3):
        yield f"{turns} turns", replace(item, plan=replace(item.plan, turns=turns))
    yield "no functions", replace(item, functions=())
    yield "many functions", replace(item, functions=(*item.functions, *FUNCTIONS.values()))
    others = [{**FUNCTIONS["buildTeam"], "name": f"other{k}"} for k in range(9)]
    most = ITEM_KINDS[item.plan.kind].candidates[1]
    for count in (1, 2, most, most + 1):
        yield f"{count} functions", replace(item, functions=(*item.functions, *others)[:count])
    yield (
        "name in name",
        replace(item, functions=(*item.functions, {**FUNCTIONS["buildTeam"], "name": call.name[:4]})),
    )
    yield (
        "unclear function",
        replace(item, functions=({**item.functions[0], "description": ""}, *item.functions[1:])),
    )
    yield "no turns", replace(item, turns=())
    yield "turns twice", replace(item, turns=item.turns * 2)
    yield "turns back", replace(item, turns=item.turns[::-1])
    yield "nothing said", _turn(item, utterances=())
    yield "assistant last", _turn(item, utterances=(*first.utterances, Utterance("assistant", "Yes?")))
    yield "user twice", _turn(item, utterances=first.utterances * 2)
    yield "assistant first", _turn(item, utterances=(Utterance("assistant", "Yes?"), *first.utterances))
    yield "something else said", _turn(item, utterances=(user("Please do it for me today."),))
    yield (
        "all said",
        _turn(
            item,
            utterances=(user("A top or middle lesson with Ada Moss on court A11 with 9, 5 or 4 stars."),),
        ),
    )
    yield "tool said", _turn(item, utterances=(user(f"{first.utterances[0].text} Call bookLesson."),))
    yield "loop", _turn(item, utterances=(user(f"{first.utterances[0].text} " * 9),))
    yield "no calls", _turn(item, calls=())
    yield "calls twice", _turn(item, calls=first.calls * 2)
    for count in (5, 6):
        calls = tuple(Action(call.name, {**call.arguments, "x": k}) for k in range(count))
        yield f"{count} calls", _turn(item, calls=calls)
    yield "other call", _turn(item, calls=(other,))
    yield "unknown call", _turn(item, calls=(Action("fly", {}),))
    yield "no arguments", _turn(item, calls=(Action(call.name, {}),))
    for name in call.arguments:
        for value in (None, "", [], "unknown", 99, "Zed", {"a": 1}):
            yield f"{name} is {value!r}", called(item, **{name: value})
        yield (
            f"without {name}",
            _turn(item, calls=(Action(call.name, {k: v for k, v in call.arguments.items() if k != name}),)),
        )
        yield (
            f"{name} derived",
            _turn(item, calls=(Action(call.name, {**call.arguments, name: "Zed"}, {name: "because"}),)),
        )
        yield f"only {name}", _turn(item, calls=(Action(call.name, {name: call.arguments[name]}),))
    yield "quotes", called(item, trainer='O\'Neil "x"\n')
    yield "same alternative", _turn(item, alternatives=(first.calls,))
    yield "other alternative", _turn(item, alternatives=((other,),))
    for count in (4, 5):
        answers = [(Action(call.name, {**call.arguments, "trainer": str(k)}),) for k in range(1, count)]
        yield f"{count} answers", _turn(item, alternatives=tuple(answers))
    yield "no correction", replace(item, correction=())
    yield "other correction", replace(item, correction=(Utterance("assistant", "What?"), user("Zed")))
    yield (
        "correction of a tool",
        replace(
            item,
            correction=(Utterance("assistant", '{"actions": []}'), user("预订一个很大很漂亮的海景房间吧")),
        ),
    )
    for lack in (
        MissingParameters("bookLesson", ("trainer",)),
        MissingParameters("bookLesson", ("level", "trainer", "x")),
        MissingParameters("fly", ("trainer",)),
        MissingParameters("bookLesson", ()),
        WrongValue("rateCourt", "stars", 9),
        WrongValue("rateCourt", "stars", 5),
        WrongValue("rateCourt", "x", 5),
        WrongValue("bookLesson", "level", "super"),
        WrongValue("fly", "level", " "),
    ):
        yield repr(lack), replace(item, fault=lack)
    yield "no profile", replace(item, profile="")
    yield (
        "profile",
        replace(
            item, profile="{'basic_features': {'Trainer': 'Ada Moss'}, 'user_history': {'level': ['top']}}."
        ),
    )
    for length in (4000, 4001):
        yield f"profile of {length}", replace(item, profile="x" * length)
    yield "nothing removed", replace(item, removed_tool={})
    yield (
        "removed and offered",
        replace(item, removed_tool=FUNCTIONS["bookLesson"], functions=(FUNCTIONS["bookLesson"],)),
    )


def test_each_fault_of_an_item_is_named_in_full():
    for item in SOUND:
        check(
            f"item_faults_{item.plan.kind}",
            {name: _texts(item_faults(other)) for name, other in _variants(item)},
        )


def test_the_same_arguments_in_another_order_are_the_same_call():
    values = dict(LESSON.arguments)
    twice = [LESSON, Action("bookLesson", dict(reversed(values.items())))]
    schemas = {"bookLesson": FUNCTIONS["bookLesson"]["parameters"]}
    passages = [SearchText.of("A top lesson with Ada Moss.")]
    assert _texts(call_faults(CallContext(twice, schemas, passages, "parallel"))) == [
        "E5: bookLesson is called twice with the same arguments."
    ]


def test_a_user_turns_to_a_tool_that_can_be_called_and_told_from_the_first():
    def spec(name: str, *names: str) -> ToolSpec:
        schema = {key: {"type": "string", "description": "Name of the court."} for key in ("court", *names)}
        function = {
            "name": name,
            "description": f"Does {name} for a court.",
            "parameters": {"type": "object", "properties": schema, "required": list(names)},
        }
        slots = tuple(ParameterSlot((key,), key, key, "text", required=True) for key in names)
        tool: Any = {"type": "function", "function": function}
        return ToolSpec(name, tool, slots, ReturnSemantics(), ("do it",), clause_from_name=True)

    switch = plan("switch", 2)

    def targets(*names: str) -> list[tuple[str, ...]]:
        catalog = ToolCatalog([tuple(spec(*name.split("/")) for name in names)])
        choices = [catalog.choose(switch, attempt) for attempt in range(24)]
        return [tuple(tool.name for tool in choice.targets) for choice in choices]

    drawn = targets("book/a", "book_more/a", "idle", "rate/a")
    assert set(drawn) == {
        ("book", "rate"),
        ("book_more", "rate"),
        ("rate", "book"),
        ("rate", "book_more"),
    }
    able = ("book", "book_more", "rate")
    assert [first for first, _ in drawn] == [switch.stream(f"tools/{k}").choice(able) for k in range(24)]
    with pytest.raises(AttemptFailedError) as lost:
        targets("book/a", "book_more/a", "idle")
    assert str(lost.value) == "no second tool to turn to; give more tools"


def test_each_fault_of_calls_is_named_in_full():
    schemas = {name: function["parameters"] for name, function in FUNCTIONS.items()}
    said = [SearchText.of("A top lesson with Ada Moss on A11.")]
    spoil, rows = careless(1.0), {}
    for k in range(120):
        text = spoil(
            "agent",
            json.dumps(
                {
                    "calls": [
                        {"name": "bookLesson", "arguments": dict(LESSON.arguments)},
                        {"name": "bookCourt", "arguments": {"court": "A11", "date": "2025-03-04"}},
                    ]
                }
            ),
            Request([{"role": "user", "content": str(k)}]),
        )
        try:
            calls = parse_role_calls(json.loads(text).get("calls"), "G2")
        except (ValueError, AttributeError):
            continue
        except RefusedReplyError as refused:
            rows[str(k)] = ["refused", *_texts(refused.faults)]
            continue
        rows[str(k)] = _texts(call_faults(CallContext(calls, schemas, said, ("parallel", "single")[k % 2])))
    check("call_faults_drawn", rows)
    lesson = schemas["bookLesson"]
    assert ungrounded_parameters(LESSON, lesson, said) == set()
    assert ungrounded_parameters(
        Action("x", {"trainer": "Zed", "level": "first", "y": "z"}), lesson, said
    ) == {"trainer", "level"}
    assert ungrounded_parameters(Action("x", {"trainer": "Zed"}), lesson, said, ["trainer"]) == set()


REPLIES: list[Any] = [
    {},
    {"action": "call"},
    {"action": "call", "calls": []},
    {"action": "call", "calls": [{"name": "bookLesson", "arguments": {}}, 3]},
    {"action": "call", "calls": [{"name": "bookLesson", "arguments": {"a": 1}, "derived": {"a": "b"}}]},
    {"action": "call", "calls": [{"name": "x", "arguments": {}, "derived": []}]},
    {"action": "call", "calls": [{"name": "x"}]},
    {"action": "missing"},
    {"action": "missing", "tool": "bookLesson", "thought": "a| b|a|", "text": "What?"},
    {"action": "missing", "tool": "x", "thought": "a", "text": " "},
    {"action": "missing", "tool": "bookLesson", "thought": "", "text": "What?"},
    {"action": "missing", "tool": "bookLesson", "thought": 3, "text": "What?"},
    *(
        {"action": "wrong", "tool": "rateCourt", "parameter": "stars", "thought": value, "text": "What?"}
        for value in ("9", "9.0", "9.5", "-9", "nine", 9, 9.5, True, None, ["9"])
    ),
    {"action": "wrong", "tool": "rateCourt", "parameter": "x", "thought": "9", "text": "What?"},
    {"action": "wrong", "tool": "rateCourt", "thought": "9", "text": "What?"},
    {"action": "wrong", "tool": "rateCourt", "parameter": "court", "thought": "9", "text": "What?"},
    {"action": "wrong", "tool": "bookLesson", "parameter": "level", "text": "What?"},
    {"action": "sing"},
]
OPINIONS: list[Any] = [
    {},
    {"valid": True},
    {"valid": False},
    {"valid": False, "reason": "no"},
    {"valid": False, "where": "answer", "reason": " "},
    {"valid": False, "where": "tools", "reason": "x" * 600},
    {"valid": True, "where": "question", "reason": "fine"},
    {"valid": 1},
    {"valid": False, "where": "x", "reason": "no"},
    {"valid": False, "reason": 3},
    {"valid": True, "reason": None},
]
MESSAGES: list[Any] = [
    None,
    [],
    [{"user": "a"}],
    [{"user": "a"}, {"assistant": "b"}],
    [{"role": "user", "content": "a"}],
    [{"role": "system", "content": "a"}],
    [{"user": "a", "assistant": "b"}],
    [{"user": 3}],
    [{"user": "a"}] * 7,
    [{"user": "a"}] * 8,
    [{"user": "<think>x</think> a"}],
    [3],
    "a",
]


def test_each_reply_is_read_or_refused_with_the_reason():
    tools = {name: function["parameters"] for name, function in FUNCTIONS.items()}
    rows = {
        json.dumps(value): _read(lambda v=value: parse_assistant_action(json.dumps(v), tools))
        for value in REPLIES
    }
    rows |= {
        json.dumps(value)[:90]: _read(lambda v=value: parse_opinion(json.dumps(v))) for value in OPINIONS
    }
    rows |= {
        json.dumps(value)[:90] + str(k): _read(lambda v=value: parse_messages(v))
        for k, value in enumerate(MESSAGES)
    }
    rows |= {
        text: _read(lambda t=text: parse_text_reply(t, "U1"))
        for text in ('{"text": " a "}', '{"text": 3}', "a")
    }
    check("item_replies", rows)


def test_calls_of_one_name_are_numbered():
    one, two = PARALLEL.turns[0].calls
    assert numbered_calls((one, LESSON, two)) == {
        "rateCourt_1": dict(one.arguments),
        "bookLesson": dict(LESSON.arguments),
        "rateCourt_2": dict(two.arguments),
    }
    assert roundtrip_problem((one, two)) == ""
    assert (
        roundtrip_problem((Action("f_1", {"a": 1}), Action("f", {"a": 1}), Action("f", {"a": 2})))
        == "A tool's name is another's name with a number."
    )
    check(
        "roundtrips",
        {name: roundtrip_problem((Action(name, {"a": 1.0, "b": "'"}),)) for name in ("f", "f g", "")},
    )


def test_the_class_of_a_parameter_follows_from_its_schema():
    text = {"type": "string"}
    schemas: dict[str, Any] = {
        "integer": {"type": "integer"},
        "float": {"type": "float"},
        "number": {"type": "number"},
        "boolean": {"type": "boolean"},
        "text": text,
        "enum": {**text, "enum": ["a"]},
        "list": {"type": "array", "items": text},
        "list of objects": {"type": "array", "items": {"type": "object"}},
        "empty": {"type": "object"},
        "object": {"type": "object", "properties": {"a": text}},
        "deep": {"type": "object", "properties": {"a": text, "b": {"type": "array"}}},
    }
    assert {name: item_parameter_class(schema) for name, schema in schemas.items()} == {
        "integer": "number",
        "float": "number",
        "number": "number",
        "boolean": "bool",
        "text": "",
        "enum": "enum",
        "list": "list",
        "list of objects": "object-deep",
        "empty": "",
        "object": "object-short",
        "deep": "object-deep",
    }
    able = [
        {**text, "pattern": "a"},
        {**text, "format": "date"},
        {**text, "enum": ["a"]},
        {"type": "integer", "minimum": 1},
        {"type": "float", "maximum": 1},
    ]
    unable = [
        text,
        {**text, "format": "x"},
        {**text, "minimum": 1},
        {"type": "integer"},
        {"type": "boolean", "enum": [True]},
    ]
    assert ([*map(can_be_violated, able)], [*map(can_be_violated, unable)]) == ([True] * 5, [False] * 5)
    nouns = {
        "城市": "城市",
        "城市，例如北京": "城市",
        "city": "",
        "一二三四五六七八九十一二三四五六": "一二三四五六七八九十一二三四五六",
        "一二三四五六七八九十一二三四五六七": "",
    }
    assert {about: chinese_noun({"description": about}) for about in nouns} == nouns


def test_wrong_values_break_the_definition():
    cases: list[tuple[Any, dict[str, Any]]] = [
        (3, {"type": "integer", "minimum": 1, "maximum": 5}),
        (3.5, {"type": "float", "maximum": 5}),
        (3, {"type": "integer"}),
        (True, {"type": "boolean"}),
        (["a"], {"type": "array"}),
        ("sea", {"type": "string", "enum": ["sea"]}),
        ("2025-03-04", {"type": "string", "format": "date"}),
        ("a@b.c", {"type": "string", "format": "email"}),
        ("A11", {"type": "string", "pattern": "^[A-Z]\\d{2}$"}),
        ("free", {"type": "string"}),
    ]
    check(
        "wrong_values",
        {
            f"{lang} {right!r} {schema}": [wrong_value(right, schema, lang, Random(k)) for k in range(6)]
            for right, schema in cases
            for lang in ("en", "zh")
        },
    )


def test_plans_of_items_follow_from_the_seed():
    plans = [*item_plans(30, parse_shares(()), seed="1", langs=("en", "zh"))]
    names = ("name", "kind", "lang", "dated", "candidates", "turns", "form", "tone", "length", "time")
    check(
        "item_plans", [f"{p.date:%m-%d} {' '.join(str(getattr(p, name)) for name in names)}" for p in plans]
    )
    again = plan("single").replanned(2)
    assert (again.name, again.seed, again.turn, again.kind) == ("0.2", "1/0/another/2", 2, "single")
    record = acebench_records(SOUND[2])[1]
    assert (record.question["id"], record.question["time"], [*record.question]) == (
        "normal_multi_turn_user_adjust_1000_1",
        "",
        ["id", "question", "function", "time"],
    )
    assert DialogueTurn((), (LESSON,), ((LESSON,),)).answers == ((LESSON,), (LESSON,))
