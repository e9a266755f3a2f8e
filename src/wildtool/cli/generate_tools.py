"""`wildtool generate tools`: tools of your own making, designed by models over a tree of domains."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from wildtool.cli.making import PROCEDURAL, Making, languages, with_making
from wildtool.errors import UsageError


@with_making
def tools(
    making: Making,
    typed: frozenset[str],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to work in.")
    ] = None,
    number: Annotated[int, typer.Option(metavar="N", help="How many tools.")] = 100,
    tree: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Domains to begin with: JSON or YAML, or a tree that was written. Default: 8 domains that come along.",
        ),
    ] = None,
    documents: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Text that a role reads for domains and functions; repeatable."),
    ] = None,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="The same seed makes the same plans.")] = "1",
    lang: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE", help="en, zh, or both by turns: en,zh. Default: en.", show_default=False
        ),
    ] = None,
) -> int:
    """Make tools: definitions that sessions and items can be made over.

    \b
    Examples:
      wildtool generate tools --model gpt-4o --number 200 --out toolbox
      wildtool generate tools --model gpt-4o --documents manual.md --role-model caller=gpt-4o-mini --out toolbox

    Models make them in the roles reader (of documents), designer, evolver and caller, every call recorded in the folder;
    the same command again goes on where it stopped.
    """
    making.check()
    if out is None:
        raise UsageError("give the folder to work in by --out, such as --out toolbox")
    if making.model == PROCEDURAL:
        raise UsageError(
            "tools are described in words, which templates have not; name a model. Without one, sessions are made over "
            "the built-in tools, or over a file of yours"
        )
    from wildtool.cli.generating import Product, make_set, players
    from wildtool.engine.plan import Plan
    from wildtool.generate.apis.api_folder import how_to_use, tools_file, write_apis
    from wildtool.generate.apis.api_maker import ApiMaker, Order
    from wildtool.generate.apis.roles import ROLES
    from wildtool.generate.made_files import RECORD

    langs = languages(lang)
    maker = ApiMaker(Order(number, seed, langs, tree, tuple(documents or ())))
    named = players(making, maker, ROLES, typed)
    maker.go_on_with(out / RECORD)

    def write(plan: Plan) -> Product:
        found = write_apis(maker, plan, out)
        missing = number - len(found.apis) - found.unfinished
        aside = f"; {missing} fewer than wanted, after every attempt" if missing else ""
        where = tools_file(out, langs[0]) if len(langs) == 1 else out
        return Product(
            "tools", where, len(found.apis), [asdict(lost) for lost in found.losses], found.unfinished,
            tuple(found.yields()), how_to_use(out, langs), aside,
        )  # fmt: skip

    return make_set(maker, named, out, making, write)
