"""What of a benchmark's official data a submission covers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from wildtool.board.wording import counted_are, id_list
from wildtool.engine.compare.leaderboard import located_data
from wildtool.engine.plan import Selection
from wildtool.engine.score.results import ScoreResult
from wildtool.sanitize import single_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Which items of which data a run has."""

    items: int
    """Items of the run."""
    of: int
    """Items of the whole split, in all languages."""
    split: str | None
    """None for the benchmark's default."""
    langs: tuple[str, ...]
    """Languages of the run's items."""
    official: bool
    """Whether the data are the ones that the benchmark reads where nobody names any."""
    left_out: tuple[str, ...] = ()
    """Ids of items of its split and language that the run leaves out."""

    @property
    def complete(self) -> bool:
        """Whether it is all of the official data of its split."""
        return self.official and self.items == self.of

    def __str__(self) -> str:
        data = "official data" if self.official else "own data"
        split = f"split {single_line(self.split)}, " if self.split else ""
        langs = single_line(" ".join(self.langs)) or "unknown"
        return f"{data}, {split}{self.items:,} of {self.of:,} items, language {langs}"

    @property
    def problems(self) -> Iterator[str]:
        """Why the submission is refused."""
        if self.left_out:
            yield f"{counted_are(len(self.left_out), 'item')} left out of the run: {id_list(self.left_out)}"


def coverage_of(result: ScoreResult, selection: Selection) -> Coverage:
    """What a run covers.

    Args: selection: the run's own, over data that are known to be those of the run.
    """
    items = {item.id: item.lang for item in selection.items()}
    everything = replace(selection, limit=None, ids=(), sample=None)
    official = located_data(result.benchmark, None, result.split, result.mode)
    return Coverage(
        items=len(items),
        of=sum(1 for _ in replace(everything, lang=None).items()),
        split=result.split,
        langs=tuple(sorted(set(items.values()))),
        official=official is not None and official.sha256 == result.data_sha256,
        left_out=tuple(item.id for item in everything.items() if item.id not in items),
    )
