"""The conventions by which libraries write calls of models into spans, and what each says of messages and tools.

Names are those of the conventions themselves: OpenTelemetry's semantic conventions for generative AI (with message
attributes, and before 1.37 with events), OpenInference, OpenLLMetry, and those of single products.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.shapes.reading import resembles
from wildtool.traces.indexed import indexed_messages, indexed_tools
from wildtool.traces.payloads import RawCall, calls_in, tools_in
from wildtool.traces.spans import EVENT_NAME, SpanEvent, TraceSpan, read_json_text

_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_SYSTEM = "gen_ai.system_instructions"
_EVENT_ROLES: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"
_ABOUT_EVENTS = frozenset({"role", "index", "finish_reason"})
"""Keys of an event that say nothing of its message."""
_EVENT_LISTS = ("events", "all_messages_events")
"""Attributes in which pydantic-ai and logfire keep events."""
_PAIRS = {
    "Langfuse": ("langfuse.observation.input", "langfuse.observation.output"),
    "MLflow": ("mlflow.spanInputs", "mlflow.spanOutputs"),
    "Google ADK": ("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
    "Logfire": ("request_data", "response_data"),
    "LangSmith": ("gen_ai.prompt", "gen_ai.completion"),
    "OpenInference, whole request": ("input.value", "output.value"),
}
"""By convention the attributes that hold a whole request, and its whole answer."""
_TOOL_PLACES = (
    "gen_ai.tool.definitions",
    "gen_ai.request.tools",
    "model_request_parameters",
    "llm.invocation_parameters",
    "mlflow.chat.tools",
    "ai.prompt.tools",
    "langfuse.observation.model.parameters",
    "langfuse.observation.metadata",
    "langsmith.extra",
)
"""Attributes that hold definitions of tools, or an object that has them."""
_KNOWN = (
    *(
        f"{key}."
        for key in ("llm", "ai", "gen_ai.tool.call", "metadata", "traceloop", "langfuse.observation")
    ),
    *(f"{key}." for pair in _PAIRS.values() for key in pair),
)
"""How further attributes begin that hold messages and are read, or repeat what is."""
_WHOLE = frozenset(
    {
        _INPUT,
        _OUTPUT,
        _SYSTEM,
        *_EVENT_LISTS,
        *_TOOL_PLACES,
        "pydantic_ai.all_messages",
        *(key for pair in _PAIRS.values() for key in pair),
    }
)
"""Attributes that are read as a whole."""
_LISTS = (
    _INPUT,
    _OUTPUT,
    *_EVENT_LISTS,
    "ai.prompt.messages",
    "ai.response.toolCalls",
    "pydantic_ai.all_messages",
    "llm.input_messages",
    "llm.output_messages",
)
"""Attributes that are lists of messages, events or calls wherever they occur, or such a list as a JSON text."""


@dataclass(frozen=True, slots=True)
class Convention:
    """How some libraries write calls of models."""

    name: str
    found: Callable[[TraceSpan], list[RawCall]]
    """The calls of a span; none where it is of another convention."""


def _with_attributes(span: TraceSpan) -> list[RawCall]:
    """OpenTelemetry's message attributes, of the span or of one of its events."""
    fields: dict[str, Any] = {}
    for event in span.events:
        fields |= {key: value for key, value in event.fields.items() if key in (_INPUT, _OUTPUT, _SYSTEM)}
    fields |= {key: span.attributes[key] for key in (_INPUT, _OUTPUT, _SYSTEM) if key in span.attributes}
    messages = [
        message for key in (_INPUT, _OUTPUT) for message in as_objects(read_json_text(fields.get(key)))
    ]
    rules = read_json_text(fields.get(_SYSTEM))
    if rules is None and isinstance(fields.get(_SYSTEM), str):
        rules = [{"type": "text", "content": fields[_SYSTEM]}]
    system: list[Any] = [{"role": "system", "parts": as_list(rules)}] if as_list(rules) else []
    return [RawCall([*system, *messages])] if messages else []


def _with_events(span: TraceSpan) -> list[RawCall]:
    """OpenTelemetry's events before 1.37, also where one attribute holds them all."""
    messages: list[Any] = []
    for event in (*span.events, *_listed_events(span.attributes)):
        messages += _event_message(event)
    return [RawCall(messages)] if messages else _of_prompt_events(span)


def _listed_events(attributes: Mapping[str, Any]) -> Iterator[SpanEvent]:
    for key in _EVENT_LISTS:
        for row in as_objects(read_json_text(attributes.get(key))):
            yield SpanEvent(str(row.get(EVENT_NAME) or ""), row)


def _event_message(event: SpanEvent) -> list[Any]:
    """The message of an event; none where its content was not recorded."""
    fields = dict(event.fields)
    fields |= as_object(read_json_text(fields.pop("gen_ai.event.content", None)))
    if event.name == _CHOICE:
        message = _content_of(fields.get("message", fields.get("content")))
        held = as_object(message) or {"content": message}
        return [{**held, "role": "assistant"}] if any(held[key] for key in held if key != "role") else []
    role = _EVENT_ROLES.get(event.name)
    if role is None:
        return []
    message = {key: value for key, value in fields.items() if key not in _ABOUT_EVENTS and "." not in key}
    if "body" in message:
        message.setdefault("content", message.pop("body"))
    call_id = message.pop("id", None)
    if role == "tool" and call_id is not None:
        message.setdefault("tool_call_id", call_id)
    for key in message.keys() & {"content", "tool_calls"}:
        message[key] = _content_of(message[key])
    if "parts" in as_object(message.get("content")):
        # Google's library records Gemini's contents.
        message |= as_object(message.pop("content"))
    has_content = any(value not in (None, "") for key, value in message.items() if key != "tool_call_id")
    return [{**message, "role": role}] if has_content else []


def is_event_of_call(event: SpanEvent) -> bool:
    """Whether an event belongs to a call of a model, also where its content was not recorded."""
    return event.name in _EVENT_ROLES or event.name == _CHOICE


def _content_of(value: Any) -> Any:
    """A content, with the parts or the message that a JSON text of it holds."""
    held = read_json_text(value)
    entries = as_list(held)
    if entries and all(isinstance(entry, dict) for entry in entries):
        return entries
    row = as_object(held)
    return row if isinstance(held, dict) and row.keys() & {"role", "tool_calls", "parts"} else value


def _of_prompt_events(span: TraceSpan) -> list[RawCall]:
    """Events with a whole request, or its answer, of which a span has one each."""
    asked = [
        event.fields.get("gen_ai.prompt") for event in span.events if event.name.endswith("content.prompt")
    ]
    answered = [
        event.fields.get("gen_ai.completion")
        for event in span.events
        if event.name.endswith("content.completion")
    ]
    for _ in (*asked[1:], *answered[1:]):
        span.place.lose("further event with a request or an answer")
    return calls_in(next(iter(asked), None), next(iter(answered), None))


def _with_numbered_attributes(span: TraceSpan) -> list[RawCall]:
    """OpenInference, and OpenLLMetry as it was: one attribute per field of a message."""
    messages, unknown = indexed_messages(span.attributes, read_json_text)
    return [RawCall(messages, unknown=unknown)] if messages else []


def _pair(name: str) -> Convention:
    """A convention with a request and its answer, each whole in one attribute."""
    asked, answered = _PAIRS[name]
    return Convention(name, lambda span: calls_in(span.attributes.get(asked), span.attributes.get(answered)))


def _vercel(span: TraceSpan) -> list[RawCall]:
    """The Vercel AI SDK's attributes."""
    messages = as_objects(read_json_text(span.attributes.get("ai.prompt.messages")))
    text = span.attributes.get("ai.response.text") or span.attributes.get("ai.response.object")
    calls = as_objects(read_json_text(span.attributes.get("ai.response.toolCalls")))
    if not text and not calls:
        return [RawCall(list(messages))] if messages else []
    answer: dict[str, Any] = {"role": "assistant", "content": text or None}
    return [RawCall([*messages, {**answer, "tool_calls": calls} if calls else answer])]


def _agent_messages(span: TraceSpan) -> list[RawCall]:
    """All messages of a run of an agent, as pydantic-ai writes them."""
    messages = as_objects(read_json_text(span.attributes.get("pydantic_ai.all_messages")))
    return [RawCall(list(messages))] if messages else []


CONVENTIONS = (
    Convention("OpenTelemetry, messages in attributes", _with_attributes),
    Convention("OpenTelemetry, messages in events", _with_events),
    Convention("OpenInference or OpenLLMetry, numbered attributes", _with_numbered_attributes),
    _pair("Langfuse"),
    _pair("MLflow"),
    _pair("Google ADK"),
    Convention("Vercel AI SDK", _vercel),
    _pair("Logfire"),
    _pair("LangSmith"),
    Convention("pydantic-ai, run of an agent", _agent_messages),
    _pair("OpenInference, whole request"),
)
"""In this order the first that gives an answer is taken."""


def tools_of_call(span: TraceSpan) -> list[Any]:
    """The definitions that a call of a model was offered, as the span has them."""
    found = [tool for key in _TOOL_PLACES for tool in tools_in(span.attributes.get(key))]
    for event in span.events:
        found += tools_in(event.fields.get(_TOOL_PLACES[0]))
    return [*found, *indexed_tools(span.attributes, read_json_text)]


def tool_of_run(span: TraceSpan) -> dict[str, Any] | None:
    """The definition that the run of a tool records; None where it has no schema."""
    names = ("gen_ai.tool.name", "tool.name")
    name = next((span.attributes[key] for key in names if span.attributes.get(key)), None)
    schemas = ("gen_ai.tool.json_schema", "tool.parameters", "tool.json_schema")
    schema = next(
        filter(None, (as_object(read_json_text(span.attributes.get(key))) for key in schemas)), None
    )
    if not isinstance(name, str) or schema is None or not schema.keys() & {"type", "properties"}:
        return None
    said = span.attributes.get("gen_ai.tool.description") or span.attributes.get("tool.description")
    return {"name": name, "description": said or "", "parameters": schema}


def unread_messages(span: TraceSpan) -> str:
    """Why messages of a span are not read: by an attribute that is no list of them, or that no convention has; empty
    where no attribute is such."""
    held = {
        **span.attributes,
        **{key: value for event in span.events for key, value in event.fields.items() if "." in key},
    }
    for key in _LISTS:
        if held.get(key) and not isinstance(read_json_text(held[key]), list):
            return (
                f"`{key}` is no list of messages: it was cut off at a limit of length, or has another shape"
            )
    unknown = {key: value for key, value in held.items() if key not in _WHOLE and not key.startswith(_KNOWN)}
    for key, value in unknown.items():
        entries = as_objects(read_json_text(value)) if isinstance(value, str | list) else []
        if entries and all(entry.keys() & {"role", "parts", "tool_calls", "content"} for entry in entries):
            return _unknown(key)
    return next((_unknown(key) for key in unknown if resembles(key, (_INPUT, _OUTPUT, _SYSTEM))), "")


def _unknown(key: str) -> str:
    return f"messages under `{key}`, which no convention has"
