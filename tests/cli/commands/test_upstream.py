"""`list --upstream`, `data pull --upstream`: what is new where benchmarks come from. `list profiles` names the pins."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from data.loopback import Handler, Server, body
from wildtool.benchmark import evaluators_of
from wildtool.benchmarks.injecagent import INJECAGENT
from wildtool.cli import app

HOSTILE = "Mend the judge \x1b[31mred\x1b[0m"
NEWER = [
    {"sha": "f" * 40, "commit": {"message": HOSTILE, "committer": {"date": "2031-01-02T03:04:05Z"}}},
]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "no-data"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("COLUMNS", "200")


def typed(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="wildtool")


def test_profiles_are_listed_with_the_evaluators_that_they_follow() -> None:
    said = " ".join(typed("list", "profiles").output.split())
    assert "acebench official-2025-08 " in said
    assert "follows ACEBench/ACEBench 56dd66c of 2025-10-29" in said
    assert "follows ACEBench/ACEBench e6db74b of 2025-08-24" in said


def test_every_pinned_repository_is_asked_and_what_is_new_is_said() -> None:
    with closing(Server(body(json.dumps(NEWER).encode()))) as server:
        done = typed("list", "--upstream", "--mirror", server.mirror)
    # Of one pin no day is known, so that nothing tells whether a commit that is not it is newer.
    assert done.exit_code == 3
    lines = [line.strip() for line in done.output.splitlines()]
    assert "acebench" in lines
    (acebench,) = [line for line in lines if line.startswith("ACEBench/ACEBench 56dd66c")]
    assert "1 newer commit, the last fffffff of 2031-01-02: Mend the judge" in acebench
    assert "\x1b" not in done.output
    # One repository may be that of several benchmarks, and a forge answers few questions an hour.
    assert len(server.asked) == len({*server.asked})


def nothing_since(handler: Handler) -> None:
    """Lists no commit since a day, and else the pinned one of which no day is known."""
    pinned = evaluators_of(INJECAGENT)["original"]
    commit = {"sha": pinned.commit, "commit": {"message": "x", "committer": {"date": "2024-01-02T03:04:05Z"}}}
    body(json.dumps([] if "since=" in handler.path else [commit]).encode())(handler)


def test_without_news_nothing_is_said_to_be_newer() -> None:
    with closing(Server(nothing_since)) as server:
        done = typed("list", "--upstream", "--mirror", server.mirror)
    assert done.exit_code == 0
    assert "no newer commits" in done.output
    assert "the last" not in done.output


def test_a_forge_that_cannot_be_reached_is_named_for_each_repository() -> None:
    done = typed("list", "--upstream", "--mirror", "http://127.0.0.1:9")
    assert done.exit_code == 3
    assert "not known: http://127.0.0.1:9/repos/ACEBench/ACEBench/commits" in done.output


def test_after_a_pull_the_news_of_its_benchmark_are_said_and_change_no_status() -> None:
    with closing(Server(body(json.dumps(NEWER).encode()))) as server:
        done = typed("data", "pull", "wild-mini", "--upstream", "--mirror", server.mirror)
    assert done.exit_code == 0
    assert "yupeijei1997/WildToolBench 80a5f42 of 2026-04-05: 1 newer commit" in done.output
    assert "\x1b" not in done.output
    done = typed("data", "pull", "wild-mini", "--upstream", "--mirror", "http://127.0.0.1:9")
    assert done.exit_code == 0
    assert "not known" in done.output


@pytest.mark.parametrize("words", [("list", "profiles", "--upstream"), ("list", "--mirror", "http://h")])
def test_options_that_do_not_fit_are_refused(words: tuple[str, ...]) -> None:
    assert typed(*words).exit_code == 2


def test_nothing_is_asked_unless_it_is_wanted() -> None:
    with closing(Server(body(b"[]"))) as server:
        assert typed("data", "pull", "wild-mini", "--mirror", server.mirror).exit_code == 0
    assert server.asked == []
