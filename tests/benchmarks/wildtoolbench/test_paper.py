"""Rules of the paper-era evaluator, one smallest example each: labels, argument scores, AP, OP."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.benchmarks.wildtoolbench import error_classes
from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, GoldNode, Session, Task
from wildtool.benchmarks.wildtoolbench.official.episode import OfficialEpisode
from wildtool.benchmarks.wildtoolbench.paper.judge import (
    LABEL_COLUMNS,
    RAISED,
    BadPair,
    PaperVerdict,
    PredictedCall,
    UnscorableError,
    action_error,
    bad_pairs,
    judge_paper,
    score_value,
    structure_of,
)

TEXT: dict[str, Any] = {"type": "string", "description": "a text"}


def tool(name: str, required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = tuple(tool(name, x=TEXT) for name in "abc")


def call(*names: Any, **arguments: Any) -> dict[str, Any]:
    calls = [{"id": "1", "function": {"name": n, "arguments": json.dumps(arguments)}} for n in names]
    return {"content": None, "tool_calls": calls}


def say(text: str = "hello") -> dict[str, Any]:
    return {"content": text, "tool_calls": None}


def node(name: str, *deps: int, **arguments: Any) -> GoldNode:
    return GoldNode(name, arguments, "seen", deps, "reply" if name == ASK else None)


def judge(nodes: list[GoldNode], *replies: dict[str, Any], tools: tuple[Any, ...] = TOOLS) -> PaperVerdict:
    task = Task("do it", tuple(nodes), "", "First Turn")
    episode = OfficialEpisode(Session("s", "en", "today", tools, tools, (task,), None), 0)
    for reply in replies:
        if episode.request() is not None:
            episode.advance(reply)
    return judge_paper(episode, task, tools)


def label(gold: str, *replies: dict[str, Any]) -> str:
    """The action error of replies against gold names; `?` is the question, `.` the answer."""
    return action_error(replies, [{"?": ASK, ".": ANSWER}.get(name, name) for name in gold], TOOLS)


# Action errors


def test_one_reply_without_calls_is_a_reject():
    assert label("a.", say()) == "reject tool calling"


def test_one_reply_whose_calls_have_no_name_is_a_reject():
    assert label("a.", {"tool_calls": [{"id": "1"}]}) == "reject tool calling"


def test_an_empty_reply_in_a_chat_task_is_a_reject():
    assert label(".", say("")) == "reject tool calling"


def test_a_call_in_a_chat_task_is_a_call_without_reject():
    assert label(".", call("unknown")) == "call function without reject"


def test_a_name_outside_the_tool_list_is_a_hallucination():
    assert label("a.", call("unknown")) == "function name hallucination"


def test_a_name_that_is_no_text_is_a_hallucination():
    assert label("a.", call(["a"])) == "function name hallucination"


def test_the_mark_of_a_content_filter_is_a_reject():
    assert label("a.", call("filter_by_prompt")) == "reject tool calling"


def test_within_a_reply_the_first_odd_name_decides():
    assert label("a.", call("unknown", "filter_by_prompt")) == "function name hallucination"


def test_over_replies_the_last_odd_name_decides():
    assert label("ab.", call("unknown"), call("filter_by_prompt")) == "reject tool calling"


def test_a_call_where_a_question_was_due_is_missing_information():
    assert label("?a.", call("a")) == "missing information in tool calling"


def test_as_many_names_as_gold_has_are_redundant():
    assert label("ab.", call("a"), call("a", "c")) == "redundant tool calling"


def test_fewer_questions_than_gold_has_are_missing_information():
    assert label("?a?b.", say(), call("b")) == "missing information in tool calling"


def test_a_name_that_gold_does_not_have_is_a_wrong_function():
    assert label("ab.", call("c")) == "call the wrong function"


def test_a_text_after_a_right_call_is_a_wrong_function():
    assert label("ab.", call("a"), say()) == "call the wrong function"


def test_a_name_more_often_than_gold_has_it_is_redundant():
    assert label("abc.", call("a"), call("a")) == "redundant tool calling"


def test_right_names_in_a_wrong_order_are_an_early_stop():
    assert label("ab.", call("b")) == "early stop"


@pytest.mark.parametrize("calls", [[], [{"id": "x"}], "b()", {"a": 1}, 7, True])
def test_a_reply_without_readable_calls_counts_as_a_question(calls):
    assert label("ab.", call("a"), {"tool_calls": calls}) == "call the wrong function"


def test_the_first_call_decides_whether_a_reply_is_readable():
    odd = {"id": "x"}
    named = {"function": {"name": "b"}}
    assert label("ab.", call("a"), {"tool_calls": [odd, named]}) == "call the wrong function"
    assert label("ab.", call("a"), {"tool_calls": [named, odd]}) == "early stop"


def test_a_call_without_id_still_counts_by_its_name():
    assert label("a.", {"tool_calls": [{"function": {"name": "a"}}]}) == "early stop"


# Scores of values


def score(value: Any, gold: Any, **schema: Any) -> tuple[float, set[str]]:
    kinds: set[str] = set()
    return score_value(value, gold, schema, kinds), kinds


def test_int_and_float_are_compared_by_value():
    assert score(5, 5.0, type="integer") == (1, set())


def test_true_is_not_one():
    assert score(True, 1, type="integer") == (0, {"type error"})


def test_text_is_equal_without_case_and_blanks():
    assert score("New york", "new  York ", type="string") == (1, set())


def test_another_number_is_a_wrong_value():
    assert score(5, 6, type="number") == (0, {"param value error"})


def test_coordinates_are_equal_whatever_they_are():
    assert score("1.0,2.0", "50.5,8.25", type="string") == (1, set())
    for pair in (("1.0,2.0", "Rome"), ("Rome", "1.0,2.0")):
        assert score(*pair, type="string") == (0, {"param value error"})


def test_signed_coordinates_are_ordinary_text():
    assert score("-1.0,2.0", "50.5,8.25", type="string")[0] < 1


def test_text_is_scored_by_common_words_in_order():
    # Words and blanks: a ␣ b ␣ c against a ␣ b ␣ d have 4 of 5 in common.
    assert score("a b c", "a b d", type="string") == (pytest.approx(0.8), set())


def test_repeated_words_count():
    value, _ = score("a a a", "a", type="string")
    assert value == pytest.approx(2 * (1 / 5) * 1 / (1 / 5 + 1))


def test_rouge_keeps_case():
    value, _ = score("A b c", "a b d", type="string")
    assert value == pytest.approx(0.6)


def test_a_text_below_the_limit_is_a_wrong_value():
    assert score("a b c", "x y z", type="string")[1] == {"param value error"}


def test_text_against_empty_text_scores_nothing():
    assert score("", "a", type="string") == (0, {"param value error"})


def test_a_huge_text_scores_nothing():
    assert score("a " * 1_000_000, "a", type="string") == (0, {"param value error"})
    # Longer than 10,000 characters, and than 100 times gold.
    gold = "a " * 60
    assert [score("a " * count, gold, type="string")[0] > 0 for count in (5001, 6000, 6001)] == [
        True,
        True,
        False,
    ]


def test_order_of_an_array_does_not_matter():
    assert score(["b", "a"], ["a", "b"], type="array", items=TEXT) == (1, set())


def test_arrays_of_different_length_are_wrong():
    assert score(["a"], ["a", "b"], type="array", items=TEXT) == (0, {"param value error"})


def test_an_array_scores_the_mean_of_its_pairs():
    integers = {"type": "integer"}
    assert score([1, 2], [1, 3], type="array", items=integers) == (0.5, {"param value error"})


def test_an_object_scores_the_mean_over_predicted_keys():
    properties = {"k": {"type": "integer"}, "n": {"type": "integer"}}
    assert score({"k": 1, "n": 2}, {"k": 1, "n": 3, "m": 4}, type="object", properties=properties) == (
        0.5,
        {"param value error"},
    )


def test_an_unknown_key_spoils_a_whole_object():
    properties = {"k": {"type": "integer"}}
    assert score({"k": 1, "u": 2}, {"k": 1}, type="object", properties=properties) == (
        0,
        {"param hallucination"},
    )


def test_a_known_key_that_gold_lacks_is_an_unfounded_value():
    properties = {"k": {"type": "integer"}, "n": TEXT}
    assert score({"k": 1, "n": "zz"}, {"k": 1}, type="object", properties=properties) == (
        0.5,
        {"param value hallucination"},
    )


def test_keys_of_objects_in_an_array_are_known_from_its_items():
    items = {"type": "object", "properties": {"k": {"type": "integer"}}}
    assert score([{"k": 1}], [{"k": 2}], type="array", items=items) == (0, {"param value error"})


def test_an_empty_object_against_gold_is_a_wrong_value():
    assert score({}, {"k": 1}, type="object", properties={}) == (0, {"param value error"})


@pytest.mark.parametrize(
    ("value", "gold", "schema"),
    [
        ("a", "b", {}),
        ("a", "b", {"type": "array"}),
        ([1], [2], {"type": "string"}),
        (10**400, 1, {"type": "integer"}),
        (["a"], ["b"], {"type": "array", "items": None}),
        (["a"], ["b"], {"type": "array", "items": {"properties": {"k": TEXT}}}),
    ],
)
def test_what_the_schema_cannot_compare_raises(value, gold, schema):
    with pytest.raises(RAISED):
        score(value, gold, **schema)


def test_entries_of_an_array_without_items_are_texts():
    assert score(["a b c"], ["a b d"], type="array") == (pytest.approx(0.8), set())
    with pytest.raises(RAISED):
        score([1], [2], type="array")


def test_objects_in_a_list_are_sorted_without_regard_to_the_order_of_their_keys():
    items = {"type": "object", "properties": {"k": {"type": "integer"}, "n": {"type": "integer"}}}
    predicted = [{"n": 2, "k": 1}, {"k": 2, "n": 1}]
    assert score(predicted, [{"k": 1, "n": 2}, {"k": 2, "n": 1}], type="array", items=items) == (1, set())


def test_a_property_named_items_is_taken_for_the_items_of_an_object_in_a_list():
    items = {"type": "object", "properties": {"items": {"type": "array", "items": TEXT}}}
    with pytest.raises(RAISED):
        score([{"items": ["a"]}], [{"items": ["b"]}], type="array", items=items)


def test_an_unknown_key_makes_earlier_faults_of_its_object_forgotten():
    properties = {"k": {"type": "integer"}}
    assert score({"k": "1", "u": 2}, {"k": 1}, type="object", properties=properties)[1] == {
        "param hallucination"
    }


def test_coordinates_may_end_in_a_line_break():
    assert score("1.0,2.0\n", "5.0,6.0", type="string") == (1, set())


# Scores of calls


def pairs(gold: list[dict[str, Any]], *calls: Any, required: tuple[str, ...] = ()) -> list[BadPair]:
    """Bad pairs of calls of one tool, each given by its arguments; a text stands for itself."""
    integer = {"type": "integer", "description": "such as 20, or null"}
    properties = dict.fromkeys("klmn", integer) | {"text": TEXT}
    texts = [c if isinstance(c, str) else json.dumps(c) for c in calls]
    predicted = [PredictedCall(step, "a", text) for step, text in enumerate(texts)]
    return bad_pairs(predicted, [("a", arguments) for arguments in gold], [tool("a", required, **properties)])


def kinds_of(gold: dict[str, Any], predicted: Any, required: tuple[str, ...] = ()) -> set[str]:
    found = pairs([gold], predicted, required=required)
    return set().union(*(pair.kinds for pair in found))


def test_one_wrong_value_of_four_passes():
    assert pairs([{"k": 1, "l": 1, "m": 1, "n": 1}], {"k": 1, "l": 1, "m": 1, "n": 2}) == []


def test_one_wrong_value_of_three_fails():
    assert kinds_of({"k": 1, "l": 1, "m": 1}, {"k": 1, "l": 1, "m": 2}) == {"param value error"}


def test_a_missing_required_argument_ends_the_comparison():
    assert kinds_of({"k": 1}, {"unknown": 1}, required=("k",)) == {"miss required params"}


def test_a_gold_argument_left_out_costs_nothing():
    assert pairs([{"k": 1, "l": 1}], {"k": 1}) == []


def test_an_unknown_argument_is_a_hallucination():
    assert kinds_of({"k": 1}, {"k": 1, "unknown": 1}) == {"param hallucination"}


def test_an_extra_argument_that_nothing_mentions_is_an_unfounded_value():
    assert kinds_of({"k": 1}, {"k": 1, "l": 7}) == {"param value hallucination"}


def test_an_extra_value_that_the_description_mentions_is_free():
    assert pairs([{"k": 1}], {"k": 1, "l": 20}) == []


def test_an_extra_null_is_free_where_the_description_mentions_null():
    assert pairs([{"k": 1}], {"k": 1, "l": None}) == []


@pytest.mark.parametrize("value", ["JSON", "json", "Json"])
def test_a_described_default_is_free_in_any_case(value):
    formatted = tool("a", k=TEXT, format={"type": "string", "description": "'XML' or 'JSON' (default)"})
    assert (
        bad_pairs([PredictedCall(0, "a", {"k": "t", "format": value})], [("a", {"k": "t"})], [formatted])
        == []
    )


@pytest.mark.parametrize("value", [None, "None", "none", "NONE"])
def test_no_value_is_free_where_the_description_mentions_null_in_any_case(value):
    nullable = tool("a", k=TEXT, l={"type": "string", "description": "Null if unknown"})
    predicted, gold = [PredictedCall(0, "a", {"k": "t", "l": value})], [("a", {"k": "t"})]
    assert bad_pairs(predicted, gold, [nullable]) == []
    (pair,) = bad_pairs(predicted, gold, [tool("a", k=TEXT, l={"type": "string", "description": "Free"})])
    assert pair.kinds == {"param value hallucination"}


def test_an_extra_empty_text_is_free():
    assert pairs([{"k": 1}], {"k": 1, "text": ""}) == []


def test_no_arguments_on_either_side_are_right():
    assert pairs([{}], {}) == []


@pytest.mark.parametrize("text", ["{", "", "[" * 100_000, "{}", "5", '["k"]', "null"])
def test_arguments_that_cannot_be_scored_raise(text):
    with pytest.raises(UnscorableError):
        pairs([{"k": 1}], text)


def test_arguments_encoded_twice_are_a_text_whose_characters_are_unknown():
    assert kinds_of({"text": "t"}, '"{text: t}"', required=("text",)) == {"param hallucination"}


def test_required_as_a_text_is_a_list_of_its_characters():
    odd = tool("a", k=TEXT)
    odd["function"]["parameters"]["required"] = "k"
    assert bad_pairs([PredictedCall(0, "a", {"k": "t"})], [("a", {"k": "t"})], [odd]) == []


def test_a_tool_without_parameters_raises():
    bare = {"type": "function", "function": {"name": "a"}}
    with pytest.raises(UnscorableError):
        bad_pairs([PredictedCall(0, "a", {})], [("a", {})], [bare])


def test_parameters_without_properties_raise_only_where_an_argument_is_given():
    empty = {"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}
    assert bad_pairs([PredictedCall(0, "a", {})], [("a", {})], [empty]) == []
    with pytest.raises(UnscorableError):
        bad_pairs([PredictedCall(0, "a", {"x": 1})], [("a", {})], [empty])


def test_a_tool_that_is_not_called_may_have_any_shape():
    bare = {"type": "function", "function": {"name": "b"}}
    assert bad_pairs([PredictedCall(0, "a", {"x": "t"})], [("a", {"x": "t"})], [*TOOLS[:1], bare]) == []


def test_a_list_is_searched_for_required_names():
    assert kinds_of({"k": 1}, [1], required=("k",)) == {"miss required params"}


def test_a_number_cannot_be_searched_for_required_names():
    with pytest.raises(UnscorableError):
        pairs([{"k": 1}], "5", required=("k",))


def test_a_text_inside_a_text_is_decoded_again_at_the_next_gold_node():
    assert kinds_of({"k": 1}, '"text"', required=("k",)) == {"miss required params"}
    with pytest.raises(UnscorableError):
        pairs([{"k": 1}, {"k": 2}], '"text"', {"k": 1}, required=("k",))


def test_arguments_given_as_an_object_are_scored():
    assert bad_pairs([PredictedCall(0, "a", {"x": "t"})], [("a", {"x": "t"})], TOOLS) == []


def test_calls_of_one_name_are_paired_by_score_over_the_whole_task():
    assert pairs([{"k": 1}, {"k": 2}], {"k": 2}, {"k": 1}) == []


def test_on_equal_scores_the_first_gold_node_is_taken():
    # The wrong call comes first and takes the node that the right one needs.
    assert [pair.step for pair in pairs([{"k": 1}, {"k": 2}], {"k": 3}, {"k": 1})] == [0, 1]


def test_the_kinds_of_a_bad_pair_are_those_of_the_last_comparison():
    found = pairs([{"k": 1, "l": 1}, {"k": 2}], {"k": 9, "l": 9}, {"k": 2})
    assert found == [BadPair(0, frozenset({"param value error", "param value hallucination"}))]


def test_another_number_of_calls_raises():
    with pytest.raises(UnscorableError):
        pairs([{}, {}], {})


# Whole tasks

CHAIN = [node("a", x="t"), node("b", 0, x="t"), node(ANSWER, 1)]


def test_a_right_task_is_correct():
    verdict = judge(CHAIN, call("a", x="t"), call("b", x="t"), say())
    assert verdict == PaperVerdict(True, None, None, "serial", 3, 3, True, False)


def test_a_chat_task_answered_with_text_is_correct():
    assert judge([node(ANSWER)], say()).correct


def test_of_all_bad_pairs_the_earliest_step_gives_the_label():
    verdict = judge(CHAIN, call("a", x=5), call("b", y="t"), say())
    assert verdict.error_type == "type error"


def test_of_the_kinds_of_a_pair_the_gravest_gives_the_label():
    verdict = judge(CHAIN, call("a", x=5, y="t"), call("b", x="t"), say())
    assert verdict.error_type == "param hallucination"


def test_arguments_that_raise_make_an_action_error():
    broken = call("a")
    broken["tool_calls"][0]["function"]["arguments"] = "{"
    verdict = judge(CHAIN, broken, call("b", x="t"), say())
    assert (verdict.error_type, verdict.argument_exception) == ("redundant tool calling", True)


def test_a_question_called_as_a_tool_is_a_hallucination():
    nodes = [node(ASK), node("a", 0, x="t"), node(ANSWER, 1)]
    verdict = judge(nodes, call(ASK), call("a", x="t"), say())
    assert (verdict.error_type, verdict.argument_exception) == ("function name hallucination", True)


def test_a_reply_at_which_the_walk_raises_is_the_failing_one():
    verdict = judge(CHAIN, call("a", None, x="t"))
    assert (verdict.error_type, verdict.complete) == ("function name hallucination", 0)


def test_progress_after_a_wrong_call_counts_the_calls_before_it():
    nodes = [node("a", x="t"), node("b", x="t"), node("c", 0, 1, x="t"), node(ANSWER, 2)]
    verdict = judge(nodes, call("a", "b", x="t"), call("a", x="t"))
    assert (verdict.complete, verdict.total) == (2, 4)


def test_progress_with_wrong_arguments_counts_every_call():
    verdict = judge(CHAIN, call("a", x=5), call("b", x="t"), say())
    assert (verdict.complete, verdict.total) == (3, 3)


def test_wrong_arguments_are_not_optimal():
    nodes = [node("a", x="t"), node("b", x="t"), node(ANSWER, 0, 1)]
    assert judge(nodes, call("a", "b", x="t"), say()).optimal
    assert not judge(nodes, call("a", "b", x=5), say()).optimal


def test_one_call_at_a_time_is_not_optimal_for_parallel_calls():
    nodes = [node("a", x="t"), node("b", x="t"), node(ANSWER, 0, 1)]
    verdict = judge(nodes, call("a", x="t"), call("b", x="t"), say())
    assert (verdict.correct, verdict.optimal) == (True, False)


@pytest.mark.parametrize(
    ("nodes", "structure"),
    [
        ([node("a"), node(ANSWER, 0)], None),
        ([node("a"), node("b"), node(ANSWER, 0, 1)], "combine"),
        ([node("a"), node("b", 0), node("c", 0, 1)], "serial"),
        ([node("a"), node("b"), node("c", 0)], "cs"),
        ([node(ASK), node("a", 0), node("b", 0)], "combine"),
        ([node("a"), node("b", 0, 0)], "serial"),
        ([replace(node("a"), idx=1), replace(node("b", 0), idx=2), replace(node("c", 1), idx=3)], "cs"),
    ],
    ids=[
        "single",
        "parallel",
        "serial",
        "mixed",
        "a question is no member",
        "a dependency named twice",
        "idx from 1",
    ],
)
def test_structure_comes_from_groups_of_real_nodes(nodes, structure):
    assert structure_of(nodes) == structure


def test_every_label_has_one_of_the_nine_columns():
    assert len(LABEL_COLUMNS) == 12
    assert set(LABEL_COLUMNS.values()) == set(error_classes.PAPER_COLUMNS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "id", ""]), inner),
    max_leaves=5,
)
NAMES = st.sampled_from(["a", "b", ASK, ANSWER, "unknown"]) | JSON
CALLS = st.lists(
    st.fixed_dictionaries(
        {"id": st.just("1"), "function": st.fixed_dictionaries({"name": NAMES, "arguments": JSON})}
    ),
    max_size=3,
)


@given(st.lists(st.fixed_dictionaries({"content": JSON, "tool_calls": JSON | CALLS}), max_size=4))
def test_no_reply_makes_judging_raise(replies):
    verdict = judge(CHAIN, *replies)
    assert (verdict.error_type is None) == verdict.correct


@given(JSON, st.dictionaries(st.sampled_from(["x", "id", ""]), JSON))
def test_no_tool_makes_judging_raise(parameters, arguments):
    odd = {"type": "function", "function": {"name": "a", "parameters": parameters}}
    verdict = judge([node("a", x="t"), node(ANSWER, 0)], call("a", **arguments), say(), tools=(odd,))
    assert (verdict.error_type is None) == verdict.correct


@given(JSON | JSON.map(json.dumps))
def test_no_arguments_make_judging_raise(arguments):
    odd = call("a")
    odd["tool_calls"][0]["function"]["arguments"] = arguments
    verdict = judge([node("a", x="t"), node(ANSWER, 0)], odd, say())
    assert verdict.column in (None, *error_classes.PAPER_COLUMNS)
