"""WildToolBench: sessions of four tasks by users who talk like real users, and our own small set in its format."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.benchmark import Benchmark, Check, Finding, Mutant, Published, Rules, View
from wildtool.trace import Trace
from wildtool.types import Episode, FieldValue, Item, Metric, Source, Transcript

if TYPE_CHECKING:
    from wildtool.benchmarks.wildtoolbench.data import Session

# The parts are imported where they are used: judging loads more than running, and help needs neither.


@dataclass(frozen=True, slots=True)
class WildToolBenchRules(Rules):
    """The rules of one profile: how a task is run and how it is judged. Chosen once, by `WildToolBench.rules`."""

    name: str
    """The profile."""
    make_episode: "Callable[[Session, int], Episode]"
    judge: "Callable[[Any, Session, int], Check]"
    """Judges a finished episode of a task."""
    error_names: Sequence[str]
    """Error classes that a summary counts."""
    error_labels: Sequence[str] = ()
    """Finer labels below those classes, which a summary counts too."""
    counts_questions: bool = False
    """Whether a summary counts the Chat tasks that were answered with a question."""

    def episode(self, item: Item, unit: str) -> Episode:
        return self.make_episode(item.data, item.units.index(unit))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self.judge(episode, item.data, item.units.index(unit))

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        return self.verdict(episode, item, unit)

    def mutants(self, item: Item) -> Iterable[Mutant]:
        from wildtool.benchmarks.wildtoolbench.mutants import mutants

        return mutants(item, self)

    def explain(self, item: Item, mutant: Mutant) -> str:
        from wildtool.benchmarks.wildtoolbench.mutants import explain

        return explain(item, mutant, self.name)

    def trace(self, item: Item, unit: str, transcript: Transcript) -> Trace:
        from wildtool.benchmarks.wildtoolbench.trace import trace

        return trace(item, unit, transcript, self)


class WildToolBench(Benchmark):
    """The benchmark, over the official data or over the embedded set."""

    profiles: Mapping[str, str] = {
        "official": "what the published evaluator computes, verdict for verdict",
        "fixed": "its known faults corrected: calls bound by arguments, values compared by meaning",
        "paper": "the older evaluator behind the paper's tables, with its error taxonomy",
    }
    modes: Mapping[str, str] = {"fc": "native tool calls"}
    gold_styles = ("parallel", "serial")
    card = Path(__file__).parent / "card.md"
    columns: Mapping[str, str] = {
        "task_type": "VARCHAR",
        "position": "INTEGER",
        "subtype": "VARCHAR",
        "transitions": "INTEGER",
        "gold_calls": "INTEGER",
        "turns": "INTEGER",
        "topology": "VARCHAR",
        "orchestration": "VARCHAR",
        "optimal": "BOOLEAN",
        "ap_done": "INTEGER",
        "ap_total": "INTEGER",
        "nodes_done": "INTEGER",
        "nodes": "INTEGER",
        "error_label": "VARCHAR",
        "reference_error": "VARCHAR",
        "asked_back": "BOOLEAN",
    }

    def __init__(self, name: str, title: str, default_data: str) -> None:
        self.name = name
        self.title = title
        self._default_data = default_data

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.wildtoolbench.data import read_items

        return (item for item in read_items(source.path, lang) if split in (None, item.split))

    def rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.wildtoolbench.judge import RULES

        return RULES[profile]

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        from wildtool.benchmarks.wildtoolbench.judge import task_fields

        return task_fields(item.data, item.units.index(unit))

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.wildtoolbench.data import locate

        return locate(data or self._default_data)

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.wildtoolbench.data import locate, pull

        if self._default_data != "official":
            report("built in; there is nothing to fetch")
            return locate(self._default_data).path
        return pull(file, mirror, report)

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.wildtoolbench.judge import RULES
        from wildtool.benchmarks.wildtoolbench.summary import summarize

        return summarize(verdicts, RULES[profile])

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.wildtoolbench.views import VIEWS

        return VIEWS[profile]

    def published(self) -> Sequence[Published]:
        from wildtool.benchmarks.wildtoolbench.published import published

        return published()

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
