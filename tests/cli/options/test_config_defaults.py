"""Defaults of options from `wildtool.toml`: what a command gets, which options were typed, and what is refused."""

from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from wildtool.cli import ParsedCommand
from wildtool.cli.options.config_file import explicit_options, load_config, loaded_config
from wildtool.config.config_file import Config, _line, _split_key
from wildtool.errors import UsageError

calls: list[Any] = []
"""What each call of the command got: its values, the options that were typed, and the file."""


def even(value: int | None) -> int | None:
    if value is not None and value % 2:
        raise UsageError(f"{value} is odd")
    return value


def verb(
    context: typer.Context,
    model: Annotated[list[str] | None, typer.Option("--model", "-m")] = None,
    limit: Annotated[int, typer.Option(min=1)] = 9,
    share: float = 0.5,
    quiet: bool = False,
    deadline: str = "",
    extra_body: str = "",
    format_: Annotated[str, typer.Option("--format")] = "",
    pairs: Annotated[int | None, typer.Option(parser=lambda text: even(int(text)))] = None,
    config: Annotated[Path | None, typer.Option(callback=load_config, is_eager=True)] = None,
) -> None:
    values = {name.rstrip("_"): value for name, value in dict(locals()).items() if name != "context"}
    calls.append((values, sorted(explicit_options(context)), loaded_config(context).path))


APP = typer.Typer(add_completion=False)
APP.command(cls=ParsedCommand)(verb)
DEFAULTS: dict[str, Any] = {
    "model": None,
    "limit": 9,
    "share": 0.5,
    "quiet": False,
    "deadline": "",
    "extra_body": "",
    "format": "",
    "pairs": None,
    "config": None,
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    calls.clear()


def run(text: str, line: str = "", file: str = "wildtool.toml") -> tuple[int, str]:
    Path(file).write_text(text, "utf-8")
    ended = CliRunner().invoke(APP, line.split())
    return ended.exit_code, ended.stderr


def test_without_a_file_the_defaults_hold_and_what_was_typed_is_known():
    assert CliRunner().invoke(APP, ["--limit", "5", "--format", "f", "-m", "a", "-m", "b"]).exit_code == 0
    changed = {"limit": 5, "format": "f", "model": ["a", "b"]}
    assert calls == [(DEFAULTS | changed, ["format", "limit", "model"], None)]


def test_values_of_the_file_are_defaults_that_typed_ones_replace():
    text = """
[run]
model = "one"
limit = 2
share = 1
quiet = true
deadline = 90
extra_body = {top_p = 0.5}
format = "f"
pairs = "4"
"""
    changed = {"model": ["one"], "limit": 3, "share": 1.0, "quiet": True, "deadline": "90", "format": "f"}
    assert run(text, "--limit 3") == (0, "")
    more = {"extra_body": '{"top_p": 0.5}', "pairs": 4}
    assert calls == [(DEFAULTS | changed | more, ["limit"], Path("wildtool.toml"))]


def test_a_file_may_have_another_name_and_values_may_be_lists():
    assert run('[run]\nmodel = ["a", "b"]\ndeadline = "1h"\n', "--config own.toml", "own.toml") == (0, "")
    changed = {"model": ["a", "b"], "deadline": "1h", "config": Path("own.toml")}
    assert calls == [(DEFAULTS | changed, ["config"], Path("own.toml"))]


UNKNOWN = "unknown key; known keys: deadline, extra_body, format, limit, model, pairs, quiet, share"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("limt = 1", "run.limt: unknown key; did you mean limit?"),
        ("zzz = 1", f"run.zzz: {UNKNOWN}"),
        ("m = 'x'", f"run.m: {UNKNOWN}"),
        ("config = 'x'", f"run.config: {UNKNOWN}"),
        ("limit = 1.5", "run.limit: must be a whole number"),
        ("limit = true", "run.limit: must be a whole number"),
        ("limit = [1]", "run.limit: must be a whole number"),
        ("limit = 0", "run.limit: 0 is not in the range x>=1."),
        ("share = 'x'", "run.share: must be a number"),
        ("quiet = 1", "run.quiet: must be true or false"),
        ("model = 5", "run.model: must be a text"),
        ("model = ['a', 5]", "run.model: must be a text"),
        ("extra_body = 5", "run.extra_body: must be a text"),
        ("pairs = '5'", "run.pairs: 5 is odd"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_line(line: str, message: str):
    assert run(f"[run]\n{line}\n") == (2, f"wildtool: wildtool.toml, line 2: {message}\n")
    assert calls == []


TEXT = """\
top = 1 # [run]
[a]
x = 1
[a.b] # comment
x = 2
"y.z" = 3
c.d = 4
[ 'q r' . s ]
t=5
[a.bb]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 1),
        (("a",), 2),
        (("a", "x"), 3),
        (("a", "b"), 4),
        (("a", "b", "x"), 5),
        (("a", "b", "y.z"), 6),
        (("a", "b", "c", "d"), 7),
        (("q r",), 8),
        (("q r", "s", "t"), 9),
        (("a", "bb"), 10),
        (("a", "b", "c"), None),
        (("x",), None),
    ],
)
def test_a_key_is_on_the_line_of_itself_or_its_table(path: tuple[str, ...], line: int | None):
    assert _line(TEXT, path) == line
    place = f"f.toml, line {line}" if line else "f.toml"
    assert str(Config(Path("f.toml"), text=TEXT).error_at(path, "odd")) == f"{place}: {'.'.join(path)}: odd"


def test_a_dotted_key_has_names_with_or_without_quotes():
    assert _split_key(""" a . "b.c".'d . e' . f-g """) == ["a", "b.c", "d . e", "f-g"]
