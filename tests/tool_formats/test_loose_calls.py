"""Calls in shapes that no format has: names, arguments and formats of all that a text makes."""

from typing import Any

import pytest

from wildtool.tool_formats.any_format import TextCall, calls_in_text
from wildtool.tool_formats.loose_calls import OfferedTools, is_tool
from wildtool.types import Tool


def tool(name: str, **parameters: str) -> Tool:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in parameters.items()}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [tool("get_weather", city="string", days="integer"), tool("Market Trends API", x="string")]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("get_weather('Oslo', 3)", [("get_weather", {"city": "Oslo", "days": 3}, "")]),
        ("get_weather('Oslo', 3, 'x')", [("get_weather", {"city": "Oslo", "days": 3, "2": "x"}, "")]),
        ("get_weather('Oslo', days=3)", [("get_weather", {"days": 3, "city": "Oslo"}, "")]),
        ("get_weather(**{'city': 'Oslo'})", [("get_weather", {"city": "Oslo"}, "pythonic")]),
        ("get_weather({'city': 'Oslo'}, 5)", [("get_weather", {"city": {"city": "Oslo"}, "days": 5}, "")]),
        ("get_weather(Oslo)", []),
        ("get_weather([Oslo])", [("get_weather", {"city": ["Oslo"]}, "")]),
        ("get_weather(city=Oslo)", [("get_weather", {"city": "Oslo"}, "pythonic")]),
        ("get_weather(city: Oslo)", []),
        ("get_weather(city: 'Oslo')", [("get_weather", {"city": "Oslo"}, "")]),
        ("get_weather(city='Oslo'; days=3)", []),
        ("get_weather(city='Oslo'", [("get_weather", {"city": "Oslo"}, "pythonic")]),
        ("get_weather()", [("get_weather", {}, "pythonic")]),
        ("get_weather ()", []),
        (
            "[get_weather(city='Oslo'), search(q=1)]",
            [("get_weather", {"city": "Oslo"}, "pythonic"), ("search", {"q": 1}, "pythonic")],
        ),
        (
            "get_weather(city='Oslo'), search(q=1)",
            [("get_weather", {"city": "Oslo"}, "pythonic"), ("search", {"q": 1}, "pythonic")],
        ),
        (
            "get_weather(city='Oslo'); get_weather(city='Rome')",
            [("get_weather", {"city": "Oslo"}, "pythonic"), ("get_weather", {"city": "Rome"}, "pythonic")],
        ),
        ("search(q=1)", [("search", {"q": 1}, "pythonic")]),
        ("Then search(q=1)", []),
        ("x\nsearch(q=1)", [("search", {"q": 1}, "")]),
        ("search(1)", []),
        ("[search(1)]", [("search", {"0": 1}, "")]),
        ("http://search(q=1)", []),
        ("Call: Market Trends API(x='a')", [("Market Trends API", {"x": "a"}, "")]),
        ("Market Trends API (x='a')", [("Market Trends API", {"x": "a"}, "")]),
        ("market_trends_api(x='a')", [("market_trends_api", {"x": "a"}, "pythonic")]),
        (
            '{"tool": "get_weather", "tool_input": "{\\"city\\": \\"Oslo\\"}"}',
            [("get_weather", {"city": "Oslo"}, "")],
        ),
        ('{"action": {"name": "get_weather", "args": {}}}', [("get_weather", {}, "")]),
        (
            (
                '{"calls": [{"tool": "get_weather", "params": {"city": "Oslo"}}, {"tool": "other", "param'
                's": {}}]}'
            ),
            [("get_weather", {"city": "Oslo"}, "")],
        ),
        ('x\n{"tool": "other", "params": {}}', []),
        ('x\n{"name": "other", "arguments": {}}', [("other", {}, "json-list")]),
        ('x\n[{"name": "other", "arguments": {}, "id": 1}]', [("other", {}, "json-list")]),
        ('x\n{"name": "other", "arguments": {}, "more": 1}', []),
        ('x\n{"name": "other", "arguments": "y"}', []),
        ('x\n{"get_weather": {"city": "Oslo"}}', [("get_weather", {"city": "Oslo"}, "")]),
        ('x\n{"other": {"city": "Oslo"}}', []),
        ('x\n{"get_weather": "Oslo"}', []),
        ('x\nget_weather {"city": "Oslo"}', [("get_weather", {"city": "Oslo"}, "")]),
        ('x\nget_weather: {"city": "Oslo"}', [("get_weather", {"city": "Oslo"}, "")]),
        ('x\nother: {"city": "Oslo"}', []),
        ('get_weather\n{"city": "Oslo"}', [("get_weather", {"city": "Oslo"}, "")]),
        ('<get_weather>{"city": "Oslo"}</get_weather>', [("get_weather", {"city": "Oslo"}, "")]),
        (
            "<get_weather><city> Oslo </city><days>3</days></get_weather>",
            [("get_weather", {"city": "Oslo", "days": "3"}, "")],
        ),
        (
            "<get_weather><parameter=city>Oslo</parameter></get_weather>",
            [("get_weather", {"city": "Oslo"}, "")],
        ),
        ("<other><city>Oslo</city></other>", []),
        ("<get_weather><city>Oslo</city>", []),
        ("<tool=get_weather></tool>", [("get_weather", {}, "")]),
        ("Action: get_weather", [("get_weather", {}, "react")]),
        ('Action: other\nAction Input: {"a": 1}', [("other", {"a": 1}, "react")]),
        ('x Action: get_weather Action Input: {"city": "Oslo"}', []),
        (
            '**Action:** get_weather\n**Action Input:** {"city": "Oslo"}',
            [("get_weather", {"city": "Oslo"}, "")],
        ),
        (
            (
                '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```\nand\n```\nget_weat'
                'her(city="Rome")\n```'
            ),
            [("get_weather", {"city": "Oslo"}, "hammer"), ("get_weather", {"city": "Rome"}, "")],
        ),
        (
            '```python\nimport x\nget_weather(city="Oslo")\n```\nget_weather(city="Rome")',
            [("get_weather", {"city": "Rome"}, "")],
        ),
        ('```\nget_weather(city="Oslo")', [("get_weather", {"city": "Oslo"}, "")]),
        (
            (
                'Hi <tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call> get_wea'
                'ther(city="Rome")'
            ),
            [("get_weather", {"city": "Oslo"}, "hermes"), ("get_weather", {"city": "Rome"}, "")],
        ),
        (
            (
                'get_weather(city="Rome")\n<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo'
                '"}}</tool_call>'
            ),
            [("get_weather", {"city": "Rome"}, "pythonic"), ("get_weather", {"city": "Oslo"}, "hermes")],
        ),
        ('get_weather(city="Rome")\n<tool_call>oops', [("get_weather", {"city": "Rome"}, "pythonic")]),
        ('<tool_call>{"name": "other", "arguments": {"a": 1}}</tool_call>', [("other", {"a": 1}, "hermes")]),
        ('{"name": "get_weather", "arguments": {"type": "object", "properties": {}}}', []),
        ('{"name": "get_weather"}', [("get_weather", {}, "llama3-json")]),
        ('{"name": "other"}', []),
        ('<think>x</think>\nget_weather(city="Oslo")', [("get_weather", {"city": "Oslo"}, "pythonic")]),
        ('{"a": {"b": {"c": {"d": {"e": {"name": "get_weather", "arguments": {}}}}}}}', []),
        (
            (
                '{"tool_calls": {"tool_calls": {"tool_calls": {"tool_calls": {"tool_calls": {"name": "get'
                '_weather", "args": {}}}}}}}'
            ),
            [("get_weather", {}, "")],
        ),
        (
            (
                '{"tool_calls": {"tool_calls": {"tool_calls": {"tool_calls": {"tool_calls": {"tool_calls"'
                ': {"name": "get_weather", "args": {}}}}}}}}'
            ),
            [],
        ),
        ("```\nx\n```\nsearch(q=1)", [("search", {"q": 1}, "")]),
        ("```python\nimport x\n```\nsearch(q=1)", [("search", {"q": 1}, "")]),
        ("```python\nimport x\nf(1)\n```search(q=1)", []),
        ('```json\n{"name": "other", "arguments": {}}\n```\nand text', []),
        ("Text.\n```\nsearch(q=1)\n```\nText.", []),
        ("search(q=1), search(2)", []),
        ("search(2), search(q=1)", []),
        ("x\n  search(q=1)", [("search", {"q": 1}, "")]),
        ("x\nsee search(q=1)", []),
        ("search(q=1) and more", []),
        ("[search(q=1), other(2)] tail", []),
        ("x [search(2)]", []),
        ('Use (get_weather(city="Oslo")))', []),
        ('get_weather(city="Oslo")] rest', []),
        ('get_weather (city="Oslo")', [("get_weather", {"city": "Oslo"}, "")]),
        ('f(get_weather(city="Oslo"))', []),
        ('get_weather(city="a", city="b")', [("get_weather", {"city": "b"}, "pythonic")]),
        ('get_weather("a", {"b": 1})', [("get_weather", {"city": "a", "days": {"b": 1}}, "")]),
        ("get_weather(x==1)", []),
        (
            'get_weather(days=3, **{"city": "Oslo"})',
            [("get_weather", {"days": 3, "city": "Oslo"}, "pythonic")],
        ),
        ("get_weather(**[1])", [("get_weather", {"city": [1]}, "")]),
        ('get_weather("Oslo",)', [("get_weather", {"city": "Oslo"}, "")]),
        ('get_weather("Oslo"  ,  3 )', [("get_weather", {"city": "Oslo", "days": 3}, "")]),
        ('{"function": "get_weather", "inputs": {"city": "Oslo"}}', [("get_weather", {"city": "Oslo"}, "")]),
        (
            '{"recipient_name": "functions.get_weather", "parameters": {"city": "Oslo"}}',
            [("functions.get_weather", {"city": "Oslo"}, "")],
        ),
        ('{"api": "get_weather", "kwargs": null}', [("get_weather", {}, "")]),
        ('{"name": "get_weather", "args": "text"}', [("get_weather", "text", "")]),
        (
            '{"name": "get_weather", "args": "{\\"city\\": \\"Oslo\\"} x"}',
            [("get_weather", {"city": "Oslo"}, "")],
        ),
        (
            '{"tool_uses": [{"tool": {"name": "get_weather", "args": {}}}], "actions": []}',
            [("get_weather", {}, "")],
        ),
        ('[[{"name": "get_weather", "args": {}}]]', []),
        ("x\n[]", []),
        ("x\n[5]", []),
        (
            'x\n{"name": "other", "arguments": {}} {"name": "get_weather", "arguments": {}}',
            [("get_weather", {}, "json-list")],
        ),
        ('x\nget_weather\n\n{"city": "Oslo"}', [("get_weather", {"city": "Oslo"}, "")]),
        ('x\n"get_weather": {"city": "Oslo"}', []),
        ('GETWEATHER(city="Oslo")', [("GETWEATHER", {"city": "Oslo"}, "pythonic")]),
        ('tools/get_weather(city="Oslo")', [("tools/get_weather", {"city": "Oslo"}, "pythonic")]),
        ('my__get_weather(city="Oslo")', [("my__get_weather", {"city": "Oslo"}, "pythonic")]),
        ('get.weather(city="Oslo")', [("get.weather", {"city": "Oslo"}, "pythonic")]),
        ('weather(city="Oslo")', [("weather", {"city": "Oslo"}, "pythonic")]),
        ('<get_weather>\n{"city": "Oslo"}\n</get_weather> x', []),
        ('<get_weather><arg name="city">Oslo</arg></get_weather>', [("get_weather", {"city": "Oslo"}, "")]),
        ("<get_weather></get_weather>", [("get_weather", {}, "")]),
        (
            '<call name="get_weather"><param name="city">Oslo</param></call>',
            [("get_weather", {"city": "Oslo"}, "")],
        ),
        ("Action: get_weather\nAction Input: Oslo", [("get_weather", "Oslo", "react")]),
        (
            'Action: get_weather\n\nAction Input: {"city": "Oslo"}\nAction: get_weather\nAction Input: {"city": "Rome"}',
            [("get_weather", {"city": "Oslo"}, "react"), ("get_weather", {"city": "Rome"}, "react")],
        ),
        ('Action: Market Trends API\nAction Input: {"x": "a"}', [("Market Trends API", {"x": "a"}, "react")]),
        ('I will not do it.\nget_weather(city="Oslo")', [("get_weather", {"city": "Oslo"}, "")]),
        ('get_weather(city="Oslo")\nI did not run it.', []),
    ],
)
def test_the_calls_of_a_text_have_these_names_arguments_and_formats(
    text: str, calls: list[tuple[str, Any, str]]
) -> None:
    assert calls_in_text(text, TOOLS) == tuple(TextCall(*call) for call in calls)


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
