"""What a format writes it reads back, whatever the calls; whatever else it reads, it never raises."""

import pytest
from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from tool_formats.calls_build import (
    MARKS,
    NamedCall,
    calls_of,
    every_format,
    exact,
    hostile,
    named_calls,
)
from wildtool.models.prompted import parse_message
from wildtool.tool_formats import CALL_FORMATS, REPAIRS, CallFormat, ToolCall
from wildtool.types import Request

TOOL = {
    "type": "function",
    "function": {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}},
}
several = settings(max_examples=a_fiftieth_of(1_500))
"""Drawing takes longer than reading, so every format reads whatever was drawn."""


@pytest.mark.long
@settings(max_examples=a_fiftieth_of(2_000))
@given(drawn=named_calls, thought=st.sampled_from(["", "Let me see [1].", "<tool_call>{}", "f(a=1)"]))
@example(drawn=[("", "f", {"a": "</think>"})], thought="")
@example(drawn=[("", "f", {"<|tool_call_start|>{": None})], thought="")
def test_written_calls_are_read_back_without_any_repair_alone_and_behind_reasoning(
    drawn: list[NamedCall], thought: str
):
    for format in every_format:
        note(format.name)
        calls = calls_of(format, drawn)
        written = format.write("", calls)
        read = format.read(written)
        assert exact(read.calls) == exact(calls)
        assert (read.text, read.repairs, read.reasoning) == ("", (), None)
        read = format.read(f"<think>\n{thought}\n</think>\n\n{written}")
        assert exact(read.calls) == exact(calls)
        assert (read.reasoning, read.repairs) == (thought, ())


@several
@given(said=hostile)
def test_hostile_text_never_raises_and_repairs_have_names(said: str):
    for format in every_format:
        note(format.name)
        read = format.read(said, [TOOL])
        assert set(read.repairs) <= set(REPAIRS)
        parse_message({"role": "assistant", "content": said}, format, Request([], [TOOL]))


WORD = st.from_regex("[a-z]{1,8}", fullmatch=True)
FLAT = st.dictionaries(WORD, WORD | st.integers() | st.booleans(), max_size=3)


@several
@given(calls=st.lists(st.builds(ToolCall, WORD, FLAT), min_size=1, max_size=3), share=st.floats(0, 1))
def test_what_breaks_off_is_never_completed(calls: list[ToolCall], share: float):
    """Whole arguments before the break count, half of a text, number or word does not."""
    for format in every_format:
        note(format.name)
        written = format.write("", calls)
        for read, call in zip(format.read(written[: int(share * len(written))]).calls, calls, strict=False):
            assert call.name.startswith(read.name)
            if isinstance(read.arguments, dict):
                assert read.arguments.items() <= call.arguments.items()


@pytest.mark.long
@pytest.mark.parametrize("format", every_format, ids=lambda format: format.name)
def test_a_long_row_of_one_mark_is_read(format: CallFormat):
    """Reading that is not linear, or that recurses, would not come to an end here."""
    for mark in filter(str.strip, MARKS):
        read = format.read(mark * (25_000 // len(mark)))
        assert set(read.repairs) <= set(REPAIRS), mark


def test_names_of_formats_are_their_keys():
    assert [format.name for format in CALL_FORMATS.values()] == list(CALL_FORMATS)
