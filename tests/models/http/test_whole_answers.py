"""Streams of the four protocols as the whole answers that they stand for, field by field."""

from typing import Any

import pytest

from wildtool.json_codec import TooLargeError
from wildtool.models.http import deltas, streams
from wildtool.models.http.streams import (
    BrokenStreamError,
    events,
    join_anthropic,
    join_chat,
    join_gemini,
    join_responses,
)

Body = dict[str, Any]


def chunk(delta: Any = None, **more: Any) -> Body:
    return {"choices": [{"index": 0, "delta": delta or {}, **more}]}


def test_a_chat_has_what_came_last_of_each_field():
    parts = [
        {"id": "a", "created": 1, "model": None, "other": 5, **chunk({"role": "assistant", "content": ""})},
        {"id": "b", "model": "m", **chunk({"content": "Hel", "reasoning": "h"})},
        {**chunk({"content": "lo", "reasoning": "m", "content_parts": None, "list": [1], "n": 1})},
        {**chunk({"list": [2], "n": 2, "object": {"a": 1}, "role": "user"})},
        {**chunk({"function_call": {"name": "f", "arguments": "{"}})},
        {**chunk({"function_call": {"name": "f", "arguments": "}"}})},
        chunk(finish_reason="stop"),
        {"choices": [], "usage": {"prompt_tokens": 1}},
        {"usage": None, "prompt_filter_results": []},
    ]
    assert join_chat(parts) == {
        "id": "b",
        "created": 1,
        "model": "m",
        "usage": {"prompt_tokens": 1},
        "prompt_filter_results": [],
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Hello",
                    "reasoning": "hm",
                    "list": [1, 2],
                    "n": 2,
                    "object": {"a": 1},
                    "function_call": {"name": "ff", "arguments": "{}"},
                },
                "finish_reason": "stop",
            }
        ],
    }


def message_of(*parts: Any) -> Body:
    return join_chat([*parts, "[DONE]"])["choices"][0]


def test_a_chat_without_a_word_has_a_message_without_content():
    assert message_of(chunk()) == {
        "index": 0,
        "message": {"role": "assistant", "content": None},
        "finish_reason": None,
    }
    assert message_of(chunk({"tool_calls": []}))["message"] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [],
    }
    assert message_of(chunk({"content": ""}))["message"]["content"] == ""
    for odd in ("a", {"function": {"name": "f"}}):
        message = message_of(chunk({"tool_calls": odd}))["message"]
        assert message["tool_calls"] == odd


def test_a_list_in_a_delta_is_not_changed_by_later_ones():
    first = {"list": [1]}
    message_of(chunk(first), chunk({"list": [2]}))
    assert first == {"list": [1]}
    assert message_of(chunk({"list": [1]}), chunk({"list": {"a": 1}}))["message"]["list"] == {"a": 1}
    assert message_of(chunk({"list": 1}), chunk({"list": [1]}))["message"]["list"] == [1]


def test_a_whole_message_counts_where_there_is_no_delta():
    whole = {"role": "assistant", "content": "all"}
    assert message_of(chunk({"content": "a"}, message=whole))["message"]["content"] == "a"
    assert message_of({"choices": [{"message": whole, "delta": None}]})["message"] is whole
    assert (
        message_of({"choices": [{"message": "all", "delta": {"content": "a"}}]})["message"]["content"] == "a"
    )


def test_errors_of_a_stream_and_of_a_choice():
    error = {"error": {"message": "no"}, "id": 1}
    assert join_chat([chunk({"content": "a"}), error, chunk(finish_reason="stop")]) is error
    assert message_of(chunk({"content": "a"}), chunk(error={"m": 1})) == {
        "index": 0,
        "error": {"m": 1},
        "message": {"role": "assistant", "content": "a"},
        "finish_reason": None,
    }
    assert join_chat([chunk(error="x")])["choices"][0]["error"] == "x"


@pytest.mark.parametrize(
    ("index", "read"), [(0, True), (None, True), ("a", True), (1, False), (2, False), (-1, False)]
)
def test_of_several_choices_the_first_is_read(index: Any, read: bool):
    parts = [chunk({"content": "a"}), {"choices": [5, {"index": index, "delta": {"content": "b"}}]}]
    assert message_of(*parts)["message"]["content"] == ("ab" if read else "a")


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ([], "the stream holds no reply"),
        (["[DONE]"], "the stream holds no reply"),
        ([chunk({"content": "a"})], "the stream has no end"),
        ([chunk({"content": "a"}, finish_reason=None)], "the stream has no end"),
    ],
)
def test_a_chat_without_an_end_is_broken(parts: list[Any], problem: str):
    with pytest.raises(BrokenStreamError) as raised:
        join_chat(parts)
    assert str(raised.value) == problem


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        (
            [{"index": 0, "id": "a", "function": {"name": "f", "arguments": None}, "extra": 1}],
            [{"type": "function", "id": "a", "extra": 1, "function": {"name": "f", "arguments": ""}}],
        ),
        (
            [
                {"index": 0, "id": "a", "type": "custom", "function": {"name": "f", "arguments": "{}"}},
                {"index": 0, "id": "b", "x": None, "y": 2, "function": {"arguments": "}"}},
            ],
            [{"type": "custom", "id": "a", "y": 2, "function": {"name": "f", "arguments": "{}}"}}],
        ),
        (
            [{"index": 0, "function": {"name": "f", "arguments": {"a": 1}, "n": 5}}],
            [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}, "n": 5}}],
        ),
        (
            [
                {"index": 0, "function": {"name": "f", "arguments": {"a": 1}}},
                {"index": 0, "function": {"arguments": "{}"}},
            ],
            [{"type": "function", "function": {"name": "f", "arguments": "{}"}}],
        ),
        ([{"index": 0, "function": 5}], [{"type": "function", "function": {"name": "", "arguments": ""}}]),
        (
            [{"index": True, "function": {"name": "f"}}, {"index": True, "function": {"name": "g"}}],
            [{"type": "function", "function": {"name": "fg", "arguments": ""}}],
        ),
        (
            [{"id": "a", "function": {"name": "f"}}, {"function": {"arguments": "1"}}, {"id": "b"}],
            [
                {"type": "function", "id": "a", "function": {"name": "f", "arguments": "1"}},
                {"type": "function", "id": "b", "function": {"name": "", "arguments": ""}},
            ],
        ),
        (
            [
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": "1"}},
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": "2"}},
                {"index": 0, "function": {"name": "g", "arguments": "3"}},
                {"index": 0, "id": "c", "function": {"name": "h"}},
            ],
            [
                {"type": "function", "id": "a", "function": {"name": "f", "arguments": "12"}},
                {"type": "function", "id": "c", "function": {"name": "gh", "arguments": "3"}},
            ],
        ),
        (
            [
                {"index": 0, "id": "a", "function": {"name": "f"}},
                {"index": 0, "function": {"name": "g"}},
                {"index": 0, "id": "a", "function": {"name": "fg"}},
                {"index": 0, "id": "a", "function": {"name": "g"}},
            ],
            [{"type": "function", "id": "a", "function": {"name": "fgfgg", "arguments": ""}}],
        ),
        (
            [
                {"index": 0, "id": "", "function": {"name": "f"}},
                {"index": 0, "id": "b", "function": {"name": "g"}},
            ],
            [{"type": "function", "id": "b", "function": {"name": "fg", "arguments": ""}}],
        ),
    ],
)
def test_calls_in_pieces(pieces: list[Body], calls: list[Body]):
    parts = [chunk({"tool_calls": [each, "no call"]}) for each in pieces]
    assert message_of(*parts)["message"]["tool_calls"] == calls


def start(index: Any, **block: Any) -> Body:
    return {"type": "content_block_start", "index": index, "content_block": block}


def block_delta(index: Any, **delta: Any) -> Body:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def test_a_message_of_blocks():
    parts = [
        {
            "type": "message_start",
            "message": {"id": "m", "content": [], "usage": {"input_tokens": 1, "n": 2}},
        },
        5,
        {"type": "ping"},
        start(0, type="thinking", thinking="a", signature=""),
        block_delta(0, thinking="b"),
        block_delta(0, signature="s"),
        start("x", type="text", text="c", citations=[1]),
        block_delta("x", text="d", citation={"e": 1}),
        block_delta("x", citation={"e": 2}),
        start(1, type="tool_use", id="t", input={"old": 1}),
        block_delta(1, partial_json='{"n"'),
        block_delta(1, partial_json=":1}"),
        start(2, type="tool_use", input={}),
        block_delta(2, partial_json=""),
        start(3, type="tool_use", input={}),
        block_delta(3, partial_json="{n"),
        start(None, type="text", text="", citations=None),
        block_delta([], text="f", citation=3),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"n": 3, "output_tokens": 4},
        },
        {"type": "message_stop"},
        {"type": "message_delta", "delta": {"stop_reason": "late"}},
    ]
    assert join_anthropic(parts) == {
        "id": "m",
        "usage": {"input_tokens": 1, "n": 3, "output_tokens": 4},
        "stop_reason": "end_turn",
        "content": [
            {"type": "thinking", "thinking": "ab", "signature": "s"},
            {"type": "text", "text": "cd", "citations": [1, {"e": 1}, {"e": 2}]},
            {"type": "tool_use", "id": "t", "input": {"n": 1}},
            {"type": "tool_use", "input": {}},
            {"type": "tool_use", "input": "{n"},
            {"type": "text", "text": "f", "citations": [3]},
        ],
    }
    event = {"type": "message_start", "message": {"usage": {}}}
    assert join_anthropic([event, {"type": "message_stop"}]) == {"usage": {}, "content": []}
    assert event == {"type": "message_start", "message": {"usage": {}}}


@pytest.mark.parametrize(
    ("part", "answer"),
    [
        ({"type": "x", "error": {"m": 1}}, {"type": "x", "error": {"m": 1}}),
        ({"type": "error", "m": 1}, {"error": {"type": "error", "m": 1}}),
        ({"type": "error", "error": {"m": 1}}, {"type": "error", "error": {"m": 1}}),
    ],
)
def test_an_error_event_is_the_answer(part: Body, answer: Body):
    assert join_anthropic([part, {"type": "message_stop"}]) == answer
    assert join_responses([part, {"type": "response.completed"}]) == answer


def test_breaks_of_each_protocol_are_named():
    for join, parts, problem in (
        (join_anthropic, [{"type": "message_start"}], "the stream has no message_stop"),
        (join_anthropic, [block_delta(0)], "the stream has a piece of a block that never started"),
        (join_gemini, [{"candidates": [{"content": {}}]}], "the stream has no finishReason"),
        (join_responses, [{"type": "response.created"}], "the stream has no response.completed"),
    ):
        with pytest.raises(BrokenStreamError) as raised:
            join(parts)
        assert str(raised.value) == problem


def candidate(*parts: Any, **more: Any) -> Body:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


def test_parts_of_one_kind_are_joined():
    parts = [
        {"modelVersion": "v", "usageMetadata": {"n": 1}, **candidate({"text": "a", "thought": True})},
        candidate({"text": "b", "thought": True}, {"text": "c"}, {"text": "d"}),
        candidate({"text": "e", "thoughtSignature": "s"}, {"text": "f"}, {"text": "g"}),
        candidate({"functionCall": {"name": "f"}}, 5, {"text": "h"}, {"text": 6}),
        {"usageMetadata": {"n": 2}, **candidate({"text": "i"}, finishReason="STOP", index=0)},
        {"candidates": [{"index": 1, "finishReason": "OTHER", "content": {"parts": [{"text": "no"}]}}]},
    ]
    assert join_gemini(parts) == {
        "modelVersion": "v",
        "usageMetadata": {"n": 2},
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "ab", "thought": True},
                        {"text": "cd"},
                        {"text": "e", "thoughtSignature": "s"},
                        {"text": "fg"},
                        {"functionCall": {"name": "f"}},
                        5,
                        {"text": "h"},
                        {"text": 6},
                        {"text": "i"},
                    ],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
    }


def test_parts_that_came_are_not_changed():
    part = {"text": "a"}
    join_gemini([candidate(part), candidate({"text": "b"}, finishReason="STOP")])
    assert part == {"text": "a"}


def test_a_blocked_prompt_ends_a_stream_without_a_candidate():
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    assert join_gemini([blocked, {"usageMetadata": 1}]) == {**blocked, "usageMetadata": 1}
    assert join_gemini([{"candidates": [{"finishReason": "STOP"}]}]) == {
        "candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": []}}]
    }


def item(kind: str, what: str, **event: Any) -> Body:
    return {"type": f"response.{kind}.{what}", **event}


@pytest.mark.parametrize("end", ["completed", "incomplete", "failed", "cancelled"])
def test_a_response_has_its_own_items_or_those_of_its_events(end: str):
    call = {"type": "function_call", "id": "f", "name": "g"}
    parts = [
        item("output_item", "added", output_index=0, item={"type": "reasoning", "id": "r"}),
        item("output_item", "added", output_index=1, item={**call, "arguments": ""}),
        item("function_call_arguments", "delta", item_id="f", delta='{"a"'),
        item("function_call_arguments", "delta", item_id="f", delta=":1}"),
        item("output_item", "added", output_index=2, item={"id": "m"}),
        item("content_part", "added", item_id="m", part={"type": "output_text", "text": "part"}),
        item("output_text", "delta", item_id="m", content_index=0, delta="no"),
        item("output_text", "done", item_id="m", content_index=0, text="He"),
        item("output_text", "delta", item_id="m", content_index=1, delta="llo"),
        item("output_text", "done", item_id="m", content_index=1, text="llo"),
        item("refusal", "delta", item_id="m", delta="N"),
        item("refusal", "done", item_id="m", refusal="No."),
        item("unknown", "delta", item_id="m", delta="x"),
        {"type": 5},
        {"type": f"response.{end}", "response": {"id": "i"}},
    ]
    assert join_responses(parts) == {
        "status": end,
        "id": "i",
        "output": [
            {"type": "reasoning", "id": "r"},
            {**call, "arguments": '{"a":1}'},
            {
                "type": "message",
                "id": "m",
                "content": [{"type": "output_text", "text": "Hello"}, {"type": "refusal", "refusal": "No."}],
            },
        ],
    }
    whole = [{"type": "message", "content": [1]}, {"type": "other"}]
    last = {"type": f"response.{end}", "response": {"status": "own", "output": whole}}
    assert join_responses([*parts[:-1], last]) == {"status": "own", "output": whole}


def output_of(*parts: Body, output: Any = None) -> Any:
    return join_responses([*parts, {"type": "response.completed", "response": {"output": output}}])["output"]


def test_arguments_of_an_item_that_has_some_are_kept():
    done = item("output_item", "done", item={"id": "f", "arguments": "{}"})
    assert output_of(item("function_call_arguments", "delta", item_id="f", delta="x"), done) == [
        {"id": "f", "arguments": "{}"}
    ]
    over = item("function_call_arguments", "done", item_id="f", arguments="[]")
    assert output_of(item("function_call_arguments", "delta", item_id="f", delta="x"), over) == [
        {"arguments": "[]"}
    ]


def test_events_without_a_name_go_to_the_last_item():
    added = item("output_item", "added", item={"type": "message"})
    text = item("output_text", "delta", delta="a")
    assert output_of(added, text, added, text, text) == [
        {"type": "message", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "aa"}]},
    ]
    done = item("output_item", "done", item={"type": "message", "content": ["b"]})
    assert output_of(added, text, done) == [{"type": "message", "content": ["b"]}]
    empty = item("output_text", "delta", item_id="", delta="c")
    assert output_of(text, empty) == [{"type": "message", "content": [{"type": "output_text", "text": "ac"}]}]


def test_an_item_is_known_by_its_place_or_its_id():
    by_place = item("output_item", "added", output_index=0, item={"id": "m", "type": "message"})
    by_both = item("output_text", "delta", output_index=4, item_id="m", delta="a")
    later = item("output_text", "delta", output_index=4, delta="b")
    second = item("output_item", "added", output_index=1, item={"id": "n", "type": "message"})
    crossed = item("output_text", "delta", output_index=1, item_id="m", delta="a")
    assert [each.get("content") for each in output_of(by_place, second, crossed)] == [
        None,
        [{"type": "output_text", "text": "a"}],
    ]
    odd = item("output_text", "delta", output_index=[0], item_id={"a": 1}, delta="c")
    assert output_of(by_place, by_both, later, odd) == [
        {"id": "m", "type": "message", "content": [{"type": "output_text", "text": "abc"}]}
    ]


def test_an_empty_text_is_no_content():
    added = item("output_item", "added", output_index=0, item={"id": "m"})
    assert output_of(added, item("output_text", "delta", output_index=0, delta="")) == [{"id": "m"}]
    half = [{"type": "message", "content": []}]
    assert output_of(output=half) == half
    part = item("content_part", "done", output_index=0, part={"type": "refusal", "refusal": "R"})
    assert output_of(added, part) == [
        {"type": "message", "id": "m", "content": [{"type": "refusal", "refusal": "R"}]}
    ]


def read(body: bytes) -> list[Any]:
    return list(events(body))


@pytest.mark.parametrize(
    ("body", "values"),
    [
        (b"data: 1\n\ndata:2\n\n", [1, 2]),
        (b"\xef\xbb\xbfdata: 1\r\rdata: 2", [1, 2]),
        (b"event: x\n\n: note\n\nid: 1\ndata: 3\n\n", [3]),
        (
            b'event: error\ndata: {"a": 1}\n\nevent: other\ndata: {"a": 2}\n\n',
            [{"error": {"a": 1}}, {"a": 2}],
        ),
        (b"data: [DONE]\n\ndata: 4\n\n", ["[DONE]", 4]),
        (b"data:\n\ndata: 5\n\n", [5]),
        (b"data: [\ndata: 6]\nretry: 1\n\n", [[6]]),
        (b"x: data: 7\n\n", []),
    ],
)
def test_events_of_a_body(body: bytes, values: list[Any]):
    assert read(body) == values


def test_an_event_that_is_cut_breaks_the_stream_and_another_is_no_json():
    for end in (b"", b"\n"):
        with pytest.raises(BrokenStreamError) as raised:
            read(b'data: 1\n\ndata: {"a' + end)
        assert str(raised.value) == "the stream broke off inside an event"
    for body in (b'data: {"a\n\n', b'data: {"a\n\ndata: 1\n\n'):
        with pytest.raises(ValueError) as other:
            read(body)
        assert not isinstance(other.value, BrokenStreamError)


def test_values_of_all_events_are_counted_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streams, "MAX_STREAM_VALUES", 6)
    assert read(b"data: [1,2]\n\n" * 2) == [[1, 2]] * 2
    with pytest.raises(TooLargeError) as raised:
        read(b"data: [1,2]\n\n" * 3)
    assert str(raised.value) == "a stream of more than 6 JSON values"


def test_parts_are_counted(monkeypatch: pytest.MonkeyPatch):
    assert (deltas.MAX_REPLY_PARTS, streams.MAX_STREAM_VALUES) == (100_000, 5_000_000)
    monkeypatch.setattr(deltas, "MAX_REPLY_PARTS", 2)
    parts: list[Any] = []
    deltas.append_bounded(parts, 1)
    deltas.append_bounded(parts, 2)
    with pytest.raises(TooLargeError) as raised:
        deltas.append_bounded(parts, 3)
    assert (str(raised.value), parts) == ("a reply of more than 2 calls or other parts", [1, 2])
    for join, stream in (
        (join_anthropic, [start(number) for number in range(3)]),
        (join_gemini, [candidate(1, 2, 3)]),
        (join_gemini, [candidate({"text": "a", "x": 1}, {"text": "b", "x": 1}, {"text": "c", "x": 1})]),
        (join_responses, [item("output_item", "added", output_index=number) for number in range(3)]),
        (lambda parts: list(events(parts[0])), [b"data: [\ndata: 1\ndata: ]\n\n"]),
    ):
        with pytest.raises(TooLargeError):
            join(stream)
