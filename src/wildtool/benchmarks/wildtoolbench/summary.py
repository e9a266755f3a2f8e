"""WildToolBench's numbers from verdict rows, with the pages that show them: accuracy by every cut of the data, AP, OP,
errors, cost. Published results.

Every rate comes with its counts and a 95 % interval clustered by session.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from wildtool.benchmark import Published
from wildtool.benchmarks.wildtoolbench import error_classes
from wildtool.benchmarks.wildtoolbench.data import CHAT_NOTE, SUBTYPES, TASK_TYPES
from wildtool.benchmarks.wildtoolbench.paper.judge import LABEL_COLUMNS
from wildtool.published import as_metrics
from wildtool.stats.metrics import CORRECT_SQL, LACKS_VERDICT, Rate, error_rates, ranged_rate, rate_metrics
from wildtool.stats.tables import Table, TableNumber, error_table, usual_tables
from wildtool.types import Metric

_ASKED_NOTE = "answered with a question instead; counted as right in Chat"
_AP_NOTES: Mapping[str, str] = dict.fromkeys(
    ("official", "paper"),
    "steps per gold call up to the first mistake, which counts, too: a model without a right call is above 0 %, and since"
    " calls made together are one step, a perfect run can stay below 100 %",
)
_TYPE_GROUPS = ("Single-Tool", "Multi-Tool", "Clarify", "Chat")


def _accuracy(verdicts: Any, profile: str) -> Iterator[TableNumber]:
    yield Rate("accuracy", "task", "TRUE", headline=True)
    yield _sessions(verdicts)


def _by_type(verdicts: Any, profile: str) -> Iterator[Rate]:
    for name in ("Single-Tool", "Multi-Tool", *(n for n in TASK_TYPES if "Multi" in n), "Clarify", "Chat"):
        note = CHAT_NOTE if name == "Chat" else ""
        yield Rate("task type", name, _is_type(name), headline=name in _TYPE_GROUPS, note=note)


def _orchestration(verdicts: Any, profile: str) -> Iterator[Rate]:
    """Accuracy, OP over parallel and mixed tasks, AP over sequential and mixed ones, as the profile tells them apart.

    The official AP can exceed 1: steps are no nodes (Q29), and nodes are counted in another list (Q01).
    """
    for name in ("parallel", "sequential", "mixed"):
        yield Rate("orchestration", name, f"orchestration = '{name}'")
    for name, where in _cuts("parallel", "mixed"):
        optimal = "CAST(optimal AS INTEGER)"
        yield Rate("optimal path (OP)", name, where, optimal, headline=name == "total")
    for name, where in _cuts("sequential", "mixed"):
        note = _AP_NOTES.get(profile, "") if name == "total" else ""
        yield Rate(
            "accomplish progress (AP)",
            name,
            where,
            "ap_done",
            "ap_total",
            headline=name == "total",
            note=note,
        )
    for name, where in _cuts("sequential", "mixed"):
        yield Rate("accomplish progress (nodes done / nodes)", name, where, "nodes_done", "nodes")


def _cuts(*kinds: str) -> Iterable[tuple[str, str]]:
    names = ", ".join(f"'{kind}'" for kind in kinds)
    yield "total", f"orchestration IN ({names})"
    yield from ((kind, f"orchestration = '{kind}'") for kind in kinds)


def _sessions(verdicts: Any) -> Metric:
    """Sessions whose tasks are all correct; each repeat of a session counts, clustered by session."""
    sessions = verdicts.aggregate(
        f"item, repeat, MIN(CAST(correct AS INTEGER)) AS whole, MIN(CAST(correct OR {LACKS_VERDICT} AS INTEGER)) AS best",
        "item, repeat",
    )
    rows = sessions.aggregate("item, SUM(whole), SUM(best), COUNT(*)", "item").fetchall()
    rate = Rate("accuracy", "session", "", headline=True)
    counted = [(float(right), float(count)) for _, right, _, count in rows]
    return ranged_rate(rate, counted, [(float(best), float(count)) for _, _, best, count in rows])


def _asked_back(verdicts: Any, profile: str) -> Iterator[Metric]:
    """Chat tasks that were answered with a question; they count as right, as any text does. None of earlier versions."""
    if "asked_back" not in verdicts.columns:
        return
    ((questions, chats),) = verdicts.aggregate(
        "COUNT(*) FILTER (asked_back), COUNT(*) FILTER (task_type = 'Chat')"
    ).fetchall()
    yield Metric("task type", "Chat, asked back", None, questions, chats, kind="count", note=_ASKED_NOTE)


_CALL_DUE = "gold_calls > 0 AND task_type NOT IN ('Clarify', 'Chat') AND outcome IN ('correct', 'wrong')"
"""Answered tasks that begin with a call."""

_STARTED = "CAST(COALESCE(nodes_done, 0) > 0 AS INTEGER)"


def _calls(verdicts: Any, profile: str) -> Iterator[Rate]:
    """Whether a model calls at all, and starts right: what a score near zero does not say."""
    with_call, without = "CAST(COALESCE(calls, 0) > 0 AS INTEGER)", "CAST(COALESCE(calls, 0) = 0 AS INTEGER)"
    yield Rate("calls", "called where a call was expected", _CALL_DUE, with_call)
    yield Rate("calls", "first step right where a call was expected", _CALL_DUE, _STARTED)
    yield Rate("calls", "text where a call was expected", _CALL_DUE, without, better="less")
    chat = "task_type = 'Chat' AND outcome IN ('correct', 'wrong')"
    yield Rate("calls", "called in Chat, where none was expected", chat, with_call, better="less")


_BEFORE = "(PARTITION BY item, repeat ORDER BY position)"
WENT_BEFORE = "what went before"


def _went_before(verdicts: Any, profile: str) -> list[Metric]:
    """Accuracy by kind and outcome of the task before; those after a task without a verdict are in no row."""
    rows = verdicts.project(
        f"*, lag(task_type) OVER {_BEFORE} AS type_before, lag(outcome) OVER {_BEFORE} AS outcome_before"
    )
    rates = [
        Rate(
            WENT_BEFORE,
            f"after {name}, {words}",
            f"{_is_type(name, 'type_before')} AND outcome_before = '{outcome}'",
        )
        for name in _TYPE_GROUPS
        for outcome, words in (("correct", "right"), ("wrong", "wrong"))
    ]
    return [metric for metric in rate_metrics(rows, rates) if metric.denominator]


def _is_type(name: str, column: str = "task_type") -> str:
    return f"{column} LIKE '%Multi-Tool%'" if name == "Multi-Tool" else f"{column} = '{name}'"


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


_ERRORS_ABOUT = (
    "The paper's Table 4: what went wrong, as shares of the wrong tasks; the shares of a model add up to 100"
    " %. The first mistake decides. Refusal, Wrong Name / Missing Info, Wrong Refusal, Redundant Call, Call"
    " Error and Early Termination are wrong actions; the three Param classes are right actions with wrong"
    " arguments. Unreadable Call and Unusable Gold are ours: calls that cannot be read, and gold that admits"
    " no right answer. A better model makes fewer mistakes, not other shares: read this page for the kind of"
    " mistake, the overview for how many."
)
TABLES = (
    Table(
        numbers=_accuracy,
        formulas={"accuracy: session": "sessions whose tasks are all correct, divided by sessions"},
    ),
    Table(
        title="Types and positions",
        about="Accuracy by what a task asks for and by its place in the session. Single-Tool needs one call; Multi-Tool"
        " needs several, and its three kinds say whether these are independent (Parallel), a chain (Sequential) or"
        " both (Mixed); Clarify needs a question to the user first; Chat needs no call at all, and any text passes"
        " there, as published, whatever it says (in the profile fixed, “Chat, asked back” counts the answers that were"
        " questions). A model that calls too readily loses in Clarify and Chat, one that asks too readily loses in"
        " the others. Positions 1 to 4 are the tasks of a session in order: each later task has a longer history,"
        " and that history is gold, so a fall from left to right shows what long context costs and not the model's own"
        " earlier mistakes; in a run with --history own it shows both.",
        numbers=_by_type,
        groups=("task type", "position", "gold calls", "turns"),
        matrices=(("task type", "position"),),
    ),
    Table(numbers=_asked_back, profiles=("fixed",)),
    Table(
        measures={"position": CORRECT_SQL}, cuts={str(place): f"position = {place}" for place in range(1, 5)}
    ),
    Table(
        title="Hidden intent",
        about="The paper's Figure 6: accuracy by where the user's intent is hidden. The first task of a session says"
        " everything (First Turn); all later ones (Subsequent Turn) leave something out. Coreferential Reference"
        " points back (“book that one”), Partial Information leaves out what was said before, Long-Range"
        " Dependency needs something from more than one task ago. Compare each bar with First Turn: the gap is the"
        " price of intent that must be gathered.",
        measures={"hidden intent": CORRECT_SQL},
        cuts={
            "First Turn": "subtype = 'First Turn'",
            "Subsequent Turn": "subtype <> 'First Turn'",
            **{name: f"subtype = '{name}'" for name in SUBTYPES},
        },
    ),
    Table(
        title="Instruction transitions",
        about="The paper's Figure 7: accuracy by how often the kind of task (one tool, several tools, clarify, chat)"
        " changes within a session, from 0 (all four of one kind) to 3 (never the same kind twice in a row). The"
        " band is the 95 % interval, clustered by session; some points rest on few sessions, so look at the"
        " band before the slope.",
        measures={"instruction transitions": CORRECT_SQL},
        cuts={str(number): f"transitions = {number}" for number in range(4)},
        chart="lines",
        axis="instruction transitions",
    ),
    Table(
        title="What went before",
        about="Accuracy by the kind of the task before, and by whether that was right: what was done before may bias what"
        " comes next (self-conditioning). With gold history the model never sees its own earlier answer, so a gap between"
        " right and wrong says only that some sessions are harder; in a run with --history own it holds both. Compare the"
        " two runs (wildtool compare GOLD OWN) for the effect itself, paired on the same tasks. First tasks, and tasks"
        " after one without a verdict, are in no row.",
        numbers=_went_before,
        groups=(WENT_BEFORE,),
        formulas={
            WENT_BEFORE: "right tasks of those that follow a task of that kind and outcome in their session, divided by"
            " these tasks"
        },
    ),
    Table(
        numbers=_calls,
        formulas={
            "calls": "answered tasks of that kind in which it was so, divided by answered tasks of that kind"
        },
    ),
    Table(
        measures={"gold calls": CORRECT_SQL},
        cuts={
            **{str(number): f"gold_calls = {number}" for number in range(5)},
            "5 or more": "gold_calls >= 5",
        },
    ),
    Table(
        measures={"turns": CORRECT_SQL},
        cuts={**{str(number): f"turns = {number}" for number in range(1, 6)}, "6 or more": "turns >= 6"},
    ),
    Table(
        title="Orchestration",
        about="The paper's Table 3: how tasks with several calls are carried out, by the shape of their gold graph."
        " Accuracy counts tasks that are right in every step. Optimal path (OP), for parallel and mixed graphs,"
        " counts those that were also done in as few steps as the graph allows, so it shows who makes independent"
        " calls together. Accomplish progress (AP), for sequential and mixed graphs, is the share of the way that"
        " was gone before the first mistake. Published AP divides steps by gold calls and can exceed 1; nodes done"
        " / nodes is the same thing with one unit in both places.",
        numbers=_orchestration,
        step_groups={"optimal path (OP)": (), "accomplish progress (AP)": ("official", "paper")},
        groups=(
            "orchestration",
            "optimal path (OP)",
            "accomplish progress (AP)",
            "accomplish progress (nodes done / nodes)",
        ),
        note="A perfect run need not have an AP or an OP of 100 %. Published AP divides steps by gold calls: a run that"
        " makes independent calls together needs fewer steps, so its AP is below 100 %, and one that makes them one by"
        " one reaches 100 % but has an OP of 0 %, since it takes more steps than the graph allows. Nodes done / nodes has"
        " no such gap.",
    ),
    error_table(error_classes.ALL, _ERRORS_ABOUT, profiles=("official", "fixed")),
    error_table(error_classes.PAPER_COLUMNS, _ERRORS_ABOUT, profiles=("paper",)),
    Table(
        title="Error labels",
        about="The twelve labels of the evaluator behind the paper, from which its Table 4 is counted; shares of the"
        " wrong tasks.",
        numbers=lambda verdicts, profile: error_rates("error labels", LABEL_COLUMNS, "error_label"),
        groups=("error labels",),
        chart="stacked",
        profiles=("paper",),
    ),
    *usual_tables(
        "task",
        "What a task took on average: model calls, tokens as the endpoint reports them, seconds per call as"
        " measured here. Tokens of different models are not the same length, and time depends on the endpoint's"
        " load; steps compare well.",
        not_scorable=_not_scorable,
    ),
)
"""The numbers, in order, and the pages."""


# Published ------------------------------------------------------------------------------------------


MetricColumns = dict[str, tuple[str, str]]
"""Column of a table to (group, name) of the metric it is."""

ACCURACY_METRICS: MetricColumns = {
    "session_accuracy": ("accuracy", "session"),
    "task_accuracy": ("accuracy", "task"),
    "single_tool": ("task type", "Single-Tool"),
    "multi_tool": ("task type", "Multi-Tool"),
    "clarify": ("task type", "Clarify"),
    "chat": ("task type", "Chat"),
    **{f"task_{i}": ("position", str(i)) for i in range(1, 5)},
}
ORCHESTRATION_METRICS: MetricColumns = {
    **{f"acc_{shape}": ("orchestration", shape) for shape in ("parallel", "sequential", "mixed")},
    "op_overall": ("optimal path (OP)", "total"),
    **{f"op_{shape}": ("optimal path (OP)", shape) for shape in ("parallel", "mixed")},
    "ap_overall": ("accomplish progress (AP)", "total"),
    **{f"ap_{shape}": ("accomplish progress (AP)", shape) for shape in ("sequential", "mixed")},
}
ERROR_METRICS: MetricColumns = {
    "refusal": ("errors", error_classes.REFUSAL),
    "wrong_name_or_missing_info": ("errors", error_classes.MISSING_INFO),
    "wrong_refusal": ("errors", error_classes.WRONG_REFUSAL),
    "redundant_call": ("errors", error_classes.REDUNDANT),
    "call_error": ("errors", error_classes.CALL_ERROR),
    "early_termination": ("errors", error_classes.EARLY_END),
    "param_type_error": ("errors", error_classes.PARAM_TYPE),
    "param_hallucination": ("errors", error_classes.PARAM_HALLUCINATION),
    "param_value_error": ("errors", error_classes.PARAM_VALUE),
}


_NOTES = {("task type", "Chat"): CHAT_NOTE}
_PUBLISHED = {
    "wildtoolbench_table6_accuracy": ACCURACY_METRICS,
    "wildtoolbench_table7_orchestration": ORCHESTRATION_METRICS,
    "wildtoolbench_table8_errors": ERROR_METRICS,
}


def _published() -> list[Published]:
    return [
        row
        for name, metrics in _PUBLISHED.items()
        for row in as_metrics(name, metrics, "paper", notes=_NOTES)
    ]


PUBLISHED = partial(_published)
"""Each model of Tables 6 to 8, once per table; the first number of the first table is the headline."""
