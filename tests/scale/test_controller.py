"""What the command that owns a shared run does while workers work."""

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from scale.test_allowance import JOB
from wildtool.scale import control as module
from wildtool.scale.allowance import ALLOTMENTS_KEY
from wildtool.scale.claims import Claims, done_key, worker_key
from wildtool.scale.commands import print_end
from wildtool.scale.control import Controller, SharedOutcome
from wildtool.scale.copies import SharedPlace
from wildtool.scale.store import FolderStore


class Launcher:
    """Works for some looks; what happens at each is given."""

    count, statuses = 1, [0]

    def __init__(self, *acts: Any) -> None:
        self.acts, self.started, self.say = [*acts], list[str](), print

    def start(self, url: str) -> None:
        self.started.append(url)

    def poll(self) -> bool:
        if not self.acts:
            return False
        self.acts.pop(0)()
        return True


class Run:
    """A controller with its store; its clock goes on by a second with each look."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *acts: Any, **options: Any) -> None:
        self.now = 1_000.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(module.time, "sleep", self._sleep)
        self.job = replace(JOB, options=options)
        self.store, self.lease = FolderStore(folder / "elsewhere"), SimpleNamespace(is_lost=False)
        self.launcher = Launcher(*acts)
        place = SharedPlace(self.store, folder / "run")
        plan = self.job.plan()[0]
        self.controller = Controller(
            place, plan, self.job, cast(Any, self.launcher), cast(Any, self.lease), quiet=True
        )

    def _sleep(self, seconds: float) -> None:
        assert seconds == 0.2
        self.now += 1.0

    def beat(self, worker: str, **report: Any) -> None:
        self.store.put(worker_key(worker), json.dumps({"sitting": 1, **report}).encode())

    def allotments(self) -> Any:
        return self.store.get_json(ALLOTMENTS_KEY)


@pytest.mark.parametrize(("inside", "copies"), [(False, []), (True, [1_000.0, 1_010.0, 1_020.0])])
def test_a_run_folder_with_its_store_is_brought_up_to_date_from_time_to_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool, copies: list[float]
):
    copied: list[Any] = []
    run = Run(tmp_path, monkeypatch, *[lambda: None] * 25)
    (tmp_path / "run" / ("store" if inside else "stores")).mkdir(parents=True)
    monkeypatch.setattr(module, "copy_run", lambda *words: copied.append((run.now, *words)))  # pyright: ignore
    run.controller.watch()
    assert copied == [(now, run.store, tmp_path / "run") for now in copies]


def test_a_run_ends_when_its_shards_are_done_whatever_has_become_of_its_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def finish() -> None:
        for shard in range(4):
            run.store.put(done_key(shard), b"{}")

    run = Run(tmp_path, monkeypatch, finish, *[lambda: None] * 1_000)
    run.controller.watch()
    assert run.now < 1_030.0, "workers have a while to end by themselves"
    assert run.launcher.acts


def test_a_run_ends_when_all_shards_are_done_or_left_in_this_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def leave() -> None:
        claims = Claims(run.store, "w", 4, 1)
        for _ in range(4):
            claim = claims.claim()
            assert claim is not None
            claims.leave(claim, for_anybody=False)

    run = Run(tmp_path, monkeypatch, leave, *[lambda: None] * 1_000)
    run.controller.watch()
    assert run.now < 1_030.0
    assert not run.controller.is_done()


def test_a_run_with_shards_to_do_goes_on_as_long_as_workers_may_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run = Run(tmp_path, monkeypatch, *[lambda: None] * 100)
    run.store.put(done_key(0), b"{}")
    run.controller.watch()
    assert run.launcher.acts == []


def test_a_run_at_its_limit_ends_although_a_worker_was_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def beat() -> None:
        run.beat("ended", ended=True)
        run.beat("lost")
        run.store.put("control/worker/controller", b"")
        os.utime(tmp_path / "elsewhere" / worker_key("lost"), (100, 100))

    run = Run(tmp_path, monkeypatch, beat, *[lambda: None] * 1_000, deadline="2s")
    run.controller.watch()
    assert run.controller.stopped is not None
    assert run.now < 1_030.0


# The end of a run --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stopped", "done", "statuses", "results", "read", "status", "words"),
    [
        # Where all is done, it does not matter which worker failed on the way.
        (None, True, [1, 3], [(2, 0, [], 0)], 0, 0, []),
        (None, True, [], [(2, 0, [], 0)], 1, 1, []),
        (None, True, [], [(0, 1, ["k"], 3)], 0, 3, []),
        (None, True, [], [(0, 0, ["k", "l"], 3), (0, 0, ["m"], 3)], 0, 3, ["every call failed: klm"]),
        (None, False, [], [(0, 1, [], 0)], 0, 3, ["not finished; run the same command to continue."]),
        (None, False, [0, 2], [(0, 0, [], 0)], 0, 2, ["not finished; run the same command to continue."]),
        (
            "the limit of x",
            False,
            [],
            [(1, 0, [], 0)],
            0,
            3,
            [
                "stopped: the limit of x. All replies are recorded. Run the same command with a higher limit to "
                "continue."
            ],
        ),
    ],
)
def test_the_end_of_a_run_is_said_with_its_status(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stopped: str | None,
    done: bool,
    statuses: list[int],
    results: list[Any],
    read: int,
    status: int,
    words: list[str],
):
    shown: list[Any] = []
    scored = [
        SimpleNamespace(counts=SimpleNamespace(correct=right, wrong=wrong), failed=failed, exit_status=ended)
        for right, wrong, failed, ended in results
    ]

    def find_results(folders: list[Path], profile: str) -> Any:
        assert (folders, profile) == ([tmp_path], "fixed")
        return scored, read

    monkeypatch.setattr("wildtool.cli.output.results.find_results", find_results)
    monkeypatch.setattr("wildtool.cli.output.results.describe_failures", "".join)
    monkeypatch.setattr("wildtool.terminal.tables.print_overview", shown.append)
    shared: Any = SimpleNamespace(run=SimpleNamespace(plan=SimpleNamespace(profile="fixed")))
    place = SharedPlace(FolderStore(tmp_path / "store"), tmp_path)
    outcome = SharedOutcome(place=place, stopped=stopped, is_done=done, worker_statuses=tuple(statuses))
    assert print_end(shared, outcome) == status
    assert shown == [[each for each in scored if each.counts.correct + each.counts.wrong]]
    assert capsys.readouterr().err.splitlines() == [f"{tmp_path}: {each}" for each in words]
