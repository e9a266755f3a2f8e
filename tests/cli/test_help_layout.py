"""How a command's own `--help` is laid out: names and placeholders of options, defaults, panels."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer.testing import CliRunner

from wildtool.cli import PLAIN, ParsedCommand
from wildtool.cli.command import arg, command_of, declared, opt, with_exit_status


class Tone(Enum):
    LOUD = "loud"
    LOW = "low"


@declared
class Fourteen:
    """Options of every kind."""

    number: int = opt("-n", "Number.", default=3)
    share: float = opt("Share.", default=0.50)
    count: int = opt("Count.", default=0, min=0, max=9, panel="Limits")
    text: str = opt("--text --old-text", "Text.", default="")
    file: Path | None = opt("File.")
    needed: str = opt("-x WORD", "Needed.", default=...)
    flag: bool = opt("-f", "Flag.", panel="Model")
    sound: bool = opt("Sound.", default=True)
    tone: Tone = opt("Tone.", default=Tone.LOW)
    choice: Literal["a", "b"] = opt("Choice.", default="a")
    a_long_name_of_its_own: str | None = opt("A_LONG_PLACEHOLDER", "Long.", panel="More")
    hidden: bool = opt("Hidden.", hidden=True)


@declared
class Fifteen(Fourteen):
    """And one more."""

    last: int = opt("Last.", default=7, show_default=False, panel="Model")


def printed(verb: Callable[..., int | None]) -> str:
    app = typer.Typer(**PLAIN, add_completion=False)
    app.command(cls=ParsedCommand)(with_exit_status(command_of(verb)))
    ended = CliRunner().invoke(app, ["--help"], prog_name="w", env={"COLUMNS": "84"})
    assert ended.exit_code == 0
    return ended.stdout


def verb_of(record: type) -> Callable[..., int | None]:
    """A verb with three arguments and the options of a dataclass."""

    def verb(
        options: object,
        where: str = arg("PLACE", "Where."),
        which: str = arg("[WHICH]", "Which.", default="all"),
        plain: str | None = arg("Plain.", default=None),
    ) -> int:
        """Do it."""
        return 0

    verb.__annotations__["options"] = record
    return verb


ARGUMENTS = """\
Usage: w [OPTIONS] PLACE [WHICH] [plain]

  Do it.

Arguments:
  PLACE                       Where.
  WHICH                       Which. (default: all)
  plain                       Plain.

"""


def test_fifteen_arguments_and_options_are_listed_together():
    assert (
        printed(verb_of(Fourteen))
        == ARGUMENTS
        + """\
Options:
  -n, --number N              Number. (default: 3)
      --share X               Share. (default: 0.5)
      --count N               Count. (default: 0)
      --text TEXT             Text.
      --file PATH             File.
  -x, --needed WORD           Needed. (required)
  -f, --flag                  Flag.
      --sound                 Sound.
      --tone loud|low         Tone. (default: low)
      --choice a|b            Choice. (default: a)
      --a-long-name-of-its-own A_LONG_PLACEHOLDER
                              Long.
  -h, --help                  Show this message and exit.
"""
    )


def test_sixteen_are_listed_in_panels_with_the_help_last():
    assert (
        printed(verb_of(Fifteen))
        == ARGUMENTS
        + """\
Options:
  -n, --number N              Number. (default: 3)
      --share X               Share. (default: 0.5)
      --text TEXT             Text.
      --file PATH             File.
  -x, --needed WORD           Needed. (required)
      --sound                 Sound.
      --tone loud|low         Tone. (default: low)
      --choice a|b            Choice. (default: a)

Model:
  -f, --flag                  Flag.
      --last N                Last.

Limits:
      --count N               Count. (default: 0)

More:
      --a-long-name-of-its-own A_LONG_PLACEHOLDER
                              Long.
  -h, --help                  Show this message and exit.
"""
    )


def test_short_names_make_a_narrow_column():
    def verb(day: str = opt("-d DAY", "Day.", default="")) -> int:
        """Do it."""
        return 0

    assert (
        printed(verb)
        == """\
Usage: w [OPTIONS]

  Do it.

Options:
  -d, --day DAY  Day.
  -h, --help     Show this message and exit.
"""
    )


def test_an_option_of_another_package_may_say_nothing():
    def verb(pace: Annotated[int | None, typer.Option()] = None, plain: bool = False) -> None:
        """Do it."""

    app = typer.Typer(**PLAIN, add_completion=False)
    app.command(cls=ParsedCommand)(verb)
    ended = CliRunner().invoke(app, ["--help"], prog_name="w", env={"COLUMNS": "84"})
    assert [line.rstrip() for line in ended.stdout.partition("Options:\n")[2].splitlines()] == [
        "      --pace N",
        "      --plain",
        "  -h, --help    Show this message and exit.",
    ]
