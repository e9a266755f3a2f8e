"""What finds tools, and in what order."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alter.expose.search.search_play import TOOLS, call, calls, settings_of, tool
from wildtool.alter.expose.search.finding import ToolFinder, fused
from wildtool.types import Message, Request, Tool


def found(text: str, query: str, tools: Sequence[Tool] = TOOLS, *replies: Message) -> list[str]:
    """What a search finds. Args: replies: of the model that its retriever asks."""
    settings = settings_of(text)
    search = ToolFinder(settings).find(Request([], tools), query, settings.k, ["sail"])
    try:
        next(search)
        for reply in replies:
            search.send(reply)
    except StopIteration as end:
        return end.value
    raise AssertionError("the retriever asks once more")


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    ("fields", "query", "names"),
    [
        ("name", "tides", ["get_tides"]),
        ("name", "coast", []),
        ("name+description", "coast", ["get_tides"]),
        ("name+description", "port", []),
        ("parameters", "port", ["get_tides"]),
        ("parameters", "ship", []),
        ("parameter-descriptions", "ship", ["get_tides"]),
    ],
)
@pytest.mark.parametrize("retriever", ["bm25", "regex"])
def test_words_are_sought_in_the_chosen_fields_alone(
    retriever: str, fields: str, query: str, names: list[str]
):
    assert found(f"{retriever},fields={fields}", query) == names


def test_a_pattern_finds_in_the_order_of_the_tools_and_minds_case():
    assert found("regex", "^mix|^sail") == ["mix_paint", "sail"]
    assert found("regex", "^(sail|mix)") == ["mix_paint", "sail"]
    assert found("regex", "TIDES") == []
    assert found("regex", "(?i)TIDES") == ["get_tides"]


def test_a_pattern_that_others_would_hang_on_is_answered():
    assert found("regex", "^(a+)+$", [tool("long", "a" * 100_000 + "b")]) == []


def test_no_more_are_found_than_asked_for():
    many = [tool(f"tool_{number}", "tides") for number in range(9)]
    for text in ("", "regex"):
        assert found(text, "tides", many) == [f"tool_{number}" for number in range(5)]
    names = json.dumps([f"tool_{number}" for number in range(9)])
    for text in ("own", "static", "fused"):
        assert len(found(text, "tides", many, says(names))) == 5


def test_a_model_that_finds_names_only_tools_that_there_are():
    assert found("own", "paint", TOOLS, says('["mix_paint", "sail", "drop_all"]')) == ["mix_paint", "sail"]
    assert found("own", "paint", TOOLS, calls(call("sail"))) == []
    assert found("static", "paint", TOOLS, says("no list")) == []


def test_right_answers_are_found_whatever_is_searched():
    assert found("perfect", "zebra") == ["sail"]


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.lists(st.sampled_from("abcdef"), unique=True))
def test_what_both_rankings_have_before_another_is_before_it_in_both_fused(one: list[str], other: list[str]):
    both = fused(one, other)
    assert sorted(both) == sorted({*one, *other})
    for first in one:
        for second in one[one.index(first) + 1 :]:
            if first in other and (second not in other or other.index(first) < other.index(second)):
                assert both.index(first) < both.index(second)


def test_equal_ranks_are_in_the_order_of_the_first():
    assert fused(["a", "b"], ["b", "a"]) == ["a", "b"]
