"""TaskBench (arXiv 2311.18760): a request becomes a plan of steps, tools with arguments, and links between them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.benchmark import COMPLETION, Benchmark, Finding, Rules, View
from wildtool.types import FieldValue, Item, Metric, Source

if TYPE_CHECKING:
    from wildtool.benchmarks.taskbench.originals import PublishedPrompt

# The parts are imported where they are used: judging loads more than running, and help needs neither.

PARTS = ("node", "edge", "name", "value")
"""What is compared of a plan: its tools, its links, names of arguments, names and values of arguments."""


class TaskBench(Benchmark):
    """The benchmark, over the labels of its three domains, which are its splits."""

    name = "taskbench"
    title = "TaskBench: 17,450 requests to plan as a graph of tools, in three domains"
    profiles: Mapping[str, str] = {
        "toleap": "what ToLeaP computes, sample by sample",
        "original": "what its authors compute: micro averages over the samples that can be read",
        "fixed": "their known faults corrected: links compared as links, repeats counted, one tool is a plan",
    }
    modes: Mapping[str, str] = {
        "chat": "the tools in the prompt, as ToLeaP asks",
        "graph": "the tools and the links between them in the prompt",
        "authors": "as its authors ask: another wording of each request, tools with the names of their parameters",
        **{f"authors-{count}": f"the same after {count} solved examples" for count in (1, 2, 3)},
        COMPLETION: "one text that the model continues (ToLeaP's streaming)",
    }
    # As in Figure 7 of ToLeaP's paper.
    headline: Mapping[str, tuple[str, str]] = dict.fromkeys(
        profiles, ("mean of domains", "Parameter Name & Value F1")
    )
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
    card = Path(__file__).parent / "card.md"
    _originals: "PublishedPrompt | None" = None
    """The original prompt, where it is sent in place of our wording."""

    @property
    def prompts(self) -> str:
        return "" if self._originals is None else self._originals.digest

    @property
    def prompts_note(self) -> str:
        return (
            ""
            if self._originals is None
            else f"as {'its authors ask' if self._as_authors else 'ToLeaP asks'}"
        )

    def in_original_prompts(self, split: str | None) -> "TaskBench | None":
        from wildtool.benchmarks.taskbench.originals import published_prompt

        other = copy(self)
        other._originals = None if self.mode == "graph" else published_prompt()
        return None if other._originals is None else other

    original_sampling: Mapping[str, Any] = {
        "temperature": 0.0,
        "max_tokens": 512,
    }  # as ToLeaP sets them for open models

    def in_mode(self, mode: str) -> "TaskBench":
        other = super().in_mode(mode)
        if other._as_authors:
            penalties = {"frequency_penalty": 0, "presence_penalty": 1.05}
            other.original_sampling = {"temperature": 0.2, "top_p": 0.1, "max_tokens": 2000, **penalties}
        return other

    @property
    def _as_authors(self) -> bool:
        return self.mode.startswith("authors")

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        from wildtool.benchmarks.taskbench.source import read_items

        items = read_items(source.path, split)
        if self._as_authors:
            from wildtool.benchmarks.taskbench.originals import as_authors_ask

            items = as_authors_ask(source.path, items, int(self.mode.partition("-")[2] or 0))
        return items if lang is None else (item for item in items if item.lang == lang)

    def rules(self, profile: str) -> Rules:
        from wildtool.benchmarks.taskbench.rules import taskbench_rules

        return taskbench_rules(profile, self.mode, self._originals)

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        return {"structure": item.data.structure, "tools": len(item.data.gold.nodes)}

    def user_texts(self, item: Item) -> Sequence[str]:
        return [item.data.request]

    def locate(self, data: str | None, split: str | None = None) -> Source:
        from wildtool.benchmarks.taskbench.source import locate

        return locate(data, split)

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        from wildtool.benchmarks.taskbench.source import pull

        return pull(file, mirror, report)

    def lint(self, source: Source) -> Iterable[Finding]:
        from wildtool.benchmarks.taskbench.lint import lint_source

        return lint_source(source)

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        from wildtool.benchmarks.taskbench.summary import summarize

        return summarize(verdicts, profile)

    def views(self, profile: str) -> Sequence[View]:
        from wildtool.benchmarks.taskbench.views import VIEWS

        return VIEWS


TASKBENCH = TaskBench()
