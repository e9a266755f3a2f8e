"""Single items as they are made on the command line: by templates, and by models at an endpoint."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.commands.players_endpoint import Gate, kill_at
from generate.items.players import TOOLS, ItemPlayers
from wildtool.cli import app
from wildtool_data.make.items.plan import ITEM_KINDS

PLAYERS = ItemPlayers
LET_THROUGH = 60
"""Calls that pass a closed gate."""


@pytest.fixture(autouse=True)
def _in_a_folder_with_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tools.json").write_text(json.dumps(TOOLS))


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def files(folder: Path) -> dict[str, bytes]:
    """Everything that is made, by its path; the record, which holds times, is left out."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "record" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


# Templates ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 items in both languages."""
    folder = tmp_path_factory.mktemp("items") / "set"
    ended = type_(f"generate acebench --model procedural --items 60 --lang en,zh --out {folder}")
    assert (ended.exit_code, ended.stdout) == (0, f"{folder}/items: 60 items, 0 lost\n")
    return folder


@pytest.mark.long
def test_templates_make_all_kinds_without_a_model(items: Path):
    rows = [json.loads(line) for line in (items / "provenance.jsonl").read_text("utf-8").splitlines()]
    assert {row["kind"] for row in rows} == set(ITEM_KINDS)
    assert {row["lang"] for row in rows} == {"en", "zh"}


def test_items_of_templates_pass_lint(items: Path):
    ended = type_(f"data lint {items}/items --benchmark acebench")
    assert (ended.exit_code, ended.stdout) == (0, "")


@pytest.mark.long
@pytest.mark.parametrize("profile", ["official", "fixed"])
@pytest.mark.parametrize("mode", ["text", "fc"])
def test_gold_of_templates_is_right_under_every_profile(items: Path, profile: str, mode: str):
    line = (
        f"run acebench --data {items}/items --model baseline/gold --profile {profile} --mode {mode} --out run"
    )
    ended = type_(line)
    assert ended.exit_code == 0
    assert "70/70 tasks · 100.0 % correct" in ended.stderr


@pytest.mark.long
def test_the_same_seed_makes_the_same_items(tmp_path: Path, items: Path):
    type_("generate acebench --model procedural --items 60 --lang en,zh --out again")
    type_("generate acebench --model procedural --items 60 --lang en,zh --seed 2 --out other")
    assert files(Path("again")) == files(items)
    assert files(Path("other")) != files(items)


def test_templates_take_tools_of_a_file_and_say_which_kinds_they_do_not_allow():
    few = [tool for tool in TOOLS if tool["function"]["name"] in ("bookLesson", "rateCourt", "bookCourt")]
    Path("few.json").write_text(json.dumps(few))
    ended = type_("generate acebench --model procedural --tools few.json --items 17 --out set")
    assert ended.exit_code == 0
    lost = [json.loads(line) for line in Path("set/losses.jsonl").read_text("utf-8").splitlines()]
    assert {row["kind"] for row in lost}.isdisjoint({"object-deep", "list"})
    assert "object-deep" in ended.stderr and "list" in ended.stderr
    type_("generate acebench --model procedural --tools few.json --kinds list --items 2 --out asked")
    lost = [json.loads(line) for line in Path("asked/losses.jsonl").read_text("utf-8").splitlines()]
    assert lost and all("no tool of these allows" in row["detail"] for row in lost)
    assert type_("data lint set/items --benchmark acebench").exit_code == 0


def test_only_the_wanted_kinds_are_made_in_the_wanted_shares():
    type_("generate acebench --model procedural --kinds single=3,error=1 --items 8 --out set")
    rows = [json.loads(line) for line in Path("set/provenance.jsonl").read_text("utf-8").splitlines()]
    kinds = [row["kind"] for row in rows]
    assert (kinds.count("single"), kinds.count("error"), len(kinds)) == (6, 2, 8)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--model procedural", "give a folder: --out set"),
        ("--out set", "no model is named"),
        ("--model procedural --out set --kinds sonnet", "unknown kind 'sonnet' (known: number, enum"),
        ("--model procedural --out set --kinds single=0", "a share is a whole number above 0"),
        ("--model procedural --out set --items 0", "at least one item"),
        ("--model procedural --out set --lang fr", "unknown language 'fr'"),
        ("--model procedural --out set --tools no.json", "cannot read no.json"),
        ("--model procedural --out set --judges 2", "need a model; procedural uses none"),
        ("--model gpt --base-url http://127.0.0.1:1 --out set --agree 4", "--agree 4 must be 1 to 3"),
        ("--model gpt --base-url http://127.0.0.1:1 --out set --role-model cook=a", "roles are: agent, writer, user"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_said_and_writes_nothing(line: str, said: str):
    ended = type_(f"generate acebench {line}")
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert not Path("set").exists()


def test_what_lies_there_is_not_overwritten_by_templates():
    Path("set").mkdir()
    Path("set", "notes.txt").write_text("mine")
    ended = type_("generate acebench --model procedural --out set")
    assert ended.exit_code == 2
    assert "set already exists" in ended.stderr


# Models ---------------------------------------------------------------------------------------------


def line(url: str, items: int, more: str = "", out: str = "set") -> str:
    roles = " ".join(f"--role-model {role}={role}" for role in ("writer", "user", "tool"))
    judges = "--role-model judge=judge --role-model judge=judge-two"
    files = f"--tools tools.json --items {items} --out {out}"
    return f"generate acebench --model agent {roles} {judges} --base-url {url} {files} {more}"


@pytest.mark.long
def test_a_made_set_is_played_at_once(url: str):
    ended = type_(line(url, 17))
    assert (ended.exit_code, ended.stdout.splitlines()[-1]) == (0, "set/items: 17 items, 0 lost")
    assert "kept      100.0 %  17/17" in ended.stdout
    assert type_("data lint set/items --benchmark acebench").exit_code == 0
    played = type_("run acebench --data set/items --model baseline/gold --out played")
    assert "19/19 tasks · 100.0 % correct" in played.stderr


def test_votes_are_shared_among_the_judges_that_are_named(url: str, asked: list[dict[str, Any]]):
    type_(line(url, 3, "--judges 5"))
    voters = [body["model"] for body in asked if body["model"].startswith("judge")]
    assert (voters.count("judge"), voters.count("judge-two")) == (9, 6)


def test_the_same_command_asks_nothing_twice_and_a_larger_number_goes_on(
    url: str, asked: list[dict[str, Any]]
):
    type_(line(url, 4))
    first, count = files(Path("set")), len(asked)
    type_(line(url, 4))
    assert (files(Path("set")), len(asked)) == (first, count)
    type_(line(url, 6))
    assert len(asked) > count
    assert len(Path("set/provenance.jsonl").read_text("utf-8").splitlines()) == 6


@pytest.mark.long
def test_a_killed_command_goes_on_to_the_same_items(url: str, asked: list[dict[str, Any]], gate: Gate):
    type_(line(url, 17, out="undisturbed"))
    kill_at(gate, asked, line(url, 17))
    assert not Path("set/items").exists()
    assert type_(line(url, 17)).exit_code == 0
    assert files(Path("set")) == files(Path("undisturbed"))


def test_sessions_become_items_that_only_judges_look_at(url: str, asked: list[dict[str, Any]]):
    type_("generate --model procedural --sessions 16 --tasks 1 --out sessions.jsonl")
    judges = "--role-model judge=judge --judges 2"
    ended = type_(
        f"generate acebench --model agent {judges} --base-url {url} --from sessions.jsonl --out set"
    )
    assert ended.exit_code == 0
    assert {body["model"] for body in asked} == {"judge"}
    kept = len(Path("set/provenance.jsonl").read_text("utf-8").splitlines())
    assert len(asked) == 2 * kept > 10
    assert type_("data lint set/items --benchmark acebench").exit_code == 0


def test_sessions_bring_their_own_tools():
    ended = type_("generate acebench --model procedural --from s.jsonl --tools tools.json --out set")
    assert ended.exit_code == 2
    assert "--from uses the tools of the sessions" in ended.stderr


@pytest.mark.long
def test_a_dry_run_tells_the_calls_and_asks_nothing(url: str, asked: list[dict[str, Any]]):
    told = type_(line(url, 17, "--dry-run"))
    assert (told.exit_code, asked, Path("set").exists()) == (0, [], False)
    lowest = [int(calls) for calls in re.findall(r"calls +(\d+) – ", told.stdout)]
    type_(line(url, 17))
    assert sum(lowest) == len(asked)


def test_a_dry_run_over_sessions_tells_of_judges_only(url: str):
    type_("generate --model procedural --sessions 16 --tasks 1 --out sessions.jsonl")
    told = type_(f"generate acebench --model m --base-url {url} --from sessions.jsonl --out set --dry-run")
    assert re.findall(r"^(\w+(?: \d)?) \(m\)", told.stdout, re.MULTILINE) == ["judge", "judge 2", "judge 3"]
