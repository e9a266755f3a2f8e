"""`wildtool data lint`: checks own cases and benchmark data here, and training files with the package wildtool-data."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.command import opt
from wildtool.data.commands import files
from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError
from wildtool.installed import own_offer
from wildtool.terminal import print_err, print_out, single_line

if TYPE_CHECKING:
    from wildtool.findings import Finding

ENTRY_POINT_OF_CHECKS = "wildtool.data_checks"
"""What the package wildtool-data checks: training files, and made sets by the rules of other packages."""


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
      wildtool data lint cases.yaml
      wildtool data lint wild-mini
      wildtool data lint sessions.jsonl
      wildtool data lint train.jsonl --trainer llama-factory

    Prints one line per finding. With findings, the exit status is 1; warnings leave it 0.
    """
    if training := files.training_file(data, benchmark):
        check_training = own_offer(ENTRY_POINT_OF_CHECKS, "training", "data", "a check of training files")
        return check_training(training, trainer, tokenizer, cutoff, duplicates, strict=strict)
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


def _custom_findings(data: str, benchmark: str | None) -> "Iterator[Finding]":
    """What rules of installed packages find; why they cannot look, on stderr."""
    from wildtool.findings import any_custom_rules

    if any_custom_rules():
        check = own_offer(ENTRY_POINT_OF_CHECKS, "rules", "data", "a check by rules of other packages")
        try:
            yield from check(data, benchmark)
        except DataError as error:
            print_err(f"Rules of installed packages have not looked at this: {error}")
