"""What is found of personal details, measured on planted ones. `docs/traces.md` has the table that is made here."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool_data.conversations.personal import Redactor

PAGE = Path(__file__).parents[4] / "docs" / "traces.md"
PLANTED = Path(__file__).with_name("planted_personal.txt")
_MARK = re.compile(r"\{([^:{}]+):([^{}=]+)(?:=([^{}]+))?\}")
"""A planted value: its kind, what the text says, and the part of it that is personal, where that is less."""
KINDS = ("name", "mail", "phone", "key", "card number", "identity number")


def planted() -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Language, text and planted values of each line."""
    found: list[tuple[str, str, list[tuple[str, str]]]] = []
    for line in PLANTED.read_text(encoding="utf-8").splitlines():
        language, _, text = line.partition(" ")
        text = text.replace("\\n", "\n")
        found.append(
            (
                language,
                _MARK.sub(lambda mark: mark[2], text),
                [(m[1], m[3] or m[2]) for m in _MARK.finditer(text)],
            )
        )
    return found


@cache
def measured() -> dict[tuple[str, str], Counter[str]]:
    """By language and kind how much is found, missed and wrongly taken."""
    figures: dict[tuple[str, str], Counter[str]] = {}
    for language, text, values in planted():
        redactor = Redactor()
        ((message),) = redactor.conversation([{"role": "user", "content": text}], [])
        for kind, value in values:
            hit = value not in str(message["content"])
            figures.setdefault((language, kind), Counter())["found" if hit else "missed"] += 1
        meant = [value for _, value in values]
        for value, (kind, _) in redactor.values.items():
            if not any(value in each or each in value for each in meant):
                figures.setdefault((language, kind), Counter())["wrong"] += 1
    return figures


def table() -> str:
    """The table of the page."""
    rows = [
        "| | English: found | missed | wrongly taken | Chinese: found | missed | wrongly taken |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        cells = [
            f"{measured().get((language, kind), Counter())[what]}"
            for language in ("en", "zh")
            for what in ("found", "missed", "wrong")
        ]
        rows.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(rows)


def test_the_page_has_the_figures_of_this_test():
    assert table() in PAGE.read_text(encoding="utf-8"), f"write it into {PAGE.name}:\n{table()}"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_most_planted_details_are_found_and_few_others_taken(language: str):
    total = sum((counts for (own, _), counts in measured().items() if own == language), Counter[str]())
    assert total["found"] >= 0.8 * (total["found"] + total["missed"])
    assert total["wrong"] <= 0.1 * total["found"]


ANN = {"customer_name": "Ann Smith", "phone": 13812345678, "mail": "ann.smith@corp.co"}


def call(arguments: Any) -> dict[str, Any]:
    function = {"name": "save", "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": function}]}


def test_the_same_value_has_the_same_stand_in_in_texts_arguments_and_results():
    messages = [
        {"role": "user", "content": "I'm Ann Smith, ann.smith@corp.co, phone 13812345678. Ann"},
        call(ANN),
        {
            "role": "tool",
            "tool_call_id": "c",
            "content": json.dumps({**ANN, "note": "Ann's friend 张伟先生"}),
        },
    ]
    redactor = Redactor()
    asked, called, given_back = redactor.conversation(messages, [])
    new = json.loads(called["tool_calls"][0]["function"]["arguments"])
    result = json.loads(given_back["content"])
    assert {key: result[key] for key in ANN} == new
    assert isinstance(new["phone"], int)
    assert new["phone"] != ANN["phone"]
    first = new["customer_name"].split()[0]
    assert asked["content"] == f"I'm {new['customer_name']}, {new['mail']}, phone {new['phone']}. {first}"
    assert result["note"].startswith(f"{first}'s friend ")
    assert "张伟" not in result["note"]
    assert sum(redactor.replaced.values()) == 12


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Pay with 4539 5787 6362 1486.", "4539578763621486"),
        ("My phone is (555) 123-4567.", 5551234567),
        ("Call +1 415 555 0132.", "+14155550132"),
        ("My SSN is 123-45-6789.", "123456789"),
        ("My name is Zbigniew Nowak.", "zbigniew nowak"),
    ],
)
def test_a_value_in_another_form_has_the_same_stand_in(text: str, value: str | int):
    asked, called = Redactor().conversation([{"role": "user", "content": text}, call({"x": value})], [])
    new = json.loads(called["tool_calls"][0]["function"]["arguments"])["x"]
    assert type(new) is type(value)
    assert new != value
    plain = re.sub(r"[\W_]", "", str(new)).casefold()
    assert plain in re.sub(r"[\W_]", "", str(asked["content"])).casefold()


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("Fly from San Francisco to San Jose, St. Louis or Lake Charles.", {}),
        ("Ask for a table in Geneva, and call me on 2025-03-04.", {"city": "Geneva", "day": "2025-03-04"}),
        ("Move my phone appointment to 04.03.2025 10:00.", {"day": "2025-03-04"}),
        ("The hotel booking 88213377 and the cancelled 88213378.", {"booking": 88213377}),
        ("Where is order 13812345678?", {"orderId": "13812345678"}),
        ("Remind Me.", {"text": "Remind Me"}),
    ],
)
def test_places_dates_and_order_numbers_stay(text: str, arguments: dict[str, Any]):
    messages = [{"role": "user", "content": text}, call(arguments)]
    assert Redactor().conversation(messages, []) == messages


def test_a_month_that_is_somebodys_name_stays_in_dates():
    (asked,) = Redactor().conversation([{"role": "user", "content": "My name is May Lee. Book May 5."}], [])
    assert "May 5" in asked["content"]
    assert "Lee" not in asked["content"]


def test_stand_ins_are_those_of_the_seed_and_differ_for_different_people():
    people = [
        f"{first} {last}"
        for first in ("Ann", "Tom", "Maria", "David")
        for last in ("Smith", "Jones", "Ortega")
    ]
    texts = [{"role": "user", "content": f"My name is {person}."} for person in people]
    made = [
        [message["content"] for message in Redactor(seed).conversation(texts, [])] for seed in ("1", "1", "2")
    ]
    assert made[0] == made[1] != made[2]
    assert len(set(made[0])) == len(people)


def test_words_of_the_tools_stay():
    tool = {"function": {"name": "pick", "parameters": {"properties": {"host": {"enum": ["Alice", "Bob"]}}}}}
    messages = [{"role": "user", "content": "Take Alice. My name is Carla."}]
    (kept,) = Redactor().conversation(messages, [{"type": "function", **tool}])
    assert "Alice" in kept["content"]
    assert "Carla" not in kept["content"]


@given(
    st.text(max_size=60),
    st.dictionaries(st.sampled_from(["name", "phone", "password", "x"]), st.text() | st.integers()),
)
def test_any_text_is_taken_and_arguments_stay_json(text: str, arguments: dict[str, Any]):
    messages = [{"role": "user", "content": text}, call(arguments)]
    _, called = Redactor().conversation(messages, [])
    assert json.loads(called["tool_calls"][0]["function"]["arguments"]).keys() == arguments.keys()


def test_a_number_with_spaces_and_without_counts_as_one():
    redactor = Redactor()
    text = "Card 4111 1111 1111 1111, again 4111111111111111."
    redactor.conversation([{"role": "user", "content": text}], [])
    assert redactor.lines() == ["replaced: card number: 2 (1 different)"]
