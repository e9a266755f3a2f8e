"""Shares of right units that are asked of a run, whatever its baseline: overall, or of one tag."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wildtool.engine.compare.comparison import accuracy_of
from wildtool.engine.compare.suites import SuiteRuns
from wildtool.engine.score.formatting import counted, format_share
from wildtool.errors import UsageError, unknown_name
from wildtool.gating.units import ROUNDING, tried_units


@dataclass(frozen=True, slots=True)
class Floor:
    """A share of right units that is asked of a run."""

    model: str
    benchmark: str
    tag: str
    """Empty for all units."""
    asked: float
    share: float
    units: int
    """Those with a verdict, of which `share` is right."""

    @property
    def holds(self) -> bool:
        return self.share >= self.asked - ROUNDING

    def __str__(self) -> str:
        return f"{self.model} on {self.benchmark}: {self.text}"

    @property
    def text(self) -> str:
        """What is right and what is asked, without the run."""
        of = f"{self.tag} " if self.tag else ""
        return (
            f"{of}{format_share(self.share)} right of {counted(self.units, 'unit')}, "
            f"at least {format_share(self.asked)} is asked"
        )


def floors_of(text: str, news: Sequence[SuiteRuns]) -> list[Floor]:
    """What a floor asks of each run that it is about. Raises UsageError where it is about none."""
    tag, asked = tag_and_share(text)
    floors: list[Floor] = []
    tags: set[str] = set()
    for suite in news:
        for name, run in suite.runs.items():
            units = tried_units(run).values()
            tags.update(each for unit in units for each in unit.tags)
            if own := [unit for unit in units if not tag or tag in unit.tags]:
                cells = {(unit.item, each): cell for unit in own for each, cell in unit.cells}
                share = accuracy_of(replace(run, cells=cells), only_played=True)
                if share is None:
                    raise UsageError(f"--at-least {text}: {suite.label} has no verdict there on {name}")
                judged = sum(cell.played > 0 for cell in cells.values())
                floors.append(Floor(suite.label, name, tag, asked, share.value, judged))
    if not floors:
        raise UsageError(f"--at-least {text}: {unknown_name('tag', tag, sorted(tags))}")
    return floors


def tag_and_share(text: str, option: str = "--at-least") -> tuple[str, float]:
    """What a floor is about, and the share that it asks for. Raises UsageError, which names the option."""
    tag, _, number = text.rpartition(":")
    try:
        share = float(number)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        hint = f" ({share / 100:g}?)" if 1 < share <= 100 else ""
        raise UsageError(
            f"{option} {text}: takes a share from 0 to 1{hint}, or one of a tag, as in refunds:0.8"
        )
    return tag, share
