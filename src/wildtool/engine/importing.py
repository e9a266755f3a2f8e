"""Turns somebody's replies or result file into a run folder, which can then be scored, shown and judged
again."""

from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path

from wildtool.engine.plan import Selection
from wildtool.engine.record import RecordReader, Step
from wildtool.engine.replies import Scripted, read_replies
from wildtool.engine.rundir import RunFolder
from wildtool.engine.writer import RecordWriter
from wildtool.errors import UsageError
from wildtool.types import Address, Benchmark, Reply, Source
from wildtool.walking import SILENCE


def import_replies(
    benchmark: Benchmark,
    source: Source,
    replies: Path,
    out: Path,
    *,
    model: str | None = None,
    split: str | None = None,
    lang: str | None = None,
    command: Sequence[str] = (),
) -> Path:
    """Writes the replies of one model as a run folder and returns it; doing it again changes nothing.

    Args:
        replies: a replies file (see replies.py) or a result file of the benchmark's original tool.
        out: the run folder to write.
        model: which model, where the file holds several.

    Raises DataError where the file is wrong, UsageError where it holds several models and none or another
    is named.
    """
    selection = Selection(benchmark=benchmark, source=source, split=split, lang=lang)
    rows = _rows_of(model, list(read_replies(selection, replies)), replies)
    with replies.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    identity = {
        "benchmark": benchmark.name,
        "data_sha256": source.sha256,
        "split": split,
        "lang": lang,
        # Nobody knows which rules the replies were played under.
        "profile": None,
        "seed": None,
        "models": {"agent": {"name": rows[0].model, "settings": {"replies": replies.name, "sha256": digest}}},
        "silent_after": any(t.silent_after for row in rows for t in row.transcripts.values()),
    }
    scope = {
        "limit": None,
        "ids": list(dict.fromkeys(row.item.id for row in rows)),
        "repeats": max(row.repeat for row in rows) + 1,
    }
    with (
        RunFolder(
            out, kind="imported", identity=identity, scope=scope, source=source, command=command
        ) as folder,
        RecordReader(out) as reader,
        RecordWriter(out) as writer,
    ):
        for row in rows:
            _write_item(row, reader, writer)
        writer.sync()
        folder.finish("done")
    return out


def _rows_of(model: str | None, rows: list[Scripted], path: Path) -> list[Scripted]:
    models = list(dict.fromkeys(row.model for row in rows))
    wanted = [row for row in rows if model is None or row.model == model]
    if not wanted or (model is None and len(models) > 1):
        raise UsageError(
            f"{path}: holds replies of {', '.join(models) or 'no model'}; name the one to import"
        )
    return wanted


def _write_item(row: Scripted, reader: RecordReader, writer: RecordWriter) -> None:
    log = reader.log(row.item.id, row.repeat)
    for unit, transcript in row.transcripts.items():
        present = log.get(unit, {})
        replies = transcript.replies
        if not replies and transcript.silent_after:
            # Without a row the unit would look unplayed; it was played, and the model said nothing.
            replies = (Reply(SILENCE),)
        for step, reply in enumerate(replies):
            if not isinstance(present.get(step), Step):
                writer.imported(Address(row.item.id, row.repeat, unit, step), reply)
        last = len(replies)
        if transcript.infra_error is not None and last not in present:
            writer.imported(Address(row.item.id, row.repeat, unit, last), transcript.infra_error)
