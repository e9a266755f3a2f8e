"""The folder of a set of agent items: files for the benchmark with those of the sandbox, losses and provenance."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool_data.make.agents.item import AgentItem
from wildtool_data.make.agents.scenario import AgentScenario, sandbox_files
from wildtool_data.make.core.files import LOSSES_FILE, json_line, storage_errors, write_whole_file
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.items.output import write_item_files

KeptItems = Sequence[tuple[AgentItem, Mapping[str, Any]]]
"""Items, each with how it was made."""


def write_agent_files(kept: KeptItems, out: Path) -> None:
    """Writes the items and their provenance. Raises StorageError."""
    rows = [{"ids": [item.id], **made_by} for item, made_by in kept]
    with storage_errors(out):
        write_item_files(_files([item for item, _ in kept]), rows, out)


def write_agent_set(kept: KeptItems, losses: Sequence[Mapping[str, Any]], out: Path) -> None:
    """The same with the losses of a set that was made without models."""
    with storage_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        write_whole_file(out / LOSSES_FILE, map(json_line, losses))
    write_agent_files(kept, out)


def _files(items: Sequence[AgentItem]) -> dict[Path, list[str]]:
    """By place in the folder the text of each file."""
    files: dict[Path, list[str]] = {}
    scenarios: dict[tuple[str, Lang], AgentScenario] = {}
    for item in items:
        scenario = item.scenario
        scenarios[scenario.kind, scenario.lang] = scenario
        name = f"data_{scenario.kind}.json"
        lang = Path(scenario.lang)
        files.setdefault(lang / name, []).append(json_line(item.question_line))
        files.setdefault(lang / "possible_answer" / name, []).append(json_line(item.answer_line))
    for name, table in sandbox_files(scenarios).items():
        files[Path(name)] = [json.dumps(table, ensure_ascii=False, indent=1) + "\n"]
    return files
