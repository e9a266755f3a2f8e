"""`wildtool generate`: new sessions over your tools, or over the built-in ones."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wildtool.cli.options import shared as options
from wildtool.cli.options.generate import PROCEDURAL, Making, languages, with_making
from wildtool.errors import UsageError, unknown

if TYPE_CHECKING:
    from wildtool.generate.procedural.sessions import Settings


@with_making
def sessions(
    making: Making,
    typed: frozenset[str],
    out: Annotated[
        Path | None,
        typer.Option(
            *("--out", "-o"), metavar="PATH", help="Folder to work in; with procedural, the file to write."
        ),
    ] = None,
    tools: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Your tools: OpenAI tool definitions, an OpenAPI document or an MCP tool list "
            "(default: built-in tools).",
        ),
    ] = None,
    sessions: Annotated[
        int, typer.Option(*("--sessions", "-n"), metavar="N", help="Number of sessions.")
    ] = 64,
    tasks: Annotated[int, typer.Option(metavar="N", help="Tasks per session.")] = 4,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="The same seed gives the same plans.")] = "1",
    lang: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE", help="en, zh, or en,zh for both in turn (default: en).", show_default=False
        ),
    ] = None,
    twins: Annotated[
        bool, typer.Option("--twins", help="Make each plan in both languages, linked by `twin`.")
    ] = False,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Sessions that no generated task may resemble; repeatable."),
    ] = None,
    format_: Annotated[
        list[str] | None,
        typer.Option(
            *("--format", "-f"),
            metavar="NAME",
            help="Also write the reference generator's formats: raw, streamlined or calls; repeatable.",
        ),
    ] = None,
) -> int:
    """Generate sessions in WildToolBench's format, with gold answers.

    \b
    Examples:
      wildtool generate --model procedural --sessions 64 -o made.jsonl
      wildtool generate --model procedural --tools tools.json -o mine.jsonl
      wildtool generate --model gpt-4o --tools openapi.json -o set

    A model plays the roles user, planner, tool, agent, checker and judge. Every call is recorded in the folder; the
    same command continues where it stopped.
    """
    making.check()
    if out is None:
        procedural = making.model == PROCEDURAL
        raise UsageError(f"give {'a file: --out made.jsonl' if procedural else 'a folder: --out set'}")
    if making.model == PROCEDURAL:
        if making.role_model or against or format_:
            raise UsageError("--role-model, --against and --format need a model; procedural uses none")
        from wildtool.generate.procedural.sessions import Settings

        return _by_templates(
            out, Settings(sessions, tasks, seed, languages(lang), tools, twins), force=making.force
        )
    from wildtool.cli.execute_generate import Product, make_set, players, role_models
    from wildtool.engine.plan import Plan
    from wildtool.generate.core.prompts import ROLES
    from wildtool.generate.sessions.maker import VOTING, Order, SessionMaker
    from wildtool.generate.sessions.output import FORMATS, SESSIONS, how_to_play, write_set

    formats = options.words(format_)
    for name in formats:
        if name not in FORMATS:
            raise UsageError(unknown("format", name, FORMATS))
    votes = Counter(name.split()[0] for name in role_models(making.role_model, ROLES, VOTING))
    maker = SessionMaker(
        Order(
            sessions, tasks, seed, languages(lang), tools, tuple(against or ()), twins=twins,
            judges=max(1, votes["judge"]), checkers=max(1, votes["checker"]),
        )
    )  # fmt: skip

    def write(plan: Plan) -> Product:
        found = write_set(maker, plan, out, formats)
        return Product(
            "sessions", out / SESSIONS, len(found.sessions), found.lost, found.unfinished,
            tuple(found.yields()), how_to_play(out),
            aside=f", {found.replaced} in place of lost ones" if found.replaced else "",
            again=maker.replace_lost(found),
        )  # fmt: skip

    estimate = None
    if making.dry_run:
        from wildtool.cli.execute_generate import Estimate
        from wildtool.generate.sessions.estimate import ABOVE, BASIS, making_outlook

        estimate = Estimate(making_outlook(maker), BASIS, ABOVE)
    return make_set(maker, players(making, maker, ROLES, typed, VOTING), out, making, write, estimate)


def _by_templates(out: Path, settings: "Settings", *, force: bool) -> int:
    from wildtool.cli.terminal import Remarks, say
    from wildtool.generate.core.files import write_sessions
    from wildtool.generate.procedural.sessions import records

    remarks = Remarks()
    try:
        count = write_sessions(records(settings, remarks), out, force=force)
    finally:
        remarks.close()
    say(f"{out}: {count} sessions")
    return 0
