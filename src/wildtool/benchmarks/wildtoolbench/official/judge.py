"""The published evaluator's scoring of one task; what it would have raised is named instead.

Section "Argument checking" and quirks Q26 to Q32 of the evaluator's specification.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import VIRTUAL, GoldNode, Session, cached_per_session
from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT, argument_schemas, argument_verdict
from wildtool.benchmarks.wildtoolbench.official.episode import LoggedStep, OfficialEpisode

ERROR_LABEL = "error"
NO_GOLD = "KeyError: 'inference_answer'"
"""What the original ends with where a step has no gold data (Q26)."""


@dataclass(slots=True)
class OfficialScore:
    """What the original decides about one task."""

    name_label: str
    arguments_label: str | None
    label: str
    optimal: bool
    complete_step: int
    """Steps left in the log: the numerator of AP."""
    checks: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """For each checked step the argument check results, in aligned order."""
    deleted: int | None = None
    """The step that argument checking removes from the log (Q28)."""
    reference_error: tuple[str, str] | None = None
    """Stage (`inference` or `scoring`) and exception where the original raises on this task."""


@cached_per_session
def object_schemas(session: Session) -> dict[str, dict[str, Any]]:
    """Object schemas of the tools that a session sends, by name."""
    return argument_schemas(session.sent_tools)


def score_task(
    episode: OfficialEpisode, nodes: Sequence[GoldNode], schemas: Mapping[str, Mapping[str, Any]]
) -> OfficialScore:
    """Labels of one finished episode. Where the original raises the task is wrong and `reference_error` is set."""
    raised = episode.history_raised or episode.raised
    result = OfficialScore(
        CORRECT if episode.name_correct else ERROR_LABEL, None, ERROR_LABEL, episode.optimal, len(episode.log)
    )
    if raised:
        result.reference_error = ("inference", raised)
    if episode.raised:
        return result
    try:
        bad = _check_steps(episode.log, nodes, schemas, result)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError) as error:
        result.reference_error = result.reference_error or ("scoring", f"{type(error).__name__}: {error}")
        result.optimal = False
        return result
    result.complete_step = len(episode.log) - (result.deleted is not None)
    if result.name_label == CORRECT:
        result.arguments_label = ERROR_LABEL if bad else CORRECT
        result.label = result.arguments_label
    result.optimal = result.optimal and not bad
    return result


def _check_steps(
    log: Sequence[LoggedStep],
    nodes: Sequence[GoldNode],
    schemas: Mapping[str, Mapping[str, Any]],
    result: OfficialScore,
) -> bool:
    """Checks the arguments step by step up to the first bad one; True if there is a bad one."""
    bad = False
    for number, step in enumerate(log):
        if bad:
            # After an argument error one step is removed and a name error there is forgotten.
            result.name_label = CORRECT
            result.deleted = number
            break
        if not step.has_gold:
            raise KeyError("inference_answer")
        if step.correct and nodes[step.matched[0]].name not in VIRTUAL:
            result.checks[number] = check_step(step, nodes, schemas)
            bad = any(check != CORRECT for check in result.checks[number])
    return bad


def check_step(
    step: LoggedStep, nodes: Sequence[GoldNode], schemas: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Argument check of one matched step: calls and gold nodes paired by sorted name and argument text (Q31)."""
    functions = [call["function"] for call in step.reply["tool_calls"]]
    predicted = sorted((function["name"], function["arguments"]) for function in functions)
    gold = sorted((nodes[n].name, nodes[n].argument_text) for n in step.matched)
    return [
        argument_verdict(schemas, name, text, gold_text)
        for (name, text), (_, gold_text) in zip(predicted, gold, strict=True)
    ]
