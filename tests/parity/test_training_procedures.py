"""Scores that models give, and pairs from tries, as the cases of the specification have them."""

import json
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.training.procedures.pairs import NoPair, Try, pair_of, reply_turn
from wildtool.training.procedures.supervised import SupervisedTurn
from wildtool.training.reading import training_records
from wildtool.training.record import AssistantTurn, TrainingRecord
from wildtool_data.make.training.pairs import pair_row
from wildtool_data.make.training.selection import read_score

FOLDER = oracle_folder("training")


def cases(name: str) -> list[dict[str, Any]]:
    return list(rows(present(FOLDER) / name))


def test_scores_are_read_as_in_every_case():
    found = {case["text"]: read_score(case["text"]) for case in cases("score_texts.jsonl")}
    assert found == {case["text"]: case["score"] for case in cases("score_texts.jsonl")}


def record_of(tmp_path: Path, row: dict[str, Any]) -> TrainingRecord:
    path = tmp_path / "record.jsonl"
    path.write_text(json.dumps(row), "utf-8")
    (record,) = training_records(path)
    assert isinstance(record, TrainingRecord)
    return record


def turn(written: dict[str, str]) -> AssistantTurn:
    """A turn in ShareGPT's shape as a reply."""
    if written["from"] == "gpt":
        return reply_turn({"content": written["value"]})
    call = json.loads(written["value"])
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    return reply_turn({"content": None, "tool_calls": [{"id": "call_1", "function": function}]})


@pytest.mark.parametrize("number", range(5))
def test_tries_give_the_pairs_of_every_case(tmp_path: Path, number: int):
    case = cases("pair_cases.jsonl")[number]
    record = record_of(tmp_path, case["record"])
    found: list[dict[str, Any]] = []
    for attempt in case["attempts"]:
        gold = record.turns[attempt["turn"]]
        assert isinstance(gold, AssistantTurn)
        tries = [Try(turn(one), one["right"]) for one in attempt["tries"]]
        pair = pair_of(SupervisedTurn(record, attempt["turn"], gold), tries)
        if not isinstance(pair, NoPair):
            found.append(pair_row(pair, "sharegpt") | {"meta": pair.meta})
    assert found == case["pairs"]


def test_there_are_no_more_cases_than_are_tested():
    assert len(cases("pair_cases.jsonl")) == 5
