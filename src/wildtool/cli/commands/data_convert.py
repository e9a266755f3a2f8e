"""`wildtool data convert`: training data of any layout in the form of a trainer."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wildtool.cli.command import MORE, OUTPUT
from wildtool.cli.options import shared as options
from wildtool.cli.options.training import AllowBenchmarkDataOption
from wildtool.cli.terminal import print_err, print_out
from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.training.convert import Conversion, ConversionSummary

_MOST_PROCESSES = 4
_WITHOUT_WEIGHTS = ("sharegpt", "llamafactory", "trl")
"""Forms whose trainers learn all replies of a row, or the last one alone."""
FormName = Literal["sharegpt", "openai", "trl", "llamafactory", "adp", "tools"]


def convert(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="JSON, JSON Lines, CSV or Parquet, also with gzip or zstd; or run folders, for their correct"
            " conversations.",
        ),
    ],
    to: Annotated[
        FormName | None,
        typer.Option(
            "--to",
            help="Form to write. sharegpt: for LLaMA-Factory; openai: messages; trl: for TRL's trainers;"
            " llamafactory: a folder with dataset_info.json; adp: agent data protocol; tools: tool lists only.",
        ),
    ] = None,
    data_set: Annotated[
        str, typer.Option("--from", metavar="NAME", help="Layout of the files; auto looks at their keys.")
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            *("--out", "-o"),
            metavar="PATH",
            help="File, or folder for llamafactory (default: standard output).",
        ),
    ] = None,
    kind: Annotated[
        Literal["sft", "preference", "long"] | None,
        typer.Option(
            help="roborovski-dpo: pairs (default), or the better side alone. long: only records with an argument"
            " that was last mentioned --distance turns before."
        ),
    ] = None,
    distance: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="With --kind long: turns back (default: 4)."),
    ] = None,
    system: Annotated[
        Literal["clean", "keep"],
        typer.Option(help="System texts that only list tools or explain how to write calls: drop or keep."),
    ] = "clean",
    text_with_calls: Annotated[
        Literal["drop", "think", "tags"],
        typer.Option(
            "--text-with-calls",
            help="sharegpt: text beside calls is dropped, written as thinking, or before tags.",
        ),
    ] = "drop",
    think_words: Annotated[
        tuple[str, str],
        typer.Option(
            "--think-words", metavar="OPEN CLOSE", help="Words around thinking.", rich_help_panel=MORE
        ),
    ] = ("<think>", "</think>"),
    call_words: Annotated[
        tuple[str, str],
        typer.Option("--call-words", metavar="OPEN CLOSE", help="Words around calls.", rich_help_panel=MORE),
    ] = ("<tool_call>", "</tool_call>"),
    finish: Annotated[
        Literal["text", "keep"],
        typer.Option(
            help="toolbench: the final call becomes the answer, or stays a call.", rich_help_panel=MORE
        ),
    ] = "text",
    prefixes: Annotated[
        Literal["longest", "all"],
        typer.Option(
            help="toolbench: of step records of one solution, keep the longest or all.", rich_help_panel=MORE
        ),
    ] = "longest",
    lossless: Annotated[
        bool,
        typer.Option(
            "--lossless",
            help="sharegpt: keep what has no place in a column `wildtool`.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    flat: Annotated[
        bool,
        typer.Option(
            "--flat",
            help="sharegpt: ToLeaP's variant, only human and gpt turns, tools in the system text.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    for_upload: Annotated[
        bool,
        typer.Option(
            "--for-upload",
            help="openai: as its fine-tuning wants it: no empty tools.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    prompt_completion: Annotated[
        bool,
        typer.Option(
            "--prompt-completion",
            help="trl: write a prompt and the last reply, which alone is learned.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    tools_as_text: Annotated[
        bool,
        typer.Option("--tools-as-text", help="trl: write tools as JSON text.", rich_help_panel=OUTPUT),
    ] = False,
    safe_names: Annotated[
        bool,
        typer.Option("--safe-names", help="Rename tools that endpoints refuse.", rich_help_panel=OUTPUT),
    ] = False,
    drop_weights: Annotated[
        bool,
        typer.Option(
            "--drop-weights",
            help="llamafactory: train on messages with weight 0 too.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    keep_rejects: Annotated[
        bool,
        typer.Option(
            "--keep-rejects", help="Write the rows left out to OUT.rejects.jsonl too.", rich_help_panel=OUTPUT
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit status 1 if any row was left out, or reasoning was lost.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="llamafactory: replace an entry of the same name.", rich_help_panel=OUTPUT
        ),
    ] = False,
    allow_benchmark_data: AllowBenchmarkDataOption = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Processes for large files (default: one per core, at most 4).",
            rich_help_panel=MORE,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: options.JsonOption = False,
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
    from collections import Counter
    from functools import partial

    from wildtool.export.training_rows import benchmark_owners, learns_all, training_rows
    from wildtool.training.convert import Conversion
    from wildtool.training.procedures.official import refusal
    from wildtool.training.reach import FAR_TURNS
    from wildtool.training.readers.options import ReadOptions
    from wildtool.training.writers.forms import TRAINING_FORMS
    from wildtool.training.writers.options import WriteOptions
    from wildtool.training.writers.sharegpt import REASONING

    if to is None:
        raise UsageError(f"name the form to write: --to {'|'.join(TRAINING_FORMS)}")
    _check_pairs(
        to,
        {
            "--text-with-calls": (text_with_calls != "drop", ("sharegpt", "llamafactory")),
            "--lossless": (lossless, ("sharegpt", "llamafactory")),
            "--flat": (flat, ("sharegpt", "llamafactory")),
            "--for-upload": (for_upload, ("openai",)),
            "--prompt-completion": (prompt_completion, ("trl",)),
            "--tools-as-text": (tools_as_text, ("trl",)),
            "--drop-weights": (drop_weights, ("llamafactory",)),
            "--replace": (replace, ("llamafactory",)),
        },
    )
    if distance is not None and kind != "long":
        raise UsageError("--distance needs --kind long")
    if flat and lossless:
        raise UsageError("--flat and --lossless exclude each other: the flat variant keeps no calls")
    if out is None and (keep_rejects or as_json):
        raise UsageError("--keep-rejects and --json need a file to write: --out converted.jsonl")
    owners = list(dict.fromkeys(owner for path in files for owner in benchmark_owners(path)))
    if owners and not allow_benchmark_data:
        raise refusal(owners[0])
    runs = [path for path in files if path.is_dir()] if to in _WITHOUT_WEIGHTS and not drop_weights else []
    by_reply = bool(runs) and (prompt_completion or not all(map(learns_all, runs)))
    notes: Counter[str] = Counter()
    conversion = Conversion(
        files=tuple(files),
        form=TRAINING_FORMS[to],
        data_set=data_set,
        reading=ReadOptions(
            kind="" if kind in (None, "long") else kind,
            keep_system=system == "keep",
            keep_finish=finish == "keep",
        ),
        writing=WriteOptions(
            text_with_calls=text_with_calls,
            think_words=think_words,
            call_words=call_words,
            lossless=lossless,
            flat=flat,
            for_upload=for_upload,
            prompt_completion=prompt_completion or (by_reply and to == "trl"),
            tools_as_text=tools_as_text,
        ),
        safe_names=safe_names,
        all_prefixes=prefixes == "all",
        least_reach=(distance or FAR_TURNS) if kind == "long" else 0,
        by_reply=by_reply,
        rows=partial(training_rows, notes=notes),
        row_notes=notes,
        processes=jobs or min(_cores(), _MOST_PROCESSES),
    )
    summary = _write(
        conversion,
        out,
        force=force,
        keep_rejects=keep_rejects,
        replace=replace,
        drop_weights=drop_weights,
        as_json=as_json,
    )
    if owners:
        print_err(f"made of the data of {', '.join(owners)}: scores on them mean nothing afterwards")
    return 1 if strict and (summary.refused or summary.lost[REASONING]) else 0


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_pairs(to: str, given: dict[str, tuple[bool, tuple[str, ...]]]) -> None:
    for option, (is_given, forms) in given.items():
        if is_given and to not in forms:
            raise UsageError(f"{option} cannot be used with --to {to}; it is for: {', '.join(forms)}")


def _write(
    conversion: "Conversion",
    out: Path | None,
    *,
    force: bool,
    keep_rejects: bool,
    replace: bool,
    drop_weights: bool,
    as_json: bool,
) -> "ConversionSummary":
    from wildtool.cli.output.conversion import conversion_lines
    from wildtool.training.convert import summary_fields
    from wildtool.training.converted_files import (
        rejects_file,
        write_conversion,
        write_llamafactory,
        write_stream,
    )

    if out is None:
        if conversion.form.folder:
            raise UsageError("name the folder to write: --out lf")
        summary = write_stream(conversion, sys.stdout.buffer)
        for line in conversion_lines(summary, conversion, None):
            print_err(line)
        return summary
    target = out
    if conversion.form.folder:
        summary, name = write_llamafactory(
            conversion,
            out,
            force=force,
            keep_rejects=keep_rejects,
            replace=replace,
            drop_weights=drop_weights,
        )
        target = out / f"{name}.jsonl"
    else:
        summary = write_conversion(conversion, out, force=force, keep_rejects=keep_rejects)
    listed = rejects_file(target)
    if as_json:
        files = {"out": str(target), "rejects": str(listed) if listed.exists() else None}
        print(json.dumps({**files, **summary_fields(summary)}, indent=1))
    else:
        for line in conversion_lines(summary, conversion, listed if listed.exists() else None):
            print_out(line)
        print_out(str(target))
    return summary
