"""What a model is shown in place of a result."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.failures.kinds import FAILURE_KINDS, KIND_OF, Remedy, damaged, error_text

DAMAGED = [name for name, kind in KIND_OF.items() if kind.damage]
ERRORS = [name for name, kind in KIND_OF.items() if not kind.damage]
RESULT = json.dumps({"order_id": 7001, "price": 59.0, "stock": 12, "open": True, "names": ["Ann", "Bo"]})


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("empty", "{}"),
        ("partial", RESULT[: len(RESULT) // 2] + "… [truncated]"),
        ("wrong-type", "[object Object]"),
    ],
)
def test_a_result_is_damaged(kind: str, shown: str):
    assert damaged(FAILURE_KINDS[kind], RESULT) == shown


def test_a_stale_result_has_lower_numbers_but_the_same_names():
    stale = json.loads(damaged(FAILURE_KINDS["stale"], RESULT))
    assert (stale["stale"], stale["age_hours"]) == (True, 72)
    assert stale["data"] == {
        "order_id": 7001,
        "price": 53.1,
        "stock": 11,
        "open": True,
        "names": ["Ann", "Bo"],
    }


def test_a_changed_schema_loses_nothing():
    changed = json.loads(damaged(FAILURE_KINDS["schema-changed"], RESULT))
    fields = {field["field"]: field["value"] for field in changed["payload"]["fields"]}
    assert fields == json.loads(RESULT)
    assert json.loads(damaged(FAILURE_KINDS["schema-changed"], "[1]"))["payload"] == {"items": [1]}


def test_what_was_empty_before_is_not_damaged_by_being_empty():
    assert [damaged(FAILURE_KINDS["empty"], text) for text in ("{}", "[]", "")] == ["{}", "[]", ""]


@given(st.sampled_from(DAMAGED), st.one_of(st.text(), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8,
).map(json.dumps)))  # fmt: skip
def test_any_text_can_be_damaged(kind: str, result: str):
    assert isinstance(damaged(KIND_OF[kind], result), str)


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_names_the_tool_or_all_and_says_whether_trying_again_helps(kind: str):
    error = json.loads(error_text(KIND_OF[kind], "pay_{order}", 30))["error"]
    assert ("pay_{order}" in error["message"]) == (kind != "down")
    assert ("Trying again" in error["message"]) == (KIND_OF[kind].remedy is Remedy.tell)
    assert error.get("retry_after_seconds") == (30 if kind == "rate-limit" else None)


def test_a_write_that_was_carried_out_is_not_to_be_made_again():
    for name, kind in KIND_OF.items():
        assert (kind.remedy_of(writes=True) is Remedy.carry_on) == (name in DAMAGED)
