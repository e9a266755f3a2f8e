"""Whether a model got worse, not worse by more than is allowed, or whether that cannot be told, line by line.

Two runs of one model must hardly ever fail a build. So a loss counts where p < 0.04, two-sided and after Holm's
correction: the test is exact, and losses are half of what it finds by chance, so 2 % at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from wildtool.draws import seeded_draw
from wildtool.engine.compare.comparison import Comparison
from wildtool.engine.compare.pairs import Share, UnitKey, UnitScores, pair_units, share
from wildtool.engine.compare.runs import ComparedRun
from wildtool.engine.compare.suites import OVERALL, OverallComparison, SuitePair
from wildtool.engine.score.formatting import format_p, format_range
from wildtool.errors import UsageError
from wildtool.gating.units import ROUNDING, tried_units
from wildtool.stats.power import items_to_decide
from wildtool.stats.tests import mean_difference

LEVEL_OF_GATES = 0.04
"""Two-sided level from which a loss fails a gate; two equal models fail it half as often."""
_SMALLEST = 0.001
"""Distance of a loss from the margin, as a share, that is told apart at best."""
_POWER = NormalDist().inv_cdf(0.8)
_HARDER = (NormalDist().inv_cdf(1 - LEVEL_OF_GATES / 2) + _POWER) / (NormalDist().inv_cdf(0.975) + _POWER)
"""By how much a loss must be larger to be found at this level than at 0.05, at the same power."""
LineAnswer = Literal["worse", "not worse", "undecided", "no loss found"]


@dataclass(frozen=True, slots=True)
class LineDecision:
    """What a gate says of one benchmark, or of the overall, of one model."""

    model: str
    name: str
    """The benchmark, or `overall`."""
    answer: LineAnswer
    difference: float
    """Accuracy less the baseline's."""
    low: float
    high: float
    p: float
    """After Holm's correction."""
    items: int
    decisive_items: int | None = None
    """Items that would decide; None where that is decided, or where no margin is given."""
    decided_by_none: bool = True
    """Whether they would decide if nothing was lost; else if the loss is what it seems."""

    @property
    def is_loss(self) -> bool:
        """Whether the loss is significant, whatever is allowed."""
        return self.difference < 0 and self.p < LEVEL_OF_GATES

    @property
    def text(self) -> str:
        """The model, the size of the loss and where it was lost."""
        where = "" if self.name == OVERALL else "on "
        return (
            f"{self.model} lost {-100 * self.difference:.1f} points {where}{self.name} "
            f"({format_range(self.low, self.high, signed=True)}, p after Holm {format_p(self.p)})"
        )


def decided_lines(pairs: Sequence[SuitePair], allowed: float | None) -> list[LineDecision]:
    """What the gate says of each benchmark and overall.

    Args:
        allowed: the margin in points; None for none, so that any significant loss is one too much.
    """
    return [
        _decided(pair, name, line, allowed or 0.0, has_margin=bool(allowed))
        for pair in pairs
        for name, line in pair.lines.items()
    ]


def _decided(
    pair: SuitePair, name: str, line: Comparison | OverallComparison, allowed: float, *, has_margin: bool
) -> LineDecision:
    part = line.whole
    answer: LineAnswer = "undecided" if has_margin else "no loss found"
    if part.difference < 0 and line.p_holm < LEVEL_OF_GATES and -100 * part.difference > allowed + ROUNDING:
        answer = "worse"
    elif has_margin and 100 * part.low >= -allowed - ROUNDING:
        answer = "not worse"
    decision = LineDecision(
        pair.new.label, name, answer, part.difference, part.low, part.high, line.p_holm, part.items
    )
    return _with_items(decision, _error(pair, name), allowed / 100) if answer == "undecided" else decision


def _with_items(decision: LineDecision, error: float, margin: float) -> LineDecision:
    """An undecided line with the items that would decide."""
    items = decision.items
    needed = items_to_decide(error, items, margin)
    if needed > items and not decision.is_loss:
        return replace(decision, decisive_items=needed)
    # As many would have shown that nothing was lost.
    loss = -decision.difference
    distance = loss if loss > margin else max(margin - loss, _SMALLEST)
    needed = max(items + 1, items_to_decide(error, items, distance))
    return replace(decision, decisive_items=needed, decided_by_none=False)


def _error(pair: SuitePair, name: str) -> float:
    """Standard error of the difference of a line."""
    if name != OVERALL or pair.overall is None:
        return pair.paired[name].difference.error
    parts = [pair.paired[each] for each in pair.overall.benchmarks]
    return mean_difference([(each.difference, len(each.pairs)) for each in parts])[0].error


def main_lines(pairs: Sequence[SuitePair], lines: Sequence[LineDecision]) -> list[LineDecision]:
    """The lines that must not be undecided: the overall of a model where it has one, else each of its benchmarks."""
    with_overall = {pair.new.label for pair in pairs if pair.overall}
    return [line for line in lines if line.name == OVERALL or line.model not in with_overall]


def smallest_loss(pairs: Sequence[SuitePair]) -> float:
    """The loss that these runs would have shown four times out of five, as a share: of the overall where there is one,
    else the largest of the benchmarks; 1 where so few items need not show any."""
    lines = [
        line for pair in pairs for line in ([pair.overall] if pair.overall else pair.benchmarks.values())
    ]
    return min(1.0, _HARDER * max(line.detectable for line in lines))


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """How often a gate would have failed a model that is compared with itself, by repeats."""

    draws: int
    alarms: int
    units: int
    """Units with several tries; only these are drawn."""


def false_alarms(
    runs: Sequence[ComparedRun], allowed: float | None, draws: int, seed: int = 0
) -> FalseAlarms:
    """Splits the tries of each unit into two halves by chance, again and again, and compares them as two runs.

    Args:
        allowed: as of `decided_lines`.

    Raises UsageError where no unit of these runs was tried twice.
    """
    tries = [found for run in runs if (found := _tries_of(run))]
    if not tries:
        raise UsageError(
            "--burn-in needs repeats, to tell luck from loss: run with --repeats 4, or give cases 'repeat: 4'"
        )
    draw = seeded_draw(seed)
    alarms = 0
    for number in range(draws):
        halves: tuple[dict[UnitKey, Share], dict[UnitKey, Share]] = {}, {}
        for key, (right, judged) in tries[number % len(tries)].items():
            outcomes = [1] * right + [0] * (judged - right)
            draw.shuffle(outcomes)
            half = judged // 2
            for side, part in zip(halves, (outcomes[:half], outcomes[half : 2 * half]), strict=True):
                side[key] = share(sum(part), half)
        both = pair_units(*map(UnitScores, halves))
        assert both is not None, "both hold the same units"
        value = both.difference.value
        alarms += value < 0 and -100 * value > (allowed or 0) + ROUNDING and both.test()[0] < LEVEL_OF_GATES
    return FalseAlarms(draws, alarms, max(map(len, tries)))


def _tries_of(run: ComparedRun) -> dict[UnitKey, tuple[int, int]]:
    """By unit that was tried several times how many tries were right, and how many have a verdict."""
    return {key: (unit.right, unit.judged) for key, unit in tried_units(run).items() if unit.judged > 1}
