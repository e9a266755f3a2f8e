"""Names of single things: codes, versions, symbols and states."""

import pytest

from wildtool.toolcall.text.equivalence import differing_rule
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
    ("one", "other", "is_person", "same"),
    [
        ("Smith, John", "John Smith", True, True),
        ("Smith, John J.", "John J. Smith", True, True),
        ("Nkosi, Thandeka", "Thandeka Nkosi", True, True),
        ("Smith, John", "Smith John", True, False),
        ("Smith, John", "Smith, John", True, False),
        ("Smith, John", "John Smith", False, True),
        ("Paris, London", "London Paris", False, False),
    ],
)
def test_the_name_of_a_person_may_be_inverted(one: str, other: str, is_person: bool, same: bool) -> None:
    found = (is_inverted_name(*pair, is_person=is_person) for pair in ((one, other), (other, one)))
    assert tuple(found) == (same, same)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Austin, Texas", "Austin, TX"),
        ("Austin Texas 73301", "Austin TX 73301"),
        ("Austin, texas, USA", "Austin, TX, USA"),
        ("Austin texas", "Austin texas"),
        ("Texas", "Texas"),
    ],
)
def test_a_state_is_its_code_behind_a_city(text: str, plain: str) -> None:
    assert with_state_codes(text) == plain


@pytest.mark.parametrize(
    ("use", "is_state"),
    [
        ("state: US state", True),
        ("state: State of residence", True),
        ("state: Two-letter code of the state", True),
        ("region: The name of a state in the United States. All if left out.", True),
        ("state: 美国的州名", True),
        ("state: The state, such as NY", True),
        ("state: The state of the light", False),
        ("state: Current state of the order", False),
        ("code: Country code", False),
        ("state: ", False),
    ],
)
def test_a_state_alone_is_its_code_only_where_a_state_of_the_us_is_asked_for(
    use: str, is_state: bool
) -> None:
    assert (differing_rule("OR", "Oregon", use) is None) == is_state
