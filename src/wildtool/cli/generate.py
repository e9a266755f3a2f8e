"""`wildtool generate`: new sessions over your tools, or over the built-in ones."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wildtool.cli import options
from wildtool.cli.making import PROCEDURAL, Making, languages, with_making
from wildtool.errors import UsageError, unknown

if TYPE_CHECKING:
    from wildtool.generate.procedural import Settings


@with_making
def sessions(
    making: Making,
    typed: frozenset[str],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE|FOLDER", help="File of procedural sessions; else a folder."
        ),
    ] = None,
    tools: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Tools in the OpenAI shape, an OpenAPI document, or an MCP tool list. Default: the built-in ones.",
        ),
    ] = None,
    sessions: Annotated[int, typer.Option(metavar="N", help="How many sessions.")] = 64,
    tasks: Annotated[int, typer.Option(metavar="N", help="Tasks a session; the benchmark has 4.")] = 4,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="The same seed makes the same plans.")] = "1",
    lang: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE", help="en, zh, or both by turns: en,zh. Default: en.", show_default=False
        ),
    ] = None,
    twins: Annotated[
        bool, typer.Option("--twins", help="Each plan in both languages, told by the same `twin`.")
    ] = False,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Sessions that no made task may be near to; repeatable."),
    ] = None,
    format_: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Write them so too: raw, streamlined or calls, as the reference's generator does; repeatable.",
        ),
    ] = None,
) -> int:
    """Make sessions in WildToolBench's format, with gold.

    \b
    Examples:
      wildtool generate --model procedural --sessions 64 --out made.jsonl
      wildtool generate --model procedural --tools tools.json --lang en,zh --seed 7 -o mine.jsonl
      wildtool generate --model gpt-4o --role-model judge=gpt-4o-mini --tools openapi.json --sessions 64 --out set

    A model makes them in the roles user, planner, tool, agent, checker and judge, every call recorded in the folder;
    the same command again goes on where it stopped.
    """
    making.check()
    if out is None:
        what = "file to write by --out, such as --out made.jsonl"
        raise UsageError(
            f"give the {what if making.model == PROCEDURAL else 'folder to work in by --out, such as --out set'}"
        )
    if making.model == PROCEDURAL:
        if making.role_model or against or format_:
            raise UsageError("--role-model, --against and --format go with a model, not with procedural")
        from wildtool.generate.procedural import Settings

        return _by_templates(
            out, Settings(sessions, tasks, seed, languages(lang), tools, twins), force=making.force
        )
    from wildtool.cli.generating import Product, make_set, players, role_models
    from wildtool.engine.plan import Plan
    from wildtool.generate.prompts import ROLES
    from wildtool.generate.reference_formats import FORMATS
    from wildtool.generate.session_maker import VOTING, Order, SessionMaker
    from wildtool.generate.set_folder import SESSIONS, how_to_play, write_set

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
        from wildtool.cli.generating import Estimate
        from wildtool.generate.outlook import ABOVE, BASIS, making_outlook

        estimate = Estimate(making_outlook(maker), BASIS, ABOVE)
    return make_set(maker, players(making, maker, ROLES, typed, VOTING), out, making, write, estimate)


def _by_templates(out: Path, settings: "Settings", *, force: bool) -> int:
    from wildtool.cli.terminal import note, one_line, say
    from wildtool.generate.procedural import records
    from wildtool.generate.session_file import write_sessions

    count = write_sessions(records(settings, lambda text: note(one_line(text))), out, force=force)
    say(f"{out}: {count} sessions")
    return 0
