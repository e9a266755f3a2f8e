"""Seal-Tools (arXiv 2405.08355): one request, several calls, with given tools or with those found among 4,076."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wildtool.benchmark import COMPLETION, RETRIEVAL, Benchmark, Finding, Rules, View
from wildtool.types import FieldValue, Item, Metric, Role, Source

# The parts are imported where they are used: judging loads more than running, and help needs neither.


class SealTools(Benchmark):
    """The benchmark, over the official data, a folder in their layout, or one file of records."""

    name = "sealtools"
    title = "Seal-Tools: 2,054 requests for lists of calls, with five tools or all 4,076"
    profiles: Mapping[str, str] = {
        "toleap": "what the ToLeaP platform computes, record for record",
        "original": "the authors' own evaluator",
        "fixed": "its known faults corrected: calls counted once, quotes and brackets kept, values by meaning",
    }
    modes: Mapping[str, str] = {
        "chat": "one message with five tools",
        COMPLETION: "the same as one text that the model continues (ToLeaP's streaming)",
        RETRIEVAL: "one message with the tools that a retriever finds among all",
    }
    roles: Mapping[str, Role] = {"retriever": Role("finds tools in the pool", default="bm25", searches=True)}
    gold_styles = ("parallel", "literal")
    # As in Figure 7 of ToLeaP's paper.
    headline: Mapping[str, tuple[str, str]] = dict.fromkeys(
        profiles, ("mean of splits", "parameter F1 (F1_param)")
    )
    columns: Mapping[str, str] = {
        "shape": "VARCHAR",
        "easy": "BOOLEAN",
        **dict.fromkeys(("parsed", "gold_api", "gold_param", "pred_api", "pred_param", "ok_api"), "INTEGER"),
        **dict.fromkeys(("ok_param", "missing_api", "wrong_api", "unknown_param", "wrong_value"), "INTEGER"),
        **dict.fromkeys(("retrieved", "recalled", "recallable"), "INTEGER"),
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    original_sampling: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 512}  # as ToLeaP sets them

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.sealtools.data import pool_file, read_items

        items = (item for item in read_items(source, split) if lang in (None, item.lang))
        if self.mode != RETRIEVAL:
            return items
        pool = str(pool_file(source.path))
        return (replace(item, data=replace(item.data, pool=pool), roles=("retriever",)) for item in items)

    def documents(self, source: Source) -> Mapping[str, str]:
        from wildtool.benchmarks.sealtools.data import pool_file, read_pool, searched_text

        return {name: searched_text(tool) for name, tool in read_pool(pool_file(source.path)).items()}

    def rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.sealtools.judge import SCORERS
        from wildtool.benchmarks.sealtools.rules import SealRules

        return SealRules(profile, SCORERS[profile], retrieves=self.mode == RETRIEVAL)

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        from wildtool.benchmarks.sealtools.data import difficulty_of

        return {"shape": item.data.shape, "easy": difficulty_of(item.id) == "easy"}

    def user_texts(self, item: Item) -> Sequence[str]:
        return [item.data.query]

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.sealtools.data import locate

        return locate(data, split, with_pool=self.mode == RETRIEVAL)

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.sealtools.data import pull

        return pull(file, mirror, report)

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.sealtools.data import lint

        return lint(source)

    def stats(self, source: Source) -> list[Metric]:
        from wildtool.benchmarks.sealtools.data import stats

        return list(stats(source))

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.sealtools.summary import summarize

        return summarize(verdicts)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.sealtools.summary import VIEWS

        return VIEWS


SEALTOOLS = SealTools()
