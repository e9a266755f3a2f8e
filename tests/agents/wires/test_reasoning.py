"""Reasoning goes through the agent and comes back to its provider, on every wire whose clients send it back."""

from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.wires.drawn import adapter, calls, objects, question, texts, wires
from long import a_fiftieth_of
from models.asking import call, model
from models.peers import PROTOCOLS
from wildtool.agents.agent import WIRES, Wire
from wildtool.agents.wires import WIRE_FORMATS
from wildtool.json_codec import as_object, dumps, loads
from wildtool.types import PROVIDER_CONTENT, Message, Request

HELLO: Message = {"role": "user", "content": "hi"}
ADDRESS = str.maketrans("+/", "-_")
_ASKED: dict[Wire, dict[str, Any]] = {
    "chat": {"model": "m", "messages": []},
    "responses": {"model": "m", "input": []},
    "messages": {"model": "m", "messages": []},
    "gemini": {"contents": []},
}


def sent_back(wire: Wire, message: Message) -> Message:
    """A reply as the door reads it in the next request of an agent that keeps what it got."""
    answer = loads(WIRE_FORMATS[wire].write(message, question(wire, _ASKED[wire]), {}, None).body)
    bodies: dict[Wire, Any] = {
        "chat": lambda: {"model": "m", "messages": [answer["choices"][0]["message"]]},
        "responses": lambda: {"model": "m", "input": answer["output"]},
        "messages": lambda: {
            "model": "m",
            "messages": [{"role": "assistant", "content": answer["content"]}],
        },
        "gemini": lambda: {"contents": [in_other_base64(answer["candidates"][0]["content"])]},
    }
    [reply] = question(wire, bodies[wire]()).messages
    return cast(Message, reply)


def in_other_base64(content: dict[str, Any]) -> dict[str, Any]:
    """A turn as Google's Python client writes it, whose signatures have the alphabet of addresses."""
    parts = [
        {key: value.translate(ADDRESS) if key == "thoughtSignature" else value for key, value in part.items()}
        for part in content["parts"]
    ]
    return {**content, "parts": parts}


kept = st.fixed_dictionaries(
    {},
    optional={
        "reasoning": texts,
        "thinking": texts,
        "reasoning_signature": texts,
        "extra_content": st.fixed_dictionaries({"google": objects}),
        "reasoning_details": st.lists(st.fixed_dictionaries({"text": texts, "signature": texts}), min_size=1),
        "provider_content": st.dictionaries(
            st.sampled_from(["elsewhere", "other"]), st.lists(objects), min_size=1
        ),
    },
)


@given(wires, kept, st.one_of(st.none(), texts), calls())
@settings(max_examples=a_fiftieth_of(5000), deadline=None)
def test_reasoning_of_any_provider_comes_back_under_its_own_keys(
    wire: Wire, reasoning: dict[str, Any], content: str | None, said: list[Any]
):
    message: Message = {"role": "assistant", "content": content, **reasoning}
    message |= {"tool_calls": said} if said else {}
    back = sent_back(wire, message)
    assert {key: back[key] for key in reasoning} == reasoning
    assert (back["content"] or None) == (content or None)
    assert len(back.get("tool_calls") or []) == len(said)
    assert back.keys() <= {*message.keys(), "tool_calls"}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("protocol", ["anthropic", "gemini", "responses"])
def test_what_a_provider_signed_goes_back_to_it_as_it_came(protocol: str, wire: Wire):
    said: Message = {
        "content": "Let me see.",
        "tool_calls": [call("c1", "f", '{"a":1}'), call("c2", "f", "{}")],
    }
    raw = dumps(PROTOCOLS[protocol].write(said, "d1"))
    inner = model(protocol)
    message = inner.read(raw, Request([HELLO])).message
    assert message[PROVIDER_CONTENT]
    results = [{"role": "tool", "tool_call_id": each["id"], "content": "r"} for each in message["tool_calls"]]
    direct = inner.body(Request([HELLO, message, *results]))
    assert inner.body(Request([HELLO, sent_back(wire, message), *results])) == direct
    assert b"sig-d1" in direct or b"enc-d1" in direct


@pytest.mark.parametrize("wire", WIRES)
def test_a_signature_at_a_call_comes_back_at_this_call(wire: Wire):
    signature = {"extra_content": {"google": {"thought_signature": "s"}}}
    said = [call("c1", "f", "{}"), {**call("c2", "f", "{}"), **signature}]
    message: Message = {"role": "assistant", "content": None, "tool_calls": said}
    assert sent_back(wire, message)["tool_calls"] == said


def test_blocks_that_a_provider_signed_keep_their_order_under_the_agent_s_names():
    blocks = [
        {"type": "thinking", "thinking": "One.", "signature": "s1"},
        {"type": "text", "text": "a"},
        {"type": "redacted_thinking", "data": "s2"},
        {"type": "tool_use", "id": "c", "name": "math_add", "input": {"a": 1}},
        {"type": "text", "text": "b"},
    ]
    raw = {"type": "message", "content": blocks, "stop_reason": "tool_use"}
    message = adapter("messages").read(dumps(raw), Request([HELLO])).message
    named = {**message, "tool_calls": [call("c", "mcp__wt__math_add", '{"a":1}')]}
    answer = loads(
        WIRE_FORMATS["messages"].write(named, question("messages", _ASKED["messages"]), {}, None).body
    )
    assert answer["content"] == [{**b, "name": "mcp__wt__math_add"} if "input" in b else b for b in blocks]


def test_an_agent_that_drops_reasoning_sends_a_reply_without_it():
    message: Message = {"role": "assistant", "content": "x", "reasoning": "t"}
    answer = loads(
        WIRE_FORMATS["messages"].write(message, question("messages", _ASKED["messages"]), {}, None).body
    )
    blocks = [block for block in answer["content"] if block["type"] == "text"]
    body = {"model": "m", "messages": [{"role": "assistant", "content": blocks}]}
    assert question("messages", body).messages == [{"role": "assistant", "content": "x"}]


@pytest.mark.parametrize(
    "signature", ["", "d2lsZHRvb2w6", "d2lsZHRvb2w6e30", "d2lsZHRvb2w6W10=", "%%", "ErUB"]
)
def test_a_signature_of_whatever_content_is_read(signature: str):
    blocks = [{"type": "thinking", "thinking": "t", "signature": signature}, {"type": "text", "text": "x"}]
    body = {"model": "m", "messages": [{"role": "assistant", "content": blocks}]}
    [reply] = question("messages", body).messages
    assert reply["content"] == "x"
    assert as_object(reply.get(PROVIDER_CONTENT)).get("anthropic") in (None, blocks)
