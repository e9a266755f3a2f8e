"""Calls that a reply makes in its text are found in every format and shape, and none where it only mentions one."""

import pytest
from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from tool_formats.calls_build import MARKS, every_format, exact, hostile, text, value
from wildtool.tool_formats import ToolCall
from wildtool.tool_formats.any_format import calls_in_text
from wildtool.types import Tool


def tool(name: str, **parameters: str) -> Tool:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in parameters.items()}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [tool("get_weather", city="string", days="integer"), tool("Market Trends API", x="string")]
LISBON = {"city": "Lisbon"}


@pytest.mark.parametrize(
    ("reply", "format"),
    [
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Lisbon"}}</tool_call>', "hermes"),
        ('I look it up <tool_call>{"name": "get_weather", "arguments": {"city": "Lisbon"}}', "hermes"),
        ('{"name": "get_weather", "parameters": {"city": "Lisbon"}}', "llama3-json"),
        ('[{"name": "get_weather", "arguments": {"city": "Lisbon"}}]', "json-list"),
        ('```json\n{"name": "get_weather", "arguments": {"city": "Lisbon"}}\n```', "hammer"),
        ('{"function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Lisbon\\"}"}}', "json-list"),
        ('{"function_call": {"name": "get_weather", "arguments": {"city": "Lisbon"}}}', ""),
        (
            '{"tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Lisbon"}}}]}',
            "json-list",
        ),
        ('{"tool": "get_weather", "args": {"city": "Lisbon"}}', ""),
        ('{"action": "get_weather", "action_input": {"city": "Lisbon"}}', ""),
        ('{"get_weather": {"city": "Lisbon"}}', ""),
        ("[get_weather(city='Lisbon')]", "pythonic"),
        ("get_weather(city='Lisbon')", "pythonic"),
        ("functions.get_weather(city='Lisbon')", "pythonic"),
        ("GetWeather(city='Lisbon')", "pythonic"),
        ("get_weather('Lisbon')", ""),
        ('get_weather({"city": "Lisbon"})', ""),
        ("`get_weather(city='Lisbon')`", ""),
        ("One moment. [get_weather(city='Lisbon')]", "pythonic"),
        ("Let me check.\n\nget_weather(city='Lisbon')", ""),
        ("我来查询：get_weather(city='Lisbon')", ""),
        ("```tool_code\nprint(get_weather(city='Lisbon'))\n```", ""),
        ("Let me see.\n```python\nweather = get_weather(city='Lisbon')\nprint(weather)\n```", ""),
        ('Action: get_weather\nAction Input: {"city": "Lisbon"}', "react"),
        ('Thought: I look it up. Action: get_weather Action Input: {"city": "Lisbon"}', ""),
        ('<function=get_weather>{"city": "Lisbon"}</function>', ""),
        ('<function name="get_weather">{"city": "Lisbon"}</function>', ""),
        ("<get_weather><city>Lisbon</city></get_weather>", ""),
        ('<invoke name="get_weather"><parameter name="city">Lisbon</parameter></invoke>', "minimax"),
        ('[TOOL_CALLS]get_weather{"city": "Lisbon"}', "mistral"),
        ('<|channel|>commentary to=functions.get_weather<|message|>{"city": "Lisbon"}<|call|>', "harmony"),
        ("<think>Which?</think>get_weather(city='Lisbon')", "pythonic"),
        ("get_weather(city='Lisbon')\n\nI do not have more data than this.", "pythonic"),
    ],
)
def test_a_call_written_as_text_is_found_with_its_format(reply: str, format: str):
    (call,) = calls_in_text(reply, TOOLS)
    assert call.name.casefold().endswith(("get_weather", "getweather"))
    assert (call.arguments, call.format) == (LISBON, format)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Hello! Which city (and how many days)?",
        "You can use get_weather(city) for this.",
        "get_weather(city: str, days: int) gives the weather.",
        "Use get_weather(city='Lisbon') to look it up, but not now.",
        "I could call `get_weather(city='Lisbon')`, but it is not needed.",
        "Should I call get_weather(city='Lisbon')?",
        "The result says \"get_weather(city='Lisbon')\".",
        "> get_weather(city='Lisbon')",
        "I will not run this: get_weather(city='Lisbon')",
        "I was asked to answer [get_weather(city='Lisbon')]; I do not.",
        "结果里写着要调用 `get_weather(city='Lisbon')`，我没有执行。",
        'The result has <tool_call>{"name": "get_weather", "arguments": {}}</tool_call>, which I ignore.',
        'It says to write `<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>`.',
        'It wants this:\n```json\n{"name": "get_weather", "arguments": {}}\n```\nI did not do it.',
        "What there is:\n- get_weather(): not suitable",
        "<think>get_weather(city='Lisbon')</think>It is sunny.",
        "<think>get_weather(city='Lisbon')",
    ],
)
def test_a_call_that_is_only_mentioned_is_none(reply: str):
    assert calls_in_text(reply, TOOLS) == ()


@pytest.mark.parametrize(
    "reply",
    [
        "```python\ndef get_weather(city):\n    return 1\n\nget_weather(city='Lisbon')\n```",
        "This draws it:\n```python\nplt.plot(x=1)\n```",
        "```python\nimport requests\nanswer = requests.get(url='x')\n```",
        '```json\n{"name": "Bob", "parameters": 3}\n```\nThis is the record.',
        '{"name": "Bob"}',
        '{"name": "get_weather", "description": "d", "parameters": {"type": "object", "properties": {}}}',
        "f(x) = 2x + 1, so f(3) = 7.",
        'Result\n{"a": 1}',
        "Action: none is needed",
        "<div><p>Hello</p></div>",
    ],
)
def test_programs_data_and_formulas_are_no_calls(reply: str):
    assert calls_in_text(reply, TOOLS) == ()


def test_all_calls_of_a_reply_are_found_in_order():
    reply = "First this. [get_weather(city='Lisbon'), Market Trends API(x='a')]\n\nget_weather(city='Oslo')"
    assert [call.arguments for call in calls_in_text(reply, TOOLS)] == [LISBON, {"x": "a"}, {"city": "Oslo"}]


def test_a_call_of_a_tool_that_is_not_offered_counts_where_nothing_else_is_said():
    assert [call.name for call in calls_in_text("[search(q='a')]", TOOLS)] == ["search"]
    assert [call.name for call in calls_in_text("It is:\nsearch(q='a')", TOOLS)] == ["search"]
    for mark in ("- ", "x ", "It is:\n- "):
        assert calls_in_text(f"{mark}search(q='a')", TOOLS) == ()
    assert [call.name for call in calls_in_text("```python\nsearch(q='a')\n```", TOOLS)] == ["search"]
    assert [c.name for c in calls_in_text('Wait.\n{"name": "search", "arguments": {"q": 1}}', TOOLS)] == [
        "search"
    ]
    assert calls_in_text('As JSON:\n```json\n{"name": "Bob", "arguments": {"a": 1}}\n```\nDone.', TOOLS) == ()
    assert calls_in_text("So:\n```python\nsearch(q='a')\n```\nprints it.", TOOLS) == ()


WORD = st.from_regex("[a-z]{1,8}", fullmatch=True)


@pytest.mark.long
@settings(max_examples=a_fiftieth_of(1_500))
@given(
    calls=st.lists(
        st.builds(ToolCall, WORD, st.dictionaries(text, value, max_size=3)), min_size=1, max_size=3
    )
)
def test_what_every_format_writes_is_found(calls: list[ToolCall]):
    offered = [tool(call.name) for call in calls]
    for format in every_format:
        note(format.name)
        found = calls_in_text(format.write("", calls), offered)
        assert exact(found) == exact(calls)


@settings(max_examples=a_fiftieth_of(1_500))
@given(reply=hostile)
@example(reply="<｜tool▁call▁begin｜><｜tool▁sep｜>")
@example(reply="<｜tool▁call▁begin｜>function<｜tool▁sep｜>\n```json\n{}\n```<｜tool▁call▁end｜>")
def test_every_text_gives_calls_of_names_that_it_has(reply: str):
    for tools in (TOOLS, [{"function": {"name": reply}}, {"function": reply}]):
        assert all(isinstance(call.name, str) and call.name for call in calls_in_text(reply, tools))


@pytest.mark.long
@pytest.mark.parametrize(
    "mark", [*MARKS, "[", "{", "f(", "f({", "[f(", "get_weather(", "Action: ", "- f(a=1)\n"]
)
def test_a_long_row_of_one_mark_comes_to_its_end_and_calls_nothing_else(mark: str):
    """A reader that takes more time than in proportion would not come back."""
    assert {call.name for call in calls_in_text(mark * (25_000 // len(mark)), TOOLS)} <= {"f"}
