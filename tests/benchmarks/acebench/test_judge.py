"""ACEBench's verdicts: what of a reply is judged by which rules, and what stands in a row."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.acebench.reply_build import item, normal, special, tool
from benchmarks.acebench.sandbox_build import edition, record
from long import a_fiftieth_of
from wildtool.alter.variant import Variant
from wildtool.benchmarks.acebench import ACEBENCH, error_classes
from wildtool.benchmarks.acebench.check import short_repr
from wildtool.benchmarks.acebench.data import FINANCE, MULTI_TURN, SPECIAL, ItemData
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.engine.score.verdict_table import RunInfo, VerdictTable, relation
from wildtool.types import Item, Message, Reply, Transcript, Verdict

PROFILES = ("official", "fixed")
MODES = ("text", "condensed", "minimal", "fc")
NUMBER = (tool(a={"type": "integer"}),)
WORD = (tool(a={"type": "string"}),)
MISSING = '["Missing necessary parameters (a) for the api (f)"]'
INCORRECT = '["There is incorrect value (x) for the parameters (a) in the conversation history."]'
LIMITS = '["Due to the limitations of the function, I cannot solve this problem."]'


def transcript(*messages: Message | str, **ending: Any) -> Transcript:
    said = [m if isinstance(m, dict) else {"role": "assistant", "content": m} for m in messages]
    return Transcript(tuple(Reply(message) for message in said), **ending)


def calling(name: str = "f", arguments: str = '{"a": 1}', content: Any = None) -> Message:
    function = {"name": name, "arguments": arguments}
    return {"content": content, "tool_calls": [{"id": "1", "type": "function", "function": function}]}


def judge(
    judged: Any, *messages: Message | str, profile: str = "official", mode: str = "text", **ending: Any
) -> Verdict:
    """The verdict on the only unit of an item."""
    made = judged if isinstance(judged, Item) else item(judged)
    (found,) = ACEBENCH.in_mode(mode).judge(made, {"0": transcript(*messages, **ending)}, profile)
    return found


# A row -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_the_gold_call_is_correct(profile: str) -> None:
    found = judge(normal(functions=NUMBER), "[f(a=1)]", profile=profile)
    assert (found.outcome, found.score, found.error, found.steps) == ("correct", 1.0, None, 1)


def test_a_long_value_is_cut_in_a_reason() -> None:
    assert [short_repr("x" * size) for size in (118, 119)] == [f"'{'x' * 118}'", f"'{'x' * 119}…"]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_wrong_reply_has_a_class_and_the_evaluators_own_type(profile: str) -> None:
    found = judge(normal({"f": {"a": "x"}}, functions=WORD), "[f(a='y')]", profile=profile)
    assert (found.outcome, found.score, found.error) == ("wrong", 0.0, error_classes.PARAM_VALUE)
    assert found.steps == 1
    assert str(found.fields["error_label"]).startswith("value_error")


def test_a_row_says_where_its_unit_belongs() -> None:
    turns = [normal(category=MULTI_TURN[0], dialogue=7, turn=turn, functions=NUMBER) for turn in (0, 1)]
    found = ACEBENCH.judge(item(*turns), {}, "official")
    assert [(v.unit, v.fields["section"], v.fields["dialogue"], v.fields["turn"]) for v in found] == [
        ("0", "Normal", 7, 0),
        ("1", "Normal", 7, 1),
    ]


def test_turns_of_a_dialogue_are_judged_one_by_one() -> None:
    turns = [normal(category=MULTI_TURN[0], turn=turn, functions=NUMBER) for turn in (0, 1)]
    scripts = {"0": transcript("[f()]"), "1": transcript("[f(a=1)]")}
    found = ACEBENCH.judge(item(*turns), scripts, "official")
    assert [verdict.outcome for verdict in found] == ["wrong", "correct"]


def test_a_later_candidate_leaves_the_error_entry_of_the_first() -> None:
    pool = normal({"f": {"a": "x"}}, {"f": {"a": "y"}}, functions=WORD)
    found = judge(pool, "[f(a='y')]")
    assert (found.outcome, found.fields["stray_error"]) == ("correct", "value_error:string")


def test_a_reply_on_which_the_original_raises_is_wrong_and_says_so() -> None:
    found = judge(normal(functions=(tool(a={"type": "mystery"}),)), "[f(a=1)]")
    assert (found.outcome, found.error) == ("wrong", error_classes.UNUSABLE_GOLD)
    assert "KeyError" in str(found.fields["reference_error"])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("wrong_output_format", error_classes.OUTPUT_FORMAT),
        ("wrong functions number", error_classes.FUNCTION_NAME),
        ("function_mismatch", error_classes.FUNCTION_NAME),
        ("wrong_function_name", error_classes.FUNCTION_NAME),
        ("type_error", error_classes.PARAM_TYPE),
        ("value_error", error_classes.PARAM_VALUE),
        ("value_error:list_dict_count", error_classes.PARAM_VALUE),
        ("lack_args", error_classes.PARAM_SET),
        ("addition_args", error_classes.PARAM_SET),
        ("wrong_param", error_classes.PARAM_SET),
        ("simple_function_checker:unclear", error_classes.UNCLEAR),
        ("error_detection", error_classes.ERROR_DETECTION),
        ("error_correction", error_classes.ERROR_CORRECTION),
    ],
)
def test_every_type_of_the_evaluator_has_a_class(error: str, expected: str) -> None:
    assert error_classes.class_of(error) == expected


# Records that end early ------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_a_unit_without_reply_is_unplayed(profile: str) -> None:
    found = judge(normal(), profile=profile)
    assert (found.outcome, found.score, found.error, found.steps) == ("unplayed", 0.0, None, 0)


def test_a_call_that_failed_for_good_is_an_infra_error() -> None:
    found = judge(normal(), infra_error="timeout")
    assert (found.outcome, found.reason) == ("infra_error", "timeout")


def test_a_script_without_an_answer_says_nothing() -> None:
    found = judge(normal(), scripted=True)
    assert (found.outcome, found.error) == ("wrong", error_classes.OUTPUT_FORMAT)


# What is read of a reply -----------------------------------------------------------------------------

PARTS = {"content": [{"type": "text", "text": "[f("}, {"type": "image"}, {"type": "text", "text": "a=1)]"}]}
THOUGHT = "<think>[g()]</think>\n[f(a=1)]"


@pytest.mark.parametrize("reply", [PARTS, THOUGHT], ids=["parts", "thoughts"])
@pytest.mark.parametrize(("profile", "outcome"), [("official", "wrong"), ("fixed", "correct")])
def test_only_fixed_joins_text_parts_and_cuts_thoughts(
    profile: str, outcome: str, reply: Message | str
) -> None:
    found = judge(normal(functions=NUMBER), reply, profile=profile)
    assert found.outcome == outcome


@pytest.mark.parametrize("content", [None, 5, {"text": "[f(a=1)]"}, []])
@pytest.mark.parametrize("profile", PROFILES)
def test_a_reply_without_text_has_no_calls(profile: str, content: Any) -> None:
    found = judge(normal(functions=NUMBER), {"content": content}, profile=profile)
    assert (found.outcome, found.error) == ("wrong", error_classes.OUTPUT_FORMAT)


def test_native_calls_do_not_count_where_text_was_asked_for() -> None:
    assert judge(normal(functions=NUMBER), calling()).outcome == "wrong"


def test_only_fixed_compares_numbers() -> None:
    outcomes = [judge(normal(functions=NUMBER), "[f(a=2)]", profile=profile).outcome for profile in PROFILES]
    assert outcomes == ["correct", "wrong"]


# Native calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_native_calls_are_judged_by_the_rules_of_written_ones(profile: str) -> None:
    asked = normal({"f": {"a": "x"}}, functions=WORD)
    right, wrong, other = (
        judge(asked, reply, profile=profile, mode="fc")
        for reply in (calling(arguments='{"a": "x"}'), calling(arguments='{"a": "y"}'), calling("g"))
    )
    assert (right.outcome, wrong.error, other.error) == (
        "correct",
        error_classes.PARAM_VALUE,
        error_classes.FUNCTION_NAME,
    )


@pytest.mark.parametrize("reply", ["[f(a=1)]", calling(arguments="{"), {"tool_calls": "f"}])
@pytest.mark.parametrize("profile", PROFILES)
def test_without_readable_native_calls_the_format_is_wrong(profile: str, reply: Message | str) -> None:
    found = judge(normal(functions=NUMBER), reply, profile=profile, mode="fc")
    assert (found.outcome, found.error) == ("wrong", error_classes.OUTPUT_FORMAT)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_call_where_a_problem_was_to_be_reported_is_not_detected(profile: str) -> None:
    asked = special(f=["a"])
    assert judge(asked, MISSING, profile=profile, mode="fc").outcome == "correct"
    found = judge(asked, calling(content=MISSING), profile=profile, mode="fc")
    assert (found.outcome, found.error) == ("wrong", error_classes.ERROR_DETECTION)


# Special ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("category", "gold", "right"),
    [
        ("special_incomplete", {"f": ["a"]}, MISSING),
        ("special_error_param", {"a": ["x"]}, INCORRECT),
        ("special_irrelevant", {}, LIMITS),
    ],
)
@pytest.mark.parametrize("profile", PROFILES)
def test_each_problem_has_its_message(profile: str, category: str, gold: Any, right: str) -> None:
    asked = special(category, **gold)
    for reply in (MISSING, INCORRECT, LIMITS):
        found = judge(asked, reply, profile=profile)
        expected = ("correct", None) if reply == right else ("wrong", error_classes.ERROR_DETECTION)
        assert (found.outcome, found.error) == expected


@pytest.mark.parametrize("profile", PROFILES)
def test_a_message_that_names_something_else_is_not_corrected(profile: str) -> None:
    found = judge(special(f=["b"]), MISSING, profile=profile)
    assert (found.outcome, found.error) == ("wrong", error_classes.ERROR_CORRECTION)


# Episodes --------------------------------------------------------------------------------------------

WIFI_ON = ({"BaseApi": {"wifi": True, "logged_in": True}},)
STEPS = ("[turn_on_wifi()]", "[login_device()]")


def episode(*, multi_turn: bool = False, category: str = "", end_state: Any = WIFI_ON) -> Item:
    """Wifi off, logged in; gold turns the wifi on."""
    kind = category or ("agent_multi_turn" if multi_turn else "agent_multi_step")
    made = replace(
        record(*STEPS, classes=("BaseApi",)),
        category=kind,
        initial_config={"BaseApi": {"wifi": False, "logged_in": True}},
        end_state=end_state,
    )
    return item(made, edition=edition())


@pytest.mark.parametrize("profile", PROFILES)
def test_an_episode_is_right_if_it_ends_in_the_gold_state(profile: str) -> None:
    found = judge(episode(), STEPS[0], END_MARK, profile=profile)
    assert (found.outcome, found.score) == ("correct", 1.0)
    assert (found.fields["process"], found.fields["error_label"]) == (1.0, None)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_wrong_episode_scores_its_milestones_and_has_a_class(profile: str) -> None:
    wrong_state = ({"BaseApi": {"wifi": True, "logged_in": False}},)
    found = judge(episode(end_state=wrong_state), STEPS[0], END_MARK, profile=profile)
    assert (found.outcome, found.score, found.fields["process"]) == ("wrong", 0.5, 0.5)
    assert found.error in error_classes.AGENT_CLASSES
    assert found.fields["error_label"] == "class attributes wrong"


@pytest.mark.parametrize("profile", PROFILES)
def test_a_wrong_episode_without_milestones_has_a_class_too(profile: str) -> None:
    asked = replace(
        record(classes=("BaseApi",)),
        initial_config={"BaseApi": {"wifi": False, "logged_in": True}},
        end_state=({"BaseApi": {"wifi": False, "logged_in": True}},),
    )
    verdict = judge(item(asked, edition=edition()), STEPS[0], END_MARK, profile=profile)
    reason = "turn_on_wifi ran although all was done without it"
    assert (verdict.error, verdict.reason) == (error_classes.RULE_VIOLATION, reason)


def test_steps_are_replies_of_the_model_under_test_alone() -> None:
    found = judge(episode(multi_turn=True), "Wifi, please.", STEPS[0], "Done.", END_MARK)
    assert (found.outcome, found.steps) == ("correct", 2)


def test_an_episode_whose_record_stops_is_unplayed() -> None:
    for asked, replies in ((episode(), STEPS[:1]), (episode(multi_turn=True), ("Wifi, please.", STEPS[0]))):
        found = judge(asked, *replies)
        assert (found.outcome, found.score, found.steps) == ("unplayed", 0.0, 1)


def test_finance_episodes_are_of_a_section_of_their_own() -> None:
    found = judge(episode(category=FINANCE[0]), STEPS[0], END_MARK)
    assert (found.outcome, found.fields["section"]) == ("correct", "Agent finance")


@pytest.mark.parametrize("profile", PROFILES)
def test_an_episode_can_be_played_with_native_calls(profile: str) -> None:
    replies = (calling("turn_on_wifi", "{}"), END_MARK)
    assert judge(episode(), *replies, profile=profile, mode="fc").outcome == "correct"
    assert judge(episode(), END_MARK, profile=profile, mode="fc").outcome == "wrong"


# Hostile replies -------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
HOSTILE = (
    "\ud800",
    "\x00",
    "x" * 200_000,
    "<think>",
    "</think>" * 9,
    "[" * 10_000,
    "[f(**{1: 2})]",
    "[f(a=9**9**9**9)]",
    "[__import__('os').system('x')]",
    "[f(a=().__class__)]",
    f"[f(a={'-' * 5_000}1)]",
)
TEXTS = st.text() | st.sampled_from(HOSTILE)
CALLS = st.lists(
    st.fixed_dictionaries({"function": st.fixed_dictionaries({"name": TEXTS, "arguments": TEXTS})}) | VALUES,
    max_size=3,
)
MESSAGES = st.fixed_dictionaries({}, optional={"content": TEXTS | VALUES, "tool_calls": CALLS | VALUES})
ITEMS = (
    item(normal(functions=NUMBER)),
    *(item(special(category, f=["a"])) for category in SPECIAL),
    episode(),
    episode(multi_turn=True),
)


@settings(max_examples=a_fiftieth_of(1_000), deadline=None)
@given(st.sampled_from(ITEMS), st.lists(MESSAGES, min_size=1, max_size=4), st.sampled_from(MODES))
def test_no_reply_makes_judging_raise(asked: Item, replies: list[Message], mode: str) -> None:
    for profile in PROFILES:
        found = judge(asked, *replies, profile=profile, mode=mode, scripted=True)
        assert found.outcome in ("correct", "wrong")


@pytest.mark.parametrize("profile", PROFILES)
def test_verdicts_on_hostile_replies_can_be_written_and_summarized(profile: str, tmp_path: Path) -> None:
    player = RunInfo(run="r", model="m", benchmark="acebench", profile=profile)
    with VerdictTable(tmp_path / "v.parquet", Variant(ACEBENCH)) as table:
        for asked in ITEMS:
            for order, reply in enumerate(HOSTILE):
                made = replace(asked, id=f"{asked.id}{order}")
                table.add(order, player, made, 0, [judge(made, reply, profile=profile, scripted=True)], {})
        found = ACEBENCH.summarize(relation([table.write()]), profile)
    rights = {m.name: m.numerator for m in found if m.group == "categories (en)" and "(" not in m.name}
    assert set(rights) == {asked.split for asked in ITEMS}
    assert set(rights.values()) == {0}


def test_a_wrong_episode_says_where_its_end_state_differs() -> None:
    found = judge(episode(end_state=({"BaseApi": {"wifi": False, "logged_in": True}},)), STEPS[0], END_MARK)
    assert "wifi" in str(found.detail["end_state"])


def test_a_right_end_state_that_the_original_cannot_write_is_not_scorable() -> None:
    gold = ({"BaseApi": {"wifi": True, "logged_in": True}}, {"MessageApi": {"inbox": {}}})
    asked = replace(record(classes=("BaseApi", "MessageApi")), end_state=gold)
    episode = Item("en/x", ("0",), ItemData((asked,), edition()))

    def judged(text: str) -> Verdict:
        sent = f"[send_message(sender_name='Ann', receiver_name='Bob', message={text})]"
        told = transcript({"content": sent}, {"content": "[turn_on_wifi()]"}, {"content": END_MARK})
        (verdict,) = ACEBENCH.judge(episode, {"0": told}, "official")
        return verdict

    assert (judged("'x'").outcome, judged("'x'").fields.get("reference_error")) == ("correct", None)
    verdict = judged("b'x'")
    assert (verdict.outcome, verdict.score, verdict.error) == ("wrong", 0.0, error_classes.CALL_ERROR)
    assert verdict.fields["reference_error"] == "TypeError: Object of type bytes is not JSON serializable"
    assert (verdict.fields["process"], verdict.fields["error_label"]) == (0.0, "reference_error")


@pytest.mark.parametrize("content", [["x"], {"a": 1}, 5, False])
def test_a_normal_reply_that_is_no_text_has_the_wrong_format(content: Any) -> None:
    (verdict,) = ACEBENCH.judge(item(normal()), {"0": transcript({"content": content})}, "official")
    assert (verdict.error, verdict.fields["error_label"]) == ("Output Format", "wrong_output_format")


_LEAVES = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_a_special_reply_that_is_no_text_is_searched_as_python_does(content: Any) -> None:
    (verdict,) = ACEBENCH.judge(item(special()), {"0": transcript({"content": content})}, "official")
    try:
        found = "Missing necessary parameters" in content
        raised = None
    except TypeError as error:
        found, raised = False, f"TypeError: {error}"
    assert not found
    assert (verdict.outcome, verdict.fields["reference_error"]) == ("wrong", raised)
