"""Asks an adapter, and looks at what it sends and gives back."""

import json
from typing import Any

from faults.server import Answer
from models.options import client_options
from models.peers import PROTOCOLS, Body, Peer
from wildtool.models.providers.base import HttpModel
from wildtool.types import Message, Reply, Request, Tool

FOREIGN = ["anthropic", "gemini", "responses"]
KEY = "sk-secret/0123456789abcdef"
HELLO: Message = {"role": "user", "content": "hi"}
PARAMETERS: Body = {
    "type": "object",
    "$defs": {"d": {"type": "number"}},
    "properties": {
        "a": {"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]},
        "b": {
            "type": "object",
            "properties": {
                "c": {"type": "string", "pattern": "^\\d+$", "x-own": [1, {"k": None}]},
                "城市": {"type": "string", "description": "出发城市"},
            },
        },
    },
    "required": ["a"],
    "additionalProperties": False,
}
TOOL: Tool = {"type": "function", "function": {"name": "f", "description": "Does.", "parameters": PARAMETERS}}


def model(protocol: str, base_url: str = "http://127.0.0.1:1/v1", **settings: Any) -> HttpModel:
    speaks = PROTOCOLS[protocol]
    return speaks.model(
        speaks.prefix, base_url, KEY, sent_as=speaks.prefix.partition("/")[2], **client_options(**settings)
    )


def body(protocol: str, messages: list[Message], tools: list[Tool] | None = None, **settings: Any) -> Body:
    return json.loads(model(protocol, **settings).body(Request(messages, tools or [])))


async def told(
    protocol: str, said: Message | Answer, request: Request | None = None, **settings: Any
) -> Reply:
    """The reply where the peer says this."""
    async with Peer(protocol, lambda body, digest: said) as peer:
        asked = model(protocol, peer.base_url, **settings)
        try:
            reply = await asked.complete(request or Request([HELLO], [TOOL]))
        finally:
            await asked.close()
    assert peer.mistakes == []
    return reply


def call(id_: Any, name: str, arguments: Any) -> Body:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def asked_and_answered(*calls: Body, content: Any = None) -> list[Message]:
    results = [{"role": "tool", "tool_call_id": c["id"], "content": f"r{n}"} for n, c in enumerate(calls)]
    return [HELLO, {"role": "assistant", "content": content, "tool_calls": list(calls)}, *results]


async def changes(protocol: str, messages: list[Message], tools: list[Tool] | None = None) -> tuple[str, ...]:
    """What is recorded as changed; the peer finds no mistake in what was sent."""
    return (await told(protocol, {"content": "ok"}, Request(messages, tools or []))).changes
