"""Sessions made after real users, at an endpoint that obeys, as it is typed: examples, scenarios, several users, own
texts."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.commands.players_endpoint import Gate, kill_at
from cli.commands.test_generate_by_models import line, making, type_
from generate.sessions.players import TOOLS, Players
from wildtool_data.make.core.files import RECORD_FOLDER

PLAYERS = Players
LET_THROUGH = 40
"""Calls that pass a closed gate."""
TALKS = [
    [
        f"My suitcase number {k} did not arrive in Porto this morning, please find it.",
        "When does it come then?",
    ]
    for k in range(6)
]
LIKE_USERS = (
    "--examples talks.jsonl --scenarios words.txt --role-prompts own --role-model user=user --clarify some"
)


@pytest.fixture(autouse=True)
def _in_a_folder_with_material(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tools.json").write_text(json.dumps(TOOLS))
    talks = [{"messages": [{"role": "user", "content": text} for text in talk]} for talk in TALKS]
    Path("talks.jsonl").write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    Path("words.txt").write_text("A library is closed.\nA book club meets.\n")
    Path("own/en").mkdir(parents=True)
    Path("own/en/judge.txt").write_text(
        "Of messages of the kind {{wanted.kind}} choose the one that sounds most real."
    )


def records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("set/sessions.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.long
def test_all_that_is_given_is_used_and_said(url: str, asked: list[dict[str, Any]]):
    ended = making(url, 4, LIKE_USERS)
    assert ended.exit_code == 0
    assert "own texts (en): judge: beginning" in ended.stderr
    assert "scenarios: 2" in ended.stderr
    assert "examples: 6 conversations, 12 messages of users" in ended.stderr
    assert "overlap with examples" in ended.stdout
    for record in records():
        made_by = record["made_by"]
        assert set(made_by["users"]) == {"user", "user 2"}
        assert made_by["models"]["user 2"] == "user"
        assert made_by["examples"]["conversations"] == 6
        assert {row["scenario"] for row in made_by["candidates"][0]} == {1, 2}
    assert any("sounds most real" in body["messages"][0]["content"] for body in asked)


@pytest.mark.long
def test_a_report_shows_what_was_picked(url: str):
    making(url, 4)
    shown = type_("data stats set/sessions.jsonl").stdout
    assert "picked of proposed messages, by length" in shown
    assert "picked of proposed messages, by theme" in shown
    assert "required values that are asked for" in shown


def test_a_killed_command_goes_on_to_the_same_sessions(url: str, asked: list[dict[str, Any]], gate: Gate):
    assert type_(line(url, 4, LIKE_USERS, out="undisturbed")).exit_code == 0
    kill_at(gate, asked, line(url, 4, LIKE_USERS))
    assert not Path("set/sessions.jsonl").exists()
    assert making(url, 4, LIKE_USERS).exit_code == 0
    assert Path("set/sessions.jsonl").read_bytes() == Path("undisturbed/sessions.jsonl").read_bytes()


@pytest.mark.long
def test_other_examples_need_another_folder(url: str):
    making(url, 2, "--examples talks.jsonl")
    Path("talks.jsonl").write_text('{"messages": [{"role": "user", "content": "Hello"}]}\n')
    ended = making(url, 2, "--examples talks.jsonl")
    assert ended.exit_code == 2
    assert "the settings differ" in ended.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--examples no.jsonl", "no.jsonl"),
        ("--scenarios no.txt", "no.txt"),
        ("--role-prompts no", "there is no such folder"),
        ("--role-prompts own --lang en,zh", "there is no folder zh"),
        ("--clarify none", "unknown kind 'none' (known: all, some)"),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_first_call(
    url: str, asked: list[dict[str, Any]], more: str, said: str
):
    ended = making(url, 2, more)
    assert (ended.exit_code, asked) == (2, [])
    assert said in ended.stderr


@pytest.mark.long
def test_a_set_of_an_earlier_recipe_is_refused_by_name(url: str, asked: list[dict[str, Any]]):
    making(url, 2)
    run = Path("set", RECORD_FOLDER, "run.json")
    kept, before = json.loads(run.read_bytes()), len(asked)
    # As wildtool 0.2 wrote it, of the same tools, seed and number of tasks.
    kept["identity"]["data_sha256"] = "aa82de95b8656488778f88f8c58fd43ff3bc9e76b1a69355327baa5b330b3ed4"
    run.write_text(json.dumps(kept))
    ended = making(url, 2)
    assert (ended.exit_code, len(asked)) == (2, before)
    assert "begun with recipe 0.1.0" in ended.stderr and "--out FOLDER" in ended.stderr
    shutil.rmtree("set")
    assert making(url, 2).exit_code == 0
