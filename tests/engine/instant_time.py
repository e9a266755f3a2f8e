"""An event loop whose clock jumps to the next timer, so that hours pass in no time; and a networked model for it."""

import asyncio
import selectors
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import pytest

from engine.echo_benchmark import ScriptedModel
from wildtool.types import Reply, Request

Result = TypeVar("Result")


class _Selector(selectors.DefaultSelector):
    skipped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        # Nothing to wait for but another thread, where no timer is set.
        events = super().select(None if timeout is None else 0)
        if not events and timeout:
            self.skipped += timeout
        return events


class InstantLoop(asyncio.SelectorEventLoop):
    """Begins at 0."""

    def __init__(self) -> None:
        self._skips = _Selector()
        super().__init__(self._skips)

    def time(self) -> float:
        return self._skips.skipped


def instantly(task: Coroutine[Any, Any, Result]) -> Result:
    """What `asyncio.run` does, without waiting."""
    with asyncio.Runner(loop_factory=InstantLoop) as runner:
        return runner.run(task)


def run_instantly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has runs take no time."""
    monkeypatch.setattr(asyncio, "run", instantly)
    monkeypatch.setitem(sys.modules, "uvloop", None)


def now() -> float:
    return asyncio.get_running_loop().time()


class NetworkModel(ScriptedModel):
    """A scripted model at an address, each of whose answers takes time."""

    def __init__(
        self,
        answer: Callable[[Request], Any] = lambda request: "right",
        seconds: Callable[[Request], float] = lambda request: 0.01,
        name: str = "networked",
    ) -> None:
        super().__init__(answer, name)
        self.times: list[float] = []
        """When each try was sent."""
        self.ended = 0.0
        """When the last try came back."""
        self._seconds = seconds

    async def complete(self, request: Request) -> Reply:
        self.times.append(now())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._seconds(request))
            return await super().complete(request)
        finally:
            self.in_flight -= 1
            self.ended = now()

    def settings(self) -> Mapping[str, Any]:
        return {**super().settings(), "base_url": "http://127.0.0.1:9/v1"}
