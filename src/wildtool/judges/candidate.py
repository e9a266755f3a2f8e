"""A case that may be chosen, and how easily it is told apart from another without reading."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from wildtool.judges.cases import RIGHT_TIERS, JudgeCase, Tier
from wildtool.judges.signs import signs
from wildtool.judges.trajectories import Cut, GoldRun, without_traces
from wildtool.types import Message

GOLD_FORM = "gold"
"""The form of a reply that is as the benchmark has it."""
_WEIGHTS: Mapping[str, float] = {
    "ends with a call": 9,
    "length": 4,
    "length of the last text": 1,
    "calls": 0.4,
    "messages": 0.2,
    "arguments": 0.1,
    "digits": 0.3,
}
_WISHES: Mapping[str, float] = {"digits": 0.6, "messages before": 0.05, "tools": 0.01, "minus signs": 0.2}


@dataclass(kw_only=True)
class Candidate:
    """A case that may be chosen."""

    run: GoldRun
    step: int
    kind: str
    tier: Tier
    form: str
    cut: Cut
    reference: tuple[Message, ...]
    note: str = ""
    replies: tuple[Message, ...] = ()
    """To ask the rules about; empty where the label is by construction."""

    @property
    def right(self) -> bool:
        """The label."""
        return self.tier in RIGHT_TIERS

    @property
    def item(self) -> str:
        return self.run.item.id

    @property
    def place(self) -> tuple[str, str, int | str]:
        """No two right cases are of one place: gold of one step, or other forms of one item."""
        return (self.item, self.run.unit, self.step) if self.form == GOLD_FORM else (self.item, "", self.form)

    @property
    def is_made_here(self) -> bool:
        """Whether the label follows from how the case was made, and no rules were asked."""
        return not self.replies

    @cached_property
    def signs(self) -> Mapping[str, float]:
        return signs(
            without_traces(self.cut.messages)[self.cut.start :],
            shown=self.cut.start,
            tools=len(self.cut.tools),
        )

    @cached_property
    def holds(self) -> bool:
        """Whether the rules agree with the label."""
        return self.is_made_here or self.run.is_right(self.replies, self.step) == self.right

    def distance(self, other: "Candidate") -> float:
        """How easily two of one form are told apart without reading: a unit is a quarter in length, or an end of another
        kind."""
        return self._weighed(other, _WEIGHTS) + (0.05 if other.item != self.item else 0)

    def preference(self, other: "Candidate") -> float:
        """The distance to partners that are near enough, with what should be alike, too, if it can be."""
        return self.distance(other) + self._weighed(other, _WISHES)

    def _weighed(self, other: "Candidate", weights: Mapping[str, float]) -> float:
        return sum(weight * abs(self.signs[name] - other.signs[name]) for name, weight in weights.items())

    def case(self, benchmark: str) -> JudgeCase:
        """The case as it is asked."""
        forms = [] if self.form in (GOLD_FORM, self.kind) else [self.form]
        return JudgeCase(
            benchmark=benchmark,
            item=self.item,
            unit=self.run.unit,
            lang=self.run.item.lang,
            tier=self.tier,
            kind=self.kind,
            right=self.right,
            tools=[*self.cut.tools],
            messages=without_traces(self.cut.messages),
            start=self.cut.start,
            reference=without_traces(self.reference),
            note="; ".join(filter(None, [self.note, *forms])),
        )
