"""What one reply is worth, for training."""

from typing import Any, cast

from wildtool.benchmark import StepCheck
from wildtool.benchmarks.acebench import error_classes
from wildtool.benchmarks.acebench.data import AgentRecord, NormalRecord
from wildtool.benchmarks.acebench.episode.base import AgentEpisode
from wildtool.benchmarks.acebench.episode.error_classes import executed_calls
from wildtool.benchmarks.acebench.judge import AceBenchRules
from wildtool.types import Item

_SINGLE: dict[str, dict[str, float]] = {
    error_classes.OUTPUT_FORMAT: {"format": 0.0},
    error_classes.FUNCTION_NAME: {"format": 1.0, "name": 0.0},
    error_classes.PARAM_TYPE: {"format": 1.0, "name": 1.0, "arguments": 0.0},
    error_classes.PARAM_VALUE: {"format": 1.0, "name": 1.0, "arguments": 0.0},
    error_classes.PARAM_SET: {"format": 1.0, "name": 1.0, "arguments": 0.0},
    error_classes.UNCLEAR: {"format": 1.0, "arguments": 0.0},
    error_classes.ERROR_DETECTION: {"refusal": 0.0},
    error_classes.ERROR_CORRECTION: {"refusal": 1.0, "arguments": 0.0},
}
"""What a class of errors says of a single reply."""
_OUTCOMES: dict[str, dict[str, float]] = {
    "unreadable": {"format": 0.0},
    "unknown tool": {"format": 1.0, "name": 0.0},
    "raised": {"format": 1.0, "name": 1.0, "arguments": 0.0},
}
"""What became of a call in the sandbox; a call that ran is right in all three."""
_RAN = {"format": 1.0, "name": 1.0, "arguments": 1.0}


def step(rules: AceBenchRules, episode: Any, item: Item, unit: str) -> StepCheck:
    """What the last reply is worth. An agent can mend its mistakes, so only the end of its episode is a fault."""
    record = rules.record(item, unit)
    if isinstance(record, AgentRecord):
        return _agent_step(rules, episode, item, unit)
    check = rules.verdict(episode, item, unit)
    if check.correct:
        right = _RAN if isinstance(record, NormalRecord) else {"refusal": 1.0}
        return StepCheck(dict(right))
    return StepCheck(dict(_SINGLE.get(str(check.error), {})), check.reason)


def _agent_step(rules: AceBenchRules, episode: AgentEpisode, item: Item, unit: str) -> StepCheck:
    turns = [number for number, spoken in enumerate(episode.dialogue) if spoken.sender == "agent"]
    components: dict[str, float] = {}
    for call in executed_calls(episode):
        if call.message in turns[-1:]:
            for name, value in _OUTCOMES.get(call.outcome, _RAN).items():
                components[name] = min(value, components.get(name, 1.0))
    if not episode.done:
        return StepCheck(components)
    check = rules.verdict(episode, item, unit)
    return StepCheck(components, None if check.correct else check.reason, cast(float, check.score))
