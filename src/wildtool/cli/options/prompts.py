"""Whose prompts and whose sampling a run takes: wildtool's own, or the original's."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.cli.options import shared as options
from wildtool.cli.options.run import RunOptions
from wildtool.cli.terminal import note
from wildtool.errors import RecordError, UsageError

if TYPE_CHECKING:
    from wildtool.types import Benchmark


def with_prompts(benchmark: "Benchmark", asked: RunOptions, folders: Iterable[Path]) -> "Benchmark":
    """The benchmark with the prompts of `--prompts`; without it those of the run that goes on, else the original's where
    they were pulled. Raises UsageError or DataError.

    Args:
        folders: where the runs lie, or will.
    """
    from wildtool.engine.registry import ORIGINAL, in_prompts, prompts_of

    whose = (asked.prompts and asked.prompts.value) or _going_on(folders)
    chosen = in_prompts(benchmark, whose, asked.split)
    if prompts_of(chosen) and whose is None and not asked.quiet:
        note(
            f"Sends the original's prompts, as pulled (--prompts {ORIGINAL}); --prompts own sends wildtool's wording."
        )
    return chosen


def _going_on(folders: Iterable[Path]) -> str | None:
    """Whose prompts the runs in these folders were begun with."""
    from wildtool.engine.record.run_folder import read_run
    from wildtool.engine.registry import ORIGINAL, OWN

    for folder in folders:
        if (folder / "run.json").is_file():
            try:
                return ORIGINAL if read_run(folder)["identity"].get("prompts") else OWN
            except RecordError:
                continue  # told when the run is opened
    return None


def with_sampling(benchmark: "Benchmark", asked: RunOptions, typed: set[str]) -> RunOptions:
    """The options with what `--sampling` stands for. Raises UsageError where they say it otherwise."""
    from wildtool.engine.registry import sampling_of

    if asked.sampling is None:
        return asked
    wanted = dict(sampling_of(benchmark))
    known: dict[str, tuple[str, Any]] = {
        "temperature": ("temperature", wanted.pop("temperature", None)),
        "max_tokens": ("max_tokens", wanted.pop("max_tokens", None)),
        "retries": ("retries", wanted.pop("attempts", 1) - 1),
    }
    if asked.user_model is not None:
        known["user_temperature"] = ("user_temperature", known["temperature"][1])
    if clash := sorted(typed & known.keys()):
        option = clash[0].replace("_", "-")
        raise UsageError(f"--sampling {asked.sampling.value} sets --{option}; leave one of the two out")
    body = options.json_object(asked.extra_body, "--extra-body")
    if clash := sorted(body.keys() & wanted.keys()):
        raise UsageError(f"--sampling {asked.sampling.value} sets {clash[0]}, and --extra-body does too")
    changed = {field: value for field, value in known.values() if value is not None}
    return replace(asked, **changed, extra_body=json.dumps(body | wanted) if body or wanted else None)
