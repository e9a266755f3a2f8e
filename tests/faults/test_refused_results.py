"""An endpoint that refuses every request with a tool's result: when this is said, and when the cause is another."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import wildtool as wt
from wildtool.engine.score.results import failures_in
from wildtool.engine.score.verdict_table import verdicts_path
from wildtool.errors import CallError
from wildtool.reply_ends import OVERFLOWED
from wildtool.types import Reply, Request

CAUSE = "refuses every request"


class Gold:
    """The gold answers, and a failure of every request in which a tool's result is."""

    name = "gold-until-results"

    def __init__(self, failure: Callable[[], CallError]) -> None:
        self.attempts = 0
        """Of requests with results."""
        self._failure = failure

    def settings(self) -> Mapping[str, Any]:
        return {}

    async def close(self) -> None:
        return

    async def complete(self, request: Request) -> Reply:
        if any(message.get("role") == "tool" for message in request.messages):
            self.attempts += 1
            raise self._failure()
        assert request.gold is not None
        return Reply(request.gold("parallel"))


async def played(model: Gold, out: Path) -> list[str]:
    """Runs a few sessions; gives an example of each kind of failure."""
    await wt.arun("wild-mini", model=model, out=out, limit=4, retries=2, quiet=True)
    return [failed.example for failed in failures_in(verdicts_path(out, "official"))]


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wildtool.engine.call.client.wait_s", lambda *_: 0.0)


def broken_template() -> CallError:
    return CallError("http 500", "HTTP 500: no such role")


async def test_it_is_said_again_when_the_run_continues_and_only_requests_with_results_are_left(
    tmp_path: Path,
):
    model = Gold(broken_template)
    assert any(CAUSE in example for example in await played(model, tmp_path / "run"))
    again = Gold(broken_template)
    assert all(CAUSE in example for example in await played(again, tmp_path / "run"))
    assert 0 < again.attempts < model.attempts, "what cannot be answered is not tried three times each"


async def test_requests_that_are_too_long_are_not_refused_for_their_results_whatever_the_status(
    tmp_path: Path,
):
    model = Gold(lambda: CallError("http 500", f"HTTP 500 ({OVERFLOWED}): too long"))
    examples = await played(model, tmp_path / "run")
    assert examples and not any(CAUSE in example for example in examples)
    assert model.attempts % 3 == 0, "each call has all its attempts"
