"""Seal-Tools (arXiv 2405.08355): one request, several calls, with given tools or with those found among 4,076."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmark import COMPLETION, RETRIEVAL, Benchmark, Profile, part
from wildtool.benchmarks.toleap_platform import TOLEAP_PLATFORM
from wildtool.types import Role, Upstream


class SealTools(Benchmark):
    """The benchmark, over the official data, a folder in their layout, or one file of records."""

    name = "sealtools"
    title = "Seal-Tools: 2,054 requests for lists of calls, with five tools or all 4,076"
    profiles: Mapping[str, str] = {
        "toleap": Profile("what the ToLeaP platform computes, record for record", TOLEAP_PLATFORM),
        "original": Profile(
            "the authors' own evaluator",
            Upstream("fairyshine/Seal-Tools", "ce753ecd60ed08dd376984035de531ab8421f1c6", "2024-11-05"),
        ),
        "fixed": "its known faults corrected: calls counted once, quotes and brackets kept, values by meaning",
    }
    modes: Mapping[str, str] = {
        "chat": "one message with five tools",
        COMPLETION: "the same as one text that the model continues (ToLeaP's streaming)",
        RETRIEVAL: "one message with the tools that a retriever finds among all",
    }
    text_modes = tuple(modes)
    roles: Mapping[str, Role] = {"retriever": Role("finds tools in the pool", default="bm25", searches=True)}
    gold_styles = ("parallel", "literal")
    # As in Figure 7 of ToLeaP's paper.
    headline: Mapping[str, tuple[str, str]] = dict.fromkeys(
        profiles, ("mean of splits", "parameter F1 (F1_param)")
    )
    headline_parts = ("split",)
    columns: Mapping[str, str] = {
        "shape": "VARCHAR",
        "easy": "BOOLEAN",
        **dict.fromkeys(("parsed", "gold_api", "gold_param", "pred_api", "pred_param", "ok_api"), "INTEGER"),
        **dict.fromkeys(("ok_param", "missing_api", "wrong_api", "unknown_param", "wrong_value"), "INTEGER"),
        **dict.fromkeys(("retrieved", "recalled", "recallable"), "INTEGER"),
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    original_sampling: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 512}  # as ToLeaP sets them

    data = part("wildtool.benchmarks.sealtools.data:DATA")
    pooled_data = part("wildtool.benchmarks.sealtools.data:POOLED_DATA")
    rules_of_data = part("wildtool.benchmarks.sealtools.data:RULES_OF_DATA")
    load = part("wildtool.benchmarks.sealtools.data:load")
    fields = part("wildtool.benchmarks.sealtools.data:fields")
    rules = part("wildtool.benchmarks.sealtools.rules:rules")
    tables = part("wildtool.benchmarks.sealtools.summary:TABLES")

    def in_mode(self, mode: str) -> "SealTools":
        other = super().in_mode(mode)
        if mode == RETRIEVAL:
            other.data = self.pooled_data
        return other


SEALTOOLS = SealTools()
