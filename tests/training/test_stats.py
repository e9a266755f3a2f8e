"""Numbers of a training file: what the tables of `data stats` count."""

import json
from pathlib import Path
from typing import Any

from training.training_rows import write_rows
from wildtool.sets.prepare.stats import training_stats
from wildtool.types import Metric


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


def counted(path: Path, *rows: dict[str, Any]) -> dict[tuple[str, str], Metric]:
    found = training_stats(write_rows(path / "train.jsonl", list(rows)))
    return {(metric.group, metric.name): metric for metric in found.metrics}


def test_records_are_counted_by_how_many_tools_are_offered(tmp_path: Path):
    shares = counted(tmp_path, *(told(tools, "High.") for tools in (0, 1, 2, 5, 6, 20, 21, 40)))
    names = {"none": 1, "1": 1, "2 to 5": 2, "6 to 20": 2, "more than 20": 2}
    assert {name: shares["tools offered", name].numerator for name in names} == names


def test_a_text_asks_back_that_ends_in_a_question_before_any_call_of_its_turn(tmp_path: Path):
    rows = [
        told(1, "At which station?", "High."),
        told(1, "CALL", "4 m. Anything else?"),
        told(1, "CALL", "4 m.", "哪个站？ "),
    ]
    metric = counted(tmp_path, *rows)["replies", "texts that ask back, before any call"]
    assert (metric.numerator, metric.denominator) == (2, 5)
