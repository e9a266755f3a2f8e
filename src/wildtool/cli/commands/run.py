"""`wildtool run`: runs a benchmark on models and scores it; the same command continues a stopped run."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wildtool.cli.execute import execute_plans, print_estimate
from wildtool.cli.models import check_prices
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_defaults import explicit_options
from wildtool.cli.options.from_dataclass import command_from_dataclass
from wildtool.cli.options.prompts import with_prompts, with_sampling
from wildtool.cli.options.run import RunOptions
from wildtool.cli.plans import build_plans

if TYPE_CHECKING:
    from wildtool.types import Benchmark


def _run(run_options: RunOptions, context: typer.Context, benchmark: options.BenchmarkArgument) -> int:
    """Run a benchmark on models and score it.

    \b
    Examples:
      wildtool run wild-mini --model baseline/gold
      wildtool run wildtoolbench --model gpt-4o --temperature 0 --limit 20
      wildtool run acebench --model claude-sonnet-4-5 --user-model gpt-4o
      wildtool run wild-mini --model qwen3 --base-url http://127.0.0.1:8000/v1

    Every reply is recorded as it arrives. If a run stops, the same command continues it and sends nothing twice.
    """
    from wildtool.engine.call.budget import Budget
    from wildtool.engine.call.cache import ReplyCache
    from wildtool.engine.registry import load_benchmark
    from wildtool.engine.run.client import Invocation
    from wildtool.models.resolve import folder_name
    from wildtool.outputs import check_folder, is_run

    run_options.check()
    limits = run_options.limits()
    chosen = load_benchmark(benchmark, run_options.mode)
    run_options = with_sampling(chosen, run_options, explicit_options(context))
    parent = run_options.out or _default_parent(chosen)
    alone = run_options.out is not None and len(run_options.model_names) == 1
    folders = {name: parent if alone else parent / folder_name(name) for name in run_options.model_names}
    plans = build_plans(with_prompts(chosen, run_options, folders.values()), run_options, context)
    if run_options.dry_run:
        print_estimate(plans, limits)
        return 0
    for folder in folders.values():
        check_folder(folder, is_run, force=run_options.force)
    check_prices(
        {plan.models[role].name: plan.prices.get(role) for plan in plans.values() for role in plan.models},
        run_options.max_cost,
    )
    sitting = Invocation(Budget(limits), ReplyCache(run_options.cache) if run_options.cache else None)
    try:
        return execute_plans(plans, folders, sitting, run_options.quiet)
    finally:
        if sitting.cache is not None:
            sitting.cache.close()


_run.__name__ = "run"
run = command_from_dataclass(RunOptions, _run)


def _default_parent(benchmark: "Benchmark") -> Path:
    """`runs/BENCH`; another mode than the first gets a folder of its own, so that both can be played."""
    usual = benchmark.mode == next(iter(benchmark.modes))
    return Path("runs", benchmark.name if usual else f"{benchmark.name}-{benchmark.mode}")
