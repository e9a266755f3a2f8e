"""What one reply of a task is worth under each profile, for training: where every step is without fault and the task is
done, its verdict is right, and the other way round."""

from collections.abc import Sequence
from typing import Any

from wildtool.benchmark import StepCheck
from wildtool.benchmarks.wildtoolbench import error_classes
from wildtool.benchmarks.wildtoolbench.data import VIRTUAL, GoldNode, Session
from wildtool.benchmarks.wildtoolbench.episode import WildToolBenchRules
from wildtool.benchmarks.wildtoolbench.fixed.episode import FixedEpisode
from wildtool.benchmarks.wildtoolbench.judge import class_of_check, unfit_reply
from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT
from wildtool.benchmarks.wildtoolbench.official.episode import UNREADABLE_CALLS, LoggedStep, OfficialEpisode
from wildtool.benchmarks.wildtoolbench.official.judge import check_step, object_schemas
from wildtool.types import Item, Message

_RIGHT_CALLS = {"format": 1.0, "name": 1.0, "order": 1.0, "redundancy": 1.0, "arguments": 1.0}
_BLAMED = {
    error_classes.REFUSAL: "refusal",
    error_classes.MISSING_INFO: "refusal",
    error_classes.WRONG_REFUSAL: "refusal",
    error_classes.EARLY_END: "refusal",
    error_classes.REDUNDANT: "redundancy",
    error_classes.CALL_ERROR: "name",
    error_classes.PARAM_TYPE: "arguments",
    error_classes.PARAM_HALLUCINATION: "arguments",
    error_classes.PARAM_VALUE: "arguments",
    error_classes.UNREADABLE: "format",
}
"""The component that a class of errors is about."""
_BEFORE = {"arguments": ("name", "order", "redundancy"), "order": ("name",)}
"""What is right wherever a component is wrong, since it is looked at first."""
_Fault = tuple[str, str]
"""Error class and reason."""


def step(rules: WildToolBenchRules, episode: Any, item: Item, unit: str) -> StepCheck:
    """What the last reply of a task is worth. The rules behind the paper's tables judge whole tasks only."""
    session: Session = item.data
    position = item.units.index(unit)
    if rules.name == "paper":
        return StepCheck()
    nodes = session.tasks[position].nodes
    if isinstance(episode, FixedEpisode):
        return _fixed_step(episode, nodes)
    return _official_step(episode, session, position, nodes)


def _fixed_step(episode: FixedEpisode, nodes: Sequence[GoldNode]) -> StepCheck:
    if not episode.log:
        return StepCheck(fault=episode.fault.reason if episode.fault else None)
    last, fault = episode.log[-1], episode.fault
    progress = _share(nodes, [step.nodes for step in episode.log]) if episode.done else None
    if fault is None:
        return StepCheck(_right(nodes, last.nodes), progress=progress)
    return StepCheck(_blamed(last.reply, (fault.error, fault.reason)), fault.reason, progress)


def _official_step(
    episode: OfficialEpisode, session: Session, position: int, nodes: Sequence[GoldNode]
) -> StepCheck:
    log, raised = episode.log, episode.raised
    last = log[-1] if log and not raised else None
    components: dict[str, float] = {}
    if last is not None and last.correct:
        wrong = _wrong_arguments(last, session, nodes)
        components = _right(nodes, last.matched) if wrong is None else _blamed(last.reply, wrong)
        fault = None if wrong is None else wrong[1]
    else:
        reply = last.reply if last else episode.raised_at or {}
        unfit = unfit_reply(episode, session, session.tasks[position], reply)
        if (episode.reason or raised or "").startswith((UNREADABLE_CALLS, "TypeError", "RecursionError")):
            unfit = error_classes.UNREADABLE, episode.reason or raised or ""
        if nodes and episode.schedule.executable:
            components = _blamed(reply, unfit)
        fault = unfit[1]
    is_over = episode.done or fault is not None
    return StepCheck(components, fault, _official_progress(episode, session, nodes) if is_over else None)


def _official_progress(episode: OfficialEpisode, session: Session, nodes: Sequence[GoldNode]) -> float | None:
    matched: list[Sequence[int]] = []
    for step in episode.log:
        if not step.correct or _wrong_arguments(step, session, nodes) is not None:
            break
        matched.append(step.matched)
    return _share(nodes, matched)


def _wrong_arguments(step: LoggedStep, session: Session, nodes: Sequence[GoldNode]) -> _Fault | None:
    """The first wrong argument of a step whose names are right, as the published evaluator finds it."""
    if nodes[step.matched[0]].name in VIRTUAL:
        return None
    try:
        checks = check_step(step, nodes, object_schemas(session))
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError) as error:
        return error_classes.UNREADABLE, f"the original raises {type(error).__name__}: {error}"
    bad = next((check for check in checks if check != CORRECT), None)
    return None if bad is None else (class_of_check(bad), bad)


def _right(nodes: Sequence[GoldNode], matched: Sequence[int]) -> dict[str, float]:
    return {"refusal": 1.0} if nodes[matched[0]].name in VIRTUAL else dict(_RIGHT_CALLS)


def _blamed(reply: Message, fault: _Fault) -> dict[str, float]:
    """The components that a wrong reply put to the test: the one that is wrong, and those that were right before it."""
    error, reason = fault
    if error == error_classes.UNUSABLE_GOLD:
        return {}
    blamed = _BLAMED[error]
    if error == error_classes.CALL_ERROR and error_classes.NOT_DUE in reason:
        blamed = "order"
    has_calls = bool(reply.get("tool_calls"))
    if not has_calls and reason.startswith("an empty reply"):
        blamed = "format"
    readable = {"format": 1.0} if has_calls else {}
    return {**readable, **dict.fromkeys(_BEFORE.get(blamed, ()), 1.0), blamed: 0.0}


def _share(nodes: Sequence[GoldNode], matched: Sequence[Sequence[int]]) -> float | None:
    """Share of the gold calls that were matched; None of a task without any."""
    calls = {number for number, node in enumerate(nodes) if node.name not in VIRTUAL}
    reached = calls.intersection({number for step in matched for number in step})
    return len(reached) / len(calls) if calls else None
