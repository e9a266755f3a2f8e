"""Names of single things: codes, versions, symbols and states."""

import pytest

from wildtool.toolcall.text.identifiers import (
    is_inverted_name,
    is_other_symbol,
    numbered,
    read_book_number,
    read_identifier,
    with_state_codes,
    without_number_sign,
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("order 55021", "55021"),
        ("the flight number: BA117", "BA117"),
        ("航班号BA117", "BA117"),
        ("G12次列车", "G12"),
        ("g12次", "g12"),
        ("order of books", None),
        ("my order 55021", None),
    ],
)
def test_a_noun_and_its_code_are_the_code(text: str, code: str | None) -> None:
    assert numbered(text) == code


@pytest.mark.parametrize(
    ("text", "use", "plain"),
    [
        ("order #12345", "", "order 12345"),
        ("order #12345", "the colour", "order #12345"),
        ("issue #AB-12", "", "issue AB-12"),
        ("#FF0000", "", "#FF0000"),
        ("a#1", "", "a#1"),
        ("#music", "", "#music"),
    ],
)
def test_a_number_loses_its_sign_and_a_colour_keeps_it(text: str, use: str, plain: str) -> None:
    assert without_number_sign(text, use) == plain


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("978-0-306-40615-7", "9780306406157"),
        ("978 0306406157", "9780306406157"),
        ("978-0-306-40615", None),
        ("977-0-306-40615-7", None),
    ],
)
def test_a_book_number_is_its_thirteen_digits(text: str, digits: str | None) -> None:
    assert read_book_number(text) == digits


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("BA 117", "BA117"),
        ("BAAA 117", None),
        ("version 1.2", "v1.2"),
        ("V1.2.3", "v1.2.3"),
        ("version 1", None),
        ("abc-12-3", "ABC-12-3"),
        ("12", None),
    ],
)
def test_an_identifier_has_one_form(text: str, identifier: str | None) -> None:
    assert read_identifier(text) == identifier


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("Na", "NA", True),
        ("pH", "PH", True),
        ("Na", "na", False),
        ("pH", "ph", False),
        ("Na", "NI", False),
        ("Hello", "HELLO", False),
    ],
)
def test_the_case_of_a_symbol_counts(one: str, other: str, differ: bool) -> None:
    assert (is_other_symbol(one, other), is_other_symbol(other, one)) == (differ, differ)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Smith, John", "John Smith", True),
        ("Smith, John J.", "John J. Smith", True),
        ("Smith, John", "Smith John", False),
        ("Smith, John", "Smith, John", False),
    ],
)
def test_a_name_may_be_inverted(one: str, other: str, same: bool) -> None:
    assert (is_inverted_name(one, other), is_inverted_name(other, one)) == (same, same)


@pytest.mark.parametrize(
    ("text", "use", "plain"),
    [
        ("Austin, Texas", "", "Austin, TX"),
        ("Austin Texas 73301", "", "Austin TX 73301"),
        ("Austin, texas, USA", "", "Austin, TX, USA"),
        ("Austin texas", "", "Austin texas"),
        ("Texas", "", "Texas"),
        ("Texas", "the state", "state TX"),
        ("tx", "the state", "state TX"),
        ("Austin, Texas", "the state", "Austin, TX"),
        ("Bonn", "the state", "Bonn"),
    ],
)
def test_a_state_is_its_code_behind_a_city_or_where_one_is_asked_for(text: str, use: str, plain: str) -> None:
    assert with_state_codes(text, use) == plain
