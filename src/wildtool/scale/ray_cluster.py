"""Workers on a Ray cluster: an actor for each, which starts the same command as everywhere and starts it again where its
node is lost. Only this module knows Ray."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from wildtool.cli.terminal import print_err
from wildtool.errors import RecordError, UsageError
from wildtool.scale.local import STOP_S, LocalLauncher

POLL_S = 0.5
PATIENCE_S = 30.0
"""Seconds without any worker after which the user is told what they wait for."""
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

    def __init__(self, folder: str, server: str | None) -> None:
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
        """Ends the worker: it sends what it has and gives up its shares."""
        self._stopped = True
        self._launcher.stop()


class RayLauncher:
    """Starts actors; Ray places each of them again where its node is lost."""

    def __init__(self, place: RayPlace, server: str | None, *, quiet: bool) -> None:
        """Raises UsageError where Ray is not installed or its cluster cannot be reached."""
        try:
            self._ray: Any = import_module("ray")
        except ImportError as error:
            raise UsageError("--on ray needs a library: pip install 'wildtool[ray]'") from error
        try:
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
        self._actors: list[Any] = []
        self._starting: list[Any] = []
        self._working: list[Any] = []
        self._since = time.monotonic()
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
        actor = self._ray.remote(WorkerActor).options(**options)
        self._actors = [actor.remote(str(Path.cwd()), self._server) for _ in range(self.count)]
        self._starting = [each.started.remote() for each in self._actors]
        self._working = [each.work.remote(url) for each in self._actors]

    def poll(self) -> bool:
        """Whether any still works. Raises RecordError where workers are killed as soon as they start."""
        ended, self._working = self._ray.wait(self._working, num_returns=len(self._working), timeout=0)
        for each in ended:
            try:
                self.statuses += self._ray.get(each)
            except self._ray.exceptions.RayTaskError as error:
                raise RecordError(f"a worker on Ray failed: {error.cause}") from error
            except self._ray.exceptions.RayError as error:
                raise RecordError(
                    f"Ray lost a worker for good ({type(error).__name__}); run the same command again to continue"
                ) from error
        _, self._starting = self._ray.wait(self._starting, num_returns=len(self._starting), timeout=0)
        late = time.monotonic() - self._since > PATIENCE_S
        if self._is_patient and late and len(self._starting) == self.count:
            self._is_patient = False
            self.say(
                f"Ray has no room for a worker yet: each takes {self._place.cpus:g} CPU and {self._place.gpus:g} GPU; "
                "waiting for nodes"
            )
        # A worker ends when nothing is left to claim: those that still wait for a node have nothing to do.
        return len(self._working) > (len(self._starting) if self.statuses else 0)

    def stop(self) -> None:
        """Ends all workers."""
        # Those without a place cannot answer.
        stops = [actor.stop.remote() for actor in self._actors] if self._working else []
        if stops:
            self._ray.wait(stops, num_returns=len(stops), timeout=STOP_S)
            # Ray would try again, and say so, what is killed before it has returned.
            self._ray.wait(self._working, num_returns=len(self._working), timeout=4 * POLL_S)
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors, self._starting, self._working = [], [], []
