"""What a model is shown in place of a result."""

import json

from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.failures.kinds import KIND_OF, Remedy, damaged

DAMAGED = [name for name, kind in KIND_OF.items() if kind.damage]


@given(st.sampled_from(DAMAGED), st.one_of(st.text(), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8,
).map(json.dumps)))  # fmt: skip
def test_any_text_can_be_damaged(kind: str, result: str):
    assert isinstance(damaged(KIND_OF[kind], result), str)


def test_a_write_that_was_carried_out_is_not_to_be_made_again():
    for name, kind in KIND_OF.items():
        assert (kind.remedy_of(writes=True) is Remedy.carry_on) == (name in DAMAGED)
