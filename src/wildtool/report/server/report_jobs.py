"""Makes reports on demand for `wildtool view`, each in a separate process that can be stopped at any moment.

`python -m wildtool.report.server.report_jobs OUT RUN…` is that process. It prints its
progress, and errors to its error output. It writes nothing into run folders.
"""

import asyncio
import hashlib
import os
import shutil
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wildtool.children import async_child, python_words
from wildtool.errors import WildtoolError
from wildtool.report.server.run_index import file_states
from wildtool.sanitize import ellipsize
from wildtool.temporary import lasting_files

MAX_KEPT_REPORTS = 16
"""Number of newest reports to keep."""
_LONGEST_PROBLEM = 1000


@dataclass(slots=True)
class ReportJob:
    """A report that is made or in progress."""

    key: str
    folder: Path
    step: str = "Waiting for another report"
    problem: str = ""
    files: Mapping[str, Path] | None = None
    """Every file of it by its address; None until all are written."""


@dataclass(slots=True)
class ReportJobs:
    """The reports of one server, in one folder; each set of runs in each state is made once."""

    folder: Path
    jobs: dict[str, ReportJob] = field(default_factory=dict[str, ReportJob])
    _tasks: dict[str, "asyncio.Task[None]"] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _build_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a report is made, because each may use all cores."""

    def make(self, runs: Sequence[Path]) -> ReportJob:
        """The report of some runs as they are now; starts it if needed."""
        states = "\0".join(f"{os.fsencode(run)!r} {file_states(run)}" for run in runs)
        key = hashlib.sha256(states.encode()).hexdigest()[:16]
        if key not in self.jobs or self.jobs[key].problem:
            report = self.jobs[key] = ReportJob(key, self.folder / key)
            self._tasks[key] = asyncio.create_task(self._make(report, runs))
        return self.jobs[key]

    async def close(self) -> None:
        """Stops the report in progress."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _make(self, report: ReportJob, runs: Sequence[Path]) -> None:
        try:
            async with self._build_lock:
                report.problem = await _build_report(report, runs)
                if not report.problem:
                    report.files = await asyncio.to_thread(files_below, report.folder)
        except Exception as error:  # noqa: BLE001 - shown to whoever waits for the report
            report.problem = ellipsize(f"internal error: {type(error).__name__}: {error}", _LONGEST_PROBLEM)
        finally:
            del self._tasks[report.key]
        ready = [its for its in self.jobs.values() if its.files is not None]
        for old in ready[:-MAX_KEPT_REPORTS]:
            del self.jobs[old.key]
            await asyncio.to_thread(shutil.rmtree, old.folder, ignore_errors=True)


async def _build_report(report: ReportJob, runs: Sequence[Path]) -> str:
    """Makes a report in a separate process; returns the error, if any."""
    shutil.rmtree(report.folder, ignore_errors=True)
    places = [str(path.resolve()) for path in (report.folder, *runs)]
    words = python_words("-m", "wildtool.report.server.report_jobs", *places)
    async with async_child(words, grace_s=0.0, stdout=PIPE, stderr=PIPE) as process:
        output, complaint = await asyncio.gather(_steps(process, report), _all(process))
        status = await process.wait()
    if status == 0:
        return ""
    return ellipsize(complaint.strip() or f"ended with status {status} at: {output}", _LONGEST_PROBLEM)


async def _steps(process: Process, report: ReportJob) -> str:
    assert process.stdout is not None
    async for line in process.stdout:
        report.step = line.decode(errors="replace").strip()
    return report.step


async def _all(process: Process) -> str:
    assert process.stderr is not None
    return (await process.stderr.read()).decode(errors="replace")


def files_below(folder: Path) -> dict[str, Path]:
    """Every file in a folder by its relative path; links are not followed."""
    return {
        path.relative_to(folder).as_posix(): path for path in lasting_files(folder) if not path.is_symlink()
    }


def main(out: str, *folders: str) -> int:
    """Makes the report of some runs; returns the exit status."""
    # Imported here, because the server itself needs neither.
    from wildtool.report.build import build
    from wildtool.report.model import ReportRun, read_runs

    runs: list[ReportRun] = []
    try:
        for number, folder in enumerate(folders, 1):
            _print_step(f"Reading run {number} of {len(folders)}")
            runs += read_runs([Path(folder)], keep=False)
        _print_step("Making pages")
        build(runs, Path(out))
    except WildtoolError as error:
        sys.stderr.write(f"{ellipsize(error, _LONGEST_PROBLEM)}\n")
        return error.exit_status
    return 0


def _print_step(step: str) -> None:
    sys.stdout.write(f"{step}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
