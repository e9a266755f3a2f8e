"""RoTBench (arXiv 2401.08326): the first call of a dialogue when names of tools and parameters carry noise."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmark import COMPLETION, Benchmark, Profile, part
from wildtool.benchmarks.toleap_platform import TOLEAP_PLATFORM
from wildtool.types import Upstream


class RoTBench(Benchmark):
    """The benchmark, over the official data, a folder in their layout, or one file."""

    name = "rotbench"
    title = "RoTBench: 840 first calls and 560 third calls under five levels of noise in names"
    profiles: Mapping[str, str] = {
        "toleap": Profile("what the ToLeaP platform computes, verdict for verdict", TOLEAP_PLATFORM),
        "original": Profile(
            "the authors' own evaluator; where it raises, the reply is wrong",
            Upstream("Junjie-Ye/RoTBench", "637e43ae9a978036774c92bb2ab11a83609e304b", "2025-05-13"),
        ),
        "fixed": "its known faults corrected: empty inputs, text around the call, values of any type",
    }
    modes: Mapping[str, str] = {
        "chat": "messages, answered in text",
        COMPLETION: "one text that the model continues (ToLeaP's streaming)",
    }
    text_modes = tuple(modes)
    # As in Figure 7 of ToLeaP's paper.
    headline: Mapping[str, tuple[str, str]] = dict.fromkeys(
        profiles, ("content filling (CF)", "mean of environments")
    )
    columns: Mapping[str, str] = {
        "turn": "VARCHAR",
        "environment": "VARCHAR",
        "noise": "VARCHAR",
        "scenario": "VARCHAR",
        "level": "INTEGER",
        "reference_error": "VARCHAR",
    }
    original_sampling: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 512}  # as ToLeaP sets them
    card = Path(__file__).parent / "card.md"
    data = part("wildtool.benchmarks.rotbench.data:DATA")
    rules_of_data = part("wildtool.benchmarks.rotbench.data:RULES_OF_DATA")
    load = part("wildtool.benchmarks.rotbench.data:load")
    fields = part("wildtool.benchmarks.rotbench.data:fields")
    rules = part("wildtool.benchmarks.rotbench.judge:rules")
    tables = part("wildtool.benchmarks.rotbench.summary:TABLES")
    published = part("wildtool.benchmarks.rotbench.summary:PUBLISHED")


ROTBENCH = RoTBench()
