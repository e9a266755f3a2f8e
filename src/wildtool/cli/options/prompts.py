"""Whose prompts and whose sampling a run takes: wildtool's own, or the original's."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.cli.options import shared as options
from wildtool.cli.options.run import RunOptions
from wildtool.cli.terminal import print_err
from wildtool.errors import RecordError, UsageError

if TYPE_CHECKING:
    from wildtool.types import Benchmark


def with_prompts(benchmark: "Benchmark", run_options: RunOptions, folders: Iterable[Path]) -> "Benchmark":
    """The benchmark with the prompts of `--prompts`; without it those of the run that goes on, else the original's where
    they were pulled. Raises UsageError or DataError.

    Args:
        folders: where the runs lie, or will.
    """
    from wildtool.engine.registry import ORIGINAL_WORDING, choose_prompts, prompts_of

    whose = (run_options.prompts and run_options.prompts.value) or _resumed_prompts(folders)
    chosen = choose_prompts(benchmark, whose, run_options.split)
    if prompts_of(chosen) and whose is None and not run_options.quiet:
        print_err(
            "Sends the original's prompts, as pulled "
            f"(--prompts {ORIGINAL_WORDING}); --prompts own sends wildtool's wording."
        )
    return chosen


def _resumed_prompts(folders: Iterable[Path]) -> str | None:
    """Whose prompts the runs in these folders were begun with."""
    from wildtool.engine.record.run_folder import read_run
    from wildtool.engine.registry import ORIGINAL_WORDING, OWN_WORDING

    for folder in folders:
        if (folder / "run.json").is_file():
            try:
                return ORIGINAL_WORDING if read_run(folder)["identity"].get("prompts") else OWN_WORDING
            except RecordError:
                continue  # told when the run is opened
    return None


def with_sampling(benchmark: "Benchmark", run_options: RunOptions, explicit: set[str]) -> RunOptions:
    """The options with what `--sampling` stands for. Raises UsageError where they say it otherwise."""
    from wildtool.engine.registry import original_sampling

    if run_options.sampling is None:
        return run_options
    wanted = dict(original_sampling(benchmark))
    known: dict[str, tuple[str, Any]] = {
        "temperature": ("temperature", wanted.pop("temperature", None)),
        "max_tokens": ("max_tokens", wanted.pop("max_tokens", None)),
        "retries": ("retries", wanted.pop("attempts", 1) - 1),
    }
    if run_options.user_model is not None:
        known["user_temperature"] = ("user_temperature", known["temperature"][1])
    if clash := sorted(explicit & known.keys()):
        option = clash[0].replace("_", "-")
        raise UsageError(f"--sampling {run_options.sampling.value} sets --{option}; leave one of the two out")
    body = options.parse_json_object(run_options.extra_body, "--extra-body")
    if clash := sorted(body.keys() & wanted.keys()):
        raise UsageError(
            f"--sampling {run_options.sampling.value} sets {clash[0]}, and --extra-body does too"
        )
    changed = {field: value for field, value in known.values() if value is not None}
    return replace(run_options, **changed, extra_body=json.dumps(body | wanted) if body or wanted else None)
