"""`wildtool generate` where single items are made: records of a benchmark, each a request with its right answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wildtool.cli.options import shared as options
from wildtool.cli.options.generate import PROCEDURAL, Making, languages, with_making
from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.generate.items.maker import Order


@with_making
def items(
    making: Making,
    typed: frozenset[str],
    out: Annotated[
        Path | None, typer.Option(*("--out", "-o"), metavar="FOLDER", help="Folder to work in.")
    ] = None,
    tools: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Your tools: OpenAI tool definitions, an OpenAPI document or an MCP tool list "
            "(default: built-in tools).",
        ),
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Turn the first tasks of these sessions into items; only the judges are called.",
        ),
    ] = None,
    items: Annotated[
        int,
        typer.Option(*("--items", "-n"), metavar="N", help="Number of items; a dialogue counts as one."),
    ] = 60,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND[=SHARE]",
            help="Only these kinds, such as single=2,parallel (default: all, in the published proportions).",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="The same seed gives the same plans.")] = "1",
    lang: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE", help="en, zh, or en,zh for both in turn (default: en).", show_default=False
        ),
    ] = None,
    judges: Annotated[
        int, typer.Option(min=0, max=9, metavar="N", help="Votes on each item; 0 for none.")
    ] = 3,
    agree: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Votes an item needs; with fewer it is set aside as doubtful (default: all).",
        ),
    ] = None,
) -> int:
    """Generate single requests in ACEBench's format, with gold answers.

    \b
    Examples:
      wildtool generate acebench --model procedural --items 60 -o items
      wildtool generate acebench --model gpt-4o --kinds incomplete,error -o set
      wildtool generate acebench --model gpt-4o --from sessions.jsonl -o set

    Models play the roles writer, user, agent, tool and judge (several judges share the votes). Every call is recorded
    in the folder; the same command continues where it stopped. Items the judges disagree on are written to
    doubtful.jsonl with all votes, for people to decide.

    Kinds: number, enum, list, bool, object-short, object-deep, single, parallel, adjust, switch, preference, similar,
    incomplete, error, irrelevant.
    """
    making.check()
    if out is None:
        raise UsageError("give a folder: --out set")
    from wildtool.generate.items.maker import Order

    if agree is not None and not min(judges, 1) <= agree <= judges:
        raise UsageError(f"--agree {agree} must be {min(judges, 1)} to {judges}, the number of votes")
    if from_ and tools:
        raise UsageError("--from uses the tools of the sessions; leave --tools out")
    order = Order(
        items=items,
        kinds=_shares(kinds, from_),
        seed=seed,
        langs=languages(lang),
        tools=tools,
        sessions=from_,
        judges=judges,
        agree=judges if agree is None else agree,
    )
    if making.model == PROCEDURAL:
        if making.role_model or {"judges", "agree"} & typed:
            raise UsageError("--role-model, --judges and --agree need a model; procedural uses none")
        return _by_templates(order, out, force=making.force)
    return _by_models(making, typed, order, out)


def _shares(kinds: list[str] | None, sessions: Path | None) -> dict[str, int]:
    from wildtool.generate.items.from_sessions import FITTING
    from wildtool.generate.items.kinds import shares

    able = [kind for fitting in FITTING.values() for kind in fitting]
    return shares(options.words(kinds) or (tuple(able) if sessions else ()))


def _by_templates(order: "Order", out: Path, *, force: bool) -> int:
    from wildtool.cli.terminal import Remarks, note, reason, say
    from wildtool.generate.core.files import LOSSES
    from wildtool.generate.items.output import ITEMS, how_to_play, write_items
    from wildtool.generate.items.procedural import procedural_items
    from wildtool.outputs import check_folder

    check_folder(out, lambda _: True)
    if not force and out.exists() and any(out.iterdir()):
        raise UsageError(
            f"{out} already exists; name another folder, remove it, or add --force to write into it"
        )
    remarks = Remarks()
    try:
        found = procedural_items(order, remarks)
    finally:
        remarks.close()
    write_items(found, out)
    say(f"{out / ITEMS}: {len(found.kept)} items, {len(found.losses)} lost")
    if found.losses:
        first = found.losses[0]
        note(reason(f"why items were lost: {out / LOSSES}; the first: {first['reason']}: {first['detail']}"))
    note(f"Run them: {how_to_play(out)}")
    return 0 if found.kept else 1


def _by_models(making: Making, typed: frozenset[str], order: "Order", out: Path) -> int:
    from dataclasses import replace

    from wildtool.cli.execute_generate import Estimate, Product, make_set, players
    from wildtool.engine.plan import Plan
    from wildtool.generate.items.maker import ItemMaker
    from wildtool.generate.items.output import DOUBTFUL, ITEMS, harvested, how_to_play, write_items

    maker = ItemMaker(order)
    roles = ["agent", *maker.roles]
    named = replace(making, role_model=_votes_apart(making.role_model or (), roles))

    def write(plan: Plan) -> Product:
        found = harvested(maker, plan, out)
        write_items(found, out)
        aside = f", {found.replaced} in place of lost ones" if found.replaced else ""
        if found.doubtful:
            aside += f", {len(found.doubtful)} doubtful: {out / DOUBTFUL}"
        return Product(
            "items",
            out / ITEMS,
            len(found.kept),
            found.lost,
            found.unfinished,
            tuple(found.yields()),
            how_to_play(out),
            aside=aside,
            again=maker.replace_lost(found),
        )

    estimate = None
    if making.dry_run:
        from wildtool.generate.items.estimate import ABOVE, BASIS, items_outlook

        estimate = Estimate(items_outlook(maker), BASIS, ABOVE)
    return make_set(maker, players(named, maker, roles, typed), out, making, write, estimate)


def _votes_apart(given: Sequence[str], roles: Sequence[str]) -> list[str]:
    """Several `judge=NAME` share the votes by turns: `judge=a`, `judge 2=b`, `judge 3=a`."""
    named = [text.partition("=")[2] for text in given if text.startswith("judge=")]
    others = [text for text in given if not text.startswith("judge=")]
    voters = [role for role in roles if role.startswith("judge")]
    return [*others, *(f"{voter}={named[k % len(named)]}" for k, voter in enumerate(voters) if named)]
