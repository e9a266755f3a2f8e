"""Where conversations of traces come from: the model, the agent around it, and attributes that name a test case."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wildtool.json_codec import as_object
from wildtool.traces.spans import TraceSpan, flattened, read_json_text

CASE_ATTRIBUTES = ("test.case.id", "test.case.name", "test_case_id", "case.id", "case_id", "wildtool.case")
"""Attributes that name a test case."""
SESSION_ATTRIBUTES = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "gcp.vertex.agent.session_id",
    "session_id",
    "thread_id",
    "conversation_id",
)
"""Attributes that name a conversation."""
_MODELS = (
    "gen_ai.request.model",
    "llm.model_name",
    "llm.request.model",
    "ai.model.id",
    "mlflow.llm.model",
    "ls_model_name",
    "gen_ai.response.model",
)
_REQUESTS = ("input.value", "llm.invocation_parameters", "request_data", "mlflow.spanInputs")
_REQUESTS_BELOW = ("gcp.vertex.agent.llm_request", "langfuse.observation.input", "langsmith.extra")
_AGENTS = ("gen_ai.agent.name", "agent.name")
_SERVICE = "service.name"
_NO_SERVICE = "unknown_service"
"""How the name of a service begins that nobody gave one."""
_HELD_AS_TEXT = ("metadata", "langsmith.extra", "attributes")
"""Parts of names of attributes that may be JSON texts with further attributes in them."""


def asked_model(span: TraceSpan) -> str:
    """The model that a call asked for; empty where nothing says it."""
    for name in _MODELS:
        if value := next(_values(span, name), ""):
            return value
    for key in (*_REQUESTS, *_REQUESTS_BELOW):
        request = as_object(read_json_text(span.attributes.get(key)))
        inner = as_object(request.get("invocation_params"))
        for held in (request, inner):
            name = held.get("model") or held.get("model_name")
            if isinstance(name, str) and name:
                return name
    return ""


def agents_of(spans: Iterable[TraceSpan]) -> Counter[str]:
    """The agents that spans name, else their services."""
    all_spans = list(spans)
    agents = Counter(value for span in all_spans for name in _AGENTS for value in _values(span, name))
    if agents:
        return agents
    services = (str(span.resource.get(_SERVICE) or "") for span in all_spans)
    return Counter(name for name in services if name and not name.startswith(_NO_SERVICE))


class SpanTree:
    """The spans of traces, to find what those around a call say of it."""

    def __init__(self, spans: Sequence[TraceSpan]) -> None:
        self._by_id = {(span.trace, span.id): span for span in spans if span.id}
        self._traces: dict[str, list[TraceSpan]] = defaultdict(list)
        for span in spans:
            self._traces[span.trace].append(span)

    def values(self, spans: Sequence[TraceSpan], name: str) -> list[str]:
        """The values of an attribute that the nearest spans have: those themselves, else the ones that they are in, else
        any of their traces. Several differ; none where no span has it.

        Args:
            name: the attribute, or the end of its name behind a dot, such as `case_id` of `metadata.case_id`.
        """
        own = [value for span in spans for value in _values(span, name)]
        above = own or [value for span in spans for value in self._above(span, name)]
        values = above or [
            value
            for trace in dict.fromkeys(span.trace for span in spans)
            for span in self._traces[trace]
            for value in _values(span, name)
        ]
        return list(dict.fromkeys(values))

    def attributes(self) -> list[str]:
        """The names of attributes with plain values, those of all spans."""
        spans = (span for spans in self._traces.values() for span in spans)
        return list(dict.fromkeys(key for span in spans for key, value in _named(span) if _is_plain(value)))

    def around(self, spans: Sequence[TraceSpan]) -> list[TraceSpan]:
        """All spans of the traces that some are of."""
        return [span for trace in dict.fromkeys(each.trace for each in spans) for span in self._traces[trace]]

    def _above(self, span: TraceSpan, name: str) -> list[str]:
        ids: set[str] = set()
        parent = self._by_id.get((span.trace, span.parent))
        while parent is not None and parent.id not in ids:
            ids.add(parent.id)
            if values := list(_values(parent, name)):
                return values
            parent = self._by_id.get((parent.trace, parent.parent))
        return []


def _values(span: TraceSpan, name: str) -> Iterator[str]:
    """The values of an attribute of a span, of what it holds as JSON, and of the program that wrote it."""
    held = span.attributes.get(name)
    if _is_plain(held):
        yield str(held)
        return
    for key, value in _named(span):
        if _is_plain(value) and value != "" and (key == name or key.endswith(f".{name}")):
            yield str(value)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _named(span: TraceSpan) -> Iterator[tuple[str, Any]]:
    yield from span.resource.items()
    for key, value in span.attributes.items():
        yield key, value
        if any(part in key for part in _HELD_AS_TEXT):
            inner: Mapping[str, Any] = as_object(read_json_text(value))
            yield from ((f"{key}.{below}", each) for below, each in flattened(inner).items())
