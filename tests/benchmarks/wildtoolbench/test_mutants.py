"""The audit of a profile: gold is right, each mutant is wrong, and what an unsound profile lets pass is explained."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.wildtoolbench.build import (
    ANSWER,
    ASK,
    TOOLS,
    Nodes,
    answer,
    ask,
    item,
    node,
    tool,
    transcript,
)
from golden_files import same_as_golden
from wildtool.benchmark import Mutant
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.benchmarks.wildtoolbench.judge import RULES
from wildtool.benchmarks.wildtoolbench.mutants import mutants
from wildtool.episode import gold_replies
from wildtool.toolcall.mutations import value_mutants
from wildtool.types import Item, Message

# The embedded set ---------------------------------------------------------------------------------------------


@cache
def mini() -> tuple[Item, ...]:
    return tuple(WILD_MINI.load(WILD_MINI.data.locate(None)))


def outcome(item_: Item, unit: str, replies: Iterator[Message] | tuple[Message, ...], profile: str) -> str:
    verdicts = WILD_MINI.judge(item_, {unit: transcript(*replies, scripted=True)}, profile)
    return next(verdict.outcome for verdict in verdicts if verdict.unit == unit)


@cache
def tried(profile: str) -> tuple[tuple[Item, Mutant, str], ...]:
    """Every mutant of a quarter of the embedded set with its outcome."""
    found = tuple(
        (one, mutant, outcome(one, mutant.unit, mutant.replies, profile))
        for one in mini()[::4]
        for mutant in WILD_MINI.rules(profile).mutants(one)
    )
    assert found
    return found


@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
@pytest.mark.parametrize("style", ["parallel", "serial"])
def test_gold_is_right(style: str, profile: str) -> None:
    found = Counter(
        outcome(
            one, unit, tuple(gold_replies(WILD_MINI.rules(profile).episode(one, unit), style) or []), profile
        )
        for one in mini()
        for unit in one.units
    )
    assert found == {"correct": 128}


def test_fixed_fails_every_mutant() -> None:
    survivors = [(one.id, m.unit, m.kind, m.note) for one, m, got in tried("fixed") if got != "wrong"]
    assert survivors == []


def test_what_official_lets_pass_is_explained_by_a_known_fault() -> None:
    survivors = [(one, mutant) for one, mutant, got in tried("official") if got != "wrong"]
    assert survivors, "official is known to let mistakes pass"
    unexplained = [
        (m.kind, m.note) for one, m in survivors if not WILD_MINI.rules("official").explain(one, m)
    ]
    assert unexplained == []


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_every_mutant_differs_from_the_gold_run(profile: str) -> None:
    gold = {
        (one.id, unit): gold_replies(WILD_MINI.rules(profile).episode(one, unit)) or []
        for one in mini()
        for unit in one.units
    }
    for one, mutant, _ in tried(profile):
        assert list(mutant.replies) != gold[one.id, mutant.unit], mutant


def test_the_embedded_set_has_mutants_of_every_kind_of_step() -> None:
    kinds = {mutant.kind for _, mutant, _ in tried("fixed")}
    assert {"wrong name", "extra call", "dropped call", "swapped steps", "question left out"} <= kinds
    assert {"wrong number", "other text", "required argument left out", "swapped values"} <= kinds


# Mutants of runs -------------------------------------------------------------------------------------------------


def kinds_of(task: Nodes, **changes: Any) -> Counter[str]:
    return Counter(mutant.kind for mutant in mutants(RULES["fixed"], item(task, **changes)))


def test_an_answer_may_be_empty_blank_called_missing_or_replaced_by_a_call() -> None:
    assert kinds_of([answer()]) == {
        "empty answer": 2,
        "call instead of answer": 1,
        "call in text instead of answer": 1,
        "call in text after answer": 1,
        "answer called as a tool": 1,
        "silent at the end": 1,
    }


def test_a_question_may_be_left_out() -> None:
    kinds = kinds_of([ask(), answer(0)])
    assert (kinds["question left out"], kinds["empty question"], kinds["question called as a tool"]) == (
        1,
        2,
        1,
    )


def test_a_call_may_be_dropped_only_beside_another() -> None:
    assert kinds_of([node("a"), answer(0)])["dropped call"] == 0
    assert kinds_of([node("a"), node("b"), answer(0, 1)])["dropped call"] == 2


def test_steps_are_swapped_and_merged_where_calls_follow_calls() -> None:
    kinds = kinds_of([node("a"), node("b", 0), node("c", 1), answer(2)])
    assert (kinds["swapped steps"], kinds["dependent calls at once"]) == (2, 2)
    assert kinds_of([node("a"), node("b"), answer(0, 1)])["swapped steps"] == 0


def test_steps_are_swapped_in_their_place() -> None:
    chain = [node("a"), *(node(name, number) for number, name in enumerate("bcd")), answer(3)]
    runs = [
        [reply["tool_calls"][0]["function"]["name"] for reply in mutant.replies[:-1]]
        for mutant in mutants(RULES["fixed"], item(chain))
        if mutant.kind == "swapped steps"
    ]
    assert ["".join(run) for run in runs] == ["bacd", "acbd", "abdc"]


def test_two_equal_steps_are_not_swapped() -> None:
    assert kinds_of([node("a", n=1), node("a", 0, n=1), answer(1)])["swapped steps"] == 0


def test_a_session_without_tools_has_mutants() -> None:
    assert kinds_of([answer()], english_tools=[])["call instead of answer"] == 0


def test_a_name_is_exchanged_for_one_of_the_list_and_for_one_of_no_list() -> None:
    made = list(mutants(RULES["fixed"], item([node("a"), answer(0)])))
    called = {
        m.kind: m.replies[0]["tool_calls"][0]["function"]["name"] for m in made if m.kind.endswith(" name")
    }
    assert called["wrong name"] in {tool_["function"]["name"] for tool_ in TOOLS} - {"a"}
    assert called["unknown name"] not in {tool_["function"]["name"] for tool_ in TOOLS}


def test_a_mutant_says_what_was_changed() -> None:
    notes = {m.kind: m.note for m in mutants(RULES["fixed"], item([node("a", n=3), answer(0)]))}
    assert notes["wrong number"] == "a: n: 3 -> -3"
    assert notes["wrong name"] == "b for a"
    texts = [
        str(mutant.replies[0].get("tool_calls"))
        for mutant in mutants(RULES["fixed"], item([node("a", text="été"), answer(0)]))
    ]
    assert any('"text": "été' in text for text in texts) and "u00e9" not in "".join(texts)


def written(reply: Message) -> str:
    """A reply in one text: what it says, and its calls with the ends of their ids."""
    entries = reply.get("tool_calls") or ()
    functions = [(entry.get("id", "no id")[-3:], *entry["function"].values()) for entry in entries]
    return " ".join([f"{reply['content']!r}", *(f"{id_}:{name}{sent}" for id_, name, sent in functions)])


def test_the_mutants_of_a_session_are_whole_runs_with_one_mistake_each() -> None:
    """The first task has two calls at once, a call that needs both, and one after it; the second asks."""
    either = node("a", n=1) | {"alternatives": {"n": ["2", -1]}}
    first = [either, node("a", n=2), node("b", 0, 1, x=0.5), node("c", 2, text="red"), answer(3)]
    made = mutants(RULES["fixed"], item(first, [ask(), node("a", 0, n=3), answer(1)]))
    lines = [" | ".join([each.unit, each.kind, each.note, *map(written, each.replies)]) for each in made]
    same_as_golden("wildtoolbench/mutants.txt", "\n".join([*lines, ""]))


@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
def test_gold_that_cannot_be_reached_gives_mutants_and_no_exception(profile: str) -> None:
    made = list(mutants(RULES[profile], item([node("a", 1), node("b", 0), answer(1)], [])))
    assert {mutant.unit for mutant in made} <= {"0", "1"}


# Mutants of values -----------------------------------------------------------------------------------------------

JSON = st.recursive(
    # JSON has no NaN, which differs from itself.
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["n", "text", "x", "y"]), JSON, max_size=4)


@settings(deadline=None)
@given(OBJECTS, st.dictionaries(st.sampled_from(["properties", "required", "type", "enum"]), JSON) | OBJECTS)
def test_a_value_mutant_differs_from_gold_whatever_gold_and_schema_are(
    arguments: dict[str, Any], parameters: dict[str, Any]
) -> None:
    before = json.dumps(arguments)
    for kind, changed, _ in value_mutants(arguments, parameters):
        assert json.dumps(changed) != before, kind
    assert json.dumps(arguments) == before


def values(arguments: dict[str, Any], **properties: Any) -> list[tuple[str, Any]]:
    """Kinds and changed arguments; all parameters are required."""
    schema = {"properties": properties, "required": list(properties)}
    found = value_mutants(arguments, schema)
    return [(kind, changed) for kind, changed, _ in found if kind != "unknown argument"]


EXAMPLES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, Any]]]] = {
    "number": ({"n": 2}, {"n": {"type": "integer"}}, [
        ("required argument left out", {}), ("wrong number", {"n": 3}), ("wrong number", {"n": -2}),
        ("wrong type", {"n": "2"}), ("null for a value", {"n": None})]),
    "zero": ({"n": 0}, {"n": {"type": "integer"}}, [
        ("required argument left out", {}), ("wrong number", {"n": 1}), ("wrong number", {"n": 7}),
        ("wrong type", {"n": "0"}), ("null for a value", {"n": None})]),
    "boolean": ({"b": True}, {"b": {"type": "boolean"}}, [
        ("required argument left out", {}), ("wrong boolean", {"b": False}), ("wrong type", {"b": "true"}),
        ("null for a value", {"b": None})]),
    "empty text": ({"t": ""}, {"t": {"type": "string"}}, [
        ("required argument left out", {}), ("other text", {"t": "zzyzx quuxly"}), ("wrong type", {"t": [""]}),
        ("null for a value", {"t": None})]),
    "null": ({"t": None}, {"t": {}}, [("required argument left out", {})]),
    "empty list": ({"l": []}, {"l": {"type": "array"}}, [
        ("required argument left out", {}), ("null for a value", {"l": None})]),
    "enum": ({"e": "m"}, {"e": {"enum": ["s", "m"], "type": "integer"}}, [
        ("required argument left out", {}), ("other enum member", {"e": "s"}), ("other text", {"e": "zzyzx quuxly"}),
        ("empty text", {"e": ""}), ("null for a value", {"e": None})]),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_single_mistakes_in_a_value(name: str) -> None:
    arguments, properties, expected = EXAMPLES[name]
    assert values(arguments, **properties) == expected


def changes(text: str) -> dict[str, str]:
    return {kind: changed["t"] for kind, changed in values({"t": text}) if isinstance(changed.get("t"), str)}


def test_the_last_digit_of_a_text_is_changed() -> None:
    assert changes("gate 19, now")["one digit of a text"] == "gate 10, now"


@pytest.mark.parametrize(("text", "changed"), [("do not go", "do go"), ("我不去", "我去")])
def test_a_negation_is_dropped(text: str, changed: str) -> None:
    assert changes(text)["negation dropped from a text"] == changed


def test_a_list_loses_repeats_and_reorders_elements() -> None:
    found = {
        kind: changed["l"]
        for kind, changed in values({"l": ["p", "q"]})
        if len(changed) and kind.startswith("el")
    }
    assert found == {
        "element dropped": ["p"],
        "element repeated": ["p", "q", "q"],
        "elements reordered": ["q", "p"],
    }


def test_values_inside_objects_and_lists_are_changed_too() -> None:
    changed = [one for kind, one in values({"o": {"l": [1]}}) if kind == "wrong number"]
    assert changed == [{"o": {"l": [2]}}, {"o": {"l": [-1]}}]


def test_two_values_of_one_type_are_swapped() -> None:
    swapped = [one for kind, one in values({"p": "x", "q": "y", "n": 1}) if kind == "swapped values"]
    assert swapped == [{"p": "y", "q": "x", "n": 1}]


def test_an_optional_argument_is_added_with_a_value_that_is_no_default() -> None:
    described = {"type": "string", "enum": ["s", "m"], "description": "Size; default is s."}
    found = {kind: one for kind, one, _ in value_mutants({}, {"properties": {"e": described}})}
    assert found["extra optional argument"] == {"e": "m"}


def test_null_is_no_mistake_where_gold_spells_out_the_default() -> None:
    schema = {"properties": {"n": {"type": "integer", "default": 5}}}
    kinds = [kind for kind, _, _ in value_mutants({"n": 5}, schema)]
    assert "null for a value" not in kinds
    assert "wrong number" in kinds


def test_a_type_is_only_wrong_where_gold_has_the_right_one() -> None:
    kinds = [kind for kind, _ in values({"n": "5"}, n={"type": "integer"})]
    assert "wrong type" not in kinds


# Explanations -----------------------------------------------------------------------------------------------------


def why(kind: str, profile: str = "official", lang: str = "english") -> str:
    made = item([answer()])
    spoken = Item(made.id, made.units, made.data, lang={"english": "en", "chinese": "zh"}[lang])
    return RULES[profile].explain(spoken, Mutant("0", kind, (), ""))


@pytest.mark.parametrize(
    ("kind", "lang", "fault"),
    [
        ("answer called as a tool", "english", "Q22"),
        ("empty question", "english", "Q21"),
        ("question left out", "english", "Q20"),
        ("one digit of a text", "english", "Q42"),
        ("empty text", "english", "Q42"),
        ("one digit of a text", "chinese", "Q44"),
    ],
)
def test_a_survivor_is_explained_by_the_number_of_its_fault(kind: str, lang: str, fault: str) -> None:
    assert why(kind, lang=lang).startswith(fault)


@pytest.mark.parametrize("kind", ["wrong number", "text instead of calls", "empty reply instead of calls"])
def test_what_no_known_fault_lets_pass_has_no_explanation(kind: str) -> None:
    assert why(kind) == why(kind, lang="chinese") == ""


def test_fixed_excuses_nothing() -> None:
    assert why("empty answer", "fixed") == ""


def test_virtual_names_are_those_of_the_data() -> None:
    called = {
        m.kind: m.replies[-2 if m.kind.startswith("question") else -1]["tool_calls"][0]["function"]["name"]
        for m in mutants(RULES["fixed"], item([ask(), answer(0)], english_tools=[tool("a")]))
        if m.kind.endswith("called as a tool")
    }
    assert called == {"question called as a tool": ASK, "answer called as a tool": ANSWER}


def test_what_gold_accepts_beside_its_own_value_is_no_mistake():
    def said(*task: dict[str, Any]) -> set[str]:
        rules = RULES["fixed"]
        return {one.note for one in mutants(rules, item([*task, answer(0)])) if one.note.startswith("a: ")}

    gold = node("a", n=5, text="red")
    tried = [one for _, one, _ in value_mutants({"n": 5, "text": "red"}, TOOLS[0]["function"]["parameters"])]
    other = next(one["n"] for one in tried if one.get("n") not in (5, None) and one.get("text") == "red")
    assert len(said({**gold, "alternatives": {"n": [other]}})) < len(said(gold))
    assert said({**gold, "alternatives": {"text": ["no mutant has this"]}}) == said(gold)


def test_what_equals_an_accepted_value_in_meaning_is_no_mistake_and_of_another_call_it_is():
    def said(*task: dict[str, Any]) -> set[str]:
        made = mutants(RULES["fixed"], item([*task, answer(*range(len(task)))]))
        return {one.note for one in made if one.kind == "wrong number"}

    assert said({**node("a", n=5), "alternatives": {"n": ["6"]}}) == {"a: n: 5 -> -5"}
    first = {**node("a", n=9), "alternatives": {"n": [6]}}
    assert "a: n: 5 -> 6" in said(first, node("a", n=5))
