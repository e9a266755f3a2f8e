"""Values that models write nearly as JSON: value, end and repairs of each, and what is not read."""

from typing import Any

import pytest

from wildtool.tool_formats.lenient_json import (
    MAX_STRICT_FAILURES,
    MAX_VALUE_DEPTH,
    LenientReader,
    UnreadableValueError,
)

Read = tuple[Any, int, list[str]] | None


def read(text: str) -> Read:
    try:
        return LenientReader(text).value(0)
    except UnreadableValueError:
        return None


@pytest.mark.parametrize(("end", "deepest"), [("", MAX_VALUE_DEPTH + 1), (",", MAX_VALUE_DEPTH)])
def test_nesting_is_read_up_to_the_limit(end: str, deepest: int) -> None:
    """Strictly, and with a comma that needs a repair."""

    def nested(levels: int) -> str:
        return "[" * levels + "1" + end + "]" * levels

    assert read(nested(deepest)) is not None
    assert read(nested(deepest + 1)) is None


def test_strict_json_is_tried_until_it_failed_too_often() -> None:
    reader = LenientReader('{"a": true}x[1,]')
    for _ in range(MAX_STRICT_FAILURES):
        assert reader.value(0) == ({"a": True}, 11, [])
        assert reader.value(12) == ([1], 16, ["trailing-comma"])
    assert reader.value(0) == ({"a": True}, 11, ["json-literal"])
