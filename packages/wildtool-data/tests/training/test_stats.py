"""Numbers of a training file: what the tables of `data stats` count."""

import json
from pathlib import Path
from typing import Any

import pytest

from training.training_rows import write_rows
from wildtool.training.record import AssistantTurn, TrainingCall, TrainingRecord, UserTurn
from wildtool_data.prepare import stats as stats_module
from wildtool_data.prepare.stats import TrainingStats, training_stats


def told(tools: int, *replies: str) -> dict[str, Any]:
    """A conversation in which the user says something before each reply; `CALL` calls a tool."""
    call = json.dumps({"name": "f0", "arguments": {}})
    turns: list[dict[str, str]] = []
    for reply in replies:
        if reply == "CALL":
            turns += [{"from": "function_call", "value": call}, {"from": "observation", "value": "4 m"}]
        else:
            turns.append({"from": "gpt", "value": reply})
            turns.append({"from": "human", "value": "And now?"})
    listed = [{"name": f"f{k}", "description": "", "parameters": {}} for k in range(tools)]
    start = {"from": "human", "value": "How high?"}
    return {"conversations": [start, *turns][: 1 + len(turns) - 1], "tools": json.dumps(listed)}


def test_records_are_long_from_a_number_of_turns_on(monkeypatch: pytest.MonkeyPatch):
    reached = iter((3, 4, 5))
    monkeypatch.setattr(stats_module, "reach", lambda record: next(reached))
    stats = TrainingStats()
    for _ in range(3):
        stats.add(TrainingRecord(turns=(UserTurn("q"), AssistantTurn("r"))))
    (long,) = (metric for metric in stats.metrics() if "last said 4 turns back" in metric.name)
    assert (long.numerator, long.denominator) == (2, 3)


def test_far_values_and_replies_without_text():
    def calling(filler: int) -> TrainingRecord:
        talk = (UserTurn("Husum?"), *[AssistantTurn(None), UserTurn("go")] * filler)
        return TrainingRecord(turns=(*talk, AssistantTurn(None, (TrainingCall("f", {"s": "Husum"}, "1"),))))

    for filler, far in ((1, 0), (2, 1)):
        stats = TrainingStats()
        stats.add(calling(filler))
        numbers = {metric.name: metric.numerator for metric in stats.metrics()}
        assert numbers["with an argument last said 4 turns back or more"] == far
        assert numbers["texts that ask back, before any call"] == 0


def test_the_largest_set_comes_first(tmp_path: Path):
    rows = [{**told(0, "High."), "source": name} for name in "accb"]
    assert list(training_stats(write_rows(tmp_path / "a.jsonl", rows)).sets) == [
        "set c",
        "set a",
        "set b",
        "all sets",
    ]
