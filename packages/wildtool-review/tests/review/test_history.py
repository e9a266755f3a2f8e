"""What a reviewer's edits amount to."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wildtool_data.pointers import ABSENT, Change, overlap, pointer, same_json, value_at, with_change
from wildtool_review.history import net_changes
from wildtool_review.log import GENESIS, Draft, Entry, chained

LEAF = st.integers(0, 3)
CONTENT = st.fixed_dictionaries(
    {"a": st.lists(LEAF, min_size=2, max_size=2), "b": st.dictionaries(st.sampled_from("xy"), LEAF)}
)
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("/a"), st.lists(LEAF, min_size=1, max_size=3)),
        st.tuples(st.sampled_from(["/a/0", "/a/1"]), LEAF),
        st.tuples(st.just("/b"), st.dictionaries(st.sampled_from("xy"), LEAF)),
        st.tuples(st.sampled_from(["/b/x", "/b/y"]), LEAF | st.just(ABSENT)),
        st.tuples(st.just(""), CONTENT),
    ),
    max_size=8,
)


def edited(content: Any, edits: Sequence[tuple[str, Any]]) -> tuple[Any, list[Entry]]:
    """The content after those edits that are possible, and their entries."""
    drafts: list[Draft] = []
    for field, after in edits:
        before = value_at(content, field)
        possible = before is not ABSENT or field.startswith("/b/")
        if possible and not same_json(before, after):
            drafts.append(Draft("edit", "ann", "s", field=field, before=before, after=after, when="now"))
            content = with_change(content, Change(field, before, after))
    return content, chained(drafts, 0, GENESIS)


@given(CONTENT, EDITS)
def test_the_net_changes_of_edits_lead_to_the_same_content(content: Any, edits: Sequence[tuple[str, Any]]):
    wanted, entries = edited(content, edits)
    changes = list(net_changes(entries))
    made = content
    for change in changes:
        made = with_change(made, change)
    assert same_json(made, wanted)
    fields = [change.field for change in changes]
    assert not [(a, b) for a in fields for b in fields if a is not b and overlap(a, b)]


def test_an_edit_inside_of_an_edited_list_belongs_to_it():
    _, entries = edited({"a": [1, 2]}, [("/a", [5, 6, 7]), ("/a/1", 8), (pointer("a", 1), 9)])
    assert list(net_changes(entries)) == [Change("/a", [1, 2], [5, 9, 7])]


def test_edits_that_are_taken_back_change_nothing():
    _, entries = edited({"a": [1, 2]}, [("/a/0", 3), ("/a/0", 1)])
    assert list(net_changes(entries)) == []
