"""Seal-Tools' requests, episodes with a retriever, its mistakes for the audit and why gold answers are refused."""

import json
from dataclasses import replace
from typing import Any

from benchmarks.sealtools.sealtools_build import TIDE, parsed
from wildtool.benchmarks.sealtools import SEALTOOLS
from wildtool.types import Item

WORD = {"api": "sayHello", "parameters": {"words": "Olá"}, "responses": ["API_call_1"]}


def item_of(*calls: dict[str, Any]) -> Item:
    return Item("dev-easy-0", ("0",), parsed(*calls), split="dev")


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
