"""What `--expose search:…` takes, and what a run keeps of it."""

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.expose.exposure import Exposure, exposure_of
from wildtool.alter.expose.search.exposure import SearchExposure
from wildtool.alter.expose.search.settings import (
    FINDERS,
    TOOL_FIELDS,
    VENDORS,
    Calling,
    OfHistory,
    SearchSettings,
    ShownBefore,
)
from wildtool.errors import RecordError, UsageError

BY_WORDS = ("bm25", "regex", "fused")
FIELDS = st.lists(st.sampled_from(TOOL_FIELDS), min_size=1, unique=True).map(
    lambda chosen: tuple(field for field in TOOL_FIELDS if field in chosen)
)
REST = {
    "k": st.integers(1, 100),
    "shown": st.sampled_from(get_args(ShownBefore)),
    "calls": st.sampled_from(get_args(Calling)),
    "history": st.sampled_from(get_args(OfHistory)),
}
SETTINGS = st.one_of(
    st.builds(SearchSettings, retriever=st.sampled_from(BY_WORDS), fields=FIELDS, **REST),
    st.builds(SearchSettings, retriever=st.sampled_from(list(FINDERS)), **REST),
    st.sampled_from(list(VENDORS.values())),
)


@given(SETTINGS)
def test_settings_are_read_as_they_are_written(settings: SearchSettings):
    exposure = SearchExposure(settings)
    assert exposure_of(str(exposure)) == exposure
    assert Exposure.recorded(json.loads(json.dumps(exposure.identity()))) == exposure


@given(SETTINGS, SETTINGS)
def test_other_settings_have_another_name_and_another_folder(one: SearchSettings, other: SearchSettings):
    first, second = SearchExposure(one), SearchExposure(other)
    assert (first.identity() == second.identity()) == (one == other)
    assert (first.label == second.label) == (one == other)
    assert not {*"/=,:"} & {*"".join(first.folder_parts)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("anthropic-bm52", "did you mean 'anthropic-bm25'"),
        ("anthropic-regex,k=3", "give it alone"),
        ("k=0", "k=0"),
        ("k=101", "from 1 to 100"),
        ("k=²", "k=²"),
        ("k=3,k=4", "names k twice"),
        ("bm25,regex", "names retriever twice"),
        ("shown=all", "unknown shown 'all'"),
        ("fields=title", "unknown field 'title'"),
        ("perfect,fields=name", "leave them out"),
        ("colour=red", "unknown setting 'colour'"),
        ("retriever=", "unknown retriever"),
        ("openai/text-embedding-3-small", "unknown setting"),
    ],
)
def test_what_means_nothing_is_refused_by_name(text: str, words: str):
    with pytest.raises(UsageError) as error:
        exposure_of(f"search:{text}")
    assert words in str(error.value)


@pytest.mark.parametrize("words", [["shown=all"], ["colour"], "k", 3, None])
def test_a_damaged_record_is_refused(words: object):
    with pytest.raises(RecordError) as error:
        Exposure.recorded({"expose": {"name": "search", "words": words}})
    assert "identity.expose" in str(error.value)
