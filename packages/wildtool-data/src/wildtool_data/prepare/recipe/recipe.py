"""Writes the folder of a training: data in the trainer's form, settings, a series to compare afterwards, and a README."""

import hashlib
import json
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from wildtool import __version__
from wildtool.data.files import file_sha256
from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_object, as_objects
from wildtool.outputs import atomic_replace, check_folder, is_wildtool_file
from wildtool.steps import show_step, step_line
from wildtool.temporary import lasting_files
from wildtool.training.reading import training_records
from wildtool.training.record import TrainingRecord
from wildtool.training.writers.options import WriteOptions
from wildtool_data.prepare.check.file import CHARACTERS_PER_TOKEN, FileCheck, check_training_file
from wildtool_data.prepare.convert import Conversion, ConversionSummary
from wildtool_data.prepare.converted_files import (
    info_entry,
    read_info,
    write_conversion,
    write_info,
    write_llamafactory,
)
from wildtool_data.prepare.keys import drawn_number
from wildtool_data.prepare.overlap.clean import OverlapResult, write_clean
from wildtool_data.prepare.overlap.search import FLAGS, REMOVED_FLAGS, OverlapSearch
from wildtool_data.prepare.recipe.base_template import BaseTemplate, check_base_template
from wildtool_data.prepare.recipe.settings import (
    CPU_SETTINGS,
    CUTOFFS,
    DEEPSPEED,
    DEEPSPEED_FILE,
    HELD_SHARE,
    Method,
    check_changes,
    is_preference,
    merge_settings,
    template_of,
    train_settings,
    trl_settings,
    yaml_text,
)
from wildtool_data.prepare.writers.forms import TRAINING_FORMS

_MARK = "<!-- written by wildtool"
_FRAME_TOKENS = 5
"""What ChatML writes around a message."""
_BASE_PORT = "http://127.0.0.1:8000/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is trained on which data, and how."""

    files: tuple[Path, ...]
    model: str
    """Name or folder of the weights before training."""
    method: Method = "sft-lora"
    template: str | None = None
    """LLaMA-Factory's chat template; None to choose by the model's name."""
    cutoff: int = CUTOFFS[-1]
    """Tokens of a record at most."""
    devices: int = 1
    adapter: str | None = None
    seed: int = 42
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of the user's own."""
    shares: tuple[Fraction, ...] = (Fraction(1),)
    """Parts of the data for a learning curve; 1 is always among them."""
    seeds: int = 1
    """Trainings of each size."""
    fixed: Literal["epochs", "steps"] = "epochs"
    """What is the same for all sizes."""
    trl: bool = False
    """Whether TRL's settings and data are written too."""
    cpu: bool = False
    """Whether it runs without a GPU."""
    benchmarks: tuple[str, ...]
    """What the series compares the models on."""


@dataclass(frozen=True, slots=True)
class _Training:
    """One training of the recipe."""

    name: str
    dataset: str
    rows: int
    tokens: int
    seed: int
    file: str
    """Its settings, below the folder."""


@dataclass(slots=True)
class RecipeResult:
    """What was written."""

    summary: ConversionSummary
    name: str
    """The data set in `dataset_info.json`."""
    settings: dict[str, Any]
    trainings: list[_Training]
    cut: int
    """Records that are longer than the cut-off."""
    warnings: list[str]
    by_reply: bool
    """Whether each reply to learn ends a record, since others are only context."""


@step_line()
def write_recipe(
    recipe: Recipe,
    out: Path,
    *,
    search: OverlapSearch | None,
    tokens: Callable[[str], int] | None = None,
    force: bool = False,
) -> RecipeResult:
    """Writes the folder.

    Args:
        search: benchmarks whose items the data must not hold; None to look for none, which the README says.
        tokens: counts the tokens of a text; None estimates them from its characters.

    Raises:
        UsageError: the model's template is unknown, the data are of the other kind or hold items of a benchmark, or
            `out` holds something else.
        DataError: the data have errors, or cannot be read.
    """
    template = recipe.template or template_of(recipe.model)
    if template is None:
        raise UsageError(
            f"which chat template does {recipe.model} have? Name LLaMA-Factory's with --template; a wrong one spoils a "
            "training without a word"
        )
    warnings = check_changes(recipe.changes)
    check_folder(out, is_recipe, force=force)
    for path in recipe.files:
        if path.resolve().is_relative_to((out / "data").resolve()):
            raise UsageError(f"{path}: lies where the data are written; name another folder with --out")
    _check_kind(recipe)
    warnings += _checked(recipe.files)
    base = check_base_template(recipe.model, _records(recipe.files))
    warnings += [base.unchecked] if base.unchecked and Path(recipe.model).is_dir() else []
    overlap = None if search is None else _overlap(recipe.files, search)
    if overlap is not None and overlap.left:
        warnings.append(
            f"in {counted(overlap.left, 'record')} most of a benchmark's text occurs (`contained`); they stay, as in "
            f"`data mix`. To leave them out: `{_removal(recipe.files, FLAGS)}`."
        )
    # Marks the folder as a recipe's also if this process is killed.
    _write(out / "README.md", f"{_MARK} {__version__} -->\nNot complete: run the command again.\n")
    by_reply = not is_preference(recipe.method) and _has_context(recipe.files)
    show_step("writing the data")
    summary, name = write_llamafactory(
        Conversion(
            files=recipe.files,
            form=TRAINING_FORMS["llamafactory"],
            writing=WriteOptions(text_with_calls="tags"),
            by_reply=by_reply,
        ),
        out / "data",
        force=True,
        replace=True,
    )
    lines = (out / "data" / f"{name}.jsonl").read_bytes().splitlines()
    lengths = [_length(line, tokens) for line in lines]
    cutoff = _cutoff(lengths, recipe.cutoff)
    settings = train_settings(
        recipe.method,
        model=recipe.model,
        template=template,
        dataset=name,
        cutoff=cutoff,
        seed=recipe.seed,
        adapter=recipe.adapter,
    )
    if not any(b"<think>" in line for line in lines):
        settings["enable_thinking"] = False  # else templates that think add an empty block to each reply
    if by_reply:
        settings["mask_history"] = True
    settings |= {**(CPU_SETTINGS if recipe.cpu else {}), **recipe.changes}
    trainings = _write_trainings(recipe, out, settings, lines, lengths, name)
    if recipe.method.endswith("lora"):
        _write(out / "merge.yaml", yaml_text(merge_settings(settings)))
    else:
        _write(out / DEEPSPEED_FILE, json.dumps(DEEPSPEED, indent=2) + "\n")
    if recipe.trl:
        warnings += _write_trl(recipe, out, name, settings, base, tokens, by_reply=by_reply)
    if overlap is not None:
        _write(out / "overlap.json", json.dumps(overlap.as_json(), indent=1, ensure_ascii=False) + "\n")
    _write(out / "series.toml", _series(recipe, trainings, has_overlap=overlap is not None))
    cut = sum(length > cutoff for length in lengths)
    if cut:
        warnings.append(
            f"longer than {cutoff:,} tokens, so that LLaMA-Factory cuts the end off: {cut:,} of "
            f"{counted(len(lines), 'record')}."
        )
    result = RecipeResult(summary, name, settings, trainings, cut, warnings, by_reply)
    advice = _advice(recipe, result, searched=search is not None, estimated=tokens is None)
    _write(out / "README.md", "\n".join([*_commands(recipe, result), *advice, ""]))
    _write(out / "SHA256SUMS", _digests(out))
    return result


def _write_trl(
    recipe: Recipe,
    out: Path,
    name: str,
    settings: Mapping[str, Any],
    base: BaseTemplate,
    tokens: Callable[[str], int] | None,
    *,
    by_reply: bool,
) -> list[str]:
    """Writes `trl.yaml` and its data; returns what to warn of."""
    file = f"data/{name}_trl.jsonl"
    # Without marks TRL cannot tell replies from the rest of a conversation, but it always knows a completion.
    completions = by_reply or not (is_preference(recipe.method) or base.marks_replies)
    writing = WriteOptions(
        tools_as_text=True, prompt_completion=completions, arguments_as_text=base.arguments_as_text
    )
    conversion = Conversion(
        files=recipe.files, form=TRAINING_FORMS["trl"], writing=writing, by_reply=completions
    )
    rows = write_conversion(conversion, out / file, force=True).written
    _write(out / "trl.yaml", yaml_text(trl_settings(recipe.method, settings, file, completions=completions)))
    warnings: list[str] = []
    if completions and not by_reply:
        reason = (
            f"nobody looked whether that of {recipe.model} has it"
            if base.unchecked
            else f"that of {recipe.model} has none"
        )
        warnings.append(
            f"TRL gets {counted(rows, 'row')}, one for each reply, and `completion_only_loss` in place of "
            "`assistant_only_loss`: it finds the replies of a whole conversation by `{% generation %}` in the chat "
            f"template, and {reason}."
        )
    if base.arguments_as_text:
        warnings.append(
            f"`{file}` has arguments of calls as JSON text: the base's chat template takes no others."
        )
    dropped = _without_completion(out / file, settings["cutoff_len"], tokens) if completions else 0
    if dropped:
        warnings.append(
            f"TRL leaves out, without a word, {dropped:,} of {counted(rows, 'row')}, whose prompt alone is longer "
            f"than {settings['cutoff_len']:,} tokens{'' if tokens else ' (estimated; count with --tokenizer)'}."
        )
    return warnings


def is_recipe(folder: Path) -> bool:
    """Whether wildtool wrote the folder of a training."""
    return is_wildtool_file(folder / "README.md")


def _check_kind(recipe: Recipe) -> None:
    """Raises UsageError where the first record is of the kind that another method trains on."""
    kind = "preference" if is_preference(recipe.method) else "sft"
    for path in recipe.files:
        first = next((row for row in training_records(path) if isinstance(row, TrainingRecord)), None)
        if first is not None and first.kind != kind:
            contents, method = (
                ("pairs", "dpo-lora")
                if first.kind == "preference"
                else ("conversations", "sft-lora or sft-full")
            )
            raise UsageError(f"{path} holds {contents}; train on them with --method {method}")


def _has_context(files: Sequence[Path]) -> bool:
    """Whether a conversation has replies with weight 0."""
    return any(not reply.learned for record in _records(files) for reply in record.replies)


def _records(files: Sequence[Path]) -> Iterator[TrainingRecord]:
    read = (record for path in files for record in training_records(path))
    return (record for record in read if isinstance(record, TrainingRecord))


def _checked(files: Sequence[Path]) -> list[str]:
    """What to warn of. Raises DataError where a file has errors."""
    warnings: list[str] = []
    for path in files:
        show_step(f"checking {path}")
        check = FileCheck()
        for finding in check_training_file(path, check):
            if finding.level == "error":
                lint = shlex.join(["wildtool", "data", "lint", str(path)])
                raise DataError(
                    f"{finding.where}: {finding.rule}: {finding.message}; `{lint}` lists all errors, and `wildtool data "
                    "convert` leaves such rows out"
                )
            if finding.rule in ("F05", "F06"):
                warnings.append(f"{path}: {finding.message}.")
    return warnings


def _overlap(files: Sequence[Path], search: OverlapSearch) -> OverlapResult:
    """What the data have in common with benchmarks. Raises UsageError for rows that `data mix` would leave out."""
    report = write_clean(files, search, REMOVED_FLAGS, None)
    if report.removed:
        counts = {
            result.benchmark: sum(flag in REMOVED_FLAGS for flag in result.touched.values())
            for result in search.results
        }
        touched = ", ".join(f"{counted(count, 'item')} of {name}" for name, count in counts.items() if count)
        raise UsageError(
            f"the data hold {touched} (in {counted(report.removed, 'record')}), so scores on them would mean nothing; "
            f"leave these out with `{_removal(files, REMOVED_FLAGS)}`, or add --no-overlap-check"
        )
    return report


def _removal(files: Sequence[Path], flags: Sequence[str]) -> str:
    """The command that leaves rows with these flags out."""
    words = [
        "wildtool",
        "data",
        "overlap",
        *map(str, files),
        "--remove",
        ",".join(flags),
        "-o",
        "clean.jsonl",
    ]
    return shlex.join(words)


def _without_completion(file: Path, cutoff: int, tokens: Callable[[str], int] | None) -> int:
    """Rows of prompt and completion whose prompt alone is longer than the cut-off: TRL trains on the others only."""
    count = 0
    for line in file.read_bytes().splitlines():
        row = as_object(json.loads(line))
        parts = [
            message["content"] if set(message) == {"role", "content"} else message
            for message in as_objects(row.get("prompt"))
        ]
        texts = [
            part if isinstance(part, str) else json.dumps(part) for part in (*parts, row.get("tools") or "")
        ]
        count += _length("".join(texts).encode(), tokens) + _FRAME_TOKENS * len(parts) > cutoff
    return count


def _length(line: bytes, tokens: Callable[[str], int] | None) -> int:
    """Tokens of a record as the trainer gets it, without the template's own."""
    text = line.decode("utf-8", "replace")
    return tokens(text) if tokens else math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def _cutoff(lengths: Sequence[int], most: int) -> int:
    held = sorted(lengths)[math.ceil(HELD_SHARE * len(lengths)) - 1]
    return min(most, next((cutoff for cutoff in CUTOFFS if cutoff >= held), CUTOFFS[-1]))


def _write_trainings(
    recipe: Recipe,
    out: Path,
    settings: Mapping[str, Any],
    lines: Sequence[bytes],
    lengths: Sequence[int],
    name: str,
) -> list[_Training]:
    """Writes `train.yaml`, and for a curve the data and settings of each size and seed, each size within the larger."""
    sizes = sorted({max(1, round(share * len(lines))) for share in {*recipe.shares, Fraction(1)}})
    entries = read_info(out / "data")
    trainings: list[_Training] = []
    for number in range(recipe.seeds):
        seed = recipe.seed + number
        order = sorted(
            range(len(lines)),
            key=lambda at: drawn_number(str(seed), hashlib.sha256(lines[at]).hexdigest()),
        )
        for size in sizes:
            is_complete = size == len(lines)
            label = f"size-{size}-seed-{seed}"
            dataset = name if is_complete else f"{name}_{size}_{seed}"
            if not is_complete:
                places = sorted(order[:size])  # in the order of the whole file
                _write(out / "data" / f"{dataset}.jsonl", b"".join(lines[at] + b"\n" for at in places))
                entries[dataset] = info_entry(f"{dataset}.jsonl", ranking=is_preference(recipe.method))
            first = is_complete and number == 0
            own = dict(settings)
            if not first:
                own |= {"dataset": dataset, "seed": seed, "output_dir": f"{settings['output_dir']}-{label}"}
            if recipe.fixed == "steps" and not is_complete:
                own["max_steps"] = steps_of(len(lines), settings, recipe.devices)
                del own["num_train_epochs"]
            file = "train.yaml" if first else f"curve/{label}.yaml"
            used = sum(lengths[at] for at in order[:size])
            trainings.append(_Training(f"trained-{size}-{seed}", dataset, size, used, seed, file))
            _write(out / file, _heading(recipe, size, used, own) + yaml_text(own))
    write_info(out / "data", entries)
    return sorted(trainings, key=lambda training: training.rows)


def steps_of(rows: int, settings: Mapping[str, Any], devices: int) -> int:
    """Optimizer steps of a training."""
    if "max_steps" in settings:
        return int(settings["max_steps"])
    batch = settings["per_device_train_batch_size"] * settings["gradient_accumulation_steps"] * devices
    return math.ceil(math.ceil(rows / batch) * settings["num_train_epochs"])


def _heading(recipe: Recipe, rows: int, tokens: int, settings: Mapping[str, Any]) -> str:
    steps = steps_of(rows, settings, recipe.devices)
    return (
        f"# {counted(rows, 'record')}, about {counted(tokens, 'token')} an epoch, {counted(steps, 'step')} on "
        f"{counted(recipe.devices, 'device')}.\n# Values of LLaMA-Factory's examples; no paper gives them.\n"
    )


def _series(recipe: Recipe, trainings: Sequence[_Training], *, has_overlap: bool) -> str:
    """The series, for `wildtool run`, of the models of the recipe, served under the names of their points."""
    text = "# Serve the models under these names, then: wildtool run series.toml\n[series]\n"
    text += f"benchmarks = {json.dumps(list(recipe.benchmarks))}\n"
    text += 'overlap = "overlap.json"\n' if has_overlap else ""
    points = [("base", recipe.model, 0, None, None)]
    points += [(own.name, own.name, own.rows, own.seed, own.tokens) for own in trainings]
    for name, model, size, seed, tokens in points:
        text += f"\n[[point]]\nname = {json.dumps(name)}\nmodel = {json.dumps(model)}\n"
        text += f"base_url = {json.dumps(_BASE_PORT)}\nsize = {size}\n"
        text += "" if seed is None else f"train_seed = {seed}\ntokens = {tokens}\n"
    return text


def _commands(recipe: Recipe, result: RecipeResult) -> Iterator[str]:
    yield f"{_MARK} {__version__} -->"
    yield f"# Training {recipe.model}: {recipe.method}"
    yield ""
    yield f"{counted(result.summary.written, 'record')} from {', '.join(path.name for path in recipe.files)}, checked."
    if result.summary.left_out:
        yield f"Left out: {counted(result.summary.left_out, 'row')}; see the files `.rejects.jsonl` in `data`."
    yield ""
    yield "```sh"
    yield "pip install llamafactory"
    for training in result.trainings:
        yield f"llamafactory-cli train {training.file}"
    if recipe.trl:
        verb = "dpo" if is_preference(recipe.method) else "sft"
        adapters = " peft" if recipe.method.endswith("lora") else ""
        yield "# The same training with TRL instead. LLaMA-Factory needs an older TRL, so in another environment:"
        yield f"python3 -m venv trl-env && trl-env/bin/pip install 'trl>=1.16'{adapters}"
        yield f"trl-env/bin/trl {verb} --config trl.yaml"
    if recipe.method.endswith("lora"):
        yield "llamafactory-cli export merge.yaml  # only if you want weights without an adapter"
        inputs = " ".join(f"{training.name}={_output(result, training)}" for training in result.trainings)
        yield f"vllm serve {shlex.quote(recipe.model)} --enable-lora --lora-modules {inputs}"
    else:
        yield "vllm serve FOLDER --served-model-name NAME  # a server for each model: set base_url in series.toml"
    yield "wildtool run series.toml"
    yield "wildtool compare series.toml --curve data"
    yield "```"
    yield ""


def _advice(recipe: Recipe, result: RecipeResult, *, searched: bool, estimated: bool) -> Iterator[str]:
    template, origin = result.settings["template"], "given" if recipe.template else "chosen by its name"
    yield "## Before you train"
    yield (
        f"- LLaMA-Factory prints the first record as the model sees it. Compare it with {recipe.model}'s own chat "
        f"template: `template: {template}` was {origin}, and a wrong one spoils a training without a word."
    )
    how = "tokens estimated from characters." if estimated else "tokens by the tokenizer."
    yield (
        "- The values in `train.yaml` are those of LLaMA-Factory's examples. No paper on these procedures gives its own. "
        f"Steps and tokens are at the top of the file; {how}"
    )
    if recipe.method.endswith("lora"):
        yield (
            "- LoRA of an 8B model needs about 16 GB for the weights in bf16, and more for activations: 24 GB are tight "
            "at 4,096 tokens."
        )
    else:
        yield f"- Full training of an 8B model needs over 120 GB in all: `{DEEPSPEED_FILE}` divides it among devices."
    if result.by_reply:
        yield (
            "- Replies with weight 0 are context: each other reply ends a record, and `mask_history: true` trains on "
            "that one alone."
        )
    if not searched:
        yield (
            "- **Nobody looked for benchmark items in these data** (`--no-overlap-check`). Scores on a benchmark may be "
            "worthless."
        )
    if recipe.seeds < 3:
        yield (
            "- One training says little about a recipe: `--seeds 3` writes three of each size, so that the "
            "curve knows how much they differ."
        )
    yield (
        '- Train on as many random records, too, and add them to `series.toml` with `arm = "random"`: else nobody knows '
        "what the choice of the data brought."
    )
    yield from (f"- {warning}" for warning in result.warnings)


def _output(result: RecipeResult, training: _Training) -> str:
    label = f"-size-{training.rows}-seed-{training.seed}"
    return result.settings["output_dir"] + ("" if training.file == "train.yaml" else label)


def _digests(folder: Path) -> str:
    paths = [path for path in lasting_files(folder) if path.name != "SHA256SUMS"]
    return "".join(f"{file_sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in paths)


def _write(path: Path, content: str | bytes) -> None:
    with atomic_replace(path) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)
