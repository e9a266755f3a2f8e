"""Which tasks each number and each comparison of own history is of."""

from typing import Any

from held_rows import held_rows
from wildtool.alter.history.summary import HISTORY_GROUP, history_cuts, history_metrics

COLUMNS = {
    "item": "VARCHAR",
    "repeat": "INTEGER",
    "unit": "VARCHAR",
    "outcome": "VARCHAR",
    "correct": "BOOLEAN",
    "session_place": "INTEGER",
    "settled": "BOOLEAN",
    "unrecorded_calls": "INTEGER",
}


def session(item: str, repeat: int, *tasks: tuple[str, bool | None, int | None]) -> list[list[Any]]:
    """Args: tasks: outcome of each, whether it is settled, and calls that the record does not answer."""
    return [
        [item, repeat, str(place - 1), outcome, outcome == "correct", place, settled, unrecorded]
        for place, (outcome, settled, unrecorded) in enumerate(tasks, 1)
    ]


RIGHT, WRONG = ("correct", True, 0), ("wrong", True, 0)
ROWS = [
    *session("a", 0, RIGHT, ("wrong", True, 1), RIGHT, ("correct", False, 2), RIGHT),
    *session("a", 1, WRONG, RIGHT, ("unplayed", None, None)),
    *session("b", 0, RIGHT, RIGHT, WRONG),
    ["c", 0, "0", "infra_error", False, None, None, None],
]


def test_tasks_are_told_apart_by_their_place_and_by_what_came_before():
    cuts = {
        name: [f"{item}{repeat}/{place}" for item, repeat, place in rows.fetchall()]
        for name, cut in history_cuts(held_rows(COLUMNS, ROWS)).items()
        for rows in [cut.project("item, repeat, session_place").order("ALL")]
    }
    settled = ["a0/2", "a0/3", "a0/5", "a1/2", "b0/2", "b0/3"]
    assert list(cuts.items()) == [
        ("task 1", ["a0/1", "a1/1", "b0/1"]),
        ("task 2", ["a0/2", "a1/2", "b0/2"]),
        ("task 3", ["a0/3", "a1/3", "b0/3"]),
        ("task 4", ["a0/4"]),
        ("task 5", ["a0/5"]),
        ("later tasks", ["a0/2", "a0/3", "a0/4", "a0/5", "a1/2", "a1/3", "b0/2", "b0/3"]),
        ("later tasks, settled", settled),
        ("settled, every earlier task right", ["a0/2", "b0/2", "b0/3"]),
        ("settled, an earlier task wrong", ["a0/3", "a0/5", "a1/2"]),
        ("settled, the task before wrong", ["a0/3", "a1/2"]),
        ("later tasks, unsettled", ["a0/4"]),
    ]


def test_numbers_of_own_history_are_of_later_tasks():
    metrics = history_metrics(held_rows(COLUMNS, ROWS))
    assert {metric.group for metric in metrics} == {HISTORY_GROUP}
    assert [(m.name, m.numerator, m.denominator, m.headline, m.better, bool(m.note)) for m in metrics] == [
        ("later tasks, settled", 4, 6, True, "more", False),
        ("settled, every earlier task right", 1, 3, False, "more", False),
        ("settled, an earlier task wrong", 3, 3, False, "more", True),
        ("later tasks, unsettled", 1, 1, False, "more", True),
        ("unsettled among later tasks", 1, 7, True, "", False),
        ("tasks with a call that the record does not answer", 2, 10, False, "less", False),
    ]
