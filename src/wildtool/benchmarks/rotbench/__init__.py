"""RoTBench (arXiv 2401.08326): the first call of a dialogue when names of tools and parameters carry noise."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import COMPLETION, Benchmark, Finding, Published, Rules, View
from wildtool.types import FieldValue, Item, Metric, Source

# The parts are imported where they are used: judging loads more than running, and help needs neither.


class RoTBench(Benchmark):
    """The benchmark, over the official data, a folder in their layout, or one file."""

    name = "rotbench"
    title = "RoTBench: 840 first calls and 560 third calls under five levels of noise in names"
    profiles: Mapping[str, str] = {
        "toleap": "what the ToLeaP platform computes, verdict for verdict",
        "original": "the authors' own evaluator; where it raises, the reply is wrong",
        "fixed": "its known faults corrected: empty inputs, text around the call, values of any type",
    }
    modes: Mapping[str, str] = {
        "chat": "messages, answered in text",
        COMPLETION: "one text that the model continues (ToLeaP's streaming)",
    }
    # As in Figure 7 of ToLeaP's paper.
    headline: Mapping[str, tuple[str, str]] = dict.fromkeys(
        profiles, ("content filling (CF)", "mean of environments")
    )
    columns: Mapping[str, str] = {
        "turn": "VARCHAR",
        "environment": "VARCHAR",
        "noise": "VARCHAR",
        "scenario": "VARCHAR",
        "level": "INTEGER",
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    @property
    def original_sampling(self) -> Mapping[str, Any]:
        return {"temperature": 0.0, "max_tokens": 512}  # as ToLeaP sets them

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.rotbench.data import read_items

        return (item for item in read_items(source, split) if lang in (None, item.lang))

    def rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.rotbench.judge import PROFILES, RoTRules

        return RoTRules(*PROFILES[profile], raw=self.mode == COMPLETION)

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        record = item.data[unit]
        names = ("turn", "environment", "noise", "scenario")
        return {name: cast(str, getattr(record, name)) for name in names}

    def user_texts(self, item: Item) -> Sequence[str]:
        return [
            text.removesuffix("\nBegin!\n")
            for record in item.data.values()
            for role, text in record.turns
            if role == "user"
        ]

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.rotbench.data import locate

        return locate(data, split)

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.rotbench.data import pull

        return pull(file, mirror, report)

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.rotbench.data import lint

        return lint(source)

    def stats(self, source: Source) -> list[Metric]:
        from wildtool.benchmarks.rotbench.data import stats

        return list(stats(source))

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.rotbench.summary import summarize

        return summarize(verdicts)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.rotbench.summary import VIEWS

        return VIEWS

    def published(self) -> Sequence[Published]:
        from wildtool.benchmarks.rotbench.summary import published

        return published()


ROTBENCH = RoTBench()
