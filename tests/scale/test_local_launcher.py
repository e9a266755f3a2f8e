"""Processes of this machine as workers, without starting any."""

import io
import signal
import subprocess
from typing import Any

import pytest

from wildtool.children import python_words
from wildtool.errors import RecordError
from wildtool.scale import local as module
from wildtool.scale.local import PARENT_VARIABLE, LocalLauncher, leave_at_sigterm, worker_words


class Process:
    """A process that ends with a status once it is told."""

    def __init__(self, command: list[str], **options: Any) -> None:
        self.command, self.options = command, options
        self.status: int | None = None
        self.stderr = io.BytesIO(b"first\nsecond \xff\n")
        self.log: list[Any] = []

    def poll(self) -> int | None:
        return self.status

    def terminate(self) -> None:
        self.log.append("terminate")

    def kill(self) -> None:
        self.log.append("kill")

    def end(self) -> None:
        self.log.append("end")

    def wait(self, timeout: float | None = None) -> None:
        self.log.append(timeout)
        if timeout is not None and self.status is None:
            raise subprocess.TimeoutExpired("worker", timeout)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    started: list[Process] = []

    def start(command: list[str], **options: Any) -> Process:
        started.append(Process(command, **options))
        return started[-1]

    monkeypatch.setattr(module, "Child", start)
    return started


def started(count: int, server: str | None = None) -> tuple[LocalLauncher, list[str]]:
    launcher, said = LocalLauncher(count, server), list[str]()
    launcher.say = said.append
    launcher.start("file:///run")
    for each in launcher._working:  # pyright: ignore[reportPrivateUsage]
        each.relay.join()
    return launcher, said


def test_each_worker_runs_the_command_of_one(processes: list[Process]):
    assert worker_words("u", None) == ["worker", "--run", "u"]
    assert worker_words("u", "serve x") == ["worker", "--run", "u", "--server", "serve x"]
    launcher, said = started(2, "serve")
    words = python_words("-m", "wildtool", "worker", "--run", "file:///run", "--server", "serve")
    assert [each.command for each in processes] == [words, words]
    assert processes[0].options["env"][PARENT_VARIABLE] == "1"
    assert said == ["first", "second \ufffd"], "what several say is said once"
    assert launcher.poll()
    assert launcher.statuses == []


def test_a_worker_that_has_ended_is_not_replaced_and_one_that_was_killed_is(processes: list[Process]):
    launcher, _ = started(3)
    processes[0].status, processes[1].status = 3, -9
    assert launcher.poll()
    assert (launcher.statuses, len(processes)) == ([3], 4)
    processes[2].status = processes[3].status = 0
    assert not launcher.poll()
    assert launcher.statuses == [3, 0, 0]


def test_workers_that_are_killed_at_once_end_the_run(processes: list[Process]):
    launcher, _ = started(1)
    for _ in range(5):
        processes[-1].status = -9
        assert launcher.poll()
    processes[-1].status = -9
    with pytest.raises(RecordError) as caught:
        launcher.poll()
    assert str(caught.value) == (
        "workers are killed as soon as they start (signal 9); look for a limit of memory, and run the same command again"
        " to continue"
    )
    assert len(processes) == 6


def test_a_worker_that_lived_longer_was_killed_by_chance(
    processes: list[Process], monkeypatch: pytest.MonkeyPatch
):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    launcher, _ = started(1)
    lives = [1.0] * 5 + [5.0] + [4.9] * 5
    for life in lives:
        now[0] += life
        processes[-1].status = -15
        assert launcher.poll()
    now[0] += 4.9
    processes[-1].status = -15
    with pytest.raises(RecordError):
        launcher.poll()


def test_all_workers_are_ended_and_killed_if_they_do_not(
    processes: list[Process], monkeypatch: pytest.MonkeyPatch
):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    launcher, _ = started(2)
    processes[0].status = 0
    launcher.stop()
    assert [each.log for each in processes] == [["terminate", 60.0, "kill", "end"]] * 2
    launcher.stop()
    assert [len(each.log) for each in processes] == [4, 4]
    assert not launcher.poll()


def test_a_worker_leaves_at_sigterm_without_a_word():
    before = signal.getsignal(signal.SIGTERM)
    try:
        leave_at_sigterm()
        with pytest.raises(SystemExit) as left:
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert left.value.code == 130
