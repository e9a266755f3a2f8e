"""T-Eval (arXiv 2312.14033): instruct, plan, reason, retrieve, understand and review, each ability on its own."""

from collections.abc import Mapping
from pathlib import Path

from wildtool.benchmark import Benchmark, Profile, part
from wildtool.benchmarks.toleap_platform import TOLEAP_PLATFORM
from wildtool.types import Upstream


class TEval(Benchmark):
    """The benchmark, over the eight test sets, which are its splits."""

    name = "teval"
    title = "T-Eval: six abilities of tool use, each on its own, in eleven scores"
    profiles: Mapping[str, str] = {
        "toleap": Profile("what ToLeaP computes, record by record", TOLEAP_PLATFORM),
        "original": Profile(
            "what its authors' evaluator computes: more arguments than asked for are free",
            Upstream("open-compass/T-Eval", "58f22406404d7e2a4f36856a19c7f4dc28a0a5f0", "2024-04-02"),
        ),
        "fixed": "their known faults corrected: unmatched steps get no points, templates are taken as written",
    }
    modes: Mapping[str, str] = {"chat": "messages, answered in text"}
    text_modes = tuple(modes)
    # As in Figure 7 of ToLeaP's paper.
    headline: Mapping[str, tuple[str, str]] = dict.fromkeys(profiles, ("scores", "mean of columns"))
    headline_parts = ("split",)
    columns: Mapping[str, str] = {
        "ability": "VARCHAR",
        "form": "VARCHAR",
        "parsed": "BOOLEAN",
        **dict.fromkeys(("format", "arguments", "precision", "recall", "f1"), "DOUBLE"),
        **dict.fromkeys(("thought", "name", "args", "quality"), "DOUBLE"),
        "encoder": "VARCHAR",
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    data = part("wildtool.benchmarks.teval.data:DATA")
    load = part("wildtool.benchmarks.teval.data:load")
    fields = part("wildtool.benchmarks.teval.data:fields")
    rules = part("wildtool.benchmarks.teval.rules:rules")
    tables = part("wildtool.benchmarks.teval.summary:TABLES")
    published = part("wildtool.benchmarks.teval.summary:PUBLISHED")


TEVAL = TEval()
