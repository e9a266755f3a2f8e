"""ACEBench (arXiv 2501.12851): single and multi-turn calls, special requests, stateful episodes; English and Chinese."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.benchmark import Benchmark, part
from wildtool.types import Role

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.prompts.originals import Originals


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
        "user": Role("the simulated user of multi-turn episodes", default="baseline/user", max_tokens=4096)
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

    data = part("wildtool.benchmarks.acebench.source:DATA")
    load = part("wildtool.benchmarks.acebench.data:load")
    fields = part("wildtool.benchmarks.acebench.judge:fields")
    rules = part("wildtool.benchmarks.acebench.judge:rules")
    tables = part("wildtool.benchmarks.acebench.summary:TABLES")
    published = part("wildtool.benchmarks.acebench.summary:PUBLISHED")
    original_sampling = part("wildtool.benchmarks.acebench.prompts.originals:ORIGINAL_SAMPLING")
    prompts_note = part("wildtool.benchmarks.acebench.prompts.originals:NOTE")
    in_original_prompts = part("wildtool.benchmarks.acebench.source:in_original_prompts")

    def __init__(self, mode: str = "text", originals: "Originals | None" = None) -> None:
        """Args: originals: the original's prompts, where they are sent in place of our wording."""
        self.mode = mode
        self.originals = originals

    @property
    def prompts(self) -> str:
        return "" if self.originals is None else self.originals.digest

    def in_mode(self, mode: str) -> "ACEBench":
        return ACEBench(mode)


ACEBENCH = ACEBench()
