"""The log: any change of it is found, and names its first bad line."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.errors import RecordError
from wildtool_data.pointers import ABSENT
from wildtool_review.log import GENESIS, Draft, chained, entry_line, now, parse_entry, read_log, verified

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def log_lines(number: int = 4) -> list[bytes]:
    drafts = [
        Draft("note", "ann", "s1", note=f"remark {k}", when="2026-11-22T10:00:00.000Z") for k in range(number)
    ]
    return [entry_line(entry) for entry in chained(drafts, 0, GENESIS)]


@given(st.lists(JSON | st.just(ABSENT), max_size=4), st.text(st.characters(), max_size=30))
def test_entries_come_back_from_their_lines_whatever_they_hold(values: list[Any], note: str):
    entries = chained(
        [Draft("edit", "ann", "s", before=value, after=value, note=note) for value in values], 0, GENESIS
    )
    assert list(verified(map(entry_line, entries), "log")) == entries


def spoiled(lines: list[bytes]) -> dict[str, tuple[list[bytes], int]]:
    """Ways to falsify a log of four lines, with the first bad line."""
    first, second, third, fourth = lines
    forged = chained([Draft("note", "bob", "s1", note="other", when="2026-11-22T10:00:00.000Z")], 1, GENESIS)
    return {
        "a word changed": ([first, second.replace(b"remark 1", b"remark 9"), third, fourth], 2),
        "a blank added": ([first, second, third.replace(b'"kind":', b'"kind": '), fourth], 3),
        "a field added": ([first, second, third[:-1] + b',"extra":1}', fourth], 3),
        "a line removed": ([first, third, fourth], 2),
        "lines swapped": ([first, third, second, fourth], 2),
        "a line twice": ([first, first, second, third, fourth], 2),
        "a line replaced by one with a right digest": ([first, entry_line(forged[0]), third, fourth], 2),
        "not JSON": ([first, second, third, b"{"], 4),
        "the end removed": ([first, second, third], 4),
    }


@pytest.mark.parametrize("way", spoiled(log_lines()))
def test_a_falsified_log_is_named_with_its_first_bad_line(way: str):
    lines, bad = spoiled(log_lines())[way]
    with pytest.raises(RecordError, match=rf"log, line {bad}:"):
        list(verified(lines, "log", last=parse_entry(log_lines()[-1]).digest))


def test_a_file_that_ends_in_the_middle_of_a_line_is_refused(tmp_path: Path):
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"\n".join(log_lines()))
    with pytest.raises(RecordError, match="line 4: ends in the middle"):
        list(read_log(file))


@given(st.binary(max_size=60))
def test_bytes_that_are_no_entry_are_refused_and_nothing_else_is_raised(line: bytes):
    with pytest.raises(RecordError, match="line 1"):
        list(verified([line], "log"))


def test_an_entry_has_its_time_in_utc_to_the_millisecond():
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", now())
