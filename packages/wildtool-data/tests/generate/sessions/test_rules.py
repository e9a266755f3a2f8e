"""Each rule for decisions, results and texts: what it refuses; and a right decision breaks none."""

from dataclasses import replace
from typing import Any

import pytest

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK
from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.findings import Finding
from wildtool_data.make.core.diversity import MessageStyle
from wildtool_data.make.core.parsing import (
    Action,
    Decision,
    RefusedReplyError,
    read_decision,
    read_object,
    reply_text,
)
from wildtool_data.make.core.plan import TaskPlan
from wildtool_data.make.sessions.rules.context import DecisionContext
from wildtool_data.make.sessions.rules.decisions import DECISION_RULES
from wildtool_data.make.sessions.rules.texts import (
    answer_faults,
    parse_tool_results,
    question_faults,
    user_faults,
    vague_faults,
)

SCHEMAS: dict[str, Any] = {
    "bookRoom": {
        "type": "object",
        "properties": {
            "room_id": {"type": "string"},
            "guests": {"type": "integer", "minimum": 1, "maximum": 4},
            "view": {"type": "string", "enum": ["sea", "garden"]},
            "stay": {
                "type": "object",
                "properties": {"day": {"type": "string", "format": "date"}},
                "required": ["day"],
            },
            "country": {"type": "string"},
            "voucher": {"type": "string", "pattern": "^V\\d{4}$"},
            "currency": {"type": "string", "description": "Default is 'EUR'."},
        },
        "required": ["room_id", "guests"],
    },
    "listRooms": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
SAID = "Book room rm_77 for 2 guests, with a sea view, on 2025-03-14. Also look at Lyon and Nice."
RIGHT = {"room_id": "rm_77", "guests": 2}


def wanted(group: str = "Single-Tool", topology: Any = "") -> TaskPlan:
    return TaskPlan(
        group, topology, "First Turn", "", 1, "", (MessageStyle("question", "polite", "short"),), "easy"
    )


def moment(**changes: Any) -> DecisionContext:
    return replace(
        DecisionContext(
            SCHEMAS, wanted(), [SearchText.of("2025-03-10 09:00:00 Monday"), SearchText.of(SAID)]
        ),
        **changes,
    )


def decision(*actions: Action, plan: str = "book it") -> Decision:
    return Decision("a room", plan, actions)


def book(**changes: Any) -> Action:
    return Action("bookRoom", {**RIGHT, **changes})


def ask(*names: str, tool: Any = "bookRoom") -> Action:
    return Action(ASK, {"tool_name": tool, "missing_required_parameters": list(names)})


def answer(kind: str = "tool") -> Action:
    return Action(ANSWER, {"answer_type": kind})


def rules(faults: list[Finding]) -> set[str]:
    return {fault.rule for fault in faults}


CLARIFY = wanted("Clarify")
CHAT = wanted("Chat")
PARALLEL = wanted("Multi-Tool", "parallel")
LYON, NICE = (Action("listRooms", {"city": city}) for city in ("Lyon", "Nice"))


@pytest.mark.parametrize(
    ("made", "at"),
    [
        (decision(book()), moment()),
        (decision(book(stay={"day": "2025-03-14"}, view="sea")), moment()),
        (decision(Action("bookRoom", {**RIGHT, "country": "FR"}, {"country": "code of France"})), moment()),
        (decision(ask("room_id")), moment(plan=CLARIFY)),
        (decision(answer()), moment(calls=[book()], after_result=True)),
        (decision(answer("chat")), moment(plan=CHAT)),
        (decision(LYON, NICE, plan="both at once"), moment(plan=PARALLEL)),
    ],
)
def test_a_right_decision_breaks_no_rule(made: Decision, at: DecisionContext):
    assert [*DECISION_RULES.findings(made, at)] == []


@pytest.mark.parametrize(
    ("rule", "made", "at"),
    [
        ("P2", decision(book(), plan="as the checker wants it"), moment()),
        ("P4", decision(Action("flyAway", {})), moment()),
        ("P5", decision(book(floor=3)), moment()),
        ("P6", decision(book(room_id="")), moment()),
        ("P7", decision(Action("bookRoom", {"guests": 2})), moment()),
        ("P8", decision(book(), answer()), moment()),
        ("P9", decision(ask("room_id", tool="flyAway")), moment(plan=CLARIFY)),
        ("P9", decision(ask("view")), moment(plan=CLARIFY)),
        ("P9", decision(ask("view", tool={"name": "bookRoom"})), moment(plan=CLARIFY)),
        ("P10", decision(Action(ANSWER, {"answer_type": "song"})), moment(plan=CHAT)),
        ("P11", decision(answer("chat")), moment(calls=[book()], after_result=True)),
        ("P12", decision(LYON, NICE, plan="list them one by one"), moment(plan=PARALLEL)),
        ("P14", decision(book(guests="2")), moment()),
        ("P14", decision(book(guests=True)), moment()),
        ("P14", decision(book(stay={"day": 14})), moment()),
        ("P15", decision(book(view="lake")), moment()),
        ("P15", decision(book(stay={})), moment()),
        ("P15", decision(book(guests=77)), moment()),
        ("P15", decision(book(stay={"day": "14 March"})), moment()),
        ("P15", decision(book(voucher="V12")), moment()),
        ("P16", decision(book(room_id="<room id>")), moment()),
        ("P16", decision(book(view=None)), moment()),
        ("P17", decision(book()), moment(calls=[book()])),
        ("P17", decision(Action("bookRoom", {"guests": 2, "room_id": "rm_77"})), moment(calls=[book()])),
        ("P17", decision(LYON, LYON), moment(plan=PARALLEL)),
        ("P18", decision(book(currency="EUR")), moment()),
        ("P19", decision(book(room_id="rm_78")), moment()),
        (
            "P19",
            decision(Action("bookRoom", {**RIGHT, "room_id": "rm_78"}, {"room_id": "a guess"})),
            moment(),
        ),
        ("P19", decision(book(country="FR")), moment()),
        ("P20", decision(ask()), moment(plan=CLARIFY)),
        (
            "P20",
            decision(ask("room_id")),
            moment(plan=CLARIFY, answered=frozenset({("bookRoom", "room_id")})),
        ),
        ("P21", decision(answer()), moment()),
        ("P21", decision(answer("chat")), moment(calls=[book()])),
        ("P22", decision(LYON, book(room_id="rm_1")), moment(plan=PARALLEL)),
        ("P23", decision(*[Action("listRooms", {"city": f"Lyon {k}"}) for k in range(7)]), moment()),
        ("P23", decision(ask("room_id")), moment(plan=CLARIFY, questions=3)),
        ("P24", decision(LYON, NICE), moment()),
        ("P24", decision(ask("room_id")), moment()),
        ("P24", decision(book()), moment(plan=CLARIFY)),
        ("P24", decision(book()), moment(plan=CHAT)),
        ("P24", decision(LYON), moment(plan=PARALLEL)),
        ("P24", decision(LYON, NICE), moment(plan=wanted("Multi-Tool", "sequential"))),
        ("P24", decision(answer()), moment(plan=PARALLEL, calls=[LYON])),
        ("P24", decision(answer("chat")), moment(plan=CLARIFY, questions=1)),
    ],
)
def test_a_rule_refuses_what_breaks_it(rule: str, made: Decision, at: DecisionContext):
    assert rule in rules([*DECISION_RULES.findings(made, at)])


def test_each_question_of_a_decision_is_looked_at():
    made = decision(ask("room_id", tool="flyAway"), ask("view", "guests"))
    assert [f.message for f in DECISION_RULES.findings(made, moment(plan=CLARIFY)) if f.rule == "P9"] == [
        "A question must name a tool of the list as `tool_name`, not 'flyAway'.",
        "'view' is no required parameter of bookRoom.",
    ]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("P1", ""),
        ("P1", "I will book it."),
        ("P1", '{"thought": "x", // comment\n "plan": "y", "actions": []}'),
        ("P1", "[" * 5000),
        ("P3", '{"thought": "x", "plan": "y", "actions": []}'),
        ("P13", '{"thought": 1, "plan": "y", "actions": [{"name": "a", "arguments": {}}]}'),
        ("P13", '{"thought": "x", "plan": "y", "actions": {}}'),
        ("P13", '{"thought": "x", "plan": "y", "actions": [{"name": "a", "arguments": "{}"}]}'),
        ("P13", '{"thought": "x", "plan": "y", "actions": [null]}'),
        (
            "P13",
            '{"thought": "x", "plan": "y", "actions": [{"name": "a", "arguments": {}, "derived": {"b": 1}}]}',
        ),
    ],
)
def test_a_decision_must_have_its_form(rule: str, text: str):
    with pytest.raises(RefusedReplyError) as refused:
        read_decision(text)
    assert rules(refused.value.faults) == {rule}


@pytest.mark.parametrize("text", ['{"a": 1}', 'Here:\n```json\n{"a": 1}\n```', 'So {"a": 1} it is'])
def test_an_object_is_found_in_its_wrapping(text: str):
    assert read_object(text, "P1") == {"a": 1}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "<think>hm</think> Hello "}, "Hello"),
        ({"content": None}, ""),
        ({"content": ["Hello"]}, ""),
        ({}, ""),
        ({"content": "a\ud800b"}, "a?b"),
    ],
)
def test_a_reply_is_its_text_whatever_its_shape(message: dict[str, Any], text: str):
    assert reply_text(message) == text


def results(text: str, **changes: Any) -> set[str]:
    given: dict[str, Any] = {"lang": "en", "entities": {"7": {"name": "Ada"}}, "returns": {}, **changes}
    try:
        return rules(parse_tool_results(text, [book()], **given)[1])
    except RefusedReplyError as refused:
        return rules(refused.faults)


def observed(response: str, status: int = 200) -> str:
    return f'{{"observations": [{{"status_code": {status}, "response": {response}}}]}}'


def test_a_right_result_breaks_no_rule():
    assert results(observed('{"id": 7, "name": "Ada", "rooms": [{"id": 8}]}')) == set()
    assert results(observed('{"note": "One line.\\nAnother,\\tindented."}')) == set()


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("T1", ""),
        ("T1", '{"observations": {}}'),
        ("T2", '{"observations": []}'),
        ("T3", '{"observations": [{"response": {"a": 1}}]}'),
        ("T3", observed("{}")),
        ("T4", observed('["a", "..."]')),
        ("T4", observed('{"name": "Ada\\u0085"}')),
        ("T4", observed('{"name": "Ada\\u0000"}')),
        ("T4", observed('[{"rooms": ["blue\\u001b[0m"]}]')),
        ("T4", observed('{"na\\u0007me": "Ada"}')),
        ("T5", observed('{"error": "no"}', 404)),
        ("T6", observed('{"id": 7, "name": "Bob"}')),
        ("T7", observed('"已预订"')),
        ("T8", observed(f'"{"room " * 2000}"')),
    ],
)
def test_a_result_is_refused(rule: str, text: str):
    assert rule in results(text)


def test_a_result_has_the_form_that_its_tool_tells():
    returns = {"bookRoom": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}}
    assert results(observed('{"ok": true}'), returns=returns) == set()
    assert results(observed('{"ok": "yes"}'), returns=returns) == {"T9"}


def test_a_question_shows_no_parameter_name():
    assert rules(list(question_faults("Which room?", ["room_id"], "en"))) == set()
    assert rules(list(question_faults("What is the room_id?", ["room_id"], "en"))) == {"A1"}


@pytest.mark.parametrize("text", ["", "Agent: booked", '```json\n{"a": 1}\n```', "booked\x00"])
def test_an_answer_is_what_the_user_reads_and_nothing_else(text: str):
    assert rules(list(answer_faults(text, [], [], "en"))) == {"A2"}


def test_an_answer_keeps_the_ids_of_listed_items():
    found = {"rooms": [{"room_id": "rm_1"}, {"room_id": "rm_2"}]}
    assert rules(list(answer_faults("There are rm_1 and rm_2.", [found], [], "en"))) == set()
    assert rules(list(answer_faults("There are two rooms.", [found], [], "en"))) == {"A3"}
    ordered = [{"room_id": "rm_1", "order_id": "or_1"}, {"room_id": "rm_2", "order_id": "or_1"}]
    assert rules(list(answer_faults("There are rm_1 and rm_2.", [ordered], [], "en"))) == set()


def test_a_number_that_no_result_has_is_a_warning_where_it_can_be_computed():
    def faults(text: str) -> list[tuple[str, bool]]:
        found = answer_faults(text, [{"price": 90, "tax": 5}], [SearchText.of({"price": 90, "tax": 5})], "en")
        return [(finding.rule, finding.level == "warning") for finding in found]

    assert faults("It costs 95.") == [("A4", True)]
    assert faults("It costs 951.") == [("A11", False), ("A4", True)]
    assert [faults(f"It costs 90 for {count}.") for count in (12, 18)] == [[], [("A4", True)]]


@pytest.mark.parametrize(
    ("rule", "text", "lang"),
    [
        ("A2", "", "en"),
        ("A5", "Call bookRoom for me", "en"),
        ("A5", 'Planner: "actions": []', "en"),
        ("C1", "room " * 1000, "en"),
        ("C2", "Book a room", "zh"),
        ("C2", "请帮我预订一个海景房间", "en"),
    ],
)
def test_a_user_text_is_refused(rule: str, text: str, lang: Any):
    assert rule in rules(list(user_faults(text, SCHEMAS, lang)))


def test_a_value_in_a_vague_reply_is_a_warning():
    assert [finding.level for finding in vague_faults("Room 1207.")] == ["warning"]
    assert list(vague_faults("A nice one.")) == []
