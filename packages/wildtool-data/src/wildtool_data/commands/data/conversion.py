"""What became of the rows of a conversion, in words."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from wildtool.engine.score.formatting import counted
from wildtool.sanitize import single_line
from wildtool.training.conversation import REJECT_REASONS, ROW_REPAIRS
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool.training.readers.other_sets import SPECIAL_TOKENS
from wildtool.training.writers.kept import EDITED
from wildtool_data.prepare.case_rows import CASE_NOTES
from wildtool_data.prepare.convert import BY_REPLY, MAX_SHOWN_TYPES, Conversion, ConversionSummary
from wildtool_data.prepare.run_rows import RUN_NOTES
from wildtool_data.prepare.writers.text import text_row

_NOTES: Mapping[str, str] = {
    SPECIAL_TOKENS: "teach one new token per tool; without these tokens in the model they teach noise",
    "final-thought": "end with a thought beside the answer, which is left out",
    EDITED: "were edited after --lossless wrote them; the edited text is used",
}
_MAX_RENAMED = 10
_LEAST_UPLOAD = 10
"""Records that OpenAI's fine-tuning wants."""
_MAX_SAMPLE = 2000


def conversion_lines(
    summary: ConversionSummary, conversion: Conversion, rejects: Path | None
) -> Iterator[str]:
    """The lines of a summary.

    Args:
        rejects: the file of the rows left out, if there is one.
    """
    names = ", ".join(dict.fromkeys(summary.data_sets))
    yield f"{counted(summary.rows, 'row')} of {names}: {summary.written:,} written"
    if summary.left_out:
        where = f": see {rejects}" if rejects else ""
        yield f"left out: {summary.left_out:,} of {counted(summary.rows, 'row')}{where}"
    yield from _counted("left out", summary.rejected, REJECT_REASONS)
    yield from _counted("repaired", summary.repaired, ROW_REPAIRS)
    yield from _counted("no place for", _columns_together(summary.lost), {})
    yield from _counted(
        "note", summary.notes, {**_NOTES, **RUN_NOTES, **CASE_NOTES, BY_REPLY: _by_reply(conversion)}
    )
    if summary.unknown_types:
        types = summary.unknown_types.most_common(MAX_SHOWN_TYPES)
        yield f"  types without a rule: {', '.join(f'{word} {count}' for word, count in types)}"
    yield "  records with 0, 1, 2, more calls: " + ", ".join(
        str(summary.calls[name]) for name in ("0", "1", "2", "more")
    )
    for new, old in list(summary.renamed.items())[:_MAX_RENAMED]:
        yield f"  renamed: {old} -> {new}"
    if len(summary.renamed) > _MAX_RENAMED:
        yield f"  and {len(summary.renamed) - _MAX_RENAMED} more; --lossless keeps every old name"
    if summary.samples:
        yield f"  the layout of {names} is partly guessed; look at the first records:"
        yield from (f"  {single_line(sample, _MAX_SAMPLE)}" for sample in summary.samples)
    if conversion.writing.for_upload and summary.written < _LEAST_UPLOAD:
        yield f"  the platform wants at least {_LEAST_UPLOAD} records"
    unlicensed = [name for name in dict.fromkeys(summary.data_sets) if not DATA_SETS[name].has_licence]
    if unlicensed:
        yield f"  no licence is known for {', '.join(unlicensed)}"


def _by_reply(conversion: Conversion) -> str:
    """What a trainer must be told of rows that end with the reply to learn."""
    if conversion.writing.prompt_completion or conversion.form.write is text_row:
        return "a row for each reply to learn, which is its completion"
    return (
        "a row for each reply to learn, which is its last: train with `mask_history: true`, or with `wildtool data "
        "recipe --set mask_history=true`"
    )


def _columns_together(counts: Mapping[str, int]) -> Mapping[str, int]:
    """What was lost, with the columns that equally many records have in one line."""
    merged: dict[str, int] = {}
    columns: dict[int, list[str]] = {}
    for name, count in counts.items():
        kind, _, column = name.partition(" ")
        if kind == "column":
            columns.setdefault(count, []).append(column)
        else:
            merged[name] = count
    for count, names in columns.items():
        merged[f"column{'s' if len(names) > 1 else ''} {', '.join(names)}"] = count
    return merged


def _counted(label: str, counts: Mapping[str, int], notes: Mapping[str, str]) -> Iterator[str]:
    for name, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        yield f"  {label}: {name} {count}" + (f" ({notes[name]})" if name in notes else "")
