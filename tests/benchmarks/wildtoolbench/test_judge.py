"""Verdicts: hostile replies never raise, outcomes say what was played, columns say what is known of a task."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.wildtoolbench.build import (
    ANSWER,
    DONE,
    Nodes,
    answer,
    ask,
    call,
    calls,
    item,
    node,
    outcome,
    raw_call,
    says,
    told,
    tool,
    transcript,
    verdict,
)
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.official.arguments import argument_schemas, argument_verdict
from wildtool.types import Message, Transcript, Verdict

PROFILES = ("official", "fixed", "paper")
PROPERTY = settings(deadline=None)

# Hostile replies ------------------------------------------------------------------------------------------------

GOLD: list[Nodes] = [
    [node("a", n=1, text="the quick brown fox jumps"), node("a", n=2), node("b", 0, x=0.5), answer(2)],
    [ask(), node("c", 0, text="短い"), node("d"), answer(1)],
    [answer()],
    [node("a", 1), node("b", 0), answer(1)],
]
NESTED = tool("d", "deep")
NESTED["function"]["parameters"]["properties"]["deep"] = {
    "anyOf": [
        {"type": "object", "properties": {"k": {"type": "array", "items": {"type": "float"}}}},
        {"type": "null"},
    ]
}
ITEM = item(
    *GOLD, english_tools=[tool(name, n="integer", text="string", x="float") for name in "abc"] + [NESTED]
)


def nested(depth: int, *, kind: str = "list") -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if kind == "list" else {"k": value}
    return value


TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
"""Any characters: lone surrogates, control characters, unassigned ones."""
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=True, allow_infinity=True)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS | st.sampled_from(["a", "b", "", " ", ANSWER]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXTS | st.sampled_from(["id", "function", "name", "arguments"]), inner, max_size=4)
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(["a", "a", "b", "c", "d"]) | JSON
GOLD_LIKE = st.fixed_dictionaries(
    {},
    optional={
        "n": JSON | st.sampled_from([1, 2]),
        "text": JSON,
        "x": JSON | st.just(0.5),
        "deep": JSON,
        "zz": JSON,
    },
)
ARGUMENTS = (
    GOLD_LIKE.map(json.dumps)
    | JSON
    | JSON.map(json.dumps)
    | st.sampled_from(
        ["", "{", "[" * 5000, '{"n":' * 5000, '{"n": ' + "9" * 5000 + "}", '{"x": 1e999}', '{"x": NaN}']
    )
)
CALLS = st.builds(raw_call, NAMES, ARGUMENTS, st.just("id") | JSON)
HOSTILE = st.fixed_dictionaries(
    {},
    optional={
        "content": JSON | st.sampled_from(["Done.", "", " "]),
        "tool_calls": st.lists(CALLS, max_size=3) | st.lists(CALLS | JSON, max_size=3) | JSON,
        "reasoning_content": JSON,
        "role": JSON,
    },
)


def judged(profile: str, scripts: Sequence[Sequence[Message]]) -> list[Verdict]:
    """The verdicts on a session; every unit must have one, and a scripted unit always ends."""
    transcripts = {unit: transcript(*s, scripted=True) for unit, s in zip(ITEM.units, scripts, strict=True)}
    found = WILDTOOLBENCH.judge(ITEM, transcripts, profile)
    assert [one.unit for one in found] == list(ITEM.units)
    assert {one.outcome for one in found} <= {"correct", "wrong"}
    assert all((one.error is None) == (one.outcome == "correct") == (one.score == 1.0) for one in found)
    assert all(one.fields.keys() == WILDTOOLBENCH.columns.keys() for one in found)
    return found


@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
def test_any_replies_get_one_verdict_per_unit_and_the_same_again(profile: str) -> None:
    @PROPERTY
    @given(st.lists(st.lists(HOSTILE, max_size=4), min_size=4, max_size=4))
    def holds(scripts: list[list[Message]]) -> None:
        assert repr(judged(profile, scripts)) == repr(judged(profile, scripts))

    holds()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("depth", [70, 300, 900])
def test_deeply_nested_replies_get_a_verdict(depth: int, profile: str) -> None:
    deep = nested(depth)
    replies: list[Message] = [
        says(deep),
        {"tool_calls": deep},
        {"tool_calls": nested(depth, kind="dict")},
        {"tool_calls": [raw_call(deep, "{}"), raw_call(nested(depth), "{}")]},
        {"tool_calls": [raw_call("a", deep, "x"), raw_call("a", nested(depth), "y")]},
        {"tool_calls": [raw_call("a", "[" * depth + "]" * depth)]},
        {"tool_calls": [raw_call("d", json.dumps({"deep": deep}))]},
        {"tool_calls": [raw_call("d", json.dumps({"deep": {"k": deep}}))]},
    ]
    for reply in replies:
        assert len(judged(profile, [[reply, DONE], [says("Which?"), reply, DONE], [reply], [reply]])) == 4


@pytest.mark.parametrize("profile", PROFILES)
def test_a_fitting_call_with_any_argument_text_gets_a_verdict(profile: str) -> None:
    @PROPERTY
    @given(ARGUMENTS, ARGUMENTS)
    def holds(first: Any, second: Any) -> None:
        a_pair = {"tool_calls": [raw_call("a", first, "x"), raw_call("a", second, "y")]}
        nested_one = {"tool_calls": [raw_call("d", first)]}
        scripts = [[a_pair, calls("b"), DONE], [says("Which?"), nested_one, DONE], [DONE], [a_pair]]
        assert len(judged(profile, scripts)) == 4

    holds()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "reply",
    [
        says("x" * 1_000_000),
        calls(raw_call("a", "[" * 1_000_000)),
        calls(call("a", text="word " * 100_000)),
        calls(raw_call("a", '{"n": ' + "1" * 1_000_000 + "}")),
        {"tool_calls": [call("a", f"id{i}") for i in range(20_000)]},
        calls(call("a" * 1_000_000)),
    ],
    ids=[
        "a text of a megabyte",
        "a million brackets",
        "100,000 words",
        "a million digits",
        "20,000 calls",
        "a long name",
    ],
)
def test_a_huge_reply_gets_a_verdict(reply: Message, profile: str) -> None:
    assert len(judged(profile, [[reply, DONE]] * 4)) == 4


@pytest.mark.parametrize("profile", PROFILES)
def test_a_text_of_a_megabyte_is_an_answer_like_any_other(profile: str) -> None:
    assert outcome(profile, [answer()], says("x" * 1_000_000)) == "correct"


# Transcripts -----------------------------------------------------------------------------------------------------

TASK = [node("a", n=1), answer(0)]
RIGHT = calls(call("a", n=1))


def of_one(profile: str, script: Transcript | None, task: Nodes = TASK) -> Verdict:
    return WILDTOOLBENCH.judge(item(task), {} if script is None else {"0": script}, profile)[0]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_unit_without_transcript_is_unplayed(profile: str) -> None:
    found = of_one(profile, None)
    assert (found.outcome, found.score, found.error, found.steps) == ("unplayed", 0.0, None, 0)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_record_that_stops_before_the_walk_does_leaves_the_unit_unplayed(profile: str) -> None:
    found = of_one(profile, transcript(RIGHT))
    assert (found.outcome, found.error, found.steps) == ("unplayed", None, 1)
    assert "the record ends" in found.reason


@pytest.mark.parametrize("profile", PROFILES)
def test_a_failed_call_is_an_infra_error_with_its_reason(profile: str) -> None:
    found = of_one(profile, transcript(RIGHT, infra_error="timeout after 3 tries"))
    assert (found.outcome, found.error, found.score) == ("infra_error", None, 0.0)
    assert found.reason == "timeout after 3 tries"


@pytest.mark.parametrize("profile", PROFILES)
def test_a_failed_call_after_the_end_of_a_walk_does_not_matter(profile: str) -> None:
    assert of_one(profile, transcript(DONE, infra_error="timeout")).outcome == "wrong"
    assert of_one(profile, transcript(RIGHT, DONE, infra_error="timeout")).outcome == "correct"


@pytest.mark.parametrize("profile", PROFILES)
def test_a_scripted_model_is_silent_past_its_end(profile: str) -> None:
    found = of_one(profile, transcript(RIGHT, scripted=True))
    assert (found.outcome, found.steps) == ("wrong", 2)


@pytest.mark.parametrize("profile", PROFILES)
def test_replies_past_the_end_of_a_walk_are_not_read(profile: str) -> None:
    assert of_one(profile, transcript(RIGHT, DONE, RIGHT, {"tool_calls": 7})).steps == 2


def test_a_run_that_official_ended_early_is_unplayed_where_fixed_would_go_on() -> None:
    task = [node("a", n=1), node("a", n=2), node("b"), answer(0, 1, 2)]
    episode, script = (
        WILDTOOLBENCH.rules("official").episode(item(task), "0"),
        [RIGHT, calls("b"), calls(call("a", n=2)), DONE],
    )
    played = list[Message]()
    while episode.request() is not None:
        played.append(script[len(played)])
        episode.advance(played[-1])
    record = transcript(*played)
    assert [of_one(profile, record, task).outcome for profile in ("official", "fixed")] == [
        "wrong",
        "unplayed",
    ]


def test_a_run_that_official_played_past_a_wrong_argument_is_judged_by_fixed_at_that_argument() -> None:
    found = of_one("fixed", transcript(calls(call("a", n=9)), DONE))
    assert (found.outcome, found.steps) == ("wrong", 1)


def test_each_unit_is_judged_by_its_own_transcript() -> None:
    made = item(TASK, [answer()], TASK)
    scripts = {"0": transcript(RIGHT, DONE), "1": transcript(RIGHT)}
    found = WILDTOOLBENCH.judge(made, scripts, "fixed")
    assert [(v.unit, v.outcome) for v in found] == [("0", "correct"), ("1", "wrong"), ("2", "unplayed")]


# Columns ---------------------------------------------------------------------------------------------------------


def fields(profile: str, task: Nodes, *replies: Message, **changes: Any) -> dict[str, Any]:
    return dict(verdict(profile, task, *replies, **changes).fields)


def test_a_task_is_described_before_any_reply() -> None:
    task = [ask(), node("a", 0), node("b", 0), node("c", 1, 2), answer(3)]
    made = item([answer()], task, english_task_types=["Chat", "Clarify"])
    found = WILDTOOLBENCH.judge(made, {}, "fixed")[1].fields
    known = ("task_type", "position", "subtype", "transitions", "gold_calls", "turns", "topology", "nodes")
    assert {name: found[name] for name in known} == {
        "task_type": "Clarify",
        "position": 2,
        "subtype": "Partial Information",
        "transitions": 1,
        "gold_calls": 3,
        "turns": 4,
        "topology": "mixed",
        "nodes": 5,
    }


def test_multi_tool_types_are_one_kind_of_instruction() -> None:
    types = ["Parallel Multi-Tool", "Sequential Multi-Tool", "Chat", "Chat"]
    made = item(*[[answer()]] * 4, english_task_types=types)
    assert WILDTOOLBENCH.judge(made, {}, "fixed")[0].fields["transitions"] == 1


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("Parallel Multi-Tool", "parallel"),
        ("Sequential Multi-Tool", "sequential"),
        ("Mixed Multi-Tool", "mixed"),
        ("Single-Tool", "none"),
        ("Chat", "none"),
    ],
)
def test_q30_official_tells_orchestration_by_the_label_of_the_record(type_: str, kind: str) -> None:
    assert fields("official", TASK, RIGHT, DONE, english_task_types=[type_])["orchestration"] == kind


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ([node("a"), node("b"), answer(0, 1)], "parallel"),
        ([node("a"), node("b", 0), answer(1)], "sequential"),
        ([node("a"), node("b"), node("c", 0, 1), answer(2)], "mixed"),
        (TASK, "single"),
        ([answer()], "none"),
    ],
)
def test_q30_fixed_tells_orchestration_by_the_shape_of_the_graph(task: Nodes, kind: str) -> None:
    assert fields("fixed", task, DONE, english_task_types=["Clarify"])["orchestration"] == kind


@pytest.mark.parametrize("profile", PROFILES)
def test_optimal_needs_the_fewest_steps_and_right_arguments(profile: str) -> None:
    task = [node("a", n=1), node("b", n=2), answer(0, 1)]
    together = calls(call("a", "x", n=1), call("b", "y", n=2))
    wrong = calls(call("a", "x", n=1), call("b", "y", n=300))
    assert fields(profile, task, together, DONE)["optimal"] is True
    assert fields(profile, task, calls(call("a", n=1)), calls(call("b", n=2)), DONE)["optimal"] is False
    assert fields(profile, task, wrong, DONE)["optimal"] is False


def test_a_task_that_the_original_cannot_score_is_not_optimal() -> None:
    found = fields("official", TASK, calls(raw_call("a", None)), DONE)
    assert (found["reference_error"] is not None, found["optimal"]) == (True, False)


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_nodes_done_are_those_before_the_fault(profile: str) -> None:
    task = [node("a", n=1), node("b", 0, n=2), node("c", 1), answer(2)]
    replies = calls(call("a", n=1)), calls(call("b", n=300)), calls("c"), DONE
    assert fields(profile, task, *replies)["nodes_done"] == 1


def test_fixed_shows_where_arguments_differ() -> None:
    found = verdict("fixed", TASK, calls(call("a", n=300)))
    (difference,) = found.detail["differences"]
    assert (difference["path"], difference["rule"]) == ("n", "number")


def test_official_shows_its_checks_and_the_step_it_removes() -> None:
    found = verdict("official", TASK, calls(call("a", n=300)), DONE)
    assert found.detail["steps"] == [
        {"matched": [0], "correct": True, "checks": ["error_match: value mismatch at 'n'"]},
        {"matched": [1], "correct": True, "deleted": True},
    ]


def test_a_walk_is_not_changed_by_a_request() -> None:
    episode = WILDTOOLBENCH.rules("fixed").episode(item(TASK), "0")
    assert episode.request() == episode.request()
    told(episode, RIGHT, DONE)
    assert episode.request() is None


def checked(schema: Any, value: Any, name: str = "f") -> str:
    parameters = {"type": "object", "properties": {"v": schema}}
    tools = [{"function": {}}, {"function": {"name": "f", "parameters": parameters}}]
    text = value if isinstance(value, str) else json.dumps({"v": value})
    return argument_verdict(argument_schemas(tools), name, text, json.dumps({"v": value}))


def test_the_first_branch_that_accepts_ends_the_search() -> None:
    assert checked({"anyOf": [{"type": "integer"}, {"anyOf": []}]}, 5) == "correct"


def test_a_tool_without_name_is_left_out() -> None:
    assert checked({"type": "integer"}, 5) == "correct"


def test_a_tool_that_is_missing_raises_before_the_arguments_are_read() -> None:
    with pytest.raises(KeyError, match="g"):
        checked({}, "{", name="g")
