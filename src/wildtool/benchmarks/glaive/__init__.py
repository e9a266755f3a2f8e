"""Glaive function calling, as ToLeaP scores it: the first call of a dialogue, answered as a JSON object in text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmark import COMPLETION, Benchmark, Profile, part
from wildtool.benchmarks.toleap_platform import TOLEAP_PLATFORM


class Glaive(Benchmark):
    """The benchmark, over the records that `data pull` converted, or any file of Glaive's or ShareGPT's form."""

    name = "glaive"
    title = "Glaive: first function calls of 52,000 dialogues, as ToLeaP converts and scores them"
    profiles: Mapping[str, str] = {
        "toleap": Profile("what the ToLeaP platform computes, count for count", TOLEAP_PLATFORM),
        "fixed": "its known faults corrected: each record counts once, values by meaning",
    }
    modes: Mapping[str, str] = {
        "chat": "one message, answered in text",
        COMPLETION: "the same as one text that the model continues",
    }
    text_modes = tuple(modes)
    columns: Mapping[str, str] = dict.fromkeys(
        ("counted", "function_ok", "names_ok", "values_ok", "invalid_gold", "invalid_prediction"), "INTEGER"
    )
    card = Path(__file__).parent / "card.md"

    original_sampling: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 512}  # as ToLeaP sets them

    data = part("wildtool.benchmarks.glaive.data:DATA")
    load = part("wildtool.benchmarks.glaive.data:load")
    rules = part("wildtool.benchmarks.glaive.judge:rules")
    tables = part("wildtool.benchmarks.glaive.summary:TABLES")


GLAIVE = Glaive()
