"""Glaive function calling, as ToLeaP scores it: the first call of a dialogue, answered as a JSON object in text."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.benchmark import COMPLETION, Benchmark, Finding, Rules, View
from wildtool.types import Item, Metric, Source

# The parts are imported where they are used: judging loads more than running, and help needs neither.


class Glaive(Benchmark):
    """The benchmark, over the records that `data pull` converted, or any file of Glaive's or ShareGPT's form."""

    name = "glaive"
    title = "Glaive: first function calls of 52,000 dialogues, as ToLeaP converts and scores them"
    profiles: Mapping[str, str] = {
        "toleap": "what the ToLeaP platform computes, count for count",
        "fixed": "its known faults corrected: each record counts once, values by meaning",
    }
    modes: Mapping[str, str] = {
        "chat": "one message, answered in text",
        COMPLETION: "the same as one text that the model continues",
    }
    columns: Mapping[str, str] = dict.fromkeys(
        ("counted", "function_ok", "names_ok", "values_ok", "invalid_gold", "invalid_prediction"), "INTEGER"
    )
    card = Path(__file__).parent / "card.md"

    original_sampling: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 512}  # as ToLeaP sets them

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.glaive.data import read_items

        return (item for item in read_items(source.path, split) if lang in (None, item.lang))

    def rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.glaive.judge import COUNTS_OF, GlaiveRules

        return GlaiveRules(COUNTS_OF[profile])

    def user_texts(self, item: Item) -> Sequence[str]:
        return [item.data.request]

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.glaive.data import locate

        return locate(data)

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.glaive.data import pull

        return pull(file, report)

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.glaive.data import lint

        return lint(source)

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.glaive.summary import summarize

        return summarize(verdicts)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.glaive.summary import VIEWS

        return VIEWS


GLAIVE = Glaive()
