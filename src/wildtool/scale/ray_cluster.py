"""Workers on a Ray cluster: an actor for each, which starts the same command as everywhere and starts it again where its
node is lost. Only this module knows Ray."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import chdir, suppress
from dataclasses import dataclass
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any, Self

from wildtool.errors import RecordError, UsageError
from wildtool.interrupts import keep_sigterm
from wildtool.scale.local import STOP_S, LocalLauncher
from wildtool.terminal import print_err
from wildtool.trust_request import VARIABLE

POLL_S = 0.5
PATIENCE_S = 30.0
"""Seconds without any worker after which the user is told what they wait for; and for which one may be silent."""
LOST_S = 600.0
"""Seconds without any worker after which a run ends whose workers had places."""
ASK_S = 5.0
"""Between two questions to a worker whether it still has a place."""
SIGN_OF_LIFE_S = 5.0
"""Seconds for workers to say that they are there, before they are asked to end."""
_PACKAGES = Path(__file__).parents[2]
"""A folder to start from: Ray lets its workers import what lies in the current one."""
_NUMBERS = ("workers", "cpus", "gpus")


@dataclass(frozen=True, slots=True, kw_only=True)
class RayPlace:
    """What `--on ray…` says."""

    address: str | None
    """None for the cluster that this machine belongs to."""
    workers: int | None = None
    """None for one on each node."""
    cpus: float = 1.0
    """Of each worker."""
    gpus: float = 0.0

    @classmethod
    def parse(cls, where: str) -> Self:
        """From `ray[://ADDRESS][,workers=N][,cpus=X][,gpus=X]`. Raises UsageError."""
        place, *settings = where.split(",")
        numbers: dict[str, str] = {}
        for setting in settings:
            name, _, value = setting.partition("=")
            numbers[name] = value
        is_number = all(value.replace(".", "", 1).isdecimal() for value in numbers.values())
        workers = numbers.pop("workers", None)
        if (
            not (place == "ray" or place.startswith("ray://"))
            or not is_number
            or not numbers.keys() <= {*_NUMBERS}
            or (workers is not None and (not workers.isdecimal() or int(workers) < 1))
        ):
            raise UsageError(
                f"--on is {where!r}; expected ray or ray://HOST:PORT, with ,workers=N ,cpus=X ,gpus=X behind it where "
                "needed, such as ray,workers=8,gpus=1"
            )
        return cls(
            address=None if place == "ray" else place,
            workers=None if workers is None else int(workers),
            **{name: float(value) for name, value in numbers.items()},
        )


class WorkerActor:
    """Runs one worker on the node that Ray chose. Two of its methods may run at once."""

    def __init__(self, folder: str, server: str | None, trusted: str = "") -> None:
        """Args: trusted: hashes that the command which started the run trusts."""
        if trusted:
            os.environ[VARIABLE] = trusted
        # Relative paths of data mean what they mean for the command that was typed, where its folder is there, too.
        with suppress(OSError):
            os.chdir(folder)
        self._launcher = LocalLauncher(1, server)
        self._stopped = False

    def started(self) -> bool:
        """Answers once it has a place."""
        return True

    def work(self, url: str) -> list[int]:
        """Works until nothing is left; gives exit statuses."""
        self._launcher.start(url)
        while not self._stopped and self._launcher.poll():
            time.sleep(POLL_S)
        return self._launcher.statuses

    def stop(self) -> None:
        """Ends the worker: it sends what it has and gives up its shards."""
        self._stopped = True
        self._launcher.stop()


class RayLauncher:
    """Starts actors; Ray places each of them again where its node is lost."""

    def __init__(self, place: RayPlace, server: str | None, *, quiet: bool) -> None:
        """Raises UsageError where Ray is not installed or its cluster cannot be reached."""
        try:
            with keep_sigterm():
                self._ray: Any = import_module("ray")
        except ImportError as error:
            raise UsageError("--on ray needs a library: pip install 'wildtool[ray]'") from error
        try:
            with keep_sigterm(), chdir(_PACKAGES):
                self._ray.init(
                    address=place.address or "auto",
                    log_to_driver=not quiet,
                    logging_level="ERROR",
                    ignore_reinit_error=True,
                )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UsageError(
                f"there is no Ray cluster at {place.address or 'this machine'} "
                f"({str(error).splitlines()[0] if str(error) else type(error).__name__}); start one with "
                "`ray start --head`, or give its address: --on ray://HOST:PORT"
            ) from error
        nodes = sum(node["Alive"] for node in self._ray.nodes())
        self.count = place.workers or max(1, nodes)
        self.statuses: list[int] = []
        self.say: Callable[[str], object] = print_err
        self._place, self._server = place, server
        self._workers: list[_Worker] = []
        self._since = time.monotonic()
        """When a worker last had a place."""
        self._had_place = False
        self._is_patient = True

    def start(self, url: str) -> None:
        """Starts all workers of the run at that address."""
        options: Mapping[str, Any] = {
            "num_cpus": self._place.cpus,
            "num_gpus": self._place.gpus,
            "max_concurrency": 3,
            "max_restarts": -1,
            "max_task_retries": -1,
            "scheduling_strategy": "SPREAD",
        }
        kind = self._ray.remote(WorkerActor).options(**options)
        trusted = os.environ.get(VARIABLE, "")
        actors = [kind.remote(str(Path.cwd()), self._server, trusted) for _ in range(self.count)]
        answers = [each.started.remote() for each in actors]
        works = [each.work.remote(url) for each in actors]
        self._workers = [_Worker(*each) for each in zip(actors, works, answers, strict=True)]

    def poll(self) -> bool:
        """Whether any still works. Raises RecordError where workers are killed as soon as they start, or where all nodes
        are lost and none comes back."""
        ready = self._ready([each.work for each in self._working()])
        for each in self._working():
            if each.work in ready:
                self._end(each)
        has_place = self._look_for_places()
        if not self._working() or has_place:
            return has_place
        self._wait_for_nodes()
        # A worker ends when nothing is left to claim: those that wait for a node have nothing to do.
        return not self.statuses

    def _end(self, worker: "_Worker") -> None:
        worker.has_ended = True
        try:
            self.statuses += self._ray.get(worker.work)
        except self._ray.exceptions.RayTaskError as error:
            raise RecordError(f"a worker on Ray failed: {error.cause}") from error
        except self._ray.exceptions.RayError as error:
            raise RecordError(
                f"Ray lost a worker for good ({type(error).__name__}); run the same command again to continue"
            ) from error

    def _look_for_places(self) -> bool:
        """Asks workers whether they still have a place; whether one of those that work has."""
        now = time.monotonic()
        ready = self._ready([each.answer for each in self._working()])
        for each in self._working():
            if each.answer in ready and now - each.answered >= ASK_S:
                each.answered = now
                each.answer = each.actor.started.remote()
        has_place = any(now - each.answered < PATIENCE_S for each in self._working())
        if has_place:
            self._since, self._had_place, self._is_patient = now, True, True
        return has_place

    def _wait_for_nodes(self) -> None:
        """Says what is waited for. Raises RecordError where workers had places and have had none for long."""
        waited_s = time.monotonic() - self._since
        needs = f"each takes {self._place.cpus:g} CPU and {self._place.gpus:g} GPU"
        if self._had_place and waited_s > LOST_S:
            raise RecordError(
                f"Ray has lost the nodes of all workers, and for {LOST_S / 60:g} minutes no other had room ({needs}); "
                "run the same command again when there are nodes, to continue"
            )
        if self._is_patient and waited_s > PATIENCE_S:
            self._is_patient = False
            self.say(
                f"Ray has lost the nodes of all workers: {needs}; waiting for nodes up to {LOST_S / 60:g} minutes"
                if self._had_place
                else f"Ray has no room for a worker yet: {needs}; waiting for nodes"
            )

    def stop(self) -> None:
        """Ends all workers."""
        # Those without a place cannot answer.
        answers = {each.actor.started.remote(): each for each in self._working()}
        asked = [answers[each] for each in self._ready([*answers], SIGN_OF_LIFE_S)]
        self._ready([each.actor.stop.remote() for each in asked], STOP_S)
        # Ray would try again, and say so, what is killed before it has returned.
        self._ready([each.work for each in asked], 4 * POLL_S)
        for each in self._workers:
            self._ray.kill(each.actor)
        self._workers = []

    def _working(self) -> "list[_Worker]":
        return [each for each in self._workers if not each.has_ended]

    def _ready(self, tasks: list[Any], timeout_s: float = 0) -> list[Any]:
        """Those of some tasks that are done; returns when all are, or after that time."""
        return self._ray.wait(tasks, num_returns=len(tasks), timeout=timeout_s)[0] if tasks else []


@dataclass(slots=True)
class _Worker:
    """An actor as this process knows it."""

    actor: Any
    work: Any
    """Its task, which ends when nothing is left to do."""
    answer: Any
    """To the last question whether it has a place."""
    answered: float = -inf
    """When it last had one."""
    has_ended: bool = False
