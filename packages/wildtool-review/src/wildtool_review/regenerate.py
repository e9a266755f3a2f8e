"""Tasks that an edit made stale, or the result of one call, made again by models: which, and what becomes of it.

What models make is a proposal in the log. Nothing changes before a person accepts it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wildtool.benchmarks.wildtoolbench.data import language_prefixes
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_object
from wildtool_data.formats.sessions import SESSIONS, answers_key
from wildtool_data.make.sessions.continuation import (
    Continuation,
    ContinuationSpec,
    ContinuedSessions,
    RemadeTasks,
    continuation_job,
)
from wildtool_data.make.sessions.result import RemadeResults
from wildtool_data.pointers import ABSENT, Change, pointer, value_at
from wildtool_review.history import EditConflict, ItemHistory
from wildtool_review.project import ReviewProject
from wildtool_review.proposed import propose


@dataclass(frozen=True, slots=True)
class NotRegenerated:
    """An item that cannot be made again, and why."""

    item: str
    reason: str


@dataclass(frozen=True, slots=True)
class Remade:
    """What models made of a session, as edits of the content that it was made for."""

    item: str
    digest: str
    changes: list[Change]
    note: str


def stale_sessions(
    project: ReviewProject,
    person: str,
    spec: ContinuationSpec,
    items: Iterable[str] = (),
    first: int | None = None,
) -> tuple[list[Continuation], list[NotRegenerated]]:
    """The sessions with stale tasks as a person sees them, and those of which nothing can be made.

    Args:
        items: ids; empty for all items that have stale tasks.
        first: the first task to make again, from 0; None for the first stale one.

    Raises UsageError for an unknown item, or a set of another format.
    """
    _check(project, person)
    names = list(dict.fromkeys(items))
    sessions: list[Continuation] = []
    refused: list[NotRegenerated] = []
    for item in names or list(project.state.items):
        history = project.item(item)
        stale = history.stale_for(person)
        if not (names or stale):
            continue
        try:
            continuation = _continuation(
                project, history, person, min(stale, default=None) if first is None else first
            )
            continuation_job(continuation, 0, spec)
        except DataError as error:
            refused.append(NotRegenerated(item, str(error)))
        else:
            sessions.append(continuation)
    return sessions, refused


def session_of_call(project: ReviewProject, person: str, item: str, task: int) -> Continuation:
    """A session as a person sees it, of which the result of a call is to be made again.

    Args: task: the task of the call, from 0.

    Raises UsageError for an unknown item, or a set of another format, and DataError where the person cannot edit it.
    """
    _check(project, person)
    return _continuation(project, project.item(item), person, task)


def _check(project: ReviewProject, person: str) -> None:
    if project.format is not SESSIONS:
        raise UsageError(
            f"only sessions have tasks that can be made again; this review is of {project.format.name}"
        )
    if not project.state.may(person, "reviewer"):
        raise UsageError(f"{person} takes no part in this review")


def _continuation(
    project: ReviewProject, history: ItemHistory, person: str, first: int | None
) -> Continuation:
    problem = project.why_not(history, person)
    if problem:
        raise DataError(f"{history.id} {problem}")
    if first is None:
        raise DataError(f"{history.id} has no stale task; name the first task to make again")
    content, digest = history.seen_by(person)
    return Continuation(history.id, digest, as_object(content), first)


def propose_remade(
    project: ReviewProject, person: str, remade: Iterable[Remade], model: str
) -> tuple[list[str], list[NotRegenerated]]:
    """Keeps what was made as proposals; returns the items with a new one, and those without, with the reason."""
    new: list[str] = []
    without: list[NotRegenerated] = []
    for result in remade:
        try:
            if propose(project, person, result.item, result.digest, result.changes, model, result.note):
                new.append(result.item)
            else:
                without.append(NotRegenerated(result.item, "was made so before, or is as it was"))
        except (EditConflict, UsageError) as error:
            without.append(NotRegenerated(result.item, str(error)))
    return new, without


def remade_sessions(sessions: Sequence[Continuation], results: ContinuedSessions) -> list[Remade]:
    """What was made of sessions with stale tasks."""
    by_id = {session.id: session for session in sessions}
    return [
        Remade(item, by_id[item].digest, remade_changes(by_id[item], tasks), _note(by_id[item], tasks))
        for item, tasks in results.kept
    ]


def remade_result(session: Continuation, call: int, results: RemadeResults) -> list[Remade]:
    """What was made of the result of a call. Args: call: position of its node in the task."""
    (prefix,) = language_prefixes(session.record)
    field = pointer(answers_key(session.record, prefix), session.first, call, "observation")
    before = value_at(session.record, field)
    note = f"result of call {call} of task {session.first + 1} made again"
    return [
        Remade(session.id, session.digest, [Change(field, before, result)], note) for result in results.kept
    ]


def remade_changes(session: Continuation, remade: RemadeTasks) -> list[Change]:
    """The edits that replace the tasks of a session by remade ones, task by task."""
    prefix = remade.prefix
    answers = answers_key(session.record, prefix)
    changes: list[Change] = []
    for k, values in enumerate(zip(remade.texts, remade.answers, remade.types, strict=True)):
        for key, value in zip((f"{prefix}_tasks", answers, f"{prefix}_task_types"), values, strict=True):
            field = pointer(key, session.first + k)
            before = value_at(session.record, field)
            if before is not ABSENT:
                changes.append(Change(field, before, value))
    return changes


def _note(session: Continuation, remade: RemadeTasks) -> str:
    unsure = f"; {len(remade.doubtful)} doubtful edges" if remade.doubtful else ""
    return f"made again from task {session.first + 1} on{unsure}"
