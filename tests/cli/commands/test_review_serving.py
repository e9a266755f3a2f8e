"""What `wildtool review` starts: with which address, person, model and runs, and what it says while rules run."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from training.training_rows import text_row, write_rows
from wildtool.cli import app
from wildtool.report.commands import view
from wildtool_review import sets
from wildtool_review.commands import serve
from wildtool_review.people import COMMAND_LINE
from wildtool_review.server import app as server
from wildtool_review.server import regeneration
from wildtool_review.server.app import Listen

Served = dict[str, Any]
Then = Callable[[Served], None]


class Project:
    """A review of some unchecked items."""

    def __init__(self, unchecked: int) -> None:
        self.state = SimpleNamespace(
            queue={"unchecked": range(unchecked)}.__getitem__,
            may=lambda name, role: (name, role) == ("ann", "reviewer"),
            people={
                "ann": SimpleNamespace(name="ann", active=True),
                "bob": SimpleNamespace(name="bob", active=False),
            },
        )
        self.format = object()
        self.closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[Served, Any]]:
    """Serves nothing, but tells with what, and does something meanwhile."""
    monkeypatch.chdir(tmp_path)
    write_rows(Path("s.jsonl"), [text_row("q")])

    def run(line: str = "", then: Then = lambda served: None, unchecked: int = 0, project: Any = None) -> Any:
        served: Served = {}
        own = project or Project(unchecked)

        async def serve_review(given: Any, name: str, listen: Listen, **more: Any) -> None:
            served.update(more, project=given, name=name, listen=listen)
            then(served)

        monkeypatch.setattr(server, "serve_review", serve_review)
        monkeypatch.setattr(sets, "start_review", lambda name, store, benchmark: (own, 0))
        ended = CliRunner().invoke(app, ["review", "s.jsonl", *line.split()], prog_name="wildtool")
        return served, ended, own

    return run


def test_a_review_is_served_here_for_its_owner(serving: Callable[..., Any]):
    served, ended, project = serving()
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, "", "")
    assert (served["project"], served["name"]) == (project, "s.review.sqlite")
    assert served["listen"] == Listen("127.0.0.1", 8643, None, None, "")
    assert (served["person"], served["runs"], served["regeneration"]) == (COMMAND_LINE, None, None)
    assert served["on_progress"] is not None


def test_options_reach_the_server(serving: Callable[..., Any]):
    served, _, _ = serving("--host localhost --port 9 --as ann --no-check")
    assert served["listen"] == Listen("localhost", 9)
    assert (served["person"], served["on_progress"]) == ("ann", None)
    served, ended, _ = serving("--behind-proxy https://x.org/ --store other.sqlite")
    assert (served["listen"].proxy, served["name"], ended.stderr) == ("https://x.org", "other.sqlite", "")


def test_nobody_can_sign_in_where_nobody_is_registered(serving: Callable[..., Any]):
    project = Project(0)
    project.state.people = {}
    nobody = "nobody can sign in yet: add people with `wildtool review people add`\n"
    assert serving("--behind-proxy https://x.org", project=project)[1].stderr == nobody
    assert serving(project=project)[1].stderr == ""


def test_who_may_not_review_is_refused_and_the_review_closed(serving: Callable[..., Any]):
    served, ended, project = serving("--as bob")
    assert (served, ended.exit_code, project.closed) == ({}, 2, True)
    assert ended.stderr == "wildtool: unknown person 'bob' (known: ann)\n"
    _, ended, project = serving("--as ann --behind-proxy https://x.org")
    assert (ended.exit_code, project.closed) == (2, True)


def test_a_model_makes_tasks_again_within_its_limit(
    serving: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(regeneration, "Regeneration", lambda *given: given)
    command = [sys.executable, "-P", "-m", "wildtool", "review", "regenerate"]
    served, _, _ = serving("--model m")
    assert served["regeneration"] == (
        "m",
        [*command, "--store=s.review.sqlite", "--model=m"],
        "s.review.sqlite",
        "",
    )
    served, _, _ = serving("--model m --max-cost 0.5 --store postgresql://u:secret@h/d")
    place = "postgresql://u@h/d"
    assert served["regeneration"] == (
        "m",
        [*command, f"--store={place}", "--model=m", "--max-cost=0.5"],
        place,
        "secret",
    )
    assert served["name"] == "d" and "secret" not in served["name"]
    assert serving("--model m --max-cost 0")[1].exit_code == 0


def progress(checked: int, total: int, problem: str = "") -> Any:
    return SimpleNamespace(checked=checked, total=total, problem=problem)


def test_what_is_said_while_it_runs(serving: Callable[..., Any], monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    steps: list[str] = []
    monkeypatch.setattr(view, "open_in_browser", opened.append)
    monkeypatch.setattr(serve, "show_step", steps.append)

    def then(served: Served) -> None:
        served["ready"]("http://x")
        for now in (progress(1, 1200), progress(1200, 1200), progress(3, 1200, "broken")):
            served["on_progress"](now)

    ready = "Review of s.review.sqlite: http://x\n"
    _, ended, _ = serving("--open --no-token", then, unchecked=200)
    assert (ended.stdout, opened) == (ready, ["http://x"])
    assert ended.stderr == (
        "Ctrl-C stops it.\nThe rules run over 200 items; you can review meanwhile.\n"
        "The rules have run over all 1,200 items.\nThe rules stopped: broken\n"
    )
    assert steps == ["rules: 1 of 1,200 items", "", "rules: 3 of 1,200 items"]
    _, ended, _ = serving("", then, unchecked=199)
    assert (ended.stderr, len(opened)) == ("Ctrl-C stops it.\nThe rules stopped: broken\n", 1)

    def ready_only(served: Served) -> None:
        served["ready"]("http://x")

    _, ended, _ = serving("--no-check", ready_only, unchecked=200)
    assert ended.stderr == "Ctrl-C stops it.\n"
