"""BFCL (Berkeley Function-Calling Leaderboard, v3 and v4): calls in Python, Java and JavaScript, or none."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark, Profile, part
from wildtool.types import Role, Upstream


class BFCL(Benchmark):
    """The benchmark, over the official data or a folder of v3 or v4 files; its splits are its categories."""

    name = "bfcl"
    title = "BFCL: 3,641 requests for calls or for none, 800 multi-turn dialogues, 665 questions to memories and the web"
    profiles: Mapping[str, str] = {
        "official": Profile(
            "what the published evaluator computes, verdict for verdict",
            Upstream(
                "ShishirPatil/gorilla",
                "6ea57973c7a6097fd7c5915698c54c17c5b1b6c8",
                "2026-03-23",
                "berkeley-function-call-leaderboard",
            ),
        ),
        "fixed": "its known faults corrected: entries that no call fulfils, lost values, greedy matching, loose answers",
    }
    modes: Mapping[str, str] = {
        "fc": "native tool calls",
        "prompt": "functions in the system prompt, calls in brackets",
    }
    text_modes = ("prompt",)
    roles: Mapping[str, Role] = {
        "web": Role("the user's endpoint for searches and pages (web_search)", default="web/search")
    }
    headline_parts = ("split",)
    columns: Mapping[str, str] = {
        "version": "VARCHAR",
        "decoded_calls": "INTEGER",
        "reference_error": "VARCHAR",
    }
    card = Path(__file__).parent / "card.md"

    original_sampling: Mapping[str, Any] = {"temperature": 0.001, "store": False}
    data = part("wildtool.benchmarks.bfcl.source:DATA")
    load = part("wildtool.benchmarks.bfcl.data:load")
    fields = part("wildtool.benchmarks.bfcl.data:fields")
    rules = part("wildtool.benchmarks.bfcl.judge:rules")
    tables = part("wildtool.benchmarks.bfcl.summary:TABLES")
    prompts = part("wildtool.benchmarks.bfcl.package:PROMPTS_DIGEST")
    prompts_note = ""

    def in_original_prompts(self, split: str | None) -> "BFCL":
        return self  # there are no others


BFCL_BENCHMARK = BFCL()
