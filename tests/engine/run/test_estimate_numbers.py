"""What a run would take, in numbers: calls, tokens, money and time."""

from typing import Any

from wildtool.engine.run.estimate import (
    RunTotals,
    seconds_of,
)


def test_runs_at_one_endpoint_follow_each_other():
    def one(endpoint: str, seconds: Any) -> RunTotals:
        return RunTotals(tokens=(0, 0), cost=None, seconds=seconds, endpoint=endpoint)

    assert seconds_of([one("a", (1, 2)), one("b", (4, 5)), one("a", (1, 6))]) == (4, 8)
    assert seconds_of([one("a", (1, 2)), one("b", None)]) is None
