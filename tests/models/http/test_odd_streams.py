"""Calls in streams that deviate: read where one reading exists, under a name; anything else stays as it came."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.asking import HELLO, model
from wildtool.models.http.streams import events, join_anthropic, join_chat
from wildtool.types import Request

Body = dict[str, Any]
END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
Call = tuple[Any, Any, Any]


def piece(index: Any, id_: Any, name: Any, arguments: Any) -> Body:
    """A piece of a call with all its keys, empty ones included."""
    return {
        "index": index,
        "id": id_,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def chunk(*calls: Body) -> Body:
    return {"choices": [{"index": 0, "delta": {"tool_calls": list(calls)}, "finish_reason": None}]}


def joined(*chunks: Body) -> tuple[list[Call], tuple[str, ...]]:
    """The calls of a stream, and what was odd about it."""
    answer = join_chat([*chunks, END])
    calls = answer["choices"][0]["message"].get("tool_calls", [])
    return [(c.get("id"), c["function"]["name"], c["function"]["arguments"]) for c in calls], answer.oddities


ONE = [("a", "f", '{"x": 1}')]
TWO = [("a", "f", '{"x": 1}'), ("b", "f", '{"x": 2}')]
NAMELESS_TWO = [(None, "f", '{"x": 1}'), (None, "f", '{"x": 2}')]


@pytest.mark.parametrize(
    ("pieces", "calls", "oddity"),
    [
        ([piece("0", "a", "f", '{"x"'), piece(0, None, None, ": 1}")], ONE, "index-as-text"),
        ([piece(0, "a", "f", '{"x"'), piece("0", None, None, ": 1}")], ONE, "index-as-text"),
        ([piece("first", "a", "f", '{"x"'), piece("first", None, None, ": 1}")], ONE, "index-as-text"),
        ([piece(0, "a", "f", '{"x": 1'), piece(0, None, "f", "}")], ONE, "name-repeated"),
        (
            [piece(0, "a", "f", ""), piece(0, None, "f", '{"x"'), piece(0, None, "f", ": 1}")],
            ONE,
            "name-repeated",
        ),
        ([piece(0, "a", "f", '{"x": 1}'), piece(0, None, "f", "")], ONE, "name-repeated"),
        ([piece(None, "a", "f", '{"x"'), piece(None, None, None, ": 1}")], ONE, "calls-without-index"),
        ([piece(None, "a", "f", '{"x": 1}'), piece(None, "b", "f", '{"x": 2}')], TWO, "calls-without-index"),
        (
            [piece(None, None, "f", '{"x": 1}'), piece(None, None, "f", '{"x": 2}')],
            NAMELESS_TWO,
            "calls-without-index",
        ),
        (
            [piece(0, None, "f", '{"x": 1}'), piece(0, None, "f", '{"x": 2}')],
            NAMELESS_TWO,
            "calls-with-one-index",
        ),
        (
            [piece(0, None, "f", '{"x": 1}'), piece(0, None, "f", ""), piece(0, None, None, '{"x": 2}')],
            NAMELESS_TWO,
            "calls-with-one-index",
        ),
        ([piece(0, "a", "f", '{"x": 1}'), piece(0, "b", "f", '{"x": 2}')], TWO, "calls-with-one-index"),
        (
            [piece(0, "a", "f", '{"x"'), piece(0, "b", "f", '{"x": 2}'), piece(0, "a", None, ": 1}")],
            TWO,
            "calls-with-one-index",
        ),
        ([piece(0, "a", "f", '{"x"'), piece(0, "b", None, ": 1}")], ONE, "ids-change"),
        ([piece(0, "a", "f", '{"x"'), piece(0, "b", "f", ": 1}")], ONE, "ids-change"),
        ([piece(0, "a", "f", '{"x'), piece(0, "a", "f", '{"x": 1}')], ONE, "arguments-repeated"),
        ([piece(0, "a", "f", '{"x": 1}'), piece(0, "a", "f", '{"x": 1}')], ONE, "arguments-repeated"),
        (
            [piece(0, "a", "f", '{"x"'), piece(0, None, None, ": 1}"), piece(0, "a", None, '{"x": 1}')],
            ONE,
            "arguments-repeated",
        ),
    ],
)
def test_an_odd_stream_is_read_and_named(pieces: list[Body], calls: list[Call], oddity: str):
    found, oddities = joined(*map(chunk, pieces))
    assert found == calls
    assert oddity in oddities


def test_calls_without_index_and_id_in_one_chunk_are_as_many_as_have_names():
    found, _ = joined(chunk(piece(None, None, "f", ""), piece(None, None, "g", "")))
    assert [name for _, name, _ in found] == ["f", "g"]


def test_arguments_that_no_reading_makes_whole_stay_as_they_came():
    found, oddities = joined(chunk(piece(0, "a", "f", '{"x')), chunk(piece(0, "a", None, '{"x": ')))
    assert (found, oddities) == ([("a", "f", '{"x{"x": ')], ())


def test_arguments_that_are_whole_as_they_came_are_not_shortened():
    found, oddities = joined(chunk(piece(0, "a", "f", "1")), chunk(piece(0, None, None, "12")))
    assert (found, oddities) == ([("a", "f", "112")], ())


def test_pieces_that_may_be_of_either_of_two_open_calls_are_said():
    _, oddities = joined(
        chunk(piece(None, "a", "f", '{"x"'), piece(None, "b", "f", '{"x"')),
        chunk(piece(None, None, None, ": 1}")),
    )
    assert "unclear-calls" in oddities


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["f", "list_files", "search.web"]),
        st.dictionaries(st.text(max_size=5), st.text(max_size=8) | st.integers(), max_size=3),
    ),
    min_size=1,
    max_size=4,
)


@given(calls=CALLS, data=st.data())
def test_a_sound_stream_stands_for_the_same_calls_however_it_is_cut_and_numbered(
    calls: Any, data: st.DataObject
):
    first = data.draw(st.integers(0, 3))
    as_text, repeats, restates = (data.draw(st.booleans()) for _ in range(3))
    queues: list[list[Body]] = []
    for number, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        cuts = sorted(data.draw(st.sets(st.integers(0, len(text) - 1), max_size=4)))
        parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        index = first + number
        pieces = [piece(index, f"id{number}", name, parts[0])]
        for part in parts[1:]:
            shown = str(index) if as_text and data.draw(st.booleans()) else index
            pieces.append(piece(shown, None, name if repeats and part else None, part))
        if restates:
            pieces.append(piece(index, f"id{number}", name, text))
        queues.append(pieces)
    chunks: list[Body] = []
    while any(queues):
        queue = data.draw(st.sampled_from([queue for queue in queues if queue]))
        chunks.append(chunk(queue.pop(0)))
    found, _ = joined(*chunks)
    expected = [(f"id{n}", name, json.dumps(arguments)) for n, (name, arguments) in enumerate(calls)]
    assert sorted(found, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize("delta", [{"content": ""}, {"role": "assistant"}])
def test_a_whole_message_beside_an_empty_delta_is_the_reply_where_no_delta_holds_anything(delta: Body):
    whole = {"role": "assistant", "content": "Done."}
    last = {"choices": [{"index": 0, "delta": delta, "message": whole, "finish_reason": "stop"}]}
    assert join_chat([last])["choices"][0]["message"] == whole
    said = {"choices": [{"index": 0, "delta": {"content": "Hello"}}]}
    assert join_chat([said, last])["choices"][0]["message"]["content"] == "Hello"


def test_a_block_whose_index_is_a_text_is_the_same_block():
    answer = join_anthropic(
        [
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "a", "name": "f"},
            },
            {"type": "content_block_delta", "index": "0", "delta": {"partial_json": '{"x": 1}'}},
            {"type": "message_stop"},
        ]
    )
    assert answer["content"][0]["input"] == {"x": 1}
    assert answer.oddities == ("index-as-text",)


def test_a_reply_has_what_was_odd_about_its_stream_among_its_changes():
    chunks = [chunk(piece("0", "a", "f", "{}")), END]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"
    reply = model("chat").read(body.encode(), Request([HELLO]))
    assert reply.changes == ("stream:index-as-text",)
    assert len(list(events(body.encode()))) == 3
