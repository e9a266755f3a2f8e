"""What `wildtool data lint` says of training files."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from wildtool.api.values import split_values
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError, match_name, unknown_name
from wildtool.terminal import print_err, print_out, single_line

if TYPE_CHECKING:
    from wildtool_data.prepare.mix.store import Dedupe


def lint_training(
    file: Path,
    trainers: list[str] | None,
    tokenizer: Path | None,
    cutoff: int | None,
    duplicates: str | None,
    *,
    strict: bool,
) -> int:
    """Checks a training file and prints the findings; the exit status."""
    from wildtool_data.prepare.check.file import CUTOFF, FileCheck, check_training_file, token_counter
    from wildtool_data.prepare.check.trainers import TRAINERS

    choices = split_values(trainers)
    names = list(TRAINERS) if "all" in choices else [match_name("trainer", n, TRAINERS) for n in choices]
    check = FileCheck()
    counter = None if tokenizer is None else token_counter(tokenizer)
    for finding in check_training_file(file, check, trainers=names, cutoff=cutoff or CUTOFF, tokens=counter):
        where = " ".join(single_line(part) for part in (finding.where, finding.id, finding.field) if part)
        print_out(f"{where}: {single_line(finding.rule)}: {single_line(finding.message, 1000)}")
    for line in _duplicates(file, duplicates):
        check.levels["warning"] += 1
        print_out(line)
    for name, effects in check.trainers.items():
        trainer = TRAINERS[name]
        counts = ", ".join(f"{effect} {count:,}" for effect, count in effects.items())
        print_err(
            f"{trainer.title} ({trainer.evidence}): {counts or 'nothing to say'} of {counted(check.records, 'record')}"
        )
    if check.unreadable:
        print_err(f"{check.unreadable:,} of {counted(check.rows, 'row')} could not be read")
    kinds = ", ".join(
        counted(count, level) for level, count in sorted(check.levels.items()) if level != "note"
    )
    print_err(f"{file}: {counted(check.records, 'record')}, {kinds or 'no findings'}")
    return int(check.levels["error"] > 0 or (strict and check.levels["warning"] > 0))


def _duplicates(file: Path, level: str | None) -> Iterator[str]:
    """A line for each record that repeats another one."""
    if level is not None:
        from wildtool_data.prepare.mix.store import DEDUPE_LEVELS, duplicates_in

        if level not in DEDUPE_LEVELS:
            raise UsageError(unknown_name("kind of duplicates", level, DEDUPE_LEVELS))
        for duplicate in duplicates_in(file, cast("Dedupe", level)):
            index = f" ({duplicate.similarity:.2f})" if duplicate.rule == "near" else ""
            yield f"{single_line(str(file))}:{duplicate.row}: {duplicate.rule} duplicate: of line {duplicate.like}{index}"
