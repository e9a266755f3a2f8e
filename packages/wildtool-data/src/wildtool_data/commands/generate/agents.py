"""The agent items of `wildtool generate acebench`: episodes in a sandbox, verified by playing them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wildtool.errors import UsageError
from wildtool_data.commands.generate import options
from wildtool_data.commands.generate.options import GenerateOptions

if TYPE_CHECKING:
    from wildtool_data.make.agents.plan import AgentSpec
    from wildtool_data.make.core.plan import Lang


def names_agents(kinds: Sequence[str]) -> bool:
    """Whether these kinds are those of agent items. Raises UsageError where only some are."""
    from wildtool_data.make.agents.scenario import AGENT_KINDS

    named = [text.partition("=")[0] in AGENT_KINDS for text in kinds]
    if any(named) and not all(named):
        raise UsageError(
            "agent items are sets of their own, since they are played in a sandbox; name their kinds in another command"
        )
    return any(named)


def generate_agents(
    context: typer.Context,
    generate_options: GenerateOptions,
    kinds: Sequence[str],
    items: int,
    seed: str,
    langs: "tuple[Lang, ...]",
    sandbox: Path | None,
    out: Path,
    votes: tuple[int, int],
) -> int:
    """Makes a set of agent items; the exit status.

    Args:
        votes: of judges on each item, and those that keep it.
    """
    from wildtool_data.make.agents.plan import AgentSpec
    from wildtool_data.make.agents.scenario import AGENT_KINDS
    from wildtool_data.make.items.plan import parse_shares

    shares = parse_shares(tuple(kinds), dict.fromkeys(AGENT_KINDS, 1))
    spec = AgentSpec(items, shares, seed, langs, sandbox, *votes)
    if generate_options.model == options.PROCEDURAL:
        return _from_procedure(spec, out, force=generate_options.force)
    return _by_models(context, generate_options, spec, out)


def _by_models(
    context: typer.Context, generate_options: GenerateOptions, spec: "AgentSpec", out: Path
) -> int:
    from wildtool.engine.plan import Plan
    from wildtool_data.commands.generate.execute import (
        GenerationResult,
        assign_models,
        run_generation,
        set_result,
        share_votes,
    )
    from wildtool_data.make.agents.maker import AgentMaker, agent_items_from_record, write_generated
    from wildtool_data.make.core.files import ITEMS_FOLDER
    from wildtool_data.make.items.output import items_run_command

    maker = AgentMaker(spec)

    def write(plan: Plan) -> GenerationResult:
        generated = agent_items_from_record(maker, plan, out)
        write_generated(generated, out)
        return set_result(maker, generated, out / ITEMS_FOLDER, items_run_command(out))

    roles = ["agent", *maker.roles]
    models = assign_models(share_votes(generate_options, roles), maker, roles, context)
    return run_generation(maker, models, out, generate_options, write)


def _from_procedure(spec: "AgentSpec", out: Path, *, force: bool) -> int:
    from wildtool_data.commands.generate.item_folder import claim_folder, print_made
    from wildtool_data.make.agents.output import write_agent_set
    from wildtool_data.make.agents.procedural import procedural_agent_items

    claim_folder(out, force=force)
    made = procedural_agent_items(spec)
    write_agent_set(made.kept, made.losses, out)
    return print_made(out, len(made.kept), made.losses)
