"""A pytest plugin for bench/mutants.py: what a test executes counts for it, also in processes that it starts.

What a fixture of several tests executes counts for their file: the first sets it up, but all may see a fault in it.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import coverage


@contextmanager
def counted_for(name: str) -> Iterator[None]:
    """Counts lines for a test, or for a file of tests."""
    measured = coverage.Coverage.current()
    before = os.environ["TEST_ID"]

    def switch(name: str) -> None:
        # Coverage's settings name it as the context of processes that the test starts.
        os.environ["TEST_ID"] = name
        if measured is not None:
            measured.switch_context(name)

    switch(name)
    try:
        yield
    finally:
        switch(before)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with counted_for(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    if fixturedef.scope == "function":
        return (yield)
    with counted_for(os.environ["TEST_ID"].partition("::")[0]):
        return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """One line for each test that passed: its id and the seconds it took."""
    if "PYTEST_XDIST_WORKER" not in os.environ and report.when == "call" and report.passed:
        with Path(os.environ["TEST_SECONDS"]).open("a") as lines:
            lines.write(json.dumps([report.nodeid, round(report.duration, 4)]) + "\n")
