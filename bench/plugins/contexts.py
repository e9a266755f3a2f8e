"""A pytest plugin for bench/mutants.py: what a test executes counts for it, also in processes that it starts."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import coverage


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    # Coverage's settings name it as the context of processes that the test starts.
    os.environ["TEST_ID"] = item.nodeid
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        if measured is not None:
            measured.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """One line for each test that passed: its id and the seconds it took."""
    if "PYTEST_XDIST_WORKER" not in os.environ and report.when == "call" and report.passed:
        with Path(os.environ["TEST_SECONDS"]).open("a") as lines:
            lines.write(json.dumps([report.nodeid, round(report.duration, 4)]) + "\n")
