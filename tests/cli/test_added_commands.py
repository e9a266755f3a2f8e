"""Commands that other packages add by entry points: beside ours, in groups, imported when they are called."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from e2e.test_plugin import install
from wildtool import cli
from wildtool.installed import installed_entries

TIDE = """
from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.errors import UsageError

Path("imported").touch()


def tide(
    place: str = arg("PLACE", "Where."),
    high: bool = opt("Only high water.", needs="--day"),
    day: str | None = opt("-d DAY", "Which day."),
) -> int:
    \"\"\"Tell the tides of a place.\"\"\"
    if place == "inland":
        raise UsageError("inland has no tides; name a place at the sea")
    print(f"tides of {place}, {day}, {high}")
    return 3
"""
ENTRIES = ("tide = tide:tide", "data.tides = tide:tide", "run = tide:tide")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a package adds commands, two compete for one, and two are broken."""
    folder = tmp_path_factory.mktemp("site")
    install(folder, "tide", TIDE, *ENTRIES, group="wildtool.commands")
    install(folder, "ebb", "", "fight = ebb:x", "nothing = ebb:nothing", group="wildtool.commands")
    install(folder, "flood", "TEXT = 1", "fight = flood:x", "text = flood:TEXT", group="wildtool.commands")
    return folder


@pytest.fixture(autouse=True)
def _installed(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(site)
    monkeypatch.chdir(tmp_path)
    for cached in (cli._any_entries, installed_entries):
        cached.cache_clear()
    yield
    for cached in (cli._any_entries, installed_entries):
        cached.cache_clear()
    for name in ("tide", "ebb", "flood"):
        sys.modules.pop(name, None)


def ended(*words: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    result = CliRunner().invoke(cli.app, list(words), prog_name="wildtool")
    return result.exit_code, result.stdout, result.stderr


def overview_lines(*words: str) -> list[str]:
    return [line.strip() for line in ended(*words)[1].splitlines()]


def test_overviews_list_them_after_ours_without_importing_them():
    verbs, of_data = overview_lines("--help"), overview_lines("data", "--help")
    assert [re.sub(" +", " ", line) for line in verbs[-4:]] == [
        "fight Of the package ebb.",
        "nothing Of the package ebb.",
        "text Of the package flood.",
        "tide Of the package tide.",
    ]
    assert verbs[-5] == "Of other packages:"
    assert [line for line in of_data if "Of the package" in line] == [of_data[-1]]
    assert re.sub(" +", " ", of_data[-1]) == "tides Of the package tide."
    assert len(cli._VERBS) == len(list(cli._VERBS)) == len(cli._VERBS.declarations) + 4
    assert not Path("imported").exists()


def test_one_is_called_as_ours_are():
    assert ended("tide", "Brest", "-d", "Monday", "--high") == (3, "tides of Brest, Monday, True\n", "")
    assert ended("data", "tides", "Brest") == (3, "tides of Brest, None, False\n", "")
    assert ended("tide", "inland") == (2, "", "wildtool: inland has no tides; name a place at the sea\n")
    assert ended("tide", "Brest", "--high") == (2, "", "wildtool: --high needs --day\n")
    assert "-d, --day DAY" in ended("tide", "--help")[1]
    # In its own group only.
    assert ended("tides")[0] == ended("data", "tide")[0] == 2


def test_our_verbs_cannot_be_replaced():
    assert "Run a benchmark on models and score it." in ended("run", "--help")[1]
    assert not Path("imported").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("fight", "ebb and flood both add the command 'fight'; uninstall one of them"),
        (
            "nothing",
            "command 'nothing' of package ebb cannot be used: its entry point ebb:nothing fails:"
            " AttributeError: module 'ebb' has no attribute 'nothing'",
        ),
        ("text", "command 'text' of package flood cannot be used: its entry point flood:TEXT is no function"),
    ],
)
def test_one_that_cannot_be_used_says_why(name: str, reason: str):
    assert ended(name) == (2, "", f"wildtool: {reason}\n")
