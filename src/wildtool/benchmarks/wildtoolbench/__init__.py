"""WildToolBench: sessions of four tasks by users who talk like real users, and our own small set in its format."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.types import (
    Ask,
    Benchmark,
    Episode,
    Finding,
    Item,
    Metric,
    Mutant,
    Published,
    Role,
    Source,
    Trace,
    Transcript,
    Verdict,
    View,
)

# The parts are imported where they are used: judging loads more than playing, and help needs neither.


class WildToolBench:
    """The benchmark, over the official data or over the embedded set."""

    profiles: Mapping[str, str] = {
        "official": "what the published evaluator computes, verdict for verdict",
        "fixed": "its known faults corrected: calls bound by arguments, values compared by meaning",
        "paper": "the older evaluator behind the paper's tables, with its error taxonomy",
    }
    modes: Mapping[str, str] = {"fc": "native tool calls"}
    mode = "fc"
    roles: Mapping[str, Role] = {}
    gold_styles: Sequence[str] = ("parallel", "serial")
    card = Path(__file__).parent / "card.md"

    def __init__(self, name: str, title: str, default_data: str) -> None:
        self.name = name
        self.title = title
        self._default_data = default_data

    @property
    def columns(self) -> Mapping[str, str]:
        from wildtool.benchmarks.wildtoolbench.summary import columns

        return columns()

    def in_mode(self, mode: str) -> Benchmark:
        return self

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.wildtoolbench.play import locate

        return locate(data or self._default_data)

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.wildtoolbench.data import read_items

        return (item for item in read_items(source.path, lang) if split in (None, item.split))

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        from wildtool.benchmarks.wildtoolbench.play import play_item

        await play_item(item, ask, profile, in_order=in_order)

    def episode(self, item: Item, unit: str, profile: str) -> Episode:
        from wildtool.benchmarks.wildtoolbench.play import new_episode

        return new_episode(item, unit, profile)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        from wildtool.benchmarks.wildtoolbench.judge import PROFILES, judge_item

        return judge_item(item, transcripts, PROFILES[profile])

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.wildtoolbench.summary import summarize

        return summarize(verdicts, profile)

    def mutants(self, item: Item, profile: str) -> Iterable[Mutant]:
        from wildtool.benchmarks.wildtoolbench.mutants import mutants

        return mutants(item, profile)

    def explain(self, item: Item, mutant: Mutant, profile: str) -> str:
        from wildtool.benchmarks.wildtoolbench.mutants import explain

        return explain(item, mutant, profile)

    def explain_gold(self, item: Item, unit: str, profile: str) -> str:
        return ""

    def trace(self, item: Item, unit: str, transcript: Transcript, profile: str) -> Trace:
        from wildtool.benchmarks.wildtoolbench.trace import trace

        return trace(item, unit, transcript, profile)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.wildtoolbench.views import views

        return views(profile)

    def published(self) -> Sequence[Published]:
        from wildtool.benchmarks.wildtoolbench.published import published

        return published()

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.wildtoolbench.play import locate, pull

        if self._default_data != "official":
            report("built in; there is nothing to fetch")
            return locate(self._default_data).path
        return pull(file, mirror, report)

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.wildtoolbench.lint import lint_file

        return lint_file(source.path)

    def stats(self, source: Source) -> list[Metric]:
        from wildtool.benchmarks.wildtoolbench.data import read_records
        from wildtool.benchmarks.wildtoolbench.stats import stats

        return stats(record for _, record in read_records(source.path))

    def read_results(self, path: Path) -> Iterator[tuple[str, str, dict[str, Transcript]]] | None:
        from wildtool.benchmarks.wildtoolbench.results import is_result_file, read_results

        return read_results(path) if is_result_file(path) else None


WILDTOOLBENCH = WildToolBench(
    "wildtoolbench", "WildToolBench: 256 sessions of real users' tool use (official data)", "official"
)
WILD_MINI = WildToolBench(
    "wild-mini", "wild-mini: 32 sessions we wrote in WildToolBench's format, built in", "wild-mini"
)
