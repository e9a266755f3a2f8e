"""How reports are made on demand: each once for a state of its runs, one at a time, in a process that may fail."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from report.report_build import play
from wildtool.report.server import report_jobs as module
from wildtool.report.server.report_jobs import MAX_KEPT_REPORTS, ReportJob, ReportJobs, files_below, main


def run_at(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    return folder


async def ended(jobs: ReportJobs) -> None:
    await asyncio.gather(*jobs._tasks.values())  # pyright: ignore[reportPrivateUsage]


async def test_a_report_is_made_once_for_a_state_and_again_after_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    problems, built = ["no room", "", "", ""], list[Any]()

    async def build(report: ReportJob, runs: list[Path]) -> str:
        built.append((report.key, runs, report.step))
        report.folder.mkdir(parents=True, exist_ok=True)
        (report.folder / "index.html").touch()
        return problems.pop(0)

    monkeypatch.setattr(module, "_build_report", build)
    first, second = run_at(tmp_path / "a"), run_at(tmp_path / "b")
    jobs = ReportJobs(tmp_path / "reports")
    job = jobs.make([first, second])
    assert job == ReportJob(job.key, tmp_path / "reports" / job.key, "Waiting for another report", "", None)
    assert len(job.key) == 16
    assert jobs.make([first, second]) is job
    await ended(jobs)
    assert (job.problem, job.files) == ("no room", None)
    again = jobs.make([first, second])
    assert again is not job and again.key == job.key
    await ended(jobs)
    assert (again.problem, again.files) == ("", {"index.html": again.folder / "index.html"})
    assert jobs.make([first, second]) is again
    assert jobs._tasks == {}  # pyright: ignore[reportPrivateUsage]
    other = jobs.make([second])
    os.utime(second / "run.json", (0, 0))
    changed = jobs.make([second])
    assert len({job.key, other.key, changed.key}) == 3
    await ended(jobs)
    waiting = "Waiting for another report"
    assert built == [
        (job.key, [first, second], waiting),
        (job.key, [first, second], waiting),
        (other.key, [second], waiting),
        (changed.key, [second], waiting),
    ]


async def test_reports_are_made_one_at_a_time_and_stopped_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun: list[str] = []

    async def build(report: ReportJob, runs: list[Path]) -> str:
        begun.append(report.key)
        await asyncio.Event().wait()
        return ""

    monkeypatch.setattr(module, "_build_report", build)
    jobs = ReportJobs(tmp_path / "reports")
    first, second = (jobs.make([run_at(tmp_path / name)]) for name in "ab")
    for _ in range(5):
        await asyncio.sleep(0)
    assert begun == [first.key]
    await jobs.close()
    assert begun == [first.key]
    assert (first.files, second.files, first.problem) == (None, None, "")


async def test_the_newest_reports_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def build(report: ReportJob, runs: list[Path]) -> str:
        report.folder.mkdir(parents=True)
        return "" if runs[0].name != "3" else "failed"

    monkeypatch.setattr(module, "_build_report", build)
    jobs = ReportJobs(tmp_path / "reports")
    made: list[ReportJob] = []
    for number in range(MAX_KEPT_REPORTS + 3):
        made.append(jobs.make([run_at(tmp_path / str(number))]))
        await ended(jobs)
    assert [job for job in made if job.key not in jobs.jobs] == made[:2]
    assert [job.folder.exists() for job in made] == [False] * 2 + [True] * (MAX_KEPT_REPORTS + 1)


async def test_an_error_that_nobody_foresaw_is_the_problem_of_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def build(report: ReportJob, runs: list[Path]) -> str:
        raise KeyError("x" * 2_000)

    monkeypatch.setattr(module, "_build_report", build)
    jobs = ReportJobs(tmp_path / "reports")
    job = jobs.make([run_at(tmp_path / "a")])
    await ended(jobs)
    assert job.problem.startswith("internal error: KeyError: 'xxx")
    assert len(job.problem) == 1_000
    assert jobs._tasks == {}  # pyright: ignore[reportPrivateUsage]


class Process:
    """A process that makes a report."""

    def __init__(self, status: int | None, lines: list[bytes], errors: bytes) -> None:
        self.returncode: int | None = None
        self._status, self._lines, self._errors = status, lines, errors
        self.stdout = self._steps()
        self.stderr = SimpleNamespace(read=self._all)

    async def _steps(self) -> AsyncIterator[bytes]:
        for line in self._lines:
            yield line
        if self._status is None:
            raise asyncio.CancelledError

    async def _all(self) -> bytes:
        return self._errors

    async def wait(self) -> int | None:
        self.returncode = self._status
        return self._status


@pytest.mark.parametrize(
    ("status", "errors", "problem"),
    [
        (0, b"a warning", ""),
        (2, b" no \xff such folder\n", "no \ufffd such folder"),
        (-9, b"\n", "ended with status -9 at: Making pages"),
        (None, b"", "stopped"),
    ],
)
async def test_a_report_is_made_by_a_process_of_its_own_which_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int | None, errors: bytes, problem: str
):
    started: list[Any] = []

    @asynccontextmanager
    async def child(words: list[str], **options: Any) -> AsyncIterator[Process]:
        started.append((words, options))
        try:
            yield Process(status, [b"Reading run 1 of 1\n", b"Making pages \n"], errors)
        finally:
            started.append("ended")

    monkeypatch.setattr(module, "async_child", child)
    monkeypatch.chdir(tmp_path)
    report = ReportJob("key", tmp_path / "report")
    (report.folder / "old").mkdir(parents=True)
    building = module._build_report(report, [Path("runs/a")])  # pyright: ignore[reportPrivateUsage]
    if status is None:
        with pytest.raises(asyncio.CancelledError):
            await building
    else:
        assert await building == problem
    assert report.step == "Making pages"
    assert not report.folder.exists()
    (words, options), end = started
    assert end == "ended"
    assert words[-2:] == [str(tmp_path / "report"), str(tmp_path / "runs" / "a")]
    assert options == {"grace_s": 0.0, "stdout": -1, "stderr": -1}


def test_the_process_says_its_steps_and_why_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from wildtool.report import build

    built: list[Any] = []

    def build_report(runs: list[Any], out: Path) -> None:
        built.append(([run.folder.name for run in runs], out))

    monkeypatch.setattr(build, "build", build_report)
    runs = [play(tmp_path / name, f"baseline/{name}", limit=1) for name in ("gold", "chat")]
    for run in runs:
        (run / "verdicts-official.parquet").unlink()
    assert main(str(tmp_path / "report"), *map(str, runs)) == 0
    printed = capsys.readouterr()
    assert printed.out == "Reading run 1 of 2\nReading run 2 of 2\nMaking pages\n"
    assert printed.err == ""
    assert built == [(["gold", "chat"], tmp_path / "report")]
    assert not any((run / "verdicts-official.parquet").exists() for run in runs)
    assert main(str(tmp_path / "other"), str(tmp_path / "none")) == 2
    printed = capsys.readouterr()
    assert printed.out == "Reading run 1 of 1\n"
    assert printed.err == (
        f"{tmp_path}/none: not a run folder, run.json cannot be read (No such file or directory)\n"
    )


def test_files_of_a_report_are_known_by_their_address(tmp_path: Path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "t.js").touch()
    (tmp_path / "index.html").touch()
    (tmp_path / "link").symlink_to(tmp_path / "index.html")
    assert files_below(tmp_path) == {
        "data/t.js": tmp_path / "data" / "t.js",
        "index.html": tmp_path / "index.html",
    }
