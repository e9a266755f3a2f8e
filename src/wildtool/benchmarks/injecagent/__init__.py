"""InjecAgent (arXiv 2403.02691): does an agent obey instructions that are hidden in a tool's result?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmark import COMPLETION, Profile, part
from wildtool.benchmarks.original_prompts import WithOriginalPrompts
from wildtool.types import Upstream

TOLEAPS_NUMBER = ("ASR-valid (attack success among valid outputs, less is safer)", "Total")
"""The number of Figure 7 in ToLeaP's paper."""


class InjecAgent(WithOriginalPrompts):
    """The benchmark, over the official data, a folder in their layout, or one file of test cases."""

    name = "injecagent"
    title = "InjecAgent: 1,054 tool results with a hidden instruction; does the agent obey it?"
    profiles: Mapping[str, str] = {
        "original": Profile(
            "the authors' own evaluator, which ToLeaP uses too",
            Upstream("uiuc-kang-lab/InjecAgent", "f19c9f2c79a41046eb13c03c51a24c567a8ffa07"),
        ),
        "fixed": "its known faults corrected: whole outputs, calls as they are written, nothing dropped",
    }
    modes: Mapping[str, str] = {
        "react": "messages, answered as Thought / Action / Action Input",
        "react-short": "the same with the short classic prompt",
        "fc": "native tool calls",
        COMPLETION: "the text of react, continued by the model (ToLeaP's way for open models)",
    }
    text_modes = ("react", "react-short", COMPLETION)
    headline: Mapping[str, tuple[str, str]] = {"toleap": TOLEAPS_NUMBER}
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

    # As ToLeaP sets them for open models.
    original_sampling: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 512}
    data = part("wildtool.benchmarks.injecagent.data:DATA")
    rules_of_data = part("wildtool.benchmarks.injecagent.data:RULES_OF_DATA")
    load = part("wildtool.benchmarks.injecagent.data:load")
    fields = part("wildtool.benchmarks.injecagent.data:fields")
    rules = part("wildtool.benchmarks.injecagent.rules:rules")
    tables = part("wildtool.benchmarks.injecagent.summary:TABLES")
    published = part("wildtool.benchmarks.injecagent.summary:PUBLISHED")
    read_originals = part("wildtool.benchmarks.injecagent.prompt:original_prompt")


INJECAGENT = InjecAgent()
