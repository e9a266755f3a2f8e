"""What the command that owns a shared run does while workers work."""

import json
import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from scale.memory_store import MemoryStore
from scale.test_allowance import JOB
from wildtool.errors import RecordError
from wildtool.scale import control as module
from wildtool.scale.allowance import ALLOTMENTS_KEY
from wildtool.scale.claims import Claims, done_key, worker_key
from wildtool.scale.control import Controller
from wildtool.scale.copies import Place
from wildtool.scale.store import FolderStore, StoreError


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
        place = Place(self.store, folder / "run")
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


NEEDS = {"needed": {"cost": 4.0}, "waits": ["cost"], "spent": {"cost": 0.0}}


def test_limits_are_divided_among_workers_that_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run = Run(
        tmp_path, monkeypatch, lambda: run.beat("a", **NEEDS), lambda: run.beat("b", **NEEDS), max_cost=100.0
    )
    run.controller.watch()
    assert run.launcher.started == [run.store.url]
    assert run.allotments() == {
        "sitting": 1,
        "version": 2,
        "stopped": None,
        "remaining_s": None,
        "workers": {"a": {"cost": 62.5, "rate": 0.5}, "b": {"cost": 12.5, "rate": 0.0}},
    }
    assert run.controller.stopped is None


def test_a_worker_has_a_part_until_it_is_silent_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def beat() -> None:
        for worker, at in (("a", 190), ("b", 100), ("c", 99)):
            run.beat(worker, **NEEDS)
            os.utime(tmp_path / "elsewhere" / worker_key(worker), (at, at))

    run = Run(tmp_path, monkeypatch, beat, max_cost=100.0)
    run.controller.watch()
    assert list(run.allotments()["workers"]) == ["a", "b"]


def test_an_exhausted_limit_stops_the_run_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def spent(version: int) -> Any:
        return lambda: run.beat("a", **{**NEEDS, "spent": {"cost": 9.0}}, version=version)

    run = Run(tmp_path, monkeypatch, lambda: run.beat("a", **NEEDS), *map(spent, (1, 2, 3)), max_cost=10.0)
    run.controller.watch()
    words = "the limit of 10 USD (--max-cost) leaves no room for the next call"
    assert run.controller.stopped == run.allotments()["stopped"] == words
    tokens = Run(
        tmp_path / "t",
        monkeypatch,
        lambda: tokens.beat("a", waits=["tokens"], needed={"tokens": 9.0}),
        max_tokens_total=0,
    )
    tokens.controller.watch()
    assert (
        tokens.controller.stopped
        == "the limit of 0 tokens (--max-tokens-total) leaves no room for the next call"
    )


def test_the_time_that_remains_is_said_until_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    remaining: list[Any] = []
    acts = [lambda: remaining.append(run.allotments().get("remaining_s"))] * 4
    run = Run(tmp_path, monkeypatch, *acts, deadline="2s")
    run.controller.watch()
    assert remaining == [None, 2.0, 1.0, 0.0]
    assert run.controller.stopped == "the deadline of 2s is over (--deadline)"


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


def test_a_run_that_was_taken_over_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run = Run(tmp_path, monkeypatch, lambda: setattr(run.lease, "is_lost", True), lambda: None)
    with pytest.raises(RecordError) as caught:
        run.controller.watch()
    assert str(caught.value) == f"{run.store.url}: another wildtool has taken over the control of this run"


def test_a_store_that_is_away_for_a_while_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run = Run(tmp_path, monkeypatch, lambda: run.beat("a", **NEEDS), lambda: None, max_cost=100.0)
    put, failures = FolderStore.put, [StoreError("away")]

    def failing(self: FolderStore, key: str, data: bytes) -> None:
        if key == ALLOTMENTS_KEY and failures:
            raise failures.pop()
        put(self, key, data)

    monkeypatch.setattr(FolderStore, "put", failing)
    run.controller.watch()
    assert run.allotments()["version"] == 2


def test_a_run_is_done_when_each_share_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run = Run(tmp_path, monkeypatch)
    for share in range(4):
        assert not run.controller.is_done()
        run.store.put(done_key(share), b"{}")
    assert run.controller.is_done()
    run.controller.watch()
    assert run.allotments() == {}, "nothing is limited"


def test_a_run_ends_when_its_shares_are_done_whatever_has_become_of_its_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def finish() -> None:
        for share in range(4):
            run.store.put(done_key(share), b"{}")

    run = Run(tmp_path, monkeypatch, finish, *[lambda: None] * 1_000)
    run.controller.watch()
    assert run.now < 1_030.0, "workers have a while to end by themselves"
    assert run.launcher.acts


def test_a_run_ends_when_all_shares_are_done_or_left_in_this_start(
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


def test_a_run_with_shares_to_do_goes_on_as_long_as_workers_may_come(
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


@pytest.mark.parametrize(
    ("silent_s", "ended", "works"), [(90.0, False, True), (90.5, False, False), (0.0, True, False)]
)
def test_workers_of_an_earlier_start_work_until_they_are_silent_for_long(
    tmp_path: Path, silent_s: float, ended: bool, works: bool
):
    store: Any = MemoryStore()
    store.put(worker_key("w"), json.dumps({"ended": ended}).encode())
    store.now += silent_s - 1.0
    store.put("control/worker/old", b"")
    store.now += 1.0
    store.put("control/worker/new", b"")
    place = Place(store, tmp_path)
    with pytest.raises(RecordError) if works else nullcontext():
        module._refuse_working(place)  # pyright: ignore[reportPrivateUsage]


# The lease ---------------------------------------------------------------------------------------------


def control_of(folder: Path) -> Any:
    return module._Control(Place(FolderStore(folder / "store"), folder))  # pyright: ignore[reportPrivateUsage]


def test_a_controller_that_ends_leaves_the_run_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WILDTOOL_CACHE_DIR", str(tmp_path / "cache"))
    with control_of(tmp_path) as first:
        assert not first.is_lost
    with control_of(tmp_path) as second:
        assert not second.is_lost
    keys = [entry.key for entry in FolderStore(tmp_path / "store").entries("control/share/")]
    assert keys == [
        f"control/share/00000/0000000.{n:04}.{what}" for n in (1, 2) for what in ("ended.0000", "held")
    ]


def test_a_controller_beats_and_learns_that_it_was_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WILDTOOL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "BEAT_CONTROL_S", 0.001)
    with control_of(tmp_path) as control:
        beneath = FolderStore(tmp_path / "store").below("control")
        other = Claims(beneath, "other", 1, 1)
        other.dead.add(control._claims.worker)
        other.beat({})
        assert other.claim() is not None
        for _ in range(500):
            if control.is_lost:
                break
            control._ended.wait(0.002)
        assert control.is_lost
    ended = [entry.key for entry in beneath.entries("share/") if "ended" in entry.key]
    assert ended == [], "it is no longer its run to give up"


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
    monkeypatch.setattr("wildtool.cli.output.tables.print_overview", shown.append)
    shared: Any = SimpleNamespace(run=SimpleNamespace(plan=SimpleNamespace(profile="fixed")))
    place = Place(FolderStore(tmp_path / "store"), tmp_path)
    controller: Any = SimpleNamespace(stopped=stopped, is_done=lambda: done)
    launcher: Any = SimpleNamespace(statuses=statuses)
    assert module._finish(shared, place, controller, launcher) == status  # pyright: ignore[reportPrivateUsage]
    assert shown == [[each for each in scored if each.counts.correct + each.counts.wrong]]
    assert capsys.readouterr().err.splitlines() == [f"{tmp_path}: {each}" for each in words]
