"""`wildtool data lint`: checks benchmark data and training files."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast

from wildtool.api.values import split_values
from wildtool.cli.command import opt
from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError, UsageError, match_name, unknown_name
from wildtool.terminal import print_err, print_out, single_line
from wildtool_data.commands.data import files

if TYPE_CHECKING:
    from wildtool.findings import Finding
    from wildtool_data.prepare.mix.store import Dedupe


def lint(
    data: str = files.FILE_OR_BENCHMARK,
    benchmark: str | None = files.BENCHMARK_OR_TRAINING,
    trainer: list[str] | None = opt(
        "NAME",
        "Training files: also say what this trainer drops or changes: llama-factory, trl, verl, axolotl or all.",
    ),
    tokenizer: Path | None = files.TOKENIZER_OPTION,
    cutoff: int | None = opt("N", "Training files: maximum tokens per record (default: 2048).", min=1),
    duplicates: str | None = opt("KIND", "Training files: also list duplicates: exact, prompt or near."),
    strict: bool = opt("Training files: exit status 1 for warnings too."),
) -> int:
    """Check data for mistakes.

    \b
    Examples:
      wildtool data lint wild-mini
      wildtool data lint sessions.jsonl
      wildtool data lint train.jsonl --trainer llama-factory

    Prints one line per finding. With findings, the exit status is 1; warnings leave it 0.
    """
    if training := files.training_file(data, benchmark):
        return lint_training(training, trainer, tokenizer, cutoff, duplicates, strict=strict)
    options = {"trainer": trainer, "tokenizer": tokenizer, "cutoff": cutoff, "duplicates": duplicates}
    files.refuse_options({**options, "strict": strict}, data)
    from wildtool.declared import lint as findings_in

    owner, source = files.resolve_data(data, benchmark)
    count = errors = 0
    for finding in chain(findings_in(owner, source), _custom_findings(data, benchmark)):
        count += 1
        errors += finding.level == "error"
        print_out(
            f"{single_line(finding.where)}: {single_line(finding.rule)}: {single_line(finding.message, 1000)}"
        )
    if not count:
        files.check_not_empty(owner, source)
    print_err(f"{source.path}: {counted(count, 'finding')}" if count else f"{source.path}: no findings")
    return 1 if errors else 0


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
    from wildtool_data.prepare.check.file import CUTOFF, FileCheck, check_training_file
    from wildtool_data.prepare.check.trainers import TRAINERS

    choices = split_values(trainers)
    names = list(TRAINERS) if "all" in choices else [match_name("trainer", n, TRAINERS) for n in choices]
    check = FileCheck()
    counter = files.chosen_counter(tokenizer)
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


def _custom_findings(data: str, benchmark: str | None) -> "Iterator[Finding]":
    """What rules of installed packages find; why they cannot look, on stderr."""
    from wildtool.findings import any_custom_rules

    if any_custom_rules():
        from wildtool_data.formats import custom_findings_in

        try:
            yield from custom_findings_in(data, benchmark)
        except DataError as error:
            print_err(f"Rules of installed packages have not looked at this: {error}")
