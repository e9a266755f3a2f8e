"""Tools made by models at an endpoint, as it is typed: from nothing to tools that sessions are made over."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.commands.players_endpoint import Gate, kill_at
from generate.tools.players import MARKET, ApiPlayers
from wildtool.cli import app
from wildtool_data.make.tools.script import API_ROLES

PLAYERS = ApiPlayers
LET_THROUGH = 30
"""Calls that pass a closed gate."""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def line(url: str, number: int, more: str = "", out: str = "box") -> str:
    roles = " ".join(f"--role-model {role}={role}" for role in API_ROLES)
    return f"generate tools --model agent {roles} --base-url {url} --number {number} --out {out} {more}"


def making(url: str, number: int, more: str = "") -> Result:
    return type_(line(url, number, more))


@pytest.mark.long
def test_made_tools_are_what_sessions_are_made_over(url: str):
    ended = making(url, 24)
    assert (ended.exit_code, ended.stdout.splitlines()[-1]) == (0, "box/tools_en.jsonl: 24 tools, 0 lost")
    assert "kept" in ended.stdout and "100.0 %  24/24" in ended.stdout
    assert "wildtool generate --model NAME --tools box/tools_en.jsonl" in ended.stderr
    over = type_(
        "generate --model procedural --tools box/tools_en.jsonl --sessions 1 --tasks 1 -o first.jsonl"
    )
    assert (over.exit_code, over.stderr) == (0, "")
    assert "pattern" in Path("box/tools_en.jsonl").read_text("utf-8")


@pytest.mark.long
def test_each_role_has_its_model(url: str, asked: list[dict[str, Any]]):
    making(url, 24)
    assert {body["model"] for body in asked} == {"designer", "evolver", "caller"}


def test_documents_are_read_first(url: str, asked: list[dict[str, Any]]):
    Path("market.md").write_text(MARKET)
    assert making(url, 3, "--documents market.md --lang en,zh").exit_code == 0
    assert [body["model"] for body in asked[:2]] == ["reader", "reader"]
    assert "Stalls" in Path("box/tree_en.json").read_text("utf-8")
    assert len(Path("box/tools_zh.jsonl").read_text("utf-8").splitlines()) == 1


def test_the_same_command_asks_nothing_twice_and_a_larger_number_goes_on(
    url: str, asked: list[dict[str, Any]]
):
    making(url, 2)
    first, count = Path("box/apis.jsonl").read_text("utf-8"), len(asked)
    making(url, 2)
    assert len(asked) == count
    making(url, 20)
    assert len(asked) > count
    assert Path("box/apis.jsonl").read_text("utf-8").startswith(first)


@pytest.mark.long
def test_a_limit_leaves_what_is_made_and_says_how_to_go_on(url: str):
    ended = making(url, 20, "--max-tokens-total 200 --concurrency 1")
    assert ended.exit_code == 3
    assert "tools are unfinished; run the same command again" in ended.stderr
    assert making(url, 20).stdout.splitlines()[-1] == "box/tools_en.jsonl: 20 tools, 0 lost"


@pytest.mark.long
def test_a_killed_command_goes_on_to_the_same_tools(url: str, asked: list[dict[str, Any]], gate: Gate):
    type_(line(url, 24, out="undisturbed"))
    kill_at(gate, asked, line(url, 24))
    assert not Path("box/apis.jsonl").exists()
    assert making(url, 24).exit_code == 0
    for name in ("apis.jsonl", "tools_en.jsonl", "tree_en.json", "losses.jsonl", "yield.json"):
        assert Path("box", name).read_bytes() == Path("undisturbed", name).read_bytes()


@pytest.mark.long
def test_a_record_is_replayed_without_an_endpoint(url: str):
    making(url, 20)
    ended = type_("generate tools --model replay:box/record --number 20 --out again")
    assert ended.exit_code == 0
    assert Path("again/tools_en.jsonl").read_bytes() == Path("box/tools_en.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--out box", "no model is named"),
        ("--model procedural --out box", "templates cannot describe tools"),
        ("--model m", "give a folder: --out toolbox"),
        ("--model m --out box --number 0", "must be at least 1"),
        ("--model m --out box --lang fr", "unknown language 'fr'"),
        ("--model m --out box --tree nowhere.json", "nowhere.json"),
        ("--model m --out box --documents nowhere.md", "nowhere.md"),
        ("--model m --out box --role-model planner=x", "roles are: agent, reader, designer, evolver, caller"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_do(typed: str, said: str):
    ended = type_(f"generate tools {typed}")
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert not Path("box").exists()
