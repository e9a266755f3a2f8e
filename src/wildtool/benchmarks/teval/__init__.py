"""T-Eval (arXiv 2312.14033): instruct, plan, reason, retrieve, understand and review, each ability on its own."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark, Finding, Published, Rules, View
from wildtool.types import FieldValue, Item, Metric, Source

# The parts are imported where they are used: judging loads more than running, and help needs neither.


class TEval(Benchmark):
    """The benchmark, over the eight test sets, which are its splits."""

    name = "teval"
    title = "T-Eval: six abilities of tool use, each on its own, in eleven scores"
    profiles: Mapping[str, str] = {
        "toleap": "what ToLeaP computes, record by record",
        "original": "what its authors' evaluator computes: more arguments than asked for are free",
        "fixed": "their known faults corrected: unmatched steps get no points, templates are taken as written",
    }
    modes: Mapping[str, str] = {"chat": "messages, answered in text"}
    # As in Figure 7 of ToLeaP's paper.
    headline: Mapping[str, tuple[str, str]] = dict.fromkeys(profiles, ("scores", "mean of columns"))
    columns: Mapping[str, str] = {
        "ability": "VARCHAR",
        "form": "VARCHAR",
        "parsed": "BOOLEAN",
        **dict.fromkeys(("format", "arguments", "precision", "recall", "f1"), "DOUBLE"),
        **dict.fromkeys(("thought", "name", "args", "quality"), "DOUBLE"),
        "encoder": "VARCHAR",
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.teval.data import read_items

        return read_items(source.path, split, lang)

    def rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.teval.rules import teval_rules

        return teval_rules(profile)

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        return {"ability": item.data.test.ability, "form": item.data.form}

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.teval.data import locate

        return locate(data, split)

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.teval.data import pull

        return pull(file, mirror, report)

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.teval.lint import lint_source_files

        return lint_source_files(source)

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.teval.summary import summarize

        return summarize(verdicts, profile)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.teval.summary import VIEWS

        return VIEWS

    def published(self) -> Sequence[Published]:
        from wildtool.benchmarks.teval.summary import published

        return published()


TEVAL = TEval()
