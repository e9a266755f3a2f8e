"""`wildtool data recipe`: everything that a training needs, in one folder."""

from fractions import Fraction
from pathlib import Path
from typing import Any

from wildtool.api.values import split_values
from wildtool.benchmarks import OURS
from wildtool.cli.command import opt
from wildtool.cli.help import MORE
from wildtool.cli.options import shared as options
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError, unknown_name
from wildtool.terminal import print_err, print_out
from wildtool_data.commands.data.overlap import FILES_ARGUMENT, WITH_OPTION, load_search


def recipe(
    files: list[Path] = FILES_ARGUMENT,
    model: str | None = opt(
        "--base MODEL", "Weights to train: a name on the Hugging Face Hub, or a folder. (required)"
    ),
    method: str = opt("NAME", "sft-lora, sft-full or dpo-lora.", default="sft-lora"),
    out: Path | None = opt("-o FOLDER", "Folder to write. (required)"),
    template: str | None = opt("NAME", "LLaMA-Factory's chat template (default: by the model's name)."),
    cutoff: int = opt(
        "N", "Longest record in tokens; the rest of a longer one is cut off.", default=16384, min=1
    ),
    tokenizer: Path | None = opt("PATH", "Count tokens with this tokenizer.json (default: estimate them)."),
    curve: str | None = opt("SHARE,…", "Also train on parts of the data, such as 1/16,1/4,1."),
    seeds: int = opt("N", "Trainings of each size; a curve needs three.", default=1, min=1, max=100),
    fixed: str = opt("epochs|steps", "What is the same for all sizes of a curve.", default="epochs"),
    set_: list[str] | None = opt("--set KEY=VALUE", "Another setting of train.yaml; repeatable."),
    trl: bool = opt("Also write the training for TRL."),
    cpu: bool = opt("Settings for a training without a GPU, of a small model."),
    adapter: str | None = opt("FOLDER", "Adapter to start from.", panel=MORE),
    devices: int = opt("N", "Devices, to compute the steps.", default=1, min=1, panel=MORE),
    seed: int = opt("N", "Seed of the first training.", default=42, panel=MORE),
    benchmarks: list[str] | None = WITH_OPTION,
    no_overlap_check: bool = opt("Do not look for benchmark items in the data."),
    force: bool = options.FORCE_OPTION,
) -> int:
    """Write everything that a training needs into one folder.

    \b
    Examples:
      wildtool data recipe train.jsonl --base Qwen/Qwen3-8B -o out
      wildtool data recipe train.jsonl --base Qwen/Qwen3-4B --curve 1/4,1 -o c

    The folder holds the data, the settings for LLaMA-Factory (with --trl also for TRL), and the series to compare
    afterwards. Trains nothing: its README says how. Data with errors, and data that hold items of a benchmark, are
    refused.
    """
    from wildtool.engine.registry import benchmark_names
    from wildtool.training.files import check_readable
    from wildtool_data.prepare.check.file import token_counter
    from wildtool_data.prepare.recipe.recipe import Recipe, write_recipe
    from wildtool_data.prepare.recipe.settings import METHODS

    if model is None or out is None:
        raise UsageError("give the weights to train and the folder to write: --base MODEL --out FOLDER")
    if method not in METHODS:
        raise UsageError(unknown_name("method", method, METHODS))
    if fixed not in ("epochs", "steps"):
        raise UsageError(unknown_name("value of --fixed", fixed, ("epochs", "steps")))
    check_readable(files)
    search = None if no_overlap_check else load_search(benchmarks)
    result = write_recipe(
        Recipe(
            files=tuple(files),
            model=model,
            method=method,
            template=template,
            cutoff=cutoff,
            devices=devices,
            adapter=adapter,
            seed=seed,
            changes=dict(_setting(text) for text in set_ or ()),
            shares=tuple(_share(text) for text in split_values([curve])) if curve else (Fraction(1),),
            seeds=seeds,
            fixed="steps" if fixed == "steps" else "epochs",
            trl=trl,
            cpu=cpu,
            benchmarks=tuple(name for name in split_values(benchmarks) if name in benchmark_names())
            or (next(iter(OURS)),),
        ),
        out,
        search=search,
        tokens=None if tokenizer is None else token_counter(tokenizer),
        force=force,
    )
    for warning in result.warnings:
        print_err(warning)
    settings = result.settings
    print_out(
        f"{out}: {counted(result.summary.written, 'record')}, {counted(len(result.trainings), 'training')}, "
        f"template {settings['template']}, cut off at {settings['cutoff_len']:,} tokens"
    )
    print_err(f"How to go about it: {out / 'README.md'}")
    return 0


def _share(text: str) -> Fraction:
    try:
        share = Fraction(text)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1:
        raise UsageError(
            f"--curve: {text!r} is not a part of the data; give parts such as 1/16,1/4,1 or 0.1,0.5,1"
        )
    return share


def _setting(text: str) -> tuple[str, Any]:
    """A key and its value; numbers, true, false and texts in quotes as in YAML."""
    from wildtool import json_codec

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set {text}: give a key and a value, such as --set learning_rate=2e-5")
    try:
        return key.strip(), json_codec.loads(value)
    except ValueError:
        return key.strip(), value
