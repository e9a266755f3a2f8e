"""Sessions made by models at an endpoint, as it is typed: from a file of tools to a set that `run` plays."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.commands.players_endpoint import Gate, kill_at, served
from generate.sessions.players import TOOLS, Players
from wildtool.cli import app
from wildtool.types import Request
from wildtool_data.make.core.prompts import SESSION_ROLES

PLAYERS = Players
LET_THROUGH = 40
"""Calls that pass a closed gate."""


@pytest.fixture(autouse=True)
def _in_a_folder_with_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tools.json").write_text(json.dumps(TOOLS))


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def line(url: str, sessions: int, more: str = "", out: str = "set") -> str:
    roles = " ".join(f"--role-model {role}={role}" for role in SESSION_ROLES)
    return f"generate --model agent {roles} --base-url {url} --tools tools.json --sessions {sessions} --out {out} {more}"


def making(url: str, sessions: int, more: str = "") -> Result:
    return type_(line(url, sessions, more))


@pytest.mark.long
def test_a_made_set_is_played_at_once(url: str):
    ended = making(url, 4)
    assert (ended.exit_code, ended.stdout.splitlines()[-1]) == (0, "set/sessions.jsonl: 4 sessions, 0 lost")
    assert "kept  100.0 %  4/4" in ended.stdout
    played = type_("run wildtoolbench --data set/sessions.jsonl --model baseline/gold --out played")
    assert played.exit_code == 0
    assert "100.0" in played.stdout


@pytest.mark.long
def test_each_role_has_its_model_and_its_instruction(url: str, asked: list[dict[str, Any]]):
    making(url, 2)
    assert {body["model"] for body in asked} == set(SESSION_ROLES)


def test_a_role_that_is_named_again_has_another_voter(url: str):
    ended = making(url, 2, "--role-model judge=judge --role-model judge=judge")
    assert ended.exit_code == 0
    about = json.loads(Path("set/sessions.jsonl").read_text("utf-8").splitlines()[0])["made_by"]
    assert about["votes"] == {"judge": 3, "checker": 1}
    assert about["models"]["judge 3"] == "judge"


def test_a_role_without_votes_is_named_once(url: str):
    ended = making(url, 2, "--role-model planner=other")
    assert ended.exit_code == 2
    assert "planner is planner already; several models can be: judge, checker" in ended.stderr


@pytest.mark.parametrize("status", [401, 403, 404])
def test_an_endpoint_that_refuses_every_call_is_named_and_no_table_of_zeros_is_shown(
    asked: list[dict[str, Any]], gate: Gate, status: int
):
    with served(Players(), asked, gate, (0, status)) as address:
        ended = making(address, 4)
    assert ended.exit_code == 2
    assert f"HTTP {status}" in ended.stderr and "no such luck" in ended.stderr
    assert ended.stdout == ""


def test_calls_that_fail_on_the_way_are_named_where_sessions_are_counted(
    asked: list[dict[str, Any]], gate: Gate
):
    with served(Players(), asked, gate, (30, 400)) as address:
        ended = making(address, 4, "--concurrency 1")
    assert ended.exit_code == 3
    assert "are unfinished since calls failed by http 400" in ended.stderr
    assert "no such luck" in ended.stderr


@pytest.mark.long
@pytest.mark.parametrize("verb", ["show", "score", "report"])
def test_a_record_of_making_is_not_taken_for_a_run_of_a_benchmark(url: str, verb: str):
    making(url, 1)
    ended = type_(f"{verb} set/record")
    assert ended.exit_code not in (0, 1)
    assert "set/record: holds how sessions were made" in ended.stderr
    assert "yield.json says where attempts were lost" in ended.stderr


@pytest.mark.long
def test_runs_beside_a_made_set_are_told_without_it(url: str):
    making(url, 2)
    type_("run wildtoolbench --data set/sessions.jsonl --model baseline/gold --out set/played --quiet")
    ended = type_("show set")
    assert ended.exit_code == 0
    assert "holds how sessions were made" not in ended.stderr
    assert "100.0" in ended.stdout


@pytest.mark.long
def test_what_stands_in_for_lost_sessions_is_counted(gate: Gate):
    def silent_where_books_come_first(role: str, text: str, request: Request) -> str:
        tools = json.loads(request.messages[1]["content"])["tools"]
        return "" if role == "agent" and tools[0]["name"] == "findBook" else text

    players = Players(silent_where_books_come_first)
    with served(players, [], gate) as address:
        ended = making(address, 6)
    assert ended.exit_code == 0
    found = re.search(r"set/sessions.jsonl: 6 sessions, 0 lost, (\d+) in place of lost ones", ended.stdout)
    assert found and int(found[1]) > 0
    losses = [json.loads(row) for row in Path("set/losses.jsonl").read_text("utf-8").splitlines()]
    assert len(losses) >= int(found[1])
    assert all(loss["replaced"] for loss in losses)
    assert "agent refused A2" in ended.stdout
    assert "Rules: P of decisions, T of results, A and C of texts; docs/generate.md" in ended.stderr


def test_what_it_would_take_is_told_without_asking(url: str, asked: list[dict[str, Any]]):
    ended = making(url, 100, "--dry-run --role-model judge=other")
    assert (ended.exit_code, asked) == (0, [])
    assert not Path("set").exists()
    assert "64 sessions of 4 tasks" in ended.stdout
    assert "planner (planner)\n  calls          860 – 1,720" in ended.stdout
    assert "judge 2 (other)" in ended.stdout
    assert "unknown; add --prices" in ended.stdout


@pytest.mark.long
def test_replies_of_the_cache_are_not_asked_for_again(url: str, asked: list[dict[str, Any]]):
    making(url, 2, "--cache kept")
    count = len(asked)
    assert type_(line(url, 2, "--cache kept", out="again")).exit_code == 0
    assert len(asked) == count
    assert Path("again/sessions.jsonl").read_bytes() == Path("set/sessions.jsonl").read_bytes()


@pytest.mark.parametrize("option", ["--dry-run", "--cache kept"])
def test_templates_take_neither_estimate_nor_cache(option: str):
    ended = type_(f"generate --model procedural --sessions 1 --out made.jsonl {option}")
    assert ended.exit_code == 2
    assert "procedural calls none" in ended.stderr


def test_the_same_command_asks_nothing_twice_and_a_larger_number_goes_on(
    url: str, asked: list[dict[str, Any]]
):
    making(url, 2)
    first, count = Path("set/sessions.jsonl").read_text("utf-8"), len(asked)
    making(url, 2)
    assert len(asked) == count
    making(url, 3)
    assert len(asked) > count
    assert Path("set/sessions.jsonl").read_text("utf-8").startswith(first)


@pytest.mark.long
def test_a_limit_leaves_what_is_made_and_says_how_to_go_on(url: str):
    ended = making(url, 4, "--max-tokens-total 700 --concurrency 1")
    assert ended.exit_code == 3
    assert "sessions are unfinished; run the same command again" in ended.stderr
    assert making(url, 4).exit_code == 0
    assert len(Path("set/sessions.jsonl").read_text("utf-8").splitlines()) == 4


@pytest.mark.long
def test_a_killed_command_goes_on_to_the_same_sessions(url: str, asked: list[dict[str, Any]], gate: Gate):
    type_(line(url, 4, out="undisturbed"))
    kill_at(gate, asked, line(url, 4))
    assert not Path("set/sessions.jsonl").exists()
    assert making(url, 4).exit_code == 0
    assert Path("set/sessions.jsonl").read_bytes() == Path("undisturbed/sessions.jsonl").read_bytes()
