"""The installed command: what it sets for its process, what the overview says, and hints for misplaced names."""

import gc
import sys
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any

import pytest
from typer.testing import CliRunner

from wildtool import cli
from wildtool.terminal import print_step


def ended(*words: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    result = CliRunner().invoke(cli.app, list(words), prog_name="wildtool", env={"COLUMNS": "120"})
    return result.exit_code, result.stdout, result.stderr


class Terminal(TextIOWrapper):
    """A stream of a terminal with an old encoding."""

    def __init__(self) -> None:
        super().__init__(BytesIO(), "ascii")

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_process_shows_steps_and_never_fails_to_write(is_terminal: bool, monkeypatch: pytest.MonkeyPatch):
    settings: list[Any] = []
    shown: list[Any] = []
    streams = Terminal(), Terminal() if is_terminal else StringIO()
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 11, 12))
    monkeypatch.setattr(gc, "set_threshold", lambda *numbers: settings.append(numbers))
    monkeypatch.setattr(cli, "show_steps", shown.append)
    monkeypatch.setattr(cli, "app", lambda **named: settings.append(named))
    cli.main()
    assert settings == [(10_000, 11, 12), {"prog_name": "wildtool"}]
    assert len(shown) == 1 and (shown == [print_step]) == is_terminal
    for stream in streams:
        stream.write("– … 测")
        stream.flush()


def test_nothing_typed_is_answered_with_the_overview():
    status, out, err = ended()
    assert (status, out, err) == (2, "", ended("--help")[1])
    assert err.startswith("Usage: wildtool [OPTIONS] COMMAND [ARGS]...\n\n  Measure how well")
    (line,) = (line for line in err.splitlines() if line.startswith("  --version"))
    assert line.split(maxsplit=1) == ["--version", "Print the version and exit."]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("nonsense", "No such command 'nonsense'."),
        ("people", "No such command 'people'. Did you mean `wildtool review people`?"),
        ("data show", "No such command 'show'. Did you mean `wildtool show`?"),
        (
            "data export x",
            "No such command 'export'. Did you mean `wildtool export` or `wildtool review export`?",
        ),
    ],
)
def test_a_name_in_a_wrong_place_is_answered_with_its_places(line: str, error: str):
    status, out, err = ended(*line.split())
    assert (status, out, err.splitlines()[-1]) == (2, "", f"Error: {error}")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("score r --json", ". `wildtool show`, `wildtool compare`, `wildtool gate` and others have --json."),
        ("score r --csv", ". `wildtool show` and `wildtool compare` have --csv."),
        ("show r --format json", ". Did you mean --json or --csv?"),
        ("run wild-mini --base_url u", ". Did you mean --base-url?"),
        ("run wild-mini -t 0", ". Did you mean --temperature?"),
        ("data mix a --seeds 2", ". Did you mean --seed?"),
        ("report r --resume", ". What stopped is continued by the same command, without an option."),
        ("compare a b --fores", " (Possible options: --force, --modes, --prices)"),
        ("show r --zzz", ""),
    ],
)
def test_an_unknown_option_is_answered_with_what_is_meant(line: str, advice: str):
    status, out, err = ended(*line.split())
    option = next(word for word in line.split() if word.startswith("-"))
    assert (status, out, err.splitlines()[-1]) == (2, "", f"Error: No such option: {option}{advice}")


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("—model", "'—model' begins with a long dash, as editors write it; type --model"),
        ("-–limit", "'-–limit' begins with a long dash, as editors write it; type --limit"),
        ("––limit=2", "'––limit=2' begins with a long dash, as editors write it; type --limit"),
        ("–m", "'–m' begins with a long dash, as editors write it; type -m"),
        ("−m", "'−m' begins with a long dash, as editors write it; type -m"),
    ],
)
def test_a_long_dash_is_named_where_an_option_is_meant(word: str, error: str):
    status, out, err = ended("run", "wild-mini", "--model", "baseline/gold", word)
    assert (status, out, err.splitlines()[-1]) == (2, "", f"Error: {error}")


@pytest.mark.parametrize(
    ("line", "arguments", "extra", "option"),
    [
        ("gate runs/new runs/old", "NEW", "'runs/old'", "--against OLD"),
        ("run wild-mini —nothing", "BENCH|FILE", "'—nothing'", "--model NAME"),
        (
            "check http://127.0.0.1:8000/v1 qwen3",
            "no arguments",
            "'http://127.0.0.1:8000/v1' 'qwen3'",
            "--model NAME",
        ),
        ("list models -- a --b", "[KIND] [NAME]", "'--b'", "--check NAME"),
    ],
)
def test_an_argument_too_many_is_named_with_where_values_belong(
    line: str, arguments: str, extra: str, option: str
):
    status, out, err = ended(*line.split())
    assert (status, out) == (2, "")
    told = err.splitlines()[-1]
    assert f" takes {arguments}, not also {extra};" in told and option in told


def test_the_help_of_the_default_command_of_a_group_lists_the_others():
    others = ("acebench", "tools", "pairs", "select", "rationales")
    more = f"See also: {', '.join(f'wildtool generate {name}' for name in others)}."
    assert " ".join(ended("generate", "wildtoolbench", "--help")[1].split()).endswith(more)
    assert "See also" not in ended("generate", "acebench", "--help")[1] + ended("run", "--help")[1]
