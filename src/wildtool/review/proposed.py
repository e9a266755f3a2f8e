"""What models propose for an item: kept in the log, to be accepted or discarded by the person who sees that content."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from wildtool.errors import UsageError
from wildtool.json_codec import as_objects
from wildtool.review.history import MODEL_SOURCE, EditConflict, ItemHistory, model_of
from wildtool.review.log import Draft, Entry
from wildtool.review.pointers import (
    Change,
    changed,
    check_together,
    content_digest,
    pointer_parts,
    same_json,
)
from wildtool.review.project import ReviewProject

_WHOLE_PARTS = 2
"""Steps of a pointer to a whole part of a task, such as `/english_tasks/1`."""


def proposed_changes(entry: Entry) -> list[Change]:
    """The changes of a proposal, each of a part that exists."""
    return [
        Change(str(row.get("field")), row.get("before"), row.get("after")) for row in as_objects(entry.after)
    ]


def propose(
    project: ReviewProject,
    who: str,
    item: str,
    seen: str,
    changes: Sequence[Change],
    model: str,
    note: str = "",
) -> bool:
    """Keeps what a model proposes for the content that a person saw.

    Args:
        changes: that follow each other, of parts that exist.
        model: its name.

    Returns whether it is new: what was proposed for that content before, even if it was discarded, is not proposed
    again. Raises as `ReviewProject.edit`.
    """
    made: list[Draft] = []

    def plan(found: ItemHistory | None) -> list[Draft]:
        made.clear()
        assert found is not None
        _check(project, found, who, seen)
        content = found.seen_by(who)[0]
        rows = [one for one in changes if not same_json(one.before, one.after)]
        for one in rows:
            content = changed(content, one)
        branch = who if found.branch_of(who) is not None else ""
        draft = Draft(
            "propose",
            who,
            item,
            branch,
            version=seen,
            content=content_digest(content),
            after=[{"field": one.field, "before": one.before, "after": one.after} for one in rows],
            reason=(f"{MODEL_SOURCE}{model}",),
            note=note,
        )
        known = {_key(one) for one in found.entries if one.kind == "propose"}
        made.extend([draft] if rows and _key(draft) not in known else [])
        return made

    project.item(item)  # says what is unknown
    project.append_about(item, plan)
    return bool(made)


def accept_proposal(
    project: ReviewProject, who: str, item: str, seen: str, proposal: str, note: str = ""
) -> ItemHistory:
    """Makes the edits that a model proposes, as those of the model. Where whole parts of tasks were made again, the tasks
    from the first of them on are then no longer stale, since they were made again together; after the result of one
    call they are, as after any edit.

    Args: proposal: digest of the content that it leads to.

    Raises as `ReviewProject.edit`.
    """
    found = project.item(item)
    one = _proposal(project, found, who, seen, proposal)
    changes = proposed_changes(one)
    content = found.seen_by(who)[0]
    whole = [change.field for change in changes if len(pointer_parts(change.field)) == _WHOLE_PARTS]
    again = [project.format.first_stale_task(content, field) - 1 for field in whole]
    found = project.edit(who, item, seen, changes, model=model_of(one), note=note)
    left = [task for task in found.stale_for(who) if again and task >= min(again)]
    return project.recheck(who, item, found.seen_by(who)[1], left) if left else found


def merge_proposals(
    project: ReviewProject, who: str, item: str, seen: str, choices: Mapping[str, str], note: str = ""
) -> ItemHistory:
    """Makes some of the edits that models propose, each as one of its model.

    Args: choices: for the pointer of each part that is to change, the proposal that it is taken from, as
        `accept_proposal` names it.

    Raises as `accept_proposal`, and UsageError where a proposal does not have the part.
    """
    found = project.item(item)
    picked = {name: _proposal(project, found, who, seen, name) for name in dict.fromkeys(choices.values())}
    wanted: list[tuple[str, Change]] = []
    for name, one in picked.items():
        changes = [change for change in proposed_changes(one) if choices.get(change.field) == name]
        if len(picked) == 1 and len(changes) == len(proposed_changes(one)):
            return accept_proposal(project, who, item, seen, name, note)
        wanted += [(model_of(one), change) for change in changes]
    if len(wanted) < len(choices):
        raise UsageError("{0}: that is no longer proposed", item)
    check_together([change for _, change in wanted])
    for model, group in groupby(wanted, key=lambda pair: pair[0]):
        found = project.edit(who, item, seen, [change for _, change in group], model=model, note=note)
        seen = found.seen_by(who)[1]
    return found


def discard_proposal(
    project: ReviewProject, who: str, item: str, seen: str, proposal: str, note: str = ""
) -> ItemHistory:
    """Takes a model's proposal away; it stays in the log. Args and errors as of `accept_proposal`."""

    def plan(found: ItemHistory | None) -> list[Draft]:
        assert found is not None
        one = _proposal(project, found, who, seen, proposal)
        return [Draft("discard", who, item, one.branch, one.version, one.content, note=note)]

    project.item(item)
    project.append_about(item, plan)
    return project.item(item)


def _proposal(project: ReviewProject, found: ItemHistory, who: str, seen: str, proposal: str) -> Entry:
    _check(project, found, who, seen)
    for one in found.proposals_for(who):
        if one.content == proposal:
            return one
    raise UsageError("{0}: that is no longer proposed", found.id)


def _check(project: ReviewProject, found: ItemHistory, who: str, seen: str) -> None:
    if problem := project.why_not(found, who):
        raise UsageError("{0}: this item {1}", found.id, problem)
    content, digest = found.seen_by(who)
    if digest != seen:
        raise EditConflict(found.id, seen, digest, content)


def _key(one: Draft) -> tuple[str, str, str]:
    return one.branch, one.version, one.content
