"""What API-Bank's rules say of calls and replies in full: requests, reasons, conversions, mistakes and explanations."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.apibank.apibank_build import (
    ai,
    api,
    write_data,
)
from wildtool.benchmark import Check
from wildtool.benchmarks.apibank import APIBANK
from wildtool.benchmarks.apibank.calls import (
    WrittenCall,
    read_call,
)
from wildtool.benchmarks.apibank.rules import target_text
from wildtool.types import Item

ONE, TWO = "level-1-given-desc/one", "level-2-toolsearcher/one"
STOCK = {"stock_code": "ABC", "date": "2022-01-05"}
RESULT = {"output": 12.5, "exception": None}


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Item]:
    folder = write_data(tmp_path_factory.mktemp("apibank"))
    return {item.id: item for item in APIBANK.load(APIBANK.data.locate(str(folder)))}


def only_item(tmp_path: Path, *turns: dict[str, Any]) -> Item:
    """The item of a dialogue in the small data."""
    folder = write_data(tmp_path)
    line = json.dumps({"file": "a.jsonl", "turns": turns})
    (folder / "level-1-given-desc.jsonl").write_text(f"{line}\n", "utf-8")
    item, _ = APIBANK.load(APIBANK.data.locate(str(folder)))
    return item


def check(profile: str, item: Item, unit: str, text: str) -> Check:
    return APIBANK.rules(profile).check(item, unit, text)


# Reading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            "[A(x='a', y=\"b\", z=c, w=5)] more",
            WrittenCall("A", {"x": "a", "y": "b", "z": "c", "w": "5"}, "[A(x='a', y=\"b\", z=c, w=5)]"),
        ),
        ("no\nyes [A(x='it's')]", WrittenCall("A", {"x": "it"}, "[A(x='it's')]")),
        (
            "[A(x=[1, 2], y='b')] [B()]",
            WrittenCall("A", {"x": "[1, 2], y='b')]"}, "[A(x=[1, 2], y='b')] [B()]"),
        ),
        ("[A(x=[1, 2], y='b')]", WrittenCall("A", {"x": "[1, 2]", "y": "b"}, "[A(x=[1, 2], y='b')]")),
        ("[A(x=[], y='b')]", WrittenCall("A", {"x": "[]", "y": "b"}, "[A(x=[], y='b')]")),
        ("[A(x=[1]yy='b')]", WrittenCall("A", {"x": "[1]", "yy": "b"}, "[A(x=[1]yy='b')]")),
        (")]", None),
        ("[A(x='a', y=[1]", None),
        ("[A(x=[1, y='b')]", WrittenCall("A", {"y": "b"}, "[A(x=[1, y='b')]")),
        ("[A()]", WrittenCall("A", {}, "[A()]")),
        (")] [A(x='1'", None),
        ("[A(\nx='1')]", None),
        ("A(x='1')]", None),
    ],
)
def test_the_original_reads_one_line_up_to_its_last_bracket(text: str, call: WrittenCall | None) -> None:
    assert read_call(text) == call


# Decisions -------------------------------------------------------------------------------------------


def test_what_is_recorded_decides_how_a_result_is_compared(tmp_path: Path) -> None:
    account = {"username": "Cy", "password": "p", "email": "c@example.org"}
    turns = [
        {**api("QueryStock", 12.5, **STOCK), "result": {"input": None, "output": 12.5, "exception": None}},
        api("RegisterUser", None, **account),
        ai("All done."),
    ]
    item = only_item(tmp_path, *turns)
    read_error = Check(False, "wrong result", "KeyError in correctness check", detail=RESULT)
    assert check("original", item, "0", target_text(turns[0])) == read_error
    # An output where none is recorded is too much, none where one is recorded would do.
    registered = check("original", item, "2", target_text(turns[1]))
    assert (registered.error, registered.reason) == ("wrong result", "the result is not the recorded one")
    assert [kind for kind, *_ in mistakes(item, "3")] == [
        "empty reply",
        "other words",
        "last word left out",
        "words repeated",
        "word changed",
    ]


def test_an_episode_without_a_reply_makes_no_call(items: dict[str, Item]) -> None:
    rules = APIBANK.rules("fixed")
    for reply in ([], [{"content": None}]):
        episode: Any = rules.episode(items[TWO], "1")
        for message in reply:
            episode.advance(message)
        assert rules.verdict(episode, items[TWO], "1") == Check(
            False, "no call", "no [ApiName(…)] in the reply"
        )


def test_replies_on_which_the_original_fails_have_its_exception(items: dict[str, Item]) -> None:
    dots = check("toleap", items[TWO], "3", "...")
    assert (dots.score, dots.fields) == (0.0, {"rouge_l": 0.0, "reference_error": "ValueError"})
    long = check("toleap", items[TWO], "3", " ".join(f"w{number}" for number in range(50_000)))
    assert (long.score, long.fields) == (0.0, {"rouge_l": 0.0, "reference_error": "RecursionError"})
    assert (dots.correct, dots.error, bool(dots.reason)) == (False, "other words", True)


# The audit -------------------------------------------------------------------------------------------


def mistakes(item: Item, unit: str, profile: str = "fixed") -> list[tuple[str, str, str, str]]:
    """Kind, text, note and explanation of each mutant of one unit."""
    rules = APIBANK.rules(profile)
    rows: list[tuple[str, str, str, str]] = []
    for mutant in rules.mutants(item):
        if mutant.unit == unit:
            (reply,) = mutant.replies
            assert reply["role"] == "assistant"
            rows.append((mutant.kind, reply["content"], mutant.note, rules.explain(item, mutant)))
    return rows
