"""API-Bank (EMNLP 2023, arXiv 2304.08244): calls and replies in dialogues with 53 tools that run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark, Profile, part
from wildtool.benchmarks.toleap_platform import TOLEAP_PLATFORM
from wildtool.types import Upstream

REPLIES_MODE = "replies"


class ApiBank(Benchmark):
    """The benchmark, over the dialogues of its levels 1 and 2, which are its splits."""

    name = "apibank"
    title = "API-Bank: 534 calls and 478 replies in 264 dialogues with 53 tools"
    profiles: Mapping[str, str] = {
        "toleap": Profile(
            "ROUGE-L of replies as ToLeaP's table has it; calls beside them, by the authors' rules",
            TOLEAP_PLATFORM,
        ),
        "original": Profile(
            "the rules of its authors: calls are run, replies compared by ROUGE-L",
            Upstream(
                "AlibabaResearch/DAMO-ConvAI",
                "f30ccf22b4e2617fab32958d4c03f5c1f2e7dfcf",
                "2023-11-17",
                "api-bank",
            ),
        ),
        "fixed": "their known faults corrected: values read whole, lists, state, all arguments compared",
    }
    modes: Mapping[str, str] = {
        "chat": "calls and replies, tools in the prompt",
        REPLIES_MODE: "replies alone, as ToLeaP runs it",
    }
    text_modes = tuple(modes)
    headline_parts = ("split",)
    columns: Mapping[str, str] = {
        "task": "VARCHAR",
        "api": "VARCHAR",
        "repeated": "BOOLEAN",
        "rouge_l": "DOUBLE",
        "own_search": "BOOLEAN",
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    original_sampling: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 512}  # as ToLeaP sets them

    data = part("wildtool.benchmarks.apibank.source:DATA")
    load = part("wildtool.benchmarks.apibank.data:load")
    fields = part("wildtool.benchmarks.apibank.data:fields")
    rules = part("wildtool.benchmarks.apibank.rules:rules")
    tables = part("wildtool.benchmarks.apibank.summary:TABLES")
    published = part("wildtool.benchmarks.apibank.summary:PUBLISHED")


APIBANK = ApiBank()
