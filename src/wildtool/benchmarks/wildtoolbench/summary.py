"""WildToolBench's numbers from verdict rows: accuracy by every cut of the data, AP, OP, errors, cost.

Every rate comes with its counts and a 95 % interval clustered by session.
"""

from collections.abc import Iterable
from typing import Any

from wildtool.benchmarks.wildtoolbench import WildToolBenchRules
from wildtool.benchmarks.wildtoolbench.data import CHAT_NOTE, SUBTYPES, TASK_TYPES
from wildtool.stats.metrics import Rate, cost, coverage, error_rates, rate_metric, rate_metrics
from wildtool.types import Metric

_ASKED_NOTE = "answered with a question instead; counted as right in Chat"
MULTI = "task_type LIKE '%Multi-Tool%'"


def rates() -> list[Rate]:
    """All rates of a summary, in the order of its tables."""
    by_type = [
        Rate(
            "task type",
            name,
            MULTI if name == "Multi-Tool" else f"task_type = '{name}'",
            headline=headline,
            note=CHAT_NOTE if name == "Chat" else "",
        )
        for name, headline in (
            ("Single-Tool", True),
            ("Multi-Tool", True),
            *((name, False) for name in TASK_TYPES if "Multi" in name),
            ("Clarify", True),
            ("Chat", True),
        )
    ]
    return [
        Rate("accuracy", "task", "TRUE", headline=True),
        *by_type,
        *(Rate("position", str(i), f"position = {i}") for i in range(1, 5)),
        Rate("hidden intent", "First Turn", "subtype = 'First Turn'"),
        Rate("hidden intent", "Subsequent Turn", "subtype <> 'First Turn'"),
        *(Rate("hidden intent", name, f"subtype = '{name}'") for name in SUBTYPES),
        *(Rate("instruction transitions", str(i), f"transitions = {i}") for i in range(4)),
        *(Rate("gold calls", str(i), f"gold_calls = {i}") for i in range(5)),
        Rate("gold calls", "5 or more", "gold_calls >= 5"),
        *(Rate("turns", str(i), f"turns = {i}") for i in range(1, 6)),
        Rate("turns", "6 or more", "turns >= 6"),
        *_orchestration(),
    ]


def _orchestration() -> Iterable[Rate]:
    """Accuracy, OP over parallel and mixed tasks, AP over sequential and mixed ones, as the profile tells them apart.

    The official AP can exceed 1: steps are no nodes (Q29), and nodes are counted in another list (Q01).
    """
    for name in ("parallel", "sequential", "mixed"):
        yield Rate("orchestration", name, f"orchestration = '{name}'")
    for name, where in _cuts("parallel", "mixed"):
        done = "CAST(optimal AS INTEGER)"
        yield Rate("optimal path (OP)", name, where, done, headline=name == "total")
    for name, where in _cuts("sequential", "mixed"):
        yield Rate("accomplish progress (AP)", name, where, "ap_done", "ap_total", headline=name == "total")
    for name, where in _cuts("sequential", "mixed"):
        yield Rate("accomplish progress (nodes done / nodes)", name, where, "nodes_done", "nodes")


def _cuts(*kinds: str) -> Iterable[tuple[str, str]]:
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    yield "total", f"orchestration IN ({listed})"
    yield from ((kind, f"orchestration = '{kind}'") for kind in kinds)


def summarize(verdicts: Any, rules: WildToolBenchRules) -> list[Metric]:
    """All metrics of one run under one profile.

    Args:
        verdicts: DuckDB relation of verdict rows (the benchmark's own columns and the engine's).
    """
    errors = error_rates("errors", rules.error_names)
    labels = error_rates("error labels", rules.error_labels, "error_label")
    metrics = rate_metrics(verdicts, [*rates(), *errors, *labels])
    metrics.insert(1, _sessions(verdicts))
    if rules.counts_questions and "asked_back" in verdicts.columns:
        chat = next(place for place, metric in enumerate(metrics) if metric.name == "Chat")
        metrics.insert(chat + 1, _asked_back(verdicts))
    return [
        *metrics,
        *coverage(verdicts, _not_scorable(verdicts), "task"),
        *cost(verdicts, "task"),
    ]


def _sessions(verdicts: Any) -> Metric:
    """Sessions whose tasks are all correct; each repeat of a session counts, clustered by session."""
    sessions = verdicts.aggregate("item, repeat, MIN(CAST(correct AS INTEGER)) AS all_right", "item, repeat")
    rows = sessions.aggregate("item, SUM(all_right), COUNT(*)", "item").fetchall()
    rate = Rate("accuracy", "session", "", headline=True)
    return rate_metric(rate, [(float(right), float(count)) for _, right, count in rows])


def _asked_back(verdicts: Any) -> Metric:
    """Chat tasks that were answered with a question; they count as right, as any text does."""
    ((asked, chats),) = verdicts.aggregate(
        "COUNT(*) FILTER (asked_back), COUNT(*) FILTER (task_type = 'Chat')"
    ).fetchall()
    return Metric("task type", "Chat, asked back", None, asked, chats, kind="count", note=_ASKED_NOTE)


def _not_scorable(verdicts: Any) -> int:
    """Units that the original could not have scored: it raises on them, or loses their session while it runs (Q27)."""
    sessions = verdicts.aggregate(
        "COUNT(*) AS units, COUNT(reference_error) AS raising,"
        " COALESCE(BOOL_OR(reference_error LIKE 'inference%'), FALSE) AS lost",
        "item, repeat",
    )
    ((count,),) = sessions.aggregate(
        "COALESCE(SUM(CASE WHEN lost THEN units ELSE raising END), 0)"
    ).fetchall()
    return int(count)
