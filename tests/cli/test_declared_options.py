"""How `opt`, `arg` and `declared` turn a verb into a command, and what options may require of each other."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from wildtool.cli.command import arg, command_of, declared, opt, with_exit_status

SHARED = opt("-s NAME", "Shared.")


@declared
class Base:
    """Options that come first."""

    size: int = opt("-z N", "Size.", default=3, min=1)


@declared
class More(Base):
    """And more."""

    needed: str = opt("TEXT", "Needed.", default=...)
    flag: bool = opt("Flag.")
    shared: str | None = SHARED


def type_(verb: Callable[..., int | None], *words: str) -> Result:
    app = typer.Typer()
    app.command()(with_exit_status(command_of(verb)))
    return CliRunner().invoke(app, list(words))


def test_a_record_has_plain_defaults_and_its_required_fields_stay_required():
    record = More(needed="x")
    assert (record.size, record.flag, record.shared) == (3, False, None)
    make: Any = More
    with pytest.raises(TypeError, match="needed"):
        make()


def test_a_verb_gets_its_own_options_the_record_and_the_context():
    got: list[Any] = []

    def verb(
        more: More,
        context: typer.Context,
        what: str = arg("WHAT", "What."),
        long: bool = opt("--deep", "Deep."),
    ) -> int:
        got.append((more, type(context).__name__, what, long))
        return 3

    ended = type_(verb, "thing", "--needed", "x", "-z", "5", "-s", "y", "--deep")
    assert ended.exit_code == 3
    assert got == [(More(needed="x", size=5, shared="y"), "Context", "thing", True)]
    assert type_(verb, "thing").exit_code == 2
    assert "--no-flag" not in type_(verb, "--help").stdout


def test_a_name_is_the_parameters_unless_a_long_one_is_given():
    def verb(some_file: str | None = opt("-f FILE", "File."), as_json: bool = opt("--json", "JSON.")) -> int:
        return 4 if (some_file, as_json) == ("a", True) else 1

    assert type_(verb, "--some-file", "a", "--json").exit_code == 4
    assert type_(verb, "-f", "a", "--json").exit_code == 4
    assert type_(verb, "--as-json").exit_code == 2


def rules(
    first: str | None = opt("NAME", "First.", not_empty="name it"),
    second: float | None = opt("X", "Second.", needs="--first"),
    third: bool = opt("Third.", needs_together="--first NAME; it has none"),
    fourth: str | None = opt("TEXT", "Fourth.", needs_together="--first NAME; it has none"),
    fifth: bool = opt("Fifth.", not_with="--third"),
    sixth: str | None = opt("--six NAME", "Sixth.", needs="--second, such as 5"),
) -> int:
    return 0


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("--first a --second 1 --third --fourth b", ""),
        ("--second 0", "--second needs --first"),
        ("--third", "--third and --fourth need --first NAME; it has none"),
        ("--fourth b", "--third and --fourth need --first NAME; it has none"),
        ("--first a --third --fifth", "give --third or --fifth, not both"),
        ("--first a --fifth", ""),
        ("--fifth --third", "--third and --fourth need --first NAME; it has none"),
        ("--six a --second 1 --first b", ""),
        ("--six a --first b", "--six needs --second, such as 5"),
    ],
)
def test_what_an_option_requires_of_others_is_said(line: str, fault: str):
    ended = type_(rules, *line.split())
    assert (ended.exit_code, ended.stderr) == ((2, f"wildtool: {fault}\n") if fault else (0, ""))


def test_an_empty_name_is_refused():
    assert type_(rules, "--first", " ").stderr == "wildtool: --first is empty; name it\n"


def test_a_declared_record_is_frozen_and_made_by_names():
    @declared
    class Named:
        name: str = arg("NAME", "A name.")
        many: bool = opt("Many.")
        most: int | None = opt("N", "At most.", default=3)

    record = Named(name="x")
    assert (record.name, record.many, record.most) == ("x", False, 3)
    assert [*Named.declarations] == ["name", "many", "most"]  # pyright: ignore
    assert not hasattr(record, "__dict__")
    with pytest.raises(FrozenInstanceError):
        record.name = "y"  # pyright: ignore
    for values in ((), ("x",)):
        with pytest.raises(TypeError):
            Named(*values)
