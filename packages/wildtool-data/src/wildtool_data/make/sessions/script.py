"""The script of one session: it yields requests to roles and is sent the replies.

Plan and replies alone decide the result, so a record replays to the same session. What breaks a rule is returned to its
role; after some tries the task is started over, then the session with other tools, then it is lost.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.findings import custom_refusals
from wildtool_data.make.core.roles import (
    AttemptFailedError,
    RoleCoroutine,
    RoleReply,
    ScriptResult,
    SessionRoles,
    run_tries,
)
from wildtool_data.make.procedural.sessions import provenance, session_tools
from wildtool_data.make.sessions.state import SessionState
from wildtool_data.make.sessions.task import SessionJob, TaskScript

TASK_TRIES = 2
SESSION_TRIES = 2


@dataclass(frozen=True, slots=True)
class AcceptedSession:
    """A session that kept all rules."""

    record: dict[str, Any]
    """In the benchmark's format."""
    replies: Sequence[RoleReply]
    """All replies of the successful try."""


def session_script(job: SessionJob) -> RoleCoroutine[ScriptResult[AcceptedSession]]:
    """Makes one session: yields requests, returns what came of it."""

    def attempt(number: int, counters: Counter[str]) -> RoleCoroutine[AcceptedSession]:
        tools = [tool.definition for tool in session_tools(job.plan, job.sets, number)]
        roles = SessionRoles(job.plan, tools, counters, own_texts=job.own_prompts.texts.get(job.plan.lang))
        state = SessionState(passages=[SearchText.of(roles.date)])
        for t in range(len(job.plan.tasks)):
            state = yield from add_task(job, roles, state, t, number)
        plan = {**asdict(job.plan), "date": job.plan.date.isoformat()}
        origin = provenance(job.plan, len(job.sets), number, built_in_tools=job.built_in)
        made_by = {"plan": plan, "attempt": number, **origin, "review": state.doubtful}
        if any(len(proposed) > 1 for proposed in state.candidates):
            made_by["candidates"] = state.candidates
        if job.users > 1:
            made_by["users"] = state.users
        if job.material.examples:
            made_by["examples"] = job.material.overlap_with(_user_texts(state))
        record = {**state.record(job.plan, tools, roles.date), "made_by": made_by}
        if refused := custom_refusals(WILDTOOLBENCH.name, record):
            detail = "; ".join(finding.message for finding in refused[:5])
            raise AttemptFailedError(f"session {refused[0].rule}", detail)
        return AcceptedSession(record, roles.replies)

    return run_tries(SESSION_TRIES, attempt)


def _user_texts(state: SessionState) -> list[str]:
    """All that the user says in a session."""
    replies = [node.user_input for task in state.tasks for node in task.nodes if node.user_input]
    return [*(task.text for task in state.tasks), *replies]


def add_task(
    job: SessionJob, roles: SessionRoles, before: SessionState, t: int, session_attempt: int, text: str = ""
) -> RoleCoroutine[SessionState]:
    """Task `t` added to a state. Raises AttemptFailedError after the last try.

    Args: text: what the user says in it; empty if the user's role is to write that.
    """
    for attempt in range(TASK_TRIES):
        last = attempt == TASK_TRIES - 1
        begun = len(roles.replies)
        draw = job.plan.stream(f"task/{session_attempt}/{t}/{attempt}")
        task = TaskScript(
            job, roles, before.copy(), t, draw, first=session_attempt == attempt == 0, text=text
        )
        try:
            # A task of nearly the wanted type is accepted as what it is at the last try, and counted.
            yield from task.play(relabel=last)
        except AttemptFailedError as error:
            roles.counters[f"task lost {error.reason}"] += 1
            for event in roles.replies[begun:]:
                event.accepted = False
            if last:
                raise
            continue
        return task.state
    raise AssertionError("a task is tried at least once")
