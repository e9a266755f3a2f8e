"""Commands that other packages add by entry points: beside ours, in groups, imported when they are called."""

from pathlib import Path

import pytest

from e2e.command import Ended, wildtool
from e2e.test_plugin import install

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


async def ended(site: Path, cwd: Path, *words: str) -> Ended:
    return await wildtool(*words, cwd=cwd, PYTHONPATH=str(site))


async def test_overviews_list_them_after_ours_without_importing_them(site: Path, tmp_path: Path):
    listed = await ended(site, tmp_path, "--help")
    assert listed.status == 0
    assert listed.out.index("  data") < listed.out.index("  tide")
    assert "Of the package tide." in listed.out
    assert "tides" in (await ended(site, tmp_path, "data", "--help")).out
    assert "tides" not in listed.out.replace("tides of", "")
    assert not (tmp_path / "imported").exists()


async def test_one_is_called_as_ours_are(site: Path, tmp_path: Path):
    called = await ended(site, tmp_path, "tide", "Brest", "-d", "Monday", "--high")
    assert (called.status, called.out) == (3, "tides of Brest, Monday, True\n")
    called = await ended(site, tmp_path, "data", "tides", "Brest")
    assert (called.status, called.out) == (3, "tides of Brest, None, False\n")
    refused = await ended(site, tmp_path, "tide", "inland")
    assert (refused.status, refused.err) == (2, "wildtool: inland has no tides; name a place at the sea\n")
    assert "--high needs --day" in (await ended(site, tmp_path, "tide", "Brest", "--high")).err
    assert "-d, --day DAY" in (await ended(site, tmp_path, "tide", "--help")).out


async def test_our_verbs_cannot_be_replaced(site: Path, tmp_path: Path):
    helped = await ended(site, tmp_path, "run", "--help")
    assert "Run a benchmark on models and score it." in helped.out
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("fight", "both add the command 'fight'; uninstall one of them"),
        ("nothing", "command 'nothing' of package ebb cannot be used: its entry point ebb:nothing fails"),
        ("text", "command 'text' of package flood cannot be used: its entry point flood:TEXT is no function"),
    ],
)
async def test_one_that_cannot_be_used_says_why(site: Path, tmp_path: Path, name: str, reason: str):
    refused = await ended(site, tmp_path, name)
    assert refused.status == 2
    assert reason in refused.err
    assert "Traceback" not in refused.err
