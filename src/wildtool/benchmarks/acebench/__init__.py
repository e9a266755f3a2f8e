"""ACEBench (arXiv 2501.12851): single and multi-turn calls, special requests, stateful episodes; English and Chinese."""

from collections.abc import Mapping
from pathlib import Path

from wildtool.benchmark import Profile, part
from wildtool.benchmarks.original_prompts import WithOriginalPrompts
from wildtool.types import Role, Upstream

REPOSITORY = "ACEBench/ACEBench"


class ACEBench(WithOriginalPrompts):
    """The benchmark, over the official data, our finance episodes, or a folder in their form."""

    name = "acebench"
    title = "ACEBench: 2,040 records of calls, special requests and stateful episodes in English and Chinese"
    profiles: Mapping[str, str] = {
        "official": Profile(
            "what the published evaluator computes, verdict for verdict",
            Upstream(REPOSITORY, "56dd66cf6439b0d9655ee1b353e4cd745c6f664e", "2025-10-29", version="2025-10"),
        ),
        "official-2025-08": Profile(
            "the same of August 2025, which the published tables are nearest to",
            Upstream(REPOSITORY, "e6db74b735ead22c24f27367606a9408573b848f", "2025-08-24", version="2025-08"),
        ),
        "fixed": "its known faults corrected: text kept as written, values compared, a call counted once",
    }
    modes: Mapping[str, str] = {
        "text": "calls in brackets, prompted in full",
        "condensed": "calls in brackets, prompted with role and output format only",
        "minimal": "calls in brackets, prompted in two lines",
        "fc": "native tool calls",
    }
    text_modes = ("text", "condensed", "minimal")
    roles: Mapping[str, Role] = {
        "user": Role("the simulated user of multi-turn episodes", default="baseline/user", max_tokens=4096)
    }
    headline_parts = ("split", "lang")
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
    read_originals = part("wildtool.benchmarks.acebench.source:originals_of")


ACEBENCH = ACEBench()
