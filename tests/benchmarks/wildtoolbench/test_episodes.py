"""Where the profile `fixed` corrects the published evaluator, statement by statement, beside what `official` does."""

from typing import Any

import pytest

from benchmarks.wildtoolbench.build import (
    ANSWER,
    ASK,
    DONE,
    Nodes,
    answer,
    ask,
    call,
    calls,
    error,
    item,
    node,
    outcome,
    raw_call,
    says,
    shown,
    told,
    tool,
    verdict,
)
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH, error_classes
from wildtool.types import Message

ONE = node("a", n=1)
TWO = node("a", n=2)
CHAIN = [node("a", n=1), node("b", 0), node("c", 1), answer(2)]


def both(task: Nodes, *replies: Message, **changes: Any) -> tuple[str, str]:
    """The outcomes under `official` and `fixed`."""
    return outcome("official", task, *replies, **changes), outcome("fixed", task, *replies, **changes)


def observations(profile: str, task: Nodes, reply: Message) -> dict[str, str]:
    """What each call id of a first reply is answered with."""
    episode = WILDTOOLBENCH.rules(profile).episode(item(task), "0")
    told(episode, reply)
    return {m["tool_call_id"]: m["content"] for m in shown(episode) if m["role"] == "tool"}


# Order --------------------------------------------------------------------------------------------------------


def test_q06_a_question_beside_a_call_takes_a_step_of_its_own_in_either_order() -> None:
    task = [ask(), node("a"), answer(0, 1)]
    assert outcome("fixed", task, says("Which?"), calls("a"), DONE) == "correct"
    assert outcome("fixed", task, calls("a"), says("Which?"), DONE) == "correct"


def test_q06_such_a_question_spoils_the_later_tasks_of_the_original_only() -> None:
    made = item([ask(), node("a"), answer(0, 1)], [answer()])
    raised = {
        profile: WILDTOOLBENCH.judge(made, {}, profile)[1].fields["reference_error"]
        for profile in ("official", "fixed")
    }
    assert raised == {"official": "inference: AssertionError: ", "fixed": None}


def test_q10_any_subset_of_same_name_calls_may_go_together() -> None:
    task = [ONE, TWO, node("a", n=3), answer(0, 1, 2)]
    replies = calls(call("a", "x", n=1), call("a", "y", n=2)), calls(call("a", n=3)), DONE
    assert both(task, *replies) == ("wrong", "correct")


def test_q11_same_name_calls_may_be_interrupted() -> None:
    task = [ONE, TWO, node("b"), answer(0, 1, 2)]
    replies = calls(call("a", n=1)), calls("b"), calls(call("a", n=2)), DONE
    assert both(task, *replies) == ("wrong", "correct")


def test_q12_what_is_accepted_does_not_depend_on_the_order_of_nodes() -> None:
    mixed, rest = calls(call("a", "x", n=1), call("b", "y")), calls(call("a", n=2))
    a_first, b_first = [ONE, TWO, node("b"), answer(0, 1, 2)], [node("b"), ONE, TWO, answer(0, 1, 2)]
    assert both(a_first, mixed, rest, DONE) == ("wrong", "correct")
    assert both(b_first, mixed, rest, DONE) == ("correct", "correct")


def test_q16_same_name_calls_are_bound_by_arguments() -> None:
    task = [ONE, TWO, node("b", 1), answer(0, 1, 2)]
    replies = calls(call("a", n=2)), calls("b"), calls(call("a", n=1)), DONE
    assert both(task, *replies) == ("wrong", "correct")


def test_a_call_that_fits_two_gold_calls_leaves_the_one_that_the_other_call_needs() -> None:
    # Gold "5" breaks its schema, so 5 means it too; "5" means nothing but "5".
    task = [node("a", n="5"), node("a", n=5), answer(0, 1)]
    reply = calls(call("a", "x", n=5), call("a", "y", n="5"))
    assert outcome("fixed", task, reply, DONE) == "correct"


def test_a_dependent_call_beside_what_it_needs_is_refused() -> None:
    assert both([node("a"), node("b", 0), answer(1)], calls("a", "b"), DONE) == ("wrong", "wrong")


def test_q25_the_answer_comes_last_whatever_it_depends_on() -> None:
    task = [node("a"), answer()]
    assert both(task, DONE) == ("correct", "wrong")
    assert outcome("fixed", task, calls("a"), DONE) == "correct"


# Observations -------------------------------------------------------------------------------------------------


def test_q19_each_observation_goes_to_the_call_that_asked_for_it() -> None:
    task, reply = [node("a"), node("b"), answer(0, 1)], calls(call("b", "x"), call("a", "y"))
    assert observations("fixed", task, reply) == {"x": "b done", "y": "a done"}
    assert observations("official", task, reply) == {"x": "a done", "y": "b done"}


def test_q19_same_name_calls_get_the_observations_of_their_arguments() -> None:
    task = [ONE | {"observation": "one"}, TWO | {"observation": "two"}, answer(0, 1)]
    reply = calls(call("a", "x", n=2), call("a", "y", n=1))
    assert observations("fixed", task, reply) == {"x": "two", "y": "one"}
    assert observations("official", task, reply) == {"x": "one", "y": "two"}


# Words ---------------------------------------------------------------------------------------------------------


def test_calls_with_null_ids_are_bound_under_fixed_and_get_ids_in_what_is_shown_next() -> None:
    reply = calls("a", "b")
    for made in reply["tool_calls"]:
        made["id"] = None
    task = [node("a"), node("b"), answer(0, 1)]
    assert outcome("fixed", task, reply, DONE) == "correct"
    episode = WILDTOOLBENCH.rules("fixed").episode(item(task), "0")
    told(episode, reply)
    asked, *observed = shown(episode)[-3:]
    ids = [made["id"] for made in asked["tool_calls"]]
    assert [message["tool_call_id"] for message in observed] == ids
    assert len(set(ids)) == 2 and all(isinstance(id_, str) for id_ in ids)


@pytest.mark.parametrize("id_", [5, [], True])
def test_calls_with_ids_of_another_type_cannot_be_read(id_: Any) -> None:
    reply = calls("a")
    reply["tool_calls"][0]["id"] = id_
    assert outcome("fixed", [node("a"), answer(0)], reply, DONE) == "wrong"


def test_q20_a_question_is_asked_once() -> None:
    task = [ask(), node("a"), answer()]
    assert both(task, says("Which?"), says("Which?"), says("Well?")) == ("correct", "wrong")


def test_q20_a_call_after_several_texts_is_a_wrong_reply_and_no_exception() -> None:
    task = [ask(), node("a"), node("b"), answer(0, 1, 2)]
    replies = says("Which?"), says("Which?"), calls("a")
    official, fixed = (verdict(profile, task, *replies) for profile in ("official", "fixed"))
    assert official.fields["reference_error"] == "inference: IndexError: list index out of range"
    assert (fixed.outcome, fixed.error, fixed.steps) == ("wrong", error_classes.REFUSAL, 2)


@pytest.mark.parametrize("blank", [" ", "\n\t", "\u3000"])
def test_q21_a_blank_is_no_answer(blank: str) -> None:
    assert both([answer()], says(blank)) == ("correct", "wrong")


@pytest.mark.parametrize("content", [5, {"text": "hello"}, [], [5], [{"type": "text", "text": " "}]])
def test_content_that_holds_no_text_is_no_answer(content: Any) -> None:
    assert both([answer()], says(content))[1] == "wrong"


def test_content_in_parts_is_an_answer() -> None:
    assert both([answer()], says([{"type": "text", "text": "hello"}]))[1] == "correct"


@pytest.mark.parametrize("blank", [" ", "\n"])
def test_q21_a_blank_is_no_question(blank: str) -> None:
    assert both([ask(), answer(0)], says(blank), DONE) == ("correct", "wrong")


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "a", "arguments": {"n": 1}}</tool_call>',
        "One moment.\n\n[a(n=1)]",
        '```json\n{"name": "a", "arguments": {}}\n```',
        "Action: a\nAction Input: {}",
    ],
)
def test_q21_a_call_written_as_text_is_no_answer_and_no_question(text: str) -> None:
    assert both([answer()], says(text)) == ("correct", "wrong")
    assert both([ask(), answer(0)], says(text), DONE) == ("correct", "wrong")
    assert verdict("fixed", [answer()], says(text)).error == error_classes.WRONG_REFUSAL


def test_q21_an_answer_that_quotes_or_refuses_a_call_is_one() -> None:
    for text in ("You can use `a(n=1)` for this.", "I will not run a(n=1), since you did not ask for it."):
        assert both([answer()], says(text)) == ("correct", "correct")


def test_q21_text_beside_calls_is_ignored() -> None:
    task = [node("a"), answer(0)]
    assert both(task, calls("a") | {"content": "Let me see."}, DONE) == ("correct", "correct")
    assert both([answer()], calls("a") | {"content": "Here you are."}) == ("wrong", "wrong")


def test_q22_a_question_called_as_a_tool_is_a_wrong_name() -> None:
    task = [ask(), answer(0)]
    assert both(task, calls(ASK), DONE) == ("correct", "wrong")
    assert error("fixed", task, calls(ASK), DONE) == error_classes.CALL_ERROR


def test_q22_an_answer_called_as_a_tool_is_a_wrong_name() -> None:
    task = [node("a"), answer(0)]
    assert both(task, calls("a"), calls(ANSWER)) == ("wrong", "wrong")
    assert error("fixed", task, calls("a"), calls(ANSWER)) == error_classes.CALL_ERROR
    assert outcome("fixed", task, calls("a", ANSWER)) == "wrong"


# Progress -------------------------------------------------------------------------------------------------------


def progress(profile: str, task: Nodes, *replies: Message) -> tuple[Any, Any]:
    fields = verdict(profile, task, *replies).fields
    return fields["ap_done"], fields["ap_total"]


def test_q28_progress_ends_at_the_first_fault() -> None:
    replies = calls(call("a", n=9)), calls("b"), calls("c"), DONE
    assert progress("official", CHAIN, *replies) == (3, 4)
    assert progress("fixed", CHAIN, *replies) == (0, 4)


def test_q29_a_failed_step_is_no_progress() -> None:
    assert progress("official", CHAIN, calls("d")) == (1, 4)
    assert progress("fixed", CHAIN, calls("d")) == (0, 4)


def test_q29_progress_counts_nodes_so_that_parallel_calls_lose_nothing() -> None:
    task, replies = [node("a"), node("b"), answer(0, 1)], (calls("a", "b"), DONE)
    assert progress("official", task, *replies) == (2, 3)
    assert progress("fixed", task, *replies) == (3, 3)


def test_q01_the_official_denominator_is_that_of_the_second_list() -> None:
    task = [node("a"), answer(0)]
    found = {
        profile: verdict(profile, task, answer_list=[[answer()]]).fields["ap_total"]
        for profile in ("official", "fixed")
    }
    assert found == {"official": 1, "fixed": 2}


# Arguments ------------------------------------------------------------------------------------------------------


def test_q18_fixed_ends_at_a_wrong_argument_and_official_goes_on() -> None:
    made = item([ONE, node("b", 0), answer(1)])
    open_walks: dict[str, bool] = {}
    for profile in ("official", "fixed"):
        episode = WILDTOOLBENCH.rules(profile).episode(made, "0")
        told(episode, calls(call("a", n=9)))
        open_walks[profile] = episode.request() is not None
    assert open_walks == {"official": True, "fixed": False}


def test_q31_the_order_of_keys_does_not_pair_the_wrong_calls() -> None:
    task = [node("a", n=1, text="p"), node("a", n=2, text="q"), answer(0, 1)]
    reply = calls(raw_call("a", '{"text": "p", "n": 1}', "x"), raw_call("a", '{"n": 2, "text": "q"}', "y"))
    assert both(task, reply, DONE) == ("wrong", "correct")


def test_q31_calls_are_paired_by_texts_as_they_are_written() -> None:
    task = [node("a", text="é"), node("a", text="z"), answer(0, 1)]
    reply = calls(raw_call("a", '{"text": "é"}', "x"), raw_call("a", '{"text": "z"}', "y"))
    assert both(task, reply, DONE) == ("correct", "correct")


def test_q20_beside_many_calls_a_question_narrows() -> None:
    gold = [ask(), *(node(f"t{number}") for number in range(16)), answer(*range(17))]
    episode: Any = WILDTOOLBENCH.rules("official").episode(item(gold), "0")
    told(episode, says("Which one?"))
    assert len(episode._states) == 1


def test_q31_one_wrong_value_is_the_only_difference() -> None:
    task = [node("a", n=1), node("a", n=3), node("a", n=5), answer(0, 1, 2)]
    reply = calls(*(call("a", f"id{n}", n=n) for n in (3, 5, 7)))
    found = verdict("fixed", task, reply)
    assert [d["path"] for d in found.detail["differences"]] == ["n"]
    assert "7" in found.reason


@pytest.mark.parametrize(("gold", "text"), [(5.0, "5"), (5, "5.0"), (1000, "1e3"), (0.1, "1e-1")])
def test_q36_numbers_are_compared_by_value(gold: float, text: str) -> None:
    task = [node("a", x=gold), answer(0)]
    reply = calls(raw_call("a", f'{{"x": {text}}}'))
    assert outcome("fixed", task, reply, DONE) == "correct"
    assert outcome("official", task, reply, DONE) == (
        "correct" if type(gold) is float and "e" in text else "wrong"
    )


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ("192.168.10.14", "192.168.10.15"),
        ("Do not send the report to the whole team today", "Do send the report to the whole team today"),
        ("call me back at the number 555 0142 please", "call me back at the number 555 0143 please"),
        ("明天上午九点提醒我去医院拿体检报告", "明天上午十点提醒我去医院拿体检报告"),
    ],
    ids=["address", "negation", "digit", "hour"],
)
def test_q42_another_value_that_looks_alike_is_wrong(gold: str, predicted: str) -> None:
    task = [node("a", text=gold), answer(0)]
    assert both(task, calls(call("a", text=predicted)), DONE) == ("correct", "wrong")


# Error classes ----------------------------------------------------------------------------------------------------

CALL, TEXT = calls("a"), says("Sorry, I cannot.")
NEEDED = [node("a", n=1), answer(0)]
FAULTS: dict[str, tuple[str, Nodes, tuple[Message, ...]]] = {
    "text although a call was due": (error_classes.REFUSAL, NEEDED, (TEXT,)),
    "nothing where an answer was due": (error_classes.REFUSAL, [answer()], (says(""),)),
    "nothing where a question was due": (error_classes.REFUSAL, [ask(), answer(0)], (says(None),)),
    "a call before the question": (error_classes.MISSING_INFO, [ask(), node("a", 0), answer(1)], (CALL,)),
    "another call before the question": (error_classes.MISSING_INFO, [ask(), node("a", 0), answer(1)], (calls("b"),)),
    "a call for the only question": (error_classes.MISSING_INFO, [ask(), answer(0)], (CALL,)),
    "a call for the last question": (error_classes.MISSING_INFO, [node("a"), ask(0), answer(1)], (CALL, calls("b"))),
    "a call in a chat": (error_classes.WRONG_REFUSAL, [answer()], (CALL,)),
    "a call that was done": (error_classes.REDUNDANT, [node("a"), node("b", 0), answer(1)], (CALL, CALL)),
    "a call after every call": (error_classes.REDUNDANT, [node("a"), answer(0)], (CALL, calls("b"))),
    "a call twice at once": (error_classes.REDUNDANT, [node("a"), answer(0)], (calls("a", "a"),)),
    "a tool that does not exist": (error_classes.CALL_ERROR, NEEDED, (calls("zzz"),)),
    "a tool that is not needed": (error_classes.CALL_ERROR, NEEDED, (calls("b"),)),
    "a call that is not due yet": (error_classes.CALL_ERROR, [node("a"), node("b", 0), answer(1)], (calls("b"),)),
    "two dependent calls at once": (error_classes.CALL_ERROR, [node("a"), node("b", 0), answer(1)], (calls("a", "b"),)),
    "two dependent calls of one name at once": (error_classes.CALL_ERROR, [ONE, node("a", 0, n=2), answer(1)],
        (calls(call("a", n=1), call("a", n=2)),)),
    "text while calls are left": (error_classes.EARLY_END, [node("a"), node("b", 0), answer(1)], (CALL, TEXT)),
    "nothing while calls are left": (error_classes.EARLY_END, [node("a"), node("b", 0), answer(1)], (CALL, says(""))),
    "a value of another type": (error_classes.PARAM_TYPE, NEEDED, (calls(call("a", n=["1"])),)),
    "an argument that the tool lacks": (error_classes.PARAM_HALLUCINATION, NEEDED, (calls(call("a", n=1, zzz=2)),)),
    "an argument nobody asked for": (error_classes.PARAM_HALLUCINATION, NEEDED, (calls(call("a", n=1, text="x")),)),
    "another value": (error_classes.PARAM_VALUE, NEEDED, (calls(call("a", n=2)),)),
    "arguments that are no JSON": (error_classes.UNREADABLE, NEEDED, (calls(raw_call("a", "{")),)),
    "arguments that are no text": (error_classes.UNREADABLE, NEEDED, (calls(raw_call("a", {"n": 1})),)),
    "a call without id": (error_classes.UNREADABLE, NEEDED, (calls({"function": {"name": "a", "arguments": "{}"}}),)),
    "calls that are no list": (error_classes.UNREADABLE, NEEDED, ({"tool_calls": {"a": 1}},)),
    "gold that nobody can reach": (error_classes.UNUSABLE_GOLD, [node("a", 1), node("b", 0), answer(1)], (CALL,)),
}  # fmt: skip


@pytest.mark.parametrize("profile", ["official", "fixed"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_its_class(name: str, profile: str) -> None:
    expected, task, replies = FAULTS[name]
    assert error(profile, task, *replies) == expected


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_a_required_argument_left_out_is_a_type_error(profile: str) -> None:
    needs_n = [tool("a", "n", n="integer")]
    assert error(profile, NEEDED, calls("a"), english_tools=needs_n) == error_classes.PARAM_TYPE


def test_every_class_has_an_example() -> None:
    assert {expected for expected, _, _ in FAULTS.values()} == set(error_classes.ALL)


def test_the_reason_names_what_was_called() -> None:
    assert verdict("fixed", NEEDED, calls("zzz")).reason == "called zzz, which is not in the tool list"


# Where the original raises ------------------------------------------------------------------------------------

RAISES: dict[str, tuple[str, Nodes, tuple[Message, ...]]] = {
    "empty reply": ("scoring: KeyError: 'inference_answer'", NEEDED, (says(""),)),
    "call without name": ("scoring: KeyError: 'inference_answer'", NEEDED, (calls({"id": "x", "function": {}}),)),
    "arguments null": ("scoring: TypeError: ", NEEDED, (calls(raw_call("a", None)), DONE)),
    "null name beside a name": ("inference: TypeError: ", NEEDED, (calls(call("a"), call(None)),)),
    "answer called, then text": ("inference: KeyError: 2", NEEDED, (calls("a"), calls(ANSWER), DONE)),
    "gold tool missing": ("scoring: KeyError: 'zzz'", [node("zzz"), answer(0)], (calls("zzz"), DONE)),
    "no gold at all": ("inference: KeyError: 0", [], (DONE,)),
}  # fmt: skip


@pytest.mark.parametrize("name", RAISES)
def test_where_the_original_raises_the_task_is_wrong_and_says_so(name: str) -> None:
    raised, task, replies = RAISES[name]
    found = verdict("official", task, *replies)
    assert found.outcome == "wrong"
    assert str(found.fields["reference_error"]).startswith(raised)
    if name != "answer called, then text":
        assert raised.partition(": ")[2] in found.reason


def test_q32_a_gold_tool_that_is_not_in_the_list_can_still_be_called_right_under_fixed() -> None:
    assert outcome("fixed", [node("zzz"), answer(0)], calls("zzz"), DONE) == "correct"


# Perfect replies --------------------------------------------------------------------------------------------------

GRAPHS: dict[str, Nodes] = {
    "chat": [answer()],
    "one call": [node("a"), answer(0)],
    "parallel": [node("a"), node("b"), answer(0, 1)],
    "one name": [ONE, TWO, answer(0, 1)],
    "chain": CHAIN,
    "question first": [ask(), node("a", 0), answer(1)],
    "question last": [node("a"), ask(0), answer(1)],
    "diamond": [node("a"), node("b", 0), node("c", 0), node("d", 1, 2), answer(3)],
    "answer first in the list": [answer(1), node("a")],
}


@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
@pytest.mark.parametrize("style", ["parallel", "serial"])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_gold_answer_to_every_request_is_correct(name: str, style: str, profile: str) -> None:
    made = item(GRAPHS[name])
    episode, replies = WILDTOOLBENCH.rules(profile).episode(made, "0"), list[Message]()
    while (request := episode.request()) is not None:
        assert request.gold is not None
        replies.append(request.gold(style))
        episode.advance(replies[-1])
    found = verdict(profile, GRAPHS[name], *replies)
    assert (found.outcome, found.error, found.score) == ("correct", None, 1.0)
    assert found.fields["optimal"] == (style == "parallel" or name not in ("parallel", "one name", "diamond"))


# Alternatives -------------------------------------------------------------------------------------------------

EITHER = {**node("a", n=1, text="red"), "alternatives": {"n": [2, 3], "text": ["crimson", None], "x": [0.5]}}


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 1, "text": "red"},
        {"n": 3, "text": "red"},
        {"n": 2, "text": "crimson"},
        {"n": 1},
        {"n": 1, "text": "red", "x": 0.5},
    ],
)
def test_a_value_that_gold_accepts_beside_its_own_is_right(arguments: dict[str, Any]):
    assert outcome("fixed", [EITHER, answer(0)], calls(call("a", **arguments)), DONE) == "correct"


@pytest.mark.parametrize("arguments", [{"n": 4, "text": "red"}, {"n": 2, "text": "blue"}, {"n": 2, "x": 0.6}])
def test_a_value_that_gold_does_not_accept_is_wrong(arguments: dict[str, Any]):
    assert outcome("fixed", [EITHER, answer(0)], calls(call("a", **arguments)), DONE) == "wrong"


def test_the_published_evaluators_know_gold_alone():
    for profile in ("official", "paper"):
        assert outcome(profile, [EITHER, answer(0)], calls(call("a", n=1, text="red")), DONE) == "correct"
        assert outcome(profile, [EITHER, answer(0)], calls(call("a", n=3, text="red")), DONE) == "wrong"


def test_alternatives_of_two_long_arguments_are_right_together():
    long = {"tags": list(range(25)), "more": list(range(25))}
    other = {name: [-k - 1 for k in values] for name, values in long.items()}
    one = {**node("a", **long), "alternatives": {name: [values] for name, values in other.items()}}
    assert outcome("fixed", [one, answer(0)], calls(call("a", **other)), DONE) == "correct"
    neither = {**other, "more": [7, *other["more"][1:]]}
    assert outcome("fixed", [one, answer(0)], calls(call("a", **neither)), DONE) == "wrong"


def test_two_calls_of_a_tool_are_bound_by_their_alternatives():
    task = [{**ONE, "alternatives": {"n": [2, 3]}}, TWO, answer(0, 1)]
    said = calls(call("a", "i", n=2), call("a", "j", n=3))
    assert outcome("fixed", task, said, DONE) == "correct"
    assert outcome("fixed", task, calls(call("a", "i", n=3), call("a", "j", n=3)), DONE) == "wrong"
