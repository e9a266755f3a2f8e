"""`wildtool run` between its options and the engine: what is started, what is said of each run, how the command ends."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from api.settings_for import settings_for
from wildtool.api.plans import NamedRun
from wildtool.api.settings import Settings
from wildtool.cli import app
from wildtool.cli.commands import run as command
from wildtool.engine.run import runner
from wildtool.errors import UsageError


class Ended(SimpleNamespace):
    """How a run ended."""


def ended(status: int = 0, *, correct: int = 0, wrong: int = 0, interrupted: bool = False) -> Ended:
    counts = SimpleNamespace(correct=correct, wrong=wrong)
    return Ended(exit_status=status, counts=counts, interrupted=interrupted, folder=Path("kept"))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the parts that print were called with."""
    calls: list[Any] = []
    place = "wildtool.cli.output.run_result"
    monkeypatch.setattr(f"{place}.print_notes", lambda outcome: calls.append("notes"))
    monkeypatch.setattr(f"{place}.print_spend", lambda outcome, plan: calls.append(f"spend {plan.profile}"))
    monkeypatch.setattr(
        f"{place}.print_overview_of", lambda runs, *how: calls.append(([run.folder for run in runs], *how))
    )
    monkeypatch.setattr(runner, "RunResult", Ended)
    monkeypatch.setattr("sys.argv", ["/bin/wildtool", "run", "x"])
    return calls


def execute(
    monkeypatch: pytest.MonkeyPatch, *outcomes: Any, tables: bool = True, profile: str = "p", **options: Any
) -> tuple[int, list[Any]]:
    """The exit status, and the observers of the jobs."""
    observers: list[Any] = []

    def run_plans(jobs: Any, *, command: list[str], invocation: object) -> list[Any]:
        assert (command, invocation) == (["wildtool", "run", "x"], "invocation")
        observers.extend(job.observer for job in jobs)
        assert [str(job.out) for job in jobs] == [f"f{k}" for k in range(len(outcomes))]
        return list(outcomes)

    monkeypatch.setattr(runner, "run_plans", run_plans)
    plan: Any = SimpleNamespace(profile=profile, tally=lambda verdict: {})
    runs = [NamedRun(f"m{k}", plan, Path(f"f{k}")) for k in range(len(outcomes))]
    invocation: Any = "invocation"
    status = command._execute_plans(runs, invocation, settings_for(**options), tables)
    return status, observers


FOLDERS = [Path("kept")]


@pytest.mark.parametrize(
    ("outcome", "shown", "status"),
    [
        (ended(correct=1), True, 0),
        (ended(3, wrong=1), True, 3),
        (ended(3), False, 3),
        (ended(130, correct=1, interrupted=True), False, 130),
    ],
)
def test_a_run_is_shown_that_was_answered_to_its_end(
    outcome: Ended, shown: bool, status: int, said: list[Any], monkeypatch: pytest.MonkeyPatch
):
    overview = [(FOLDERS, "p", False, "rank")] if shown else []
    assert execute(monkeypatch, outcome)[0] == status
    assert said == ["notes", "spend p", *overview]
    said.clear()
    assert execute(monkeypatch, outcome, tables=False)[0] == status
    assert said == ["notes", "spend p"]
    said.clear()
    assert execute(monkeypatch, outcome, quiet=True)[0] == status
    assert said == ["notes", *([(FOLDERS, "p", True, "rank")] if shown else [])]


def test_a_run_that_failed_is_named_beside_others(
    said: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    status, _ = execute(monkeypatch, UsageError("no such thing"))
    assert (status, capsys.readouterr().err) == (2, "wildtool: no such thing\n")
    status, _ = execute(monkeypatch, ended(correct=1), UsageError("no such thing"), None, quiet=True)
    assert (status, capsys.readouterr().err) == (2, "m1 did not finish:\nwildtool: no such thing\n")
    assert said == ["notes", (FOLDERS, "p", True, "rank")]
    with pytest.raises(ZeroDivisionError) as fault:
        raise ZeroDivisionError("odd")
    status, _ = execute(monkeypatch, fault.value, ended(3), quiet=True)
    assert status == 1
    assert capsys.readouterr().err.startswith("wildtool: internal error: ZeroDivisionError: odd (")


@pytest.mark.usefixtures("said")
def test_first_replies_are_looked_at_unless_not_wanted(monkeypatch: pytest.MonkeyPatch):
    made: list[list[str]] = []

    class FirstReplies:
        def __init__(self) -> None:
            self.seen: list[str] = []
            made.append(self.seen)

        def __call__(self, reply: Any) -> list[str]:
            self.seen.append(reply)
            return [f"remark on {reply}"]

    monkeypatch.setattr("wildtool.check.first_replies.FirstReplies", FirstReplies)
    _, (first, other) = execute(monkeypatch, ended(), ended())
    assert made == []
    assert [first._look("a"), first._look("b"), other._look("c")] == [
        ["remark on a"],
        ["remark on b"],
        ["remark on c"],
    ]
    assert made == [["a", "b"], ["c"]]
    _, (silent,) = execute(monkeypatch, ended(), no_check=True)
    assert list(silent._look("d")) == []
    assert (first._label, other._label) == ("m0", "m1")
    _, observers = execute(monkeypatch, ended(), quiet=True)
    assert type(observers[0]).__name__ == "Observer"


# The verb ----------------------------------------------------------------------------------------------


def typed(monkeypatch: pytest.MonkeyPatch, line: str, folder: str = "runs/b/m") -> tuple[int, str, list[Any]]:
    """Exit status, errors, and what was started."""
    started: list[Any] = []
    runs = [NamedRun("m", SimpleNamespace(), Path(folder))]  # type: ignore[arg-type]

    class Suite:
        def __init__(self, settings: Settings) -> None:
            started.append(("suite", settings.benchmark, sorted(settings.explicit - {"benchmark", "model"})))
            self.settings = settings

        def plan(self, plan_runs: Any) -> list[NamedRun]:
            return plan_runs(replace(self.settings, benchmark="b"), Path("above"))

        def finish(self, status: int) -> int:
            started.append(("finish", status))
            return 7

    def plan(settings: Settings, *words: Any, report: Any, parent: Path | None = None) -> list[NamedRun]:
        started.append(("plan", settings.benchmark, None if parent is None else str(parent)))
        return runs

    def execute_runs(runs: Any, settings: Settings, *, sort: str) -> int:
        started.append("execute")
        return 3

    def run_shared(runs: Any, settings: Settings) -> int:
        given = sorted(settings.explicit - {"benchmark", "model"})
        started.append(("shared", settings.benchmark, settings.workers.on, given))
        return 5

    monkeypatch.setattr("wildtool.cli.suite.Suite", Suite)
    monkeypatch.setattr(command, "plan", plan)
    monkeypatch.setattr(command, "execute_runs", execute_runs)
    monkeypatch.setattr("wildtool.scale.commands.run_shared", run_shared)
    result = CliRunner().invoke(app, ["run", *line.split(), "--model", "m"], prog_name="wildtool")
    return result.exit_code, result.stderr, started


PLANNED = ("plan", "b", None)
OF_A_SUITE = ("suite", "all", [])


@pytest.mark.parametrize(
    ("line", "folder", "status", "started"),
    [
        ("b", "r", 3, [PLANNED, "execute"]),
        ("all", "r", 7, [OF_A_SUITE, ("plan", "b", "above"), "execute", ("finish", 3)]),
        (
            "all --dry-run",
            "r",
            3,
            [("suite", "all", ["dry_run"]), ("plan", "b", "above"), "execute"],
        ),
        ("b --on local:2", "r", 5, [PLANNED, ("shared", "b", "local:2", ["on"])]),
        ("b --on local:2 --dry-run", "r", 3, [PLANNED, "execute"]),
        ("b", "s3://bucket/r", 5, [PLANNED, ("shared", "b", None, [])]),
        ("b --among 5 --on local:2", "r", 5, [PLANNED, ("shared", "b", "local:2", ["among", "on"])]),
    ],
)  # fmt: skip
def test_runs_are_started_here_or_shared(
    line: str, folder: str, status: int, started: list[Any], monkeypatch: pytest.MonkeyPatch
):
    assert typed(monkeypatch, line, folder) == (status, "", started)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (
            "b --server serve{port} --base-url http://h:{port}/v1",
            "--server starts a server for each worker; give --on, such as --on local:1",
        ),
        ("all --on local:2", "--on and addresses of stores take one benchmark; all is several"),
        (
            "b --on local:2 --among 5,10",
            "--on and addresses of stores take one size of --among; run each by itself",
        ),
    ],
)
def test_what_workers_cannot_share_is_refused(line: str, fault: str, monkeypatch: pytest.MonkeyPatch):
    status, err, started = typed(monkeypatch, line)
    assert (status, err) == (2, f"wildtool: {fault}\n")
    assert not {"execute", "shared"} & {each if isinstance(each, str) else each[0] for each in started}
