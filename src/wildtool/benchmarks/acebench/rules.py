"""The rules of a profile in a mode: how it plays and judges, and what audit and trace ask of it."""

from collections.abc import Iterable

from wildtool.benchmark import Mutant
from wildtool.benchmarks.acebench.audit.explain import explain, explain_gold
from wildtool.benchmarks.acebench.audit.mutants import mutants
from wildtool.benchmarks.acebench.judge import AceBenchRules
from wildtool.benchmarks.acebench.trace import trace
from wildtool.trace import Trace
from wildtool.types import Item, Transcript


class WholeRules(AceBenchRules):
    """The rules with mistakes to try and with traces; what makes these asks the rules that it extends."""

    __slots__ = ()

    def mutants(self, item: Item) -> Iterable[Mutant]:
        return mutants(item, self)

    def explain(self, item: Item, mutant: Mutant) -> str:
        return explain(item, mutant, self)

    def explain_gold(self, item: Item, unit: str) -> str:
        return explain_gold(item, unit, self)

    def trace(self, item: Item, unit: str, transcript: Transcript) -> Trace:
        return trace(item, unit, transcript, self)
