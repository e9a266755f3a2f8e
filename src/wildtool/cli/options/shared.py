"""Options that several verbs share, so that they read the same in each."""

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from math import inf
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from wildtool.cli import completion
from wildtool.cli.help import LIMITS, MODEL, MORE, OUTPUT, SAMPLING, SELECTION
from wildtool.errors import UsageError

Options = TypeVar("Options")

BenchmarkArgument = Annotated[
    str,
    typer.Argument(
        metavar="BENCH", help="Benchmark; see `wildtool list`.", autocompletion=completion.benchmarks
    ),
]
DataOption = Annotated[
    str | None,
    typer.Option(
        *("--data", "-d"),
        metavar="NAME|FILE",
        help="Data file in the benchmark's format, or the name of one of its data sets.",
        show_default=False,
        rich_help_panel=SELECTION,
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        *("--profile", "-p"),
        metavar="NAME",
        help="Scoring rules; see `wildtool list profiles`.",
        autocompletion=completion.profiles,
        rich_help_panel=SELECTION,
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How the model is prompted; see `wildtool list modes`.",
        autocompletion=completion.modes,
        rich_help_panel=SELECTION,
    ),
]
SplitOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Only items of this split.", rich_help_panel=SELECTION)
]
LangOption = Annotated[
    str | None,
    typer.Option(
        metavar="CODE", help="Only items in this language, such as en or zh.", rich_help_panel=SELECTION
    ),
]
BenchmarkOption = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        metavar="NAME",
        help="Benchmark of the data, if it cannot be detected.",
        autocompletion=completion.benchmarks,
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force", help="Overwrite files and folders that wildtool did not make.", rich_help_panel=OUTPUT
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON with every number.", rich_help_panel=OUTPUT)
]
CsvOption = Annotated[
    bool, typer.Option("--csv", help="Print CSV, one number per row.", rich_help_panel=OUTPUT)
]
RunsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="RUN…", help="Run folders, folders with runs in them, or bundles.", show_default=False
    ),
]
ToolFormatOption = Annotated[
    str | None,
    typer.Option(
        *("--tool-format", "--format"),
        metavar="NAME",
        help="How a model without native tool calls writes them, or auto; see `wildtool list formats`.",
        autocompletion=completion.tool_formats,
        rich_help_panel=MODEL,
    ),
]
TemperatureOption = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Sampling temperature (default: the provider's).",
        rich_help_panel=SAMPLING,
    ),
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Maximum tokens per reply (default: the provider's).",
        rich_help_panel=SAMPLING,
    ),
]
ConcurrencyOption = Annotated[
    int,
    typer.Option(
        *("--concurrency", "-j"),
        min=1,
        metavar="N",
        help="Calls in flight at each endpoint.",
        rich_help_panel=LIMITS,
    ),
]
RpmOption = Annotated[
    float | None,
    typer.Option(metavar="N", help="Calls per minute at each endpoint.", rich_help_panel=LIMITS),
]
TpmOption = Annotated[
    float | None,
    typer.Option(metavar="N", help="Tokens per minute at each endpoint.", rich_help_panel=LIMITS),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(metavar="USD", min=0, help="Stop before spending more than this.", rich_help_panel=LIMITS),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Price file, TOML or JSON; overrides built-in prices.",
        rich_help_panel=LIMITS,
    ),
]
MaxTokensTotalOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Stop before using more prompt and reply tokens than this.",
        rich_help_panel=LIMITS,
    ),
]
DeadlineOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Start no call after this time, such as 90 (seconds), 30m or 1h30m.",
        rich_help_panel=LIMITS,
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="Timeout per attempt.", rich_help_panel=LIMITS),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Estimate calls, tokens and cost; send nothing.", rich_help_panel=LIMITS),
]
CacheOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Reply cache shared between runs.", rich_help_panel=MORE),
]


def split_values(lists: list[str] | None) -> tuple[str, ...]:
    """The values of an option that can be repeated and takes several, separated by commas."""
    return tuple(word.strip() for text in lists or () for word in text.split(",") if word.strip())


def parse_duration(text: str) -> float:
    """The seconds of a duration such as `90`, `45s`, `30m` or `1h30m`. Raises UsageError for anything
    else."""
    found = re.fullmatch(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip(), re.ASCII)
    parts = found.groups() if found else ()
    total = sum(float(part or 0) * size for part, size in zip(parts, (86_400, 3600, 60, 1), strict=False))
    if not 0 < total < inf:
        raise UsageError(f"{text!r} is not a duration; examples: 90 (seconds), 30m, 1h30m")
    return total


def parse_json_object(text: str | None, option: str) -> dict[str, Any]:
    """The value of an option that takes a JSON object. Raises UsageError, which never repeats the value."""
    from wildtool import json_codec

    if text is None:
        return {}
    try:
        value = json_codec.loads(text)
    except ValueError as error:
        raise UsageError(f"{option} is not JSON ({error}); example: {option} '{{\"top_p\": 0.9}}'") from None
    if not isinstance(value, dict):
        raise UsageError(f"{option} must be a JSON object; example: {option} '{{\"top_p\": 0.9}}'")
    return value  # pyright: ignore[reportUnknownVariableType]


def command_from_dataclass(
    options_class: type[Options],
    verb: Callable[..., int | None],
    signature_of: Callable[..., int | None] | None = None,
) -> Callable[..., int | None]:
    """A command that takes a verb's own options and then the fields of a dataclass.

    Args:
        kind: the dataclass; a field's annotation says what its option is like.
        verb: is given an object of it and the context, then its own options by name.
        like: whose own options and help are meant, behind its first two parameters; the verb's where it is None.
    """
    shown = signature_of or verb
    hints = get_type_hints(options_class, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(options_class)  # pyright: ignore[reportArgumentType]
    ]
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in list(inspect.signature(shown).parameters.values())[2:]
    ]

    def command(context: typer.Context, **given: Any) -> int | None:
        options = options_class(**{parameter.name: given.pop(parameter.name) for parameter in shared})
        return verb(options, context, **given)

    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [first, *own, *shared]
    command.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__name__, command.__doc__ = shown.__name__, shown.__doc__
    return command
