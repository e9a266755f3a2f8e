"""Starts `wildtool review regenerate` for the button of a page, as a separate process beside the server.

The process works on the same store, so that its proposals are on the page as soon as they are in the log.
"""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from subprocess import DEVNULL
from typing import IO

from wildtool.children import Child
from wildtool.errors import UsageError

MOST_AT_ONCE = 4
"""Items that are made again at the same time."""
LEFT_OUT = "left out "
"""How the command begins to say why an item has no new proposal."""
_STOPPING_S = 5.0


@dataclass(frozen=True, slots=True)
class RegenerationState:
    """How far making an item's tasks again is."""

    running: bool
    problem: str = ""
    """Why the last try made no proposal; empty if it did, or if there was none."""


@dataclass(slots=True)
class _Job:
    process: Child
    output: IO[bytes]
    state: RegenerationState = field(default_factory=lambda: RegenerationState(True))


class Regeneration:
    """Starts and watches the processes. For one thread."""

    def __init__(self, model: str, command: Sequence[str], review: str, password: str = "") -> None:
        """Args:
        model: its name, for the page.
        command: what makes tasks again; item, person, first task and call are added to it as options.
        review: the file or address of the review, as the last word, which is never an option.
        password: of the database, if it is one.
        """
        self.model = model
        self._command = list(command)
        self._review = review
        self._environment = {**os.environ, "PGPASSWORD": password} if password else None
        self._jobs: dict[tuple[str, str], _Job] = {}

    def start(
        self,
        item: str,
        person: str,
        first: int | None,
        *,
        keep_texts: bool,
        call: int | None = None,
        earlier: int = 0,
    ) -> None:
        """Starts to make tasks of an item again, for a person.

        Args:
            first: the first task, from 0; None for the first stale one.
            call: of the first task, the call of which only the result is made again; None for whole tasks.
            earlier: proposals that were made for the same content; another one is asked for with another seed.

        Raises UsageError if that runs already, too many others run, or no process can be started.
        """
        if self.state(item, person).running:
            raise UsageError("this item is being made again")
        if sum(self.state(*job).running for job in self._jobs) >= MOST_AT_ONCE:
            raise UsageError("{0} items are being made again; wait for one of them", MOST_AT_ONCE)
        words = [f"--item={item}", f"--as={person}", *([] if first is None else [f"--from={first + 1}"])]
        words += [] if call is None else [f"--call={call}"]
        words += [f"--seed={earlier + 1}"] if earlier else []
        output = tempfile.TemporaryFile()  # noqa: SIM115 - read once the process has ended
        try:
            process = Child(
                [*self._command, *words, *(["--keep-texts"] if keep_texts else []), "--", self._review],
                grace_s=_STOPPING_S,
                stdout=DEVNULL,
                stderr=output,
                env=self._environment,
            )
        except (OSError, ValueError) as error:
            output.close()
            raise UsageError("cannot start: {0}", error) from error
        self._jobs[item, person] = _Job(process, output)

    def state(self, item: str, person: str) -> RegenerationState:
        """How far the last try for an item and a person is."""
        job = self._jobs.get((item, person))
        if job is None:
            return RegenerationState(False)
        status = job.process.poll()
        if job.state.running and status is not None:
            job.output.seek(0)
            lines = job.output.read().decode("utf-8", "replace").strip().splitlines()
            job.output.close()
            # A model that says the same again makes no proposal, though nothing failed.
            told = lines if status else [line for line in lines if line.startswith(LEFT_OUT)]
            job.state = RegenerationState(False, "\n".join(told[-3:]))
        return job.state

    def close(self) -> None:
        """Ends what still runs; recorded calls are kept."""
        running = [job.process for key, job in self._jobs.items() if self.state(*key).running]
        for process in running:
            process.terminate()
        for process in running:
            process.end()
