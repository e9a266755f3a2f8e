"""`wildtool review regenerate`: stale tasks made again at an endpoint, proposed, and accepted on the page."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.commands.players_endpoint import Gate, served
from generate.scripted import say
from generate.sessions.players import Players, session_of_players
from review.made_sets import edit, tiny_records
from wildtool.cli import app
from wildtool_data.formats import format_of
from wildtool_data.make.core.prompts import SESSION_ROLES
from wildtool_review.history import model_of
from wildtool_review.project import ReviewProject
from wildtool_review.proposed import accept_proposal
from wildtool_review.server.regeneration import Regeneration
from wildtool_review.sets import open_review
from wildtool_review.store.sqlite import SqliteStore


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return session_of_players(tmp_path_factory.mktemp("made"), "Clarify Multi-Tool").record


@pytest.fixture
def asked() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def url(asked: list[dict[str, Any]]) -> Iterator[str]:
    with served(Players(), asked, Gate()) as address:
        yield address


@pytest.fixture(autouse=True)
def _reviewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: dict[str, Any]) -> None:
    """A review of a session of players and of one without types that models make; both with a stale task."""
    monkeypatch.chdir(tmp_path)
    other = {**tiny_records(1)[0], "english_task_types": ["Chat", "Poem"]}
    Path("set.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ({**record, "id": "p"}, other)))
    type_("review start set.jsonl --no-check")
    review = open_review("set.jsonl")
    edit(review, "owner", "p", f"{record['english_tasks'][0]} It is for Ann.")
    edit(review, "owner", "s0", "Edited?")
    review.close()


def type_(line: str, status: int = 0) -> Result:
    ended = CliRunner().invoke(app, line.split(), prog_name="wildtool")
    assert ended.exit_code == status, ended.output
    return ended


def regenerate(url: str, more: str = "", status: int = 0, model: str = "agent") -> Result:
    roles = " ".join(f"--role-model {role}={role}" for role in SESSION_ROLES)
    return type_(f"review regenerate set.jsonl --model {model} {roles} --base-url {url} {more}", status)


def test_stale_tasks_are_made_again_and_proposed_once(url: str, asked: list[dict[str, Any]], record: Any):
    made = regenerate(url)
    assert "1 session, 0 lost, 1 new proposal" in made.stdout
    assert "left out s0: s0: task 2 has no type" in made.stderr
    review = open_review("set.jsonl")
    found = review.item("p")
    (one,) = found.proposals_for("owner")
    assert one.reason == (f"model {', '.join(SESSION_ROLES)}",)
    assert found.content["english_tasks"][1] == record["english_tasks"][1]
    accept_proposal(review, "owner", "p", found.digest, one.content)
    found = review.item("p")
    assert found.content["english_tasks"][1] != record["english_tasks"][1]
    assert (found.stale, [f for f in found.findings() or () if f.severity == "error"]) == (set(), [])
    review.verify("log")
    review.close()
    assert "no session has stale tasks" in regenerate(url, status=2).stderr


def test_the_same_command_sends_nothing_twice_and_another_seed_proposes_another(
    url: str, asked: list[dict[str, Any]]
):
    regenerate(url)
    count = len(asked)
    assert "0 new proposals" in regenerate(url).stdout
    assert len(asked) == count
    assert "1 new proposal" in regenerate(url, "--seed 2").stdout
    assert len(asked) > count
    assert len(open_review("set.jsonl").item("p").proposals_for("owner")) == 2


def test_from_a_task_on_with_the_user_s_words(url: str, asked: list[dict[str, Any]]):
    made = regenerate(url, "--item p --from 1 --keep-texts --out record")
    assert "record: 1 session," in made.stdout
    assert not any(
        body["model"] == "user" and "wanted" in json.loads(body["messages"][1]["content"]) for body in asked
    )
    (one,) = open_review("set.jsonl").item("p").proposals_for("owner")
    assert {row["field"].split("/")[1] for row in one.after} == {"english_answer_list"}
    assert one.after[0]["field"].startswith("/english_answer_list/0")


def test_what_breaks_a_rule_is_tried_again_and_not_proposed():
    with served(Players(say("agent", "")), [], Gate()) as address:
        lost = regenerate(address, status=1)
    assert "0 sessions, 1 lost, 0 new proposals" in lost.stdout
    assert "first: agent" in lost.stderr
    assert open_review("set.jsonl").item("p").proposals_for("owner") == []


@pytest.mark.long
def test_a_button_of_the_page_makes_tasks_again_while_the_review_is_open(url: str):
    roles = [f"--role-model={role}={role}" for role in SESSION_ROLES]
    command = [sys.executable, "-m", "wildtool", "review", "regenerate"]
    review = open_review("set.jsonl")
    made = Regeneration(
        "agent", [*command, "--model=agent", f"--base-url={url}", *roles], "set.review.sqlite"
    )
    made.start("p", "owner", 1, keep_texts=False)
    made._jobs["p", "owner"].process.wait(60)  # pyright: ignore[reportPrivateUsage]
    assert made.state("p", "owner").problem == ""
    review.refresh()
    assert len(review.item("p").proposals_for("owner")) == 1


def test_a_dry_run_sends_nothing(url: str, asked: list[dict[str, Any]]):
    assert "planner (planner)" in regenerate(url, "--dry-run").stdout
    assert asked == []


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("--item nothing", "no item nothing"),
        ("--item p --from 9", "no task 9"),
        ("--as bob", "takes no part"),
    ],
)
def test_what_cannot_be_made_again_is_refused(url: str, more: str, why: str):
    if "--as" in more:
        type_("review people add set.jsonl ann")
    assert why in regenerate(url, more, status=2).stderr


def test_what_no_model_made_cannot_be_made_again(url: str):
    assert "procedural is none" in regenerate(url, status=2, model="procedural").stderr


@pytest.fixture
def call(record: Any) -> int:
    """A call of the second task whose arguments were edited, so that its result no longer fits."""
    nodes = record["english_answer_list"][1]
    index = next(k for k, node in enumerate(nodes) if node["action"]["name"] == "findBook")
    review = open_review("set.jsonl")
    edit(review, "owner", "p", {"title": "Sun"}, f"/english_answer_list/1/{index}/action/arguments")
    review.close()
    return index


def test_the_result_of_one_call_is_made_again_by_the_tool_alone(
    url: str, asked: list[dict[str, Any]], record: Any, call: int
):
    line = f"review regenerate set.jsonl --base-url {url} --item p --from 2 --call {call}"
    assert "tool (other)" in type_(f"{line} --model agent --role-model tool=other --dry-run").stdout
    assert asked == []
    made = type_(f"{line} --model tool")
    assert "1 result, 0 lost, 1 new proposal" in made.stdout
    assert [body["model"] for body in asked] == ["tool"]
    assert "0 new proposals" in type_(f"{line} --model tool").stdout
    assert len(asked) == 1
    review = open_review("set.jsonl")
    found = review.item("p")
    (one,) = found.proposals_for("owner")
    assert (one.reason, one.note) == (("model tool",), f"result of call {call} of task 2 made again")
    field = f"/english_answer_list/1/{call}/observation"
    assert [row["field"] for row in one.after] == [field]
    accept_proposal(review, "owner", "p", found.digest, one.content)
    found = review.item("p")
    assert found.content["english_answer_list"][1][call]["observation"]["title"] == "Sun"
    assert [model_of(entry) for entry in found.entries if entry.field == field] == ["tool"]
    assert found.stale == set()
    review.verify("log")
    review.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("--item nothing --from 1 --call 0", "no item nothing"),
        ("--item p --from 9 --call 0", "no task 9"),
        ("--item p --from 2 --call 99", "no call 99"),
        ("--item p --from 1 --call 0", "step 0 of task 1 is a question"),
        ("--item p --call 0", "give --item ID and --from N"),
        ("--from 2 --call 0", "give --item ID and --from N"),
        ("--item p --item s0 --from 2 --call 0", "--call is for one call"),
        ("--item p --from 2 --call 0 --keep-texts", "no --keep-texts"),
        ("--item p --from 2 --call 0 --role-model user=x", "roles are: tool"),
    ],
)
def test_a_call_that_has_no_result_to_make_is_refused(more: str, why: str):
    assert why in type_(f"review regenerate set.jsonl --model tool {more}", 2).stderr


def test_only_sessions_have_results_to_make_again():
    ReviewProject.create(SqliteStore(Path("other.review.sqlite")), format_of("rotbench")).close()
    refused = type_("review regenerate other.review.sqlite --model tool --item q --from 1 --call 0", 2)
    assert "only sessions have tasks that can be made again; this review is of rotbench" in refused.stderr
