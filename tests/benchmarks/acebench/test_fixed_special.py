"""Profile `fixed` on Special replies: one message, whole names, and no call beside it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.benchmarks.acebench.data import SPECIAL, SpecialRecord
from wildtool.benchmarks.acebench.fixed.special import MAX_REPLY_CHARACTERS, check_special

FUNCTIONS: tuple[dict[str, Any], ...] = ({"name": "book"}, {"name": "cancel"}, {"name": "bookAll"})


def record(category: str, faults: dict[str, list[str]]) -> SpecialRecord:
    return SpecialRecord(f"{category}_0", category, "en", 0, 0, "user: Do it.", FUNCTIONS, "", faults)


def incomplete(text: str, *names: str) -> str:
    return check_special(text, record("special_incomplete", {"book": list(names or ("date", "team"))})).error


def wrong_value(text: str, value: str = "L#7") -> str:
    return check_special(text, record("special_error_param", {"team": [value]})).error


def irrelevant(text: str) -> str:
    return check_special(text, record("special_irrelevant", {})).error


@pytest.mark.parametrize(
    "text",
    [
        '["Missing necessary parameters (date, team) for the api (book)"]',
        "MISSING NECESSARY\n parameters (team,date) for the api (book).",
        "Missing  necessary parameters（date，team）for the api（book）",
        "Missing necessary parameters 'date' and 'team' for the api 'book'",
        "Missing necessary parameters (date) for the api (book). Missing necessary parameters (team) for the api (book)",
        "Missing necessary parameters(date, team) for the api(book)",
        "Missing necessary parameters (date, team) for the api (book())",
        "Missing necessary parameters (date), team for the api (book)",
        "Missing necessary parameters date, (team) for the api (book)",
    ],
)
def test_an_incomplete_request_is_reported(text: str) -> None:
    assert incomplete(text) == ""


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("The date is missing for book, and the team.", "error_detection"),
        (
            "Missing necessary parameters (date, team) for the api (book). There is incorrect value",
            "error_detection",
        ),
        (
            "[book(players=2)] Missing necessary parameters (date, team) for the api (book)",
            "error_detection",
        ),
        (
            'Missing necessary parameters (date, team) for the api (book)\n{"name": "book", "arguments": {}}',
            "error_detection",
        ),
        (
            "Missing necessary parameters (date, team) for the api (book)\n<tool_call>book</tool_call>",
            "error_detection",
        ),
        ("[cancel(), Missing necessary parameters (date, team) for the api (book)]", "error_detection"),
        ("Missing necessary parameters (date) for the api (book)", "error_correction"),
        ("Missing necessary parameters (date, teams) for the api (book)", "error_correction"),
        ("Missing necessary parameters (date, team) for the api (bookAll)", "error_correction"),
        ("Missing necessary parameters (date, team) for the api (Book)", "error_correction"),
        ("Missing necessary parameters (date, team) for the api (book, cancel)", "error_correction"),
        ("Missing necessary parameters (date, team, players) for the api (book)", "error_correction"),
        ("Missing necessary parameters (date, team please) for the api (book)", "error_correction"),
        ("Missing necessary parameters (book) for the api (date, team)", "error_correction"),
        ("Missing necessary parameters (x) for the api (book): date, team", "error_correction"),
        ("Missing necessary parameters for book: date, team", "error_correction"),
        ("Missing necessary parameters (date, team) for the api ]", "error_correction"),
        (
            "Missing necessary parameters (date, team) for the api (book). "
            "Missing necessary parameters (x) for the api (book)",
            "error_correction",
        ),
        ("", "error_detection"),
    ],
)
def test_an_incomplete_request_is_reported_badly(text: str, error: str) -> None:
    assert incomplete(text) == error


def test_stray_blanks_of_gold_names_do_not_count() -> None:
    assert incomplete("Missing necessary parameters (a, b) for the api (book)", "a ", " b") == ""


@pytest.mark.parametrize(
    ("text", "value", "error"),
    [
        ("There is incorrect value (L#7) for the parameters (team)", "L#7", ""),
        ("there is incorrect\nvalue (super  quick) for the parameters (team)", "super quick", ""),
        ("There is incorrect value (negative five) for the parameters (team)", "-5", ""),
        ("There is incorrect value (-5) for the parameters (team)", "-5", ""),
        ("There is incorrect value (ten) for the parameters (team)", "10", ""),
        ("There is incorrect value (minus ten) for the parameters (team)", "-10", ""),
        ("There is incorrect value (11) for the parameters (team)", "11", ""),
        ("There is incorrect value (five) for the parameters (team)", "0005", "error_correction"),
        ("There is incorrect value (five, 5) for the parameters (team)", "5", "error_correction"),
        ("There is incorrect value (eleven) for the parameters (team)", "11", "error_correction"),
        ("There is incorrect value(产品123!)for the parameters(team)", "产品123!", ""),
        ("There is incorrect value (L#7) for the parameters (other)", "L#7", "error_correction"),
        ("There is incorrect value (l#7) for the parameters (team)", "L#7", "error_correction"),
        ("There is incorrect value (15) for the parameters (team)", "5", "error_correction"),
        ("There is incorrect value (-5) for the parameters (team)", "5", "error_correction"),
        ("There is incorrect value (5.5) for the parameters (team)", "5", "error_correction"),
        ("There is incorrect value (5) for the parameters (team)", "-5", "error_correction"),
        ("There is an error: (L#7) for the parameters (team)", "L#7", "error_detection"),
    ],
)
def test_a_wrong_value_needs_the_value_and_its_parameter(text: str, value: str, error: str) -> None:
    assert wrong_value(text, value) == error


def test_an_irrelevant_request_needs_the_phrase_alone() -> None:
    assert irrelevant("due to the  Limitations of the function, I cannot solve this problem.") == ""
    assert irrelevant("I cannot.") == "error_detection"
    hedged = "Due to the limitations of the function. Missing necessary parameters (a)"
    assert irrelevant(hedged) == "error_detection"
    assert irrelevant("Due to the limitations of the function. [made_up(x=1)]") == "error_detection"


def test_no_text_and_too_much_text_are_wrong() -> None:
    longest = "the limitations of the function".ljust(MAX_REPLY_CHARACTERS)
    checks = [
        check_special(text, record("special_irrelevant", {})) for text in (longest, f"{longest} ", None)
    ]
    assert [(check.error, check.reason) for check in checks] == [
        ("", ""),
        ("error_detection", "longer than 100,000 characters"),
        ("error_detection", "the reply has no text"),
    ]


@given(st.text(st.characters()), st.sampled_from(SPECIAL), st.text(st.characters(), min_size=1))
def test_no_text_raises(text: str, category: str, name: str) -> None:
    found = check_special(text, record(category, {name: [name]}))
    assert found.valid or found.reason.encode()


def flight(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)[:1]}


BOOK = {
    "name": "book",
    "parameters": flight(
        trip=flight(leg={"type": "array", "items": flight(city={}, seat={})}, pet=flight(animal={})),
        options={"properties": {"meal": {}}},
        size={},
    ),
}


def listed(names: str, *missing: str) -> bool:
    known = replace(record("special_incomplete", {"book": list(missing)}), functions=(BOOK,))
    return check_special(f"Missing necessary parameters ({names}) for the api (book)", known).valid


def test_the_object_around_a_missing_parameter_and_what_a_missing_object_requires_may_be_listed() -> None:
    assert listed("leg, trip", "leg")
    assert listed("trip.leg[0].city, leg", "leg")
    assert listed("options (meal)", "options")


def test_no_other_parameter_may_be_listed_however_real() -> None:
    for others in ("size", "options", "pet", "seat", "leg_city", "city: which city"):
        assert not listed(f"leg, {others}", "leg"), others
    assert not listed("trip, leg, city, seat, pet, animal, options, meal, size", "leg")


def test_what_a_correction_says_is_missing_too_may_be_listed() -> None:
    known = replace(record("special_incomplete", {"book": ["leg"]}), functions=(BOOK,), may_name=("size",))
    said = "Missing necessary parameters (leg, {}) for the api (book)"
    assert [check_special(said.format(name), known).valid for name in ("size", "pet")] == [True, False]


PAIRS = {"first": ["L#7"], "other": ["20 km"]}


@pytest.mark.parametrize(
    ("places", "valid"),
    [
        ("(L#7, 20 km) for the parameters (first, other)", True),
        ("(20 km, L#7) for the parameters (other, first)", True),
        ("('L#7' and '20 km') for the parameters (team.first and team.other)", True),
        ("(L#7, 20 km) for the parameters (other, first)", False),
        ("(first, other) for the parameters (L#7, 20 km)", False),
        ("(L#7) for the parameters (first, other)", False),
        ("(L#7, 20 km, Ann) for the parameters (first, other)", False),
        ("(L#7, 20 km) for the parameters (first, other, third)", False),
        ("(I want L#7 and 20 km) for the parameters (first, other)", False),
        ("(L#7, 20 km) for the parameters (x) first, other", False),
        ("(x) for the parameters (first, other) L#7, 20 km", False),
    ],
)
def test_values_and_parameters_count_in_their_own_places_and_in_pairs(places: str, valid: bool) -> None:
    found = check_special(f"There is incorrect value {places}", record("special_error_param", PAIRS))
    assert found.valid == valid


def test_several_messages_of_one_kind_count_together() -> None:
    one, other = (f"There is incorrect value ({v[0]}) for the parameters ({k})." for k, v in PAIRS.items())
    known = record("special_error_param", PAIRS)
    assert check_special(f"{one} {other}", known).valid
    assert not check_special(one, known).valid
    third = "There is incorrect value (Ann) for the parameters (name)."
    assert not check_special(f"{one} {other} {third}", known).valid


@pytest.mark.parametrize(
    ("said", "valid"), [("20 km", True), ("20", True), ("20 or 30", False), ("x20", False)]
)
def test_one_word_may_follow_a_number(said: str, valid: bool) -> None:
    found = wrong_value(f"There is incorrect value ({said}) for the parameters (team)", "20")
    assert (found == "") == valid


@pytest.mark.parametrize(
    ("said", "valid"), [("5 km", True), ("2.5 km", False), ("2,5 km", False), ("-5 km", False)]
)
def test_a_number_with_its_unit_is_no_end_of_another_number(said: str, valid: bool) -> None:
    assert (
        wrong_value(f"There is incorrect value ({said}) for the parameters (team)", "5 km") == ""
    ) == valid


@pytest.mark.parametrize(("name", "valid"), [("date", False), ("date#", True), ("5", False), ("#5", False)])
def test_a_name_is_whole_where_it_does_not_go_on_like_a_number(name: str, valid: bool) -> None:
    assert (incomplete(f"Missing necessary parameters ({name}.5) for the api (book)", name) == "") == valid


def test_a_value_that_ends_in_a_sign_is_whole_only_where_nothing_goes_on() -> None:
    assert (
        wrong_value(
            "There is incorrect value (L#) for the parameters (team) in the conversation history.", "L#"
        )
        == ""
    )
    assert (
        wrong_value(
            "There is incorrect value (L#7) for the parameters (team) in the conversation history.", "L#"
        )
        != ""
    )
