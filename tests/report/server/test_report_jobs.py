"""How reports are made on demand: each once for a state of its runs, one at a time, in a process that may fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.report.server import report_jobs as module
from wildtool.report.server.report_jobs import ReportJob, ReportJobs


async def ended(jobs: ReportJobs) -> None:
    await asyncio.gather(*jobs._tasks.values())  # pyright: ignore[reportPrivateUsage]


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
