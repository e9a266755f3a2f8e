"""`wildtool generate tools`: tools of your own making, designed by models over a tree of domains."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from wildtool.cli.options.generate import PROCEDURAL, Making, languages, with_making
from wildtool.errors import UsageError


@with_making
def tools(
    making: Making,
    typed: frozenset[str],
    out: Annotated[
        Path | None, typer.Option(*("--out", "-o"), metavar="FOLDER", help="Folder to work in.")
    ] = None,
    number: Annotated[int, typer.Option(*("--number", "-n"), metavar="N", help="Number of tools.")] = 100,
    tree: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Domains to start from, JSON or YAML, or the tree of an earlier set (default: 8 built-in domains).",
        ),
    ] = None,
    documents: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Text to draw domains and functions from; repeatable."),
    ] = None,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="The same seed gives the same plans.")] = "1",
    lang: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE", help="en, zh, or en,zh for both in turn (default: en).", show_default=False
        ),
    ] = None,
) -> int:
    """Generate tool definitions to generate sessions and items over.

    \b
    Examples:
      wildtool generate tools --model gpt-4o --number 200 -o toolbox
      wildtool generate tools --model gpt-4o --documents manual.md -o toolbox

    Models play the roles reader (of documents), designer, evolver and caller. Every call is recorded in the folder;
    the same command continues where it stopped.
    """
    making.check()
    if out is None:
        raise UsageError("give a folder: --out toolbox")
    if making.model == PROCEDURAL:
        raise UsageError(
            "templates cannot describe tools; name a model with --model. Sessions can be generated without one, over "
            "the built-in tools or your own"
        )
    from wildtool.cli.execute_generate import Product, make_set, players
    from wildtool.engine.plan import Plan
    from wildtool.generate.core.files import RECORD
    from wildtool.generate.tools.maker import ApiMaker, Order
    from wildtool.generate.tools.output import how_to_use, tools_file, write_apis
    from wildtool.generate.tools.script import ROLES

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
