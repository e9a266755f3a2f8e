"""ACEBench (arXiv 2501.12851): single and multi-turn calls, special requests, stateful episodes; English and Chinese."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.benchmark import Benchmark, Finding, Published, Rules, View, part
from wildtool.types import FieldValue, Item, Metric, Role, Source, Transcript

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.prompts.originals import Originals

# The parts are imported where they are used: judging loads more than playing, and help needs neither.


class ACEBench(Benchmark):
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
    columns: Mapping[str, str] = {
        "section": "VARCHAR",
        "dialogue": "INTEGER",
        "turn": "INTEGER",
        "process": "DOUBLE",
        "error_label": "VARCHAR",
        "stray_error": "VARCHAR",
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    def __init__(self, mode: str = "text", originals: "Originals | None" = None) -> None:
        """Args: originals: the original's prompts, where they are sent in place of our wording."""
        self.mode = mode
        self._originals = originals

    @property
    def prompts(self) -> str:
        return "" if self._originals is None else self._originals.digest

    @property
    def prompts_note(self) -> str:
        from wildtool.benchmarks.acebench.prompts.originals import NOTE

        return NOTE

    original_sampling = part("wildtool.benchmarks.acebench.prompts.originals:ORIGINAL_SAMPLING")

    def in_original_prompts(self, split: str | None) -> "ACEBench | None":
        from wildtool.benchmarks.acebench.source import original_prompts

        originals = original_prompts(self.mode, split)
        return None if originals is None else ACEBench(self.mode, originals)

    def in_mode(self, mode: str) -> "ACEBench":
        return ACEBench(mode)

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        from wildtool.benchmarks.acebench.judge import unit_fields

        return unit_fields(item, unit)

    def user_texts(self, item: Item) -> Sequence[str]:
        return [text for record in item.data.records for text in record.user_texts]

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.acebench.source import locate

        return locate(data, split)

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.acebench.data import categories_of, read_items

        categories = None if split is None else categories_of(split)
        return read_items(source.path, categories, None if lang == "both" else lang)

    def rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.acebench.judge import PROFILE_RULES
        from wildtool.benchmarks.acebench.play import channel_of
        from wildtool.benchmarks.acebench.rules import WholeRules

        return WholeRules(PROFILE_RULES[profile], channel_of(self.mode, self._originals))

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.acebench.summary import summarize

        return summarize(verdicts, profile)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.acebench.views import VIEWS

        return VIEWS

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
