"""Functions of the program that only note how they are called, where a test is about who asks whom for what."""

import sys
from collections.abc import Callable
from typing import Any

import pytest


class NotedParts:
    """Puts such functions in the place of others."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[Any] = []
        """Each call: the function's name, its arguments, and those with a name in a dict."""
        self._monkeypatch = monkeypatch

    def noted(self, name: str, answer: Any) -> Callable[..., Any]:
        """A function that returns an answer, or raises it."""

        def note(*args: Any, **named: Any) -> Any:
            self.calls.append((name, *args, *([named] if named else [])))
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return note

    def put(self, module: str, **answers: Any) -> None:
        """Replaces functions of a module of wildtool by ones with these answers.

        What is imported while they are replaced keeps them for all tests to come, so all is imported before.
        """
        assert f"wildtool.{module}" in sys.modules, f"import wildtool.{module} at the head of the test's file"
        for name, answer in answers.items():
            self._monkeypatch.setattr(f"wildtool.{module}.{name}", self.noted(name, answer))
