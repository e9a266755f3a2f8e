"""Whose fault the failed units of a run were, from Python; the command does the same with models of names."""

import json
from collections.abc import Mapping
from pathlib import Path

from wildtool.blame.asked_again import given_models
from wildtool.blame.blaming import blame_units
from wildtool.blame.of_run import BlameSettings, Prepared, begin, prepare_blame
from wildtool.blame.report import BlameReport, report_of
from wildtool.engine.call.client import Invocation
from wildtool.outputs import write_file
from wildtool.report import missing_libraries
from wildtool.types import Model

PAGE, RESULT = "blame.html", "result.json"
"""Files in the folder of plays."""


def blame_run(run: Path, models: Mapping[str, Model], settings: BlameSettings) -> BlameReport:
    """Plays the failed units of a run again with one party right, and says whose fault they were.

    Not for use inside a running event loop.

    Args:
        run: the folder of the run.
        models: by role what is asked again: the model under test as `agent`, and whoever plays the user as `user`.

    Raises UsageError for a run that cannot be played again, RecordError for a damaged one, and what a run raises.
    """
    prepared = prepare_blame(run, settings, lambda job: given_models(models))
    return play_blame(run, prepared, settings, Invocation())


def play_blame(
    run: Path,
    prepared: Prepared,
    settings: BlameSettings,
    invocation: Invocation,
) -> BlameReport:
    """Plays what is needed, or goes on with it, and writes the result and its page. Raises as `blame_run`."""
    begin(run, settings)
    blamed = blame_units(prepared.trials, prepared.units, prepared.tried, invocation)
    report = report_of(prepared, blamed)
    write_file(settings.out / RESULT, json.dumps(report.as_json(), indent=1).encode())
    if not missing_libraries():
        from wildtool.blame.page import write_page

        write_page(report, blamed, settings.out / PAGE)
    return report
