"""`wildtool data convert`: training data of any layout in the form of a trainer."""

import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from wildtool.cli.command import arg, declared, opt
from wildtool.cli.help import MORE, OUTPUT
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError, unknown_name
from wildtool.terminal import print_err, print_out
from wildtool_data.commands.generate.options import ALLOW_BENCHMARK_DATA_OPTION

if TYPE_CHECKING:
    from wildtool_data.prepare.convert import Conversion, ConversionSummary

_MOST_PROCESSES = 4
_WITHOUT_WEIGHTS = ("sharegpt", "llamafactory", "trl")
"""Forms whose trainers learn all replies of a row, or the last one alone."""
FormName = Literal["sharegpt", "openai", "trl", "llamafactory", "text", "verl", "adp", "tools"]
_TELLING_SUFFIXES = frozenset({".csv", ".gz", ".json", ".jsonl", ".parquet", ".tsv", ".yaml", ".yml", ".zst"})
"""Ends of names by which loaders tell the form of a file."""
_FORMS = {
    "text_with_calls": ("sharegpt", "llamafactory"),
    "lossless": ("sharegpt", "llamafactory"),
    "flat": ("sharegpt", "llamafactory"),
    "for_upload": ("openai",),
    "prompt_completion": ("trl",),
    "tools_as_text": ("trl",),
    "tool_format": ("text", "verl"),
    "drop_weights": ("llamafactory", "verl"),
    "replace": ("llamafactory",),
}
"""The forms that an option is for, by its name; other options are for all."""


@declared
class ConvertOptions:
    """How a conversion reads and writes, as typed."""

    to: FormName | None = opt(
        "Form to write. sharegpt: for LLaMA-Factory; openai: messages; trl: for TRL's trainers;"
        " llamafactory: a folder with dataset_info.json; text: prompt and reply as `run --tool-format`"
        " sends them; verl: the same as a Parquet file of whole conversations; adp: agent data protocol; tools:"
        " tool lists only."
    )
    data_set: str = opt("--from NAME", "Layout of the files; auto looks at their keys.", default="auto")
    out: Path | None = opt("-o PATH", "File, or folder for llamafactory (default: standard output).")
    kind: Literal["sft", "preference", "long"] | None = opt(
        "roborovski-dpo: pairs (default), or the better side alone. long: only records with an argument"
        " that was last mentioned --distance turns before."
    )
    distance: int | None = opt("N", "With --kind long: turns back (default: 4).", min=2)
    system: Literal["clean", "keep"] = opt(
        "System texts that only list tools or explain how to write calls: drop or keep.", default="clean"
    )
    text_with_calls: Literal["drop", "think", "tags"] = opt(
        "sharegpt: text beside calls is dropped, written as thinking, or before tags.", default="drop"
    )
    think_words: tuple[str, str] = opt(
        "OPEN CLOSE", "Words around thinking.", default=("<think>", "</think>"), panel=MORE
    )
    call_words: tuple[str, str] = opt(
        "OPEN CLOSE", "Words around calls.", default=("<tool_call>", "</tool_call>"), panel=MORE
    )
    finish: Literal["text", "keep"] = opt(
        "toolbench: the final call becomes the answer, or stays a call.", default="text", panel=MORE
    )
    prefixes: Literal["longest", "all"] = opt(
        "toolbench: of step records of one solution, keep the longest or all.", default="longest", panel=MORE
    )
    lossless: bool = opt("sharegpt: keep what has no place in a column `wildtool`.", panel=OUTPUT)
    flat: bool = opt(
        "sharegpt: ToLeaP's variant, only human and gpt turns, tools in the system text.", panel=OUTPUT
    )
    for_upload: bool = opt("openai: as its fine-tuning wants it: no empty tools.", panel=OUTPUT)
    prompt_completion: bool = opt(
        "trl: write a prompt and the last reply, which alone is learned.", panel=OUTPUT
    )
    tools_as_text: bool = opt("trl: write tools as JSON text.", panel=OUTPUT)
    tool_format: str | None = opt(
        "NAME",
        "text, verl: how tools, calls and results are written: the --tool-format of your runs.",
        complete=completion.tool_formats,
        panel=OUTPUT,
    )
    safe_names: bool = opt("Rename tools that endpoints refuse.", panel=OUTPUT)
    drop_weights: bool = opt("llamafactory, verl: train on messages with weight 0 too.", panel=OUTPUT)
    keep_rejects: bool = opt("Write the rows left out to OUT.rejects.jsonl too.", panel=OUTPUT)
    strict: bool = opt(
        "Exit status 1 if any row was left out, or parts of a row or reasoning were lost.", panel=OUTPUT
    )
    replace: bool = opt("llamafactory: replace an entry of the same name.", panel=OUTPUT)
    allow_benchmark_data: bool = ALLOW_BENCHMARK_DATA_OPTION
    jobs: int | None = opt("Processes for large files (default: one per core, at most 4).", min=1, panel=MORE)
    force: bool = opt("Replace an existing file.", panel=OUTPUT)
    as_json: bool = options.JSON_OPTION

    def check(self) -> None:
        """Raises UsageError for options that contradict each other or lack one."""
        if self.to is None:
            raise UsageError(f"name the form to write: --to {'|'.join(get_args(FormName))}")
        for name, forms in _FORMS.items():
            if getattr(self, name) not in (None, False, "drop") and self.to not in forms:
                raise UsageError(
                    f"--{name.replace('_', '-')} cannot be used with --to {self.to}; it is for: {', '.join(forms)}"
                )
        if self.to in _FORMS["tool_format"]:
            self._check_format()
        if self.distance is not None and self.kind != "long":
            raise UsageError("--distance needs --kind long")
        if self.flat and self.lossless:
            raise UsageError("--flat and --lossless exclude each other: the flat variant keeps no calls")
        if self.out is None and (self.keep_rejects or self.as_json):
            raise UsageError("--keep-rejects and --json need a file to write: --out converted.jsonl")

    def _check_format(self) -> None:
        from wildtool.tool_formats import CALL_FORMATS

        if self.tool_format is None:
            raise UsageError(
                f"--to {self.to} needs the format of your runs: --tool-format hermes, or another of"
                " `wildtool list formats`"
            )
        if self.tool_format not in CALL_FORMATS:
            raise UsageError(unknown_name("format", self.tool_format, CALL_FORMATS))


def convert(
    convert_options: ConvertOptions,
    files: list[Path] = arg(
        "FILE…",
        "JSON, JSON Lines, CSV or Parquet, also with gzip or zstd; case files or folders of them; or run"
        " folders, for their correct conversations.",
    ),
) -> int:
    """Convert training data of any layout for a trainer.

    \b
    Examples:
      wildtool data convert toolace.json --to llamafactory -o lf
      wildtool data convert toolace.json --from toolace --to trl -o toolace.jsonl

    \b
    Layouts for --from:
      sharegpt, openai (also TRL's), hermes, hermes-prompts, xlam, toolace,
      glaive-chatml, glaive-code, glaive-toolcall, toolbench, toolgen, bitagent,
      pandora, roborovski-dpo, gsm8k-toolcalls, python-tools

    Rows that cannot be converted are counted and listed in OUT.rejects.jsonl. What a form has no place for
    is counted by name.
    """
    convert_options.check()
    from wildtool.training.procedures.official import refusal
    from wildtool_data.prepare.run_rows import benchmark_owners
    from wildtool_data.prepare.writers.sharegpt import REASONING

    owners = list(dict.fromkeys(owner for path in files for owner in benchmark_owners(path)))
    if owners and not convert_options.allow_benchmark_data:
        raise refusal(owners[0])
    summary = _write(_conversion(files, convert_options), convert_options)
    if owners:
        print_err(f"made of the data of {', '.join(owners)}: scores on them mean nothing afterwards")
    is_incomplete = summary.refused or summary.unread or summary.lost[REASONING]
    return 1 if convert_options.strict and is_incomplete else 0


def _conversion(files: Sequence[Path], options: ConvertOptions) -> "Conversion":
    from wildtool.training.readers.options import ReadOptions
    from wildtool.training.writers.options import DEFAULT_WRITING, RECIPE_CHOICES, WriteOptions
    from wildtool_data.prepare.case_rows import cases_of
    from wildtool_data.prepare.convert import Conversion
    from wildtool_data.prepare.reach import FAR_TURNS
    from wildtool_data.prepare.run_rows import learns_all, training_rows
    from wildtool_data.prepare.writers.forms import TRAINING_FORMS

    assert options.to is not None
    without_weights = options.to in _WITHOUT_WEIGHTS and not options.drop_weights
    runs = [path for path in files if path.is_dir() or cases_of(path)] if without_weights else []
    by_reply = options.to == "text" or (
        bool(runs) and (options.prompt_completion or not all(map(learns_all, runs)))
    )
    names = {each.name for each in fields(WriteOptions)} - RECIPE_CHOICES
    writing = {name: getattr(options, name) for name in names}
    writing["tool_format"] = options.tool_format or DEFAULT_WRITING.tool_format
    writing["prompt_completion"] |= by_reply and options.to == "trl"
    notes: Counter[str] = Counter()
    return Conversion(
        files=tuple(files),
        form=TRAINING_FORMS[options.to],
        data_set=options.data_set,
        reading=ReadOptions(
            kind="" if options.kind in (None, "long") else options.kind,
            keep_system=options.system == "keep",
            keep_finish=options.finish == "keep",
        ),
        writing=WriteOptions(**writing),
        safe_names=options.safe_names,
        all_prefixes=options.prefixes == "all",
        least_reach=(options.distance or FAR_TURNS) if options.kind == "long" else 0,
        by_reply=by_reply,
        rows=partial(training_rows, notes=notes),
        row_notes=notes,
        processes=options.jobs or min(_cores(), _MOST_PROCESSES),
    )


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_name(out: Path, form: str, *, ends: Sequence[str]) -> None:
    """Raises UsageError for a file whose name says another form, by which loaders would read it."""
    suffix = out.suffix.casefold()
    if suffix in _TELLING_SUFFIXES and suffix not in ends:
        raise UsageError(f"{out}: --to {form} writes no {suffix} file; give it a name that ends in {ends[0]}")


def _write(conversion: "Conversion", options: ConvertOptions) -> "ConversionSummary":
    from wildtool_data.commands.data.conversion import conversion_lines
    from wildtool_data.prepare.convert import summary_fields
    from wildtool_data.prepare.converted_files import (
        rejects_file,
        write_conversion,
        write_llamafactory,
        write_stream,
    )

    out, show = options.out, print_out
    rejects = None
    if out is None:
        if conversion.form.folder:
            raise UsageError("name the folder to write: --out lf")
        summary, show = write_stream(conversion, sys.stdout.buffer), print_err
    elif conversion.form.folder:
        summary, name = write_llamafactory(
            conversion,
            out,
            force=options.force,
            keep_rejects=options.keep_rejects,
            replace=options.replace,
        )
        out /= f"{name}.jsonl"
    else:
        _check_name(
            out, options.to or "", ends=(".parquet",) if conversion.form.columns else (".jsonl", ".json")
        )
        summary = write_conversion(conversion, out, force=options.force, keep_rejects=options.keep_rejects)
    if out is not None and (file := rejects_file(out)).exists():
        rejects = file
    if options.as_json:
        files = {"out": str(out), "rejects": str(rejects) if rejects else None}
        print(json.dumps({**files, **summary_fields(summary)}, indent=1))
        return summary
    for line in conversion_lines(summary, conversion, rejects):
        show(line)
    if out is not None:
        show(str(out))
    return summary
