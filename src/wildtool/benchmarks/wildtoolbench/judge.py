"""Replies to verdicts, under each profile; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from wildtool.benchmark import Benchmark, Check
from wildtool.benchmarks.wildtoolbench import error_classes
from wildtool.benchmarks.wildtoolbench.data import VIRTUAL, Session, Task, cached_per_session
from wildtool.benchmarks.wildtoolbench.episode import WildToolBenchRules
from wildtool.benchmarks.wildtoolbench.fixed.episode import FixedEpisode, fixed_schedule
from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT
from wildtool.benchmarks.wildtoolbench.official.episode import UNREADABLE_CALLS, OfficialEpisode
from wildtool.benchmarks.wildtoolbench.official.judge import (
    NO_GOLD,
    OfficialScore,
    object_schemas,
    score_task,
)
from wildtool.benchmarks.wildtoolbench.paper.judge import judge_paper
from wildtool.benchmarks.wildtoolbench.rule_words import rule_in_words
from wildtool.toolcall.graph import topology
from wildtool.types import FieldValue, Item, Message


@cached_per_session
def task_fields(session: Session, position: int) -> Mapping[str, FieldValue]:
    """What is known of a task before any reply."""
    task = session.tasks[position]
    calls = [i for i, node in enumerate(task.nodes) if node.name not in VIRTUAL]
    place = {node: i for i, node in enumerate(calls)}
    deps = [[place[d] for d in task.nodes[node].deps if d in place] for node in calls]
    return {
        "task_type": task.type,
        "position": position + 1,
        "subtype": task.subtype,
        "transitions": session.transitions,
        "gold_calls": len(calls),
        "turns": len(fixed_schedule(session, position).shortest),
        "topology": topology(deps),
        "nodes": len(task.nodes),
        "asked_back": None,
    }


def fields(benchmark: Benchmark, item: Item, unit: str) -> Mapping[str, FieldValue]:
    """What is known of a unit before any reply."""
    return task_fields(item.data, item.units.index(unit))


# Official --------------------------------------------------------------------------------------------


_ORCHESTRATION_BY_TYPE = {
    "Parallel Multi-Tool": "parallel",
    "Sequential Multi-Tool": "sequential",
    "Mixed Multi-Tool": "mixed",
}
"""What a task counts as in OP and AP by its label in the record (Q30)."""


def judge_official(episode: OfficialEpisode, session: Session, position: int) -> Check:
    """The published evaluator's verdict; AP and OP count the task types its reports count."""
    task = session.tasks[position]
    result = score_task(episode, task.nodes, object_schemas(session))
    correct = result.label == CORRECT
    error, reason = (
        (None, "every step matched") if correct else _official_fault(episode, session, task, result)
    )
    counts = session.answer_counts
    columns: dict[str, FieldValue] = {
        "optimal": result.optimal,
        "orchestration": _ORCHESTRATION_BY_TYPE.get(task.type, "none"),
        "ap_done": result.complete_step,
        "ap_total": len(task.nodes) if counts is None else counts[position],
        "nodes_done": sum(len(step.matched) for step in _steps_before_fault(episode, result)),
        "error_label": None if correct else episode.reason or _first_bad_check(result),
        "reference_error": None if result.reference_error is None else ": ".join(result.reference_error),
    }
    return Check(correct, error, reason, None, columns, _official_detail(episode, result), len(episode.log))


def _steps_before_fault(episode: OfficialEpisode, result: OfficialScore) -> Sequence[Any]:
    bad = next(
        (number for number, checks in result.checks.items() if set(checks) != {CORRECT}), len(episode.log)
    )
    return episode.log[:bad]


def _first_bad_check(result: OfficialScore) -> str | None:
    return next((check for checks in result.checks.values() for check in checks if check != CORRECT), None)


def _official_fault(
    episode: OfficialEpisode, session: Session, task: Task, result: OfficialScore
) -> tuple[str, str]:
    """Error class and reason of a task the original calls wrong, from the step that decided."""
    bad = _first_bad_check(result)
    if bad is not None:
        return class_of_check(bad), rule_in_words(bad)
    raised = f" (the original raises {result.reference_error[1]})" if result.reference_error else ""
    if not episode.schedule.executable or not task.nodes:
        return error_classes.UNUSABLE_GOLD, f"the gold graph has no path{raised}"
    if (episode.reason or episode.raised or "").startswith((UNREADABLE_CALLS, "TypeError", "RecursionError")):
        return error_classes.UNREADABLE, f"{rule_in_words(episode.reason or UNREADABLE_CALLS)}{raised}"
    stage, text = result.reference_error or ("", "")
    if stage == "scoring" and text != NO_GOLD:
        missing = next(
            (n.name for n in task.nodes if n.name not in VIRTUAL and n.name not in _names(session)), None
        )
        if missing:
            return error_classes.UNUSABLE_GOLD, f"gold calls {missing}, which is not in the tool list{raised}"
        return error_classes.UNREADABLE, f"arguments cannot be read{raised}"
    error, reason = unfit_reply(episode, session, task, episode.log[-1].reply if episode.log else {})
    return error, f"{reason}{raised}"


def unfit_reply(episode: OfficialEpisode, session: Session, task: Task, reply: Message) -> tuple[str, str]:
    """Error class and reason of a reply that fitted no step of the gold graph."""
    fulfilled = {node for step in episode.log for node in step.matched}
    calls = reply.get("tool_calls")
    if not calls:
        return error_classes.classify_text(task.nodes, fulfilled, empty=not reply.get("content"))
    if (name := _unexpected_call(calls, task, fulfilled)) is None:
        return error_classes.UNREADABLE, rule_in_words(episode.reason or UNREADABLE_CALLS)
    return error_classes.classify_call(task.nodes, fulfilled, name, _names(session))


def _names(session: Session) -> set[str]:
    return {tool["function"]["name"] for tool in session.sent_tools}


def _unexpected_call(calls: Any, task: Task, fulfilled: set[int]) -> str | None:
    """The name of the first call that no ready gold call is left for; the first name if the set as a whole is odd."""
    try:
        names = [call["function"]["name"] for call in calls]
    except (KeyError, TypeError):
        return None
    if not all(isinstance(name, str) for name in names):
        return None
    ready = [
        node.name
        for i, node in enumerate(task.nodes)
        if i not in fulfilled and node.name not in VIRTUAL and set(node.deps) <= fulfilled
    ]
    for name in names:
        if name not in ready:
            return name
        ready.remove(name)
    return names[0]


def class_of_check(check: str) -> str:
    table = (
        ("invalid json", error_classes.UNREADABLE),
        ("comparison failed", error_classes.UNUSABLE_GOLD),
        ("type inconsistent", error_classes.PARAM_TYPE),
        ("args missing", error_classes.PARAM_TYPE),
        ("not defined", error_classes.PARAM_HALLUCINATION),
        ("(extra:", error_classes.PARAM_HALLUCINATION),
        (", extra:", error_classes.PARAM_HALLUCINATION),
    )
    return next((error for text, error in table if text in check), error_classes.PARAM_VALUE)


def _official_detail(episode: OfficialEpisode, result: OfficialScore) -> dict[str, Any]:
    return {
        "steps": [
            {
                "matched": list(step.matched),
                "correct": step.correct,
                **({"checks": result.checks[number]} if number in result.checks else {}),
                **({"deleted": True} if number == result.deleted else {}),
            }
            for number, step in enumerate(episode.log)
        ]
    }


# Fixed -----------------------------------------------------------------------------------------------


def judge_fixed(episode: FixedEpisode, session: Session, position: int) -> Check:
    """The corrected verdict: AP counts gold nodes done before the first fault, OP every task that allows a choice."""
    task = session.tasks[position]
    fields = task_fields(session, position)
    fault = episode.fault
    columns: dict[str, FieldValue] = {
        "optimal": episode.optimal,
        "orchestration": fields["topology"],
        "ap_done": episode.progress,
        "ap_total": len(task.nodes),
        "nodes_done": episode.progress,
        "error_label": fault.reason if fault else None,
        "reference_error": None,
        "asked_back": episode.correct and episode.asked_back if task.type == "Chat" else None,
    }
    detail: dict[str, Any] = {"steps": [{"matched": list(step.nodes)} for step in episode.log]}
    if fault and fault.differences:
        detail["differences"] = [
            {key: value for key, value in asdict(d).items() if key in ("path", "rule", "message")}
            for d in fault.differences
        ]
    reason = fault.reason if fault else "every call bound, in a legal order"
    error = fault.error if fault else None
    return Check(episode.correct, error, reason, None, columns, detail, len(episode.log))


# Paper -----------------------------------------------------------------------------------------------


def judge_paper_profile(episode: OfficialEpisode, session: Session, position: int) -> Check:
    """The verdict of the evaluator that the paper's tables come from."""
    task = session.tasks[position]
    result = judge_paper(episode, task, session.sent_tools)
    columns: dict[str, FieldValue] = {
        "orchestration": _PAPER_STRUCTURES[result.structure],
        "optimal": result.optimal and result.correct,
        "ap_done": result.complete,
        "ap_total": result.total,
        "nodes_done": result.complete,
        "error_label": result.error_type,
        "reference_error": None,
    }
    reason = rule_in_words(result.error_type) if result.error_type else "every call right"
    detail = {"steps": [{"matched": list(step.matched), "correct": step.correct} for step in episode.log]}
    return Check(result.correct, result.column, reason, None, columns, detail, len(episode.log))


_PAPER_STRUCTURES = {None: "none", "combine": "parallel", "serial": "sequential", "cs": "mixed"}


RULES = {
    rules.name: rules
    for rules in (
        WildToolBenchRules("official", OfficialEpisode, judge_official),
        WildToolBenchRules("fixed", FixedEpisode, judge_fixed),
        # It shows what `official` shows and judges it in another way.
        WildToolBenchRules("paper", OfficialEpisode, judge_paper_profile),
    )
}
"""The rules of each profile."""
rules_of = RULES.__getitem__
