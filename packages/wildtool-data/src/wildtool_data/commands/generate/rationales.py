"""`wildtool generate rationales`: reasoning before the calls of a training file."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from wildtool.cli.command import opt
from wildtool.engine.score.formatting import counted
from wildtool_data.commands.generate import options
from wildtool_data.commands.generate.options import GenerateOptions

if TYPE_CHECKING:
    from wildtool.engine.plan import Plan


def rationales(
    context: typer.Context,
    generate_options: GenerateOptions,
    file: Path = options.TRAINING_FILE_ARGUMENT,
    out: Path | None = options.FOLDER_OPTION,
    min_tokens: int = opt("N", "Tokens that reasoning must have.", default=30, min=0),
    no_check: bool = opt("Keep reasoning without trying whether it leads to the calls."),
    text_with_calls: Literal["think", "tags"] = opt(
        "sharegpt: reasoning as thinking, or before <tool_call> tags for models without it.", default="think"
    ),
    to: Literal["sharegpt", "openai", "trl"] = opt(
        "Form of the records, as for `data convert`.", default="sharegpt"
    ),
    allow_benchmark_data: bool = options.ALLOW_BENCHMARK_DATA_OPTION,
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
    folder = options.check_training_options(generate_options, out)
    from wildtool.training.procedures.official import check_not_official
    from wildtool.training.writers.options import WriteOptions
    from wildtool_data.commands.generate.execute import GenerationResult, assign_models, run_generation
    from wildtool_data.make.core.maker import recorded_in
    from wildtool_data.make.training.rationales import (
        CHECKER,
        REASONED_FILE,
        RationaleMaker,
        RationaleSpec,
        write_rationales,
    )

    options.check_own_files(folder, [file])
    owners = check_not_official([file], allow=allow_benchmark_data)
    maker = RationaleMaker(RationaleSpec(file=file, min_tokens=min_tokens, check=not no_check))
    temperature = generate_options.temperature
    temperatures: dict[str, float | None] = {
        "agent": options.LATER_TEMPERATURE if temperature is None else temperature,
        **({} if no_check else {CHECKER: 0.0}),
    }
    writing = WriteOptions(text_with_calls=text_with_calls)
    path = folder / REASONED_FILE

    def write(plan: "Plan") -> GenerationResult:
        recorded = recorded_in(folder, maker.recorded, plan.selection.items())
        summary = write_rationales(
            ((item.data, replies) for item, replies in recorded), folder, to, writing, owners
        )
        return GenerationResult(
            "turn", path, summary.turns, (), summary.unfinished, summary.metrics, f"wildtool data lint {path}",
            last_line=f"{path}: {counted(summary.records, 'record')} with reasoning at {summary.turns:,} of "
            f"{counted(summary.asked, 'turn')}",
        )  # fmt: skip

    models = assign_models(generate_options, maker, list(temperatures), context, temperatures=temperatures)
    return run_generation(maker, models, folder, generate_options, write)
