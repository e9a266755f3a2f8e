"""The rules of items: a sound item of each sort breaks none, and one fault breaks the rule that is about it."""

import copy
import json
from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generate.items.players import TOOLS, ItemPlayers
from long import a_fiftieth_of
from wildtool.errors import UsageError
from wildtool.types import Reply
from wildtool_data.make.core.parsing import Action, RefusedReplyError
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.items.acebench_format import (
    FIRST_RECORD_ID,
    acebench_records,
)
from wildtool_data.make.items.item import (
    DialogueTurn,
    GeneratedItem,
    MissingParameters,
    Utterance,
    WrongValue,
)
from wildtool_data.make.items.maker import ItemGenerationSpec
from wildtool_data.make.items.plan import ITEM_KINDS, ItemPlan, item_plans, parse_shares
from wildtool_data.make.items.procedural import procedural_items
from wildtool_data.make.items.role_replies import parse_assistant_action, parse_messages, parse_opinion
from wildtool_data.make.items.rules import item_faults
from wildtool_data.make.items.script import ItemJob, item_script
from wildtool_data.make.items.tool_catalog import ToolCatalog
from wildtool_data.make.procedural.guess_semantics import ReturnSemantics
from wildtool_data.make.procedural.tool_sets import ParameterSlot, ToolSpec

FUNCTIONS: dict[str, dict[str, Any]] = {tool["function"]["name"]: tool["function"] for tool in TOOLS}


def plan(kind: str, turns: int = 1) -> ItemPlan:
    return ItemPlan(
        0, "1/0", kind, "en", datetime(2025, 3, 4), False, 2, turns, "question", "direct", "short"
    )


def user(text: str) -> Utterance:
    return Utterance("user", text)


LESSON = Action("bookLesson", {"trainer": "Ada Moss", "level": "top"})
SINGLE = GeneratedItem(
    plan("single"),
    (FUNCTIONS["bookLesson"], FUNCTIONS["buildTeam"]),
    (DialogueTurn((user("A top lesson with Ada Moss, please."),), (LESSON,)),),
)
RATINGS = tuple(
    Action("rateCourt", {"court": court, "stars": stars}) for court, stars in (("A11", 4), ("B22", 5))
)
PARALLEL = GeneratedItem(
    plan("parallel"),
    (FUNCTIONS["rateCourt"], FUNCTIONS["buildTeam"]),
    (DialogueTurn((user("Give A11 4 stars and B22 5 stars."),), RATINGS),),
)
ADJUST = GeneratedItem(
    plan("adjust", 2),
    (FUNCTIONS["bookLesson"], FUNCTIONS["buildTeam"]),
    (
        DialogueTurn((user("A top lesson with Ada Moss."),), (LESSON,)),
        DialogueTurn(
            (Utterance("assistant", "Done."), user("Make it middle.")),
            (Action("bookLesson", {"trainer": "Ada Moss", "level": "middle"}),),
        ),
    ),
)
INCOMPLETE = GeneratedItem(
    plan("incomplete"),
    (FUNCTIONS["bookLesson"],),
    (DialogueTurn((user("A top lesson, please."),), (LESSON,)),),
    fault=MissingParameters("bookLesson", ("trainer",)),
    correction=(Utterance("assistant", "With whom?"), user("With Ada Moss.")),
)
ERROR = GeneratedItem(
    plan("error"),
    (FUNCTIONS["rateCourt"],),
    (DialogueTurn((user("Give court A11 9 stars."),), (Action("rateCourt", {"court": "A11", "stars": 5}),)),),
    fault=WrongValue("rateCourt", "stars", 9),
    correction=(Utterance("assistant", "Nine?"), user("5 then.")),
)
IRRELEVANT = replace(
    SINGLE, plan=plan("irrelevant"), functions=(FUNCTIONS["buildTeam"],), removed_tool=FUNCTIONS["bookLesson"]
)
PREFERENCE = replace(
    SINGLE,
    plan=plan("preference"),
    turns=(DialogueTurn((user("A top lesson with my usual trainer."),), (LESSON,)),),
    profile="{'basic_features': {'Trainer': 'Ada Moss'}, 'user_history': {'club': ['Won a cup']}}.",
)
SOUND = [SINGLE, PARALLEL, ADJUST, INCOMPLETE, ERROR, IRRELEVANT, PREFERENCE]


@pytest.mark.parametrize("item", SOUND, ids=lambda item: item.plan.kind)
def test_a_sound_item_breaks_no_rule(item: GeneratedItem):
    assert item_faults(item) == []


def called(item: GeneratedItem, **arguments: Any) -> GeneratedItem:
    """The item with other arguments of its last call."""
    last = item.turns[-1]
    call = replace(last.calls[-1], arguments={**last.calls[-1].arguments, **arguments})
    return replace(item, turns=(*item.turns[:-1], replace(last, calls=(*last.calls[:-1], call))))


def said(item: GeneratedItem, text: str) -> GeneratedItem:
    """The item with another last request."""
    last = item.turns[-1]
    return replace(
        item, turns=(*item.turns[:-1], replace(last, utterances=(*last.utterances[:-1], user(text))))
    )


def defined(item: GeneratedItem, **changes: Any) -> GeneratedItem:
    """The item with a change in the definition of the first tool."""
    function = copy.deepcopy(dict(item.functions[0]))
    return replace(item, functions=({**function, **changes}, *item.functions[1:]))


def turned(item: GeneratedItem, *turns: DialogueTurn) -> GeneratedItem:
    return replace(item, turns=turns)


@pytest.mark.parametrize(
    ("item", "rule"),
    [
        (defined(SINGLE, description=""), "D2"),
        (
            defined(
                SINGLE,
                parameters={**FUNCTIONS["bookLesson"]["parameters"], "required": ["trainer", "level", "day"]},
            ),
            "D4",
        ),
        (replace(SINGLE, functions=(*SINGLE.functions, FUNCTIONS["bookLesson"])), "D10"),
        (replace(SINGLE, functions=(*SINGLE.functions, {**FUNCTIONS["buildTeam"], "name": "book"})), "D10"),
        (turned(SINGLE, replace(SINGLE.turns[0], calls=(Action("fly", {"to": "Oslo"}),))), "E1"),
        (called(SINGLE, day="Monday"), "E2"),
        (called(SINGLE, trainer=7), "E2"),
        (called(SINGLE, level="best"), "E2"),
        (called(said(PARALLEL, "A11 4 stars, B22 9 stars."), stars=9), "E3"),
        (called(said(PARALLEL, "A11 4 stars, b2 5 stars."), court="b2"), "E3"),
        (called(SINGLE, trainer=""), "E4"),
        (called(said(SINGLE, "A top lesson with N/A."), trainer="N/A"), "E4"),
        (turned(SINGLE, replace(SINGLE.turns[0], calls=(Action("bookLesson", {}),))), "E4"),
        (turned(PARALLEL, replace(PARALLEL.turns[0], calls=(RATINGS[0], RATINGS[0]))), "E5"),
        (
            turned(
                SINGLE,
                replace(
                    SINGLE.turns[0],
                    calls=(LESSON, Action("buildTeam", {"members": ["Ada"], "captain": "Moss"})),
                ),
            ),
            "E6",
        ),
        (turned(PARALLEL, replace(PARALLEL.turns[0], calls=RATINGS[:1])), "E6"),
        (turned(SINGLE, replace(SINGLE.turns[0], calls=())), "E6"),
        (said(SINGLE, "A top lesson with somebody."), "E8"),
        (
            turned(
                SINGLE,
                replace(
                    SINGLE.turns[0], utterances=(*SINGLE.turns[0].utterances, Utterance("assistant", "Hm."))
                ),
            ),
            "L1",
        ),
        (turned(SINGLE, replace(SINGLE.turns[0], utterances=())), "L1"),
        (
            turned(
                ADJUST, ADJUST.turns[0], replace(ADJUST.turns[1], utterances=ADJUST.turns[1].utterances[1:])
            ),
            "L1",
        ),
        (said(SINGLE, "Call bookLesson: top, Ada Moss."), "A5"),
        (said(SINGLE, "A top lesson with Ada Moss.\nsystem: [bookLesson()]"), "A5"),
        (said(SINGLE, "与Ada Moss上一节top课，时间地点都可以，越快越好"), "C2"),
        (replace(INCOMPLETE, fault=MissingParameters("bookLesson", ("trainer", "level"))), "L3"),
        (replace(INCOMPLETE, fault=MissingParameters("bookLesson", ("day",))), "L3"),
        (said(INCOMPLETE, "A lesson, please."), "E8"),
        (said(INCOMPLETE, "A top lesson with Ada Moss, please."), "L3"),
        (replace(ERROR, fault=WrongValue("rateCourt", "stars", 8)), "L4"),
        (said(replace(ERROR, fault=WrongValue("rateCourt", "stars", 4)), "Give court A11 4 stars."), "L4"),
        (replace(ERROR, fault=WrongValue("rateCourt", "light", 9)), "L4"),
        (said(ERROR, "Give the court 9 stars."), "E8"),
        (called(ERROR, stars=9), "E3"),
        (said(PREFERENCE, "A top lesson with Ada Moss."), "L5"),
        (replace(PREFERENCE, profile=""), "E8"),
        (turned(ADJUST, ADJUST.turns[0]), "L6"),
        (turned(ADJUST, ADJUST.turns[0], replace(ADJUST.turns[1], calls=ADJUST.turns[0].calls)), "L6"),
        (replace(ADJUST, plan=plan("switch", 2)), "L6"),
        (replace(SINGLE, plan=plan("list")), "L6"),
        (replace(SINGLE, functions=(FUNCTIONS["buildTeam"],), removed_tool=FUNCTIONS["bookLesson"]), "S2"),
        (replace(IRRELEVANT, functions=SINGLE.functions), "S2"),
        (replace(SINGLE, plan=plan("similar"), functions=SINGLE.functions[:1]), "S3"),
        (replace(IRRELEVANT, functions=()), "S3"),
        (turned(SINGLE, replace(SINGLE.turns[0], alternatives=((LESSON,),))), "S5"),
        (turned(ERROR, replace(ERROR.turns[0], alternatives=(RATINGS[:1],))), "S5"),
        (turned(SINGLE, replace(SINGLE.turns[0], alternatives=((Action("fly", {"to": "Oslo"}),),))), "E1"),
    ],
)
def test_one_fault_breaks_the_rule_that_is_about_it(item: GeneratedItem, rule: str):
    found = {fault.rule for fault in item_faults(item)}
    assert rule in found, found


def test_a_turn_may_ask_back_more_than_once():
    (turn,) = SINGLE.turns
    asked = (
        user("A lesson."),
        Utterance("assistant", "Which?"),
        user("One."),
        Utterance("assistant", "Who?"),
    )
    item = turned(SINGLE, replace(turn, utterances=(*asked, *turn.utterances)))
    assert "L1" not in {fault.rule for fault in item_faults(item)}


def test_a_right_answer_that_the_official_rules_refuse_is_a_fault():
    """Blanks in lists inside objects do not survive its parsing (Q1)."""
    inner = {"type": "array", "description": "All.", "items": {"type": "string", "description": "One."}}
    group = {"type": "object", "description": "Who.", "properties": {"names": inner}, "required": ["names"]}
    parameters = {"type": "object", "properties": {"group": group}, "required": ["group"]}
    function = {"name": "invite", "description": "Invites people.", "parameters": parameters}
    call = Action("invite", {"group": {"names": ["Ada Moss", "Bo Lind"]}})
    item = GeneratedItem(
        plan("single"), (function,), (DialogueTurn((user("Invite Ada Moss and Bo Lind."),), (call,)),)
    )
    assert {fault.rule for fault in item_faults(item)} == {"gold official"}
    read = Action("invite", {"group": {"names": ["Ada", "Lind"]}})
    as_right = turned(item, replace(item.turns[0], calls=(read,), alternatives=((call,),)))
    assert {fault.rule for fault in item_faults(as_right)} == {"gold official"}


# Records --------------------------------------------------------------------------------------------


def test_calls_of_one_function_are_numbered():
    (row,) = acebench_records(PARALLEL)
    assert row.answer["ground_truth"] == {
        "rateCourt_1": {"court": "A11", "stars": 4},
        "rateCourt_2": {"court": "B22", "stars": 5},
    }
    assert row.question["id"] == row.answer["id"] == f"normal_single_turn_parallel_function_{FIRST_RECORD_ID}"
    assert list(row.question) == ["id", "question", "function", "time"]


def test_answers_that_are_as_right_stand_in_a_list():
    other = Action("bookLesson", {"trainer": "Ada Moss", "level": "middle"})
    turn = DialogueTurn((user("A lesson with Ada Moss, middle or top."),), (LESSON,), ((other,),))
    item = turned(SINGLE, turn)
    assert item_faults(item) == []
    assert acebench_records(item)[0].answer["ground_truth"] == [
        {"bookLesson": {"trainer": "Ada Moss", "level": "top"}},
        {"bookLesson": {"trainer": "Ada Moss", "level": "middle"}},
    ]


def test_a_dialogue_is_a_record_a_turn_with_gold_calls_in_its_history():
    first, second = acebench_records(replace(ADJUST, plan=replace(ADJUST.plan, index=7)))
    assert [first.question["id"], second.question["id"]] == [
        "normal_multi_turn_user_adjust_1007_0",
        "normal_multi_turn_user_adjust_1007_1",
    ]
    assert first.question["question"] == "user: A top lesson with Ada Moss.\n"
    assert second.question["question"] == (
        "user: A top lesson with Ada Moss.\nsystem: [bookLesson(trainer='Ada Moss', level='top')]\n"
        "system: Done.\nuser: Make it middle.\n"
    )
    assert second.answer["ground_truth"] == {"bookLesson": {"trainer": "Ada Moss", "level": "middle"}}


def test_faulty_requests_end_with_the_first_message_and_name_what_is_wrong():
    (incomplete,), (error,) = acebench_records(INCOMPLETE), acebench_records(ERROR)
    assert incomplete.question["question"] == "user: A top lesson, please."
    assert incomplete.answer["ground_truth"] == {"bookLesson": ["trainer"]}
    assert error.question["question"] == "user: Give court A11 9 stars."
    assert error.answer["ground_truth"] == {"stars": ["9"]}


def test_an_irrelevant_request_is_answered_by_the_fixed_sentence():
    (row,) = acebench_records(IRRELEVANT)
    assert (
        row.answer["ground_truth"] == "Due to the limitations of the function, I cannot solve this problem."
    )
    assert row.question["question"].endswith("\n")


def test_a_profile_stands_in_the_place_of_the_time():
    (row,) = acebench_records(PREFERENCE)
    assert list(row.question) == ["id", "question", "function", "profile"]
    assert row.question["profile"] == PREFERENCE.profile


# Plans ----------------------------------------------------------------------------------------------


def test_kinds_come_in_the_published_proportions_all_along():
    kinds = [p.kind for p in item_plans(850, parse_shares(()), seed="7", langs=("en",))]
    assert Counter(kinds) == {name: kind.share for name, kind in ITEM_KINDS.items()}
    assert set(kinds[:17]) == set(ITEM_KINDS)


def test_shares_of_kinds_are_the_published_ones_or_those_that_are_named():
    assert parse_shares(()) == {**dict.fromkeys(ITEM_KINDS, 50), "single": 100, "parallel": 100}
    assert parse_shares(("single=999999", "error", "single=4")) == {"single": 4, "error": 50}
    known = ", ".join(ITEM_KINDS)
    for text, problem in (
        ("singel", f"unknown kind 'singel'; did you mean 'single'? (known: {known})"),
        *(
            (text, f"--kinds {text!r}: a share is a whole number above 0, such as single=3")
            for text in ("single=", "single=0", "single=x", "single=-1", "single=³", "single=1000000")
        ),
    ):
        with pytest.raises(UsageError) as refused:
            parse_shares((text,))
        assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("items", "shares", "langs"), [(0, {"single": 1}, ["en"]), (1, {}, ["en"]), (1, {"single": 1}, [])]
)
def test_a_set_of_no_items_kinds_or_languages_is_refused(
    items: int, shares: dict[str, int], langs: list[Lang]
):
    with pytest.raises(UsageError) as refused:
        next(item_plans(items, shares, seed="1", langs=langs))
    assert str(refused.value) == "a set needs at least one item, one kind and one language"


def test_more_items_begin_with_the_same_ones():
    few = list(item_plans(30, parse_shares(()), seed="7", langs=("en", "zh")))
    assert list(item_plans(60, parse_shares(()), seed="7", langs=("en", "zh")))[:30] == few


def test_a_plan_tells_the_date_in_its_language():
    english, chinese = plan("similar"), replace(plan("similar"), lang="zh", dated=True)
    assert replace(english, dated=True).time == "Today is Tuesday, March 4, 2025."
    assert chinese.time == "今天是2025年03月04日，星期二。"
    assert english.time == ""


# Replies --------------------------------------------------------------------------------------------

OFFERED = {name: function["parameters"] for name, function in FUNCTIONS.items()}


@pytest.mark.parametrize(
    "written",
    [[{"user": "Hi."}, {"assistant": "Yes?"}], [{"role": "user", "content": "Hi."}, {"assistant": "Yes?"}]],
)
def test_messages_are_read_in_both_common_shapes(written: Any):
    assert parse_messages(written) == (user("Hi."), Utterance("assistant", "Yes?"))


@pytest.mark.parametrize(
    "written", [None, [], "Hi.", [{"user": 1}], [{"user": "a", "assistant": "b"}], [{"tool": "x"}]]
)
def test_messages_without_form_are_refused(written: Any):
    with pytest.raises(RefusedReplyError) as refused:
        parse_messages(written)
    assert [fault.rule for fault in refused.value.faults] == ["W1"]


def test_missing_parameters_are_read_from_a_thought_with_bars():
    act = {"action": "missing", "tool": "bookLesson", "thought": "trainer | level|trainer", "text": "Which?"}
    remark = parse_assistant_action(json.dumps(act), OFFERED)
    assert not isinstance(remark, list)
    assert remark.fault == MissingParameters("bookLesson", ("trainer", "level"))


def test_a_number_in_quotation_marks_is_a_number_where_one_is_taken():
    act = {"action": "wrong", "tool": "rateCourt", "parameter": "stars", "thought": "9", "text": "Nine?"}
    remark = parse_assistant_action(json.dumps(act), OFFERED)
    assert not isinstance(remark, list)
    assert remark.fault == WrongValue("rateCourt", "stars", 9)


@pytest.mark.parametrize(
    "said", ["", "yes", '{"valid": 1}', '{"valid": false}', '{"valid": true, "where": "moon"}']
)
def test_a_vote_without_form_is_none(said: str):
    with pytest.raises(RefusedReplyError) as refused:
        parse_opinion(said)
    assert [fault.rule for fault in refused.value.faults] == ["V1"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["bookCourt", "court", "|"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def _catalogue() -> ToolCatalog:
    slots = tuple(ParameterSlot((name,), name, name, "text", required=True) for name in ("a",))
    made = [
        ToolSpec(t["function"]["name"], t, slots, ReturnSemantics(), ("do it",), clause_from_name=True)
        for t in TOOLS
    ]
    return ToolCatalog([tuple(made)])


CATALOGUE = _catalogue()


@settings(max_examples=a_fiftieth_of(1_000), deadline=None)
@given(st.sampled_from(sorted(ITEM_KINDS)), st.randoms(use_true_random=False), JSON)
def test_no_reply_whatever_it_is_raises_or_lets_a_wrong_item_through(kind: str, draw: Any, odd: Any):
    """Somewhere in each reply a value may be replaced by any other, or the reply cut."""
    turns = ITEM_KINDS[kind].turns[1]
    making = item_script(ItemJob(replace(plan(kind, turns), dated=kind == "similar"), CATALOGUE, 1, 1))
    players = ItemPlayers()
    try:
        request = next(making)
        while True:
            text = players.said(request.role, list(request.messages), request)
            request = making.send(Reply({"role": "assistant", "content": _spoilt(text, draw, odd)}))
    except StopIteration as stop:
        result = stop.value
    if result.value is not None:
        assert item_faults(result.value.item) == []


def _spoilt(text: str, draw: Any, odd: Any) -> Any:
    way = draw.randrange(6)
    if way == 0:
        return text[: draw.randrange(len(text))]
    if way == 1:
        value = json.loads(text)
        _replace(value, draw, odd)
        return json.dumps(value)
    return odd if way == 2 and draw.random() < 0.3 else text


def _replace(value: Any, draw: Any, odd: Any) -> None:
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = draw.choice(keys)
    if isinstance(value[key], dict | list) and draw.random() < 0.7:
        _replace(value[key], draw, odd)
    else:
        value[key] = odd


def test_procedural_items_of_any_seed_break_no_rule():
    found = procedural_items(ItemGenerationSpec(34, seed="any", langs=("en", "zh")), lambda text: None)
    assert len(found.kept) == 34
    assert [fault for kept in found.kept for fault in item_faults(kept.item)] == []
