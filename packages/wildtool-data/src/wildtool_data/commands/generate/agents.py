"""The agent items of `wildtool generate acebench`: episodes in a sandbox, verified by playing them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wildtool.cli.options.config_file import explicit_options
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError
from wildtool.temporary import lasting_files
from wildtool.written import written_before
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

    spec = AgentSpec(items, _shares(kinds), seed, langs, sandbox, *votes)
    if generate_options.model == options.PROCEDURAL:
        if generate_options.role_model or {"judges", "agree"} & explicit_options(context):
            raise UsageError("--role-model, --judges and --agree need a model; procedural uses none")
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
    )
    from wildtool_data.make.agents.maker import AgentMaker, agent_items_from_record, write_generated
    from wildtool_data.make.core.files import ITEMS_FOLDER
    from wildtool_data.make.items.output import items_run_command

    maker = AgentMaker(spec)

    def write(plan: Plan) -> GenerationResult:
        generated = agent_items_from_record(maker, plan, out)
        write_generated(generated, out)
        return set_result(maker, generated, out / ITEMS_FOLDER, items_run_command(out))

    models = assign_models(generate_options, maker, ["agent", *maker.roles], context)
    return run_generation(maker, models, out, generate_options, write)


def _shares(kinds: Sequence[str]) -> dict[str, int]:
    shares: dict[str, int] = {}
    for text in kinds:
        name, sign, number = text.partition("=")
        if sign and not (number.isascii() and number.isdigit() and 0 < int(number) < 1_000_000):
            raise UsageError(f"--kinds {text!r}: a share is a whole number above 0, such as {name}=3")
        shares[name] = int(number) if sign else 1
    return shares


def _from_procedure(spec: "AgentSpec", out: Path, *, force: bool) -> int:
    from wildtool.outputs import check_folder, claim, contents_of
    from wildtool.terminal import format_reason, print_err, print_out
    from wildtool_data.make.agents.output import write_agent_set
    from wildtool_data.make.agents.procedural import procedural_agent_items
    from wildtool_data.make.core.files import ITEMS_FOLDER, LOSSES_FILE
    from wildtool_data.make.items.output import items_run_command

    check_folder(out, lambda _: True)
    claim(out)
    if not force and out.exists() and contents_of(out) and not all(map(written_before, lasting_files(out))):
        raise UsageError(
            f"{out} already exists; name another folder, remove it, or add --force to write into it"
        )
    made = procedural_agent_items(spec)
    write_agent_set(made.kept, made.losses, out)
    print_out(f"{out / ITEMS_FOLDER}: {counted(len(made.kept), 'item')}, {len(made.losses)} lost")
    if made.losses:
        first = made.losses[0]
        reason = f"why items were lost: {out / LOSSES_FILE}; the first: {first['detail']}"
        print_err(format_reason(reason))
    if made.kept:
        print_err(f"Run them: {items_run_command(out)}")
    return 0 if made.kept else 1
