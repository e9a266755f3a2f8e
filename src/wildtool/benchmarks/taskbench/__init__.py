"""TaskBench (arXiv 2311.18760): a request becomes a plan of steps, tools with arguments, and links between them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from wildtool.benchmark import COMPLETION, Profile, part
from wildtool.benchmarks.original_prompts import WithOriginalPrompts
from wildtool.benchmarks.toleap_platform import TOLEAP_PLATFORM
from wildtool.types import Upstream

PARTS = ("node", "edge", "name", "value")
"""What is compared of a plan: its tools, its links, names of arguments, names and values of arguments."""
_AS_AUTHORS = {
    "temperature": 0.2,
    "top_p": 0.1,
    "max_tokens": 2000,
    "frequency_penalty": 0,
    "presence_penalty": 1.05,
}
"""How its authors sample."""


class TaskBench(WithOriginalPrompts):
    """The benchmark, over the labels of its three domains, which are its splits."""

    name = "taskbench"
    title = "TaskBench: 17,450 requests to plan as a graph of tools, in three domains"
    profiles: Mapping[str, str] = {
        "toleap": Profile("what ToLeaP computes, sample by sample", TOLEAP_PLATFORM),
        "original": Profile(
            "what its authors compute: micro averages over the samples that can be read",
            Upstream(
                "microsoft/JARVIS", "c62e0faac76c4a2907cabe2cfe4bbe5f2e613400", "2024-09-26", "taskbench"
            ),
        ),
        "fixed": "their known faults corrected: links compared as links, repeats counted, one tool is a plan",
    }
    modes: Mapping[str, str] = {
        "chat": "the tools in the prompt, as ToLeaP asks",
        "graph": "the tools and the links between them in the prompt",
        "authors": "as its authors ask: another wording of each request, tools with the names of their parameters",
        **{f"authors-{count}": f"the same after {count} solved examples" for count in (1, 2, 3)},
        COMPLETION: "one text that the model continues (ToLeaP's streaming)",
    }
    text_modes = tuple(modes)
    # As in Figure 7 of ToLeaP's paper.
    headline: Mapping[str, tuple[str, str]] = dict.fromkeys(
        profiles, ("mean of domains", "Parameter Name & Value F1")
    )
    headline_parts = ("split",)
    columns: Mapping[str, str] = {
        "structure": "VARCHAR",
        "tools": "INTEGER",
        "rouge_1": "DOUBLE",
        "rouge_2": "DOUBLE",
        # Of each part its F1 in the sample, its hits, and how many were predicted and gold together.
        **{f"{part}_f1": "DOUBLE" for part in PARTS},
        **{f"{part}_hits": "INTEGER" for part in PARTS},
        **{f"{part}_sizes": "INTEGER" for part in PARTS},
        "similarity": "DOUBLE",
        "reference_error": "VARCHAR",
        # What the original counts a sample for.
        "counts_steps": "BOOLEAN",
        "counts_arguments": "BOOLEAN",
        "counts_nodes": "BOOLEAN",
    }
    # As ToLeaP sets them for open models.
    original_sampling: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 512}
    card = Path(__file__).parent / "card.md"
    data = part("wildtool.benchmarks.taskbench.data:DATA")
    load = part("wildtool.benchmarks.taskbench.data:load")
    fields = part("wildtool.benchmarks.taskbench.data:fields")
    rules = part("wildtool.benchmarks.taskbench.rules:rules")
    tables = part("wildtool.benchmarks.taskbench.summary:TABLES")
    read_originals = part("wildtool.benchmarks.taskbench.originals:prompt_in_mode")

    @property
    def prompts_note(self) -> str:
        return f"as {'its authors ask' if self._as_authors else 'ToLeaP asks'}"

    def in_mode(self, mode: str) -> Self:
        other = super().in_mode(mode)
        other.original_sampling = _AS_AUTHORS if other._as_authors else type(self).original_sampling
        return other

    @property
    def _as_authors(self) -> bool:
        return self.mode.startswith("authors")


TASKBENCH = TaskBench()
