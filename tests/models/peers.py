"""Local peers of the four protocols: each checks a request by the provider's published schema and answers in its shapes.

The schemas are written from the providers' references (Anthropic's Messages, Google's generateContent, OpenAI's Responses
and chat completions), as far as the adapters use them; a key that is not in them is a mistake.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from faults.server import Answer, FaultServer, http
from wildtool.models.providers.anthropic import AnthropicModel
from wildtool.models.providers.base import HttpModel
from wildtool.models.providers.gemini import GeminiModel
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.models.providers.openai_responses import ResponsesModel
from wildtool.types import Message

Body = dict[str, Any]


def keys(value: Any, required: str, optional: str = "") -> None:
    """Demands an object with all required keys and none but the optional ones besides."""
    assert isinstance(value, dict), value
    must, may = set(required.split()), set(optional.split())
    assert must <= value.keys() <= must | may, f"{sorted(value)} instead of {required} ({optional})"


def schema(value: Any) -> None:
    assert isinstance(value, dict) and value.get("type") == "object", value


# Anthropic: POST /v1/messages


def check_anthropic(head: str, body: Body) -> None:
    assert re.match(r"POST /v1/messages HTTP", head)
    assert "\r\nx-api-key: " in head
    newer = "\r\nanthropic-version: 2026-10-21" in head
    assert newer or "\r\nanthropic-version: 2023-06-01" in head
    sampling = "" if newer else " temperature top_p top_k"
    keys(body, "model messages max_tokens", f"system tools stream thinking tool_choice{sampling}")
    assert isinstance(body["max_tokens"], int) and body["messages"]
    for block in body.get("system", []):
        keys(block, "type text")
        assert block["type"] == "text" and block["text"].strip()
    for tool in body.get("tools", []):
        keys(tool, "name input_schema", "description strict")
        assert re.fullmatch("[a-zA-Z0-9_-]{1,128}", tool["name"])
        schema(tool["input_schema"])
        properties = tool["input_schema"].get("properties", {})
        assert all(re.fullmatch("[a-zA-Z0-9_.-]{1,64}", key) for key in properties), (
            "Property keys should match pattern"
        )
    _check_anthropic_messages(body["messages"])


def _check_anthropic_messages(messages: list[Any]) -> None:
    waiting: set[str] = set()
    used: set[str] = set()
    for number, message in enumerate(messages):
        keys(message, "role content")
        assert message["role"] in ("user", "assistant", "system") and message["content"]
        if message["role"] == "system":
            around = [one["role"] for one in messages[max(number - 1, 0) : number + 2]]
            assert around in (["user", "system"], ["user", "system", "assistant"]), (
                "role 'system' must follow a 'user'"
            )
        results = [b for b in message["content"] if b["type"] == "tool_result"]
        assert waiting == {b["tool_use_id"] for b in results}, (
            "each tool_use needs its tool_result right after it"
        )
        assert message["content"][: len(results)] == results, "tool results come first"
        waiting = set()
        for block in message["content"]:
            match block["type"]:
                case "text":
                    keys(block, "type text", "citations")
                    assert block["text"].strip()
                case "tool_use":
                    keys(block, "type id name input")
                    assert message["role"] == "assistant" and isinstance(block["input"], dict)
                    assert re.fullmatch("[a-zA-Z0-9_-]+", block["id"]) and block["id"] not in used
                    waiting.add(block["id"])
                case "tool_result":
                    keys(block, "type tool_use_id content", "is_error")
                    assert message["role"] == "user" and isinstance(block["content"], str)
                case "thinking":
                    keys(block, "type thinking signature")
                case "redacted_thinking":
                    keys(block, "type data")
                case "server_tool_use":
                    keys(block, "type id name input")
                case "web_search_tool_result":
                    keys(block, "type tool_use_id content")
                case other:
                    raise AssertionError(f"no block is of type {other}")
        used |= waiting


def write_anthropic(message: Message, digest: str) -> Body:
    calls = message.get("tool_calls") or []
    blocks: list[Body] = (
        [{"type": "thinking", "thinking": "Hm.", "signature": f"sig-{digest}"}] if calls else []
    )
    if message.get("content"):
        blocks.append({"type": "text", "text": message["content"]})
    for call in calls:
        function = call["function"]
        given = json.loads(function["arguments"])
        blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": given})
    return {
        "id": f"msg_{digest}",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": blocks,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "cache_read_input_tokens": 3, "output_tokens": 7},
    }


def stream_anthropic(answer: Body) -> list[Body]:
    start = {**answer, "content": [], "stop_reason": None, "usage": {**answer["usage"], "output_tokens": 1}}
    parts: list[Body] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(answer["content"]):
        empty = {**block, **{name: "" for name in ("text", "thinking", "signature") if name in block}}
        deltas = [
            {"type": f"{n}_delta", n: part}
            for n in ("thinking", "text")
            if n in block
            for part in halves(block[n])
        ]
        if "signature" in block:
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        if block["type"] == "tool_use":
            empty["input"] = {}
            deltas += [
                {"type": "input_json_delta", "partial_json": p} for p in halves(json.dumps(block["input"]))
            ]
        parts.append({"type": "content_block_start", "index": index, "content_block": empty})
        parts += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        parts.append({"type": "content_block_stop", "index": index})
    stopped = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    parts.append({"type": "message_delta", "delta": stopped, "usage": {"output_tokens": 7}})
    return [*parts, {"type": "message_stop"}]


# Gemini: POST /v1/models/NAME:generateContent


def check_gemini(head: str, body: Body) -> None:
    assert re.match(r"POST /v1/models/[\w.-]+:(generateContent|streamGenerateContent\?alt=sse) HTTP", head)
    assert "\r\nx-goog-api-key: " in head
    keys(body, "contents", "systemInstruction tools generationConfig toolConfig safetySettings")
    if "systemInstruction" in body:
        keys(body["systemInstruction"], "parts", "role")
    for tool in body.get("tools", []):
        keys(tool, "functionDeclarations")
        for function in tool["functionDeclarations"]:
            keys(function, "name", "description parametersJsonSchema")
            assert re.fullmatch("[a-zA-Z_][a-zA-Z0-9_.-]{0,63}", function["name"])
            schema(function.get("parametersJsonSchema", {"type": "object"}))
    known = "temperature maxOutputTokens seed topP thinkingConfig"
    keys(body.get("generationConfig", {}), "", known)
    _check_contents(body["contents"])


def _check_contents(contents: list[Any]) -> None:
    asked: list[Body] = []
    for content in contents:
        keys(content, "role parts")
        assert content["role"] in ("user", "model") and content["parts"]
        answers = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        assert [(c.get("id"), c["name"]) for c in asked] == [(a.get("id"), a["name"]) for a in answers]
        asked = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        for part in content["parts"]:
            keys(part, "", "text thought thoughtSignature functionCall functionResponse")
            assert part.get("text") != ""
        for call in asked:
            keys(call, "name args", "id")
            assert content["role"] == "model" and isinstance(call["args"], dict)
        for answer in answers:
            keys(answer, "name response", "id")
            assert content["role"] == "user" and isinstance(answer["response"], dict)


def write_gemini(message: Message, digest: str) -> Body:
    parts: list[Body] = [{"text": message["content"]}] if message.get("content") else []
    for number, call in enumerate(message.get("tool_calls") or []):
        function = call["function"]
        part: Body = {"functionCall": {"name": function["name"], "args": json.loads(function["arguments"])}}
        if number == 0:
            # Of parallel calls only the first carries the signature.
            part["thoughtSignature"] = f"sig-{digest}"
        parts.append(part)
    usage = {
        "promptTokenCount": 11,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
        "totalTokenCount": 18,
    }
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini", "responseId": digest}


def stream_gemini(answer: Body) -> list[Body]:
    candidate = answer["candidates"][0]
    chunks: list[Body] = []
    for part in candidate["content"]["parts"]:
        pieces = [{"text": half} for half in halves(part["text"])] if set(part) == {"text"} else [part]
        chunks += [{"candidates": [{"content": {"role": "model", "parts": [p]}, "index": 0}]} for p in pieces]
    last = {"content": {"role": "model", "parts": []}, "finishReason": candidate["finishReason"], "index": 0}
    return [*chunks, {**answer, "candidates": [last]}]


# OpenAI Responses: POST /v1/responses


def check_responses(head: str, body: Body) -> None:
    assert re.match(r"POST /v1/responses HTTP", head)
    assert "\r\nAuthorization: Bearer " in head
    keys(body, "model input store", "include tools temperature max_output_tokens stream reasoning")
    assert body["store"] is False
    for tool in body.get("tools", []):
        keys(tool, "type name parameters strict", "description")
        assert tool["type"] == "function" and isinstance(tool["strict"], bool)
        schema(tool["parameters"])
    waiting: set[str] = set()
    for item in body["input"]:
        match item.get("type", "message"):
            case "message":
                keys(item, "role content", "type id status")
                assert item["role"] in ("system", "developer", "user", "assistant")
                assert isinstance(item["content"], str | list)
            case "function_call":
                keys(item, "type call_id name arguments", "id status")
                assert isinstance(item["arguments"], str) and 1 <= len(item["call_id"]) <= 64
                waiting.add(item["call_id"])
            case "function_call_output":
                keys(item, "type call_id output")
                waiting.remove(item["call_id"])
            case "reasoning":
                keys(item, "type id summary encrypted_content", "status")
            case other:
                raise AssertionError(f"no item is of type {other}")
    assert not waiting, "No tool output found for function call"


def write_responses(message: Message, digest: str) -> Body:
    items: list[Body] = []
    for number, call in enumerate(message.get("tool_calls") or []):
        if number == 0:
            items.append(
                {
                    "type": "reasoning",
                    "id": f"rs_{digest}",
                    "summary": [],
                    "encrypted_content": f"enc-{digest}",
                }
            )
        called = {
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        }
        items.append(
            {"type": "function_call", "id": f"fc_{digest}_{number}", "status": "completed", **called}
        )
    if message.get("content"):
        part = {"type": "output_text", "text": message["content"], "annotations": []}
        said = {
            "type": "message",
            "id": f"msg_{digest}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        items.append(said)
    usage = {
        "input_tokens": 11,
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 18,
    }
    about = {"id": f"resp_{digest}", "object": "response", "status": "completed", "error": None}
    return {**about, "incomplete_details": None, "output": items, "usage": usage}


def stream_responses(answer: Body) -> list[Body]:
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    parts: list[Body] = [{"type": "response.created", "response": begun}]
    parts += [{"type": "response.output_item.done", "item": item} for item in answer["output"]]
    return [*parts, {"type": f"response.{answer['status']}", "response": answer}]


# OpenAI chat completions: POST /v1/chat/completions


def check_chat(head: str, body: Body) -> None:
    assert re.match(r"POST /v1/chat/completions HTTP", head)
    keys(body, "model messages", "tools temperature max_tokens seed stream stream_options")
    # Usage comes with a stream only where it is asked for.
    assert body.get("stream_options") == ({"include_usage": True} if body.get("stream") else None)


def write_chat(message: Message, digest: str) -> Body:
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
    }
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {
        "id": digest,
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def stream_chat(answer: Body) -> list[Body]:
    choice = answer["choices"][0]
    deltas: list[Body] = [{"role": "assistant", "content": choice["message"].get("content") and ""}]
    deltas += [{"content": half} for half in halves(choice["message"].get("content") or "")]
    for key, value in choice["message"].items():
        if key not in ("role", "content", "tool_calls"):
            deltas += [{key: part} for part in _pieces(value)]
    for index, call in enumerate(choice["message"].get("tool_calls") or []):
        function = call["function"]
        named = {"name": function["name"], "arguments": ""}
        deltas.append(
            {"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": named}]}
        )
        for half in halves(function["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": half}}]})
    about = {"id": answer["id"], "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [{**about, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    ended = {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    return [*chunks, ended, {**about, "choices": [], "usage": answer["usage"]}]


def _pieces(value: Any) -> list[Any]:
    """Another part of a message as streams bring it: a text in halves, objects with their own texts in halves."""
    if isinstance(value, str):
        return halves(value)
    if not isinstance(value, list):
        return [value]
    return [
        [{**part, "text": half, "signature": None if number == 0 else part.get("signature")}]
        for part in value
        for number, half in enumerate(halves(part["text"]))
    ]


def halves(text: str) -> list[str]:
    """A text in two pieces, as streams bring it."""
    return [piece for piece in (text[: len(text) // 2], text[len(text) // 2 :]) if piece]


@dataclass(frozen=True)
class Protocol:
    """What one provider speaks."""

    model: type[HttpModel]
    check: Callable[[str, Body], None]
    write: Callable[[Message, str], Body]
    stream: Callable[[Body], list[Body]]
    error: Callable[[int, str], Body]
    prefix: str
    closing: str = ""


PROTOCOLS: Mapping[str, Protocol] = {
    "anthropic": Protocol(
        AnthropicModel,
        check_anthropic,
        write_anthropic,
        stream_anthropic,
        lambda status, why: {
            "type": "error",
            "error": {"type": "api_error", "message": why},
            "request_id": "req_1",
        },
        "anthropic/claude-x",
    ),
    "gemini": Protocol(
        GeminiModel,
        check_gemini,
        write_gemini,
        stream_gemini,
        lambda status, why: {"error": {"code": status, "message": why, "status": "UNAVAILABLE"}},
        "gemini/gemini-x",
    ),
    "responses": Protocol(
        ResponsesModel,
        check_responses,
        write_responses,
        stream_responses,
        lambda status, why: {"error": {"message": why, "type": "server_error", "param": None, "code": None}},
        "openai-responses/gpt-x",
    ),
    "chat": Protocol(
        OpenAIModel,
        check_chat,
        write_chat,
        stream_chat,
        lambda status, why: {"error": {"message": why, "type": "server_error", "param": None, "code": None}},
        "openai-chat/gpt-x",
        "data: [DONE]\n\n",
    ),
}


def digest_of(body: bytes) -> str:
    """The name of a request, whether it asks for a stream or not."""
    parsed = json.loads(body)
    parsed = {name: value for name, value in parsed.items() if not name.startswith("stream")}
    return hashlib.sha256(json.dumps(parsed, sort_keys=True).encode()).hexdigest()[:16]


def sse(parts: list[Body], closing: str = "") -> bytes:
    """Events as the providers send them."""
    events = [f"event: {part['type']}\n" if "type" in part else "" for part in parts]
    return (
        "".join(f"{e}data: {json.dumps(p)}\n\n" for e, p in zip(events, parts, strict=True)).encode()
        + closing.encode()
    )


class Peer(FaultServer):
    """Checks each request and answers it by `said`: an assistant message in OpenAI's shape, or an HTTP answer."""

    def __init__(self, protocol: str, said: Callable[[Body, str], Message | Answer]) -> None:
        super().__init__("ok")
        self.protocol = PROTOCOLS[protocol]
        self.said = said
        self.mistakes: list[str] = []
        """What was wrong with requests; they are answered HTTP 400."""
        self.digests: list[str] = []
        """The requests that got a reply."""

    def answer(self, head: bytes, body: bytes) -> Answer:
        self.heads.append(head)
        self.bodies.append(body)
        parsed = json.loads(body)
        try:
            self.protocol.check(head.decode(), parsed)
        except AssertionError as error:
            self.mistakes.append(str(error))
            return Answer(http(400, json.dumps(self.protocol.error(400, f"invalid: {error}")).encode()))
        digest = digest_of(body)
        said = self.said(parsed, digest)
        if isinstance(said, Answer):
            return said
        self.digests.append(digest)
        written = self.protocol.write(said, digest)
        if not parsed.get("stream") and b"alt=sse" not in head:
            return Answer(http(200, json.dumps(written, ensure_ascii=False).encode()))
        events = sse(self.protocol.stream(written), self.protocol.closing)
        return Answer(http(200, events, kind="text/event-stream"))
