"""Runs chosen tests for bench/mutants.py, each time in a fork that has the packages of others loaded already.

It reads a JSON line for each try, `{"tests": {file: [ids]}, "limit": seconds}` (no ids: the whole file), and answers
with the exit status of pytest, or null if the tests took longer, and the id of the test that failed, or null. Modules of
wildtool and tests are loaded anew.
"""

import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

LOADED = """
aiohttp altair anyio asyncio duckdb hypothesis.stateful jinja2 jsonschema multiprocessing.pool numpy orjson pygments
pytest_asyncio.plugin pytest_timeout rapidfuzz rich.console rich.live rich.progress rich.table ssl typer
xml.etree.ElementTree yaml zoneinfo
"""


class Chosen:
    """Keeps those of a file's tests that were asked for, and writes the id of one that fails to a pipe."""

    def __init__(self, tests: Mapping[str, Sequence[str]], failures: int) -> None:
        self.names = {name for ids in tests.values() for name in ids}
        self.whole = {file for file, ids in tests.items() if not ids}
        self.failures = failures

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.names or self._whole(item)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os.write(self.failures, report.nodeid.encode() + b"\n")

    def _whole(self, item: pytest.Item) -> bool:
        return item.nodeid.partition("::")[0] in self.whole


def attempt(tests: Mapping[str, Sequence[str]], limit: float, folder: str) -> tuple[int | None, str | None]:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as failures:
        status = _attempt(tests, limit, folder, writing)
        os.close(writing)
        return status, failures.readline().decode().strip() or None


def _attempt(tests: Mapping[str, Sequence[str]], limit: float, folder: str, failures: int) -> int | None:
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.setsid()
            with Path(os.devnull).open("r+b") as nothing:
                for stream in range(3):
                    os.dup2(nothing.fileno(), stream)
            words = ["-xq", "--tb=no", "-pno:cacheprovider", "-pno:xdist", f"--basetemp={folder}", *tests]
            status = int(pytest.main(words, plugins=[Chosen(tests, failures)]))
        finally:
            os._exit(status)
    try:
        end = time.monotonic() + limit
        pause = 0.005
        while time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(pause)
            pause = min(0.05, pause * 1.2)
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


def main() -> None:
    for name in LOADED.split():
        with suppress(ImportError):
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        asked = json.loads(line)
        answers.write(json.dumps(attempt(asked["tests"], asked["limit"], sys.argv[1])) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
