"""Policies with known answers under each exposure: `compare` finds their losses where they err, and nowhere else."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool
from long import WHOLE
from wildtool.cli import app

CODE_PLACES = {
    "code-none": "text instead of code",
    "code-refused": "sandbox refused",
    "code-errs": "script error",
    "code-misuses": "result misused in the script",
    "code-miscomputes": "wrong argument, computed",
}


def compared(
    out: Path, model: str, expose: str, altered: Mapping[str, Any] | None = None, **settings: Any
) -> dict[str, Any]:
    """The comparison of a policy under an exposure with the same policy without.

    Args: altered: other alterations of both runs.
    """
    folders: list[str] = []
    for name in ("direct", expose):
        folder = out / name.replace(":", "-")
        alterations = wildtool.Alterations(expose=name, **(altered or {}))
        wildtool.run(
            "wild-mini",
            model=f"baseline/{model}",
            profile="fixed",
            alterations=alterations,
            out=folder,
            **settings,
        )
        folders.append(str(folder))
    done = CliRunner().invoke(app, ["compare", *folders, "--json"], prog_name="wildtool")
    assert done.exit_code == 0, done.output
    (pair,) = json.loads(done.stdout)["comparisons"]
    return pair


def checked_places(pair: dict[str, Any]) -> dict[str, float]:
    """By place what the run lost there; checks that all sum to the difference."""
    places = pair["losses"]["places"]
    assert sum(each["difference"] for each in places) == pytest.approx(-pair["whole"]["difference"])
    return {each["place"]: each["run"] for each in places}


@pytest.mark.long
@pytest.mark.parametrize("policy", CODE_PLACES)
def test_a_policy_of_scripts_is_lost_where_it_spoils_them(tmp_path: Path, policy: str):
    pytest.importorskip("pydantic_monty")
    pair = compared(tmp_path, policy, "code", limit=3 if WHOLE else 1)
    places = checked_places(pair)
    assert list(places) == [CODE_PLACES[policy]]
    assert places[CODE_PLACES[policy]] == -pair["whole"]["difference"] * pair["whole"]["units"] > 0


def test_a_fault_of_a_script_is_of_its_request_although_a_tool_failed_before(tmp_path: Path):
    pytest.importorskip("pydantic_monty")
    pair = compared(
        tmp_path, "code-misuses", "code", {"failures": "first-call,timeout"}, limit=3 if WHOLE else 1
    )
    assert list(checked_places(pair)) == ["result misused in the script"]


@pytest.mark.skipif(not WHOLE, reason="`make long` runs it: twenty scripts of each task run into the clock")
def test_a_policy_whose_scripts_never_end_is_cut_off(tmp_path: Path):
    pytest.importorskip("pydantic_monty")
    assert list(checked_places(compared(tmp_path, "code-loops", "code", limit=1))) == ["cut off"]


def test_a_searcher_of_known_recall_is_lost_at_what_it_did_not_find(tmp_path: Path):
    pair = compared(tmp_path, "searcher:0.5", "search", limit=8 if WHOLE else 4)
    assert list(checked_places(pair)) == ["searched, not found"]
    assert pair["losses"]["floor"] == ""
    names = {each["name"] for each in pair["amounts"]}
    assert {"requests", "calls", "steps"} <= names


@pytest.mark.long
@pytest.mark.parametrize("expose", ["search", "code"])
def test_calls_of_an_exposure_are_not_compared_with_those_of_tools(tmp_path: Path, expose: str):
    pytest.importorskip("pydantic_monty")
    pair = compared(tmp_path, "gold", expose, limit=2)
    assert pair["tools"] is None
    assert not any("never called" in each["name"] for each in pair["amounts"])


def test_gold_loses_nothing_under_a_search_that_finds_what_it_needs(tmp_path: Path):
    pair = compared(tmp_path, "gold", "search:perfect", limit=4 if WHOLE else 2, repeats=2)
    assert pair["losses"]["places"] == [] and pair["losses"]["net"] == 0
    assert pair["losses"]["floor"] == "its own repeats"


@pytest.mark.long
def test_losses_are_written_as_a_table_and_a_waterfall(tmp_path: Path):
    pytest.importorskip("vl_convert")
    compared(tmp_path, "searcher:0.5", "search", limit=4)
    words = ["compare", str(tmp_path / "direct"), str(tmp_path / "search"), "--curve", "losses"]
    done = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "out")], prog_name="wildtool")
    assert done.exit_code == 0, done.output
    with (tmp_path / "out" / "losses.csv").open(encoding="utf-8", newline="") as file:
        place, whole = csv.DictReader(file)
    assert place["place"] == "searched, not found"
    assert (whole["place"], whole["units"], whole["left_out"]) == ("all", "16", "0")
    assert [place[name] for name in ("lost", "difference")] == [
        whole[name] for name in ("lost", "difference")
    ]
    picture = (tmp_path / "out" / "losses.svg").read_text(encoding="utf-8")
    assert "searched, not found" in picture


@pytest.mark.long
def test_runs_without_an_exposure_have_no_losses_to_draw(tmp_path: Path):
    for model in ("gold", "chat"):
        wildtool.run("wild-mini", model=f"baseline/{model}", limit=1, out=tmp_path / model)
    words = ["compare", str(tmp_path / "gold"), str(tmp_path / "chat")]
    done = CliRunner().invoke(app, [*words, "--curve", "losses"], prog_name="wildtool")
    assert done.exit_code == 2 and "--expose" in done.output


@pytest.mark.long
def test_a_larger_catalogue_says_from_how_many_tools_on_a_search_pays(tmp_path: Path):
    for expose in ("direct", "search:perfect"):
        for size in (16, 32):
            alterations = wildtool.Alterations(among=size, expose=expose)
            out = tmp_path / expose.replace(":", "-") / str(size)
            wildtool.run("wild-mini", model="baseline/lexical", alterations=alterations, limit=4, out=out)
    words = ["compare", str(tmp_path / "direct"), str(tmp_path / "search-perfect"), "--curve", "tools"]
    done = CliRunner().invoke(app, words, prog_name="wildtool")
    said = " ".join(done.output.split())
    assert done.exit_code == 0, done.output
    assert "search:perfect against shown tools" in said and "accuracy: " in said and "tokens: " in said
