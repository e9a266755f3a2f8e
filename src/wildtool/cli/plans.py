"""From the options of `wildtool run` to plans, one for each model."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from wildtool.cli.models import Directory, Named, other_models
from wildtool.cli.options.config_defaults import config_of, typed_options
from wildtool.cli.options.run import RunOptions
from wildtool.cli.terminal import note

if TYPE_CHECKING:
    from wildtool.engine.plan import Plan
    from wildtool.types import Benchmark


def plans_of(benchmark: "Benchmark", asked: RunOptions, context: typer.Context) -> "dict[str, Plan]":
    """The plans by the names of their models, with what the user should know told. Raises UsageError or DataError."""
    from wildtool.engine.call.pricing import read_prices
    from wildtool.engine.plan import Plan
    from wildtool.engine.record.replies_file import opener

    asked.user().check(benchmark)
    source = benchmark.locate(asked.data, asked.split)
    settings = asked.about_models(opener(benchmark, source))
    directory = Directory(config_of(context).models, read_prices(asked.prices))
    typed = typed_options(context)
    agents = {name: directory.find(name, settings, typed, asked.rates) for name in asked.names}
    plans = {
        name: Plan(
            benchmark=benchmark,
            source=source,
            models={"agent": agent.model},
            profile=asked.profile or next(iter(benchmark.profiles)),
            **asked.about_plan(),
        )
        for name, agent in agents.items()
    }
    if not asked.quiet:
        _tell_formats(plans)
    first = next(iter(plans.values()))
    first.check_settings()
    roles = first.selection.check().roles
    told: dict[str, None] = {}
    complete: dict[str, Plan] = {}
    for name, plan in plans.items():
        # Each plan closes its models at its end, so that none is shared between two.
        others, remarks = other_models(
            benchmark, roles, agents[name].model, settings, asked.user(), directory, asked.rates
        )
        players = {"agent": agents[name], **others}
        batched, more = _batched(players, asked, typed)
        chosen = [player.remark for player in players.values() if player.remark]
        told.update(dict.fromkeys([*chosen, *remarks, *more]))
        complete[name] = _with_players(plan, players, batched)
    if not asked.quiet:
        for remark in told:
            note(remark)
    return complete


def _with_players(plan: "Plan", players: Mapping[str, Named], batched: Collection[str]) -> "Plan":
    """The plan with who plays its roles, how they are asked and what that costs. Raises UsageError."""
    whole = replace(
        plan,
        models={role: named.model for role, named in players.items()},
        rates={role: named.rates for role, named in players.items()},
        prices={role: named.price for role, named in players.items() if named.price is not None},
        batched=frozenset(batched),
    )
    whole.check_settings()
    return whole


def _batched(players: Mapping[str, Named], asked: RunOptions, typed: set[str]) -> tuple[set[str], list[str]]:
    """The roles that are asked by batches, and what to tell of a model that is not although `[run]` says so."""
    batched = {role for role, named in players.items() if named.batch}
    agent = players["agent"]
    if not asked.batch or ("batch" not in typed and agent.batch is not None):
        return batched, []
    from wildtool.models.providers.base import batching_of

    if "batch" not in typed and batching_of(agent.model) is None:
        return batched, [f"{agent.model.name} has no batch API and is called directly"]
    return {*batched, "agent"}, []


def _tell_formats(plans: "dict[str, Plan]") -> None:
    """Says how each model under test is told of tools, where one of them is by no native protocol."""
    from wildtool.models.tool_formats.detect import CHOSEN

    asked = {name: plan.models["agent"].settings() for name, plan in plans.items()}
    if not any("format" in settings for settings in asked.values()):
        return
    for name, settings in asked.items():
        if "format" not in settings:
            note(f"{name} makes calls itself and ignores --tool-format")
            continue
        asked_by = "by its chat template" if "tools" in settings else "as text"
        why = CHOSEN[settings["format_chosen"]]
        note(f"{name} is sent tools {asked_by}, and calls are read in the format {settings['format']}{why}")
