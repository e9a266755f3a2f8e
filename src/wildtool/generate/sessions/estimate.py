"""What making sessions by models would take, before anything is asked: from a trial with scripted models."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from wildtool.engine.call.pricing import tokens_of
from wildtool.engine.run.estimate import Outlook, Taken
from wildtool.generate.core.roles import voters
from wildtool.generate.procedural.sessions import subset
from wildtool.generate.sessions.maker import SessionMaker
from wildtool.generate.sessions.task import Job

BASIS = "64 sessions of 4 tasks, half of them Chinese, made by scripted models whose replies are short and never refused"
"""What `TRIAL` was measured on (`tests/generate/test_estimates.py` measures it again)."""
TIMES_CALLS, TIMES_WORDS = 2, 4
ABOVE = "each reply refused once, and all that is said four times as long"
"""What the upper end allows for."""
_TASKS = 4
_SAMPLED = 200
"""Planned sessions whose tools are measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one role took in the trial."""

    calls: float
    """Of a session."""
    instruction: float
    """Tokens of its instruction, of one call as all that follows."""
    talk: float
    """Tokens of the conversation and whatever else it is shown besides the tools."""
    reply: float
    """Tokens that it says."""


TRIAL: Mapping[str, Measured] = {
    "user": Measured(5.3, 330, 146, 74),
    "judge": Measured(4.0, 152, 236, 11),
    "planner": Measured(8.7, 563, 225, 43),
    "agent": Measured(5.3, 140, 208, 8),
    "checker": Measured(9.8, 203, 194, 14),
    "tool": Measured(3.4, 206, 252, 37),
}


def making_outlook(maker: SessionMaker) -> dict[str, Outlook]:
    """Calls and tokens of each role. Raises DataError for tools that cannot be read."""
    order = maker.order
    sizes = [_tools(item.data) for item in islice(maker.load(maker.source()), _SAMPLED)]
    tools = sum(sizes) / len(sizes)
    found: dict[str, Outlook] = {}
    for role, seen in TRIAL.items():
        calls = seen.calls * order.sessions * order.tasks / _TASKS
        low = Taken(round(calls), calls * (seen.instruction + tools + seen.talk), calls * seen.reply)
        more = calls * TIMES_CALLS
        high = Taken(
            round(more),
            more * (seen.instruction + tools + TIMES_WORDS * seen.talk),
            more * TIMES_WORDS * seen.reply,
        )
        found |= dict.fromkeys(voters(role, order.voters.get(role, 1)), Outlook(low, high))
    return found


def _tools(job: Job) -> float:
    """Tokens of the tools of a planned session."""
    tools = [tool.definition["function"] for tool in subset(job.plan, job.sets, 0)]
    return tokens_of(json.dumps(tools, ensure_ascii=False))
