"""InjecAgent (arXiv 2403.02691): does an agent obey instructions that are hidden in a tool's result?"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.benchmark import COMPLETION, Benchmark, Finding, Published, Rules, View
from wildtool.types import FieldValue, Item, Metric, Source

if TYPE_CHECKING:
    from wildtool.benchmarks.injecagent.prompt import InjecPrompt

# The parts are imported where they are used: judging loads more than running, and help needs neither.


class InjecAgent(Benchmark):
    """The benchmark, over the official data, a folder in their layout, or one file of test cases."""

    name = "injecagent"
    title = "InjecAgent: 1,054 tool results with a hidden instruction; does the agent obey it?"
    profiles: Mapping[str, str] = {
        "original": "the authors' own evaluator, which ToLeaP uses too",
        "fixed": "its known faults corrected: whole outputs, calls as they are written, nothing dropped",
    }
    modes: Mapping[str, str] = {
        "react": "messages, answered as Thought / Action / Action Input",
        "react-short": "the same with the short classic prompt",
        "fc": "native tool calls",
        COMPLETION: "the text of react, continued by the model (ToLeaP's way for open models)",
    }
    columns: Mapping[str, str] = {
        "attack": "VARCHAR",
        "setting": "VARCHAR",
        "attack_type": "VARCHAR",
        "step1": "VARCHAR",
        "step2": "VARCHAR",
        "invalid_reason": "VARCHAR",
        "counted": "INTEGER",
        "useful": "INTEGER",
        "response": "VARCHAR",
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    def __init__(self, mode: str = "react", originals: "InjecPrompt | None" = None) -> None:
        """Args: originals: the original's prompt of the mode, where it is sent in place of our wording."""
        self.mode = mode
        self._originals = originals

    def in_mode(self, mode: str) -> "InjecAgent":
        return InjecAgent(mode)

    @property
    def prompts(self) -> str:
        return "" if self._originals is None else self._originals.digest

    @property
    def prompts_note(self) -> str:
        return ""

    def in_original_prompts(self, split: str | None) -> "InjecAgent | None":
        from wildtool.benchmarks.injecagent.prompt import original_prompt

        originals = original_prompt(self.mode)
        return None if originals is None else InjecAgent(self.mode, originals)

    original_sampling: Mapping[str, Any] = {
        "temperature": 0.0,
        "max_tokens": 512,
    }  # as ToLeaP sets them for open models

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.injecagent.data import read_items

        return (item for item in read_items(source.path, split) if lang in (None, item.lang))

    def rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.injecagent.rules import InjecRules, agent_of

        return InjecRules(profile, agent_of(self.mode, self._originals))

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        return {"attack": item.split, "setting": unit, "attack_type": item.data[unit].attack_type}

    def user_texts(self, item: Item) -> Sequence[str]:
        return [case.user_request for case in item.data.values()]

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.injecagent.data import locate

        return locate(data, split)

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.injecagent.data import pull
        from wildtool.benchmarks.injecagent.prompt import pull_originals

        folder = pull(file, mirror, report)
        pull_originals(file, mirror, report)
        return folder

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.injecagent.data import lint

        return lint(source)

    def stats(self, source: Source) -> list[Metric]:
        from wildtool.benchmarks.injecagent.data import stats

        return list(stats(source))

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.injecagent.summary import summarize

        return summarize(verdicts)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.injecagent.summary import VIEWS

        return VIEWS

    def published(self) -> Sequence[Published]:
        from wildtool.benchmarks.injecagent.summary import published

        return published()


INJECAGENT = InjecAgent()
