"""`wildtool run`: runs a benchmark on models and scores it; the same command continues a stopped run."""

import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wildtool.benchmarks import SUITES
from wildtool.cli.command import parse_json_object, report_error, worst_status
from wildtool.cli.models import ConfiguredModel, ModelCatalog, assign_other_roles, check_prices
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import explicit_options, loaded_config
from wildtool.cli.options.run import NamedRun, RunOptions
from wildtool.cli.terminal import print_err
from wildtool.errors import RecordError, UsageError, WildtoolError
from wildtool.outputs import check_folder, is_run

if TYPE_CHECKING:
    from wildtool.alter.base import Alteration
    from wildtool.benchmark import Benchmark
    from wildtool.engine.call.client import Invocation
    from wildtool.engine.plan import Plan
    from wildtool.models.replay import RecordedReplies


def run(
    run_options: RunOptions, context: typer.Context, benchmark: str = options.BENCHMARK_OR_SUITE_ARGUMENT
) -> int:
    """Run a benchmark on models and score it.

    \b
    Examples:
      wildtool run wild-mini --model baseline/gold
      wildtool run wildtoolbench --model gpt-4o --temperature 0 --limit 20
      wildtool run acebench --model claude-sonnet-4-5 --user-model gpt-4o
      wildtool run wild-mini --model qwen3 --base-url http://127.0.0.1:8000/v1
      wildtool run all --model baseline/gold --limit 5

    Every reply is recorded as it arrives. If a run stops, the same command continues it and sends nothing twice.
    """
    run_options.check()
    suite = None
    if benchmark in SUITES:
        from wildtool.cli.suite import Suite

        suite = Suite(benchmark, run_options, explicit_options(context))
        runs = suite.plan(lambda name, its_options, parent: plan_runs(name, its_options, context, parent))
    else:
        runs = plan_runs(benchmark, run_options, context)
    status = execute_runs(runs, run_options)
    return status if suite is None or run_options.dry_run else suite.finish(status)


def execute_runs(runs: Sequence[NamedRun], run_options: RunOptions, *, tables: bool = True) -> int:
    """Starts all runs with the limits, the cache and the display of one command, or only estimates what they cost. Gives
    the exit status. Raises UsageError.

    Args:
        tables: whether the numbers are printed.
    """
    from wildtool.engine.call.budget import Budget
    from wildtool.engine.call.cache import ReplyCache
    from wildtool.engine.call.client import Invocation

    limits = run_options.spending_limits()
    if run_options.dry_run:
        from wildtool.cli.output.estimate import print_estimate

        print_estimate({run.label: run.plan for run in runs}, limits)
        return 0
    for run in runs:
        check_folder(run.folder, is_run, force=run_options.force)
    prices = {plan.models[role].name: plan.prices.get(role) for _, plan, _ in runs for role in plan.models}
    check_prices(prices, run_options.max_cost)
    invocation = Invocation(Budget(limits), ReplyCache(run_options.cache) if run_options.cache else None)
    try:
        return _execute_plans(runs, invocation, run_options.quiet, tables)
    finally:
        if invocation.cache is not None:
            invocation.cache.close()


def plan_runs(
    name: str, run_options: RunOptions, context: typer.Context, parent: Path | None = None
) -> list[NamedRun]:
    """The runs of one benchmark, one per model; prints what the user should know. Raises UsageError or DataError.

    Args:
        parent: folder above the runs; None for `--out` or the usual one.
    """
    from wildtool.benchmark import JUDGED, RETRIEVAL
    from wildtool.engine.registry import load_benchmark
    from wildtool.models.resolve import folder_name

    alterations = run_options.alterations()
    chosen = load_benchmark(name, run_options.mode)
    if run_options.mode is None and run_options.retriever is not None and RETRIEVAL in chosen.modes:
        chosen = chosen.in_mode(RETRIEVAL)
    if run_options.mode is None and run_options.judge is not None and JUDGED in chosen.modes:
        chosen = chosen.in_mode(JUDGED)
    run_options = _with_sampling(chosen, run_options, explicit_options(context))
    alone = parent is None and run_options.out is not None and len(run_options.model_names) == 1
    parent = parent or run_options.out or _default_parent(chosen, alterations)
    folders = {model: parent if alone else parent / folder_name(model) for model in run_options.model_names}
    chosen = _with_prompts(chosen, run_options, folders.values())
    plans = _build_plans(chosen, alterations, run_options, context)
    return [NamedRun(model, plan, folders[model]) for model, plan in plans.items()]


def _default_parent(benchmark: "Benchmark", alterations: "Sequence[Alteration]") -> Path:
    """`runs/BENCH`; another mode than the first and each alteration get a separate folder, so that all can be run."""
    parts = [benchmark.name]
    parts += [] if benchmark.mode == next(iter(benchmark.modes)) else [benchmark.mode]
    parts += [part for alteration in alterations for part in alteration.folder_parts]
    return Path("runs", "-".join(parts))


def _build_plans(
    benchmark: "Benchmark",
    alterations: "tuple[Alteration, ...]",
    run_options: RunOptions,
    context: typer.Context,
) -> "dict[str, Plan]":
    """A plan for each model, by its name; prints what the user should know. Raises UsageError or DataError."""
    from wildtool.benchmark import COMPLETION
    from wildtool.data.data_set import data_of
    from wildtool.engine.call.budget import read_prices
    from wildtool.engine.plan import Plan

    def open_replies(path: Path, model: str | None) -> "RecordedReplies":
        from wildtool.engine.replies.replies_file import replay_source

        return replay_source(benchmark, source)(path, model)

    run_options.check_roles(benchmark)
    source = data_of(benchmark).locate(run_options.data, run_options.split)
    settings = run_options.model_options(open_replies, completion=benchmark.mode == COMPLETION)
    catalog = ModelCatalog(loaded_config(context).models, read_prices(run_options.prices))
    explicit = explicit_options(context)
    agents = {
        name: catalog.find(name, settings, explicit, run_options.rates) for name in run_options.model_names
    }
    plans = {
        name: Plan(
            benchmark=benchmark,
            source=source,
            models={"agent": agent.model},
            profile=run_options.profile or next(iter(benchmark.profiles)),
            alterations=alterations,
            **run_options.plan_settings(),
        )
        for name, agent in agents.items()
    }
    if not run_options.quiet:
        _print_formats(plans)
    first = next(iter(plans.values()))
    first.check_settings()
    items = first.selection.read()
    searches = any(benchmark.roles[role].searches for role in items.roles)
    documents = data_of(benchmark).documents(source) if searches else dict[str, str]()
    altered = [each.check(benchmark, items, first.profile) for each in alterations]
    notes = dict.fromkeys(note for note in altered if note)
    complete: dict[str, Plan] = {}
    for name, plan in plans.items():
        # Each run closes its models at its end, so plans share none.
        others, remarks = assign_other_roles(
            *(benchmark, items.roles, agents[name].model, settings, run_options.role_options, catalog),
            *(run_options.rates, documents),
        )
        role_models = {"agent": agents[name], **others}
        batched, more = _batched_roles(role_models, run_options, explicit)
        chosen = [model.endpoint_note for model in role_models.values() if model.endpoint_note]
        notes.update(dict.fromkeys([*chosen, *remarks, *more]))
        complete[name] = _with_role_models(replace(plan, items=items), role_models, batched)
    if not run_options.quiet:
        for note in notes:
            print_err(note)
    return complete


def _with_role_models(
    plan: "Plan", role_models: Mapping[str, ConfiguredModel], batched: Collection[str]
) -> "Plan":
    """The plan with the models of all roles, how they are called and what that costs. Raises UsageError."""
    whole = replace(
        plan,
        models={role: named.model for role, named in role_models.items()},
        rates={role: named.rates for role, named in role_models.items()},
        prices={role: named.price for role, named in role_models.items() if named.price is not None},
        batched=frozenset(batched),
    )
    whole.check_settings()
    return whole


def _batched_roles(
    role_models: Mapping[str, ConfiguredModel], run_options: RunOptions, explicit: set[str]
) -> tuple[set[str], list[str]]:
    """The roles that are called by batches, and a note on a model that is not although `[run]` asks for it."""
    batched = {role for role, named in role_models.items() if named.batch}
    agent = role_models["agent"]
    if not run_options.batch or ("batch" not in explicit and agent.batch is not None):
        return batched, []
    from wildtool.models.providers.base import batchable_model

    if "batch" not in explicit and batchable_model(agent.model) is None:
        return batched, [f"{agent.model.name} has no batch API and is called directly"]
    return {*batched, "agent"}, []


def _print_formats(plans: "dict[str, Plan]") -> None:
    """Prints how each model under test is sent tools, where not all use native tool calls."""
    from wildtool.tool_formats.detect import CHOICE_NOTES

    asked = {name: plan.models["agent"].settings() for name, plan in plans.items()}
    if not any("format" in settings for settings in asked.values()):
        return
    for name, settings in asked.items():
        if "format" not in settings:
            print_err(f"{name} makes calls itself and ignores --tool-format")
            continue
        asked_by = "by its chat template" if "tools" in settings else "as text"
        why = CHOICE_NOTES[settings["format_chosen"]]
        print_err(
            f"{name} is sent tools {asked_by}, and calls are read in the format {settings['format']}{why}"
        )


def _with_prompts(benchmark: "Benchmark", run_options: RunOptions, folders: Iterable[Path]) -> "Benchmark":
    """The benchmark with the prompts of `--prompts`; without it, those of the run that continues, else the original's
    if they were pulled. Raises UsageError or DataError.

    Args:
        folders: of the runs, which may not exist yet.
    """
    from wildtool.engine.registry import ORIGINAL_WORDING, choose_prompts

    whose = (run_options.prompts and run_options.prompts.value) or _resumed_prompts(folders)
    chosen = choose_prompts(benchmark, whose, run_options.split)
    if chosen is not benchmark and whose is None and not run_options.quiet:
        print_err(
            "Using the original's prompts, as pulled "
            f"(--prompts {ORIGINAL_WORDING}). Use --prompts own for wildtool's wording."
        )
    return chosen


def _resumed_prompts(folders: Iterable[Path]) -> str | None:
    """Whose prompts the runs in these folders use; None if there is no run yet."""
    from wildtool.engine.record.run_folder import read_run
    from wildtool.engine.registry import ORIGINAL_WORDING, OWN_WORDING

    for folder in folders:
        if (folder / "run.json").is_file():
            try:
                return ORIGINAL_WORDING if read_run(folder)["identity"].get("prompts") else OWN_WORDING
            except RecordError:
                continue  # reported when the run is opened
    return None


def _with_sampling(benchmark: "Benchmark", run_options: RunOptions, explicit: set[str]) -> RunOptions:
    """The options with the parameters that `--sampling` sets. Raises UsageError if other options contradict it."""
    from wildtool.engine.registry import original_sampling

    if run_options.sampling is None:
        return run_options
    wanted = dict(original_sampling(benchmark))
    known: dict[str, tuple[str, Any]] = {
        "temperature": ("temperature", wanted.pop("temperature", None)),
        "max_tokens": ("max_tokens", wanted.pop("max_tokens", None)),
        "retries": ("retries", wanted.pop("attempts") - 1 if "attempts" in wanted else None),
    }
    if run_options.user_model is not None:
        known["user_temperature"] = ("user_temperature", known["temperature"][1])
    if clash := sorted(explicit & known.keys()):
        option = clash[0].replace("_", "-")
        raise UsageError(f"--sampling {run_options.sampling.value} sets --{option}; leave one of the two out")
    body = parse_json_object(run_options.extra_body, "--extra-body")
    if clash := sorted(body.keys() & wanted.keys()):
        raise UsageError(
            f"--sampling {run_options.sampling.value} sets {clash[0]}, and --extra-body does too"
        )
    changed = {field: value for field, value in known.values() if value is not None}
    return replace(run_options, **changed, extra_body=json.dumps(body | wanted) if body or wanted else None)


def _execute_plans(runs: Sequence[NamedRun], invocation: "Invocation", quiet: bool, tables: bool) -> int:
    """Starts all runs; one that fails does not stop the others. Gives the exit status."""
    from wildtool.cli.output.progress import ProgressDisplay, ProgressObserver
    from wildtool.engine.observer import Observer
    from wildtool.engine.run.runner import RunJob, RunResult, run_plans

    shown = [] if quiet else [ProgressObserver(run.label) for run in runs]
    observers: Sequence[Observer] = shown or [Observer() for _ in runs]
    jobs = [RunJob(run.plan, run.folder, observer) for run, observer in zip(runs, observers, strict=True)]
    with ProgressDisplay(shown):
        outcomes = run_plans(jobs, command=["wildtool", *sys.argv[1:]], invocation=invocation)
    from wildtool.cli.output.run_result import print_notes, print_overview_of, print_spend

    statuses: list[int] = []
    scored: dict[str, list[Path]] = {}
    for run, outcome in zip(runs, outcomes, strict=True):
        if isinstance(outcome, RunResult):
            print_notes(outcome)
            if not quiet:
                print_spend(outcome, run.plan)
            statuses.append(outcome.exit_status)
            # A model that never answered has no numbers.
            answered = outcome.counts.correct + outcome.counts.wrong
            if tables and answered and not outcome.interrupted:
                scored.setdefault(run.plan.profile, []).append(outcome.folder)
        elif outcome is not None:
            if len(runs) > 1 and isinstance(outcome, WildtoolError):
                print_err(f"{run.label} did not finish:")
            statuses.append(report_error(outcome))
    for profile, folders in scored.items():
        print_overview_of(folders, profile, quiet)
    return worst_status(statuses)
