"""The ledger's numbers from three sessions: one right, one with mistakes, one that was cut short."""

from collections.abc import Mapping
from typing import Any

from benchmarks.ledger.session_play import ITEMS
from held_rows import held_rows
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.benchmarks.ledger import LEDGER

KINDS = ("compositional", "correction", "question", "chat")
NOTHING = dict.fromkeys(
    [
        "writes_too_many",
        "written_twice",
        "not_asked_for",
        "wrong_on_the_way",
        "earlier_mistakes",
        "corrections_once",
        "questions_unwritten",
        "refused_turns",
        "recovered",
        "shortest",
    ],
    0,
)
"""Counts of a session in which nothing happened."""


def row(item: str, rights: tuple[bool | None, ...], **changes: Any) -> Mapping[str, Any]:
    is_right = rights == (True,) * 4
    return {
        "item": item,
        "repeat": 0,
        "unit": "session",
        "steps": 4,
        "lang": "en",
        "outcome": "correct" if is_right else "wrong",
        "correct": is_right,
        **{f"kind_{place}": kind for place, kind in enumerate(KINDS, 1)},
        **{f"right_{place}": right for place, right in enumerate(rights, 1)},
        **NOTHING,
        "ended_right": sum(map(bool, rights)),
        "tool_calls": 4,
        "least_calls": 4,
        **changes,
    }


def summary_of(*rows: Mapping[str, Any]) -> dict[str, Any]:
    types = {**VERDICT_COLUMNS, **LEDGER.columns}
    relation = held_rows(types, ([*(dict.fromkeys(types) | {**each}).values()] for each in rows))
    return {f"{each.group}: {each.name}": each for each in LEDGER.summarize(relation, "ledger")}


def summary() -> dict[str, Any]:
    wrong = {"kind_4": "missing", "lang": "zh", "error": "wrong amount", "ended_right": 3, "tool_calls": 9}
    return summary_of(
        row("a", (True,) * 4, corrections_once=1, questions_unwritten=1, shortest=3),
        row(
            "b", (True, False, True, False),
            **wrong, writes_too_many=5, written_twice=1, not_asked_for=2, wrong_on_the_way=3, earlier_mistakes=1,
            refused_turns=2, recovered=1, shortest=1,
        ),
        row("c", (False, None, None, None), outcome="infra_error", lang="en"),
    )  # fmt: skip


def test_a_language_that_no_session_has_has_no_number():
    names = [name for name in summary_of(row("a", (True,) * 4)) if name.startswith("language")]
    assert names == ["language: en"]


def test_numbers_are_of_turns_and_of_what_happened_to_the_book():
    numbers = summary()
    counts = {name: (each.numerator, each.denominator) for name, each in numbers.items()}
    assert {name: pair for name, pair in counts.items() if not name.startswith(("errors", "cost"))} == {
        "accuracy: task": (6, 12),
        "accuracy: session": (1, 3),
        "accuracy: task, harm on the way forgiven": (7, 12),
        "kind of turn: compositional": (2, 3),
        "kind of turn: correction": (1, 3),
        "kind of turn: question": (2, 3),
        "kind of turn: chat": (1, 2),
        "kind of turn: missing": (0, 1),
        "position: 1": (2, 3),
        "position: 2": (1, 3),
        "position: 3": (2, 3),
        "position: 4": (1, 3),
        "language: en": (4, 8),
        "language: zh": (2, 4),
        "harm: written twice": (1, 9),
        "harm: write not asked for": (2, 9),
        "harm: wrong on the way": (3, 9),
        "harm: lost to an earlier mistake": (1, 9),
        "writing: writes too many per task": (5, 9),
        "writing: corrections applied once": (1, 2),
        "writing: questions answered without writing": (1, 2),
        "writing: right after a refused write": (1, 2),
        "path: right tasks in the least calls": (4, 6),
        "path: calls per least call in right tasks": (17, 12),
        **{name: pair for name, pair in counts.items() if name.startswith("coverage")},
    }
    assert {name: pair for name, pair in counts.items() if name.startswith("errors")} == {
        "errors: second execution": (0, 1),
        "errors: write not asked for": (0, 1),
        "errors: wrong write": (0, 1),
        "errors: missing write": (0, 1),
        "errors: wrong on the way": (0, 1),
        "errors: wrong amount": (1, 1),
        "errors: no answer": (0, 1),
        "errors: earlier mistake": (0, 1),
    }
    assert [name for name, each in numbers.items() if each.headline] == [
        "accuracy: task",
        "accuracy: session",
    ]
    assert [
        name
        for name, each in numbers.items()
        if each.better == "less" and not name.startswith(("errors", "cost", "coverage"))
    ] == [
        "harm: written twice",
        "harm: write not asked for",
        "harm: wrong on the way",
        "harm: lost to an earlier mistake",
        "writing: writes too many per task",
        "path: calls per least call in right tasks",
    ]


def test_a_session_has_the_kinds_of_its_turns_as_columns():
    assert LEDGER.fields(ITEMS[2], "session") == {
        "kind_1": "missing",
        "kind_2": "correction",
        "kind_3": "refused",
        "kind_4": "reference",
    }
    assert [*LEDGER.columns] == [
        *(f"kind_{place}" for place in (1, 2, 3, 4)),
        *(f"right_{place}" for place in (1, 2, 3, 4)),
        "ended_right",
        "writes_too_many",
        "written_twice",
        "not_asked_for",
        "wrong_on_the_way",
        "earlier_mistakes",
        "corrections_once",
        "questions_unwritten",
        "refused_turns",
        "recovered",
        "shortest",
        "tool_calls",
        "least_calls",
    ]
