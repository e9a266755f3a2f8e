"""The folder of made items: files as the benchmark reads them, and beside them what is doubtful, lost and known."""

import json
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import RecordReader, transcripts
from wildtool.errors import DataError
from wildtool.generate.core.files import RECORD, line, storing, write_lines, write_outcome
from wildtool.generate.core.maker import transcript_of
from wildtool.generate.items.acebench_format import BENCHMARK, CATEGORIES, rows
from wildtool.generate.items.collect import Decided, Harvest, Kept, harvest
from wildtool.generate.items.maker import UNIT, ItemMaker
from wildtool.generate.items.script import Loss, Made
from wildtool.toolcall.schema import as_schema
from wildtool.types import Item

ITEMS = "items"
DOUBTFUL = "doubtful.jsonl"
DECIDED = "decided.jsonl"
"""What people decide of doubtful items, which they put there: `item` as it stands with them, `keep`, and a `reason`."""
PROVENANCE = "provenance.jsonl"


def harvested(maker: ItemMaker, plan: Plan, out: Path) -> Harvest:
    """What came of the record in a folder, and of what people decided. Raises DataError for decisions without form."""
    models = {role: model.name for role, model in plan.models.items()}
    decisions = read_decisions(out / DECIDED)
    with RecordReader(out / RECORD) as reader:
        made = _assembled(maker, plan.selection.items(), reader)
        return harvest(maker.order, made, models, decisions)


def read_decisions(path: Path) -> dict[str, Decided]:
    """What people decided of doubtful items, by name; nothing where there is no such file.

    Raises:
        DataError: naming file, line and field, what was expected and what was found.
    """
    found: dict[str, Decided] = {}
    if not path.exists():
        return found
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}") from error
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            row = as_schema(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}:{number}: not JSON ({error})") from error
        item, keep, reason = row.get("item"), row.get("keep"), row.get("reason", "")
        if type(item) not in (int, str) or not isinstance(keep, bool) or not isinstance(reason, str):
            raise DataError(
                f"{path}:{number}: expected item (its name), keep (true or false) and perhaps a reason (a text), "
                f"found {text[:80]}"
            )
        found[str(item)] = Decided(keep, reason)
    return found


def write_items(found: Harvest, out: Path) -> None:
    """Writes items, doubtful ones with all votes, losses with their reasons, provenance, and the yield.

    Raises StorageError where there is no room.
    """
    with storing(out):
        _write_files(found.kept, out)
        write_lines(out / DOUBTFUL, map(line, map(_doubtful, found.doubtful)))
        write_outcome(out, found.losses, found.yields())


def how_to_play(out: Path) -> str:
    """The command that plays the items."""
    return f"wildtool run {BENCHMARK} --data {shlex.quote(str(out / ITEMS))} --model NAME"


def _write_files(kept: Sequence[Kept], out: Path) -> None:
    """A folder for each language with a file of questions and one of answers for each category; it appears whole."""
    new = out / f"{ITEMS}.part"
    shutil.rmtree(new, ignore_errors=True)
    files: dict[Path, list[Mapping[str, Any]]] = {}
    known: list[Mapping[str, Any]] = []
    for one in kept:
        records = rows(one.item)
        name = f"data_{CATEGORIES[one.item.plan.kind]}.json"
        place = new / one.item.plan.lang
        files.setdefault(place / name, []).extend(row.question for row in records)
        files.setdefault(place / "possible_answer" / name, []).extend(row.answer for row in records)
        known.append({"ids": [row.question["id"] for row in records], **one.made_by})
    for path, listed in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_lines(path, map(line, listed))
    shutil.rmtree(out / ITEMS, ignore_errors=True)
    if files:
        new.rename(out / ITEMS)
    write_lines(out / PROVENANCE, map(line, known))


def _doubtful(one: Kept) -> dict[str, Any]:
    """What people need to decide: the records as they would be kept, and every vote with its reason."""
    records = [{"question": row.question, "answer": row.answer} for row in rows(one.item)]
    mended = [{said.who: said.text} for said in one.item.mended]
    return {
        "item": one.item.plan.name,
        "votes": one.made_by["votes"],
        "records": records,
        "mended": mended,
        "made_by": dict(one.made_by),
    }


def _assembled(
    maker: ItemMaker, items: Iterable[Item], reader: RecordReader
) -> Iterator[tuple[Item, Made | Loss | None]]:
    for item in items:
        yield item, maker.result(item, transcript_of(transcripts(reader.log(item.id, 0)), UNIT))
