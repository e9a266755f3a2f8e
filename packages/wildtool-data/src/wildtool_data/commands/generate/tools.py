"""`wildtool generate tools`: tool definitions designed by models over a tree of domains."""

from dataclasses import asdict
from pathlib import Path

import typer

from wildtool.cli.command import opt
from wildtool.errors import UsageError
from wildtool_data.commands.generate import options
from wildtool_data.commands.generate.options import GenerateOptions


def tools(
    context: typer.Context,
    generate_options: GenerateOptions,
    out: Path | None = options.FOLDER_OPTION,
    number: int = opt("-n N", "Number of tools.", default=100),
    tree: Path | None = opt(
        "FILE",
        "Domains to start from, JSON or YAML, or the tree of an earlier set (default: 8 built-in domains).",
    ),
    documents: list[Path] | None = opt("FILE", "Text to draw domains and functions from; repeatable."),
    seed: str = options.SEED_OPTION,
    lang: list[str] | None = options.LANGS_OPTION,
) -> int:
    """Generate tool definitions to generate sessions and items over.

    \b
    Examples:
      wildtool generate tools --model gpt-4o --number 200 -o toolbox
      wildtool generate tools --model gpt-4o --documents manual.md -o toolbox

    Models take the roles reader (of documents), designer, evolver and caller. Every call is recorded in the folder;
    the same command continues where it stopped.
    """
    generate_options.check()
    if out is None:
        raise UsageError("give a folder: --out toolbox")
    if generate_options.model == options.PROCEDURAL:
        raise UsageError(
            "templates cannot describe tools; name a model with --model. Sessions can be generated without one, over "
            "the built-in tools or your own"
        )
    from wildtool.engine.plan import Plan
    from wildtool_data.commands.generate.execute import GenerationResult, assign_models, run_generation
    from wildtool_data.make.core.files import RECORD_FOLDER
    from wildtool_data.make.tools.maker import ApiMaker, ToolGenerationSpec
    from wildtool_data.make.tools.output import generate_command, tools_file, write_apis
    from wildtool_data.make.tools.script import API_ROLES

    langs = options.parse_languages(lang)
    maker = ApiMaker(ToolGenerationSpec(number, seed, langs, tree, tuple(documents or ())))
    models = assign_models(generate_options, maker, API_ROLES, context)
    maker.resume_from(out / RECORD_FOLDER)

    def write(plan: Plan) -> GenerationResult:
        generated = write_apis(maker, plan, out)
        missing = number - len(generated.apis) - generated.unfinished
        aside = f"; {missing} fewer than wanted, after every attempt" if missing else ""
        return GenerationResult(
            "tool", tools_file(out, langs[0]) if len(langs) == 1 else out, len(generated.apis),
            [asdict(loss) for loss in generated.losses], generated.unfinished, generated.attrition(),
            generate_command(out, langs), aside,
        )  # fmt: skip

    return run_generation(maker, models, out, generate_options, write)
