"""Which agent items are made, and their plans."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from wildtool.draws import seeded_draw
from wildtool.errors import UsageError
from wildtool_data.make.agents.scenario import AgentScenario, read_scenario
from wildtool_data.make.core.plan import Lang, Quota

Scenarios = Mapping[tuple[str, Lang], AgentScenario]
"""By kind and language."""


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """The plan of one item."""

    index: int
    kind: str
    lang: Lang
    seed: str
    turn: int = 0
    """How many plans of this number were lost before this one."""

    @property
    def name(self) -> str:
        """Unique within a set: `3`, or `3.1` for its first replacement."""
        return f"{self.index}.{self.turn}" if self.turn else str(self.index)

    def replanned(self, turn: int) -> "AgentPlan":
        """The same kind, with everything drawn again."""
        return replace(self, seed=f"{self.seed}/another/{turn}", turn=turn)

    def stream(self, purpose: str) -> Random:
        """Random numbers for one purpose, the same each time."""
        return seeded_draw(f"{self.seed}/{purpose}")


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """Which agent items are to be made."""

    items: int
    kinds: Mapping[str, int]
    """Kinds with their shares."""
    seed: str
    langs: tuple[Lang, ...]
    sandbox: Path | None = None
    """Folder of ACEBench's files; None for those that are at hand."""
    judges: int = 0
    """Votes on each item of models; 0 for none."""
    agree: int = 0
    """Votes for an item that keep it."""

    def scenarios(self) -> Scenarios:
        """The sandboxes. Raises UsageError where there is none."""
        return {
            (kind, lang): read_scenario(kind, lang, self.sandbox)
            for kind in self.kinds
            for lang in self.langs
        }

    def plans(self) -> Iterator[AgentPlan]:
        """Languages by turns, and in each the kinds by their shares. Raises UsageError for numbers below 1."""
        if self.items < 1:
            raise UsageError("a set needs at least one item")
        quotas = [Quota(dict(self.kinds)) for _ in self.langs]
        for index in range(self.items):
            place = index % len(self.langs)
            yield AgentPlan(index, quotas[place].next(), self.langs[place], f"{self.seed}/agent/{index}")
