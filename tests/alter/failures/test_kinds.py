"""What a model is shown in place of a result."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.failures.kinds import KIND_OF, Remedy, damaged, error_text

DAMAGED = [name for name, kind in KIND_OF.items() if kind.damage]
OBJECT = (
    '{"order_id": 7001, "price": 59.0, "stock": -25, "few": 3, "open": true, "in": {"n": [20, null, "城"]}}'
)
FIELDS = (
    '{"field": "order_id", "value": 7001}, {"field": "price", "value": 59.0}, {"field": "stock", "value": -25}, '
    '{"field": "few", "value": 3}, {"field": "open", "value": true}, '
    '{"field": "in", "value": {"n": [20, null, "城"]}}'
)
STALE_OBJECT = (
    '{"order_id": 7001, "price": 53.1, "stock": -27, "few": 2, "open": true, "in": {"n": [18, null, "城"]}}'
)


# Empty, cut, of a wrong type; the numbers of a stale one; all of it in another shape.
@pytest.mark.parametrize(
    ("result", "empty", "partial", "wrong_type", "stale", "changed"),
    [
        (OBJECT, "{}", OBJECT[:50], "[object Object]", STALE_OBJECT, f'"fields": [{FIELDS}]'),
        ("[1, 20]", "[]", "[1,", "2", "[0, 18]", '"items": [1, 20]'),
        ('"city 城"', "", '"cit', "null", '"city 城"', '"value": "city 城"'),
        ("ab", "", "a", "null", '"ab"', '"value": "ab"'),
        ("a", "", None, "null", '"a"', '"value": "a"'),
        ("", "", None, "null", '""', '"value": ""'),
        ("7", "", None, "NaN", "6", '"value": 7'),
        ("-0.5", "", "-0", "NaN", "-0.45", '"value": -0.5'),
        ("true", "", "tr", "NaN", "true", '"value": true'),
        ("{}", "{}", "{", "[object Object]", "{}", '"fields": []'),
        ("[]", "[]", "[", "0", "[]", '"items": []'),
    ],
)
def test_a_result_is_damaged(
    result: str, empty: str, partial: str | None, wrong_type: str, stale: str, changed: str
):
    assert {kind: damaged(KIND_OF[kind], result) for kind in DAMAGED} == {
        "empty": empty,
        "partial": result if partial is None else f"{partial}… [truncated]",
        "stale": f'{{"stale": true, "age_hours": 72, "data": {stale}}}',
        "wrong-type": wrong_type,
        "schema-changed": f'{{"api_version": 2, "payload": {{{changed}}}}}',
    }


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a": ', "}")])
def test_numbers_deep_in_a_result_do_not_age(opening: str, closing: str):
    results = [opening * depth + "7" + closing * depth for depth in (20, 21)]
    stale = [damaged(KIND_OF["stale"], result) for result in results]
    assert [result in text for result, text in zip(results, stale, strict=True)] == [False, True]


@given(st.sampled_from(DAMAGED), st.one_of(st.text(), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8,
).map(json.dumps)))  # fmt: skip
def test_any_text_can_be_damaged(kind: str, result: str):
    assert isinstance(damaged(KIND_OF[kind], result), str)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (
            "timeout",
            {"message": "The call of {x} timed out before it reached the server. Nothing was changed."},
        ),
        (
            "server-error",
            {"message": "Internal server error. The call of {x} was not carried out.", "status": 500},
        ),
        (
            "rate-limit",
            {
                "message": "Too many requests. The call of {x} was not carried out. Try again in 30 seconds.",
                "status": 429,
                "retry_after_seconds": 30,
            },
        ),
        (
            "permission",
            {
                "message": "This account is not allowed to use {x}. Trying again does not change that.",
                "status": 403,
            },
        ),
        (
            "down",
            {
                "message": "All tools are down for maintenance, no end is known. Trying again will not help.",
                "status": 503,
            },
        ),
    ],
)
def test_an_error_says_what_happened_and_what_helps(kind: str, error: dict[str, object]):
    assert error_text(KIND_OF[kind], "{x}", 30) == json.dumps({"error": error})


def test_only_what_a_new_version_changed_or_nobody_may_use_needs_no_second_call():
    other = {name: kind.remedy for name, kind in KIND_OF.items() if kind.remedy is not Remedy.retry}
    assert other == {
        "schema-changed": Remedy.carry_on,
        "permission": Remedy.tell,
        "down": Remedy.tell,
    }


def test_a_write_that_was_carried_out_is_not_to_be_made_again():
    for name, kind in KIND_OF.items():
        assert (kind.remedy_of(writes=True) is Remedy.carry_on) == (name in DAMAGED)
