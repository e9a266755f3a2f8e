"""Our other packages: what they offer is found by entry points, and what is missing is named with what to install."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wildtool import installed
from wildtool.cli import app

GROUPS = ("wildtool.commands", "wildtool.exports", "wildtool.parts", "wildtool.audits")
OF_PACKAGES: dict[str, str] = {
    "generate": "data",
    "generate acebench --help": "data",
    "data lint wild-mini": "data",
    "data mix a=a.jsonl -o mix": "data",
    "review made.jsonl": "review",
    "review stats --help": "review",
    "audit wild-mini --reward": "train",
}
"""Commands of packages, with the extra that brings each."""


def run(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, dict[str, tuple[Any, ...]]]]:
    """The entry points by group, of which there are none at first."""
    groups: dict[str, dict[str, tuple[Any, ...]]] = {}
    monkeypatch.setattr(installed, "installed_entries", lambda group: groups.get(group, {}))  # pyright: ignore
    return groups


@pytest.mark.parametrize("group", GROUPS)
def test_each_offer_of_our_packages_can_be_loaded(group: str):
    ours = [each for each in entry_points(group=group) if each.module.startswith("wildtool_")]
    assert ours and all(callable(each.load()) for each in ours)


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
