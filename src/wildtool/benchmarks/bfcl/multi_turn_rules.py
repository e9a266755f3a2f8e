"""The published rules of multi-turn entries, and the mistakes that an audit makes in their gold replies."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from wildtool.benchmark import Check, Mutant, Rules
from wildtool.benchmarks.bfcl.agentic import MemoryRules
from wildtool.benchmarks.bfcl.gold import PlainCall, fc_message, written_message
from wildtool.benchmarks.bfcl.multi_turn import (
    MultiTurnEpisode,
    NativeMultiTurn,
    PromptMultiTurn,
    check_turns,
    plain_call,
)
from wildtool.benchmarks.bfcl.originals import openai_tools
from wildtool.benchmarks.bfcl.records import BfclEntry, MemoryRecord, MultiTurnRecord, SearchRecord
from wildtool.benchmarks.bfcl.rules import Mistake, SingleTurnRules, call_mistakes
from wildtool.benchmarks.bfcl.simulated import SimulatedApis
from wildtool.benchmarks.bfcl.web_search import SearchRules
from wildtool.json_codec import as_object
from wildtool.toolcall.mutations import ArgumentMutation, value_mutants
from wildtool.trace import SaidCall
from wildtool.types import Episode, Item, Message

UNREAD_MISTAKE = "call in JSON in a tag at the end"
"""Kind of a mistake: the last reply has a call in a form that is not read."""


@dataclass(frozen=True, slots=True)
class EntryRules(Rules):
    """The rules of each entry by its kind."""

    single: SingleTurnRules
    multi: "MultiTurnRules"
    memory: MemoryRules
    search: SearchRules
    forms: Mapping[str, SingleTurnRules]
    """By name of the form of prompts, in which an entry of format sensitivity is a unit."""

    def _of(self, item: Item, unit: str) -> Rules:
        if isinstance(item.data, MultiTurnRecord):
            return self.multi
        if isinstance(item.data, MemoryRecord):
            return self.memory
        if isinstance(item.data, SearchRecord):
            return self.search
        return self.forms.get(unit, self.single)

    def leading(self, item: Item) -> Sequence[str]:
        return self._of(item, item.units[0]).leading(item)

    def after(self, item: Item, episodes: Mapping[str, Any]) -> Item | None:
        return self._of(item, item.units[0]).after(item, episodes)

    def episode(self, item: Item, unit: str) -> Episode:
        return self._of(item, unit).episode(item, unit)

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self._of(item, unit).verdict(episode, item, unit)

    def mutants(self, item: Item) -> Iterable[Mutant]:
        if not isinstance(item.data, BfclEntry):
            yield from self._of(item, item.units[0]).mutants(item)
            return
        for unit in item.units:
            for mutant in self._of(item, unit).mutants(item):
                yield replace(mutant, unit=unit)

    def explain(self, item: Item, mutant: Mutant) -> str:
        return self._of(item, mutant.unit).explain(item, mutant)

    def explain_gold(self, item: Item, unit: str) -> str:
        return self._of(item, unit).explain_gold(item, unit)

    def facts(self, episode: Any, item: Item, unit: str) -> Mapping[str, Any]:
        return self._of(item, unit).facts(episode, item, unit)

    def said(self, reply: Message) -> Iterable[SaidCall]:
        return self.single.said(reply)  # replies are written alike


@dataclass(frozen=True, slots=True)
class MultiTurnRules(Rules):
    """State and results after every turn, natively or with calls in brackets."""

    native: bool

    def episode(self, item: Item, unit: str) -> Episode:
        return self.dialogue(item.data, item.data.instances())

    def dialogue(self, record: MultiTurnRecord, apis: SimulatedApis) -> MultiTurnEpisode:
        """The episode of a dialogue whose calls run on given instances."""
        if self.native:
            return NativeMultiTurn(record, apis)
        return PromptMultiTurn(record, apis)

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        played: MultiTurnEpisode = episode
        return replace(self.check(item.data, played), fields={"decoded_calls": played.calls})

    def facts(self, episode: Any, item: Item, unit: str) -> Mapping[str, Any]:
        played: MultiTurnEpisode = episode
        return played.facts()

    def check(self, record: MultiTurnRecord, played: MultiTurnEpisode) -> Check:
        """What the rules decide about an episode that has ended."""
        return check_turns(record, played.turns)

    def mutants(self, item: Item) -> Iterator[Mutant]:
        record: MultiTurnRecord = item.data
        gold = [[plain_call(call, record.parameters) for call in calls] for calls in record.ground_truth]
        if not self.accepts(item, "0", self._replies(gold)):
            return
        known = {
            tool["function"]["name"]: tool["function"]["parameters"]
            for tool in openai_tools(record.documents)
        }
        for turn, calls in enumerate(gold):
            for kind, changed, note in _mistakes(calls, known):
                replies = self._replies([*gold[:turn], changed, *gold[turn + 1 :]])
                yield Mutant("0", kind, tuple(replies), f"turn {turn}: {note}")
        *replies, last = self._replies(gold)
        for name in list(known)[:1]:
            text = f"<tool_call>{json.dumps({'name': name, 'arguments': {}})}</tool_call>"
            yield Mutant("0", UNREAD_MISTAKE, (*replies, {**last, "content": text}), name)

    def explain(self, item: Item, mutant: Mutant) -> str:
        return (
            "M7" if mutant.kind == UNREAD_MISTAKE else "M3"
        )  # what is left out or refused had no other effect

    def _replies(self, turns: Sequence[Sequence[PlainCall]]) -> Iterator[Message]:
        """All calls of a turn at once, then a text."""
        for calls in turns:
            if calls:
                yield fc_message(calls) if self.native else written_message(calls, "python")
            yield fc_message(())


def _mistakes(calls: Sequence[PlainCall], known: dict[str, Any]) -> Iterator[Mistake]:
    """Kind, calls and note of one turn's calls with one mistake each: of wrong values the first for each call."""

    def first_value(place: int) -> Iterator[ArgumentMutation]:
        name, arguments = calls[place]
        return islice(value_mutants(arguments, as_object(known.get(name))), 1)

    if calls:
        yield "turn without calls", [], "no call"
    yield from call_mistakes(calls, (), first_value)
