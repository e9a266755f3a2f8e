"""Calls in shapes that no format has: names, arguments and formats of all that a text makes."""

import pytest

from wildtool.tool_formats.loose_calls import is_tool


@pytest.mark.parametrize(
    ("text", "name", "known"),
    [
        ("cancel-policy", "CancelPolicy", True),
        ("functions.cancelPolicy", "cancel_policy", True),
        ("a.b:c/d__cancel_policy", "cancel_policy", True),
        ("policy", "cancel_policy", False),
        ("cancel_policy_2", "cancel_policy", False),
        ("x" * 198 + ".f", "f", True),
        ("x" * 200 + ".f", "f", False),
    ],
)
def test_a_tool_is_known_by_its_name_however_it_is_written(text: str, name: str, known: bool) -> None:
    assert is_tool(text, name) is known
