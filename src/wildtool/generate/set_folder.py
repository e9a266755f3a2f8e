"""The folder of a set made by models: a run folder with the record, and beside it what follows from that."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from wildtool.engine.plan import Plan
from wildtool.engine.record import RecordReader, transcripts
from wildtool.generate.harvest import Harvest, harvest
from wildtool.generate.made_files import RECORD, line, storing, write_lines, write_outcome
from wildtool.generate.reference_formats import FORMATS
from wildtool.generate.session_maker import UNIT, SessionMaker, assemble
from wildtool.generate.session_script import Loss, Made
from wildtool.types import Item, Transcript

SESSIONS = "sessions.jsonl"
Assembling = Callable[[Item, Transcript], Made | Loss | None]


def write_set(maker: SessionMaker, plan: Plan, out: Path, formats: Iterable[str] = ()) -> Harvest:
    """Writes what follows from the record in a folder: sessions, losses with their reasons, and the yield.

    Args: formats: of `reference_formats.FORMATS`, each written beside them.

    Raises StorageError where there is no room.
    """
    models = {role: model.name for role, model in plan.models.items()}
    with RecordReader(out / RECORD) as reader:
        found = harvest(maker.order, _assembled(maker.result, plan.selection.items(), reader), models)
    kept = {session["made_by"]["plan"]["seed"] for session in found.sessions}
    with storing(out):
        for form in formats:
            with RecordReader(out / RECORD) as reader:
                made = _assembled(
                    assemble, (item for item in plan.selection.items() if item.data.plan.seed in kept), reader
                )
                write_lines(out / f"{form}.jsonl", map(line, _converted(made, form)))
        write_lines(out / SESSIONS, map(line, found.sessions))
        write_outcome(out, found.losses, found.yields())
    return found


def how_to_play(out: Path) -> str:
    """The command that plays a set."""
    return f"wildtool run wildtoolbench --data {shlex.quote(str(out / SESSIONS))} --model NAME"


def _assembled(
    assembling: Assembling, items: Iterable[Item], reader: RecordReader
) -> Iterator[tuple[Item, Made | Loss | None]]:
    for item in items:
        transcript = transcripts(reader.log(item.id, 0)).get(UNIT, Transcript(()))
        yield item, assembling(item, transcript)


def _converted(made: Iterable[tuple[Item, Made | Loss | None]], form: str) -> Iterator[dict[str, Any]]:
    for item, result in made:
        if isinstance(result, Made):
            yield from FORMATS[form](result, item.data.plan.lang)
