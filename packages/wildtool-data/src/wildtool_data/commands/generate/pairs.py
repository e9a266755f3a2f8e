"""`wildtool generate pairs`: preference pairs from what a model gets wrong in a training file."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from wildtool.cli.command import opt
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError
from wildtool.terminal import print_err
from wildtool_data.commands.generate import options
from wildtool_data.commands.generate.options import GenerateOptions

if TYPE_CHECKING:
    from wildtool.engine.plan import Plan
    from wildtool.training.procedures.pairs import SideLengths


def pairs(
    context: typer.Context,
    generate_options: GenerateOptions,
    file: Path = options.TRAINING_FILE_ARGUMENT,
    out: Path | None = options.FOLDER_OPTION,
    turns: Literal["calls", "all", "first"] = opt(
        "Turns to try: those with calls, all, or the first of each record.", default="calls"
    ),
    tries: int = opt("N", "Maximum tries per turn.", default=2, min=1, max=20),
    retry: Literal["plain", "feedback"] = opt(
        "A later try is asked like the first, or is shown the last one and its kind of mistake.",
        default="plain",
    ),
    critic: str | None = opt("NAME", "Model that judges texts; calls are judged by rule without one."),
    chosen: Literal["gold", "own"] = opt(
        "The better reply: the file's, or the model's first right try if there is one.", default="gold"
    ),
    solved_only: bool = opt("Leave out turns that no try got right."),
    keep_broken: bool = opt("Also reject replies that were cut off or cannot be read."),
    to: Literal["sharegpt", "openai", "trl", "llamafactory"] = opt(
        "Form of the pairs, as for `data convert`; llamafactory adds dataset_info.json.", default="sharegpt"
    ),
    allow_benchmark_data: bool = options.ALLOW_BENCHMARK_DATA_OPTION,
) -> int:
    """Generate preference pairs from what a model gets wrong in a training file.

    \b
    Examples:
      wildtool generate pairs train.jsonl --model gpt-4o -o pairs
      wildtool generate pairs train.jsonl --model gpt-4o --tries 4 -o pairs

    The model tries each turn after the file's own turns before it: first at temperature 0 (--temperature), later at 0.7.
    A turn gives at most one pair: the file's reply is chosen, the first wrong try rejected. audit.jsonl has every try.
    Every call is recorded in the folder; the same command continues where it stopped.
    """
    folder = options.check_training_options(generate_options, out)
    if turns == "all" and critic is None:
        raise UsageError("--turns all judges texts too; name a model for that with --critic NAME")
    from dataclasses import replace

    from wildtool.training.procedures.official import check_not_official
    from wildtool.training.procedures.pairs import PairRules
    from wildtool_data.commands.generate.execute import GenerationResult, assign_models, run_generation
    from wildtool_data.make.core.maker import recorded_in
    from wildtool_data.make.training.pairs import (
        CRITIC,
        PAIRS_FILE,
        RETRY,
        PairMaker,
        PairSpec,
        write_pairs,
        write_pairs_info,
    )

    options.check_own_files(folder, [file])
    owners = check_not_official([file], allow=allow_benchmark_data)
    rules = PairRules(own_chosen=chosen == "own", solved_only=solved_only, keep_broken=keep_broken)
    maker = PairMaker(PairSpec(file=file, turns=turns, tries=tries, retry=retry, critic=critic is not None))
    if critic is not None:
        generate_options = replace(
            generate_options, role_model=[*(generate_options.role_model or ()), f"{CRITIC}={critic}"]
        )
    first = generate_options.temperature
    temperatures: dict[str, float | None] = {
        "agent": 0.0 if first is None else first,
        **({RETRY: options.LATER_TEMPERATURE} if tries > 1 else {}),
        **({CRITIC: 0.0} if critic is not None else {}),
    }
    path = folder / PAIRS_FILE

    def write(plan: "Plan") -> GenerationResult:
        recorded = recorded_in(folder, maker.recorded, plan.selection.items())
        tries_of_turns = ((item.id, item.data, replies) for item, replies in recorded)
        summary = write_pairs(tries_of_turns, folder, rules, to, owners)
        if summary.lengths is not None and not generate_options.quiet:
            print_lengths(summary.lengths)
        named_set = write_pairs_info(folder, file, to)
        if named_set is not None and not generate_options.quiet:
            print_err(f"in LLaMA-Factory's settings: dataset_dir: {folder}, dataset: {named_set}, stage: dpo")
        unsolved = summary.pairs - summary.solved
        return GenerationResult(
            "turn", path, summary.pairs, (), summary.unfinished, summary.metrics, f"wildtool data lint {path}",
            last_line=f"{path}: {counted(summary.pairs, 'pair')}, {unsolved} of turns that no try solved",
        )  # fmt: skip

    models = assign_models(generate_options, maker, list(temperatures), context, temperatures=temperatures)
    return run_generation(maker, models, folder, generate_options, write)


def print_lengths(lengths: "SideLengths") -> None:
    """Prints the mean lengths of both sides, with a warning where they differ much."""
    means = f"mean length: chosen {lengths.chosen:.0f}, rejected {lengths.rejected:.0f} characters"
    bias = "; preference training may learn the length instead" if lengths.biased else ""
    print_err(means + bias)
