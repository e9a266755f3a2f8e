"""`wildtool run`: runs a benchmark on models and scores it; the same command continues a stopped run."""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wildtool.api.meaning import spending_limits, tool_counts_of
from wildtool.api.plans import NamedRun, invocation_of, plan
from wildtool.api.settings import Settings
from wildtool.benchmarks import SUITES
from wildtool.cli.command import report_error, worst_status
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import explicit_options, loaded_config
from wildtool.cli.options.run import RunOptions
from wildtool.errors import UsageError, WildtoolError
from wildtool.outputs import is_shared
from wildtool.steps import show_steps
from wildtool.terminal import print_err

SERIES_SUFFIX = ".toml"
"""How the name of a file ends that names a series of models."""

if TYPE_CHECKING:
    from wildtool.check.first_replies import FirstReplies
    from wildtool.engine.call.client import Invocation
    from wildtool.types import Reply


def run(
    run_options: RunOptions,
    context: typer.Context,
    benchmark: str = options.BENCHMARK_OR_SUITE_ARGUMENT,
    sort: str = options.SORT_OPTION,
) -> int:
    """Run a benchmark on models and score it.

    \b
    Examples:
      wildtool run wild-mini --model baseline/gold
      wildtool run wildtoolbench --model gpt-4o --temperature 0 --limit 20
      wildtool run acebench --model claude-sonnet-4-5 --user-model gpt-4o
      wildtool run wild-mini --model qwen3 --base-url http://127.0.0.1:8000/v1
      wildtool run all --model baseline/gold --limit 5
      wildtool run series.toml --limit 50

    Every reply is recorded as it arrives. If a run stops, the same command continues it and sends nothing twice.
    """
    if sort != "rank" and (benchmark.endswith(SERIES_SUFFIX) or run_options.on or run_options.dry_run):
        raise UsageError(
            "--sort is for the table of a run on this machine; afterwards there is `wildtool show --sort`"
        )
    if benchmark.endswith(SERIES_SUFFIX):
        return _run_series(run_options, context, Path(benchmark))
    settings = run_options.settings(benchmark, explicit_options(context))
    entries, report = loaded_config(context).models, None if run_options.quiet else print_err
    suite = None
    if benchmark in SUITES:
        from wildtool.cli.suite import Suite

        suite = Suite(settings)
        runs = suite.plan(
            lambda its_settings, parent: plan(its_settings, entries, report=report, parent=parent)
        )
    else:
        runs = plan(settings, entries, report=report)
    if run_options.server is not None and run_options.on is None:
        raise UsageError("--server starts a server for each worker; give --on, such as --on local:1")
    if not run_options.dry_run and (run_options.on or any(is_shared(run.folder) for run in runs)):
        if suite is not None:
            raise UsageError(f"--on and addresses of stores take one benchmark; {benchmark} is several")
        if len(tool_counts_of(settings.alterations)) > 1:
            raise UsageError("--on and addresses of stores take one size of --among; run each by itself")
        from wildtool.scale.commands import run_shared

        return run_shared(runs, settings)
    status = execute_runs(runs, settings, sort=sort)
    return status if suite is None or run_options.dry_run else suite.finish(status)


def _run_series(run_options: RunOptions, context: typer.Context, file: Path) -> int:
    """Runs the models of a series, and says what draws its curve. Gives the exit status."""
    from wildtool.cli.series import run_series

    status, _, _ = run_series(run_options, context, file, partial(execute_runs, tables=False))
    if not run_options.dry_run and not run_options.quiet:
        place = "" if run_options.out is None else f" -o {run_options.out}"
        print_err(f"Its curve: wildtool compare {file} --curve data{place}")
    return status


def execute_runs(
    runs: Sequence[NamedRun], settings: Settings, *, tables: bool = True, sort: str = "rank"
) -> int:
    """Starts all runs with the limits, the cache and the display of one command, or only estimates what they cost. Gives
    the exit status. Raises UsageError.

    Args:
        tables: whether the numbers are printed.
        sort: the order of their models, as of `places_by`.
    """
    if settings.workers.dry_run:
        from wildtool.cli.output.estimate import print_estimate

        print_estimate({run.label: run.plan for run in runs}, spending_limits(settings.limits))
        return 0
    if settings.output.quiet:
        show_steps(lambda text: None)
    with invocation_of(runs, settings) as invocation:
        return _execute_plans(runs, invocation, settings, tables, sort)


def _execute_plans(
    runs: Sequence[NamedRun], invocation: "Invocation", settings: Settings, tables: bool, sort: str = "rank"
) -> int:
    """Starts all runs; one that fails does not stop the others. Gives the exit status."""
    from wildtool.engine.observer import Observer
    from wildtool.engine.run.progress import ProgressObserver
    from wildtool.engine.run.runner import RunJob, RunResult, run_plans
    from wildtool.terminal.progress import ProgressDisplay

    quiet = settings.output.quiet
    looks = [_no_remarks if settings.workers.no_check else _remarks_on_first_replies() for _ in runs]
    displays = (
        []
        if quiet
        else [
            ProgressObserver(run.label, look=look, tally=run.plan.tally, folder=run.folder)
            for run, look in zip(runs, looks, strict=True)
        ]
    )
    observers: Sequence[Observer] = displays or [Observer() for _ in runs]
    jobs = [RunJob(run.plan, run.folder, observer) for run, observer in zip(runs, observers, strict=True)]
    with ProgressDisplay(displays):
        outcomes = run_plans(jobs, command=["wildtool", *sys.argv[1:]], invocation=invocation)
    from wildtool.cli.output.run_result import print_notes, print_overview_of, print_spend

    statuses: list[int] = []
    scored: dict[str, list[NamedRun]] = {}
    for run, outcome in zip(runs, outcomes, strict=True):
        if isinstance(outcome, RunResult):
            print_notes(outcome)
            if not quiet:
                print_spend(outcome, run.plan)
            statuses.append(outcome.exit_status)
            # A model that never answered has no numbers.
            answered = outcome.counts.correct + outcome.counts.wrong
            if tables and answered and not outcome.interrupted:
                scored.setdefault(run.plan.profile, []).append(run._replace(folder=outcome.folder))
        elif outcome is not None:
            if len(runs) > 1 and isinstance(outcome, WildtoolError):
                print_err(f"{run.label} did not finish:")
            statuses.append(report_error(outcome))
    for profile, its in scored.items():
        print_overview_of(its, profile, quiet, sort)
    return worst_status(statuses)


def _no_remarks(reply: "Reply") -> Iterable[str]:
    return ()


def _remarks_on_first_replies() -> "Callable[[Reply], Iterable[str]]":
    """Looks for broken tool calls in the first replies of a run; what it takes is loaded with the first of them."""
    looks: list[FirstReplies] = []

    def look(reply: "Reply") -> Iterable[str]:
        if not looks:
            from wildtool.check.first_replies import FirstReplies

            looks.append(FirstReplies())
        return looks[0](reply)

    return look
