"""How T-Eval's answers are read: loose JSON, plans, lines, templates, letters, and what is cleaned off."""

from typing import Any

import pytest

from benchmarks.teval.teval_build import KEYS, LAYOUT
from wildtool.benchmarks.teval.reading import (
    NoValueError,
    Step,
    clean_output,
    read_answer,
    read_answer_object,
    read_letter,
    read_loosely,
    read_plan_lines,
    read_plan_steps,
    read_template_keys,
    read_template_text,
    step_arguments,
    text_of,
    without_finish,
)

HUGE = f"0x{'f' * 9000}"
NO_VALUE = "no value"


@pytest.mark.parametrize(
    ("value", "opener", "closer", "expected"),
    [
        (3, "{", "}", 3),
        (None, "", "", None),
        ("{'a': None}", "", "", {"a": None}),
        ('{"a": null}', "", "", {"a": None}),
        ("{'a': null}", "", "", {"a": None}),
        ("{'a': \"it's\"}", "", "", {"a": "it's"}),
        ('{\'a\': true, "b": "it\'s"}', "", "", NO_VALUE),
        ("x ```json\n[1]\n```", "", "", [1]),
        ("```json[1]``` ```json[2]```", "", "", NO_VALUE),
        ("x [1] {'a': {}} y", "{", "}", {"a": {}}),
        ("x [1, 2] y", "[", "]", [1, 2]),
        # Without an opener the last character is left, without a closer nothing is.
        ("7", "{", "", 7),
        ("x7", "{", "", 7),
        ("7", "", "}", NO_VALUE),
        ("", "", "", NO_VALUE),
        ("{", "", "", NO_VALUE),
        ("(" * 5000, "", "", NO_VALUE),
        ("[" * 100_000, "", "", NO_VALUE),
        ('{"a": 1e5}', "", "", {"a": 1e5}),
        ("1 if 2 else 3", "", "", NO_VALUE),
    ],
)
def test_a_value_is_python_or_json_or_nearly(value: Any, opener: str, closer: str, expected: Any) -> None:
    try:
        found: Any = read_loosely(value, opener, closer)
    except NoValueError:
        found = NO_VALUE
    assert found == expected


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
    ("value", "steps"),
    [
        ([{"id": "2", "name": 3, "args": {"a": 1}}], [Step(2, "3", "{'a': 1}")]),
        ("Plan: [{'id': 0, 'name': 'n', 'args': ''}] end", [Step(0, "n", "")]),
        ("{'id': 0, 'name': 'n', 'args': ''}", []),
        ({"id": 0}, []),
        ([{"id": 0, "name": "n"}], []),
        ([{"id": "x", "name": "n", "args": ""}], []),
        ([{"id": None, "name": "n", "args": ""}], []),
        ('[{"id": 1e999, "name": "n", "args": ""}]', []),
        ([{"id": 0, "name": "n", "args": ""}, 3], []),
        (f"[{{'id': 0, 'name': 'n', 'args': {HUGE}}}]", []),
        ("words", []),
        ([], []),
        (None, []),
    ],
)
def test_a_plan_is_read_whole_or_not_at_all(value: Any, steps: list[Step]) -> None:
    assert read_plan_steps(value) == steps
    # A list that is changed leaves the next reading as it is.
    read_plan_steps(value).append(Step(9, "x", ""))
    if not isinstance(value, str):
        assert read_plan_steps(value) == steps


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


PLAIN = {name: text.replace(" (short)", "") for name, text in LAYOUT.items()}
GROUPED = {**PLAIN, "thought_start": "(Why)?: "}
TWICE = "Why: a\nAPI: b\nWith: {'c': 1}\nAPI: d\nWith: {'e': 2} "


@pytest.mark.parametrize(
    ("answer", "template", "pattern", "literal"),
    [
        (TWICE, PLAIN, ("d", {"e": 2}), ("b", {})),
        ("Why: a\nAPI:  b \nWith:  {'c': 1} ", PLAIN, ("b", {"c": 1}), ("b", {"c": 1})),
        ("Why: \nAPI: \nWith: x", PLAIN, ("", {}), ("", {})),
        ("Why: a\nb\nAPI: c\nWith: {'d':\n 1}", PLAIN, ("c", {"d": 1}), ("c", {"d": 1})),
        ("Why: \nAPI: b\nWith: [1]", PLAIN, ("b", {}), ("b", {})),
        ("words", PLAIN, None, None),
        ("\ud800Why: \nAPI: b\nWith: ", PLAIN, ("b", {}), ("b", {})),
        # A group in the template shifts the parts, and an empty one is no text.
        ("Why: a\nAPI: {'b': 1}\nWith: c", GROUPED, ("a", {"b": 1}), None),
        (": a\nAPI: {'b': 1}\nWith: c", GROUPED, ("a", {"b": 1}), None),
        ("(Why)?: a\nAPI: b\nWith: {}", GROUPED, ("a", {}), ("b", {})),
        # A pattern that only Python knows, and one that nobody does.
        ("Why: a\nAPI: b\nWith: {}", {**PLAIN, "thought_start": "(?=Why)Why: "}, ("b", {}), None),
        ("Why: a\nAPI: b\nWith: {}", {**PLAIN, "thought_start": "*"}, None, None),
    ],
)
def test_a_layout_is_a_pattern_with_the_longest_parts_or_text_with_the_shortest(
    answer: str, template: dict[str, str], pattern: Any, literal: Any
) -> None:
    assert read_template_text(answer, template) == pattern
    assert read_template_text(answer, template, literal=True) == literal


@pytest.mark.parametrize(
    ("text", "letter", "answer"),
    [
        ("A", "A", "A"),
        ("E.", "E", "E"),
        (" B", "B", "B"),
        ("F", "", ""),
        ("", "", ""),
        ("Answer: C", "C", "C"),
        ("Answer: x: C", "", "C"),
        ("D: Answer: E", "A", "E"),
        ("Answer is D", "A", "D"),
        ("ANSWER is d", "A", ""),
        ("Answer: Because", "B", ""),
        ("A good one: B", "B", "B"),
        ("(A) it", "", "A"),
        ("A's one", "A", ""),
        ("note: (C) and: D", "", "C"),
    ],
)
def test_a_letter_is_the_first_after_a_colon_or_the_one_that_is_meant(
    text: str, letter: str, answer: str
) -> None:
    assert (read_letter(text), read_answer(text)) == (letter, answer)


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
