"""Estimates calls and tokens of generating sessions, from a trial with scripted models."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from wildtool.engine.call.budget import tokens_of
from wildtool.engine.run.estimate import RoleEstimate, Usage
from wildtool.generate.core.roles import voter_names
from wildtool.generate.procedural.sessions import session_tools
from wildtool.generate.sessions.maker import SessionMaker
from wildtool.generate.sessions.task import SessionJob

SESSION_TRIAL_BASIS = (
    "64 sessions of 4 tasks, half of them Chinese, "
    "made by scripted models whose replies are short and never refused"
)
"""What `TRIAL` was measured on (`tests/generate/test_estimates.py` measures it again)."""
UPPER_CALLS_FACTOR, UPPER_TOKENS_FACTOR = 2, 4
SESSION_UPPER_END = "each reply refused once, and all that is said four times as long"
"""What the upper end allows for."""
_TASKS = 4
_SAMPLED = 200
"""Planned sessions whose tools are counted."""


@dataclass(frozen=True, slots=True)
class TrialUsage:
    """What one role took in the trial."""

    calls: float
    """Per session."""
    instruction: float
    """Tokens of its instruction per call, as all below."""
    conversation: float
    """Tokens of the conversation and all else that it is shown, without the tools."""
    reply: float
    """Tokens of its reply."""


TRIAL_USAGE: Mapping[str, TrialUsage] = {
    "user": TrialUsage(5.3, 330, 146, 74),
    "judge": TrialUsage(4.0, 152, 236, 11),
    "planner": TrialUsage(8.7, 563, 225, 43),
    "agent": TrialUsage(5.3, 140, 208, 8),
    "checker": TrialUsage(9.8, 203, 194, 14),
    "tool": TrialUsage(3.4, 206, 252, 37),
}


def estimate_sessions(maker: SessionMaker) -> dict[str, RoleEstimate]:
    """Calls and tokens of each role. Raises DataError for tools that cannot be read."""
    order = maker.spec
    sizes = [_tools(item.data) for item in islice(maker.load(maker.source()), _SAMPLED)]
    tools = sum(sizes) / len(sizes)
    found: dict[str, RoleEstimate] = {}
    for role, seen in TRIAL_USAGE.items():
        calls = seen.calls * order.sessions * order.tasks / _TASKS
        low = Usage(round(calls), calls * (seen.instruction + tools + seen.conversation), calls * seen.reply)
        more = calls * UPPER_CALLS_FACTOR
        high = Usage(
            round(more),
            more * (seen.instruction + tools + UPPER_TOKENS_FACTOR * seen.conversation),
            more * UPPER_TOKENS_FACTOR * seen.reply,
        )
        found |= dict.fromkeys(voter_names(role, order.vote_counts.get(role, 1)), RoleEstimate(low, high))
    return found


def _tools(job: SessionJob) -> float:
    """Tokens of the tools of a planned session."""
    tools = [tool.definition["function"] for tool in session_tools(job.plan, job.sets, 0)]
    return tokens_of(json.dumps(tools, ensure_ascii=False))
