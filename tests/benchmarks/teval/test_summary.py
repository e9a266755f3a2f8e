"""T-Eval's numbers from verdict rows: eleven scores, abilities, parts, encoders, and what is noted of them."""

from collections.abc import Iterable
from typing import Any

from held_rows import held_rows
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.benchmarks.teval import TEVAL
from wildtool.types import Metric

Row = dict[str, Any]


def row(split: str, form: str = "str", parsed: bool | None = True, **scores: Any) -> Row:
    usual = {"item": f"{split}/{len(scores)}", "repeat": 0, "unit": "0", "outcome": "wrong", "correct": False}
    return {**usual, "split": split, "score": 0.0, "steps": 1, "form": form, "parsed": parsed, **scores}


REFERENCE = "http://x/v1#sentence-transformers/all-mpnet-base-v2"
ROWS = [
    row("instruct", "string", format=1.0, arguments=0.5),
    row("instruct", "string", False, format=0.0, arguments=None),
    row("instruct", "json", format=1.0, arguments=1.0),
    row("plan_json", "json", f1=0.5, precision=1.0, recall=0.25, encoder="lexical"),
    row("reason_str", thought=0.6, encoder="lexical"),
    row("rru_json", "json", None, thought=0.4, name=1.0, args=0.5, encoder="ab"),
    row("review_str", quality=1.0),
    row("review_str", parsed=False),
]


def summary(rows: Iterable[Row], profile: str = "toleap") -> list[Metric]:
    types = {**VERDICT_COLUMNS, **TEVAL.columns}
    table = held_rows(types, [list((dict.fromkeys(types) | entry).values()) for entry in rows])
    return TEVAL.summarize(table, profile)


def numbers(metrics: Iterable[Metric], group: str) -> dict[str, Any]:
    return {m.name: None if m.value is None else round(m.value, 4) for m in metrics if m.group == group}


SCORES = {
    "Instruct str": 0.375,
    "Instruct json": 1.0,
    "Plan json": 0.5,
    "Reason str": 0.6,
    "Reason json": 0.4,
    "Retrieve json": 1.0,
    "Understand json": 0.5,
    "Review str": 0.5,
}


def test_scores_are_those_of_sets_that_were_run_and_their_mean() -> None:
    metrics = summary(ROWS)
    assert numbers(metrics, "scores") == {**SCORES, "mean of columns": round(sum(SCORES.values()) / 8, 4)}
    assert numbers(metrics, "abilities") == {
        "Instruct": 0.6875,
        "Plan": 0.5,
        "Reason": 0.5,
        "Retrieve": 1.0,
        "Understand": 0.5,
        "Review": 0.5,
        "overall": round((0.6875 + 0.5 * 4 + 1.0) / 6, 4),
    }
    assert {(m.group, m.name) for m in metrics if m.headline} == {
        *(("scores", name) for name in (*SCORES, "mean of columns")),
        ("abilities", "overall"),
    }
    assert [m.name for m in metrics if m.group in ("scores", "abilities", "accuracy")][-1] == "answer"


def test_one_score_has_no_mean() -> None:
    metrics = summary(ROWS[-1:])
    assert numbers(metrics, "scores") == {"Review str": 0.0}
    assert numbers(metrics, "abilities") == {"Review": 0.0}
    assert [m for m in metrics if m.group == "encoder"] == []


def test_parts_are_what_scores_are_made_of() -> None:
    assert numbers(summary(ROWS), "parts of scores") == {
        "Instruct str: format": 0.5,
        "Instruct str: arguments": 0.25,
        "Instruct str: parsed": 0.5,
        "Instruct json: format": 1.0,
        "Instruct json: arguments": 1.0,
        "Instruct json: parsed": 1.0,
        "Plan json: precision": 1.0,
        "Plan json: recall": 0.25,
        "Plan json: parsed": 1.0,
        "Reason str: parsed": 1.0,
        "Reason json: parsed": 0.0,
        "Retrieve json: parsed": 0.0,
        "Understand json: parsed": 0.0,
        "Review str: parsed": 0.5,
    }


def test_scores_of_another_encoder_are_noted() -> None:
    note = (
        "not comparable with published numbers, as sentences were compared by the encoder ab, lexical and not by"
        " sentence-transformers/all-mpnet-base-v2; WILDTOOL_ENCODER names another (docs/teval.md)"
    )
    metrics = summary(ROWS)
    noted = {(m.group, m.name) for m in metrics if m.note}
    assert {m.note for m in metrics if m.note} == {note}
    plan = {("scores", "Plan json"), ("abilities", "Plan")}
    plan |= {("parts of scores", f"Plan json: {part}") for part in ("precision", "recall")}
    always = {
        *(("scores", name) for name in ("Reason str", "Reason json", "mean of columns")),
        *(("abilities", name) for name in ("Reason", "overall")),
        ("accuracy", "answer"),
    }
    assert noted == plan | always
    assert {(m.group, m.name) for m in summary(ROWS, "fixed") if m.note} == always
    own = [entry | {"encoder": REFERENCE} for entry in ROWS]
    assert {m.note for m in summary(own)} == {""}


def test_encoders_are_counted_by_name() -> None:
    found = [
        (m.name, m.value, m.numerator, m.denominator, m.kind) for m in summary(ROWS) if m.group == "encoder"
    ]
    assert found == [("ab", None, 1, 3, "count"), ("lexical", None, 2, 3, "count")]


def test_pages_have_their_groups() -> None:
    assert [(page.title, page.slug, page.groups) for page in TEVAL.tables if page.title] == [
        ("Eleven scores", "scores", ("scores",)),
        ("Abilities", "", ("abilities",)),
        ("Parts of scores", "parts", ("parts of scores", "encoder")),
        ("Errors", "", ("errors",)),
        ("Cost", "", ("cost",)),
    ]
    errors = [
        "not parsed",
        "wrong format",
        "wrong action or arguments",
        "wrong plan",
        "other thought",
        "wrong API",
    ]
    assert list(numbers(summary(ROWS), "errors")) == [*errors, "wrong arguments", "wrong letter"]
