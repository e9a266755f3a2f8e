"""Workers on Ray, against a stand-in of as much of it as is used."""

import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.errors import RecordError
from wildtool.scale import ray_cluster as module
from wildtool.scale.ray_cluster import RayLauncher, RayPlace, WorkerActor
from wildtool.trust_request import VARIABLE


class RayError(Exception):
    """Ray's."""


class RayTaskError(RayError):
    """Of a task that raised."""

    cause = "KeyError: 'x'"


class Ray:
    """Remembers what it is asked; a task is ready once it is in `ready`."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.results: dict[str, Any] = {}
        self.failure: Exception | None = None
        self.made = 0

    def init(self, **options: Any) -> None:
        self.log.append(("init", options))
        if self.failure is not None:
            raise self.failure

    def nodes(self) -> list[dict[str, bool]]:
        return [{"Alive": True}, {"Alive": False}, {"Alive": True}]

    def remote(self, kind: Any) -> Any:
        def options(**options: Any) -> Any:
            self.log.append(("options", options))
            return SimpleNamespace(remote=lambda *words: self._actor(kind, words))  # pyright: ignore

        return SimpleNamespace(options=options)

    def _actor(self, kind: Any, words: Any) -> Any:
        number, self.made = self.made, self.made + 1
        self.log.append(("actor", kind, words))

        def method(name: str) -> Any:
            def remote(*words: Any) -> str:
                self.log.append((f"{name}{number}", *words))
                return f"{name}{number}"

            return SimpleNamespace(remote=remote)

        return SimpleNamespace(number=number, **{name: method(name) for name in ("started", "work", "stop")})

    def wait(self, tasks: list[str], *, num_returns: int, timeout: float) -> tuple[list[str], list[str]]:
        assert num_returns == len(tasks)
        if timeout:
            self.log.append(("wait", *tasks, timeout))
        ready = [task for task in tasks if task in self.results]
        return ready, [task for task in tasks if task not in ready]

    def get(self, task: str) -> Any:
        if isinstance(self.results[task], Exception):
            raise self.results[task]
        return self.results[task]

    def kill(self, actor: Any) -> None:
        self.log.append(("kill", actor.number))


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    made = Ray()
    monkeypatch.setitem(sys.modules, "ray", made)  # pyright: ignore
    return made


def test_an_actor_for_each_worker_is_started_and_ended(
    ray: Ray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "")  # other tests of this process may have trusted something
    launcher = RayLauncher(RayPlace(address="ray://h:1", gpus=0.5), "serve", quiet=True)
    assert launcher.count == 2
    launcher.start("file:///run")
    assert ray.log[:2] == [
        (
            "init",
            {
                "address": "ray://h:1",
                "log_to_driver": False,
                "logging_level": "ERROR",
                "ignore_reinit_error": True,
            },
        ),
        (
            "options",
            {
                "num_cpus": 1.0,
                "num_gpus": 0.5,
                "max_concurrency": 3,
                "max_restarts": -1,
                "max_task_retries": -1,
                "scheduling_strategy": "SPREAD",
            },
        ),
    ]
    actor = ("actor", WorkerActor, (str(tmp_path), "serve", ""))
    assert ray.log[2:] == [
        actor,
        actor,
        ("started0",),
        ("started1",),
        ("work0", "file:///run"),
        ("work1", "file:///run"),
    ]
    assert launcher.poll()
    ray.results |= {"started0": True, "started1": True, "work0": [0]}
    assert launcher.poll()
    assert launcher.statuses == [0]
    ray.log.clear()
    launcher.stop()
    assert ray.log == [
        ("started1",),
        ("wait", "started1", 5.0),
        ("stop1",),
        ("wait", "stop1", 60.0),
        ("wait", "work1", 2.0),
        ("kill", 0),
        ("kill", 1),
    ]
    ray.log.clear()
    launcher.stop()
    assert ray.log == []


def test_all_workers_that_have_ended_are_no_longer_asked(ray: Ray):
    launcher = RayLauncher(RayPlace(address=None, workers=1), None, quiet=False)
    launcher.start("file:///run")
    ray.results |= {"started0": True, "work0": []}
    assert not launcher.poll()
    ray.log.clear()
    launcher.stop()
    assert ray.log == [("kill", 0)]


def launched(ray: Ray, monkeypatch: pytest.MonkeyPatch, now: list[float]) -> tuple[RayLauncher, list[str]]:
    """Two workers with a place each, and what is said of them."""
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    launcher, said = RayLauncher(RayPlace(address=None, workers=2), None, quiet=False), list[str]()
    launcher.say = said.append
    launcher.start("file:///run")
    ray.results |= {"started0": True, "started1": True}
    assert launcher.poll()
    return launcher, said


def test_a_worker_whose_node_is_lost_does_not_count_once_another_has_ended(
    ray: Ray, monkeypatch: pytest.MonkeyPatch
):
    now = [1_000.0]
    launcher, _ = launched(ray, monkeypatch, now)
    del ray.results["started1"]
    ray.results["work0"] = [0]
    assert launcher.poll(), "it may only be slow"
    now[0] += 31.0
    assert not launcher.poll()
    assert launcher.statuses == [0]


def test_a_run_whose_nodes_are_all_lost_says_so_and_ends_when_none_comes_back(
    ray: Ray, monkeypatch: pytest.MonkeyPatch
):
    now = [1_000.0]
    launcher, said = launched(ray, monkeypatch, now)
    ray.results.clear()
    for now[0] in (1_029.0, 1_031.0, 1_600.0):
        assert launcher.poll()
    assert len(said) == 1 and "lost the nodes of all workers" in said[0]
    ray.results["started1"] = True
    assert launcher.poll()
    ray.results.clear()
    for now[0] in (1_700.0, 2_200.0):
        assert launcher.poll(), "one that came back starts the clock again"
    assert len(said) == 2
    now[0] = 2_201.0
    with pytest.raises(RecordError, match="run the same command again"):
        launcher.poll()


def test_workers_whose_nodes_are_lost_are_not_waited_for_at_the_end(
    ray: Ray, monkeypatch: pytest.MonkeyPatch
):
    launcher, _ = launched(ray, monkeypatch, [1_000.0])
    ray.results.clear()
    ray.log.clear()
    launcher.stop()
    waits = [each for each in ray.log if each[0] == "wait"]
    assert [each[-1] for each in waits] == [5.0]
    assert ray.log[-2:] == [("kill", 0), ("kill", 1)]


class OneWorker:
    """In place of a launcher of processes."""

    def __init__(self, count: int, server: str | None) -> None:
        self.log: list[Any] = [(count, server)]
        self.statuses = [3]
        self.polls = 2

    def start(self, url: str) -> None:
        self.log.append(url)

    def poll(self) -> bool:
        self.polls -= 1
        return self.polls > 0

    def stop(self) -> None:
        self.log.append("stop")


def test_an_actor_works_in_the_folder_of_the_command_until_its_worker_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    monkeypatch.setattr(module, "LocalLauncher", OneWorker)
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    actor: Any = WorkerActor(str(tmp_path / "a"), "serve")
    assert Path.cwd() == tmp_path / "a"
    assert actor.started() is True
    assert actor.work("file:///run") == [3]
    assert slept == [0.5]
    assert actor._launcher.log == [(1, "serve"), "file:///run"]
    actor.stop()
    assert actor._launcher.log[-1] == "stop"
    actor._launcher.polls = 9
    assert actor.work("file:///other") == [3]
    assert actor._launcher.polls == 9
    WorkerActor(str(tmp_path / "missing"), None)
    assert Path.cwd() == tmp_path / "a"
