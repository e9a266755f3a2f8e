"""The published check of Special replies: a phrase, then names and values, anywhere in the raw text."""

import pytest

from wildtool.benchmarks.acebench.official import (
    check_error_param,
    check_incomplete,
    check_irrelevant,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["Missing necessary parameters (date, team) for the api (book)"]', ""),
        ("I say: Missing necessary parameters: team and date of book.", ""),
        ("missing necessary parameters (date, team) for the api (book)", "error_detection"),
        ("Missing necessary\nparameters (date, team) for the api (book)", "error_detection"),
        ("Missing necessary parameters (date) for the api (book)", "error_correction"),
        ("Missing necessary parameters (date, team) for the api (Book)", "error_correction"),
        ("[book(date='x')]", "error_detection"),
        ("", "error_detection"),
    ],
)
def test_an_incomplete_request_needs_the_phrase_the_function_and_each_parameter(text: str, said: str) -> None:
    found = check_incomplete(text, {"book": ["date", "team"]})
    assert (found.error, found.valid) == (said, said == "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("There is incorrect value (L#7) for the parameters (team)", ""),
        ("There is incorrect value (L#7) for the parameters (other)", ""),
        ("There is an incorrect value (L#7) for the parameters (team)", "error_detection"),
        ("There is incorrect value (l#7) for the parameters (team)", "error_correction"),
    ],
)
def test_a_wrong_value_needs_the_phrase_and_the_value_but_not_the_parameter(text: str, said: str) -> None:
    assert check_error_param(text, {"team": ["L#7"]}).error == said


def test_every_wrong_value_is_needed() -> None:
    gold = {"a": ["1"], "b": ["2"]}
    assert check_error_param("There is incorrect value 1 and 2", gold).valid
    assert check_error_param("There is incorrect value 1", gold).error == "error_correction"
    assert check_error_param("There is incorrect value 2", gold).error == "error_correction"


def test_an_irrelevant_request_needs_the_phrase_only() -> None:
    assert check_irrelevant("Due to the limitations of the function, I cannot.").valid
    assert check_irrelevant("Due to the limitations of the functions, no.").valid
    assert check_irrelevant("I cannot.").error == "error_detection"


def test_a_reply_without_text_is_wrong_where_the_published_evaluator_raises() -> None:
    for found in (
        check_incomplete(None, {"f": ["a"]}),
        check_error_param(None, {"a": ["1"]}),
        check_irrelevant(None),
    ):
        assert (found.valid, found.error) == (False, "error_detection")
        assert found.reference_error == "TypeError: argument of type 'NoneType' is not iterable"
