"""Ends a process in which a test hangs, or which hangs after its last test, and says where."""

import faulthandler
import os
import time

import pytest

TEST_S = 900
"""A test hangs that takes longer: not even `timeout` in pyproject.toml has ended it."""
END_S = 300
RENEWED_EACH_S = 60


class HangWatch:
    """A plugin of pytest that does what `faulthandler_timeout` does, which starts and ends a thread for each test."""

    def __init__(self) -> None:
        self._errors = os.dup(2)
        """Not captured with what a test writes."""
        self._until = 0.0

    def pytest_runtest_setup(self) -> None:
        now = time.monotonic()
        if now + TEST_S - RENEWED_EACH_S > self._until:
            faulthandler.dump_traceback_later(TEST_S, exit=True, file=self._errors)
            self._until = now + TEST_S

    def pytest_exception_interact(self) -> None:
        """Here pytest ends every such watch."""
        self._until = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        faulthandler.dump_traceback_later(END_S, exit=True, file=self._errors)
