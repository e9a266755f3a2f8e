"""Normal forms are Unicode's own, and sort long runs of combining marks in parts."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.toolcall.text.normal_form import normal_form

FORMS: list[Any] = ["NFC", "NFD", "NFKC", "NFKD"]
MARKS = "\u0301\u0316"
WRITTEN = st.text(alphabet=f"aé가ﬁ{MARKS}", max_size=25)


@pytest.mark.parametrize("form", FORMS)
@given(parts=st.lists(WRITTEN, max_size=3))
def test_what_people_write_is_in_unicode_s_form_in_a_long_text_as_well(form: Any, parts: list[str]) -> None:
    long = ("x" * 1_000).join(["", *parts])
    assert normal_form(form, long) == unicodedata.normalize(form, long)


@pytest.mark.parametrize("form", FORMS)
def test_a_long_run_of_marks_keeps_all_of_them(form: Any) -> None:
    """Sorted as one run it would take minutes."""
    found = normal_form(form, "x" + MARKS * 150_000)
    assert [found.count(mark) for mark in MARKS] == [150_000, 150_000]
