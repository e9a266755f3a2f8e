"""Which rules judge an entry: by its kind, the profile and the mode."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

from wildtool.benchmark import NATIVE, Benchmark, Check, GoldForReaders, Mutant, Rules
from wildtool.benchmarks.bfcl.agentic import MemoryRules, has_answer, has_answer_strictly
from wildtool.benchmarks.bfcl.fixed import FixedMultiTurnRules, FixedRules
from wildtool.benchmarks.bfcl.gold import NO_CALL
from wildtool.benchmarks.bfcl.multi_turn import MultiTurnRules
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.benchmarks.bfcl.records import BfclEntry, MemoryRecord, MultiTurnRecord, SearchRecord
from wildtool.benchmarks.bfcl.rules import NativeCalls, SingleTurnRules, WrittenCalls
from wildtool.benchmarks.bfcl.web_search import SearchRules
from wildtool.trace import SaidCall
from wildtool.types import Episode, Item, Message


@dataclass(frozen=True, slots=True)
class EntryRules(GoldForReaders, Rules):
    """The rules of each entry by its kind."""

    single: SingleTurnRules
    multi: MultiTurnRules
    memory: MemoryRules
    search: SearchRules
    forms: Mapping[str, SingleTurnRules]
    """By name of the form of prompts, in which an entry of format sensitivity is a unit."""

    def _of(self, item: Item, unit: str = "") -> Rules:
        by_kind = {MultiTurnRecord: self.multi, MemoryRecord: self.memory, SearchRecord: self.search}
        return by_kind.get(cast(Any, type(item.data))) or self.forms.get(unit, self.single)

    def leading(self, item: Item) -> Sequence[str]:
        return self._of(item).leading(item)

    def after(self, item: Item, episodes: Mapping[str, Any]) -> Item | None:
        return self._of(item).after(item, episodes)

    def episode(self, item: Item, unit: str) -> Episode:
        return self._of(item, unit).episode(item, unit)

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self._of(item, unit).verdict(episode, item, unit)

    def mutants(self, item: Item) -> Iterable[Mutant]:
        if not isinstance(item.data, BfclEntry):
            yield from self._of(item).mutants(item)
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

    def says_nothing(self, item: Item, reply: Message) -> bool:
        return isinstance(item.data, MultiTurnRecord) and reply.get("content") == NO_CALL

    def said(self, reply: Message) -> Iterable[SaidCall]:
        return self.single.said(reply)  # replies are written alike


_BY_PROFILE = {
    "official": (SingleTurnRules, MultiTurnRules, has_answer),
    "fixed": (FixedRules, FixedMultiTurnRules, has_answer_strictly),
}
"""By profile the rules of single turns and of several turns, and whether a text holds an expected answer."""


def rules(benchmark: Benchmark, profile: str) -> EntryRules:
    """The rules of a profile in the mode of the benchmark."""
    return _rules(benchmark.mode == NATIVE, profile)


@cache
def _rules(native: bool, profile: str) -> EntryRules:
    # Every entry is judged by them; making them takes as long as judging one.
    single, multi, answers = _BY_PROFILE[profile]
    forms = {name: single(WrittenCalls(form, hints=2)) for name, form in PROMPT_FORMS.items()}
    dialogues = multi(native)
    agentic = (dialogues.dialogue, answers)
    return EntryRules(
        single(NativeCalls() if native else WrittenCalls()),
        dialogues,
        MemoryRules(*agentic),
        SearchRules(*agentic),
        forms,
    )
