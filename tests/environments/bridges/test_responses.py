"""Chats as items of a Responses request, and the output of a response as messages."""

from typing import Any

import pytest

from wildtool.environments.bridges.responses import messages_of, response_items, response_tool
from wildtool.shapes import Reading, ShapeError

CALL: dict[str, Any] = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
OTHER = {**CALL, "call_id": "b", "name": "g"}
RESULT = {"type": "function_call_output", "call_id": "a", "output": "ok"}


def sent(id_: str, name: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": "{}"}}


def said(*parts: Any) -> dict[str, Any]:
    return {"type": "message", "content": [*parts]}


@pytest.mark.parametrize(
    ("output", "messages"),
    [
        (None, []),
        ([RESULT], []),
        ([CALL], [{"role": "assistant", "content": None, "tool_calls": [sent("a", "f")]}]),
        (
            [{"type": "reasoning"}, CALL, OTHER, RESULT, said({"text": "Done"}, {"text": "."})],
            [
                {"role": "assistant", "content": None, "tool_calls": [sent("a", "f"), sent("b", "g")]},
                {"role": "assistant", "content": "Done."},
            ],
        ),
        (
            [{"type": "message", "content": "Wait."}, said({"text": " So."}), CALL, RESULT, RESULT, OTHER],
            [
                {"role": "assistant", "content": "Wait. So.", "tool_calls": [sent("a", "f")]},
                {"role": "assistant", "content": None, "tool_calls": [sent("b", "g")]},
            ],
        ),
        (
            [said({"type": "refusal", "refusal": "No."})],
            [{"role": "assistant", "content": "", "refusal": "No."}],
        ),
        ([said({"text": "x", "refusal": ""})], [{"role": "assistant", "content": "x"}]),
        (
            [{"type": "function_call"}],
            [{"role": "assistant", "content": None, "tool_calls": [{"type": "function_call"}]}],
        ),
    ],
)
def test_results_of_tools_divide_the_output_into_messages(output: Any, messages: list[Any]):
    assert messages_of(output, Reading()) == messages


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ("x", "found.*x"),
        (7, "found.*7"),
        (said({"text": 7}), "part 1"),
        ({"type": "function_call", "name": "f", "argz": {"a": 1}}, "`argz` here"),
    ],
)
def test_an_item_of_no_known_shape_is_refused(item: Any, problem: str):
    with pytest.raises(ShapeError, match=f"^output: .*{problem}"):
        messages_of([item], Reading("output"))


def test_a_tool_is_flat_and_not_strict():
    function = {"name": "f", "description": "d", "parameters": {"type": "object"}, "x": 1}
    assert response_tool({"type": "function", "function": function}) == {
        "type": "function",
        "name": "f",
        "description": "d",
        "parameters": {"type": "object"},
        "strict": False,
    }
    assert response_tool({"type": "function", "function": {"name": "f"}})["parameters"] is None


@pytest.mark.parametrize(
    ("message", "items"),
    [
        ({"role": "user", "content": "hi"}, [{"role": "user", "content": "hi"}]),
        ({"role": "assistant", "content": ""}, []),
        (
            {"role": "assistant", "content": "So.", "tool_calls": [sent("a", "f"), sent("b", "g")]},
            [{"role": "assistant", "content": "So."}, CALL, OTHER],
        ),
        ({"role": "assistant", "content": None, "tool_calls": [sent("a", "f")]}, [CALL]),
        ({"role": "tool", "content": "ok", "tool_call_id": "a"}, [RESULT]),
        ({"role": "tool"}, [{"type": "function_call_output", "call_id": None, "output": None}]),
    ],
)
def test_a_message_is_a_text_and_its_calls(message: Any, items: list[Any]):
    assert [*response_items(message)] == items
