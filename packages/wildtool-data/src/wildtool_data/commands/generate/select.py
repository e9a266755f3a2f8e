"""`wildtool generate select`: the records of training sets that suit a model."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from wildtool.cli.command import opt
from wildtool.cli.options.config_file import explicit_options
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError
from wildtool.terminal import print_err
from wildtool_data.commands.generate import options
from wildtool_data.commands.generate.options import GenerateOptions

if TYPE_CHECKING:
    from wildtool.engine.plan import Plan
    from wildtool_data.make.training.selection_output import WrittenSelection


def select(
    context: typer.Context,
    generate_options: GenerateOptions,
    files: list[Path] = options.TRAINING_FILES_ARGUMENT,
    out: Path | None = options.FOLDER_OPTION,
    by: Literal["rating", "tries"] = opt(
        "Keep what the model says it would get right, or what it sometimes gets right.", default="rating"
    ),
    per_set: int = opt("N", "Records to ask about, drawn from each file.", default=500, min=1),
    threshold: float = opt("X", "rating: lowest score that is kept.", default=5.0, min=0, max=10),
    reference: Literal["show", "hide"] = opt(
        "rating: show the model the reply of the record, or not.", default="show"
    ),
    tries: int = opt("N", "tries: tries per record.", default=4, min=2, max=100),
    rounds: int = opt("N", "Rounds of selecting and training; prints what to do next.", default=1, min=1),
    round_: int = opt("--round N", "The round to select for now, from 1.", default=1, min=1),
    without_seen: bool = opt("Draw no record that an earlier round asked about."),
    seed: str = options.SEED_OPTION,
    to: Literal["same", "sharegpt", "openai", "trl"] | None = opt(
        "Form of the records (default: same, as they are; openai for several files).", show_default=False
    ),
    allow_benchmark_data: bool = options.ALLOW_BENCHMARK_DATA_OPTION,
) -> int:
    """Select the records of training sets that suit a model, with a random arm of the same size.

    \b
    Examples:
      wildtool generate select train.jsonl --model gpt-4o -o selected
      wildtool generate select train.jsonl --model gpt-4o --by tries -o selected
      wildtool generate select train.jsonl --model gpt-4o --rounds 2 -o selected

    Writes kept.jsonl, random.jsonl (as many of the asked records, drawn at random: the control) and audit.jsonl with
    every reply and decision. Ratings are asked at temperature 0, tries at 0.7. The same command continues where it
    stopped. Models are poor judges of themselves: prefer --by tries.
    """
    parent = options.check_training_options(generate_options, out)
    _check(context, generate_options, by, rounds, round_, without_seen)
    from wildtool.training.procedures.official import check_not_official
    from wildtool_data.commands.generate.execute import GenerationResult, assign_models, run_generation
    from wildtool_data.make.core.maker import recorded_in
    from wildtool_data.make.training.audit_files import AUDIT_FILE
    from wildtool_data.make.training.selection import SelectionMaker, SelectionSpec
    from wildtool_data.make.training.selection_output import KEPT_FILE, write_selection

    if len({path.resolve() for path in files}) < len(files):
        raise UsageError("the same file is given twice; each file is a set, so give each once")
    owners = check_not_official(files, allow=allow_benchmark_data)
    folder = parent / f"round-{round_}" if rounds > 1 else parent
    options.check_own_files(folder, files)
    earlier = tuple(parent / f"round-{n}" / AUDIT_FILE for n in range(1, round_)) if without_seen else ()
    if missing := [path for path in earlier if not path.is_file()]:
        raise UsageError(
            f"--without-seen needs {missing[0]}, which an earlier round writes; run that round first"
        )
    spec = SelectionSpec(
        files=tuple(files), per_set=per_set, by=by, threshold=threshold, reference=reference, tries=tries,
        seed=seed, round=round_, seen=earlier,
    )  # fmt: skip
    maker = SelectionMaker(spec)
    temperature = generate_options.temperature
    if temperature is None:
        temperature = 0.0 if by == "rating" else options.LATER_TEMPERATURE
    form = to or ("same" if len(files) == 1 else "openai")
    path = folder / KEPT_FILE

    def write(plan: "Plan") -> GenerationResult:
        recorded = recorded_in(folder, maker.recorded, plan.selection.items())
        answered = ((item.data, replies) for item, replies in recorded)
        selection = write_selection(answered, folder, spec, plan.models["agent"].name, form, owners)
        if rounds > 1 and not selection.unfinished and not generate_options.quiet:
            print_next_round(files, generate_options.model, parent, folder, rounds, round_, without_seen)
        return GenerationResult(
            "record", path, selection.kept, (), selection.unfinished, selection.metrics, _train_command(path),
            last_line=f"{path}: {selection.kept:,} of {counted(selection.asked, 'record')}; {_arms_note(selection)}",
        )  # fmt: skip

    models = assign_models(generate_options, maker, ["agent"], context, temperatures={"agent": temperature})
    return run_generation(maker, models, folder, generate_options, write)


def _check(
    context: typer.Context,
    generate_options: GenerateOptions,
    by: str,
    rounds: int,
    round_: int,
    without_seen: bool,
) -> None:
    """Raises UsageError for options that contradict each other."""
    foreign_names = {"rating": {"tries"}, "tries": {"threshold", "reference"}}[by]
    if foreign := sorted(foreign_names & explicit_options(context)):
        raise UsageError(f"--{foreign[0]} is not for --by {by}; leave it out")
    if by == "tries" and generate_options.cache is not None:
        raise UsageError("--cache gives each request one reply, and tries are to differ; leave it out")
    if round_ > rounds:
        raise UsageError(f"--round {round_} is beyond --rounds {rounds}")
    if without_seen and round_ == 1 and rounds == 1:
        raise UsageError("--without-seen is for --rounds 2 or more")


def _arms_note(selection: "WrittenSelection") -> str:
    """What the random arm has, and whether anything was chosen at all."""
    if selection.asked and not selection.unfinished and not selection.scored:
        return "no reply had a score that could be read: audit.jsonl has the replies"
    if selection.kept and selection.kept == selection.asked:
        return "all are kept, so nothing was chosen, and random.jsonl has the same"
    if not selection.kept:
        return "there is nothing to draw for random.jsonl either"
    overlap = f", {selection.shared} of them the same" if selection.shared else ""
    return f"as many in random.jsonl{overlap}"


def _train_command(path: Path) -> str:
    folder = path.parent / "train"
    return f"wildtool data convert {shlex.quote(str(path))} --to llamafactory -o {shlex.quote(str(folder))}"


def print_next_round(
    files: Sequence[Path],
    model: str,
    parent: Path,
    folder: Path,
    rounds: int,
    round_: int,
    without_seen: bool,
) -> None:
    """Prints what to do between this round and the next."""
    print_err(f"Round {round_} of {rounds}: train {model} on {folder / 'kept.jsonl'}, and a second time on")
    print_err(
        f"{folder / 'random.jsonl'} with equal settings: only the difference of both shows that selecting helped."
    )
    if round_ < rounds:
        words = [*map(str, files), "--model", "TRAINED", "--rounds", str(rounds), "--round", str(round_ + 1)]
        words += ["--without-seen"] if without_seen else []
        print_err(f"Then: wildtool generate select {shlex.join([*words, '-o', str(parent)])}")
