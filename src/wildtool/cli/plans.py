"""From the options of `wildtool run` to plans, one for each model."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from wildtool.cli.models import ConfiguredModel, ModelCatalog, assign_other_roles
from wildtool.cli.options.config_defaults import explicit_options, loaded_config
from wildtool.cli.options.run import RunOptions
from wildtool.cli.terminal import print_err

if TYPE_CHECKING:
    from wildtool.engine.plan import Plan
    from wildtool.types import Benchmark


def build_plans(benchmark: "Benchmark", run_options: RunOptions, context: typer.Context) -> "dict[str, Plan]":
    """The plans by the names of their models, with what the user should know told. Raises UsageError or DataError."""
    from wildtool.engine.call.pricing import read_prices
    from wildtool.engine.plan import Plan
    from wildtool.engine.record.replies_file import replay_source

    run_options.user_options().check(benchmark)
    source = benchmark.locate(run_options.data, run_options.split)
    settings = run_options.model_options(replay_source(benchmark, source))
    directory = ModelCatalog(loaded_config(context).models, read_prices(run_options.prices))
    typed = explicit_options(context)
    agents = {
        name: directory.find(name, settings, typed, run_options.rates) for name in run_options.model_names
    }
    plans = {
        name: Plan(
            benchmark=benchmark,
            source=source,
            models={"agent": agent.model},
            profile=run_options.profile or next(iter(benchmark.profiles)),
            **run_options.plan_settings(),
        )
        for name, agent in agents.items()
    }
    if not run_options.quiet:
        _print_formats(plans)
    first = next(iter(plans.values()))
    first.check_settings()
    items = first.selection.read()
    told: dict[str, None] = {}
    complete: dict[str, Plan] = {}
    for name, plan in plans.items():
        # Each plan closes its models at its end, so that none is shared between two.
        others, remarks = assign_other_roles(
            benchmark,
            items.roles,
            agents[name].model,
            settings,
            run_options.user_options(),
            directory,
            run_options.rates,
        )
        players = {"agent": agents[name], **others}
        batched, more = _batched_roles(players, run_options, typed)
        chosen = [player.endpoint_note for player in players.values() if player.endpoint_note]
        told.update(dict.fromkeys([*chosen, *remarks, *more]))
        complete[name] = _with_role_models(replace(plan, items=items), players, batched)
    if not run_options.quiet:
        for remark in told:
            print_err(remark)
    return complete


def _with_role_models(
    plan: "Plan", role_models: Mapping[str, ConfiguredModel], batched: Collection[str]
) -> "Plan":
    """The plan with who plays its roles, how they are asked and what that costs. Raises UsageError."""
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
    """The roles that are asked by batches, and what to tell of a model that is not although `[run]` says so."""
    batched = {role for role, named in role_models.items() if named.batch}
    agent = role_models["agent"]
    if not run_options.batch or ("batch" not in explicit and agent.batch is not None):
        return batched, []
    from wildtool.models.providers.base import batchable_model

    if "batch" not in explicit and batchable_model(agent.model) is None:
        return batched, [f"{agent.model.name} has no batch API and is called directly"]
    return {*batched, "agent"}, []


def _print_formats(plans: "dict[str, Plan]") -> None:
    """Says how each model under test is told of tools, where one of them is by no native protocol."""
    from wildtool.models.tool_formats.detect import CHOICE_NOTES

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
