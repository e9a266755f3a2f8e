"""The ledger's numbers with the pages that show them."""

from collections.abc import Iterator, Sequence
from typing import Any

from wildtool.benchmarks.ledger.judge import ERRORS
from wildtool.benchmarks.ledger.records import TURN_KINDS, TURNS
from wildtool.stats.metrics import Rate
from wildtool.stats.tables import Table, error_table, usual_tables
from wildtool.types import Direction

_PLACES = range(1, TURNS + 1)
_RIGHT = " + ".join(f"CAST(COALESCE(right_{place}, FALSE) AS INTEGER)" for place in _PLACES)
_PLAYED = " + ".join(f"CAST(right_{place} IS NOT NULL AS INTEGER)" for place in _PLACES)
_ALL = str(TURNS)
"""Turns of a session, those included that were not played as a call failed: they are not right."""


def _turns_of(kind: str, condition: str = "TRUE") -> str:
    """How many turns of a kind meet a condition, in which `{}` is the place."""
    return " + ".join(
        f"CAST(kind_{place} = '{kind}' AND {condition.format(place)} AS INTEGER)" for place in _PLACES
    )


def _accuracy(verdicts: Any, profile: str) -> Iterator[Rate]:
    yield Rate("accuracy", "task", "TRUE", _RIGHT, _ALL, headline=True)
    yield Rate("accuracy", "session", "TRUE", headline=True)
    yield Rate("accuracy", "task, harm on the way forgiven", "TRUE", "ended_right", _ALL)


def _by_kind(verdicts: Any, profile: str) -> Iterator[Rate]:
    for kind in TURN_KINDS:
        right = _turns_of(kind, "COALESCE(right_{}, FALSE)")
        yield Rate("kind of turn", kind, "TRUE", right, _turns_of(kind), only_if_any=True)
    for place in _PLACES:
        yield Rate("position", str(place), "TRUE", f"CAST(COALESCE(right_{place}, FALSE) AS INTEGER)")
    for name in ("en", "zh"):
        yield Rate("language", name, f"lang = '{name}'", _RIGHT, _ALL, only_if_any=True)


_CORRECTIONS, _QUESTIONS = (_turns_of(kind, "right_{} IS NOT NULL") for kind in ("correction", "question"))
_WRITING: Sequence[tuple[str, str, str, str, Direction]] = (
    ("harm", "written twice", "written_twice", _PLAYED, "less"),
    ("harm", "write not asked for", "not_asked_for", _PLAYED, "less"),
    ("harm", "wrong on the way", "wrong_on_the_way", _PLAYED, "less"),
    ("harm", "lost to an earlier mistake", "earlier_mistakes", _PLAYED, "less"),
    ("writing", "writes too many per task", "writes_too_many", _PLAYED, "less"),
    ("writing", "corrections applied once", "corrections_once", _CORRECTIONS, "more"),
    ("writing", "questions answered without writing", "questions_unwritten", _QUESTIONS, "more"),
    ("writing", "right after a refused write", "recovered", "refused_turns", "more"),
    ("path", "right tasks in the least calls", "shortest", _RIGHT, "more"),
    ("path", "calls per least call in right tasks", "tool_calls", "least_calls", "less"),
)
"""Group, name, numerator, denominator, and which way is better."""


def _writing(verdicts: Any, profile: str) -> Iterator[Rate]:
    for group, name, numerator, denominator, better in _WRITING:
        yield Rate(group, name, "TRUE", numerator, denominator, better=better)


TABLES = (
    Table(
        numbers=_accuracy,
        formulas={
            "accuracy: task": "turns that are right, divided by turns",
            "accuracy: session": "sessions whose turns are all right, divided by sessions",
        },
    ),
    Table(
        title="Kinds of turns",
        about="How many turns of each kind are right. Each turn begins with the model's own book, as the turn before left"
        " it: a mistake can make a later turn impossible, which the table of harm counts apart.",
        numbers=_by_kind,
        groups=("kind of turn", "position", "language"),
    ),
    Table(
        title="Writing",
        about="What happens to the book. Harm: an entry written twice, a change nobody asked for, a book that ended right"
        " and was wrong between two calls. Path: calls of right tasks against the least that do it; 100 % is the least.",
        numbers=_writing,
        groups=("harm", "writing", "path"),
        formulas={
            "harm": "turns with it, divided by turns played",
            "writing: right after a refused write": "turns that are right, divided by those with a refused write",
        },
    ),
    error_table(ERRORS, "The class of the first wrong turn of a session, as shares of the wrong sessions."),
    *usual_tables(
        "session", "The average per session: tokens as the endpoint reports them, seconds as measured."
    ),
)
"""The numbers, in order, and the pages."""
