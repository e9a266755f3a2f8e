"""What our packages offer is found by entry points, and what is missing is named with what to install."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wildtool import cli, installed
from wildtool.cli import CommandGroup, app
from wildtool.installed import is_ours, own_entries, package_of

GROUPS = ("wildtool.commands", "wildtool.exports", "wildtool.parts", "wildtool.audits")
OF_PACKAGES: dict[str, str] = {
    "generate": "data",
    "generate acebench --help": "data",
    "data stats wild-mini": "data",
    "data mix a=a.jsonl -o mix": "data",
    "review made.jsonl": "review",
    "review stats --help": "review",
    "audit wild-mini --reward": "train",
}
"""Commands of packages, with the extra that brings each."""


def run(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, tuple[Any, ...]]]:
    """The entry points of others by group, of which there are none at first; of ours only wildtool is installed."""
    groups: dict[str, dict[str, tuple[Any, ...]]] = {}
    own = {key: entry for key, entry in own_entries("wildtool.commands").items() if key[0] == "wildtool"}
    monkeypatch.setattr(installed, "installed_entries", lambda group: groups.get(group, {}))  # pyright: ignore
    monkeypatch.setattr(installed, "own_entries", lambda group: own)  # pyright: ignore
    return groups


def offers(group: str) -> list[EntryPoint]:
    """The entry points of our packages."""
    return [each for each in entry_points(group=group) if is_ours(package_of(each))]


@pytest.mark.parametrize("group", GROUPS)
def test_each_offer_of_our_packages_can_be_loaded(group: str):
    assert offers(group) and all(callable(each.load()) for each in offers(group))


@pytest.mark.parametrize("group", GROUPS)
def test_their_lists_are_read_as_the_library_reads_them(group: str):
    expected = {(package_of(each), each.name): each.value for each in offers(group)}
    assert {key: entry.value for key, entry in own_entries(group).items()} == expected


def test_each_command_has_an_entry_point_to_a_module_of_verbs():
    entries = {each.name: each.module for each in offers("wildtool.commands")}
    assert entries.keys() == {*_commands(cli._VERBS, "")}
    assert not [name for name, module in entries.items() if "commands" not in module.split(".")]


def _commands(commands: cli.Commands, group: str) -> Iterator[str]:
    """Names of our commands, those of groups after the group's."""
    for name in (*commands.declarations, *commands.older):
        yield f"{group}{name}"
        target = commands.find(name)
        if isinstance(target, CommandGroup):
            yield from _commands(target.commands, f"{group}{name}.")  # pyright: ignore


def test_a_list_of_another_version_is_named(monkeypatch: pytest.MonkeyPatch, found: dict[str, Any]):
    monkeypatch.setattr(installed, "own_entries", lambda group: {})  # pyright: ignore
    refused = run("list")
    assert refused.exit_code == 2
    assert "`wildtool list`" in refused.output and "install wildtool again" in refused.output


@pytest.mark.parametrize(("line", "package"), [("list", "wildtool"), ("review stats", "wildtool-review")])
@pytest.mark.parametrize("place", ["moved.commands:verb", "wildtool.moved:verb", ""])
def test_a_list_that_names_what_has_moved_or_lacks_what_is_new_is_named(
    line: str, package: str, place: str, monkeypatch: pytest.MonkeyPatch
):
    entries = dict(own_entries("wildtool.commands"))
    entry = package, line.partition(" ")[0]
    entries.pop(entry)
    if place:
        entries[entry] = installed.OwnEntry(place)
    monkeypatch.setattr(installed, "own_entries", lambda group: entries)  # pyright: ignore
    monkeypatch.setattr(installed, "installed_entries", lambda group: {})  # pyright: ignore
    refused = run(line)
    assert refused.exit_code == 2
    assert f"install {package} again" in refused.output and "not installed" not in refused.output


def test_a_name_that_begins_like_ours_is_no_package_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "wildtoolbox-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text("[wildtool.commands]\nrun = wildtoolbox:run\n")
    monkeypatch.syspath_prepend(tmp_path)
    own_entries.cache_clear()
    try:
        assert {package for package, _ in own_entries("wildtool.commands")} <= {
            "wildtool",
            *(f"wildtool-{extra}" for extra in ("data", "review", "train")),
        }
    finally:
        own_entries.cache_clear()


@pytest.mark.parametrize("line", OF_PACKAGES)
def test_a_verb_whose_package_is_missing_says_what_to_install(line: str, found: dict[str, Any]):
    refused = run(line)
    assert refused.exit_code == 2
    assert f"pip install 'wildtool[{OF_PACKAGES[line]}]'" in refused.output


def test_an_export_whose_package_is_missing_says_so_before_anything_is_written(
    tmp_path: Any, found: dict[str, Any]
):
    run_folder = tmp_path / "run"
    assert run(f"run wild-mini -m baseline/chat --limit 1 -q -o {run_folder}").exit_code == 0
    refused = run(f"export {run_folder} --to pairs --allow-benchmark-data -o {tmp_path / 'pairs.jsonl'}")
    assert (refused.exit_code, "pip install 'wildtool[data]'" in refused.output) == (2, True)
    assert not (tmp_path / "pairs.jsonl").exists()


def test_overviews_are_the_same_with_and_without_the_packages(found: dict[str, Any]):
    for line in ("--help", "data --help"):
        shown = run(line)
        assert shown.exit_code == 0
        assert ("convert" if "data" in line else "generate") in shown.stdout


def test_a_name_in_the_wrong_place_is_answered_without_the_packages(found: dict[str, Any]):
    refused = run("acebench")
    assert refused.exit_code == 2 and "No such command" in refused.output


def test_no_package_of_others_answers_for_a_verb_of_ours(found: dict[str, Any]):
    found["wildtool.commands"] = {
        "generate": (EntryPoint("generate", "antigravity:geohash", "wildtool.commands"),)
    }
    refused = run("generate")
    assert refused.exit_code == 2 and "pip install 'wildtool[data]'" in refused.output
