"""One unit with failing tools: what the model is shown in place of results, and what it makes of that.

A call fails in one of two ways. Either it is not carried out: the benchmark does not see it, and the model is shown an
error. Or it is carried out and its result is damaged: the benchmark sees it, and the same call again is answered here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wildtool.alter.base import UNDER_TEST, AlteredUnit, Exchange
from wildtool.alter.failures.kinds import KIND_OF, PERMISSION, WAITS, Remedy, damaged, error_text
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.failures.shortcuts import (
    ASKS,
    FORWARDS,
    Shortcut,
    ending,
    forwarded,
    next_tools,
    passed_values,
    shown_instead,
)
from wildtool.alter.failures.words import answer_text, mentions_failure, unseen_values
from wildtool.alter.failures.writing import writes
from wildtool.draws import seeded_draw
from wildtool.episode import EMPTY_REPLY, GOLD_STYLE, fields_with_calls, provider_fields
from wildtool.json_codec import as_list, as_object, canonical_json
from wildtool.shapes import tool_name
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.trace import Trace, TraceStep
from wildtool.types import FieldValue, Message, Request, Tool

ALWAYS, NEVER = "always-retries", "never-retries"
"""Styles of gold answers: one repeats whatever failed, one tells the user at once."""
RECOVERED, REPORTED, SILENT, NO_WORDS = "recovered", "reported", "silent", "no words"
NOT_REACHED = "not reached"
"""How a unit ended: nothing that failed is missing; it is, and the user was told; was not told; or no text followed. Not
reached where the model answered no request that shows a failure."""
MOST_FAILED_REPLIES = 10
"""Replies that are answered here without anything going well; a further one is read as an empty reply."""
_ASKING: Mapping[str, str] = {
    "en": "The result does not fit what you asked for. Which one do you mean?",
    "zh": "返回的结果与您的要求不一致。请问您指的是哪一个？",
}
_TELLING: Mapping[str, str] = {
    "en": "Sorry, I could not do that: the tool failed, so I have no result. Please try again later.",
    "zh": "抱歉，工具调用失败，没有得到结果，我没能完成。请稍后再试。",
}


@dataclass(frozen=True, slots=True)
class OfferedCall:
    """One call of a reply, of a tool that was offered."""

    name: str
    key: bytes
    """Equal for calls with equal arguments."""
    writes: bool
    message: dict[str, Any]
    """As received."""


@dataclass(slots=True, eq=False)
class WantedResult:
    """What a failed call was to bring. Calls that try it again are for the same one, also if they fail, too."""

    tool: str
    keys: set[bytes]
    """Of the calls for it."""
    takes_equal_call: bool
    """Whether only a call with equal arguments brings it, since the first one was carried out."""
    is_missing: bool
    """Whether the model needs it and still does not have it."""


@dataclass(slots=True)
class Failure:
    """One call that failed in front of the model."""

    call: OfferedCall
    kind: str
    need: WantedResult
    retried: bool = False

    @property
    def remedy(self) -> Remedy:
        return KIND_OF[self.kind].remedy_of(writes=self.call.writes)

    def is_repeated_by(self, call: OfferedCall) -> bool:
        """Whether a call is of the same tool and, where the failed one was carried out, with equal arguments."""
        same_tool = call.name == self.call.name
        return same_tool and (call.key == self.call.key or KIND_OF[self.kind].damage is None)


class FailingUnit(AlteredUnit):
    """A unit some of whose calls fail."""

    def __init__(self, schedule: FailureSchedule, place: str, lang: str) -> None:
        self._schedule, self._place, self._lang = schedule, place, lang
        self._number = self._in_a_row = 0
        """Replies with calls so far, and how many of the last ones failed."""
        self._answered_here = 0
        """Replies since something went well."""
        self._failures: list[Failure] = []
        """Those that the model answered."""
        self._fresh: list[Failure] = []
        """Those that the next request shows for the first time."""
        self._needs: dict[bytes, WantedResult] = {}
        """What calls of the last reply are to bring that failed calls did not, by their keys."""
        self._refused: set[str] = set()
        """Names of tools that the account may not use."""
        self._hidden: dict[int, list[Message]] = {}
        """What the benchmark knows nothing of, by the place of its message before which it is shown."""
        self._damaged: dict[int, str] = {}
        """Results as they are shown, by the place of the benchmark's message."""
        self._own: Sequence[Message] = ()
        """All messages of the benchmark, for traces."""
        self._true_results: dict[bytes, tuple[str, str]] = {}
        """Kind of failure and true result of calls that were carried out and can be made again."""
        self._passed: tuple[int, str | None, Sequence[OfferedCall]] = (0, None, ())
        """Where the results begin of the last calls that the benchmark saw, how they fail, and the calls."""
        self._written: set[bytes] = set()
        """Calls that were carried out and changed something."""
        self._wrote_twice = False
        self._shortcut: Shortcut | None = None
        """The damaged result from which gold takes values; None before there is one."""
        self._shortcut_end: str | None = None
        """What the model did with it (`alter.failures.shortcuts`)."""
        self._texts: list[str] = []
        """Replies without calls, since the last failure if there was one."""
        self._last_text: tuple[str, Sequence[Message]] = ("", ())
        """The last of these, and what the model had seen."""
        self._log: list[list[tuple[TraceStep, Sequence[Message]]]] = []
        """For each request of the benchmark the replies that it did not see, and what the model was answered."""

    def exchange(self, request: Request) -> Exchange:
        if request.in_text is not None:
            return (yield request)
        own = request.messages
        self._damage_results(own)
        self._damage_passed_values(own, request.gold)
        self._passed = 0, None, ()
        self._own = own
        self._log.append([])
        tools = {name: tool for tool in request.tools if (name := tool_name(tool))}
        while True:
            messages = self._visible_messages(own)
            reply = yield replace(request, messages=messages, gold=request.gold and self._gold(request.gold))
            calls = _read_calls(reply, tools)
            self._take(reply, calls, messages)
            if not calls:
                return reply
            kind = self._draw()
            answered, passed = self._answer(calls, kind)
            if answered:
                self._hide(len(own), reply, answered, is_whole=not passed)
            if self._answered_here > MOST_FAILED_REPLIES:
                self._fresh.clear()
                return EMPTY_REPLY
            if passed:
                self._pass_on(len(own), kind, passed)
                return reply if not answered else _with_calls(reply, passed)

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        """Nothing of a unit that did not end."""
        if not ended:
            return {}
        reported = any(map(mentions_failure, self._texts)) if self._texts else None
        if not self._failures:
            return {"failures": 0, "failure_end": NOT_REACHED, "failure_reported": reported}
        helped = [failure.retried for failure in self._failures if failure.remedy is Remedy.retry]
        helpless = [failure.retried for failure in self._failures if failure.remedy is not Remedy.retry]
        missing = any(failure.need.is_missing for failure in self._failures)
        ways = {None: NO_WORDS, True: REPORTED, False: SILENT}
        of_writes = any(failure.call.writes for failure in self._failures)
        return {
            "failures": len(self._failures),
            "failure_kind": self._failures[0].kind,
            "failure_end": ways[reported] if missing else RECOVERED,
            "failure_retried": all(helped) if helped else None,
            "failure_needless": any(helpless) if helpless else None,
            "failure_reported": reported,
            "failure_invented": bool(unseen_values(*self._last_text)) if missing and self._texts else None,
            "failure_duplicate": self._wrote_twice if of_writes else None,
            **({"shortcut_end": self._shortcut_end} if self._shortcut is not None else {}),
        }

    def traced(self, trace: Trace) -> Trace:
        """With the replies that the benchmark did not see, and results as the model saw them."""
        steps: list[TraceStep] = []
        logs = iter(self._log)
        shown: dict[tuple[str | None, str], list[str]] = {}
        """Results as they are shown, the last one first, by the id of the call and the benchmark's text."""
        for place in reversed([place for place, message in enumerate(self._own) if _is_result(message)]):
            key = _key(self._own[place])
            shown.setdefault(key, []).append(self._damaged.get(place, key[1]))

        def as_shown(message: Message) -> Message:
            texts = shown.get(_key(message)) if _is_result(message) else None
            return {**message, "content": texts.pop()} if texts else message

        for step in trace.steps:
            if step.role != UNDER_TEST:
                steps.append(step)
                continue
            new: Sequence[Message] = [*map(as_shown, step.seen)]
            for hidden, answers in next(logs, ()):
                steps.append(replace(hidden, seen=new))
                new = answers
            steps.append(replace(step, seen=new))
        return replace(trace, steps=tuple(steps))

    def _visible_messages(self, own: Sequence[Message]) -> list[Message]:
        """The benchmark's messages as the model sees them."""
        messages: list[Message] = []
        for place, message in enumerate(own):
            messages += self._hidden.get(place, ())
            text = self._damaged.get(place)
            messages.append(message if text is None else {**message, "content": text})
        return [*messages, *self._hidden.get(len(own), ())]

    def _take(self, reply: Message, calls: Sequence[OfferedCall], messages: Sequence[Message]) -> None:
        """Notes what a reply makes of the failures before it."""
        if self._shortcut is not None and self._shortcut_end is None:
            self._shortcut_end = ending(self._shortcut, reply, readable=bool(calls))
        if self._fresh:
            self._failures += self._fresh
            self._fresh = []
            self._texts.clear()
        self._needs = self._needs_again(calls)
        for failure in self._failures:
            if failure.remedy is Remedy.retry:
                failure.retried |= failure.need in self._needs.values()
            else:
                failure.retried |= any(map(failure.is_repeated_by, calls))
        self._wrote_twice |= any(call.key in self._written for call in calls)
        text = answer_text(reply)
        if not reply.get("tool_calls") and text.strip():
            self._texts.append(text)
            self._last_text = text, messages

    def _needs_again(self, calls: Sequence[OfferedCall]) -> dict[bytes, WantedResult]:
        """For each call what it tries again: one thing, of an equal call, else the oldest of its tool that is missing."""
        earlier = dict.fromkeys(failure.need for failure in self._failures)
        keys = {call.key for call in calls}
        needs = {key: each for each in earlier for key in each.keys & keys}
        for call in calls:
            rest = (
                each
                for each in earlier
                if each.is_missing and each.tool == call.name and not each.takes_equal_call
                if each not in needs.values()
            )
            if call.key not in needs and (oldest := next(rest, None)) is not None:
                oldest.keys.add(call.key)
                needs[call.key] = oldest
        return needs

    def _fail(self, call: OfferedCall, kind: str) -> None:
        need = self._needs.get(call.key)
        if need is None or not need.is_missing:
            way = KIND_OF[kind]
            is_missing = way.remedy_of(writes=call.writes) is not Remedy.carry_on
            need = WantedResult(call.name, {call.key}, way.damage is not None, is_missing)
            self._needs[call.key] = need
        self._fresh.append(Failure(call, kind, need))

    def _draw(self) -> str | None:
        kind = self._schedule.kind(self._place, self._number, self._in_a_row)
        self._number += 1
        self._in_a_row = self._in_a_row + 1 if kind else 0
        return kind

    def _answer(
        self, calls: Sequence[OfferedCall], kind: str | None
    ) -> tuple[list[tuple[OfferedCall, str]], list[OfferedCall]]:
        """The calls that are answered here, with what the model is shown, and those that the benchmark answers."""
        answered: list[tuple[OfferedCall, str]] = []
        passed: list[OfferedCall] = []
        if kind == PERMISSION:
            self._refused |= {call.name for call in calls}
        for call in calls:
            error = PERMISSION if call.name in self._refused else kind
            if error is not None and KIND_OF[error].damage is None:
                self._fail(call, error)
                wait = seeded_draw(f"{self._place} {self._number} wait").choice(WAITS)
                answered.append((call, error_text(KIND_OF[error], call.name, wait)))
            elif call.key in self._true_results:
                answered.append((call, self._repeated(call, kind)))
            else:
                passed.append(call)
        return answered, passed

    def _repeated(self, call: OfferedCall, kind: str | None) -> str:
        """The result of a call that was carried out before."""
        before, result = self._true_results[call.key]
        kind = before if KIND_OF[before].remedy is Remedy.carry_on else kind
        text = result if kind is None else damaged(KIND_OF[kind], result)
        if kind is None or text == result:
            del self._true_results[call.key]
            self._mark_recovered(call)
            return text
        if KIND_OF[kind].remedy is Remedy.carry_on:
            self._mark_recovered(call)
        self._fail(call, kind)
        self._true_results[call.key] = kind, result
        return text

    def _hide(
        self, place: int, reply: Message, answered: Sequence[tuple[OfferedCall, str]], *, is_whole: bool
    ) -> None:
        """Adds calls and what they are answered to what only the model sees.

        Args: is_whole: whether these are all calls of the reply.
        """
        self._answered_here += 1
        calls: list[Message] = []
        answers: list[Message] = []
        for at, (call, text) in enumerate(answered):
            id_ = _text_or_none(call.message.get("id")) or f"call_{self._number}_{at}"
            calls.append({**call.message, "id": id_})
            answers.append({"role": "tool", "content": text, "tool_call_id": id_})
        message: Message = {"role": "assistant", "content": None, "tool_calls": calls}
        if is_whole:
            message |= {"content": reply.get("content"), **fields_with_calls(reply)}
        self._hidden.setdefault(place, []).extend([message, *answers])
        note = ", ".join(sorted({failure.kind for failure in self._fresh}))
        step = TraceStep(UNDER_TEST, (), message, note=f"failed: {note}" if note else "tried again")
        self._log[-1].append((step, answers))

    def _pass_on(self, place: int, kind: str | None, calls: Sequence[OfferedCall]) -> None:
        """Notes calls that the benchmark carries out."""
        self._passed = place, kind, calls
        self._written |= {call.key for call in calls if call.writes}
        for call in calls:
            self._mark_recovered(call)

    def _mark_recovered(self, call: OfferedCall) -> None:
        need = self._needs.get(call.key)
        if need is not None and need.is_missing:
            need.is_missing = False
            self._answered_here = 0

    def _damage_results(self, own: Sequence[Message]) -> None:
        """Damages the results of the calls that the benchmark saw last."""
        kind = self._passed[1]
        if kind is None or KIND_OF[kind].damage is None:
            return
        for place, call, result in self._results(own):
            self._damage(place, call, kind, result, damaged(KIND_OF[kind], result))

    def _damage_passed_values(
        self, own: Sequence[Message], own_gold: Callable[[str], Message] | None
    ) -> None:
        """Damages the first result of a reading call from which gold's next calls take values."""
        kinds = self._schedule.of_passed_values(self._place)
        if not kinds or own_gold is None or self._shortcut is not None or not self._passed[2]:
            return
        gold = own_gold(GOLD_STYLE)
        for place, call, result in self._results(own):
            values = {} if call.writes else passed_values(gold, result, own[: self._passed[0]])
            for kind in kinds if values else ():
                shown = shown_instead(kind, values)
                text = damaged(KIND_OF[kind], result, shown)
                if text != result:
                    self._shortcut = Shortcut(kind, call.key, shown, next_tools(gold, values))
                    self._damage(place, call, kind, result, text)
                    return

    def _results(self, own: Sequence[Message]) -> Iterator[tuple[int, OfferedCall, str]]:
        """Place, call and text of the results of the calls that the benchmark saw last."""
        start, _, calls = self._passed
        of_id = {id_: call for call in calls if (id_ := _text_or_none(call.message.get("id"))) is not None}
        results = [place for place in range(start, len(own)) if _is_result(own[place])]
        for place, call in zip(results, calls, strict=False):
            id_, result = _key(own[place])
            yield place, of_id.get(id_ or "", call), result

    def _damage(self, place: int, call: OfferedCall, kind: str, result: str, text: str) -> None:
        """Shows a result as another text."""
        if text == result:
            return
        self._damaged[place] = text
        self._fail(call, kind)
        if not call.writes:
            self._true_results[call.key] = kind, result

    def _gold(self, own_gold: Callable[[str], Message]) -> Callable[[str], Message]:
        """What a perfect model, or one with a fixed habit, answers to the failures that it is shown."""
        fresh = list(self._fresh)
        telling: Message = {"role": "assistant", "content": _TELLING.get(self._lang, _TELLING["en"])}

        asking: Message = {"role": "assistant", "content": _ASKING.get(self._lang, _ASKING["en"])}

        def calls_again(failures: Sequence[Failure]) -> Message:
            calls = [failure.call.message for failure in failures]
            return {"role": "assistant", "content": None, "tool_calls": calls}

        def gold(style: str) -> Message:
            if style == FORWARDS and fresh and self._shortcut is not None:
                return forwarded(own_gold(GOLD_STYLE), self._shortcut.shown)
            if style == ASKS and fresh:
                return asking
            if style == ALWAYS and fresh:
                return calls_again(fresh)
            gives_up = style == NEVER and any(failure.need.is_missing for failure in fresh)
            if gives_up or any(failure.remedy is Remedy.tell for failure in fresh):
                return telling
            # The benchmark waits for the others anyway.
            carried_out = [failure for failure in fresh if failure.call.key in self._true_results]
            again = [failure for failure in carried_out if failure.remedy is Remedy.retry]
            own_style = GOLD_STYLE if style in (ALWAYS, NEVER, FORWARDS, ASKS) else style
            return calls_again(again) if again else own_gold(own_style)

        return gold


def _is_result(message: Message) -> bool:
    return message.get("role") == "tool" and isinstance(message.get("content"), str)


def _key(result: Message) -> tuple[str | None, str]:
    return _text_or_none(result.get("tool_call_id")), result["content"]


def _read_calls(reply: Message, tools: Mapping[str, Tool]) -> list[OfferedCall]:
    """The calls of a reply; none where any of them cannot be read or is of no offered tool, so reaches none."""
    calls: list[OfferedCall] = []
    for call in as_list(reply.get("tool_calls")):
        function = as_object(as_object(call).get("function"))
        name = function.get("name")
        try:
            arguments = read_arguments(function.get("arguments"), empty_ok=True)
        except ArgumentsError:
            return []
        if not isinstance(name, str) or name not in tools:
            return []
        calls.append(OfferedCall(name, canonical_json([name, arguments]), writes(tools[name]), call))
    return calls


def _with_calls(reply: Message, calls: Sequence[OfferedCall]) -> Message:
    """A reply with only these of its calls, and without what belongs to all of them."""
    fields = {key: value for key, value in reply.items() if key not in provider_fields(reply)}
    return {**fields, "tool_calls": [call.message for call in calls]}


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None
