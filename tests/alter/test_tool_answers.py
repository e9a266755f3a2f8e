"""What a tool says where the record holds no answer."""

import json

import pytest

from wildtool.alter.tool_answers import (
    TOOLS_PLAYER,
    named_calls,
    result_text,
    simulated_call,
    simulated_result,
    tool_error,
)

TOOL = {"type": "function", "function": {"name": "find_room", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "find_room", "arguments": '{"city": "Brno"}'}}


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"rooms": []}, {"error": "no such room"}),
        ({"success": True, "rooms": []}, {"success": False, "error": "no such room"}),
        ({"status": "booked", "id": 4}, {"status": "error", "error": "no such room"}),
        ({"status": 200, "message": "fine"}, {"status": 404, "message": "no such room"}),
        ({"code": 0, "msg": "ok", "data": []}, {"code": 404, "msg": "no such room"}),
        ([1, 2], {"error": "no such room"}),
        ("Booked.", "Error: no such room"),
    ],
)
def test_an_error_has_the_form_of_the_tools_results(result: object, error: object):
    assert tool_error([result, "another form"], "no such room", 404) == error


def test_a_tool_that_never_answered_gives_a_plain_error():
    assert tool_error([], "no such room") == {"error": "no such room"}


def test_a_text_is_shown_as_it_is_and_anything_else_as_json():
    assert result_text("Gebucht für Ünal") == "Gebucht für Ünal"
    assert result_text({"für": 1}) == '{"für": 1}'


def test_a_model_that_plays_a_tool_is_shown_the_call_and_the_nearest_results():
    request = simulated_call([TOOL], CALL, iter([{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}]), "en", "{}")
    shown = json.loads(request.messages[1]["content"])
    assert request.role == TOOLS_PLAYER
    assert shown == {
        "tool": TOOL,
        "other results": [{"a": 1}, {"a": 2}, {"a": 3}],
        "call": CALL["function"],
    }


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('{"rooms": 2}', '{"rooms": 2}'),
        ('```json\n{"rooms": 2}\n```', '{"rooms": 2}'),
        ("```[1]```", "[1]"),
        ("``` not json ```", "``` not json ```"),
        ("```[1]xyz", "```[1]xyz"),
        ("xyz[1]```", "xyz[1]```"),
        *((fence, fence) for fence in ("```", "````", "``````")),
        ("  ", "fallback"),
        (None, "fallback"),
    ],
)
def test_a_models_answer_is_taken_without_its_fence(text: str | None, result: str):
    assert simulated_result({"content": text}, "fallback") == result


@pytest.mark.parametrize("calls", [None, "x", 3, [], [None, 3, {"function": 1}, {"function": {"name": 2}}]])
def test_calls_that_name_no_tool_are_left_out(calls: object):
    assert named_calls({"tool_calls": calls}) == []
    assert named_calls({"tool_calls": [CALL]}) == [CALL]
