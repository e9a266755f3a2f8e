"""One conversation as each vendor and program writes it, from a neutral form."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: Mapping[str, Any]
    result: str = ""


@dataclass(frozen=True)
class ToolText:
    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Talk:
    """A user's request, calls at once with a text before, their results, and an answer."""

    tools: Sequence[ToolText]
    system: str
    request: str
    before: str
    calls: Sequence[Call]
    answer: str


AGE = ToolText(
    "age_of",
    "Age from a birth date",
    {
        "type": "object",
        "properties": {"born": {"type": "string", "description": "YYYY-MM-DD"}, "days": {"type": "integer"}},
        "required": ["born"],
    },
)
PING = ToolText("ping", "Answers", {"type": "object", "properties": {}})
NESTED = ToolText(
    "find",
    "Finds",
    {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"q": {"type": "number"}}}},
        },
        "required": ["type"],
    },
)
TALK = Talk(
    tools=[AGE, PING, NESTED],
    system="Be brief.",
    request="How old are Anna and Bo?",
    before="Let me see.",
    calls=[
        Call("c1", "age_of", {"born": "1991-02-03"}, '{"age": 35}'),
        Call("c2", "age_of", {"born": "1987-11-30", "days": 2}, '{"age": 39}'),
    ],
    answer="35 and 39.",
)


def openai_tools(tools: Sequence[ToolText]) -> list[Any]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in tools
    ]


def bare_tools(tools: Sequence[ToolText], key: str = "parameters") -> list[Any]:
    return [{"name": tool.name, "description": tool.description, key: tool.schema} for tool in tools]


def responses_tools(tools: Sequence[ToolText]) -> list[Any]:
    return [{"type": "function", **tool} for tool in bare_tools(tools)]


def in_capitals(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: value.upper() if key == "type" and isinstance(value, str) else in_capitals(value)
            for key, value in schema.items()
        }
    return [in_capitals(part) for part in schema] if isinstance(schema, list) else schema


def gemini_tools(tools: Sequence[ToolText]) -> list[Any]:
    declared = [{**tool, "parameters": in_capitals(tool["parameters"])} for tool in bare_tools(tools)]
    return [{"functionDeclarations": declared}]


def bedrock_tools(tools: Sequence[ToolText]) -> list[Any]:
    return [
        {
            "toolSpec": {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": {"json": tool.schema},
            }
        }
        for tool in tools
    ]


TOOLS: Mapping[str, Callable[[Sequence[ToolText]], Any]] = {
    "openai": openai_tools,
    "responses": responses_tools,
    "bare": bare_tools,
    "text": lambda tools: json.dumps(bare_tools(tools)),
    "anthropic": lambda tools: bare_tools(tools, "input_schema"),
    "mcp": lambda tools: bare_tools(tools, "inputSchema"),
    "mcp result": lambda tools: {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"tools": bare_tools(tools, "inputSchema")},
    },
    "gemini": gemini_tools,
    "gemini json schema": lambda tools: [
        {"function_declarations": bare_tools(tools, "parametersJsonSchema")}
    ],
    "bedrock": lambda tools: {"tools": bedrock_tools(tools), "toolChoice": {"auto": {}}},
    "langchain": lambda tools: bare_tools(tools, "args_schema"),
    "pydantic ai": lambda tools: bare_tools(tools, "parameters_json_schema"),
    "vercel": lambda tools: {
        tool.name: {"description": tool.description, "inputSchema": {"jsonSchema": tool.schema}}
        for tool in tools
    },
}
"""Definitions of tools by shape."""


def _openai_call(call: Call, *, as_object: bool = False) -> dict[str, Any]:
    arguments = call.arguments if as_object else json.dumps(call.arguments)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


CALLS: Mapping[str, Callable[[Call], Any]] = {
    "openai": _openai_call,
    "objects": lambda call: _openai_call(call, as_object=True),
    "bare": lambda call: {"name": call.name, "arguments": call.arguments},
    "responses": lambda call: {
        "type": "function_call",
        "id": "fc_1",
        "call_id": call.id,
        "name": call.name,
        "arguments": json.dumps(call.arguments),
    },
    "anthropic": lambda call: {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments},
    "gemini": lambda call: {"functionCall": {"name": call.name, "args": call.arguments}},
    "mcp": lambda call: {
        "method": "tools/call",
        "params": {"name": call.name, "arguments": call.arguments},
    },
    "bedrock": lambda call: {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}},
    "langchain": lambda call: {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"},
    "vercel": lambda call: {
        "type": "tool-call",
        "toolCallId": call.id,
        "toolName": call.name,
        "input": call.arguments,
    },
    "pydantic ai": lambda call: {
        "part_kind": "tool-call",
        "tool_name": call.name,
        "args": json.dumps(call.arguments),
        "tool_call_id": call.id,
    },
    "otel": lambda call: {
        "type": "tool_call",
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
    },
    "cohere": lambda call: {"name": call.name, "parameters": call.arguments},
    "inspect": lambda call: {
        "id": call.id,
        "type": "function",
        "function": call.name,
        "arguments": call.arguments,
    },
    "verifiers": lambda call: json.dumps(
        {"id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
    ),
}
"""One call by shape."""


def openai(talk: Talk, *, as_object: bool = False) -> dict[str, Any]:
    calls = [_openai_call(call, as_object=as_object) for call in talk.calls]
    return {
        "messages": [
            {"role": "system", "content": talk.system},
            {"role": "user", "content": talk.request},
            {"role": "assistant", "content": talk.before, "tool_calls": calls},
            *({"role": "tool", "tool_call_id": call.id, "content": call.result} for call in talk.calls),
            {"role": "assistant", "content": talk.answer},
        ],
        "tools": openai_tools(talk.tools),
    }


def responses(talk: Talk) -> dict[str, Any]:
    return {
        "instructions": talk.system,
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": talk.request}]},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": talk.before}],
            },
            *(CALLS["responses"](call) for call in talk.calls),
            *(
                {"type": "function_call_output", "call_id": call.id, "output": call.result}
                for call in talk.calls
            ),
        ],
        "tools": responses_tools(talk.tools),
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": talk.answer}],
            }
        ],
    }


def nemo_gym(talk: Talk) -> dict[str, Any]:
    row = responses(talk)
    output = row.pop("output")
    return {"responses_create_params": row, "response": {"output": output}, "reward": 1.0}


def anthropic(talk: Talk) -> dict[str, Any]:
    return {
        "system": [{"type": "text", "text": talk.system}],
        "messages": [
            {"role": "user", "content": talk.request},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": talk.before},
                    *(CALLS["anthropic"](call) for call in talk.calls),
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": call.id,
                        "content": [{"type": "text", "text": call.result}],
                    }
                    for call in talk.calls
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": talk.answer}]},
        ],
        "tools": TOOLS["anthropic"](talk.tools),
    }


def gemini(talk: Talk) -> dict[str, Any]:
    return {
        "systemInstruction": {"parts": [{"text": talk.system}]},
        "contents": [
            {"role": "user", "parts": [{"text": talk.request}]},
            {
                "role": "model",
                "parts": [{"text": talk.before}, *(CALLS["gemini"](call) for call in talk.calls)],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": call.name, "response": json.loads(call.result)}}
                    for call in talk.calls
                ],
            },
            {"role": "model", "parts": [{"text": talk.answer}]},
        ],
        "tools": gemini_tools(talk.tools),
    }


def bedrock(talk: Talk) -> dict[str, Any]:
    return {
        "system": [{"text": talk.system}],
        "messages": [
            {"role": "user", "content": [{"text": talk.request}]},
            {
                "role": "assistant",
                "content": [{"text": talk.before}, *(CALLS["bedrock"](call) for call in talk.calls)],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": call.id, "content": [{"text": call.result}]}}
                    for call in talk.calls
                ],
            },
            {"role": "assistant", "content": [{"text": talk.answer}]},
        ],
        "toolConfig": {"tools": bedrock_tools(talk.tools)},
    }


def langchain(talk: Talk) -> dict[str, Any]:
    calls = [CALLS["langchain"](call) for call in talk.calls]
    return {
        "messages": [
            {"type": "system", "data": {"content": talk.system, "type": "system"}},
            {"type": "human", "data": {"content": talk.request, "type": "human"}},
            {"type": "ai", "data": {"content": talk.before, "type": "ai", "tool_calls": calls}},
            *(
                {
                    "type": "tool",
                    "data": {"content": call.result, "type": "tool", "tool_call_id": call.id},
                }
                for call in talk.calls
            ),
            {"type": "ai", "data": {"content": talk.answer, "type": "ai", "tool_calls": []}},
        ],
        "tools": openai_tools(talk.tools),
    }


def langchain_dumped(talk: Talk) -> dict[str, Any]:
    names = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    row = langchain(talk)
    row["messages"] = [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", names[message["type"]]],
            "kwargs": message["data"],
        }
        for message in row["messages"]
    ]
    return row


def vercel(talk: Talk) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "system", "content": talk.system},
            {"role": "user", "content": [{"type": "text", "text": talk.request}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": talk.before},
                    *(CALLS["vercel"](call) for call in talk.calls),
                ],
            },
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": call.id,
                        "toolName": call.name,
                        "output": {"type": "text", "value": call.result},
                    }
                    for call in talk.calls
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": talk.answer}]},
        ],
        "tools": TOOLS["vercel"](talk.tools),
    }


def pydantic_ai(talk: Talk) -> dict[str, Any]:
    return {
        "messages": [
            {
                "kind": "request",
                "parts": [
                    {"part_kind": "system-prompt", "content": talk.system},
                    {"part_kind": "user-prompt", "content": talk.request},
                ],
            },
            {
                "kind": "response",
                "parts": [
                    {"part_kind": "text", "content": talk.before},
                    *(CALLS["pydantic ai"](call) for call in talk.calls),
                ],
            },
            {
                "kind": "request",
                "parts": [
                    {
                        "part_kind": "tool-return",
                        "tool_name": call.name,
                        "content": call.result,
                        "tool_call_id": call.id,
                    }
                    for call in talk.calls
                ],
            },
            {"kind": "response", "parts": [{"part_kind": "text", "content": talk.answer}]},
        ],
        "tools": TOOLS["pydantic ai"](talk.tools),
    }


def otel(talk: Talk) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "system", "parts": [{"type": "text", "content": talk.system}]},
            {"role": "user", "parts": [{"type": "text", "content": talk.request}]},
            {
                "role": "assistant",
                "parts": [
                    {"type": "text", "content": talk.before},
                    *(CALLS["otel"](call) for call in talk.calls),
                ],
            },
            {
                "role": "tool",
                "parts": [
                    {"type": "tool_call_response", "id": call.id, "response": call.result}
                    for call in talk.calls
                ],
            },
            {"role": "assistant", "parts": [{"type": "text", "content": talk.answer}]},
        ],
        "tools": responses_tools(talk.tools),
    }


def verifiers(talk: Talk) -> dict[str, Any]:
    row = openai(talk)
    messages = row["messages"]
    messages[2]["tool_calls"] = [CALLS["verifiers"](call) for call in talk.calls]
    return {
        "prompt": messages[:2],
        "completion": messages[2:],
        "tool_defs": json.dumps(bare_tools(talk.tools)),
        "reward": 1.0,
        "info": {},
    }


def langfuse(talk: Talk) -> dict[str, Any]:
    row = openai(talk)
    return {
        "id": "o1",
        "type": "GENERATION",
        "input": {"messages": row["messages"][:-1], "tools": row["tools"]},
        "output": row["messages"][-1],
    }


RECORDS: Mapping[str, Callable[[Talk], dict[str, Any]]] = {
    "openai": openai,
    "hugging face": lambda talk: openai(talk, as_object=True),
    "responses": responses,
    "nemo gym": nemo_gym,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
    "langchain": langchain,
    "langchain dumped": langchain_dumped,
    "vercel": vercel,
    "pydantic ai": pydantic_ai,
    "otel": otel,
    "verifiers": verifiers,
    "langfuse": langfuse,
}
"""Whole records by shape."""


Answer = Callable[[str | None, Sequence[Call]], Any]


def _message(text: str | None, calls: Sequence[Call], shape: str = "openai") -> dict[str, Any]:
    written = [CALLS[shape](call) for call in calls]
    return {"role": "assistant", "content": text, **({"tool_calls": written} if calls else {})}


def _text_part(text: str | None, key: str = "text", **fields: str) -> list[Any]:
    return [{**fields, key: text}] if text else []


def _typed(
    text: str | None, calls: Sequence[Call], shape: str, key: str = "text", kind: str = "type"
) -> list[Any]:
    return [*_text_part(text, key, **{kind: "text"}), *(CALLS[shape](call) for call in calls)]


def _untyped(text: str | None, calls: Sequence[Call], shape: str) -> list[Any]:
    return [*_text_part(text), *(CALLS[shape](call) for call in calls)]


def _response(text: str | None, calls: Sequence[Call]) -> dict[str, Any]:
    message = {"type": "message", "role": "assistant", "content": _text_part(text, type="output_text")}
    return {"output": [*([message] if text else []), *(CALLS["responses"](call) for call in calls)]}


def _langchain(text: str | None, calls: Sequence[Call]) -> dict[str, Any]:
    return {"type": "ai", "content": text or "", "tool_calls": [CALLS["langchain"](call) for call in calls]}


ANSWERS: Mapping[str, Answer] = {
    "openai": _message,
    "hugging face": lambda text, calls: _message(text, calls, "objects"),
    "completion": lambda text, calls: {"choices": [{"message": _message(text, calls)}]},
    "bare": lambda text, calls: _message(text, calls, "bare"),
    "responses": _response,
    "anthropic": lambda text, calls: {
        "type": "message",
        "role": "assistant",
        "content": _typed(text, calls, "anthropic"),
        "stop_reason": "tool_use" if calls else "end_turn",
    },
    "anthropic calls": lambda text, calls: _message(text, calls, "anthropic"),
    "anthropic blocks": lambda text, calls: _typed(text, calls, "anthropic"),
    "gemini": lambda text, calls: {
        "candidates": [{"content": {"role": "model", "parts": _untyped(text, calls, "gemini")}}]
    },
    "mcp": lambda text, calls: _message(text, calls, "mcp"),
    "bedrock": lambda text, calls: {
        "output": {"message": {"role": "assistant", "content": _untyped(text, calls, "bedrock")}}
    },
    "langchain": _langchain,
    "langchain dumped": lambda text, calls: {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": _langchain(text, calls),
    },
    "vercel": lambda text, calls: {"role": "assistant", "content": _typed(text, calls, "vercel")},
    "pydantic ai": lambda text, calls: {
        "kind": "response",
        "parts": _typed(text, calls, "pydantic ai", "content", "part_kind"),
    },
    "otel": lambda text, calls: {"role": "assistant", "parts": _typed(text, calls, "otel", "content")},
    "cohere": lambda text, calls: _message(text, calls, "cohere"),
    "inspect": lambda text, calls: _message(text, calls, "inspect"),
    "verifiers": lambda text, calls: _message(text, calls, "verifiers"),
}
"""One answer of a model by shape, as functions and logs give it."""


def messages_of(answer: Any) -> list[Any]:
    """An answer without what an API puts around it, as a conversation has it."""
    match answer:
        case (
            {"choices": [{"message": message}]}
            | {"output": {"message": message}}
            | {"candidates": [{"content": message}]}
        ):
            return [message]
        case {"output": [*items]}:
            return items
        case _:
            return [answer]


def atif(talk: Talk) -> list[Any]:
    calls = [
        {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments}
        for call in talk.calls
    ]
    results = [{"source_call_id": call.id, "content": call.result} for call in talk.calls]
    steps = [
        {"source": "system", "message": talk.system},
        {"source": "user", "message": talk.request},
        {
            "source": "agent",
            "message": talk.before,
            "tool_calls": calls,
            "observation": {"results": results},
            "metrics": {"prompt_tokens": 3},
        },
        {"source": "agent", "message": talk.answer},
    ]
    return [
        {
            "schema_version": "ATIF-v1.7",
            "session_id": "s",
            "agent": {"name": "a", "version": "1", "tool_definitions": openai_tools(talk.tools)},
            "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        }
    ]


def adk_session(talk: Talk) -> list[Any]:
    """As the session of Google's ADK 2.13 is dumped, with some of its keys."""
    results = [
        {"functionResponse": {"id": call.id, "name": call.name, "response": json.loads(call.result)}}
        for call in talk.calls
    ]
    calls = [
        {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}} for call in talk.calls
    ]
    said: list[tuple[str, str, list[Any]]] = [
        ("user", "user", [{"text": talk.request}]),
        ("helper", "model", [{"text": talk.before}, *calls]),
        ("helper", "user", results),
        ("helper", "model", [{"text": talk.answer}]),
    ]
    events = [
        {
            "author": author,
            "content": {"role": role, "parts": parts},
            "invocationId": "i1",
            "actions": {"stateDelta": {}},
            "id": f"e{number}",
            "timestamp": 1796081949.5,
        }
        for number, (author, role, parts) in enumerate(said)
    ]
    return [{"id": "s", "appName": "app", "userId": "u", "state": {}, "events": events}]


def gemini_cli(talk: Talk) -> list[Any]:
    """As Gemini CLI 0.61 writes the lines of a chat: a reply again once its calls ran, and each result twice."""
    results = [
        {"functionResponse": {"id": call.id, "name": call.name, "response": {"output": call.result}}}
        for call in talk.calls
    ]
    calls = [
        {"id": call.id, "name": call.name, "args": call.arguments, "result": [result], "status": "success"}
        for call, result in zip(talk.calls, results, strict=True)
    ]
    reply = {"id": "m2", "type": "gemini", "content": talk.before, "thoughts": [], "model": "gemini"}
    return [
        {"sessionId": "s", "projectHash": "p", "startTime": "2026-11-30T23:39:27.298Z", "kind": "main"},
        {"$set": {"messages": [_chat_line("m0", "user", [{"text": "<session_context>Linux"}])]}},
        _chat_line("m1", "user", [{"text": talk.request}]),
        {"$set": {"lastUpdated": "2026-11-30T23:39:27.310Z"}},
        reply,
        {**reply, "toolCalls": calls},
        _chat_line("m3", "user", results),
        _chat_line("m4", "gemini", talk.answer),
    ]


def gemini_cli_document(talk: Talk) -> list[Any]:
    """As earlier versions wrote a chat: one document, with results beside their calls alone."""
    head, _, request, _, _, reply, _, answer = gemini_cli(talk)
    return [{**head, "messages": [request, reply, answer]}]


def qwen_code(talk: Talk) -> list[Any]:
    """As Qwen Code 0.15 writes the lines of a session."""
    calls = [
        {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}} for call in talk.calls
    ]
    results = [
        {"functionResponse": {"id": call.id, "name": call.name, "response": {"output": call.result}}}
        for call in talk.calls
    ]
    said: list[tuple[str, str, list[Any]]] = [
        ("user", "user", [{"text": talk.request}]),
        ("assistant", "model", [{"text": talk.before}, *calls]),
        *(("tool_result", "user", [result]) for result in results),
        ("assistant", "model", [{"text": talk.answer}]),
    ]
    return _session_lines([(kind, {"role": role, "parts": parts}) for kind, role, parts in said])


def claude_code(talk: Talk) -> list[Any]:
    return _session_lines([(message["role"], message) for message in anthropic(talk)["messages"]])


def codex(talk: Talk) -> list[Any]:
    return [{"type": "response_item", "payload": item} for item in responses(talk)["input"]]


def _session_lines(messages: Sequence[tuple[str, Any]]) -> list[Any]:
    """Lines of a session, each of which follows the one before."""
    return [
        {
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": "s",
            "type": kind,
            "cwd": "/tmp",
            "message": message,
        }
        for number, (kind, message) in enumerate(messages)
    ]


def pi(talk: Talk) -> list[Any]:
    """As pi 0.73 writes the lines of a session."""
    calls = [
        {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments}
        for call in talk.calls
    ]
    messages: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": talk.request}]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": talk.before}, *calls],
            "api": "openai-completions",
            "usage": {"input": 10, "output": 5},
            "stopReason": "toolUse",
        },
        *(
            {
                "role": "toolResult",
                "toolCallId": call.id,
                "toolName": call.name,
                "content": [{"type": "text", "text": call.result}],
                "isError": False,
            }
            for call in talk.calls
        ),
        {"role": "assistant", "content": [{"type": "text", "text": talk.answer}], "stopReason": "stop"},
    ]
    return [
        {"type": "session", "version": 3, "id": "s", "cwd": "/tmp"},
        {"type": "model_change", "id": "m", "parentId": None, "modelId": "m"},
        *(
            {"type": "message", "id": f"e{n}", "parentId": f"e{n - 1}" if n else "m", "message": message}
            for n, message in enumerate(messages)
        ),
    ]


def opencode(talk: Talk) -> list[Any]:
    """As `opencode export` of OpenCode 1.18 prints a session."""
    calls = [
        {
            "type": "tool",
            "tool": call.name,
            "callID": call.id,
            "state": {
                "status": "completed",
                "input": call.arguments,
                "output": call.result,
                "metadata": {"exit": 0},
                "title": "ran",
                "time": {"start": 1, "end": 2},
            },
        }
        for call in talk.calls
    ]
    steps: list[tuple[str, list[Any]]] = [
        ("user", [{"type": "text", "text": talk.request}]),
        ("assistant", [{"type": "step-start"}, {"type": "text", "text": talk.before}, *calls]),
        (
            "assistant",
            [{"type": "step-start"}, {"type": "text", "text": talk.answer}, {"type": "step-finish"}],
        ),
    ]
    messages = [
        {"info": {"id": f"m{number}", "role": role, "time": {"created": 1796083048927}}, "parts": parts}
        for number, (role, parts) in enumerate(steps)
    ]
    return [{"info": {"id": "ses", "title": "t", "time": {"created": 1796083048831}}, "messages": messages}]


def _chat_line(id_: str, kind: str, content: Any) -> dict[str, Any]:
    return {"id": id_, "timestamp": "2026-11-30T23:39:27.299Z", "type": kind, "content": content}


SESSIONS: Mapping[str, Callable[[Talk], list[Any]]] = {
    "claude code": claude_code,
    "codex": codex,
    "atif": atif,
    "adk": adk_session,
    "gemini cli": gemini_cli,
    "gemini cli, a document": gemini_cli_document,
    "opencode": opencode,
    "pi": pi,
    "qwen code": qwen_code,
}
"""One conversation by program that keeps it, as the values of its file."""
