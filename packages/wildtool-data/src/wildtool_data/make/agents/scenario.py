"""The sandboxes that agent items are made over: their classes, tools, tables and files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import AGENT, FINANCE, AgentRecord, is_multi_turn_agent, read_category
from wildtool.benchmarks.acebench.sandbox.edition import Edition, read_edition
from wildtool.benchmarks.acebench.sandbox.extract import MESSAGES_FILE, STATE_FILES
from wildtool.data.data_set import data_of
from wildtool.errors import DataError, UsageError
from wildtool_data.make.core.plan import Lang

AGENT_KINDS = (*AGENT, *FINANCE)
"""Kinds of agent items, which are categories of the benchmark."""


@dataclass(frozen=True, slots=True)
class AgentScenario:
    """A sandbox with the tools that agents are offered in it."""

    kind: str
    lang: Lang
    folder: Path
    """Holds the sandbox's files."""
    edition: Edition
    functions: Mapping[tuple[str, ...], tuple[dict[str, Any], ...]]
    """By involved classes the definitions of the tools that episodes with them offer."""

    @property
    def multi_turn(self) -> bool:
        """Whether the agent talks with a simulated user."""
        return is_multi_turn_agent(self.kind)


def read_scenario(kind: str, lang: Lang, folder: Path | None = None) -> AgentScenario:
    """The sandbox of a kind of agent items.

    Args:
        folder: of ACEBench's files; None for the pulled ones, and for finance the bank that comes with wildtool.

    Raises UsageError or DataError where there is no such sandbox.
    """
    try:
        place = data_of(ACEBENCH).locate(None if folder is None else str(folder), kind).path
        edition = read_edition(place, lang)
        records = [record for record in read_category(place, lang, kind) if isinstance(record, AgentRecord)]
    except DataError as error:
        raise UsageError(
            f"{kind} items need the sandbox of ACEBench's episodes: {error}; agent_finance_multi_step and "
            "agent_finance_multi_turn need nothing"
        ) from error
    functions = {record.involved_classes: record.functions for record in reversed(records)}
    if not functions:
        raise UsageError(f"{place}: has no episode of {kind}, which would tell the tools of its sandbox")
    return AgentScenario(kind, lang, place, edition, functions)


def sandbox_files(scenarios: Mapping[tuple[str, Lang], AgentScenario]) -> dict[str, Mapping[str, Any]]:
    """The sandbox's files for a folder of items, by name: those of all scenarios together."""
    files: dict[str, dict[str, Any]] = {}
    for scenario in scenarios.values():
        for name in (MESSAGES_FILE, STATE_FILES[scenario.lang]):
            files.setdefault(name, {}).update(json.loads((scenario.folder / name).read_bytes()))
    return dict(files)
