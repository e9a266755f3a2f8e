"""The alteration that `--history none` and `--history without:ROLE` make: units are asked without what came before them.

Earlier turns are what the first request of a unit shows between its instructions and what the user said last. They are
left out whole, or those of one role. What a protocol does not take alone goes too: results without their calls, and
calls without results. What is said within a unit stays.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from wildtool.alter.base import UNDER_TEST, Alteration, AlteredUnit, Exchange, first_asked, mode_of
from wildtool.alter.history.settings import HistorySetting
from wildtool.benchmark import Benchmark, Rules
from wildtool.errors import RecordError, UsageError
from wildtool.stats.metrics import Rate
from wildtool.trace import Trace
from wildtool.types import FieldValue, Item, Message, Request, ResultsInText, Tool

LEFT_OUT_COLUMNS: Mapping[str, str] = {"turns_left_out": "INTEGER"}
LEFT_OUT_GROUP = "history left out"
_INSTRUCTIONS = ("system", "developer")
_ROLES: Mapping[HistorySetting, frozenset[str]] = {
    HistorySetting.without_user: frozenset({"user"}),
    HistorySetting.without_assistant: frozenset({"assistant", "tool"}),
    HistorySetting.without_tool: frozenset({"tool"}),
}
"""By setting the roles whose messages go. Results of tools cannot be sent without the calls that they belong to."""
_CHANGED, _SAME = "turns_left_out > 0", "turns_left_out = 0"


@dataclass(frozen=True, slots=True)
class LeftOutHistory(Alteration):
    """Units without their earlier turns, or without those of one role."""

    kind: ClassVar[str] = "history"
    caveat: ClassVar[str] = "earlier turns"
    without: ClassVar[str] = "all shown"
    cuts_note: ClassVar[str] = (
        "The same units with and without what came before them. Units that lose nothing are asked alike in both runs:"
        " their difference is chance."
    )
    setting: HistorySetting

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        try:
            setting = HistorySetting(identity["history_left_out"])
        except (TypeError, KeyError, ValueError) as error:
            raise RecordError(
                f"run.json: identity.history_left_out is damaged ({error}); restore it from a copy"
            ) from error
        if setting in (HistorySetting.gold, HistorySetting.own):
            raise RecordError(
                f"run.json: identity.history_left_out is damaged ({setting} leaves nothing out); restore it from a copy"
            )
        return cls(setting)

    @property
    def columns(self) -> Mapping[str, str]:
        return LEFT_OUT_COLUMNS

    @property
    def label(self) -> str:
        return self.setting.value

    @property
    def folder_parts(self) -> Sequence[str]:
        return ["history-" + self.setting.value.replace(":", "-")]

    def identity(self) -> Mapping[str, Any]:
        return {"history_left_out": self.setting.value}

    def unit(self, item: Item, unit: str) -> AlteredUnit:
        raise UsageError("what a unit loses follows from the rules of a benchmark")

    def unit_after(
        self, item: Item, unit: str, rules: Rules, earlier: Mapping[str, AlteredUnit]
    ) -> AlteredUnit:
        return ShortenedUnit(self.setting, lambda: first_asked(rules, item, unit))

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        rules = benchmark.rules(profile)
        lost = [_lost(self.setting, first_asked(rules, item, unit)) for item in items for unit in item.units]
        changed = sum(1 for count in lost if count)
        whose = "earlier turns" if self.setting is HistorySetting.none else f"earlier turns of {self._role}"
        if not changed:
            raise UsageError(
                f"--history {self.setting} changes nothing: no selected unit of {benchmark.name} shows {whose} in mode "
                f"{mode_of(benchmark)}; leave it out, or select units that come after others"
            )
        if changed == len(lost):
            return ""
        return (
            f"{len(lost) - changed} of {len(lost)} units show no {whose}, so they are asked as without --history; "
            f"`compare` gives the other {changed} apart"
        )

    def rates(self, verdicts: Any) -> Sequence[Rate]:
        return [
            Rate(LEFT_OUT_GROUP, "correct where turns are left out", _CHANGED, headline=True),
            Rate(LEFT_OUT_GROUP, "correct where none are", _SAME, only_if_any=True),
        ]

    def cuts(self, verdicts: Any) -> Mapping[str, Any]:
        return {
            "units that lose turns": verdicts.filter(_CHANGED),
            "units that lose none": verdicts.filter(_SAME),
        }

    @property
    def _role(self) -> str:
        return self.setting.value.partition(":")[2]


class ShortenedUnit(AlteredUnit):
    """A unit whose model sees less of what came before."""

    def __init__(self, setting: HistorySetting, first: Callable[[], Request | None]) -> None:
        """
        Args:
            first: gives the first request of the unit to the model under test as the benchmark has it.
        """
        self._setting, self._first = setting, first
        self._turns: slice | None = None
        """Where its requests have the earlier turns; None before the first request."""
        self._lost: int | None = None

    def exchange(self, request: Request) -> Exchange:
        if self._turns is None:
            self._turns, self._lost = _earlier_turns(request.messages), _lost(self._setting, request)
        return (yield self._shortened(request, self._turns))

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        # Whatever became of the first request: a unit that failed is one of those that lose turns, too.
        lost = _lost(self._setting, self._first()) if self._lost is None else self._lost
        return {"turns_left_out": lost}

    def traced(self, trace: Trace) -> Trace:
        """A trace in which the first request has no more than the model saw."""
        first = next((at for at, step in enumerate(trace.steps) if step.role == UNDER_TEST), None)
        if first is None or self._turns is None:
            return trace
        step = trace.steps[first]
        seen = replace(step, seen=_without(self._setting, step.seen, self._turns))
        return replace(trace, steps=(*trace.steps[:first], seen, *trace.steps[first + 1 :]))

    def _shortened(self, request: Request, turns: slice) -> Request:
        if request.turns_in_text is not None:
            return replace(request, messages=_kept_in_text(self._setting, request))
        if turns.start == turns.stop:
            return request
        altered = replace(request, messages=_without(self._setting, request.messages, turns))
        return altered if request.in_text is None else replace(altered, in_text=self._reads(request.in_text))

    def _reads(self, in_text: ResultsInText) -> ResultsInText:
        """A way to change results that keeps the turns left out."""
        turns = self._turns
        assert turns is not None, "asked for in an exchange"

        def reads(tools: Sequence[Tool], results: Sequence[str]) -> Sequence[Message]:
            return _without(self._setting, in_text.reads(tools, results), turns)

        return replace(in_text, reads=reads)


def _earlier_turns(messages: Sequence[Message]) -> slice:
    """Where messages have the turns before the last of the user; what the user says in a row is one turn."""
    roles = [message.get("role") for message in messages]
    start = next((at for at, role in enumerate(roles) if role not in _INSTRUCTIONS), len(roles))
    end = max((at for at, role in enumerate(roles) if role == "user"), default=start)
    while end > start and roles[end - 1] == "user":
        end -= 1
    return slice(start, end)


def _lost(setting: HistorySetting, request: Request | None) -> int:
    """How many messages before a unit its model does not see, or sees without their calls."""
    if request is None:
        return 0
    messages = request.messages if request.turns_in_text is None else request.turns_in_text.turns
    turns = messages[_earlier_turns(messages)]
    return sum(1 for turn in turns if [*_kept(setting, [turn])] != [turn])


def _without(setting: HistorySetting, messages: Sequence[Message], turns: slice) -> list[Message]:
    return [*messages[: turns.start], *_kept(setting, messages[turns]), *messages[turns.stop :]]


def _kept(setting: HistorySetting, turns: Sequence[Message]) -> Iterator[Message]:
    """What is shown of earlier turns."""
    if setting is HistorySetting.none:
        return
    for message in turns:
        if message.get("role") in _ROLES[setting]:
            continue
        if setting is HistorySetting.without_tool and message.get("tool_calls"):
            # Endpoints refuse calls without results.
            message = {key: value for key, value in message.items() if key != "tool_calls"}
            if not message.get("content"):
                continue
        yield message


def _kept_in_text(setting: HistorySetting, request: Request) -> Sequence[Message]:
    """The messages of a request whose conversation is part of a text."""
    assert request.turns_in_text is not None, "asked for where it is"
    said = request.turns_in_text.turns
    earlier = range(len(said))[_earlier_turns(said)]
    kept = [at for at in range(len(said)) if at not in earlier or [*_kept(setting, [said[at]])]]
    return request.messages if len(kept) == len(said) else request.turns_in_text.reads(kept)
