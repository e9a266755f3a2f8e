"""One session made by role models, as a pure state machine: it yields requests and is sent the replies.

Nothing but plan and replies decides what comes out, so that a record replays to the same session. What breaks a rule
is sent back to its role; after some tries the task is begun again, then the session with other tools, then it is lost.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wildtool.benchmarks.wildtoolbench.grounding import Passage
from wildtool.generate.core.roles import Event, LostError, Roles, Talk
from wildtool.generate.procedural.sessions import provenance, subset
from wildtool.generate.sessions.state import State
from wildtool.generate.sessions.task import Job, TaskScript

TASK_TRIES = 2
SESSION_TRIES = 2


@dataclass(frozen=True, slots=True)
class Made:
    """A session that kept all rules."""

    record: dict[str, Any]
    """In the benchmark's format."""
    tally: Mapping[str, int]
    """How often what happened, such as `planner asked` or `planner refused P7`."""
    seen: int
    """Requests that it took."""
    events: Sequence[Event]
    """All replies of the try that came to it."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A session that came to nothing."""

    reason: str
    """Short and stable: role and rule that the last try failed by."""
    detail: str
    """What was wrong, for each try."""
    tally: Mapping[str, int]
    seen: int


def script(job: Job) -> Talk[Made | Loss]:
    """Makes one session: yields what to ask, returns what came of it."""
    tally: Counter[str] = Counter()
    problems: list[str] = []
    reason = ""
    for attempt in range(SESSION_TRIES):
        try:
            record, events = yield from _session(job, attempt, tally)
        except LostError as lost:
            reason = lost.reason
            problems.append(str(lost))
            continue
        return Made(record, dict(tally), tally["requests"], events)
    return Loss(reason, " | ".join(problems), dict(tally), tally["requests"])


def _session(job: Job, attempt: int, tally: Counter[str]) -> Talk[tuple[dict[str, Any], Sequence[Event]]]:
    """One try of a session."""
    tools = [tool.definition for tool in subset(job.plan, job.sets, attempt)]
    roles = Roles(job.plan, tools, tally)
    state = State(known=[Passage.of(roles.date)])
    for t in range(len(job.plan.tasks)):
        state = yield from _task(job, roles, state, t, attempt)
    plan = {**asdict(job.plan), "date": job.plan.date.isoformat()}
    about = provenance(job.plan, len(job.sets), attempt, built_in_tools=job.built_in)
    made_by = {"plan": plan, "attempt": attempt, **about, "review": state.doubtful}
    return {**state.record(job.plan, tools), "made_by": made_by}, roles.events


def _task(job: Job, roles: Roles, before: State, t: int, session_attempt: int) -> Talk[State]:
    """Task `t` added to a state. Raises LostError after the last try."""
    for attempt in range(TASK_TRIES):
        last = attempt == TASK_TRIES - 1
        begun = len(roles.events)
        draw = job.plan.stream(f"task/{session_attempt}/{t}/{attempt}")
        task = TaskScript(job, roles, before.copy(), t, draw, first=session_attempt == attempt == 0)
        try:
            # What is nearly right is taken under its right name at the last try, and counted.
            yield from task.play(relabel=last)
        except LostError as lost:
            roles.tally[f"task lost {lost.reason}"] += 1
            for event in roles.events[begun:]:
                event.accepted = False
            if last:
                raise
            continue
        return task.state
    raise AssertionError("a task is tried at least once")
