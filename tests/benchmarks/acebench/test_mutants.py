"""The audit of ACEBench: which mistakes are put into gold answers, and why a profile lets some pass."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.acebench import sandbox_build as sandbox
from benchmarks.acebench.reply_build import item, normal, special, tool
from wildtool.benchmark import Mutant
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.audit.argument_mutants import argument_mutants
from wildtool.benchmarks.acebench.audit.episode_mutants import end_state, script_of
from wildtool.data.data_set import data_of
from wildtool.types import Item, Reply, Transcript

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def mutants(one: Item, profile: str = "fixed", mode: str = "text") -> list[Mutant]:
    return list(ACEBENCH.in_mode(mode).rules(profile).mutants(one))


def survivors(one: Item, profile: str, mode: str = "text") -> Counter[tuple[str, str]]:
    """Kind and explanation of each mutant that is not judged wrong."""
    bench = ACEBENCH.in_mode(mode)
    found: Counter[tuple[str, str]] = Counter()
    for mutant in bench.rules(profile).mutants(one):
        script = Transcript(tuple(map(Reply, mutant.replies)), scripted=True)
        verdicts = bench.judge(one, {mutant.unit: script}, profile)
        if not any(v.unit == mutant.unit and v.outcome == "wrong" for v in verdicts):
            found[mutant.kind, bench.rules(profile).explain(one, mutant)] += 1
    return found


def reasons(one: Item, kind: str) -> set[str]:
    """The quirks by which the official profile lets mutants of a kind pass."""
    return {why.partition(" ")[0] for name, why in survivors(one, "official") if name == kind}


def of_one_call(**arguments: Any) -> Item:
    """A record whose gold is one call of `f` with these (schema, value) arguments, all optional."""
    function = tool(**{name: schema for name, (schema, _) in arguments.items()})
    gold = {"f": {name: value for name, (_, value) in arguments.items()}}
    return item(normal(gold, functions=(function, tool("g"))))


# Calls -----------------------------------------------------------------------------------------------


def test_mutants_of_calls_are_written_in_the_mode_of_the_benchmark():
    one = of_one_call(a=(NUMBER, 5))
    (text,) = [m for m in mutants(one) if m.kind == "other function"]
    assert text.replies[0]["content"] == "[g(a=5)]"
    (native,) = [m for m in mutants(one, mode="fc") if m.kind == "other function"]
    assert native.replies[0]["tool_calls"][0]["function"] == {"name": "g", "arguments": '{"a": 5}'}


@pytest.mark.parametrize("mode", ["text", "fc"])
def test_fixed_lets_no_mistake_in_a_call_pass(mode: str):
    one = of_one_call(
        a=(NUMBER, 5),
        b=(TEXT, "blue sky 17"),
        c=({"type": "boolean"}, True),
        d=({"type": "object", "properties": {"x": NUMBER}}, {"x": 4}),
        e=({"type": "array", "items": TEXT}, ["red", "green"]),
        f=({"type": "string", "enum": ["low", "high"]}, "low"),
    )
    assert len(mutants(one, mode=mode)) > 30
    assert survivors(one, "fixed", mode) == Counter()


def test_a_number_that_official_does_not_compare_passes_by_q11():
    assert reasons(of_one_call(a=(NUMBER, 5)), "wrong number") == {"Q11"}


def test_a_number_of_another_type_than_declared_passes_by_q12():
    assert reasons(of_one_call(a=({"type": "number"}, 0.5)), "wrong number") == {"Q12"}


def test_the_text_true_passes_for_a_boolean_by_q13():
    assert reasons(of_one_call(a=({"type": "boolean"}, True)), "wrong type") == {"Q13"}


def test_a_negated_text_passes_by_q15():
    assert reasons(of_one_call(a=(TEXT, "blue")), "text negated") == {"Q15"}


def test_a_longer_number_in_an_object_passes_by_q16():
    one = of_one_call(a=({"type": "object", "properties": {"x": NUMBER}}, {"x": 4}))
    assert reasons(one, "digit added to a number") == {"Q16"}


def test_an_optional_argument_left_out_passes_by_q23():
    assert reasons(of_one_call(a=(TEXT, "x"), b=(TEXT, "y")), "optional argument left out") == {"Q23"}


def test_one_call_passes_for_two_that_differ_in_a_number_by_q30():
    gold = {"f_1": {"a": 1}, "f_2": {"a": 2}}
    one = item(normal(gold, functions=(tool(a=NUMBER),)))
    assert "Q11" in reasons(one, "one call for two")
    assert survivors(one, "fixed") == Counter()


def test_a_call_with_the_texts_of_two_passes_beside_nonsense_by_q30():
    gold = {"f_1": {"a": "red"}, "f_2": {"a": "blue"}}
    one = item(normal(gold, functions=(tool(a=TEXT),)))
    assert {why for _, why in survivors(one, "official") if "Q30" in why}
    assert survivors(one, "fixed") == Counter()


@pytest.mark.parametrize(
    ("second", "merged"),
    [
        ({"a": "blue", "n": 1}, ["[f(a='red blue', n=1), f(a='zzyzx', n=1)]"]),
        ({"a": "blue", "n": 2}, []),
        ({"a": 5, "n": 1}, []),
        ({"a": "blue"}, []),
    ],
)
def test_two_calls_in_one_have_the_texts_in_their_order(second: dict[str, Any], merged: list[str]):
    for gold, expected in (
        ({"f_1": {"a": "red", "n": 1}, "f_2": second}, merged),
        (
            {"f_1": second, "f_2": {"a": "red", "n": 1}},
            [text.replace("red blue", "blue red") for text in merged],
        ),
    ):
        one = item(normal(gold, functions=(tool(a=TEXT, n=NUMBER),)))
        found = [mutant for mutant in mutants(one) if mutant.kind == "two calls in one"]
        assert [mutant.replies[0]["content"] for mutant in found] == expected


def test_another_candidate_is_no_mistake():
    one = item(normal({"f": {"a": True}}, {"f": {"a": False}}, functions=(tool(a={"type": "boolean"}),)))
    assert "wrong boolean" not in {mutant.kind for mutant in mutants(one)}


def test_to_leave_out_a_documented_default_is_no_mistake():
    whole = {"type": "integer", "default": 5}
    schema = {"properties": {"a": whole, "b": {"type": "integer"}, "c": whole}}
    gold = {"a": 5, "b": 5, "c": 6}
    left_out = [note for kind, _, note in argument_mutants(gold, schema) if "left out" in kind]
    assert left_out == ["b", "c"]


def test_of_a_gold_answer_that_is_refused_no_mutants_are_tried():
    nested = {"type": "array", "items": {"type": "object"}}
    refused = of_one_call(a=(nested, [{"x": ["New York"]}]))
    assert mutants(refused, "official-2025-08") == []
    assert mutants(refused, "official") != []
    assert mutants(refused, "fixed") != []
    assert ACEBENCH.rules("official-2025-08").explain_gold(refused, "0").startswith("Q1 ")


# Messages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["text", "fc"])
@pytest.mark.parametrize(
    "record",
    [
        special("special_incomplete", f=["date", "dueDate"]),
        special("special_error_param", team=["Lions#7"]),
        special("special_irrelevant"),
    ],
)
def test_fixed_lets_no_mistake_in_a_message_pass(record: Any, mode: str):
    assert len(mutants(item(record), mode=mode)) >= 7
    assert survivors(item(record), "fixed", mode) == Counter()


def test_listing_every_parameter_is_a_mistake_only_where_one_of_them_was_given():
    inside = {"type": "array", "items": {"properties": {"city": {}}}}
    function = {"name": "f", "parameters": {"properties": {"date": {}, "legs": inside}}}
    gold = {("date",): True, ("legs",): True, ("date", "legs"): False, ("date", "city"): False}
    for missing, expected in gold.items():
        record = replace(special("special_incomplete", f=list(missing)), functions=(function,))
        kinds = {mutant.kind for mutant in mutants(item(record))}
        assert ("all parameters listed" in kinds) == expected, missing


def test_all_messages_at_once_pass_by_q42():
    one = item(special("special_error_param", team=["Lions#7"]))
    passed = survivors(one, "official")
    assert {
        "all three messages",
        "longer value",
        "parameter not named",
        "other parameter",
        "parameter only beside the message",
        "value and parameter exchanged",
        "call beside the message",
        "call in another format beside the message",
    } == {kind for kind, _ in passed}
    assert {why[:3] for _, why in passed} == {"Q42"}


# Episodes --------------------------------------------------------------------------------------------


def episode(*milestones: str) -> Item:
    """An episode of the small sandbox whose end state is the one that the milestones lead to."""
    names = ("turn_on_wifi", "send_message", "login_device")
    functions = tuple({"name": name, "description": "", "parameters": {}} for name in names)
    start = {"BaseApi": {"wifi": False, "logged_in": True}}
    blank = replace(sandbox.record(*milestones), functions=functions, initial_config=start)
    state = end_state(blank, sandbox.edition(), script_of(milestones))
    return item(replace(blank, end_state=tuple(map(dict, state))), edition=sandbox.edition())


SEND = "[send_message(sender_name='Ann', receiver_name='Bob', message='The price is 5 yuan')]"


def test_fixed_lets_only_a_missing_end_pass_in_an_episode():
    one = episode("[turn_on_wifi()]", SEND)
    kinds = {mutant.kind for mutant in mutants(one)}
    assert {"step left out", "one digit of a text", "finished at once", "end left out"} <= kinds
    assert {kind: why[:20] for kind, why in survivors(one, "fixed")} == {
        "end left out": "documented tolerance"
    }


def test_a_step_without_effect_may_be_left_out_and_repeated():
    kinds = {
        mutant.kind for mutant in mutants(episode("[login_device()]", "[turn_on_wifi()]", "[turn_on_wifi()]"))
    }
    assert kinds.isdisjoint({"step left out", "step repeated"})


def test_a_message_too_many_is_a_mistake_only_where_the_inbox_has_room_for_it():
    assert "entry added" in {mutant.kind for mutant in mutants(episode("[turn_on_wifi()]"))}
    assert "entry added" not in {mutant.kind for mutant in mutants(episode("[turn_on_wifi()]", SEND))}


def test_another_message_passes_by_q50():
    assert reasons(episode("[turn_on_wifi()]"), "entry added") == {"Q50"}


def test_a_class_with_a_misspelt_name_passes_by_q49():
    right = episode("[turn_on_wifi()]", SEND)
    record = right.data.records[0]
    misspelt = tuple(
        {name.replace("MessageApi", "MessageAPI"): state for name, state in entry.items()}
        for entry in record.end_state
    )
    one = item(replace(record, end_state=misspelt), edition=sandbox.edition())
    assert "Q49" in reasons(one, "step left out")


# Official data ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_on_the_official_messages_fixed_notices_all_and_official_misses_only_by_q42(official: Path):
    bench = ACEBENCH
    found: Counter[tuple[str, str]] = Counter()
    for profile in ("official", "fixed"):
        for one in bench.load(data_of(bench).locate(str(official)), split="special"):
            found.update((profile, why[:3]) for _, why in survivors(one, profile))
    assert found.keys() == {("official", "Q42")}
