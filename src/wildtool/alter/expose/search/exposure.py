"""The alteration that `--expose search` makes: the model searches for its tools, and calls those that it found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from wildtool.alter.expose.exposure import SEARCH, Exposure
from wildtool.alter.expose.outcomes import EXPOSURE_COLUMNS
from wildtool.alter.expose.search.settings import SearchSettings
from wildtool.alter.expose.search.unit import SearchUnit
from wildtool.stats.metrics import Rate
from wildtool.types import Item

SEARCH_COLUMNS: Mapping[str, str] = {
    **EXPOSURE_COLUMNS,
    "exposure_needed": "INTEGER",
    "exposure_needed_found": "INTEGER",
}
"""What each exposure has, and how many tools right answers call that had to be found, with those of them that were."""


@dataclass(frozen=True, slots=True)
class SearchExposure(Exposure):
    """The tools of each item behind a search."""

    name: ClassVar[str] = SEARCH
    search: SearchSettings

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        return cls(SearchSettings.parse(words))

    @property
    def words(self) -> Sequence[str]:
        return self.search.words

    def settings(self) -> Mapping[str, Any]:
        return self.search.recorded()

    @property
    def columns(self) -> Mapping[str, str]:
        return SEARCH_COLUMNS

    @property
    def roles(self) -> Mapping[str, str]:
        return self.search.roles

    def unit(self, item: Item, unit: str) -> SearchUnit:
        return SearchUnit(self.search, f"{item.id} {unit}")

    @property
    def finds_tools(self) -> bool:
        return True

    def rates(self, verdicts: Any) -> Sequence[Rate]:
        return search_rates()


def search_rates() -> Sequence[Rate]:
    """Numbers of every exposure with a search."""
    needed = "exposure_needed > 0"
    complete = f"{needed} AND exposure_needed_found = exposure_needed"
    guessed = "CAST(exposure_faults LIKE '%\"guessed\"%' AS INTEGER)"
    ended = "exposure_searches IS NOT NULL"
    kind = Exposure.kind
    recall = ("needed tools found", needed, "exposure_needed_found", "exposure_needed")
    return [
        Rate(kind, *recall, headline=True),
        Rate(kind, "correct where all needed tools were found", complete, headline=True),
        Rate(kind, "searched", ended, "CAST(exposure_searches > 0 AS INTEGER)", better=""),
        Rate(kind, "called a tool that was not found", ended, guessed, better="less"),
    ]
