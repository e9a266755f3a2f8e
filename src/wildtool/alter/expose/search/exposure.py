"""The alteration that `--expose search` makes: the model searches for its tools, and calls those that it found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from wildtool.alter.base import Alteration, mode_of
from wildtool.alter.distractors.retrieval import FIRST_PASS, RANKER, SELECTION_DIGEST
from wildtool.alter.expose.outcomes import EXPOSURE_COLUMNS
from wildtool.alter.expose.search.settings import FUSED, RETRIEVERS, STATIC, SearchSettings
from wildtool.alter.expose.search.unit import SearchUnit
from wildtool.benchmark import Benchmark
from wildtool.errors import RecordError, UsageError
from wildtool.stats.metrics import Rate
from wildtool.types import Item

SEARCH_COLUMNS: Mapping[str, str] = {
    **EXPOSURE_COLUMNS,
    "exposure_needed": "INTEGER",
    "exposure_needed_found": "INTEGER",
}
"""What each exposure has, and how many tools right answers call that had to be found, with those of them that were."""
_STATIC_MODEL = "static/wordllama"


@dataclass(frozen=True, slots=True)
class SearchExposure(Alteration):
    """The tools of each item behind a search."""

    kind: ClassVar[str] = "exposure"
    caveat: ClassVar[str] = "how the tools were offered"
    without: ClassVar[str] = "direct"
    settings: SearchSettings

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        try:
            return cls(SearchSettings.recorded(identity["expose"]["search"]))
        except (TypeError, KeyError, ValueError, UsageError) as error:
            raise RecordError(
                f"run.json: identity.expose is damaged ({error}); restore it from a copy"
            ) from error

    @property
    def columns(self) -> Mapping[str, str]:
        return SEARCH_COLUMNS

    @property
    def label(self) -> str:
        return f"search:{self.settings}" if str(self.settings) else "search"

    @property
    def roles(self) -> Mapping[str, str]:
        retriever = self.settings.retriever
        if retriever in (STATIC, FUSED):
            return {RANKER: _STATIC_MODEL}
        return {} if retriever in RETRIEVERS else {RANKER: retriever}

    @property
    def folder_parts(self) -> Sequence[str]:
        text = str(self.settings)
        for mark in "/=,+:":
            text = text.replace(mark, "-")
        return ["search", text] if text else ["search"]

    @property
    def options(self) -> Sequence[str]:
        return ["--expose", self.label]

    def identity(self) -> Mapping[str, Any]:
        prompt = {"prompt": SELECTION_DIGEST} if self.settings.retriever == FIRST_PASS else {}
        return {"expose": {"search": {**self.settings.identity(), **prompt}}}

    def unit(self, item: Item, unit: str) -> SearchUnit:
        return SearchUnit(self.settings, f"{item.id} {unit}")

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        rules = benchmark.rules(profile)
        firsts = (rules.episode(item, unit).request() for item in items for unit in item.units)
        if any(request is not None and request.tools for request in firsts):
            return ""
        raise UsageError(
            f"--expose search finds native tools, and {benchmark.name} sends none in mode {mode_of(benchmark)}; "
            "choose another mode, or leave --expose out"
        )

    def rates(self, verdicts: Any) -> Sequence[Rate]:
        needed = "exposure_needed > 0"
        complete = f"{needed} AND exposure_needed_found = exposure_needed"
        guessed = "CAST(exposure_faults LIKE '%\"guessed\"%' AS INTEGER)"
        ended = "exposure_searches IS NOT NULL"
        kind = SearchExposure.kind
        recall = ("needed tools found", needed, "exposure_needed_found", "exposure_needed")
        return [
            Rate(kind, *recall, headline=True),
            Rate(kind, "correct where all needed tools were found", complete, headline=True),
            Rate(kind, "searched", ended, "CAST(exposure_searches > 0 AS INTEGER)", better=""),
            Rate(kind, "called a tool that was not found", ended, guessed, better="less"),
        ]
