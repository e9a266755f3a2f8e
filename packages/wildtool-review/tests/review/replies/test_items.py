"""Proposals in ACEBench's format, which has several accepted answers for a record."""

import json
from pathlib import Path
from typing import Any

from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.engine.replies import import_replies
from wildtool_review.replies.proposals import agreement_queue
from wildtool_review.replies.recorded import OpenRuns
from wildtool_review.replies.rejudge import Rejudge
from wildtool_review.sets import start_review

CATEGORY = "normal_single_turn_single_function"
QUESTION = {
    "id": f"{CATEGORY}_0",
    "question": "user: Find flights to Lisbon for me.\n",
    "function": [
        {
            "name": "find_flights",
            "description": "Finds flights.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Where to, such as Lisbon or Porto."}
                },
                "required": ["city"],
            },
        }
    ],
    "time": "",
}


def write_items(folder: Path, gold: Any) -> Path:
    place = folder / "en"
    (place / "possible_answer").mkdir(parents=True)
    (place / f"data_{CATEGORY}.json").write_text(json.dumps(QUESTION) + "\n")
    answer = {"id": QUESTION["id"], "ground_truth": gold}
    (place / "possible_answer" / f"data_{CATEGORY}.json").write_text(json.dumps(answer) + "\n")
    return folder


def test_an_answer_that_models_agree_on_can_be_accepted_beside_gold(tmp_path: Path):
    data = write_items(tmp_path / "items", {"find_flights": {"city": "Lisboa Portela"}})
    (item,) = ACEBENCH.load(ACEBENCH.data.locate(str(data)))
    said = {"a": "Lisbon", "b": "Lisbon", "c": "Lisboa Portela", "d": "Porto"}
    rows = [
        {
            "item": item.id,
            "model": model,
            "units": {"0": [{"role": "assistant", "content": f"[find_flights(city='{city}')]"}]},
        }
        for model, city in said.items()
    ]
    replies = tmp_path / "replies.jsonl"
    replies.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_replies(ACEBENCH, ACEBENCH.data.locate(str(data)), replies, tmp_path / "runs")
    project, _ = start_review(str(data), benchmark="acebench")
    rejudge = Rejudge(OpenRuns.open(project.format, [tmp_path / "runs"]))
    (found,) = agreement_queue(project, rejudge)
    assert (found.kind, found.models, found.answered, found.right) == ("alternative", ("a", "b"), 4, 1)
    (change,) = found.changes
    assert change.after == [
        {"find_flights": {"city": "Lisboa Portela"}}, {"find_flights": {"city": "Lisbon"}},
    ]  # fmt: skip
    assert (found.gained, found.lost) == (2, 0)
