"""What whole streams stand for, in the shapes in which servers were seen to send them."""

import json
from typing import Any

import pytest

from wildtool.json_codec import TooLargeError
from wildtool.models.http import deltas, streams
from wildtool.models.http.streams import (
    BrokenStreamError,
    events,
    is_event_stream,
    join_anthropic,
    join_chat,
    join_gemini,
    join_responses,
)

Body = dict[str, Any]
END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def chat(*pieces: Body) -> Body:
    """The message of a chat that comes in these deltas."""
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in pieces]
    return join_chat([*chunks, END])["choices"][0]["message"]


def piece(
    index: int | None, id_: str | None = None, name: str | None = None, arguments: str | None = None
) -> Body:
    """A delta of one call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    about = {key: value for key, value in (("index", index), ("id", id_)) if value is not None}
    return {"tool_calls": [{**about, "type": "function", "function": function}]}


def called(message: Body) -> list[tuple[Any, str, Any]]:
    return [(c.get("id"), c["function"]["name"], c["function"]["arguments"]) for c in message["tool_calls"]]


@pytest.mark.parametrize("index", [0, None])
def test_calls_that_share_an_index_are_told_apart_by_their_ids(index: int | None):
    message = chat(
        piece(index, "a", "f", '{"x":1}'), piece(index, "b", "g", '{"y":2}'), piece(index, "c", "f", "{}")
    )
    assert called(message) == [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}'), ("c", "f", "{}")]


def test_calls_that_share_an_index_are_told_apart_within_one_chunk():
    both = {"tool_calls": [*piece(0, "a", "f", "{}")["tool_calls"], *piece(0, "b", "f", "{}")["tool_calls"]]}
    assert called(chat(both)) == [("a", "f", "{}"), ("b", "f", "{}")]


@pytest.mark.parametrize("id_", [None, ""])
def test_calls_without_ids_are_told_apart_by_a_name_after_arguments(id_: str | None):
    message = chat(piece(0, id_, "f", '{"x":1}'), piece(0, id_, "g", "{}"))
    assert [function for _, *function in called(message)] == [["f", '{"x":1}'], ["g", "{}"]]


def test_pieces_go_on_with_the_latest_call_of_their_index():
    message = chat(
        piece(0, "a", "f", ""),
        piece(0, None, None, '{"x"'),
        piece(0, "b", "g", "{"),
        piece(0, None, None, "}"),
    )
    assert called(message) == [("a", "f", '{"x"'), ("b", "g", "{}")]


def test_an_id_and_a_name_that_come_again_with_every_piece_are_one_call():
    message = chat(piece(0, "a", "f", '{"x"'), piece(0, "a", "f", ":1}"))
    assert called(message) == [("a", "f", '{"x":1}')]


def test_a_name_in_pieces_and_ids_that_change_without_a_name_are_one_call():
    message = chat(piece(0, "a", "get_", ""), piece(0, None, "weather", ""), piece(0, "b", None, "{}"))
    assert called(message) == [("a", "get_weather", "{}")]


def test_calls_that_come_in_turns_are_put_together_by_index():
    message = chat(
        piece(0, "a", "f", ""), piece(1, "b", "g", ""), piece(0, None, None, "{}"), piece(1, None, None, "[]")
    )
    assert called(message) == [("a", "f", "{}"), ("b", "g", "[]")]


def test_an_index_that_begins_above_zero_loses_no_call():
    assert called(chat(piece(3, "a", "f", "{}"), piece(7, "b", "g", "{}"))) == [
        ("a", "f", "{}"),
        ("b", "g", "{}"),
    ]


def test_arguments_that_come_as_an_object_are_kept():
    delta = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}
    assert called(chat(delta)) == [("a", "f", {"x": 1})]


def test_only_the_first_of_several_choices_is_read():
    chunks = [
        {"choices": [{"index": n, "delta": {"content": text}}]}
        for n, text in ((1, "no"), (0, "yes"), (1, "no"))
    ]
    assert join_chat([*chunks, END])["choices"][0]["message"]["content"] == "yes"


def test_a_whole_message_in_place_of_a_delta_is_the_reply():
    whole = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]
    }
    chunk = {"choices": [{"index": 0, "delta": {"content": "hi"}}]}
    assert join_chat([chunk, whole])["choices"][0]["message"]["content"] == "hi"


def test_an_empty_finish_reason_ends_no_stream():
    with pytest.raises(BrokenStreamError):
        join_chat([{"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": ""}]}])


def test_a_stream_of_nothing_but_its_end_is_no_reply():
    for parts in (["[DONE]"], [{"usage": {}}, "[DONE]"]):
        with pytest.raises(BrokenStreamError, match="holds no reply"):
            join_chat(parts)


ITEM: Body = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}


def completed(*parts: Body, output: Any = ()) -> list[Body]:
    last = {"type": "response.completed", "response": {"status": "completed", "output": list(output)}}
    return [*parts, last]


def test_items_that_came_before_a_completed_response_without_any_are_its_items():
    done = [
        {"type": "response.output_item.done", "output_index": 1, "item": {**ITEM, "id": "fc_2"}},
        {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
    ]
    assert [item["id"] for item in join_responses(completed(*done))["output"]] == ["fc_2", "fc_1"]
    assert join_responses(completed(*done, output=[ITEM]))["output"] == [ITEM]


def test_items_that_never_came_whole_are_put_together_from_their_pieces():
    about = {"output_index": 0, "item_id": "fc_1"}
    parts = [
        {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "delta": '{"x"', **about},
        {"type": "response.function_call_arguments.delta", "delta": ":1}", **about},
        {"type": "response.output_text.delta", "delta": "He", "output_index": 1},
        {"type": "response.output_text.delta", "delta": "llo", "output_index": 1},
    ]
    call, said = join_responses(completed(*parts))["output"]
    assert call == {**ITEM, "arguments": '{"x":1}'}
    assert said["content"] == [{"type": "output_text", "text": "Hello"}]


SPOKEN: Body = {"type": "message", "id": "m", "content": []}
ADDED: Body = {"type": "response.output_item.added", "output_index": 0, "item": SPOKEN}
PIECE: Body = {"type": "response.output_text.delta", "delta": "Hello"}
WHOLE: Body = {
    "type": "response.output_item.done",
    "output_index": 0,
    "item": {**SPOKEN, "content": [{"type": "output_text", "text": "Hello"}]},
}


@pytest.mark.parametrize("output", [[], None, [SPOKEN]], ids=["none", "null", "an empty message"])
@pytest.mark.parametrize(
    "parts",
    [
        [ADDED, {**PIECE, "output_index": 0}],
        [ADDED, {**PIECE, "item_id": "m"}],
        [ADDED, PIECE],
        [PIECE],
        [ADDED, {**PIECE, "item_id": "m"}, WHOLE],
        [ADDED, {**PIECE, "output_index": 0}, {**WHOLE, "item": SPOKEN}],
        [ADDED, {**ADDED, "type": "response.content_part.done", "part": WHOLE["item"]["content"][0]}],
        [WHOLE],
    ],
)
def test_what_was_streamed_is_kept_where_the_last_event_has_nothing_of_it(
    parts: list[Body], output: list[Body] | None
):
    last = {"type": "response.completed", "response": {"status": "completed", "output": output}}
    (said,) = join_responses([*parts, last])["output"]
    assert (said["type"], said["content"]) == ("message", [{"type": "output_text", "text": "Hello"}])


def test_a_streamed_refusal_is_kept_too():
    said = join_responses(
        completed(ADDED, {"type": "response.refusal.delta", "item_id": "m", "delta": "No."})
    )
    assert said["output"][0]["content"] == [{"type": "refusal", "refusal": "No."}]


def test_blocks_that_share_an_index_are_blocks_of_their_own():
    parts: list[Body] = [{"type": "message_start", "message": {"type": "message"}}]
    for id_ in ("a", "b"):
        block = {"type": "tool_use", "id": id_, "name": "f", "input": {}}
        parts += [
            {"type": "content_block_start", "index": 0, "content_block": block},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": f'{{"x":"{id_}"}}'},
            },
            {"type": "content_block_stop", "index": 0},
        ]
    content = join_anthropic([*parts, {"type": "message_stop"}])["content"]
    assert [(block["id"], block["input"]) for block in content] == [("a", {"x": "a"}), ("b", {"x": "b"})]


def test_a_piece_of_a_block_that_never_began_breaks_the_stream():
    with pytest.raises(BrokenStreamError):
        join_anthropic(
            [{"type": "content_block_delta", "index": 0, "delta": {"text": "lost"}}, {"type": "message_stop"}]
        )


def test_feedback_on_a_prompt_that_was_not_blocked_ends_no_stream():
    with pytest.raises(BrokenStreamError):
        join_gemini([{"promptFeedback": {"safetyRatings": []}}])


MANY = 60_000


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["chat", "calls", "anthropic", "gemini", "responses"])
def test_sixty_thousand_deltas_are_put_together_whole(protocol: str):
    text = {"type": "text_delta", "text": "word "}
    match protocol:
        case "chat":
            made = chat(*[{"content": "word "}] * MANY)["content"]
        case "calls":
            made = called(chat(*[piece(0, "a", "f", "word ")] * MANY))[0][2]
        case "anthropic":
            start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
            pieces = [{"type": "content_block_delta", "index": 0, "delta": text}] * MANY
            made = join_anthropic([start, *pieces, {"type": "message_stop"}])["content"][0]["text"]
        case "gemini":
            chunk = {"candidates": [{"content": {"parts": [{"text": "word "}]}}]}
            end = {"candidates": [{"finishReason": "STOP"}]}
            made = join_gemini([*[chunk] * MANY, end])["candidates"][0]["content"]["parts"][0]["text"]
        case _:
            delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "word "}
            made = join_responses(completed(*[delta] * MANY))["output"][0]["content"][0]["text"]
    assert made == "word " * MANY


def read(body: str) -> list[Any]:
    return list(events(body.encode()))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_are_read_with_any_line_ends_comments_and_fields(end: str):
    lines = [": hello", "event: x", "id: 1", 'data: {"a":', "data:1}", "", "", "data: [DONE]", "", ""]
    assert read(end.join(lines)) == [{"a": 1}, "[DONE]"]


def test_an_event_called_error_is_one_whatever_its_data_are():
    assert read('event: error\ndata: {"message":"away"}\n\n') == [{"error": {"message": "away"}}]
    assert read('event: error\ndata: {"type":"error","error":{"m":1}}\n\n') == [
        {"type": "error", "error": {"m": 1}}
    ]


def test_events_begin_as_events_do():
    for body in (b"data: {}", b"\xef\xbb\xbfevent: x", b": hi\n\n", b"\n\nid: 1"):
        assert is_event_stream(body)
    for body in (b'{"data": 1}', b"<html>", b"", b"error: x"):
        assert not is_event_stream(body)


@pytest.mark.parametrize(
    "body",
    [
        b"data: " + b"[" * 1_000_000,
        b"data: [" + b"[]," * 1_000_000 + b"[]]\n\n",
        b"data: [[],[],[],[],[],[],[],[],[]]\n\n" * 5_000,
        b"data:a\n" * 200_000,
    ],
)
def test_events_of_too_many_values_are_refused(body: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streams, "MAX_STREAM_VALUES", 50_000)
    with pytest.raises(TooLargeError):
        for _ in events(body):
            pass


def test_calls_beyond_counting_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deltas, "MAX_REPLY_PARTS", 1000)
    delta = {"tool_calls": [{"id": str(number)} for number in range(1001)]}
    with pytest.raises(TooLargeError):
        chat(delta)


def test_a_body_of_nothing_but_line_ends_is_read_at_once():
    assert list(events(b"\n" * 5_000_000 + b"data: " + json.dumps({"a": 1}).encode() + b"\n\n")) == [{"a": 1}]


def test_an_error_among_the_chunks_of_gemini_is_the_response():
    error = {"error": {"code": 503, "message": "overloaded"}}
    assert join_gemini([{"candidates": []}, error, {"candidates": [{"finishReason": "STOP"}]}]) == error
