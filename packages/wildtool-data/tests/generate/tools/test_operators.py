"""Evolution of tools: an operator is known by what it did, whatever it is called; attempts are planned apart."""

import copy
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generate.tools.players import design, evolve, parameter
from long import a_fiftieth_of
from wildtool.tools.schema.constraints import FORMAT_PATTERNS
from wildtool.tools.schema.definitions import definition_faults
from wildtool_data.make.core.prompts import templates
from wildtool_data.make.tools.api import (
    API_PARAMETER_CLASSES,
    ApiSpec,
    api_parameter_class,
    api_parameter_classes,
)
from wildtool_data.make.tools.assignments import MAX_EVOLUTIONS, ApiSnapshot, Assignment, Generation
from wildtool_data.make.tools.operators import OPERATORS, TARGETED_OPERATORS, is_applicable
from wildtool_data.make.tools.rules import SCHEMA_KEYWORDS as DEFINITION_KEYS
from wildtool_data.make.tools.script import API_PROMPTS, API_ROLES
from wildtool_data.make.tools.tree import DomainTree, child_id, seed_tree

seeds = st.integers(0, 10_000).map(Random)
classes = st.sampled_from(("text", *API_PARAMETER_CLASSES))
operators = st.sampled_from(list(OPERATORS))


@given(seeds, classes, operators, st.sampled_from(API_PARAMETER_CLASSES))
def test_what_was_evolved_is_recognised_and_still_clear(draw: Random, first: str, operator: str, target: str):
    parent = design(draw, "en", first)
    child = evolve(parent, operator, draw, "en", target)
    if operator == "add constraint" and child["parameters"] == parent["parameters"]:
        return  # nothing is left to constrain
    assert OPERATORS[operator](parent, child) == ""
    assert definition_faults(child) == []
    if operator in TARGETED_OPERATORS:
        assert target in api_parameter_classes(child["parameters"]).values()


@given(seeds, classes, operators)
def test_what_stayed_as_it_was_is_not_evolved(draw: Random, first: str, operator: str):
    parent = design(draw, "en", first)
    assert OPERATORS[operator](parent, {**copy.deepcopy(parent), "name": "another"}) != ""


@given(seeds, classes)
def test_operators_are_not_taken_for_each_other(draw: Random, first: str):
    parent = design(draw, "en", first)
    more = evolve(parent, "add parameter", draw, "en")
    other = evolve(parent, "change return", draw, "en")
    assert OPERATORS["add constraint"](parent, more) and OPERATORS["change return"](parent, more)
    assert OPERATORS["add parameter"](parent, other) and OPERATORS["change type"](parent, other)


@pytest.mark.parametrize(
    ("operator", "change", "why"),
    [
        ("add parameter", lambda p: p.pop("city"), "must stay as it was"),
        ("add parameter", lambda p: p["city"].update(type="integer"), "must stay as it was"),
        ("add constraint", lambda p: p.update(day={"type": "string", "enum": ["a"]}), "same parameters"),
        ("change type", lambda p: p.update(town=p.pop("city")), "under its name"),
        ("change type", lambda p: p["city"].update(pattern="^a$"), "under its name"),
    ],
)  # fmt: skip
def test_what_an_operator_does_not_allow_is_said(operator: str, change: Any, why: str):
    parameters = {"type": "object", "properties": {"city": {"type": "string", "description": "The city."}}}
    parent = {"name": "a", "description": "Finds the weather.", "parameters": parameters, "returns": {}}
    child = copy.deepcopy(parent)
    change(child["parameters"]["properties"])
    assert why in OPERATORS[operator](parent, child)


def test_another_function_works_on_the_same_things_and_says_something_else():
    parent = design(Random(1), "en")
    stranger = design(Random(2), "en")
    assert "keep at least one parameter" in OPERATORS["add function"](parent, stranger)
    echo = {**parent, "description": parent["description"] + " Now."}
    assert "must do something else" in OPERATORS["add function"](parent, echo)


def test_an_api_without_parameters_can_only_get_some_or_return_something_else():
    parent = {"parameters": {"type": "object", "properties": {}}}
    assert {name for name in OPERATORS if is_applicable(name, parent)} == {"add parameter", "change return"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_roles_are_told_of_every_operator_and_class_in_both_languages(lang: Any):
    told = templates(lang, API_PROMPTS)
    assert set(told) == set(API_ROLES) - {"agent"}
    assert set(told["designer"]) == {"", *API_PARAMETER_CLASSES}
    assert set(told["evolver"]) == {"", *API_PARAMETER_CLASSES, *OPERATORS}
    assert all(text for blocks in told.values() for text in blocks.values())
    for name in sorted({*DEFINITION_KEYS, *FORMAT_PATTERNS}):
        assert name in told["designer"][""] and name in told["evolver"][""]


@pytest.mark.parametrize("atom", API_PARAMETER_CLASSES)
def test_classes_of_parameters_are_told_apart(atom: str):
    assert api_parameter_class(parameter(atom, "What it is.", Random(1))) == atom


def test_a_list_of_objects_makes_an_object_deep():
    items = {"type": "array", "items": {"type": "object", "properties": {}}}
    assert api_parameter_class({"type": "object", "properties": {"rows": items}}) == "object_deep"


def api(name: str, place: str, generation: int = 0) -> ApiSpec:
    function = {**design(Random(name), "en"), "name": name}
    return ApiSpec(
        **function, lang="en", place=place, node=child_id(place, name), tree_path=(), parents=(),
        generation=generation, operator="", target="", attempt=0, call={},
    )  # fmt: skip


def planned(pool: ApiSnapshot, begin: int, count: int) -> list[Assignment]:
    round_ = Generation(pool, begin, "7", ("en",))
    found = [round_.assign(begin + k) for k in range(count)]
    assert all(found)
    return [one for one in found if one]


@settings(max_examples=a_fiftieth_of(500), deadline=None)
@given(st.integers(0, 40), st.integers(0, 100))
def test_attempts_of_a_generation_are_given_different_things(apis: int, begin: int):
    tree = seed_tree("en")
    places = [node.id for node in tree.places()]
    pool = ApiSnapshot({"en": tree}, tuple(api(f"get{k}", places[k % len(places)]) for k in range(apis)))
    tasks = [
        (
            one.place.id,
            one.function,
            one.kind,
            one.parent.name if one.parent else "",
            one.operator,
            one.target,
        )
        for one in planned(pool, begin, 32)
    ]
    assert len(set(tasks)) == len(tasks)


def test_targets_come_equally_often():
    targets = [one.target for one in planned(ApiSnapshot({"en": seed_tree("en")}), 0, 60)]
    assert {targets.count(atom) for atom in API_PARAMETER_CLASSES} == {10}


def test_begun_places_are_filled_before_others_are_begun():
    tree = seed_tree("en")
    begun = tree.places()[5].id
    places = [
        one.place.id
        for one in planned(ApiSnapshot({"en": tree}, (api("getIt", begun, MAX_EVOLUTIONS),)), 0, 5)
    ]
    assert places[0] == begun and len(set(places)) == 5


def test_what_was_evolved_often_enough_is_left_alone():
    tree = seed_tree("en")
    pool = ApiSnapshot({"en": tree}, (api("getIt", tree.places()[0].id, MAX_EVOLUTIONS),))
    assert all(one.parent is None for one in planned(pool, 0, 30))


def test_a_tree_without_a_place_gives_nothing_to_make():
    assert Generation(ApiSnapshot({"en": DomainTree()}), 0, "1", ("en",)).assign(0) is None
