"""Parts of items by pointer: what differs between two contents, applied to the first, gives the second."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wildtool_data.pointers import (
    ABSENT,
    content_digest,
    differences,
    overlap,
    same_json,
    value_at,
    with_change,
)

KEYS = st.sampled_from(["a", "b", "a/b", "~", "~1", "", "0"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0, "", "x", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_the_differences_of_two_contents_lead_from_one_to_the_other(old: Any, new: Any):
    made = old
    for change in differences(old, new):
        assert same_json(value_at(old, change.field), change.before)
        assert same_json(value_at(new, change.field), change.after)
        made = with_change(made, change)
    assert same_json(made, new)
    assert content_digest(made) == content_digest(new)


@given(JSON, JSON)
def test_differences_never_overlap(old: Any, new: Any):
    fields = [change.field for change in differences(old, new)]
    assert not [(a, b) for a in fields for b in fields if a is not b and overlap(a, b)]


@given(JSON, JSON)
def test_a_change_leaves_the_content_that_it_started_from_alone(old: Any, new: Any):
    before = content_digest(old)
    for change in differences(old, new):
        with_change(old, change)
    assert content_digest(old) == before


def test_true_is_not_one_and_one_is_not_one_point_zero():
    assert not same_json(True, 1)
    assert not same_json(1, 1.0)
    assert same_json({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same_json(None, ABSENT)
