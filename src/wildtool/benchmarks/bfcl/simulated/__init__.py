"""The simulated classes of multi-turn entries and memories: the original's own, run in a process beside this one.

What is kept here of the instances of an entry is how they were made and which calls they took, so that a process that
a call has ended is replaced by one in the same state.
"""

import json
import os
import select
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from subprocess import DEVNULL, PIPE
from threading import RLock
from typing import Any, cast
from weakref import finalize

from wildtool.benchmarks.bfcl.package import package_file
from wildtool.children import Child, python_words
from wildtool.errors import DataError, UsageError
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS

CLASS_MODULES: Mapping[str, str] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""The classes that an entry may involve, with the names of their modules and of the documents of their tools."""
MEMORIES: Mapping[str, str] = {f"MemoryAPI_{kind}": f"memory_{kind}" for kind in ("kv", "vector", "rec_sum")}
"""The memories, with the names of their modules, documents and categories."""
EXECUTION_ERROR = "Error during execution: "
"""How the text begins that a model sees of a call that raised."""
STOPPED_CALL = f"{EXECUTION_ERROR}the call took too long or too much memory and was stopped"
FORCES = ("_parkingBrakeForce", "_slopeAngle", "_brakePedalForce")
"""Private attributes that `fixed` compares."""
READINGS = ("get_current_speed", "get_outside_temperature_from_google")
"""Tools that draw a random number and change nothing else."""
ANSWER_SECONDS = 120
"""Where the process is given up, beyond the limit of processor time that it sets itself."""
_NEEDED = ("mpmath", "rank_bm25", "overrides", "numpy")
_numbers = count()

Differing = Sequence[tuple[str, Sequence[str]]]
"""Class and names of the attributes that differ between two instances."""


class WorkerEndedError(Exception):
    """The process ended before it answered."""


class Worker:
    """A process that runs the classes of one version of the package; begun at the first message."""

    def __init__(self, version: str) -> None:
        self.generation = 0
        """Which process it is now; instances of earlier ones are lost."""
        self.dropped: list[int] = []
        """Instances that are no longer needed."""
        self._version = version
        self._process: Child | None = None
        self.lock = RLock()
        """Held over an exchange: another thread may end the process that one is about to ask."""

    def start(self) -> None:
        """Begins a process where there is none. Raises DataError without the package, UsageError without the extra."""
        if self._process is not None and self._process.poll() is None:
            return
        package = package_file(self._version)
        if not package.is_file():
            raise DataError(
                f"the simulated classes of BFCL are not at {package}; get them with `wildtool data pull bfcl`"
            )
        script = Path(__file__).with_name("worker.py")
        self.generation += 1
        self._process = Child(
            python_words("-s", "-S", str(script), str(package), *_places()),
            grace_s=0.0,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd=package.parent,
            # Dates are those of the original's records, sets have one order, and numpy starts no threads.
            env={"TZ": "UTC", "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "PATH": os.defpath},
        )

    def ask(self, requests: Sequence[Sequence[Any]]) -> list[Any]:
        """The results of requests, in order. Raises WorkerEndedError."""
        drop = [*self.dropped]
        del self.dropped[: len(drop)]
        message = json.dumps({"drop": drop, "do": requests}).encode() + b"\n"
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(message)
            self._process.stdin.flush()
            return json.loads(self._line())
        except (OSError, ValueError, WorkerEndedError) as error:
            self.stop()
            raise WorkerEndedError from error

    def _line(self) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        stream = self._process.stdout.fileno()
        poll, parts = select.poll(), list[bytes]()
        poll.register(stream, select.POLLIN | select.POLLHUP)
        while not parts or not parts[-1].endswith(b"\n"):
            part = os.read(stream, 1 << 20) if poll.poll(ANSWER_SECONDS * 1000) else b""
            if not part:
                raise WorkerEndedError
            parts.append(part)
        return b"".join(parts)

    def stop(self) -> None:
        """Ends the process; the next message begins another."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _places() -> list[str]:
    """Where the modules are that the classes import. Raises UsageError."""
    specs = {name: find_spec(name) for name in _NEEDED}
    if missing := [name for name, spec in specs.items() if spec is None or spec.origin is None]:
        raise UsageError(
            f"BFCL's multi-turn entries and memories need {', '.join(missing)}: pip install 'wildtool[bfcl]'"
        )
    origins = (Path(cast(str, spec.origin)) for spec in specs.values() if spec is not None)
    folders = (path.parents[1] if path.name == "__init__.py" else path.parent for path in origins)
    return list(dict.fromkeys(map(str, folders)))


@cache
def _worker(version: str, process: int) -> Worker:
    """The worker for a version. Args: process: which asks it: one that was forked needs its own."""
    return Worker(version)


class SimulatedApis:
    """The instances of an entry."""

    def __init__(
        self,
        classes: Sequence[str],
        config: Mapping[str, Any],
        *,
        version: str = "v4",
        long_context: bool = False,
        steady: bool = False,
    ) -> None:
        """Instances that are made when they are first needed.

        Args:
            classes: the entry's `involved_classes`; of two that share a tool the later one has it.
            config: the entry's `initial_config`: class to scenario; a memory's is what it begins with.
            version: `v3` or `v4`.
            long_context: whether state and results are inflated.
            steady: whether a reading leaves the random numbers of later calls as they are.

        Raises:
            DataError: there is no such class.
        """
        modules = {**CLASS_MODULES, **MEMORIES}
        for name in classes:
            if name not in modules:
                raise DataError(f"involved class {name!r}: expected one of {', '.join(modules)}")
        self.worker = _worker(version, os.getpid())
        self._steady = steady
        self._number = next(_numbers)
        self._make = (
            "make",
            self._number,
            {name: modules[name] for name in classes},
            {name: config[name] for name in classes if name in config},
            long_context,
        )
        self._calls: list[str] = []
        self._generation = -1
        finalize(self, self.worker.dropped.append, self._number)

    def execute(self, calls: Sequence[str]) -> list[str]:
        """Runs calls, such as `cd(folder='a')`, and returns the texts that the model sees of them."""
        try:
            (results,) = _exchange([self], [self._run(calls)])
        except WorkerEndedError:
            # Which of them ended the process shows when they are run one by one; it has no effect.
            return [STOPPED_CALL] if len(calls) == 1 else [self.execute([call])[0] for call in calls]
        self._calls += calls
        return results

    def states(self) -> Mapping[str, Mapping[str, Any]]:
        """By class its public attributes as JSON values."""
        return self._answer("states")

    def facts(self) -> Mapping[str, Any]:
        """What holds now: the current folder, who is logged in, balances; by class and name."""
        facts = {
            f"{owner} {name}": value
            for owner, state in self.states().items()
            for name, value in state.items()
            if isinstance(value, str | int | float) and name != "long_context"
        }
        if "GorillaFileSystem" in self._make[2]:
            (text,) = self.execute(["pwd()"])
            facts |= {f"GorillaFileSystem {name}": value for name, value in json.loads(text).items()}
        return facts

    def memory(self) -> tuple[Mapping[str, Any], str]:
        """Of a memory what the next conversation begins with, and what its system message shows."""
        memory = self._answer("memory")
        return memory["kept"], memory["shown"]

    def _answer(self, request_name: str) -> Any:
        try:
            return _exchange([self], [(request_name, self._number)])[0]
        except WorkerEndedError:  # from outside: all that these instances took did not end it
            return _exchange([self], [(request_name, self._number)])[0]

    def beside(
        self, truth: "SimulatedApis", turns: Sequence[tuple[Sequence[str], Sequence[str]]], *, hidden: bool
    ) -> list[tuple[list[str], list[str], Differing]]:
        """Runs the calls of turns here and the expected ones on other instances, and compares what both are after each.

        Args:
            turns: the calls of each, and the expected ones.
            hidden: whether `FORCES` are compared, too.

        Returns:
            For each turn the results here, those of the expected calls, and what differs.
        """
        compare = ("compare", self._number, truth._number, FORCES if hidden else ())
        runs = [
            request for actual, gold in turns for request in (self._run(actual), truth._run(gold), compare)
        ]
        try:
            results = _exchange([self, truth], runs)
            return list(zip(results[::3], results[1::3], results[2::3], strict=True))
        except WorkerEndedError:
            return [
                (self.execute(made), truth.execute(wanted), self._compared(truth, compare))
                for made, wanted in turns
            ]

    def _compared(self, truth: "SimulatedApis", compare: Sequence[Any]) -> Differing:
        try:
            return _exchange([self, truth], [compare])[0]
        except WorkerEndedError:
            return [(name, ["what takes too long to compare"]) for name in self._make[2]]

    def missing(self) -> list[Sequence[Any]]:
        """The requests that make the instances in the process and bring them into their state, if it lacks them."""
        if self._generation == self.worker.generation:
            return []
        self._generation = self.worker.generation
        return [self._make, self._run(self._calls)]

    def _run(self, calls: Sequence[str]) -> Sequence[Any]:
        short = [call if len(call) <= MAX_CALL_CHARACTERS else "" for call in calls]
        return ("run", self._number, short, READINGS if self._steady else ())


def _exchange(instances: Sequence[SimulatedApis], requests: Sequence[Sequence[Any]]) -> list[Any]:
    """The results of requests. Raises WorkerEndedError, and DataError where a scenario cannot be loaded."""
    worker = instances[0].worker
    with worker.lock:
        worker.start()
        before = [request for instance in instances for request in instance.missing()]
        results = worker.ask([*before, *requests])
    for request, error in zip(before, results, strict=False):
        if request[0] == "make" and error is not None:
            raise DataError(error)
    return results[len(before) :]
