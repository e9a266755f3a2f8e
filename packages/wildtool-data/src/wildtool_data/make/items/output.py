"""The folder of a set of items: files for the benchmark, doubtful items, losses and provenance."""

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.engine.plan import Plan
from wildtool.errors import DataError
from wildtool.json_codec import read_json_lines, required_field
from wildtool.outputs import note_written
from wildtool.temporary import temporary_folder
from wildtool_data.make.core.files import (
    DOUBTFUL_FILE,
    ITEMS_FOLDER,
    PROVENANCE_FILE,
    json_line,
    storage_errors,
    write_attrition,
    write_whole_file,
)
from wildtool_data.make.core.maker import recorded_in
from wildtool_data.make.items.acebench_format import ACEBENCH_CATEGORIES, BENCHMARK, acebench_records
from wildtool_data.make.items.collect import CollectedItem, GeneratedItems, HumanDecision, collect_items
from wildtool_data.make.items.maker import ItemMaker

DECISIONS_FILE = "decided.jsonl"
"""Decisions of people about doubtful items: `item` as in the file of doubtful ones, `keep`, and a `reason`."""


def items_from_record(maker: ItemMaker, plan: Plan, out: Path) -> GeneratedItems:
    """The items by the record in a folder and the decisions of people. Raises DataError for malformed decisions."""
    models = {role: model.name for role, model in plan.models.items()}
    decisions = read_decisions(out / DECISIONS_FILE)
    return collect_items(
        maker.spec, recorded_in(out, maker.recorded, plan.selection.items()), models, decisions
    )


def read_decisions(path: Path) -> dict[str, HumanDecision]:
    """What people decided of doubtful items, by name; nothing where there is no such file.

    Raises:
        DataError: naming file, line and field, what was expected and what was found.
    """
    decisions: dict[str, HumanDecision] = {}
    for where, row in read_json_lines(path, "decision") if path.exists() else ():
        item, reason = row.get("item"), row.get("reason", "")
        if type(item) not in (int, str) or not isinstance(reason, str):
            raise DataError(
                f"{where}: expected item (its name), keep and perhaps a reason (a text), found {row}"
            )
        decisions[str(item)] = HumanDecision(required_field(row, "keep", bool, where), reason)
    return decisions


def write_items(generated: GeneratedItems, out: Path) -> None:
    """Writes items, doubtful ones with all votes, losses with their reasons, provenance, and the yield.

    Raises StorageError if there is no room.
    """
    with storage_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        _write_files(generated.kept, out)
        write_whole_file(out / DOUBTFUL_FILE, map(json_line, map(_doubtful, generated.doubtful)))
        write_attrition(out, generated.losses, generated.attrition())


def items_run_command(out: Path) -> str:
    """The command that runs models on the items."""
    return f"wildtool run {BENCHMARK} --data {shlex.quote(str(out / ITEMS_FOLDER))} --model NAME"


def _write_files(items: Sequence[CollectedItem], out: Path) -> None:
    """A file of questions and one of answers for each language and category."""
    files: dict[Path, list[str]] = {}
    provenance: list[Mapping[str, Any]] = []
    for collected in items:
        records = acebench_records(collected.item)
        name = f"data_{ACEBENCH_CATEGORIES[collected.item.plan.kind]}.json"
        lang = Path(collected.item.plan.lang)
        files.setdefault(lang / name, []).extend(json_line(row.question) for row in records)
        files.setdefault(lang / "possible_answer" / name, []).extend(json_line(row.answer) for row in records)
        provenance.append({"ids": [row.question["id"] for row in records], **collected.made_by})
    write_item_files(files, provenance, out)


def write_item_files(
    files: Mapping[Path, Sequence[str]], provenance: Sequence[Mapping[str, Any]], out: Path
) -> None:
    """Writes files of items, and how each was made; the folder of items appears whole.

    Args: files: by place in the folder their lines.
    """
    with temporary_folder(out) as place:
        new = place / ITEMS_FOLDER
        for name, lines in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole_file(new / name, lines)
        for name in files:
            note_written(out / ITEMS_FOLDER / name, new / name)
        shutil.rmtree(out / ITEMS_FOLDER, ignore_errors=True)
        if files:
            new.rename(out / ITEMS_FOLDER)
    write_whole_file(out / PROVENANCE_FILE, map(json_line, provenance))


def _doubtful(collected: CollectedItem) -> dict[str, Any]:
    """What people need to decide: the records as they would be kept, and every vote with its reason."""
    records = [{"question": row.question, "answer": row.answer} for row in acebench_records(collected.item)]
    mended = [{utterance.speaker: utterance.text} for utterance in collected.item.correction]
    return {
        "item": collected.item.plan.name,
        "votes": collected.made_by["votes"],
        "records": records,
        "mended": mended,
        "made_by": dict(collected.made_by),
    }
