"""Tasks that an edit made stale, made again by models: which, and what becomes of the result.

What models make is a proposal in the log. Nothing changes before a person accepts it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wildtool.errors import DataError, UsageError
from wildtool.generate.sessions.continuation import (
    Continuation,
    ContinuationSpec,
    ContinuedSessions,
    RemadeTasks,
    continuation_job,
)
from wildtool.json_codec import as_object
from wildtool.review.formats.sessions import SESSIONS
from wildtool.review.history import EditConflict, ItemHistory
from wildtool.review.pointers import ABSENT, Change, pointer, value_at
from wildtool.review.project import ReviewProject
from wildtool.review.proposed import propose


@dataclass(frozen=True, slots=True)
class NotRegenerated:
    """An item that cannot be made again, and why."""

    item: str
    reason: str


def stale_sessions(
    project: ReviewProject,
    who: str,
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
    if project.format is not SESSIONS:
        raise UsageError(
            f"only sessions have tasks that can be made again; this review is of {project.format.name}"
        )
    if not project.state.may(who, "reviewer"):
        raise UsageError(f"{who} takes no part in this review")
    named = list(dict.fromkeys(items))
    found: list[Continuation] = []
    refused: list[NotRegenerated] = []
    for item in named or list(project.state.items):
        history = project.item(item)
        stale = history.stale_for(who)
        if not (named or stale):
            continue
        try:
            found.append(
                _continuation(project, history, who, min(stale, default=None) if first is None else first)
            )
            continuation_job(found[-1], 0, spec)
        except DataError as error:
            found = [one for one in found if one.id != item]
            refused.append(NotRegenerated(item, str(error)))
    return found, refused


def _continuation(project: ReviewProject, history: ItemHistory, who: str, first: int | None) -> Continuation:
    problem = project.why_not(history, who)
    if problem:
        raise DataError(f"{history.id} {problem}")
    if first is None:
        raise DataError(f"{history.id} has no stale task; name the first task to make again")
    content, digest = history.seen_by(who)
    return Continuation(history.id, digest, as_object(content), first)


def propose_remade(
    project: ReviewProject, who: str, wanted: Sequence[Continuation], made: ContinuedSessions, model: str
) -> tuple[list[str], list[NotRegenerated]]:
    """Keeps what was made as proposals; returns the items with a new one, and those without, with the reason."""
    asked = {one.id: one for one in wanted}
    new: list[str] = []
    without: list[NotRegenerated] = []
    for item, remade in made.kept:
        one = asked[item]
        try:
            if propose(
                project, who, item, one.digest, remade_changes(one, remade), model, _note(one, remade)
            ):
                new.append(item)
            else:
                without.append(NotRegenerated(item, "was made so before, or is as it was"))
        except (EditConflict, UsageError) as error:
            without.append(NotRegenerated(item, str(error)))
    return new, without


def remade_changes(one: Continuation, remade: RemadeTasks) -> list[Change]:
    """The edits that replace the tasks of a session by remade ones, task by task."""
    prefix = remade.prefix
    answers = f"{prefix}_answer_list" if f"{prefix}_answer_list" in one.record else "answer_list"
    changes: list[Change] = []
    for k, values in enumerate(zip(remade.texts, remade.answers, remade.types, strict=True)):
        for key, value in zip((f"{prefix}_tasks", answers, f"{prefix}_task_types"), values, strict=True):
            field = pointer(key, one.first + k)
            before = value_at(one.record, field)
            if before is not ABSENT:
                changes.append(Change(field, before, value))
    return changes


def _note(one: Continuation, remade: RemadeTasks) -> str:
    unsure = f"; {len(remade.doubtful)} doubtful edges" if remade.doubtful else ""
    return f"made again from task {one.first + 1} on{unsure}"
