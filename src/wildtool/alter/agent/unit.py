"""One unit of an agent's run: what its replies say that the agent did, as columns and beside the steps of a trace."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wildtool import json_codec
from wildtool.alter.agent.record import (
    ALTERED,
    ANSWERED,
    ANSWERED_TURN,
    AS_SAID,
    DISCARDED,
    FATES,
    CallFate,
    HarnessRecord,
    RecordedEnd,
    ShownTools,
    harness_record,
)
from wildtool.alter.base import UNDER_TEST, AlteredUnit, Exchange
from wildtool.episode import said_alone
from wildtool.json_codec import as_objects
from wildtool.shapes import tool_name
from wildtool.trace import Aside, Trace, TraceStep
from wildtool.types import FieldValue, Message, Request

FATE_COLUMNS: Mapping[str, str] = {fate: f"calls_{fate.replace(' ', '_')}" for fate in FATES}
"""The column of each fate of a call."""
AGENT_COLUMNS: Mapping[str, str] = {
    "agent_prompt_chars": "BIGINT",
    "agent_dates": "VARCHAR",
    "agent_sampling": "VARCHAR",
    "added_tools": "BIGINT",
    "renamed_tools": "BIGINT",
    "changed_schemas": "BIGINT",
    "agent_own_steps": "BIGINT",
    "agent_own_calls": "BIGINT",
    "agent_called": "VARCHAR",
    "agent_own_tokens": "BIGINT",
    **dict.fromkeys(FATE_COLUMNS.values(), "BIGINT"),
    "calls_not_known": "BIGINT",
    "results_changed": "BIGINT",
    "texts_changed": "BIGINT",
    "lost_in_translation": "VARCHAR",
    "side_requests": "BIGINT",
    "agent_retries": "BIGINT",
    "agent_seconds": "DOUBLE",
    "turn_end": "VARCHAR",
}
"""What the agent did in a unit; all NULL for one without any reply."""
_FATE_TITLES = {
    AS_SAID: "executed as said",
    ALTERED: "altered: what was executed",
    ANSWERED: "answered by the agent itself",
}
"""What is said at a call; of the other fates their names."""
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = f"({'|'.join(_MONTHS)})[a-z]*"
_DATES = (
    re.compile(r"\b(?P<year>20\d\d)[-/](?P<month>\d\d?)[-/](?P<day>\d\d?)\b"),
    re.compile(
        rf"\b(?P<name>{_MONTH})\.? (?P<day>\d\d?)(?:st|nd|rd|th)?,? (?P<year>20\d\d)\b", re.IGNORECASE
    ),
    re.compile(rf"\b(?P<day>\d\d?)\.? (?P<name>{_MONTH})\.?,? (?P<year>20\d\d)\b", re.IGNORECASE),
)
_LOOKED_AT = 200_000
"""Characters of a prompt in which dates are looked for."""


class AgentUnit(AlteredUnit):
    """A unit as an agent played it. The benchmark's requests pass through unchanged."""

    def __init__(self, before: "AgentUnit | None" = None, *, sees_model: bool = True) -> None:
        """
        Args:
            before: the unit that this one goes on after in the same conversation; None for the first.
            sees_model: whether it is known what the model said, so that calls can be compared with it.
        """
        self._sees_model = sees_model
        # A record says only what is new.
        self._prompt_chars: int | None = before._prompt_chars if before is not None else None
        self._dates: tuple[str, ...] = before._dates if before is not None else ()
        self._tools: ShownTools | None = before._tools if before is not None else None
        self._sampling: Mapping[str, Any] | None = before._sampling if before is not None else None
        self._steps: list[tuple[Message, HarnessRecord | None]] = []
        """Each reply with what is recorded beside it."""
        self._fates: list[dict[int, CallFate]] = []
        """For each reply what became of its calls, by their places."""

    def exchange(self, request: Request) -> Exchange:
        reply = yield request
        record = harness_record(reply)
        if record is not None:
            self._take(record, request.messages)
        self._steps.append((reply, record))
        self._fates.append({})
        return said_alone(reply)

    def _take(self, record: HarnessRecord, messages: Sequence[Message]) -> None:
        """Keeps what holds from now on, and what became of the calls of the reply before."""
        if self._steps:
            self._fates[-1] = _fates_of(self._steps[-1][0], record.calls)
        if record.prompt_chars is not None:
            self._prompt_chars = record.prompt_chars
        if record.prompt is not None:
            self._dates = tuple(sorted(_dates(record.prompt) - set(_all_dates(messages))))
        self._tools = record.tools or self._tools
        self._sampling = self._sampling if record.sampling is None else record.sampling

    @property
    def _records(self) -> list[HarnessRecord]:
        return [record for _, record in self._steps if record is not None]

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        records = self._records
        if not records:
            return {}
        lost = sum((Counter(record.lost) for record in records), Counter[str]())
        return {
            "agent_prompt_chars": self._prompt_chars,
            "agent_dates": ", ".join(self._dates) or None,
            "agent_sampling": _settings_text(self._sampling),
            **self._of_tools(),
            **({**self._of_steps(), **self._of_calls()} if self._sees_model else {}),
            "lost_in_translation": _counts_text(lost),
            "side_requests": sum(record.side_requests for record in records),
            "agent_retries": sum(record.retries for record in records),
            "agent_seconds": sum(record.seconds for record in records),
            "turn_end": self._turn_end(),
        }

    def _of_steps(self) -> Mapping[str, FieldValue]:
        """What the agent kept to itself of what its model said."""
        records = self._records
        own_calls = Counter(name for record in records for name in record.own_calls)
        tokens = [record.own_tokens for record in records]
        return {
            "agent_own_steps": sum(record.own_steps for record in records),
            "agent_own_calls": own_calls.total(),
            "agent_called": _counts_text(own_calls),
            "agent_own_tokens": None if None in tokens else sum(filter(None, tokens)),
            "texts_changed": sum(end.said is not None for end in self._ends),
        }

    def _of_calls(self) -> Mapping[str, FieldValue]:
        known = [call for fates in self._fates for call in fates.values()]
        fates = Counter(call.fate for call in known if call.fate in FATES)
        calls = sum(len(as_objects(reply.get("tool_calls"))) for reply, _ in self._steps)
        unknown = calls - fates.total()
        fates[DISCARDED] = sum(
            max(call.executions, 1)
            for record in self._records
            for call in record.calls
            if call.fate == DISCARDED
        )
        return {
            **{column: fates[fate] for fate, column in FATE_COLUMNS.items()},
            "calls_not_known": unknown,
            "results_changed": sum(call.is_shown_otherwise for call in known),
        }

    def _of_tools(self) -> Mapping[str, FieldValue]:
        tools = self._tools
        if tools is None:
            return {}
        return {
            "added_tools": len(tools.own),
            "renamed_tools": len(tools.renamed),
            "changed_schemas": tools.changed_schemas,
        }

    @property
    def _ends(self) -> list[RecordedEnd]:
        return [record.end for record in self._records if record.end is not None]

    def _turn_end(self) -> str | None:
        """How its first turn ended that was not answered, else its last one; None where none has ended."""
        kinds = [end.kind for end in self._ends]
        return next((kind for kind in kinds if kind != ANSWERED_TURN), kinds[-1] if kinds else None)

    def traced(self, trace: Trace) -> Trace:
        """With what the agent did beside each step, and what became of each call."""
        steps: list[TraceStep] = []
        replies = iter(range(len(self._steps)))
        for step in trace.steps:
            number = next(replies, None) if step.role == UNDER_TEST else None
            asides = () if number is None else tuple(self._asides(number))
            steps.append(replace(step, asides=(*step.asides, *asides)) if asides else step)
        return replace(trace, steps=tuple(steps))

    def _asides(self, number: int) -> Iterator[Aside]:
        """What is to be said at a reply."""
        reply, record = self._steps[number]
        if record is None:
            return
        yield from _before_reply(record)
        if self._sees_model:
            for place in range(len(as_objects(reply.get("tool_calls")))):
                yield from _of_call(self._fates[number].get(place), place)
        if record.end is not None:
            yield from _of_end(record.end, sees_model=self._sees_model)


def _before_reply(record: HarnessRecord) -> Iterator[Aside]:
    """What the agent did before its model gave a reply."""
    if record.prompt is not None:
        yield Aside(f"the agent's own prompt, {len(record.prompt):,} characters", record.prompt)
    if record.tools is not None:
        yield Aside(_tools_title(record.tools), _renamed_text(record.tools.renamed))
    if record.sampling:
        yield Aside("what the agent sets of sampling", _settings_text(record.sampling) or "")
    if record.own_steps or record.own_calls:
        names = ", ".join(f"{name} {count}×" for name, count in Counter(record.own_calls).items())
        yield Aside(f"steps of the agent's own: {record.own_steps}", names)
    for call in record.calls:
        if call.fate == DISCARDED:
            yield Aside(f"executed although its reply was thrown away: {call.name}", call.arguments or "")
    for words, count in (("side requests", record.side_requests), ("retries", record.retries)):
        if count:
            yield Aside(f"{words} of the agent: {count}")
    if record.lost:
        yield Aside(
            "lost in the translation to the model's protocol", _counts_text(Counter(record.lost)) or ""
        )


def _of_call(call: CallFate | None, place: int) -> Iterator[Aside]:
    if call is None:
        yield Aside("not known what became of it", call=place)
        return
    if call.fate == ANSWERED and call.result is not None:
        yield Aside("answered by the agent itself: its words", call.result, place)
        return
    title = _FATE_TITLES.get(call.fate, call.fate or "not known what became of it")
    more = f", executed {call.executions} times" if call.executions > 1 else ""
    yield Aside(title + more, call.arguments or "", place)
    if call.result is not None:
        yield Aside("what the model was shown of its result", call.result, place)


def _of_end(end: RecordedEnd, *, sees_model: bool) -> Iterator[Aside]:
    yield Aside(f"end of the turn: {end.kind or 'not known'}", end.detail, after=True)
    if end.said is not None and sees_model:
        yield Aside("what the model said, which is not what the agent's user reads", end.said, after=True)


def _tools_title(tools: ShownTools) -> str:
    parts = [f"{tools.offered} tools offered"]
    parts += [f"{len(tools.own)} of the agent's own ({', '.join(tools.own)})"] if tools.own else []
    counts = {
        "renamed": len(tools.renamed),
        "with another schema": tools.changed_schemas,
        "described otherwise": tools.described_otherwise,
    }
    parts += [f"{count} {words}" for words, count in counts.items() if count]
    return ", ".join(parts)


def _renamed_text(renamed: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: shown as {shown}" for shown, name in renamed.items())


def _fates_of(reply: Message, fates: Sequence[CallFate]) -> dict[int, CallFate]:
    """What became of the calls of a reply, by their places: by id, else by name in order, since the benchmark's history
    may give calls other ids than the reply has."""
    calls = as_objects(reply.get("tool_calls"))
    left = [fate for fate in fates if fate.fate != DISCARDED]
    found: dict[int, CallFate] = {}
    for is_of in (_has_its_id, _has_its_name):
        for place, call in enumerate(calls):
            if place not in found and (own := next((fate for fate in left if is_of(fate, call)), None)):
                found[place] = own
                left.remove(own)
    return found


def _has_its_id(fate: CallFate, call: Message) -> bool:
    return bool(fate.id) and call.get("id") == fate.id


def _has_its_name(fate: CallFate, call: Message) -> bool:
    return tool_name(call) == fate.name


def _counts_text(counts: Mapping[str, int]) -> str | None:
    return json_codec.dumps(dict(sorted(counts.items()))).decode("utf-8", "replace") if counts else None


def _settings_text(settings: Mapping[str, Any] | None) -> str | None:
    """Settings with their values, in words; None where nothing is set."""
    if not settings:
        return None
    values = ((name, value if isinstance(value, str) else _json(value)) for name, value in settings.items())
    return ", ".join(f"{name} {value}" for name, value in sorted(values))


def _json(value: Any) -> str:
    try:
        return json_codec.dumps(value).decode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError):
        return "…"


def _all_dates(messages: Sequence[Message]) -> Iterator[str]:
    """The dates that the benchmark itself names."""
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            yield from _dates(content)


def _dates(text: str) -> set[str]:
    """The dates in a text, as 2026-11-29."""
    found: set[str] = set()
    for pattern in _DATES:
        for match in pattern.finditer(text[:_LOOKED_AT]):
            its = match.groupdict()
            named = its.get("name")
            month = int(its["month"]) if named is None else _MONTHS.index(named[:3].lower()) + 1
            if 1 <= month <= 12 and 1 <= int(its["day"]) <= 31:
                found.add(f"{its['year']}-{month:02}-{int(its['day']):02}")
    return found
