"""API-Bank's numbers from verdict rows: correct calls, ROUGE-L of replies, by level and tool; pages; published ones."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from wildtool.benchmarks.apibank.data import CALL, DIALOGUE_LEVELS, LEVEL_1, LEVEL_2, REPLY
from wildtool.benchmarks.apibank.rules import API_ERRORS
from wildtool.evidence import joined_evidence
from wildtool.published import as_metrics
from wildtool.stats.metrics import CORRECT_SQL, Rate, spread_of, sql_text
from wildtool.stats.tables import Computed, Table, TableNumber, error_table, usual_tables
from wildtool.types import Metric

CALLS, REPLIES = "API correctness", "ROUGE-L of replies"
WEIGHTED = "Weighted Average"
LEVEL_FILES: Mapping[str, int] = {LEVEL_1: 214, LEVEL_2: 50}
"""Dialogue files of each level, by which ToLeaP weights it, those without a sample included."""
_TASKS = {CALL: (CALLS, CORRECT_SQL), REPLY: (REPLIES, "COALESCE(rouge_l, 0)")}


def _scores(
    verdicts: Any, profile: str, *, order: Sequence[str], headline: Sequence[str], counted: str = "TRUE"
) -> Iterator[TableNumber]:
    """Each task by level and over both, then by tool.

    Args:
        order: of the tasks.
        headline: tasks whose numbers belong in a table of models.
        counted: which samples count.
    """
    for task in order:
        group, value = _TASKS[task]
        is_main = task in headline
        yield partial(_both_levels, task, is_main)
        for level in DIALOGUE_LEVELS:
            where = f"task = '{task}' AND split = '{level}' AND {counted}"
            yield Rate(group, level, where, value, headline=is_main, only_if_any=True)
    apis = [api for (api,) in verdicts.project("api").distinct().order("api").fetchall()]
    for task in order:
        group, value = _TASKS[task]
        for api in apis:
            where = f"task = '{task}' AND api = {sql_text(api)} AND {counted}"
            yield Rate(f"{group} by tool", api, where, value, only_if_any=True)


def _both_levels(task: str, headline: bool, rates: Computed) -> Iterator[Metric]:
    """Both levels: replies as ToLeaP weights them, calls each the same."""
    group = _TASKS[task][0]
    levels = [rates[group, level] for level in DIALOGUE_LEVELS]
    if not all(level.denominator for level in levels):
        return
    top, bottom = (sum(getattr(level, name) for level in levels) for name in ("numerator", "denominator"))
    sizes = LEVEL_FILES if task == REPLY else {level.name: level.denominator for level in levels}
    weights = [sizes[level.name] / sum(sizes.values()) for level in levels]
    value = sum(weight * (level.value or 0.0) for weight, level in zip(weights, levels, strict=True))
    spread = spread_of(list(zip(weights, levels, strict=True)))
    name = WEIGHTED if task == REPLY else "both levels"
    yield Metric(
        group, name, value, top, bottom, spread.low, spread.high, headline=headline,
        evidence=joined_evidence(level.evidence for level in levels), least=spread.least, most=spread.most,
    )  # fmt: skip


def _searches(verdicts: Any, profile: str) -> Iterator[Metric]:
    ((searched, samples),) = verdicts.aggregate("COUNT(*) FILTER (own_search), COUNT(*)").fetchall()
    yield Metric("coverage", "searches answered by words", None, searched, samples, kind="count")


_COVERAGE, _COST = usual_tables("sample", "Tokens and seconds of one sample.")
TABLES: Sequence[Table] = (
    Table(numbers=partial(_scores, order=(REPLY, CALL), headline=(REPLY,)), profiles=("toleap",)),
    Table(numbers=partial(_scores, order=(CALL, REPLY), headline=(CALL, REPLY)), profiles=("original",)),
    Table(
        numbers=partial(_scores, order=(CALL, REPLY), headline=(CALL, REPLY), counted="NOT repeated"),
        profiles=("fixed",),
    ),
    Table(
        title="Scores",
        about="Calls are run on the shipped tables, and their results compared with the recorded ones. Replies after a"
        " call are compared with the recorded reply by ROUGE-L. ToLeaP's table has the replies alone, its average"
        " weighted by the 214 and 50 dialogue files of the levels.",
        groups=(CALLS, REPLIES),
        note="Under toleap and original 347 of 399 and 125 of 135 gold calls are accepted (Q3 to Q7). There is one"
        " reference for each reply, so ROUGE-L rewards its wording.",
    ),
    Table(
        title="Tools",
        about="The same by tool: of calls the one that is wanted, of replies the one just called.",
        groups=(f"{CALLS} by tool", f"{REPLIES} by tool"),
    ),
    error_table(
        API_ERRORS,
        "What is wrong with calls, as shares of the wrong ones.",
        where=f"task = '{CALL}' AND outcome = 'wrong'",
    ),
    _COVERAGE,
    Table(numbers=_searches),
    _COST,
)
"""The numbers, in order, and the pages."""
PUBLISHED = partial(
    as_metrics,
    "toleap_apibank",
    {
        "weighted_average": (REPLIES, WEIGHTED),
        "level1_given_desc": (REPLIES, LEVEL_1),
        "level2_toolsearcher": (REPLIES, LEVEL_2),
    },
    "toleap",
)
"""ToLeaP's Table 9."""
