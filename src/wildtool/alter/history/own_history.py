"""One task of a session after the model's own earlier ones."""

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import Any

from wildtool.alter.base import UNDER_TEST, AlteredUnit, Exchange
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.tool_answers import (
    NO_RESULT,
    named_calls,
    result_text,
    simulated_call,
    simulated_result,
    tool_error,
)
from wildtool.benchmark import SessionRecord
from wildtool.episode import (
    belongs_to_reasoning,
    fields_with_calls,
    provider_fields,
    reasoning_fields,
)
from wildtool.json_codec import as_list, as_object
from wildtool.shapes import tool_name
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.trace import Trace, TraceStep
from wildtool.types import PROVIDER_CONTENT, FieldValue, Item, Message, Request

_CALL_KEYS = frozenset({"id", "type", "index", "function"})
"""Keys of a call that every endpoint gives."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
MOST_LATER_REPLIES = 8
"""Replies after a faulty call at most; a model that calls on is cut off there."""
LATER_NOTE = "after the verdict, so that the next task follows an answer"
_ERRORS = {
    "en": {"tool": "there is no tool {}", "result": NO_RESULT},
    "zh": {"tool": "没有名为 {} 的工具", "result": "没有与这些参数对应的结果"},
}


class OwnHistoryUnit(AlteredUnit):
    """A task in which the model sees its own earlier tasks."""

    def __init__(
        self,
        unrecorded: Unrecorded,
        record: SessionRecord,
        item: Item,
        unit: str,
        earlier: Mapping[str, "OwnHistoryUnit"],
    ) -> None:
        self._unrecorded, self._record = unrecorded, record
        self._item, self._unit, self._earlier = item, unit, earlier
        self._replies: list[Message] = []
        """What the benchmark has read."""
        self._request: Request | None = None
        """The last one of the benchmark as the model saw it."""
        self._later: list[Message] = []
        """What the model saw and said after the last reply that the benchmark read."""
        self._later_replies = self._unrecorded_calls = self._calls = 0

    def exchange(self, request: Request) -> Exchange:
        self._request = replace(request, messages=self._with_own(request.messages))
        reply = yield self._request
        self._replies.append(reply)
        return reply

    def afterwards(self) -> Generator[Request, Message, None]:
        if (request := self._request) is None:
            return
        reply = self.own_run[-1]
        while calls := named_calls(reply):
            for call in calls:
                self._later.append(
                    {"role": "tool", "content": (yield from self._result(call)), "tool_call_id": call["id"]}
                )
            if self._later_replies == MOST_LATER_REPLIES:
                break
            messages = [*request.messages, self.own_run[-1], *self._later]
            reply = yield replace(request, messages=messages, gold=_closing)
            self._later_replies += 1
            messages = self._as_said(reply)
            self._later += messages
            reply = messages[-1] if messages else {}

    @property
    def history(self) -> list[Message]:
        """The task as later ones show it, without its reasoning; empty where it was not played."""
        run = [*self.own_run, *self._later] if self._replies else []
        return [{key: value for key, value in message.items() if not _is_of_one_task(key)} for message in run]

    @cached_property
    def own_run(self) -> list[Message]:
        """The task up to the last reply that the benchmark read; asked for once that is known."""
        run = [*map(_with_readable_calls, self._record.own_run(self._unit, self._replies))]
        if run[-1].get("role") != "assistant":
            return run
        last = self._replies[-1]
        ending = last if self._can_return(last) else run[-1]
        return [*run[:-1], *self._as_said(ending)]

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        """Whether it is settled is not known where an earlier task was not played."""
        runs = [each.history for each in self._earlier.values()]
        return {
            "session_place": self._item.units.index(self._unit) + 1,
            "settled": not self._record.missing(self._unit, list(chain(*runs))) if all(runs) else None,
            "unrecorded_calls": self._unrecorded_calls,
            "later_replies": self._later_replies,
        }

    def traced(self, trace: Trace) -> Trace:
        """With the model's own history, and what it said after its verdict."""
        if not trace.steps:
            return trace
        first = replace(trace.steps[0], seen=self._with_own(trace.steps[0].seen))
        return replace(trace, steps=(first, *trace.steps[1:], *self._later_steps()))

    def _later_steps(self) -> Iterator[TraceStep]:
        results: list[Message] = []
        for message in self._later:
            if message["role"] == "tool":
                results.append(message)
            else:
                yield TraceStep(UNDER_TEST, results, message, note=LATER_NOTE)
                results = []

    def _with_own(self, messages: Sequence[Message]) -> list[Message]:
        """The messages of a request with each earlier task as it went; with its gold run where it was not played."""
        altered: list[Message] = []
        end = 0
        for unit, place in self._record.history(self._unit).items():
            own = self._earlier[unit].history if unit in self._earlier else []
            altered += [*messages[end : place.start], *(own or messages[place])]
            end = place.stop
        return [*altered, *messages[end:]]

    def _as_said(self, reply: Message) -> list[Message]:
        """A reply as the model sees it afterwards, in a form that every endpoint takes; nothing for an empty one."""
        if self._can_return(reply):
            message = {
                "role": "assistant",
                "content": reply.get("content"),
                "tool_calls": reply["tool_calls"],
            }
            return [{**message, **fields_with_calls(reply)}]
        calls: list[Message] = []
        for call in named_calls(reply):
            received = as_object(call["function"])
            place = f"{self._item.id}/{self._unit}/{self._calls}".encode("utf-8", "surrogatepass")
            self._calls += 1
            name = _NOT_IN_NAMES.sub("_", received["name"])[:64] or "unnamed"
            function = {
                "name": received["name"] if self._offers(received["name"]) else name,
                "arguments": _as_object_text(received.get("arguments")),
            }
            # A signature fits the call as it was made, whatever its id.
            is_unchanged = function.items() <= received.items()
            extras = {key: call[key] for key in call if is_unchanged and key not in _CALL_KEYS}
            id_ = f"call_{sha256(place).hexdigest()[:24]}"
            calls.append({"type": "function", "function": function, "id": id_, **extras})
        content = reply.get("content")
        if calls:
            message = {"role": "assistant", "content": content or "", "tool_calls": calls}
            return [{**message, **reasoning_fields(reply)}]
        return [{"role": "assistant", "content": content}] if content else []

    def _can_return(self, reply: Message) -> bool:
        """Whether a reply has more than its calls that its provider wants back, such as signatures, which fit nothing but
        the calls as they are, and whether these are such as every endpoint takes."""
        calls = as_list(reply.get("tool_calls"))
        if not provider_fields(reply) and not any(as_object(call).keys() - _CALL_KEYS for call in calls):
            return False
        if not calls or not all(map(self._is_sound, calls)):
            return False
        return len({call["id"] for call in calls}) == len(calls)

    def _is_sound(self, call: Any) -> bool:
        function, id_ = as_object(as_object(call).get("function")), as_object(call).get("id")
        name, arguments = function.get("name"), function.get("arguments")
        if not isinstance(name, str) or not self._offers(name) or not isinstance(id_, str) or not id_:
            return False
        return _as_object_text(arguments) == arguments

    def _offers(self, name: str) -> bool:
        return self._request is not None and name in map(tool_name, self._request.tools)

    def _result(self, call: Message) -> Generator[Request, Message, str]:
        """What a call gets: from the record, or else an error or what the role `tools` says."""
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        result = self._record.result(self._unit, name, arguments)
        if result is not None:
            return result
        self._unrecorded_calls += 1
        assert self._request is not None, "the model has called"
        texts = _ERRORS["zh" if self._item.lang == "zh" else "en"]
        problem = texts["result" if self._offers(name) else "tool"].format(name)
        error = result_text(tool_error(self._record.results(self._unit, name), problem))
        if self._unrecorded is Unrecorded.refuse or not self._offers(name):
            return error
        results = self._record.results(self._unit, name)
        request = simulated_call(self._request.tools, call, results, self._item.lang, error)
        return simulated_result((yield request), error)


def _is_of_one_task(key: str) -> bool:
    """Whether a key of a message holds what is repeated within a task only."""
    return key == PROVIDER_CONTENT or belongs_to_reasoning(key)


def _with_readable_calls(message: Message) -> Message:
    """A message whose calls have got results, and so are known tools' calls."""
    calls = [
        {
            **call,
            "function": {**call["function"], "arguments": _as_object_text(call["function"].get("arguments"))},
        }
        for call in named_calls(message)
    ]
    return {**message, "tool_calls": calls} if calls else message


def _as_object_text(arguments: Any) -> str:
    """Arguments as received; an empty object for what is none, since endpoints refuse it in a history."""
    try:
        read_arguments(arguments)
    except ArgumentsError:
        return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else "{}"
    return arguments


def _closing(style: str) -> Message:
    """What a model with the right answers says where nothing is right any more."""
    return {"role": "assistant", "content": "…"}
