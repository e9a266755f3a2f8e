"""`wildtool generate rationales`: reasoning before the calls of a training file."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wildtool.cli.options.generate import FolderOption, GenerateOptions, with_generate_options
from wildtool.cli.options.training import (
    LATER_TEMPERATURE,
    AllowBenchmarkDataOption,
    TrainingFileArgument,
    check_own_files,
    check_training_options,
    models_at,
    training_estimate,
)
from wildtool.engine.score.formatting import counted

if TYPE_CHECKING:
    from wildtool.engine.plan import Plan


@with_generate_options
def rationales(
    generate_options: GenerateOptions,
    explicit: frozenset[str],
    file: TrainingFileArgument,
    out: FolderOption = None,
    min_tokens: Annotated[
        int, typer.Option(min=0, metavar="N", help="Tokens that reasoning must have.")
    ] = 30,
    no_check: Annotated[
        bool,
        typer.Option("--no-check", help="Keep reasoning without trying whether it leads to the calls."),
    ] = False,
    text_with_calls: Annotated[
        Literal["think", "tags"],
        typer.Option(
            help="sharegpt: reasoning as thinking, or before <tool_call> tags for models without it."
        ),
    ] = "think",
    to: Annotated[
        Literal["sharegpt", "openai", "trl"], typer.Option(help="Form of the records, as for `data convert`.")
    ] = "sharegpt",
    allow_benchmark_data: AllowBenchmarkDataOption = False,
) -> int:
    """Generate reasoning before the calls of a training file.

    \b
    Examples:
      wildtool generate rationales train.jsonl --model gpt-4o -o reasoned

    The model is shown the calls and writes the thoughts that lead to them. Thoughts are left out that are too short,
    quote a call, repeat another turn's, or reveal a value that the conversation does not have, or that do not lead the
    model itself to the calls (role check). A record ends before its first call without thoughts. audit.jsonl has every
    reply and decision; the same command continues where it stopped.
    """
    folder = check_training_options(generate_options, out)
    from wildtool.cli.execute_generate import GenerationResult, run_generation
    from wildtool.engine.record.reader import RecordReader
    from wildtool.generate.core.files import RECORD_FOLDER
    from wildtool.generate.training.rationales import CHECKER, RationaleMaker, RationaleSpec
    from wildtool.generate.training.rationales_output import REASONED_FILE, write_rationales
    from wildtool.training.procedures.official import check_not_official
    from wildtool.training.writers.options import WriteOptions

    check_own_files(folder, [file])
    owners = check_not_official([file], allow=allow_benchmark_data)
    maker = RationaleMaker(RationaleSpec(file=file, min_tokens=min_tokens, check=not no_check))
    given = generate_options.temperature
    temperatures = {"agent": LATER_TEMPERATURE if given is None else given}
    named = models_at(
        temperatures if no_check else temperatures | {CHECKER: 0.0}, generate_options, maker, explicit
    )
    writing = WriteOptions(text_with_calls=text_with_calls)

    def write(plan: "Plan") -> GenerationResult:
        with RecordReader(folder / RECORD_FOLDER) as reader:
            items = maker.recorded(plan.selection.items(), reader)
            found = write_rationales(((item.data, made) for item, made in items), folder, to, writing, owners)
        path = folder / REASONED_FILE
        return GenerationResult(
            "turn", path, found.turns, (), found.unfinished, found.metrics, f"wildtool data lint {path}",
            last_line=f"{path}: {counted(found.records, 'record')} with reasoning at {found.turns:,} of "
            f"{counted(found.asked, 'turn')}",
        )  # fmt: skip

    return run_generation(maker, named, folder, generate_options, write, training_estimate(maker))
