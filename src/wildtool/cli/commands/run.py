"""`wildtool run`: runs a benchmark on models and scores it; the same command continues a stopped run."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wildtool.cli.execute import play_plans, tell_outlook
from wildtool.cli.models import check_prices
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_defaults import typed_options
from wildtool.cli.options.from_dataclass import spread
from wildtool.cli.options.prompts import with_prompts, with_sampling
from wildtool.cli.options.run import RunOptions
from wildtool.cli.plans import plans_of

if TYPE_CHECKING:
    from wildtool.types import Benchmark


def _run(asked: RunOptions, context: typer.Context, benchmark: options.BenchmarkName) -> int:
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
    from wildtool.engine.call.cache import Cache
    from wildtool.engine.registry import load_benchmark
    from wildtool.engine.run.client import Sitting
    from wildtool.models.resolve import folder_name
    from wildtool.outputs import check_folder, is_run

    asked.check()
    limits = asked.limits()
    chosen = load_benchmark(benchmark, asked.mode)
    asked = with_sampling(chosen, asked, typed_options(context))
    parent = asked.out or _default_parent(chosen)
    alone = asked.out is not None and len(asked.names) == 1
    folders = {name: parent if alone else parent / folder_name(name) for name in asked.names}
    plans = plans_of(with_prompts(chosen, asked, folders.values()), asked, context)
    if asked.dry_run:
        tell_outlook(plans, limits)
        return 0
    for folder in folders.values():
        check_folder(folder, is_run, force=asked.force)
    check_prices(
        {plan.models[role].name: plan.prices.get(role) for plan in plans.values() for role in plan.models},
        asked.max_cost,
    )
    sitting = Sitting(Budget(limits), Cache(asked.cache) if asked.cache else None)
    try:
        return play_plans(plans, folders, sitting, asked.quiet)
    finally:
        if sitting.cache is not None:
            sitting.cache.close()


_run.__name__ = "run"
run = spread(RunOptions, _run)


def _default_parent(benchmark: "Benchmark") -> Path:
    """`runs/BENCH`; another mode than the first gets a folder of its own, so that both can be played."""
    usual = benchmark.mode == next(iter(benchmark.modes))
    return Path("runs", benchmark.name if usual else f"{benchmark.name}-{benchmark.mode}")
