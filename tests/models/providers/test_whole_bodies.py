"""One long chat and one long answer in each protocol, field by field; and the parts that the protocols share."""

import copy
import hashlib
import json
from typing import Any

import pytest

from models.asking import HELLO, body, call, model, reply_in
from models.peers import Body
from wildtool.errors import CallError, UsageError
from wildtool.models.prompted import PromptedModel
from wildtool.models.providers.base import batchable_model, endpoint_model
from wildtool.models.providers.chat_changes import split_parallel_calls, with_short_ids
from wildtool.models.providers.openai_messages import (
    CallIds,
    Changes,
    HistoryCall,
    UnsendableError,
    arguments_object,
    assistant_message,
    chat_finish_reason,
    content_text,
    functions_of,
    history_calls,
    openai_call,
    provider_content_of,
    record_dropped,
    same_calls,
    usage_with_totals,
    wire_names,
)
from wildtool.models.settings import Sampling
from wildtool.tool_formats import CALL_FORMATS
from wildtool.types import Address, Message, Reply, Request

SCHEMA = {"type": "object", "properties": {"a b": {"type": "number"}, "c": True}, "required": ["a b", "c", 5]}
TOOLS: list[Body] = [
    {
        "type": "function",
        "function": {"name": "f g", "description": "D.", "parameters": SCHEMA, "strict": True},
    },
    {"type": "function", "function": {"name": "f_g", "description": None, "parameters": None, "extra": 1}},
    {"type": "function", "function": {"name": "h", "parameters": {"properties": {}}}},
]
CHAT: list[Message] = [
    {"role": "system", "content": "S1"},
    {"role": "developer", "content": [{"type": "text", "text": "S2"}, {"type": "input_text", "text": "!"}]},
    {"role": "user", "content": "U1", "name": "x", "none": None},
    {
        "role": "assistant",
        "content": None,
        "refusal": "r",
        "tool_calls": [
            {
                "id": "a1",
                "type": "function",
                "function": {"name": "f g", "arguments": '{"a b": 1}'},
                "index": 0,
            },
            {"id": "a1", "type": "function", "function": {"name": "f_g", "arguments": ""}},
            {"id": "", "function": {"name": "h", "arguments": "{", "more": 1}, "extra": 2},
        ],
    },
    {"role": "tool", "tool_call_id": "a1", "content": "R1", "name": "f g"},
    {"role": "tool", "tool_call_id": "a1", "content": "R2", "is_error": True},
    {"role": "tool", "tool_call_id": "none", "content": None},
    {"role": "assistant", "content": "A2"},
    {"role": "user", "content": ""},
    {"role": "user", "content": "U2"},
    {"role": "system", "content": "S3"},
]
F_G = "f_g_" + hashlib.sha256(b"f g").hexdigest()[:8]
EMPTY_ID = "call_" + hashlib.sha256(b"").hexdigest()[:16]
AGAIN_ID = "call_" + hashlib.sha256(b"a1").hexdigest()[:16]


def built(protocol: str, chat: list[Message] = CHAT, tools: list[Body] = TOOLS) -> Any:
    before = copy.deepcopy((chat, tools))
    wire = model(protocol).build(Request(chat, tools))
    assert (chat, tools) == before
    return wire


def test_a_long_chat_for_anthropic():
    wire = built("anthropic")
    parameter = "a_b"
    assert wire.fields == {
        "model": "claude-x",
        "system": [{"type": "text", "text": "S1"}, {"type": "text", "text": "S2!"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "U1"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "a1", "name": F_G, "input": {parameter: 1}},
                    {"type": "tool_use", "id": f"{AGAIN_ID}_1", "name": "f_g", "input": {}},
                    {
                        "type": "tool_use",
                        "id": f"{EMPTY_ID}_2",
                        "name": "h",
                        "input": {"malformed_arguments": "{"},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a1", "content": "R1"},
                    {"type": "tool_result", "tool_use_id": f"{AGAIN_ID}_1", "content": "R2"},
                    {"type": "tool_result", "tool_use_id": "none", "content": ""},
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "A2"}]},
            {"role": "user", "content": [{"type": "text", "text": "U2"}]},
            {"role": "system", "content": [{"type": "text", "text": "S3"}]},
        ],
        "tools": [
            {
                "name": F_G,
                "description": "D.",
                "input_schema": {
                    "type": "object",
                    "properties": {parameter: {"title": "a b", "type": "number"}, "c": True},
                    "required": [parameter, "c", 5],
                },
                "strict": True,
            },
            {"name": "f_g", "input_schema": {"type": "object", "properties": {}}},
            {"name": "h", "input_schema": {"type": "object", "properties": {}}},
        ],
    }
    assert sorted(wire.changes) == sorted(
        (
            "tool-name-mapped",
            "parameter-name-mapped",
            "system-to-top-level",
            "message-key-dropped:name",
            "message-key-dropped:refusal",
            "call-key-dropped:extra",
            "call-key-dropped:more",
            "call-id-replaced",
            "empty-arguments-as-object",
            "malformed-arguments-wrapped",
            "message-key-dropped:is_error",
            "result-without-call",
            "empty-content-dropped",
            "empty-message-dropped",
            "tool-key-dropped:extra",
            "empty-schema-added",
            "schema-type-added",
        )
    )
    assert wire.tool_names == {F_G: "f g", "f_g": "f_g", "h": "h"}
    assert wire.parameter_names == {F_G: {parameter: "a b"}}
    assert wire.message_count == len(CHAT)


def test_a_long_chat_for_gemini():
    wire = built("gemini")
    wrapped = [("a1", F_G, "R1"), (f"{AGAIN_ID}_1", "f_g", "R2"), ("none", "unknown", "")]
    assert wire.fields == {
        "contents": [
            {"role": "user", "parts": [{"text": "U1"}]},
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"id": "a1", "name": F_G, "args": {"a b": 1}}},
                    {"functionCall": {"id": f"{AGAIN_ID}_1", "name": "f_g", "args": {}}},
                    {
                        "functionCall": {
                            "id": f"{EMPTY_ID}_2",
                            "name": "h",
                            "args": {"malformed_arguments": "{"},
                        }
                    },
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": id_, "name": name, "response": {"output": text}}}
                    for id_, name, text in wrapped
                ],
            },
            {"role": "model", "parts": [{"text": "A2"}]},
            {"role": "user", "parts": [{"text": "U2"}]},
        ],
        "systemInstruction": {"parts": [{"text": "S1"}, {"text": "S2!"}, {"text": "S3"}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": F_G, "description": "D.", "parametersJsonSchema": SCHEMA},
                    {"name": "f_g"},
                    {"name": "h", "parametersJsonSchema": {"properties": {}}},
                ]
            }
        ],
    }
    assert sorted(wire.changes) == sorted(
        (
            "tool-name-mapped",
            "system-to-top-level",
            "message-key-dropped:name",
            "message-key-dropped:refusal",
            "call-key-dropped:extra",
            "call-key-dropped:more",
            "call-id-replaced",
            "empty-arguments-as-object",
            "malformed-arguments-wrapped",
            "message-key-dropped:is_error",
            "result-without-call",
            "tool-result-wrapped",
            "empty-content-dropped",
            "empty-message-dropped",
            "late-system-to-top-level",
            "tool-key-dropped:strict",
            "tool-key-dropped:extra",
        )
    )
    assert (wire.tool_names, wire.message_count) == ({F_G: "f g", "f_g": "f_g", "h": "h"}, len(CHAT))


def test_a_long_chat_for_responses():
    wire = built("responses")
    assert wire.fields == {
        "model": model("responses")._model,  # pyright: ignore[reportPrivateUsage]
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [
            {"role": "system", "content": "S1"},
            {"role": "developer", "content": "S2!"},
            {"role": "user", "content": "U1"},
            {"type": "function_call", "call_id": "a1", "name": "f g", "arguments": '{"a b": 1}'},
            {"type": "function_call", "call_id": f"{AGAIN_ID}_1", "name": "f_g", "arguments": ""},
            {"type": "function_call", "call_id": f"{EMPTY_ID}_2", "name": "h", "arguments": "{"},
            {"type": "function_call_output", "call_id": "a1", "output": "R1"},
            {"type": "function_call_output", "call_id": f"{AGAIN_ID}_1", "output": "R2"},
            {"type": "function_call_output", "call_id": "none", "output": ""},
            {"role": "assistant", "content": "A2"},
            {"role": "user", "content": ""},
            {"role": "user", "content": "U2"},
            {"role": "system", "content": "S3"},
        ],
        "tools": [
            {"type": "function", "name": "f g", "description": "D.", "parameters": SCHEMA, "strict": True},
            {
                "type": "function",
                "name": "f_g",
                "description": None,
                "parameters": None,
                "extra": 1,
                "strict": False,
            },
            {"type": "function", "name": "h", "parameters": {"properties": {}}, "strict": False},
        ],
    }
    assert sorted(wire.changes) == sorted(
        (
            "message-key-dropped:name",
            "message-key-dropped:refusal",
            "call-key-dropped:extra",
            "call-key-dropped:more",
            "call-id-replaced",
            "message-key-dropped:is_error",
            "result-without-call",
            "strict-set-to-false",
        )
    )
    bare = [{"type": "function", "function": {"name": "f"}}]
    wire = built("responses", [HELLO, {"role": "assistant", "tool_calls": [call("a", "f", {"b": 1})]}], bare)
    assert wire.fields["tools"] == [
        {"type": "function", "name": "f", "strict": False, "parameters": {"type": "object", "properties": {}}}
    ]
    assert wire.fields["input"][1] == {
        "type": "function_call",
        "call_id": "a",
        "name": "f",
        "arguments": '{"b":1}',
    }
    assert wire.changes == ("arguments-as-text", "strict-set-to-false", "empty-schema-added")
    silent = built("responses", [{"role": "assistant", "content": None}], [])
    assert silent.fields["input"] == [{"role": "assistant", "content": ""}]
    assert "tools" not in silent.fields


def test_a_long_chat_for_chat_completions_is_as_it_was():
    wire = built("chat")
    assert wire.fields == {
        "model": model("chat")._model,  # pyright: ignore[reportPrivateUsage]
        "messages": CHAT,
        "tools": TOOLS,
    }
    assert wire.changes == ()
    assert "tools" not in built("chat", CHAT, []).fields


@pytest.mark.parametrize("protocol", ["anthropic", "gemini", "responses"])
def test_what_a_protocol_cannot_express_is_refused(protocol: str):
    for messages, tools, problem in (
        ([{"role": "function", "content": "x"}], [], "there is no role 'function' in this protocol"),
        ([{"role": "user", "content": 5}], [], "a message's content is int, neither text nor parts"),
        (
            [{"role": "user", "content": [{"type": "image"}]}],
            [],
            "a message has a part of type 'image'; only texts are",
        ),
        ([{"role": "user", "content": [{"text": "a"}]}], [], "a message has a part without a type"),
        ([{"role": "assistant", "tool_calls": 5}], [], "tool_calls of a message is no list"),
        ([{"role": "assistant", "tool_calls": [{}]}], [], "a call in the history has no name"),
        ([HELLO], [{"type": "custom"}], "a tool is no function with a name"),
    ):
        with pytest.raises(UnsendableError) as raised:
            model(protocol).build(Request(messages, tools))
        assert str(raised.value).startswith(problem)


def parsed(protocol: str, answer: Any, request: Request | None = None) -> Any:
    asked = model(protocol)
    return asked.parse(answer, asked.build(request or Request([HELLO], TOOLS)))


def test_a_long_answer_of_anthropic():
    blocks: list[Any] = [
        {"type": "thinking", "thinking": "T1", "signature": "s"},
        {"type": "thinking", "thinking": "T2"},
        {"type": "text", "text": "X1", "citations": None},
        {"type": "tool_use", "id": "c1", "name": F_G, "input": {"a_b": 1, "c": 2}},
        {"type": "tool_use", "id": "c2", "name": "own", "input": "text"},
        {"type": "other"},
        {"type": "text", "text": "X2"},
    ]
    answer = {
        "type": "message",
        "content": blocks,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 7, "x": None},
    }
    assert parsed("anthropic", answer) == Reply(
        {
            "role": "assistant",
            "content": "X1X2",
            "tool_calls": [openai_call("c1", "f g", '{"a b":1,"c":2}'), openai_call("c2", "own", "text")],
            "reasoning_content": "T1\nT2",
            "provider_content": {"anthropic": blocks},
        },
        finish_reason="tool_calls",
        usage={
            "prompt_tokens": 8,
            "completion_tokens": 7,
            "input_tokens": 5,
            "cache_read_input_tokens": 3,
            "output_tokens": 7,
            "x": None,
        },
    )


@pytest.mark.parametrize(
    ("blocks", "plain"),
    [
        ([{"type": "text", "text": "a", "citations": None}], True),
        ([], True),
        ([{"type": "text", "text": "a"}, {"type": "tool_use", "id": "i", "name": "n", "input": {}}], True),
        ([{"type": "tool_use", "id": "i", "name": "n", "input": {}}, {"type": "text", "text": "a"}], False),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], False),
        ([{"type": "text", "text": "a", "citations": [1]}], False),
        ([{"type": "tool_use", "id": "i", "name": "n", "input": {}, "x": None}], False),
        ([{"type": "tool_use", "id": "i", "name": "n", "input": 5}], False),
        ([{"type": "thinking", "thinking": "t"}], False),
        ([{"type": "tool_use", "id": 5, "name": "n", "input": {}}], False),
    ],
)
def test_blocks_are_kept_where_they_hold_more_than_the_message(blocks: list[Any], plain: bool):
    for reason in ("end_turn", "pause_turn"):
        reply = parsed("anthropic", {"type": "message", "content": blocks, "stop_reason": reason})
        kept = None if plain and reason == "end_turn" else {"anthropic": blocks}
        assert reply.message.get("provider_content") == kept
    going_on = Request([HELLO, {"role": "assistant", "content": "a"}])
    reply = parsed("anthropic", {"type": "message", "content": blocks, "stop_reason": "end_turn"}, going_on)
    assert reply.message["provider_content"] == {"anthropic": blocks}


def test_a_long_answer_of_gemini():
    parts: list[Any] = [
        {"text": "T1", "thought": True},
        {"text": "X1", "thoughtSignature": "s"},
        {"functionCall": {"name": F_G, "args": {"a b": 1}}},
        {"functionCall": {"name": "own", "id": "i"}},
        {"functionCall": {"name": "own", "id": "", "args": None}},
        {"inlineData": 1},
        {"text": "X2"},
    ]
    answer = {
        "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}, {"finishReason": "MAX_TOKENS"}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 3},
    }
    assert parsed("gemini", answer) == Reply(
        {
            "role": "assistant",
            "content": "X1X2",
            "tool_calls": [
                openai_call("call_1_0", "f g", '{"a b":1}'),
                openai_call("i", "own", "{}"),
                openai_call("call_1_2", "own", "{}"),
            ],
            "reasoning_content": "T1",
            "provider_content": {"gemini": parts},
        },
        finish_reason="tool_calls",
        usage={"prompt_tokens": 5, "completion_tokens": 5, **answer["usageMetadata"]},
    )
    for kept, only in (
        (False, [{"text": "a"}]),
        (True, [{"text": "a", "x": 1}]),
        (True, [{"x": 1}]),
        (False, []),
    ):
        reply = parsed("gemini", {"candidates": [{"content": {"parts": only}}]})
        assert ("provider_content" in reply.message) is kept
    empty = parsed("gemini", {"candidates": [{"finishReason": "SAFETY"}]})
    assert empty == Reply({"role": "assistant", "content": ""}, finish_reason="content_filter")
    blocked = {"promptFeedback": {"blockReason": "OTHER"}, **answer}
    assert parsed("gemini", blocked).finish_reason == "content_filter"
    assert [parsed("gemini", other) for other in ([], {}, {"candidates": []}, {"candidates": [5]})] == [
        None
    ] * 4


@pytest.mark.parametrize(
    ("parts", "is_kept"),
    [
        ([{"text": "X"}, {"text": "Y"}], False),
        ([{"text": "T", "thought": True}, {"text": "X"}], True),
        ([{"text": "X", "thoughtSignature": "s"}, {"text": "Y"}], True),
        ([{"functionCall": {"name": "f", "id": ""}}], True),
        ([{"other": 1}], True),
    ],
)
def test_parts_of_gemini_are_kept_where_they_hold_more_than_the_message(parts: list[Body], is_kept: bool):
    message = parsed("gemini", {"candidates": [{"content": {"parts": parts}}]}).message
    assert message.get("provider_content") == ({"gemini": parts} if is_kept else None)
    # An empty id is none, be it of a call or of its result.
    result = {"role": "tool", "tool_call_id": "call_1_0", "content": "R"}
    contents = built("gemini", [HELLO, message, result]).fields["contents"]
    assert contents[1]["parts"] == (parts if is_kept else [{"text": "XY"}])
    if "functionCall" in parts[0]:
        assert contents[2]["parts"] == [{"functionResponse": {"name": "f", "response": {"output": "R"}}}]


def test_a_long_answer_of_responses():
    items: list[Any] = [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "T1"}, {"type": "x", "text": "no"}],
        },
        {
            "type": "message",
            "content": [
                {"type": "output_text", "text": "X1"},
                {"type": "refusal", "refusal": "R1"},
                {"type": "output_text", "text": 5},
                "x",
            ],
        },
        {"type": "function_call", "name": "f", "call_id": "c1", "arguments": "{}"},
        {"type": "function_call", "name": "g", "call_id": "c2", "arguments": {"a": 1}},
        {
            "type": "message",
            "content": [{"type": "output_text", "text": "X2"}, {"type": "refusal", "refusal": "R2"}],
        },
    ]
    answer = {
        "output": items,
        "status": "completed",
        "usage": {"input_tokens": 5, "output_tokens": 6, "x": 1},
    }
    assert parsed("responses", answer) == Reply(
        {
            "role": "assistant",
            "content": "X1X2",
            "refusal": "R1R2",
            "tool_calls": [openai_call("c1", "f", "{}"), openai_call("c2", "g", '{"a":1}')],
            "reasoning_content": "T1",
            "provider_content": {"openai_responses": items},
        },
        finish_reason="content_filter",
        usage={"prompt_tokens": 5, "completion_tokens": 6, "input_tokens": 5, "output_tokens": 6, "x": 1},
    )
    for extra, reason in (
        ({"status": "completed"}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete"}, "incomplete"),
        ({"status": "completed", "incomplete_details": {"reason": "max_output_tokens"}}, "stop"),
        ({}, None),
    ):
        text = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}], **extra}
        reply = parsed("responses", text)
        assert (reply.finish_reason, "provider_content" in reply.message, reply.usage) == (reason, False, {})
    assert "provider_content" not in parsed("responses", {"output": [{"type": "x"}, 5]}).message
    assert parsed("responses", {"output": [{"type": "x"}]}).message["provider_content"]
    assert [parsed("responses", other) for other in ([], {}, {"output": 5})] == [None] * 3


@pytest.mark.parametrize("protocol", ["anthropic", "gemini", "responses"])
def test_a_providers_own_parts_go_back_as_they_came_while_they_fit(protocol: str):
    answers: dict[str, Body] = {
        "anthropic": {
            "type": "message",
            "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "text", "text": " "},
                {"type": "text", "text": "X"},
                {"type": "tool_use", "id": "c1", "name": "h", "input": "no object"},
            ],
        },
        "gemini": {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"text": ""},
                            {"text": "X", "thoughtSignature": "s"},
                            {"functionCall": {"name": "h", "args": "no object", "id": "c1"}},
                        ]
                    }
                }
            ]
        },
        "responses": {
            "output": [
                {"type": "reasoning", "summary": []},
                {"type": "reasoning", "summary": [], "encrypted_content": "e"},
                {"type": "message", "content": [{"type": "output_text", "text": "X"}]},
                {"type": "function_call", "name": "h", "call_id": "c1", "arguments": "no object"},
            ]
        },
    }
    message = parsed(protocol, answers[protocol]).message
    result = {"role": "tool", "tool_call_id": "c1", "content": "R"}
    wire = built(protocol, [HELLO, message, result])
    other = {**message, "content": (message["content"] or "") + "!"}
    changed = built(protocol, [HELLO, other, result])
    if protocol == "anthropic":
        blocks = answers["anthropic"]["content"]
        sent = [blocks[0], blocks[2], {**blocks[3], "input": {"malformed_arguments": "no object"}}]
        assert wire.fields["messages"][1]["content"] == sent
        assert wire.fields["messages"][2]["content"][0]["tool_use_id"] == "c1"
        assert changed.fields["messages"][1]["content"][0] == {"type": "text", "text": " X!"}
    elif protocol == "gemini":
        _, text, function = answers["gemini"]["candidates"][0]["content"]["parts"]
        mended = {"functionCall": {**function["functionCall"], "args": {"malformed_arguments": "no object"}}}
        assert wire.fields["contents"][1]["parts"] == [text, mended]
        response = wire.fields["contents"][2]["parts"][0]["functionResponse"]
        assert (response["id"], response["name"]) == ("c1", "h")
        assert changed.fields["contents"][1]["parts"][0] == {"text": "X!"}
    else:
        assert wire.fields["input"][1:4] == answers["responses"]["output"][1:]
        assert wire.fields["input"][4]["call_id"] == "c1"
        assert "unencrypted-reasoning-dropped" in wire.changes
        assert changed.fields["input"][1] == {"role": "assistant", "content": "X!"}
    assert "message-key-dropped:provider_content" not in wire.changes
    assert "message-key-dropped:provider_content" in changed.changes


def test_items_of_a_reply_without_calls_go_back_as_they_came():
    items: list[Body] = [
        {"type": "reasoning", "summary": [], "encrypted_content": "e"},
        {"type": "message", "content": [{"type": "output_text", "text": "X"}]},
    ]
    message = parsed("responses", {"output": items}).message
    assert built("responses", [HELLO, message, HELLO]).fields["input"][1:3] == items


# What the protocols share ------------------------------------------------------------------------------


DEEP = '{"a":' * 200_000 + "1" + "}" * 200_000


def recorded(function: Any, *arguments: Any) -> tuple[Any, list[str]]:
    changes: Changes = {}
    return function(*arguments, changes), [*changes]


@pytest.mark.parametrize(
    ("arguments", "read", "changes"),
    [
        ({"a": 1}, {"a": 1}, []),
        (None, {}, ["empty-arguments-as-object"]),
        (" \n", {}, ["empty-arguments-as-object"]),
        ('{"a": [1]}', {"a": [1]}, []),
        ('{"a": 1, "a": 2}', {"malformed_arguments": '{"a": 1, "a": 2}'}, ["malformed-arguments-wrapped"]),
        ('{"a": NaN}', {"malformed_arguments": '{"a": NaN}'}, ["malformed-arguments-wrapped"]),
        ("[1]", {"malformed_arguments": "[1]"}, ["malformed-arguments-wrapped"]),
        ([1], {"malformed_arguments": [1]}, ["malformed-arguments-wrapped"]),
        pytest.param(DEEP, {"malformed_arguments": DEEP}, ["malformed-arguments-wrapped"], id="deep"),
        (0, {"malformed_arguments": 0}, ["malformed-arguments-wrapped"]),
    ],
)
def test_arguments_become_objects(arguments: Any, read: Any, changes: list[str]):
    assert recorded(arguments_object, arguments) == (read, changes)


def test_texts_and_calls_of_messages():
    assert (content_text(None), content_text("a"), content_text([])) == ("", "a", "")
    assert content_text([{"type": "output_text", "text": "a"}, {"type": "text", "text": "b"}]) == "ab"
    message = {
        "tool_calls": [
            {"id": 5, "function": {"name": "f"}, "type": "x", "index": 1, "own": 1, "none": None},
            {"function": {"name": "g", "arguments": [1], "more": 2}},
        ]
    }
    changes: Changes = {}
    assert [*history_calls(message, changes)] == [HistoryCall(5, "f", None), HistoryCall(None, "g", [1])]
    assert [*changes] == ["call-key-dropped:own", "call-key-dropped:more"]
    assert [*history_calls({"tool_calls": []}, {})] == []
    assert [*functions_of(Request([], TOOLS))] == [tool["function"] for tool in TOOLS]
    changes = {}
    record_dropped("x", {"a": 1, "b": None, "c": 0}, ["a"], changes)
    assert [*changes] == ["x:c"]


@pytest.mark.parametrize(
    ("content", "kept"),
    [(None, None), ({"p": [1]}, [1]), ({"q": [1]}, None), ({"p": 1}, None), ([1], None), ({"p": []}, [])],
)
def test_the_content_of_a_provider_is_its_own(content: Any, kept: Any):
    assert provider_content_of("p", {"provider_content": content}) == kept


def test_names_that_cannot_be_sent_are_mapped():
    names = ["ab", "a b", "a_b", "a-b", "1a", "x" * 12, "é"]
    tools: list[Body] = [{"function": {"name": name}} for name in names[:-1]]
    request = Request([{"tool_calls": [call("i", names[-1], "{}"), call("j", "ab", "{}")]}], tools)
    changes: Changes = {}

    def digest(name: str) -> str:
        return hashlib.sha256(name.encode()).hexdigest()[:8]

    assert wire_names(request, changes, "a-z0-9_", 11, "a-z_") == {
        "ab": "ab",
        "a_b": "a_b",
        "a b": f"a__{digest('a b')}",
        "a-b": f"a__{digest('a-b')}",
        "1a": "_1a",
        "x" * 12: f"xx_{digest('x' * 12)}",
        "é": "_",
    }
    assert [*changes] == ["tool-name-mapped"]
    for name, sent in (("x" * 11, "x" * 11), ("é" + "x" * 10, "_" + "x" * 10)):
        changes = {}
        allowed = "a-z_"
        assert wire_names(Request([], [{"function": {"name": name}}]), changes, allowed, 11) == {name: sent}
        assert bool(changes) == (name != sent)


def test_ids_of_calls_and_their_results():
    changes: Changes = {}
    ids = CallIds("a-z", 3)
    assert (ids.for_call("abc", "f", changes), [*changes]) == ("abc", [])
    assert ids.for_call("abc", "g", changes) == f"call_{hashlib.sha256(b'abc').hexdigest()[:16]}_1"
    assert ids.for_call("abcd", "h", changes) == f"call_{hashlib.sha256(b'abcd').hexdigest()[:16]}_2"
    assert ids.for_call(7, "k", changes) == f"call_{hashlib.sha256(b'7').hexdigest()[:16]}_3"
    ids.register("own", None, "m")
    assert [*changes] == ["call-id-replaced"]
    changes = {}
    assert ids.for_result("abc", changes) == ("abc", "f")
    assert ids.for_result("abc", changes)[1] == "g"
    assert (ids.for_result(7, changes)[1], ids.for_result("own", changes)) == ("k", (None, "m"))
    assert changes == {}
    assert (ids.for_result("abc", changes), ids.for_result(None, changes)) == (
        ("abc", "unknown"),
        ("None", "unknown"),
    )
    assert [*changes] == ["result-without-call"]


def test_ids_of_a_length_depend_on_the_id_alone():
    ids, digest = CallIds("a-zA-Z0-9", exactly=9), hashlib.sha256(b"x").hexdigest()
    sent = [ids.for_call("x", "f", {}) for _ in range(66)]
    turned = [(digest[start:] + digest[:start])[:9] for start in range(64)]
    assert sent[:64] == turned
    assert sent[64:] == ["000000040", "000000041"]
    assert CallIds("a-zA-Z0-9", exactly=9).for_call("123456789", "f", {}) == "123456789"
    assert CallIds("a-zA-Z0-9", exactly=9).for_result("x", {}) == (digest[:9], "unknown")


def test_a_message_in_openais_shape():
    assert assistant_message("p", [], [], [], None) == {"role": "assistant", "content": ""}
    calls = [openai_call("i", "f", {"a": "é"})]
    assert calls == [{"id": "i", "type": "function", "function": {"name": "f", "arguments": '{"a":"é"}'}}]
    assert assistant_message("p", [], calls, [], None) == {
        "role": "assistant",
        "content": None,
        "tool_calls": calls,
    }
    assert assistant_message("p", ["a", "b"], calls, ["c", "d"], [1], "no") == {
        "role": "assistant",
        "content": "ab",
        "refusal": "no",
        "tool_calls": calls,
        "reasoning_content": "c\nd",
        "provider_content": {"p": [1]},
    }
    assert assistant_message("p", [""], calls, [], [])["provider_content"] == {"p": []}
    assert same_calls({"tool_calls": calls}, calls) and same_calls({}, []) and not same_calls({}, calls)


@pytest.mark.parametrize(
    ("reason", "message", "usual"),
    [
        (None, {}, None),
        (5, {}, None),
        ("end_turn", {}, "stop"),
        ("end_turn", {"tool_calls": [1]}, "tool_calls"),
        ("tool_use", {}, "tool_calls"),
        ("max_tokens", {"tool_calls": [1]}, "length"),
        ("SAFETY", {}, "content_filter"),
        ("refusal", {}, "content_filter"),
        ("pause_turn", {}, "pause_turn"),
        ("new", {}, "new"),
    ],
)
def test_reasons_have_the_names_of_chat_completions(reason: Any, message: Message, usual: str | None):
    assert chat_finish_reason(reason, message) == usual


def test_counts_are_summed_under_the_usual_names():
    usage = {"a": 1, "b": 2, "c": "3", "d": 4, "completion_tokens": 9}
    assert usage_with_totals(usage, ("a", "b", "c", "e"), ("d",)) == {"prompt_tokens": 3, **usage}
    assert usage_with_totals(None, ("a",), ("b",)) == {}
    assert usage_with_totals({}, ("a",), ("b",)) == {"prompt_tokens": 0, "completion_tokens": 0}


def assistant(*ids: Any, content: Any = "A") -> Message:
    return {"role": "assistant", "content": content, "tool_calls": [call(id_, "f", "{}") for id_ in ids]}


def result(id_: Any, content: str = "R") -> Message:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def test_parallel_calls_are_split_each_before_its_result():
    chat = [
        HELLO,
        assistant("a", "b", "c"),
        result("b", "B"),
        result("a", "A"),
        result("x"),
        HELLO,
        assistant("d"),
    ]
    sent, changes = recorded(split_parallel_calls, chat)
    assert sent == [
        HELLO,
        assistant("a"),
        result("a", "A"),
        assistant("b", content=""),
        result("b", "B"),
        assistant("c", content=""),
        result("x"),
        HELLO,
        assistant("d"),
    ]
    assert changes == ["parallel-calls-split"]
    assert recorded(split_parallel_calls, [HELLO, assistant("d"), result("d")]) == (
        [HELLO, assistant("d"), result("d")],
        [],
    )


def test_ids_are_shortened_for_calls_and_results_alike():
    short = hashlib.sha256(b"long-id").hexdigest()[:9]
    chat: list[Message] = [
        HELLO,
        {"role": "assistant", "tool_calls": [call("long-id", "f", "{}"), 5]},
        result("long-id"),
    ]
    sent, changes = recorded(with_short_ids, chat)
    assert sent == [
        HELLO,
        {"role": "assistant", "tool_calls": [call(short, "f", "{}"), 5]},
        result(short),
    ]
    assert changes == ["call-id-replaced"]
    fine = [assistant("abcdefghi"), result("abcdefghi")]
    assert recorded(with_short_ids, fine) == (fine, [])


# The base of all adapters --------------------------------------------------------------------------------


def usage_error(**settings: Any) -> str:
    with pytest.raises(UsageError) as raised:
        model("chat", **settings)
    return str(raised.value)


def test_settings_that_cannot_be_sent_are_refused():
    assert usage_error(extra_body={"messages": [], "stream": True}) == (
        "the extra body may not set messages, stream; leave it out"
    )
    twice = " is given both by its own option and in the extra body; give it only once"
    assert usage_error(temperature=0.0, seed=1, extra_body={"seed": 2, "temperature": 1}) == (
        f"seed, temperature{twice}"
    )
    nan = float("nan")
    assert usage_error(temperature=nan) == "temperature holds the number nan; give a finite one"
    assert usage_error(timeout_s=float("inf")) == "timeout holds the number inf; give a finite one"
    assert usage_error(extra_body={"a": [1.5, {"b": (1, -float("inf"))}]}) == (
        "extra body holds the number -inf; give a finite one"
    )
    with pytest.raises(UsageError, match=f"^maxOutputTokens{twice}$"):
        model("gemini", max_tokens=1, extra_body={"generationConfig": {"maxOutputTokens": 2}})
    with pytest.raises(UsageError, match=f"^generationConfig{twice}$"):
        model("gemini", max_tokens=1, extra_body={"generationConfig": 2})
    model("anthropic", seed=1, extra_body={"seed": 2})


def test_extra_fields_are_merged_into_those_of_the_same_name():
    sent = body(
        "gemini", [HELLO], max_tokens=5, seed=2, extra_body={"generationConfig": {"topK": 1}, "x": {"y": 1}}
    )
    assert sent == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"maxOutputTokens": 5, "seed": 2, "topK": 1},
        "x": {"y": 1},
    }
    streamed = body("chat", [HELLO], stream=True, temperature=0.5, extra_body={"stream_options": {"a": 1}})
    assert streamed["stream_options"] == {"include_usage": True, "a": 1}
    assert (streamed["stream"], streamed["temperature"]) == (True, 0.5)


def test_seeds_of_repeats_are_sent_where_the_protocol_has_one():
    request = Request([HELLO], address=Address("i", 2, "u", 0))
    assert json.loads(model("chat", seed=5).body(request))["seed"] == 7
    asked: Any = model("anthropic", seed=5)
    fields, wire = asked._wire_request(request)
    assert "seed" not in json.loads(fields)
    assert wire.changes == ("seed-not-sent",)
    seeded: Any = model("chat", seed=5)
    assert seeded._wire_request(request)[1].changes == ()
    unseeded: Any = model("anthropic")
    assert unseeded._wire_request(request)[1].changes == ()


def test_settings_say_how_an_endpoint_is_asked():
    asked = model(
        "chat", "http://h/v1?key=secret-of-mine", temperature=0.5, max_tokens=3, seed=1, stream=True
    )
    settings = dict(asked.settings())
    assert len(settings.pop("address_digest")) == 41
    assert settings == {
        "base_url": "http://h/v1?key=…",
        "temperature": 0.5,
        "max_tokens": 3,
        "seed": 1,
        "stream": True,
        "sent_as": asked._model,  # pyright: ignore[reportPrivateUsage]
        "extra_body": {},
    }
    assert repr(asked) == f"OpenAIModel({asked.name!r}, 'http://h/v1?key=…')"
    named = type(asked)("m", "http://h/v1", sampling=Sampling(extra_body={"a": 1}))
    assert named.settings() == {"base_url": "http://h/v1", "extra_body": {"a": 1}}


def test_only_models_of_an_endpoint_that_do_not_stream_can_be_batched():
    asked, streaming = model("chat"), model("chat", stream=True)
    prompted = PromptedModel(asked, CALL_FORMATS["hermes"])
    assert (batchable_model(asked), batchable_model(streaming), batchable_model(prompted)) == (
        asked,
        None,
        asked,
    )
    assert (endpoint_model(streaming), endpoint_model(prompted)) == (streaming, asked)
    other = ScriptedOther()
    assert (batchable_model(other), endpoint_model(other)) == (None, None)
    assert batchable_model(model("gemini")) is None
    with pytest.raises(ValueError) as raised:
        streaming.use_batches(None)  # pyright: ignore
    assert str(raised.value) == f"{streaming.name} cannot be called by batches"


class ScriptedOther:
    name = "other"

    async def complete(self, request: Request) -> Reply:
        return Reply({})

    async def close(self) -> None: ...

    def settings(self) -> Body:
        return {}


CHAT_ANSWER = b'{"choices": [{"message": {"content": "a"}}]}'


@pytest.mark.parametrize(
    ("answer", "settings", "kind", "problem"),
    [
        (b"[1]", {}, "wrong shape", "the answer holds no reply of a model: [1]"),
        (b"x" * 20_000, {}, "invalid JSON", "the answer is not JSON ("),
        (
            b"<html>",
            {},
            "invalid JSON",
            "the answer is not JSON (this is a web page; check the base URL, which must be that of an API, such as"
            " http://127.0.0.1:8000/v1): <html>",
        ),
        (b"data: {}\n\n", {}, "truncated body", "the stream holds no reply: data: {}"),
        (b"x", {"stream": True}, "truncated body", "the stream holds no reply: x"),
        (b"[" * 501, {}, "body too large", "the answer holds JSON nested deeper than 500 levels"),
        (b'{"error": {"message": "m", "code": 503}}', {}, "http 503", "HTTP 503: m"),
    ],
)
def test_an_answer_that_is_no_reply_is_named(answer: bytes, settings: Body, kind: str, problem: str):
    with pytest.raises(CallError) as raised:
        reply_in("chat", answer, **settings)
    where, _, words = str(raised.value).partition("/chat/completions: ")
    assert (raised.value.kind, words[: len(problem)]) == (kind, problem)
    assert where == "http://127.0.0.1:1/v1"
    assert len(words) < 500


def test_a_whole_answer_is_read_where_a_stream_was_asked_for():
    for answer in (CHAT_ANSWER, b"  " + CHAT_ANSWER):
        reply = reply_in("chat", answer, stream=True)
        assert (reply.message, reply.raw) == ({"content": "a"}, answer.decode())
    end = b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}\n\n'
    assert reply_in("chat", end).finish_reason == "stop"
