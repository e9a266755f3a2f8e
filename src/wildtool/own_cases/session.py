"""A case of several turns as a session, whose later turns may follow the model's own earlier ones (`--history own`)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wildtool.benchmark import SessionRecord
from wildtool.episode import gold_replies
from wildtool.json_codec import values_inside
from wildtool.own_cases.episode import CaseEpisode
from wildtool.own_cases.history import result_content
from wildtool.own_cases.judging import call_misfit
from wildtool.own_cases.records import Case, CaseUnit, Slot
from wildtool.own_cases.samples import sample_calls
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.types import Message


class CaseSession(SessionRecord):
    """The turns of a case that are tried once each, and that are wholly recorded but for the last."""

    def __init__(self, units: Mapping[str, CaseUnit]) -> None:
        self._units = units

    def history(self, unit: str) -> Mapping[str, slice]:
        messages = self._units[unit].messages
        return {name: _run_place(each, messages) for name, each in self._until(unit)[:-1]}

    def own_run(self, unit: str, replies: Iterable[Message]) -> list[Message]:
        episode = CaseEpisode(self._units[unit])
        for reply in replies:
            episode.advance(reply)
        return episode.run

    def result(self, unit: str, name: str, arguments: Any) -> str | None:
        try:
            decoded = read_arguments(arguments)
        except ArgumentsError:
            return None
        for its, slot in self._recorded(unit):
            if any(not call_misfit(pattern, name, decoded, its.parameters) for pattern in slot.patterns):
                return result_content(slot.returns[0])
        return None

    def results(self, unit: str, name: str) -> Iterable[Any]:
        for _, slot in self._recorded(unit):
            if any(pattern.name == name for pattern in slot.patterns):
                yield slot.returns[0]

    def missing(self, unit: str, history: Sequence[Message]) -> list[str]:
        its = self._units[unit]
        earlier = [slot.returns[0] for each, slot in self._recorded(unit) if each is not its]
        from_results = {str(value) for result in earlier for value in values_inside(result)}
        shown = json.dumps([*history, its.messages[-1]], ensure_ascii=False)
        calls = sample_calls(its, its.expectation.slots) or []
        return [
            f"{name}.{key}"
            for _, (name, arguments) in calls
            for key, value in arguments.items()
            if str(value) in from_results and str(value) not in shown
        ]

    def _until(self, unit: str) -> list[tuple[str, CaseUnit]]:
        """The turns up to one, with their names."""
        names = list(self._units)
        return [(name, self._units[name]) for name in names[: names.index(unit) + 1]]

    def _recorded(self, unit: str) -> Iterator[tuple[CaseUnit, Slot]]:
        """The calls with results in a turn and earlier ones, the nearest turn first."""
        for _, its in reversed(self._until(unit)):
            yield from ((its, slot) for slot in its.expectation.slots if slot.returns)


def session_of(case: Case) -> CaseSession | None:
    """A case as a session; None where it is none, or where an earlier turn is shown otherwise than its gold answers."""
    units = list(case.units.values())
    if len({unit.turn for unit in units}) < len(units) or any(unit.gold is not None for unit in units):
        return None
    session = CaseSession(case.units)
    *before, last = case.units
    for name in before:
        place = session.history(last)[name]
        gold = gold_replies(CaseEpisode(case.units[name]))
        if gold is None or session.own_run(name, gold) != list(case.units[last].messages[place]):
            return None
    return session


def _run_place(unit: CaseUnit, messages: Sequence[Message]) -> slice:
    """Where the messages of a later turn show a turn: behind what the user said, up to what the user says next."""
    start = len(unit.messages)
    end = next(at for at in range(start, len(messages)) if messages[at].get("role") == "user")
    return slice(start, end)
