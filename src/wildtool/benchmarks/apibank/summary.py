"""API-Bank's numbers from verdict rows: correct calls, ROUGE-L of replies, by level and tool; pages; published ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from wildtool.benchmark import Published, View
from wildtool.benchmarks.apibank.data import CALL, DIALOGUE_LEVELS, LEVEL_1, LEVEL_2, REPLY
from wildtool.benchmarks.apibank.rules import API_ERRORS
from wildtool.published import as_metrics
from wildtool.stats.intervals import weighted_sum
from wildtool.stats.metrics import Rate, cost, coverage, error_rates, rate_metrics
from wildtool.types import Metric

CALLS, REPLIES = "API correctness", "ROUGE-L of replies"
WEIGHTED = "Weighted Average"
LEVEL_FILES: Mapping[str, int] = {LEVEL_1: 214, LEVEL_2: 50}
"""Dialogue files of each level, by which ToLeaP weights it, those without a sample included."""
_WRONG_CALLS = f"task = '{CALL}' AND outcome = 'wrong'"
_TASKS = {CALL: (CALLS, "CAST(correct AS INTEGER)"), REPLY: (REPLIES, "COALESCE(rouge_l, 0)")}


def summarize(verdicts: Any, profile: str) -> list[Metric]:
    """All metrics of one run under one profile.

    Args:
        verdicts: DuckDB relation of verdict rows (the engine's and API-Bank's columns).
    """
    counted = verdicts.filter("NOT repeated") if profile == "fixed" else verdicts
    order = (REPLY, CALL) if profile == "toleap" else (CALL, REPLY)
    metrics: list[Metric] = []
    for task in order:
        levels = [one for one in rate_metrics(counted, list(_levels(task))) if one.denominator]
        headline = profile != "toleap" or task == REPLY
        metrics += (replace(one, headline=headline) for one in (*_weighted(levels, task), *levels))
    apis = [api for (api,) in verdicts.project("api").distinct().order("api").fetchall()]
    by_tool = [rate for task in order for rate in _tools(task, apis)]
    ((raising, searched),) = verdicts.aggregate(
        "COUNT(reference_error), COUNT(*) FILTER (own_search)"
    ).fetchall()
    return [
        *metrics,
        *(one for one in rate_metrics(counted, by_tool) if one.denominator),
        *rate_metrics(verdicts, error_rates("errors", API_ERRORS, where=_WRONG_CALLS)),
        *coverage(verdicts, raising, "sample"),
        Metric("coverage", "searches answered by words", None, searched, _count(verdicts), kind="count"),
        *cost(verdicts, "sample"),
    ]


def _levels(task: str) -> Iterator[Rate]:
    group, value = _TASKS[task]
    for level in DIALOGUE_LEVELS:
        yield Rate(group, level, f"task = '{task}' AND split = '{level}'", value)


def _weighted(levels: Sequence[Metric], task: str) -> Iterator[Metric]:
    """Both levels: replies as ToLeaP weights them, calls each the same."""
    known = [
        (one.name, (one.value, one.low, one.high))
        for one in levels
        if one.value is not None and one.low is not None and one.high is not None
    ]
    if len(known) < len(DIALOGUE_LEVELS):
        return
    top, bottom = (sum(getattr(one, name) for one in levels) for name in ("numerator", "denominator"))
    sizes = LEVEL_FILES if task == REPLY else {one.name: one.denominator for one in levels}
    parts = [(sizes[name] / sum(sizes.values()), rate) for name, rate in known]
    value, low, high = weighted_sum(parts)
    name = WEIGHTED if task == REPLY else "both levels"
    yield Metric(_TASKS[task][0], name, value, top, bottom, low, high)


def _tools(task: str, apis: Sequence[str]) -> Iterator[Rate]:
    group, value = _TASKS[task]
    for api in apis:
        where = f"task = '{task}' AND api = '{api}'"
        yield Rate(f"{group} by tool", api, where, value)


def _count(verdicts: Any) -> int:
    ((count,),) = verdicts.aggregate("COUNT(*)").fetchall()
    return int(count)


@cache
def published() -> tuple[Published, ...]:
    """ToLeaP's Table 9."""
    columns = {
        "weighted_average": (REPLIES, WEIGHTED),
        "level1_given_desc": (REPLIES, LEVEL_1),
        "level2_toolsearcher": (REPLIES, LEVEL_2),
    }
    return tuple(as_metrics("toleap_apibank", columns, "toleap"))


VIEWS: Sequence[View] = (
    View(
        "scores",
        "Scores",
        "Calls are run on the shipped tables, and their results compared with the recorded ones. Replies after a call are"
        " compared with the recorded reply by ROUGE-L. ToLeaP's table has the replies alone, its average weighted by the"
        " 214 and 50 dialogue files of the levels.",
        (CALLS, REPLIES),
        note="Under toleap and original 347 of 399 and 125 of 135 gold calls are accepted (Q3 to Q7). There is one"
        " reference for each reply, so ROUGE-L rewards its wording.",
    ),
    View(
        "tools",
        "Tools",
        "The same by tool: of calls the one that is wanted, of replies the one just called.",
        (f"{CALLS} by tool", f"{REPLIES} by tool"),
    ),
    View(
        "errors", "Errors", "What is wrong with calls, as shares of the wrong ones.", ("errors",), "stacked"
    ),
    View("cost", "Cost", "Tokens and seconds of one sample.", ("cost",)),
)
"""The pages, in order; the same for every profile."""
