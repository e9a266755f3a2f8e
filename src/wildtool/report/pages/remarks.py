"""What readers must know before they rely on the numbers of a leaderboard: the gravest first, one entry for all runs that
have the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wildtool.engine.compare.leaderboard import (
    items_caveat,
    notes_of,
    parts_line,
    prompts_caveat,
    run_labels,
)
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.trust import MISSING_SIGNS, TrustRemark

_MOST_AT_ONCE = 3
"""Runs with one remark that are listed; of more, all but the gravest are folded away."""


@dataclass(frozen=True, slots=True)
class ModelRemark:
    """What came between one model and its numbers."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class BoardRemark:
    """One thing about one or several runs."""

    runs: tuple[ModelRemark, ...]
    """The one that it concerns most first; without a label where it concerns the whole table."""
    grave: bool
    """Whether it keeps runs from being compared."""

    @property
    def shown(self) -> tuple[ModelRemark, ...]:
        """Those that are read at once."""
        return self.runs if len(self.runs) <= _MOST_AT_ONCE else self.runs[:1]

    @property
    def folded(self) -> tuple[ModelRemark, ...]:
        return self.runs[len(self.shown) :]


def remarks_of(results: Sequence[ScoreResult]) -> list[BoardRemark]:
    """The remarks on the runs of a leaderboard, the gravest first."""
    whole = filter(
        None, [items_caveat(results), parts_line(result for result in results if not result.sampled)]
    )
    return [*(BoardRemark((ModelRemark("", text),), grave=True) for text in whole), *_by_sign(results)]


def notes_on_numbers(results: Sequence[ScoreResult]) -> list[str]:
    """What must be known of the numbers of any run of a leaderboard."""
    prompts = filter(None, dict.fromkeys(map(prompts_caveat, results)))
    return [*prompts, *notes_of(metric for result in results for metric in result.metrics)]


def _by_sign(results: Sequence[ScoreResult]) -> Iterator[BoardRemark]:
    """The remarks on single runs, those on the same thing together."""
    found: dict[str, list[tuple[str, TrustRemark]]] = {}
    places: dict[str, int] = {}
    for label, result in zip(run_labels(results), results, strict=True):
        for place, remark in enumerate(result.named_trust):
            found.setdefault(remark.sign, []).append((label, remark))
            places[remark.sign] = min(place, places.get(remark.sign, place))
    # A run's own remarks are in order; between runs, what many have weighs more.
    for sign in sorted(found, key=lambda sign: (sign not in MISSING_SIGNS, places[sign], -len(found[sign]))):
        its = sorted(found[sign], key=lambda each: -each[1].count / max(1, each[1].of))
        yield BoardRemark(
            tuple(ModelRemark(label, str(remark)) for label, remark in its), grave=sign in MISSING_SIGNS
        )
