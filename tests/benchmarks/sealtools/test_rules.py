"""Seal-Tools' requests, episodes with a retriever, its mistakes for the audit and why gold answers are refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sealtools.sealtools_build import TIDE, parsed, write_data
from wildtool.benchmark import Check
from wildtool.benchmarks.sealtools import SEALTOOLS
from wildtool.benchmarks.sealtools.rules import found_tools
from wildtool.types import Item, Message

RETRIEVING = SEALTOOLS.in_mode("retrieval")
WORD = {"api": "sayHello", "parameters": {"words": "Olá"}, "responses": ["API_call_1"]}


def item_of(*calls: dict[str, Any]) -> Item:
    return Item("dev-easy-0", ("0",), parsed(*calls), split="dev")


@pytest.fixture
def items(tmp_path: Path) -> list[Item]:
    return list(RETRIEVING.load(RETRIEVING.data.locate(str(write_data(tmp_path / "data"))), split="dev"))


# Decisions -------------------------------------------------------------------------------------------


def check(item: Item, *replies: Message, unfinished: bool = False) -> Check:
    rules = RETRIEVING.rules("fixed")
    episode = rules.episode(item, "0")
    for reply in replies:
        episode.advance(reply)
    return rules.unfinished(episode, item, "0") if unfinished else rules.verdict(episode, item, "0")


def test_a_record_that_ends_early_has_what_is_known_of_it(items: list[Item]) -> None:
    known_of_gold = {"parsed": 0, "gold_api": 2, "gold_param": 3}
    assert check(items[1], unfinished=True) == Check(False, fields=known_of_gold, steps=0)
    recall = {"retrieved": 1, "recalled": 1, "recallable": 2}
    begun = check(items[1], found_tools(["bookBoat"]), unfinished=True)
    assert begun == Check(False, fields={**known_of_gold, **recall}, steps=0)
    plain = SEALTOOLS.rules("fixed")
    whole = plain.unfinished(plain.episode(items[1], "0"), items[1], "0")
    assert whole == Check(False, fields=known_of_gold, steps=0)


# The audit -------------------------------------------------------------------------------------------


def mistakes(item: Item) -> list[tuple[str, Any, str]]:
    """Kind, calls or text, and note of each mutant."""
    rows: list[tuple[str, Any, str]] = []
    for mutant in SEALTOOLS.rules("fixed").mutants(item):
        (reply,) = mutant.replies
        assert (mutant.unit, {**reply, "content": ""}) == ("0", {"role": "assistant", "content": ""})
        rows.append((mutant.kind, reply["content"], mutant.note))
    return rows


def text_of(*calls: dict[str, Any]) -> str:
    return json.dumps([*calls], ensure_ascii=False)


def test_the_calls_before_a_missing_one_are_written_as_they_are() -> None:
    assert mistakes(item_of(WORD, TIDE))[3] == ("missing call", text_of(WORD), "getTide")


def test_a_gold_answer_in_json_has_no_apostrophe() -> None:
    own = replace(parsed(TIDE), gold_text=json.dumps([TIDE]))
    assert (
        SEALTOOLS.rules("toleap")
        .explain_gold(Item("x", ("0",), own), "0")
        .startswith("Q4: every single quote")
    )
