"""The numbers of own history: accuracy by what came before, and what compares with a run with gold history."""

from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.stats.metrics import Rate, rate_metrics, sql_text
from wildtool.types import Metric

HISTORY_GROUP = "own history"
_LATER, _SETTLED = "session_place > 1", "session_place > 1 AND settled"
_SESSION = "(PARTITION BY item, repeat ORDER BY session_place {})"
_WRONG_BEFORE = (
    "CAST(coalesce(count(*) FILTER (outcome = 'wrong') OVER "
    + _SESSION.format("ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING")
    + ", 0) AS INTEGER) AS wrong_before, coalesce(lag(outcome) OVER "
    + _SESSION.format("")
    + " = 'wrong', FALSE) AS wrong_just_before"
)
_KIND = "task_type"
"""The column by which benchmarks of sessions tell kinds of tasks apart; they need not have it."""
_BEFORE = _SESSION.format("")
_KIND_BEFORE = f"lag({_KIND}) OVER {_BEFORE} AS kind_before, lag(outcome) OVER {_BEFORE} AS outcome_before"
_NOT_PAIRED = (
    "sessions in which a model errs are the harder ones, so the gap to the line above is no effect of the error;"
    " compare this run with one that has gold history"
)
_APART = "a gold argument comes from an earlier result that the model never got, so no answer could be right"


CUTS_NOTE = (
    "The same tasks with gold history and with the model's own, so that how hard they are cancels out. Later tasks,"
    " settled: what it costs the model to live with its own mistakes. The task before wrong: whether a mistake leads to"
    " the next one, also by the kind of the task before; every earlier task right is the control, which should cost"
    " nothing. Task 1 has no history: its difference is chance. Unsettled: a gold argument comes from a result that the"
    " model never got, so that no answer could be right; accuracy counts these with all others."
)


def with_wrong_before(verdicts: Any) -> Any:
    """The rows with the number of wrong tasks before each in its session, and whether the last of them is wrong."""
    return verdicts.project(f"*, {_WRONG_BEFORE}")


def history_metrics(verdicts: Any) -> Sequence[Metric]:
    """Accuracy of later tasks by what came before them, unsettled ones apart."""
    rows = with_wrong_before(verdicts)
    unrecorded = "unrecorded_calls > 0"
    return rate_metrics(
        rows,
        [
            Rate(HISTORY_GROUP, "later tasks, settled", _SETTLED, headline=True),
            Rate(HISTORY_GROUP, "settled, every earlier task right", f"{_SETTLED} AND wrong_before = 0"),
            Rate(
                HISTORY_GROUP,
                "settled, an earlier task wrong",
                f"{_SETTLED} AND wrong_before > 0",
                note=_NOT_PAIRED,
            ),
            Rate(HISTORY_GROUP, "later tasks, unsettled", f"{_LATER} AND NOT settled", note=_APART),
            Rate(
                HISTORY_GROUP,
                "unsettled among later tasks",
                f"{_LATER} AND settled IS NOT NULL",
                "CAST(NOT settled AS INTEGER)",
                headline=True,
                better="",
            ),
            Rate(
                HISTORY_GROUP,
                "tasks with a call that the record does not answer",
                "unrecorded_calls IS NOT NULL",
                f"CAST({unrecorded} AS INTEGER)",
                better="less",
            ),
        ],
    )


def history_cuts(verdicts: Any) -> Mapping[str, Any]:
    """Tasks by place, and the settled later ones by how many earlier ones went wrong."""
    rows = with_wrong_before(verdicts)
    places = [
        place
        for (place,) in rows.filter("session_place > 0").aggregate("session_place").order("1").fetchall()
    ]
    cuts = {f"task {place}": rows.filter(f"session_place = {place}") for place in places}
    settled = rows.filter(_SETTLED)
    before: Mapping[str, Any] = _by_task_before(rows) if _KIND in rows.columns else {}
    return {
        **cuts,
        "later tasks": rows.filter(_LATER),
        "later tasks, settled": settled,
        "settled, every earlier task right": settled.filter("wrong_before = 0"),
        "settled, an earlier task wrong": settled.filter("wrong_before > 0"),
        "settled, the task before wrong": settled.filter("wrong_just_before"),
        **before,
        "later tasks, unsettled": rows.filter(f"{_LATER} AND NOT settled"),
    }


def _by_task_before(rows: Any) -> Mapping[str, Any]:
    """The settled later tasks by kind and outcome of the task before; after one without a verdict they are in none."""
    rows = rows.project(f"*, {_KIND_BEFORE}").filter(_SETTLED)
    kinds = [
        kind
        for (kind,) in rows.filter("kind_before IS NOT NULL").aggregate("kind_before").order("1").fetchall()
    ]
    return {
        f"settled, after {kind}, {words}": rows.filter(
            f"kind_before = {sql_text(kind)} AND outcome_before = '{outcome}'"
        )
        for kind in kinds
        for outcome, words in (("correct", "right"), ("wrong", "wrong"))
    }
