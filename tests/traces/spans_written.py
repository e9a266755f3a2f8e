"""One conversation as different libraries write it into spans."""

import json
from typing import Any

TOOL = {
    "name": "get_weather",
    "description": "Weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
SYSTEM, ASKED, ANSWER = "You help. Today is 2025-03-04.", "What is the weather in Oslo?", "It rains."
ARGUMENTS = {"city": "Oslo"}
RESULT = {"sky": "rain"}
SENT: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASKED}]
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": json.dumps(ARGUMENTS)},
}
CALLING: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [CALL]}
GIVEN: dict[str, Any] = {"role": "tool", "tool_call_id": "c1", "content": json.dumps(RESULT)}
SAID: dict[str, Any] = {"role": "assistant", "content": ANSWER}
FUNCTION = {"type": "function", "function": TOOL}
STEPS: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [(SENT, CALLING), ([*SENT, CALLING, GIVEN], SAID)]
"""For each call of the model what it was sent and what it answered."""


def span(number: int, attributes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A span as an SDK prints it."""
    context = {"trace_id": "0xt", "span_id": f"0x{number}"}
    return {
        "name": "chat",
        "context": context,
        "attributes": attributes,
        "start_time": "2025-03-04T10:00:00Z",
        **fields,
    }


def langchain(message: dict[str, Any]) -> dict[str, Any]:
    """A message as LangChain dumps it."""
    names = {
        "system": "SystemMessage",
        "user": "HumanMessage",
        "assistant": "AIMessage",
        "tool": "ToolMessage",
    }
    kwargs: dict[str, Any] = {"content": message["content"] or ""}
    if message.get("tool_calls"):
        kwargs["tool_calls"] = [{"name": "get_weather", "args": ARGUMENTS, "id": "c1", "type": "tool_call"}]
    if message["role"] == "tool":
        kwargs["tool_call_id"] = "c1"
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "messages", names[message["role"]]],
        "kwargs": kwargs,
    }


def gemini(message: dict[str, Any]) -> dict[str, Any]:
    """A message as Gemini has it."""
    if message.get("tool_calls"):
        return {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": ARGUMENTS}}]}
    if message["role"] == "tool":
        return {"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": RESULT}}]}
    return {
        "role": "model" if message["role"] == "assistant" else "user",
        "parts": [{"text": message["content"]}],
    }


def event(message: dict[str, Any], choice: bool) -> dict[str, Any]:
    """A message as an event of OpenTelemetry before 1.37."""
    body = {
        key: value
        for key, value in message.items()
        if key not in ("role", "tool_call_id") and value is not None
    }
    if message["role"] == "tool":
        body["id"] = "c1"
    if choice:
        return {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", **body}}
    return {"event.name": f"gen_ai.{message['role']}.message", "role": message["role"], **body}


def events_of(sent: list[dict[str, Any]], answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [*(event(message, choice=False) for message in sent), event(answer, choice=True)]


def as_span_events(rows: list[dict[str, Any]], *, whole: bool) -> list[dict[str, Any]]:
    """Events of a span: their fields as attributes, or all of them in one."""
    made: list[dict[str, Any]] = []
    for row in rows:
        fields = {key: value for key, value in row.items() if key != "event.name"}
        texts = {
            key: value if isinstance(value, str | int) else json.dumps(value) for key, value in fields.items()
        }
        attributes = {"gen_ai.event.content": json.dumps(fields)} if whole else texts
        made.append({"name": row["event.name"], "attributes": attributes})
    return made


def spans_of(library: str) -> list[dict[str, Any]]:
    """The two calls as a library writes them."""
    return [_span_of(library, number, *step) for number, step in enumerate(STEPS, 1)]


def _span_of(library: str, number: int, sent: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
    request = {"model": "m", "messages": sent, "tools": [FUNCTION]}
    answered = {"choices": [{"index": 0, "finish_reason": "stop", "message": answer}]}
    calls = [{"toolCallId": "c1", "toolName": "get_weather", "input": json.dumps(ARGUMENTS)}]
    match library:
        case "vercel ai sdk":
            attributes: dict[str, Any] = {
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.prompt.messages": json.dumps(sent),
                "ai.prompt.tools": [json.dumps({"type": "function", **TOOL})],
                **(
                    {"ai.response.toolCalls": json.dumps(calls)}
                    if answer is CALLING
                    else {"ai.response.text": ANSWER}
                ),
            }
        case "logfire":
            message = {"message": answer, "usage": None}
            attributes = {
                "gen_ai.operation.name": "chat",
                "request_data": json.dumps(request),
                "response_data": json.dumps(message),
            }
        case "pydantic-ai, events in one attribute":
            definitions = {"function_tools": [{**TOOL, "parameters_json_schema": TOOL["parameters"]}]}
            del definitions["function_tools"][0]["parameters"]
            attributes = {
                "gen_ai.operation.name": "chat",
                "events": json.dumps(events_of(sent, answer)),
                "model_request_parameters": json.dumps(definitions),
            }
        case "events with one attribute":
            attributes = {"gen_ai.request.model": "m", "gen_ai.tool.definitions": json.dumps([FUNCTION])}
            return span(number, attributes, events=as_span_events(events_of(sent, answer), whole=True))
        case "events with attributes":
            attributes = {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": json.dumps([FUNCTION])}
            return span(number, attributes, events=as_span_events(events_of(sent, answer), whole=False))
        case "google genai, events":
            rows = [
                {"event.name": "gen_ai.system.message", "content": SYSTEM},
                *({"event.name": "gen_ai.user.message", "content": gemini(message)} for message in sent[1:2]),
                *(
                    {"event.name": "gen_ai.assistant.message", "content": gemini(message)}
                    for message in sent[2:3]
                ),
                *({"event.name": "gen_ai.user.message", "content": gemini(message)} for message in sent[3:]),
                {"event.name": "gen_ai.choice", "index": 0, "content": gemini(answer)},
            ]
            attributes = {
                "gen_ai.operation.name": "generate_content",
                "gen_ai.tool.definitions": json.dumps([TOOL]),
            }
            return span(number, attributes, events=as_span_events(rows, whole=False))
        case "logfire, stream":
            text = {"combined_chunk_content": ANSWER, "chunk_count": 3}
            attributes = {
                "request_data": json.dumps(request),
                "response_data": json.dumps(text if answer is SAID else {"message": answer}),
            }
        case "openllmetry, blocks without a type":
            blocks = [_blocks(message) for message in sent]
            attributes = {
                f"gen_ai.prompt.{k}.{key}": value
                for k, row in enumerate(blocks)
                for key, value in row.items()
            }
            attributes |= {f"gen_ai.completion.0.{key}": value for key, value in _blocks(answer).items()}
            functions = {"name": TOOL["name"], "description": TOOL["description"]}
            attributes |= {f"llm.request.functions.0.{key}": value for key, value in functions.items()}
            attributes |= {
                "llm.request.functions.0.parameters": json.dumps(TOOL["parameters"]),
                "llm.request.type": "chat",
            }
        case "openinference, unknown fields and the whole request":
            attributes = {
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.something.new": "x",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": "x",
                "input.value": json.dumps(request),
                "output.value": json.dumps(answered),
            }
        case "google adk":
            config = {"system_instruction": SYSTEM, "tools": [{"function_declarations": [TOOL]}]}
            contents = [gemini(message) for message in sent if message["role"] != "system"]
            attributes = {
                "gen_ai.operation.name": "generate_content",
                "gcp.vertex.agent.llm_request": json.dumps(
                    {"model": "g", "config": config, "contents": contents}
                ),
                "gcp.vertex.agent.llm_response": json.dumps({"content": gemini(answer)}),
            }
        case "mlflow":
            attributes = {
                "mlflow.spanType": '"CHAT_MODEL"',
                "mlflow.spanInputs": json.dumps(request),
                "mlflow.spanOutputs": json.dumps(answered),
            }
        case "mlflow, langchain":
            attributes = {
                "mlflow.spanType": "CHAT_MODEL",
                "mlflow.spanInputs": json.dumps([[langchain(message) for message in sent]]),
                "mlflow.spanOutputs": json.dumps(
                    {"generations": [[{"text": "", "message": langchain(answer)}]]}
                ),
                "mlflow.chat.tools": json.dumps([FUNCTION]),
            }
        case "langfuse, langchain":
            given = [*sent, {"role": "tool", "content": FUNCTION}]
            attributes = {
                "langfuse.observation.type": "generation",
                "langfuse.observation.input": json.dumps(given),
                "langfuse.observation.output": json.dumps(answer),
            }
        case "openinference, whole request":
            attributes = {
                "openinference.span.kind": "LLM",
                "input.value": json.dumps(request),
                "output.value": json.dumps(answered),
            }
        case "phoenix export":
            nested = {
                "input_messages": [{"message": _numbered(message)} for message in sent],
                "output_messages": [{"message": _numbered(answer)}],
                "tools": [{"tool": {"json_schema": json.dumps(FUNCTION)}}],
            }
            return span(number, {"llm": nested, "openinference": {"span": {"kind": "LLM"}}}, span_kind="LLM")
        case "langsmith export":
            return {
                "id": f"r{number}",
                "trace_id": "t",
                "run_type": "llm",
                "name": "ChatOpenAI",
                "start_time": "2025-03-04T10:00:00",
                "inputs": {"messages": [[langchain(message) for message in sent]]},
                "outputs": {"generations": [[{"text": "", "message": langchain(answer)}]]},
                "extra": {"invocation_params": {"tools": [FUNCTION]}},
            }
        case "langfuse export":
            return {
                "id": f"o{number}",
                "traceId": "t",
                "type": "GENERATION",
                "startTime": "2025-03-04T10:00:00Z",
                "input": request,
                "output": answer,
            }
        case _:
            raise ValueError(library)
    return span(number, attributes)


def _blocks(message: dict[str, Any]) -> dict[str, str]:
    """A message whose content is a list of blocks, as Bedrock has them."""
    if message.get("tool_calls"):
        block: dict[str, Any] = {"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": ARGUMENTS}}
    elif message["role"] == "tool":
        block = {"toolResult": {"toolUseId": "c1", "content": [{"json": RESULT}]}}
    else:
        block = {"text": message["content"]}
    role = "user" if message["role"] == "tool" else message["role"]
    return {"role": role, "content": json.dumps([block])}


def _numbered(message: dict[str, Any]) -> dict[str, Any]:
    """A message as OpenInference has it, nested."""
    made: dict[str, Any] = {"role": message["role"]}
    if message["content"]:
        made["content"] = message["content"]
    if message.get("tool_calls"):
        function = {"name": "get_weather", "arguments": json.dumps(ARGUMENTS)}
        made["tool_calls"] = [{"tool_call": {"id": "c1", "function": function}}]
    if message["role"] == "tool":
        made["tool_call_id"] = "c1"
    return made


LIBRARIES = (
    "vercel ai sdk",
    "logfire",
    "pydantic-ai, events in one attribute",
    "events with one attribute",
    "events with attributes",
    "google genai, events",
    "logfire, stream",
    "openllmetry, blocks without a type",
    "openinference, unknown fields and the whole request",
    "google adk",
    "mlflow",
    "mlflow, langchain",
    "langfuse, langchain",
    "openinference, whole request",
    "phoenix export",
    "langsmith export",
    "langfuse export",
)
