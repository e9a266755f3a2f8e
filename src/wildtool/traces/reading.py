"""Reads traces as conversations, and accounts for every call of a model in them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from wildtool.errors import DataError
from wildtool.json_codec import as_object
from wildtool.shapes import Reading, ShapeError, read_entry, read_messages, read_record
from wildtool.shapes.calls import UNRECORDED_ARGUMENTS
from wildtool.shapes.keys import FUNCTION
from wildtool.traces.conventions import (
    CONVENTIONS,
    is_event_of_call,
    tool_of_run,
    tools_of_call,
    unread_messages,
)
from wildtool.traces.forms import values_of_file
from wildtool.traces.kinds import AGENT, MODEL, OTHER, STEP, TOOL, names_model, span_kind
from wildtool.traces.merging import ModelCall, continued, merge, merge_within_traces, tidied
from wildtool.traces.payloads import RawCall
from wildtool.traces.settings import library_of_keys, setting_of
from wildtool.traces.spans import TraceSpan, read_json_text, read_spans
from wildtool.types import Message, Tool

_SESSIONS = ("gen_ai.conversation.id", "session.id", "langfuse.session.id", "gcp.vertex.agent.session_id")
_RESPONSES = ("gen_ai.response.id", "ai.response.id", "llm.response.id")
_REQUESTS = ("input.value", "llm.invocation_parameters", "request_data", "langfuse.observation.input")
_PREVIOUS = "previous_response_id"
_NO_MESSAGES = "no message is recorded"
_NO_QUESTION = "what was asked is not recorded"
_NO_ANSWER = "the last answer is not recorded"
_NO_TOOLS = "no tool definitions are recorded"


@dataclass(frozen=True, slots=True)
class TracedConversation:
    """A conversation that was found in traces, in OpenAI's shape."""

    messages: list[Message]
    tools: list[Tool]
    place: str
    """Of the span that has it whole."""
    convention: str
    calls: int = 1
    """Calls of a model that are in it."""
    missing: tuple[str, ...] = ()
    """What was not recorded, each with the setting that would."""
    when: datetime | None = None
    """When it began; None if nothing says it."""
    spans: tuple[TraceSpan, ...] = ()
    """Those of its calls."""
    failure: str = ""
    """What the call says of its failure that should have answered the last message; empty where none failed."""


@dataclass(slots=True)
class TraceReading:
    """The conversations of traces, and what became of every span."""

    conversations: list[TracedConversation] = field(default_factory=list[TracedConversation])
    spans: int = 0
    others: int = 0
    """Spans that hold no call of a model, or repeat what the calls below them say."""
    calls: int = 0
    """Calls of a model; a batch is one for each in it."""
    drafted: int = 0
    """Calls that have a whole conversation."""
    merged: int = 0
    """Calls that a drafted conversation continues, repeats, or records a second time."""
    left_out: Counter[str] = field(default_factory=Counter[str])
    """By reason the calls that are in no conversation."""
    refused: list[ShapeError] = field(default_factory=list[ShapeError])
    """Why calls of a model are of no known shape, each with its place; counted among those that are left out."""
    unread: Counter[str] = field(default_factory=Counter[str])
    """By reason what holds no span."""
    conventions: Counter[str] = field(default_factory=Counter[str])
    missing: Counter[str] = field(default_factory=Counter[str])
    """What was not recorded, with the setting that would, by the number of conversations."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """By name what OpenAI's shape has no place for, and what was put right."""

    def lines(self) -> list[str]:
        """What became of the spans, for people."""
        kept = f"with a whole conversation: {self.drafted}, merged into these: {self.merged}"
        lines = [
            f"calls of a model: {self.calls} ({kept}, left out: {self.left_out.total()}); other spans: {self.others}"
        ]
        for title, counts in (
            ("left out", self.left_out),
            ("not read", self.unread),
            ("convention", self.conventions),
            ("not recorded", self.missing),
        ):
            lines += [f"  {title}: {name}: {number}" for name, number in counts.most_common()]
        return [
            *lines,
            *(f"  {each.place}: a conversation (calls: {each.calls})" for each in self.conversations),
        ]


def read_traces(paths: Iterable[Path]) -> TraceReading:
    """The conversations in files of traces. Files are read together: the spans of one and the log events of another may
    belong to each other.

    Raises DataError for a file that cannot be read.
    """
    made = TraceReading()
    values = (entry for path in paths for entry in values_of_file(path, Reading(str(path), made.lost)))
    return spans_as_conversations(read_spans(values, made.unread), made)


def spans_as_conversations(
    spans: Sequence[TraceSpan], made: TraceReading, *, as_tries: bool = False
) -> TraceReading:
    """Adds the conversations of spans to a reading.

    Args:
        as_tries: for judging: two traces that say the same are two conversations, and arguments that are not recorded
            are `UNRECORDED_ARGUMENTS` instead of none.
    """
    made.spans = len(spans)
    exchanges: list[ModelCall] = []
    empty: list[TraceSpan] = []
    agents: list[tuple[TraceSpan, list[ModelCall]]] = []
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for span in spans:
        kind = span_kind(span)
        if kind == TOOL and (tool := tool_of_run(span)):
            runs[span.trace].append(tool)
        if kind in (TOOL, OTHER):
            continue
        found, problem = _exchanges(span, UNRECORDED_ARGUMENTS if as_tries else None)
        if span.failure and kind not in (AGENT, STEP):
            found = [exchange for each in found if (exchange := _unanswered(each)).messages]
        if kind in (AGENT, STEP):
            agents += [(span, found)] if found else []
        elif (
            kind == MODEL or found or problem or names_model(span) or any(map(is_event_of_call, span.events))
        ):
            made.calls += max(1, len(found))
            exchanges += found
            if problem:
                made.refused.append(problem)
                made.left_out[str(problem)] += 1
            elif not found:
                empty.append(span)
            elif reason := unread_messages(span):
                made.unread[reason] += 1
        elif reason := unread_messages(span):
            made.unread[reason] += 1
    for found in _unrepeated(agents, exchanges, spans):
        made.calls += len(found)
        exchanges += found
    holding = {id(exchange.span) for exchange in exchanges}
    made.others = len(spans) - len(holding) - len(empty) - len(made.refused)
    _account_for_empty(empty, exchanges, spans, made)
    _draft((merge_within_traces if as_tries else merge)(continued(exchanges)), runs, made)
    return made


def _unanswered(call: ModelCall) -> ModelCall:
    """A call that failed without what it wrote before, which is no reply."""
    asked = list(call.messages)
    while asked and asked[-1]["role"] == "assistant":
        asked.pop()
    return replace(call, messages=asked)


def _unrepeated(
    agents: Sequence[tuple[TraceSpan, list[ModelCall]]],
    calls: Sequence[ModelCall],
    spans: Sequence[TraceSpan],
) -> list[list[ModelCall]]:
    """What runs of agents and other steps say that no call of a model does.

    A step of a trace with calls repeats them. So does the run of an agent, unless no call is below it and none of its
    trace was asked the same: then it is all there is of a conversation.
    """
    asked: dict[str, set[str]] = {call.span.trace: set() for call in calls}
    for call in calls:
        asked[call.span.trace] |= _asked(call)
    above = _above([call.span for call in calls], spans)
    alone: list[list[ModelCall]] = []
    for span, found in agents:
        if span.trace not in asked:
            alone.append(found)
            continue
        own = _asked(found[0])
        is_asked = any(one in other or other in one for one in own for other in asked[span.trace])
        if span_kind(span) == AGENT and own and not is_asked and (span.trace, span.id) not in above:
            alone.append(found)
    return alone


def _asked(call: ModelCall) -> set[str]:
    """What the user said, as far as it is text."""
    texts = [message.get("content") for message in call.turns if message["role"] == "user"]
    return {text.strip() for text in texts if isinstance(text, str) and text.strip()}


def _above(below: Sequence[TraceSpan], spans: Sequence[TraceSpan]) -> set[tuple[str, str]]:
    """The traces and ids of the spans that others are in."""
    parents = {(span.trace, span.id): span.parent for span in spans}
    above: set[tuple[str, str]] = set()
    for span in below:
        place = (span.trace, span.parent)
        while place[1] and place not in above:
            above.add(place)
            place = (span.trace, parents.get(place, ""))
    return above


def _exchanges(span: TraceSpan, absent_arguments: str | None) -> tuple[list[ModelCall], ShapeError | None]:
    """The calls of a span by the first convention that has an answer and no unknown field, and why none could be read.

    Args:
        absent_arguments: as of `Reading`.
    """
    place = replace(span.place, absent_arguments=absent_arguments)
    best: list[ModelCall] = []
    problem: ShapeError | None = None
    for convention in CONVENTIONS:
        raw = convention.found(span)
        try:
            found = [_exchange(span, each, convention.name, place) for each in raw]
        except ShapeError as error:
            problem = problem or error
            continue
        found = [exchange for exchange in found if exchange.turns]
        has_answer = bool(found) and found[0].turns[-1]["role"] == "assistant"
        if has_answer and not found[0].unknown:
            return found, None
        if not best or (has_answer and best[0].turns[-1]["role"] != "assistant"):
            best = found
    for exchange in best:
        for name in exchange.unknown:
            span.place.lose(f"field {name} of a numbered message")
    return best, None if best else problem


def _exchange(span: TraceSpan, found: RawCall, convention: str, place: Reading) -> ModelCall:
    tools = [*found.tools, *tools_of_call(span)]
    if found.record is None:
        messages = read_messages(found.messages, place)
    else:
        record = read_record(found.record, place)
        messages = record.messages
        tools = [*record.tools, *tools]
    return ModelCall(
        span=span,
        convention=convention,
        messages=tidied(messages, span.place),
        tools=tools,
        session=_first(span, _SESSIONS) or span.trace,
        response=_first(span, _RESPONSES),
        previous=_previous(span),
        unknown=found.unknown,
    )


def _first(span: TraceSpan, keys: Iterable[str]) -> str:
    return next((str(span.attributes[key]) for key in keys if span.attributes.get(key)), "")


def _previous(span: TraceSpan) -> str:
    """The id of the response that a call continues."""
    for key, value in span.attributes.items():
        if key.rpartition(".")[2] == _PREVIOUS and isinstance(value, str):
            return value
    requests = (as_object(read_json_text(span.attributes.get(key))) for key in _REQUESTS)
    return next((str(row[_PREVIOUS]) for row in requests if row.get(_PREVIOUS)), "")


def _account_for_empty(
    empty: Sequence[TraceSpan], exchanges: Sequence[ModelCall], spans: Sequence[TraceSpan], made: TraceReading
) -> None:
    """Counts calls without messages: merged where another span records the same call, else left out."""
    responses = {exchange.response for exchange in exchanges if exchange.response}
    ids = {(exchange.span.trace, exchange.span.id) for exchange in exchanges}
    parents = {(exchange.span.trace, exchange.span.parent) for exchange in exchanges if exchange.span.parent}
    for span in empty:
        is_repeated = (
            _first(span, _RESPONSES) in responses
            or (span.trace, span.parent) in ids
            or (bool(span.id) and (span.trace, span.id) in parents)
        )
        if is_repeated:
            made.merged += 1
        elif reason := unread_messages(span):
            made.left_out[reason] += 1
        else:
            made.left_out[f"{_NO_MESSAGES}; {_library(span)}: {setting_of(_scope(span)).content}"] += 1


def _scope(span: TraceSpan) -> str:
    """The library that wrote a span: its scope, which some exports leave out, or what its own attributes begin with."""
    return span.scope or library_of_keys(span.attributes)


def _library(span: TraceSpan) -> str:
    return _scope(span) or "a library that the file does not name"


def _draft(whole: Sequence[ModelCall], runs: dict[str, list[dict[str, Any]]], made: TraceReading) -> None:
    """Adds the conversations that calls are once they are merged."""
    for exchange in whole:
        if not any(message["role"] == "user" for message in exchange.turns):
            setting = setting_of(_scope(exchange.span)).content
            made.left_out[f"{_NO_QUESTION}; {_library(exchange.span)}: {setting}"] += 1 + len(exchange.merged)
            continue
        made.drafted += 1
        made.merged += len(exchange.merged)
        made.conventions[exchange.convention] += 1
        conversation = _conversation(exchange, runs, made)
        made.missing.update(conversation.missing)
        made.conversations.append(conversation)


def _conversation(
    exchange: ModelCall, runs: dict[str, list[dict[str, Any]]], made: TraceReading
) -> TracedConversation:
    spans = [exchange.span, *(each.span for each in exchange.merged)]
    written = [tool for each in (exchange, *exchange.merged) for tool in each.tools]
    written += [tool for trace in dict.fromkeys(span.trace for span in spans) for tool in runs[trace]]
    tools = _tools(written, exchange.span.place, made)
    system = next((each.system for each in (exchange, *exchange.merged) if each.system), "")
    messages = exchange.turns
    if system:
        messages = [{"role": "system", "content": system}, *messages]
    setting = setting_of(_scope(exchange.span))
    missing: list[str] = []
    called = any(message.get("tool_calls") for message in messages)
    if called and not tools:
        missing.append(f"{_NO_TOOLS}; {_library(exchange.span)}: {setting.tools}")
    if messages[-1]["role"] != "assistant":
        missing.append(f"{_NO_ANSWER}; {_library(exchange.span)}: {setting.content}")
    return TracedConversation(
        messages=messages,
        tools=tools,
        place=exchange.span.place.place,
        convention=exchange.convention,
        calls=1 + len(exchange.merged),
        missing=tuple(missing),
        when=min((span.when for span in spans if span.when), default=None),
        spans=tuple(spans),
        failure="" if messages[-1]["role"] == "assistant" else exchange.span.failure,
    )


def _tools(written: Sequence[Any], place: Reading, made: TraceReading) -> list[Tool]:
    """The definitions, each name once; one that is none is counted."""
    tools: dict[str, Tool] = {}
    unrecorded: dict[str, None] = {}
    for entry in written:
        held = as_object(as_object(entry).get(FUNCTION)) or as_object(entry)
        if (
            "parameters" in held and held["parameters"] is None
        ):  # some libraries write null for what is not to be recorded
            unrecorded[str(held.get("name"))] = None
            continue
        try:
            found = read_entry(entry, place)
        except DataError as error:
            made.lost[f"tool definition: {error}"] += 1
            continue
        for each in found:
            tools.setdefault(each.tool["function"]["name"], each.tool)
    for name in unrecorded.keys() - tools.keys():
        made.lost[f"definition of the tool {name}, whose parameters are not recorded"] += 1
    return list(tools.values())
