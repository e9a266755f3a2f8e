"""BFCL (Berkeley Function-Calling Leaderboard, v3 and v4): calls in Python, Java and JavaScript, or none."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark, Finding, Rules, View
from wildtool.errors import UsageError
from wildtool.types import FieldValue, Item, Metric, Role, Source

# The parts are imported where they are used: judging loads more than running, and help needs neither.


class BFCL(Benchmark):
    """The benchmark, over the official data or a folder of v3 or v4 files; its splits are its categories."""

    name = "bfcl"
    title = "BFCL: 3,641 requests for calls or for none, 800 multi-turn dialogues, 665 questions to memories and the web"
    profiles: Mapping[str, str] = {
        "official": "what the published evaluator computes, verdict for verdict",
        "fixed": "its known faults corrected: entries that no call fulfils, lost values, greedy matching, loose answers",
    }
    modes: Mapping[str, str] = {
        "fc": "native tool calls",
        "prompt": "functions in the system prompt, calls in brackets",
    }
    roles: Mapping[str, Role] = {
        "web": Role("the user's endpoint for searches and pages (web_search)", default="web/search")
    }
    columns: Mapping[str, str] = {
        "version": "VARCHAR",
        "decoded_calls": "INTEGER",
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.bfcl.data import read_items

        return (item for item in read_items(source.path, split) if lang in (None, item.lang))

    def __init__(self, mode: str = "fc") -> None:
        self.mode = mode
        self._rules: dict[str, Rules] = {}

    @property
    def prompts(self) -> str:
        from wildtool.benchmarks.bfcl.package import PACKAGES

        return PACKAGES["v4"].sha256

    @property
    def prompts_note(self) -> str:
        return ""

    original_sampling: Mapping[str, Any] = {"temperature": 0.001, "store": False}

    def in_original_prompts(self, split: str | None) -> "BFCL":
        return self  # there are no others

    def in_mode(self, mode: str) -> "BFCL":
        return BFCL(mode)

    def rules(self, profile: str) -> Rules:
        # Every entry is judged by them; making them takes as long as judging one.
        if profile not in self._rules:
            self._rules[profile] = self._make_rules(profile)
        return self._rules[profile]

    def _make_rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.bfcl.agentic import MemoryRules, has_answer, has_answer_strictly
        from wildtool.benchmarks.bfcl.fixed import FixedMultiTurnRules, FixedRules
        from wildtool.benchmarks.bfcl.multi_turn_rules import EntryRules, MultiTurnRules
        from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
        from wildtool.benchmarks.bfcl.rules import NativeCalls, SingleTurnRules, WrittenCalls
        from wildtool.benchmarks.bfcl.web_search import SearchRules

        native = self.mode == "fc"
        official = profile == "official"
        single, multi = (SingleTurnRules, MultiTurnRules) if official else (FixedRules, FixedMultiTurnRules)
        forms = {name: single(WrittenCalls(form, hints=2)) for name, form in PROMPT_FORMS.items()}
        form = NativeCalls() if native else WrittenCalls()
        dialogues = multi(native)
        is_right = has_answer if official else has_answer_strictly
        agentic = (dialogues.dialogue, is_right)
        return EntryRules(single(form), dialogues, MemoryRules(*agentic), SearchRules(*agentic), forms)

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        return {"version": item.data.version}

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.bfcl.categories import FORMAT_SENSITIVITY, split_categories
        from wildtool.benchmarks.bfcl.languages.source_code import parser_of
        from wildtool.benchmarks.bfcl.source import locate

        if split == FORMAT_SENSITIVITY and self.mode == "fc":
            raise UsageError(f"{split} compares forms of prompts; add --mode prompt")
        if self.mode == "prompt":  # a missing extra is named before anything is sent
            for language in {category.language for category in split_categories(split)} - {"python"}:
                parser_of(language)
        return locate(data, split)

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.bfcl.source import pull

        return pull(file, mirror, report)

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.bfcl.lint import lint_entries

        return lint_entries(source.path)

    def stats(self, source: Source) -> list[Metric]:
        from wildtool.benchmarks.bfcl.lint import stats

        return list(stats(source.path))

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.bfcl.summary import summarize

        return summarize(verdicts)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.bfcl.summary import VIEWS

        return VIEWS


BFCL_BENCHMARK = BFCL()
