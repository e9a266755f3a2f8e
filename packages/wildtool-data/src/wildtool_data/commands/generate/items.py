"""`wildtool generate acebench`: single requests with gold answers over your tools or the built-in ones."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wildtool.api.values import split_values
from wildtool.cli.command import opt
from wildtool.cli.options.config_file import explicit_options
from wildtool.errors import UsageError
from wildtool_data.commands.generate import options
from wildtool_data.commands.generate.options import GenerateOptions, ToolOptions

if TYPE_CHECKING:
    from wildtool_data.make.items.maker import ItemGenerationSpec


def items(
    context: typer.Context,
    generate_options: GenerateOptions,
    tool_options: ToolOptions,
    out: Path | None = options.FOLDER_OPTION,
    from_: Path | None = opt(
        "--from FILE", "Turn the first tasks of these sessions into items; only the judges are called."
    ),
    items: int = opt("-n N", "Number of items; a dialogue counts as one.", default=60),
    kinds: list[str] | None = opt(
        "KIND[=SHARE]",
        "Only these kinds, such as single=2,parallel (default: all, in the published proportions).",
        show_default=False,
    ),
    seed: str = options.SEED_OPTION,
    lang: list[str] | None = options.LANGS_OPTION,
    hold_out_tools: float | None = options.HOLD_OUT_OPTION,
    judges: int = opt("N", "Votes on each item; 0 for none.", default=3, min=0, max=9),
    agree: int | None = opt(
        "N", "Votes an item needs; with fewer it is set aside as doubtful (default: all).", min=0
    ),
    sandbox: Path | None = opt(
        "FOLDER",
        "ACEBench's files whose sandbox agent items are made over (default: those that were pulled).",
    ),
) -> int:
    """Generate single requests in ACEBench's format, with gold answers.

    \b
    Examples:
      wildtool generate acebench --model procedural --items 60 -o items
      wildtool generate acebench --model gpt-4o --kinds incomplete,error -o set
      wildtool generate acebench --model gpt-4o --from sessions.jsonl -o set

    Models take the roles writer, user, agent, tool and judge (several judges share the votes). Every call is recorded
    in the folder; the same command continues where it stopped. Items the judges disagree on are written to
    doubtful.jsonl with all votes, for people to decide.

    Kinds: number, enum, list, bool, object-short, object-deep, single, parallel, adjust, switch, preference, similar,
    incomplete, error, irrelevant; in separate sets agent_multi_step, agent_multi_turn (over the sandbox of the pulled
    data) and agent_finance_multi_step, agent_finance_multi_turn (over the bank that comes with wildtool).
    """
    generate_options.check()
    if out is None:
        raise UsageError("give a folder: --out set")
    if agree is not None and not min(judges, 1) <= agree <= judges:
        raise UsageError(f"--agree {agree} must be {min(judges, 1)} to {judges}, the number of votes")
    from wildtool_data.commands.generate.agents import generate_agents, names_agents
    from wildtool_data.make.items.maker import ItemGenerationSpec

    procedural = generate_options.model == options.PROCEDURAL
    if procedural and (generate_options.role_model or {"judges", "agree"} & explicit_options(context)):
        raise UsageError("--role-model, --judges and --agree need a model; procedural uses none")
    named = split_values(kinds)
    if names_agents(named):
        if from_ or tool_options.tools or hold_out_tools is not None:
            raise UsageError(
                "agent items use the tools of their sandbox; leave out --tools, --hold-out-tools and --from, and choose "
                "another sandbox with --sandbox"
            )
        langs, votes = options.parse_languages(lang), (judges, judges if agree is None else agree)
        return generate_agents(context, generate_options, named, items, seed, langs, sandbox, out, votes)
    if sandbox is not None:
        raise UsageError("--sandbox is for agent items, such as --kinds agent_multi_step")
    if from_ and tool_options.tools:
        raise UsageError("--from uses the tools of the sessions; leave --tools out")
    if from_ and hold_out_tools is not None:
        raise UsageError(
            "--from uses the tools of the sessions; hold tools out where the sessions are generated"
        )
    tools = tool_options.file(out, force=generate_options.force)
    if hold_out_tools is not None:
        tools = options.split_tool_files(tools, hold_out_tools, seed, out, force=generate_options.force)
    order = ItemGenerationSpec(
        items=items,
        kinds=_shares(kinds, from_),
        seed=seed,
        langs=options.parse_languages(lang),
        tools=tools,
        sessions=from_,
        judges=judges,
        agree=judges if agree is None else agree,
    )
    if procedural:
        return _generate_from_templates(order, out, force=generate_options.force)
    return _generate_with_models(context, generate_options, order, out)


def _shares(kinds: list[str] | None, sessions: Path | None) -> dict[str, int]:
    from wildtool_data.make.items.from_sessions import KINDS_BY_TASK_TYPE
    from wildtool_data.make.items.plan import parse_shares

    able = [kind for fitting in KINDS_BY_TASK_TYPE.values() for kind in fitting]
    return parse_shares(split_values(kinds) or (tuple(able) if sessions else ()))


def _generate_from_templates(spec: "ItemGenerationSpec", out: Path, *, force: bool) -> int:
    from wildtool.terminal import CappedMessages
    from wildtool_data.commands.generate.item_folder import claim_folder, print_made
    from wildtool_data.make.items.output import write_items
    from wildtool_data.make.items.procedural import procedural_items

    claim_folder(out, force=force)
    remarks = CappedMessages()
    try:
        generated = procedural_items(spec, remarks)
    finally:
        remarks.close()
    write_items(generated, out)
    return print_made(out, len(generated.kept), generated.losses)


def _generate_with_models(
    context: typer.Context, generate_options: GenerateOptions, spec: "ItemGenerationSpec", out: Path
) -> int:
    from wildtool.engine.plan import Plan
    from wildtool_data.commands.generate.execute import (
        GenerationResult,
        assign_models,
        run_generation,
        set_result,
        share_votes,
    )
    from wildtool_data.make.items.maker import ItemMaker
    from wildtool_data.make.items.output import (
        DOUBTFUL_FILE,
        ITEMS_FOLDER,
        items_from_record,
        items_run_command,
        write_items,
    )

    maker = ItemMaker(spec)
    roles = ["agent", *maker.roles]
    sharing = share_votes(generate_options, roles)

    def write(plan: Plan) -> GenerationResult:
        generated = items_from_record(maker, plan, out)
        write_items(generated, out)
        aside = f", {len(generated.doubtful)} doubtful: {out / DOUBTFUL_FILE}" if generated.doubtful else ""
        return set_result(maker, generated, out / ITEMS_FOLDER, items_run_command(out), aside)

    models = assign_models(sharing, maker, roles, context)
    return run_generation(maker, models, out, generate_options, write)
