"""Calls in shapes that no format has: names, arguments and formats of all that a text makes."""

import pytest

from wildtool.tool_formats.loose_calls import OfferedTools, is_tool
from wildtool.types import Tool


def tool(name: str, **parameters: str) -> Tool:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in parameters.items()}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


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


def test_offered_tools_have_names_and_parameters_in_their_order() -> None:
    tools: list[Tool] = [
        tool("get_weather", city="string", days="integer"),
        {"name": "bare", "parameters": {"properties": {"x": {}}}},
        *(tool(name) for name in ("b cd", "odd name", "a.b:c/d-e", "é", "---")),
        *({"function": function} for function in (5, {"name": 5}, {"name": ""})),
    ]
    offered = OfferedTools(tools)
    assert offered.odd_names == ["odd name", "b cd", "---", "é"]
    assert [name in offered for name in ("GetWeather", "x.bare", "Odd_Name", "É", "", "---", "other")] == [
        True,
        True,
        True,
        True,
        False,
        False,
        False,
    ]
    assert [offered.parameters(name) for name in ("my.get-weather", "bare", "other")] == [
        ["city", "days"],
        ["x"],
        [],
    ]
