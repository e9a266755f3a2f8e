"""Options that several verbs share, so that they read the same in each."""

import re
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from wildtool.errors import UsageError

BenchmarkName = Annotated[str, typer.Argument(metavar="BENCH", help="A benchmark; see `wildtool list`.")]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE",
        help="Data to use: a name the benchmark knows, or a file in its format.",
        show_default=False,
    ),
]
Profile = Annotated[
    str | None, typer.Option(metavar="NAME", help="Rules to judge by; see `wildtool list profiles`.")
]
Mode = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="How the benchmark is put to the model; see `wildtool list modes`."),
]
Split = Annotated[str | None, typer.Option(metavar="NAME", help="Only items of this split.")]
Lang = Annotated[
    str | None, typer.Option(metavar="CODE", help="Only items in this language, such as en or zh.")
]
BenchmarkOf = Annotated[
    str | None,
    typer.Option("--benchmark", metavar="NAME", help="Whose data they are, where it cannot be told by them."),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite what wildtool did not make."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON with every number.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV, one number a row.")]
Runs = Annotated[
    list[Path] | None,
    typer.Argument(metavar="RUN…", help="Run folders, or folders with runs in them.", show_default=False),
]


def words(lists: list[str] | None) -> tuple[str, ...]:
    """The values of an option that may be repeated and takes several, separated by commas."""
    return tuple(word.strip() for text in lists or () for word in text.split(",") if word.strip())


def seconds(text: str) -> float:
    """The seconds of a time such as `90`, `45s`, `30m` or `1h30m`. Raises UsageError for anything else."""
    found = re.fullmatch(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip(), re.ASCII)
    parts = found.groups() if found else ()
    total = sum(float(part or 0) * size for part, size in zip(parts, (86_400, 3600, 60, 1), strict=False))
    if not 0 < total < inf:
        raise UsageError(f"{text!r} is no time; examples: 90 (seconds), 30m, 1h30m")
    return total


def json_object(text: str | None, option: str) -> dict[str, Any]:
    """The value of an option that takes a JSON object. Raises UsageError; the text itself is never shown."""
    from wildtool import wire

    if text is None:
        return {}
    try:
        value = wire.loads(text)
    except ValueError as error:
        raise UsageError(f"{option} is not JSON ({error}); example: {option} '{{\"top_p\": 0.9}}'") from None
    if not isinstance(value, dict):
        raise UsageError(f"{option} must be a JSON object; example: {option} '{{\"top_p\": 0.9}}'")
    return value  # pyright: ignore[reportUnknownVariableType]
