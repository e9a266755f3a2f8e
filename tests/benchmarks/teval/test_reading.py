"""How T-Eval's answers are read: loose JSON, plans, lines, templates, letters, and what is cleaned off."""

from typing import Any

import pytest

from benchmarks.teval.teval_build import KEYS
from wildtool.benchmarks.teval.reading import (
    Step,
    clean_output,
    read_answer_object,
    read_plan_lines,
    read_template_keys,
    step_arguments,
    text_of,
    without_finish,
)

HUGE = f"0x{'f' * 9000}"


def test_an_object_is_what_is_between_the_outer_braces() -> None:
    texts = ("a {'b': {1: 2}} c", "[{}]", "{}", "[1]", "x", {"y": 1}, 3, None)
    assert [read_answer_object(text) for text in texts] == [
        {"b": {1: 2}},
        {},
        {},
        None,
        None,
        {"y": 1},
        None,
        None,
    ]


def test_the_text_of_a_value_is_pythons_where_it_writes_one() -> None:
    assert [text_of(value) for value in (None, {"a": 1}, "x", int(HUGE, 16))] == ["None", "{'a': 1}", "x", ""]


@pytest.mark.parametrize(
    ("args", "arguments"),
    [
        ("{'a': 1}", {"a": 1}),
        ("{}", {}),
        ("", {}),
        ("None", {}),
        ("null", {}),
        ("[]", {}),
        ("[1]", {"": "[1]"}),
        ("words", {"": "words"}),
    ],
)
def test_arguments_of_a_step_are_an_object_nothing_or_one_without_a_name(args: str, arguments: Any) -> None:
    assert step_arguments(Step(0, "n", args)) == arguments


def test_a_line_is_a_step_of_the_api_that_comes_first_in_it() -> None:
    names = ("Tide.get", "Tide.get_all", "Boat.book")
    text = "1. Boat.book after Tide.get\nnothing. Then Tide.get_all. end\nx Tide.get"
    assert read_plan_lines(text, names) == [
        Step(0, "Boat.book", "Boat.book after Tide.get"),
        Step(1, "Tide.get", "Then Tide.get_all"),
        Step(2, "Tide.get", "x Tide.get"),
    ]
    assert read_plan_lines("Tide.get_all", names[1::-1]) == [Step(0, "Tide.get_all", "Tide.get_all")]
    assert read_plan_lines(None, names) == read_plan_lines(3, names) == read_plan_lines("x", names) == []


def test_steps_are_ordered_by_their_ids_and_lose_an_end() -> None:
    end, one, two = Step(3, "FinishAction", ""), Step(1, "a", ""), Step(2, "b", "")
    early = Step(0, "FinishAction", "")
    assert without_finish([end, two, one]) == [one, two]
    assert without_finish([two, early]) == [early, two]
    assert without_finish([end]) == without_finish([]) == []
    # Of equal ids the first stays first.
    assert without_finish([Step(0, "b", ""), Step(0, "a", "")]) == [Step(0, "b", ""), Step(0, "a", "")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"why": 1, "api": "a", "with": {"b": 2}}, ("a", {"b": 2})),
        ('{"why": 1, "api": 3, "with": "x"}', (3, {})),
        ("{'why': 1, 'api': 'a'}", None),
        ("words", None),
        ("[1]", None),
        (None, None),
    ],
)
def test_keys_of_a_template_must_all_be_there(answer: Any, expected: Any) -> None:
    assert read_template_keys(answer, KEYS) == expected


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (" a \n", "a"),
        *((f"a{end}b", "a") for end in ("<eoa>", "<TOKENS_UNUSED_1>", "<|im_end|>", "[INST]", "<|user|>")),
        *((f"a{end}b", "a") for end in ("\nuser", "\nassistant", "\nUSER")),
        ("user", "user"),
        ("```json\n{}\n```", "{}"),
        ("`a`", "a"),
        ("x ```json {}", "x ```json {}"),
    ],
)
def test_an_answer_is_cleaned_of_ends_and_fences(text: str, clean: str) -> None:
    assert clean_output(text) == clean
