"""Draws conversations and replies, and says how each wire is written by our adapters."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from models.asking import model
from wildtool.agents.agent import WIRES, Wire
from wildtool.agents.wires import WIRE_FORMATS
from wildtool.agents.wires.base import Asked
from wildtool.json_codec import dumps, loads
from wildtool.models.providers.base import HttpModel
from wildtool.types import Message, Request, Tool

PROTOCOL_OF: Mapping[Wire, str] = {
    "chat": "chat",
    "responses": "responses",
    "messages": "anthropic",
    "gemini": "gemini",
}
"""By wire the adapter that speaks it."""
PATHS: Mapping[Wire, str] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "gemini": "/v1beta/models/gemini-x:generateContent",
}
STREAM_PATH = "/v1beta/models/gemini-x:streamGenerateContent"
EXACT_WIRES: tuple[Wire, ...] = ("chat", "responses")
"""Wires in which arguments are a text."""
wires = st.sampled_from(WIRES)
texts = st.one_of(
    st.sampled_from(["里斯本\u2028🎫", "a\nb\x85c", '"}], [DONE]\n\ndata: x', "\\u2028\x00", " x "]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).map(lambda text: f"{text}."),
)
"""Texts that are not blank; blank ones are refused by some providers."""
names = st.from_regex(r"[a-z_][a-zA-Z0-9_-]{0,20}", fullmatch=True)
_numbers = st.one_of(
    st.sampled_from([42.0, 0.1, 2**70, -(2**63), 1e300]),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), _numbers, texts, st.just("")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
odd = st.one_of(
    values,
    st.sampled_from([{}, [], [{}], [[]], {"type": []}, {"type": {}, "role": []}, {"text": 1}, "x" * 1000]),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["reasoning", "tool_use", "function_call", "namespace", "custom"])}
    ),
    st.fixed_dictionaries(
        {"type": values, "role": values, "name": values, "content": values, "parts": values}
    ),
)
"""Values that stand where a request has another one."""
objects = st.dictionaries(st.one_of(names, texts, st.just("")), values, max_size=3).map(
    lambda value: dumps(value).decode()
)
broken = st.one_of(
    st.sampled_from(['{"a": 1', "{'a': 1}", '{"a": NaN}', "none", '{"a":1}}', "\n{", '{"a": "\n"}']),
    texts.map(lambda text: "{" + text),
)
"""Arguments that are no JSON."""


@st.composite
def calls(draw: st.DrawFn, most: int = 5, least: int = 0) -> list[dict[str, Any]]:
    """Calls with ids of their own; some arguments are no JSON."""
    arguments = draw(st.lists(st.one_of(objects, objects, broken), min_size=least, max_size=most))
    start = draw(st.integers(0, 10**9))
    return [
        {
            "id": f"call_{start}_{number}",
            "type": "function",
            "function": {"name": draw(names), "arguments": text},
        }
        for number, text in enumerate(arguments)
    ]


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """A system text or none, and turns: what the user says, steps of calls with their results, a last text."""
    messages: list[Message] = [
        {"role": "system", "content": text} for text in draw(st.lists(texts, max_size=1))
    ]
    ids = 0
    for said in draw(st.lists(texts, min_size=1, max_size=3)):
        messages.append({"role": "user", "content": said})
        for step in draw(st.lists(calls(3, 1), max_size=2)):
            step = [{**call, "id": f"c{ids + number}"} for number, call in enumerate(step)]
            ids += len(step)
            text = draw(st.one_of(st.none(), texts))
            messages.append({"role": "assistant", "content": text, "tool_calls": step})
            messages += [
                {"role": "tool", "tool_call_id": call["id"], "content": draw(st.one_of(texts, st.just("")))}
                for call in step
            ]
        messages.append({"role": "assistant", "content": draw(texts)})
    return messages


@st.composite
def tools(draw: st.DrawFn) -> list[Tool]:
    """Tools with schemas that no reader may change: types in capitals, unknown types and keywords."""
    offered: list[Tool] = []
    for name in draw(st.lists(names, unique=True, max_size=3)):
        described: dict[str, Any] = {"description": draw(texts)} if draw(st.booleans()) else {}
        kind = draw(st.sampled_from(["string", "float", "STRING", "any"]))
        properties = {key: {"type": kind, "x-own": draw(values)} for key in draw(st.lists(names, max_size=2))}
        parameters = {"type": "object", "properties": properties, "format": draw(texts)}
        offered.append(
            {"type": "function", "function": {"name": name, **described, "parameters": parameters}}
        )
    return offered


def adapter(wire: Wire, **settings: Any) -> HttpModel:
    """The adapter that speaks a wire as a client."""
    return model(PROTOCOL_OF[wire], **settings)


def question(wire: Wire, body: Mapping[str, Any], *, stream: bool = False) -> Asked:
    """A request as the door reads it."""
    path = STREAM_PATH if wire == "gemini" and stream else PATHS[wire]
    return WIRE_FORMATS[wire].read(body, path)


def request_of(
    wire: Wire, messages: list[Message], offered: list[Tool] | None = None, **settings: Any
) -> Asked:
    """What the door reads of the request that our adapter sends."""
    sent = loads(adapter(wire, **settings).body(Request(messages, offered or [])))
    return question(wire, sent, stream=settings.get("stream", False))
