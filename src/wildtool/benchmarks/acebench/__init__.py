"""ACEBench (arXiv 2501.12851): single and multi-turn calls, special requests, stateful episodes; English and Chinese."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.types import (
    Ask,
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

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.prompts.originals import Originals

# The parts are imported where they are used: judging loads more than playing, and help needs neither.


class ACEBench:
    """The benchmark, over the official data, our finance episodes, or a folder in their form."""

    name = "acebench"
    title = "ACEBench: 2,040 records of calls, special requests and stateful episodes in English and Chinese"
    profiles: Mapping[str, str] = {
        "official": "what the published evaluator computes, verdict for verdict",
        "fixed": "its known faults corrected: text kept as written, values compared, a call counted once",
    }
    modes: Mapping[str, str] = {
        "text": "calls in brackets, prompted in full",
        "condensed": "calls in brackets, prompted with role and output format only",
        "minimal": "calls in brackets, prompted in two lines",
        "fc": "native tool calls",
    }
    roles: Mapping[str, Role] = {
        "user": Role("the simulated user of multi-turn episodes", default="baseline/user")
    }
    gold_styles = ("parallel",)
    card = Path(__file__).parent / "card.md"

    def __init__(self, mode: str = "text", originals: "Originals | None" = None) -> None:
        """Args: originals: the original's prompts, where they are sent instead of ours."""
        self.mode = mode
        self._originals = originals

    @property
    def prompts(self) -> str:
        return "" if self._originals is None else self._originals.digest

    @property
    def prompts_note(self) -> str:
        from wildtool.benchmarks.acebench.prompts.originals import NOTE

        return NOTE

    @property
    def original_sampling(self) -> Mapping[str, Any]:
        from wildtool.benchmarks.acebench.prompts.originals import ORIGINAL_SAMPLING

        return ORIGINAL_SAMPLING

    def in_original_prompts(self, split: str | None) -> "ACEBench | None":
        from wildtool.benchmarks.acebench.data import FINANCE, categories_of
        from wildtool.benchmarks.acebench.source import read_prompts

        if self.mode != "text" or (split is not None and set(categories_of(split)) <= set(FINANCE)):
            return None
        originals = read_prompts()
        return None if originals is None else ACEBench(self.mode, originals)

    @property
    def columns(self) -> Mapping[str, str]:
        from wildtool.benchmarks.acebench.summary import columns

        return columns()

    def in_mode(self, mode: str) -> "ACEBench":
        return ACEBench(mode)

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.acebench.source import locate

        return locate(data, split)

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.acebench.data import categories_of, read_items

        categories = None if split is None else categories_of(split)
        return read_items(source.path, categories, None if lang == "both" else lang)

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        from wildtool.benchmarks.acebench.play import play_item

        await play_item(item, ask, profile, self.mode, in_order=in_order, originals=self._originals)

    def episode(self, item: Item, unit: str, profile: str) -> Episode:
        from wildtool.benchmarks.acebench.play import new_episode

        return new_episode(item, item.units.index(unit), profile, self.mode, originals=self._originals)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        from wildtool.benchmarks.acebench.judge import judge_item

        return judge_item(item, transcripts, profile, self.mode)

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.acebench.summary import summarize

        return summarize(verdicts, profile)

    def mutants(self, item: Item, profile: str) -> Iterable[Mutant]:
        from wildtool.benchmarks.acebench.audit.mutants import mutants

        return mutants(item, profile, self.mode)

    def explain(self, item: Item, mutant: Mutant, profile: str) -> str:
        from wildtool.benchmarks.acebench.audit.explain import explain

        return explain(item, mutant, profile, self.mode)

    def explain_gold(self, item: Item, unit: str, profile: str) -> str:
        from wildtool.benchmarks.acebench.audit.explain import explain_gold

        return explain_gold(item, unit, profile, self.mode)

    def trace(self, item: Item, unit: str, transcript: Transcript, profile: str) -> Trace:
        from wildtool.benchmarks.acebench.trace import trace

        return trace(item, unit, transcript, profile, self.mode, self._originals)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.acebench.views import views

        return views(profile)

    def published(self) -> Sequence[Published]:
        from wildtool.benchmarks.acebench.published import published

        return published()

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.acebench.source import pull

        return pull(file, mirror, report)

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.acebench.lint import lint_folder

        return lint_folder(source.path)

    def stats(self, source: Source) -> list[Metric]:
        from wildtool.benchmarks.acebench.stats import stats

        return stats(source.path)

    def read_results(self, path: Path) -> Iterator[tuple[str, str, dict[str, Transcript]]] | None:
        from wildtool.benchmarks.acebench.results import is_result_file, read_results

        return read_results(path) if is_result_file(path) else None


ACEBENCH = ACEBench()
