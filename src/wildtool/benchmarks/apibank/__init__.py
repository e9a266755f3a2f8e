"""API-Bank (EMNLP 2023, arXiv 2304.08244): calls and replies in dialogues with 53 tools that run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark, Finding, Published, Rules, View
from wildtool.types import FieldValue, Item, Metric, Source

# The parts are imported where they are used: judging loads more than running, and help needs neither.

_REPLIES = "replies"


class ApiBank(Benchmark):
    """The benchmark, over the dialogues of its levels 1 and 2, which are its splits."""

    name = "apibank"
    title = "API-Bank: 534 calls and 478 replies in 264 dialogues with 53 tools"
    profiles: Mapping[str, str] = {
        "toleap": "ROUGE-L of replies as ToLeaP's table has it; calls beside them, by the authors' rules",
        "original": "the rules of its authors: calls are run, replies compared by ROUGE-L",
        "fixed": "their known faults corrected: values read whole, lists, state, all arguments compared",
    }
    modes: Mapping[str, str] = {
        "chat": "calls and replies, tools in the prompt",
        _REPLIES: "replies alone, as ToLeaP runs it",
    }
    columns: Mapping[str, str] = {
        "task": "VARCHAR",
        "api": "VARCHAR",
        "repeated": "BOOLEAN",
        "rouge_l": "DOUBLE",
        "own_search": "BOOLEAN",
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    original_sampling: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 512}  # as ToLeaP sets them

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.apibank.data import REPLY, read_items

        items = read_items(source.path, split, lambda sample: self.mode != _REPLIES or sample.task == REPLY)
        return (item for item in items if lang in (None, item.lang))

    def rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.apibank.rules import apibank_rules

        return apibank_rules(profile, self.mode)

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        sample = item.data.samples[unit]
        # A reply belongs to the call before it.
        turn = item.data.turns[sample.position - (sample.task == "reply")]
        return {"task": sample.task, "api": turn["api_name"], "repeated": sample.repeated}

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.apibank.source import locate

        return locate(data, split)

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.apibank.source import pull

        return pull(file, mirror, report)

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.apibank.data import lint

        return lint(source.path)

    def stats(self, source: Source) -> list[Metric]:
        from wildtool.benchmarks.apibank.data import stats

        return list(stats(source.path))

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.apibank.summary import summarize

        return summarize(verdicts, profile)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.apibank.summary import VIEWS

        return VIEWS

    def published(self) -> Sequence[Published]:
        from wildtool.benchmarks.apibank.summary import published

        return published()


APIBANK = ApiBank()
