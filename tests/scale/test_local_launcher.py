"""Processes of this machine as workers, without starting any."""

import io
import subprocess
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.errors import RecordError
from wildtool.scale import local as module
from wildtool.scale.local import PARENT_VARIABLE, LocalLauncher, end_with_parent, worker_words


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

    monkeypatch.setattr(module.subprocess, "Popen", start)
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
    words = [module.sys.executable, "-m", "wildtool", "worker", "--run", "file:///run", "--server", "serve"]
    assert [each.command for each in processes] == [words, words]
    options = processes[0].options
    assert options.pop("env")[PARENT_VARIABLE] == "1"
    assert options == {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
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
    assert [each.log for each in processes] == [["terminate", 60.0, "kill", None]] * 2
    launcher.stop()
    assert [len(each.log) for each in processes] == [4, 4]
    assert not launcher.poll()


def test_a_worker_ends_at_a_signal_and_with_the_process_that_started_it(monkeypatch: pytest.MonkeyPatch):
    handlers: dict[int, Any] = {}
    killed, reads = list[Any](), [b"x" * 64, b"y", b""]
    ended = threading.Event()

    def read(file: int, size: int) -> bytes:
        assert (file, size) == (0, 64)
        return reads.pop(0)

    def kill(pid: int, sent: int) -> None:
        killed.append((pid, sent))
        ended.set()

    environment: dict[str, str] = {}
    system = SimpleNamespace(environ=environment, read=read, kill=kill, getpid=lambda: 77)
    monkeypatch.setattr(module, "os", system)
    monkeypatch.setattr(module, "signal", SimpleNamespace(signal=handlers.__setitem__, SIGTERM=15))
    threads: list[Any] = []

    def thread(target: Any, *, daemon: bool) -> threading.Thread:
        threads.append(daemon)
        return threading.Thread(target=target, daemon=daemon)

    monkeypatch.setattr(module, "threading", SimpleNamespace(Thread=thread))
    end_with_parent()
    assert list(handlers) == [15]
    with pytest.raises(SystemExit) as left:
        handlers[15](15, None)
    assert left.value.code == 130
    assert (threads, len(reads)) == ([], 3), "nobody started it"
    environment[PARENT_VARIABLE] = "1"
    end_with_parent()
    assert ended.wait(10)
    assert (killed, reads, threads) == ([(77, 15)], [], [True])
