"""What models propose for an item: kept in the log, to be accepted or discarded by the person who sees that content."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from wildtool.errors import UsageError
from wildtool.json_codec import as_objects
from wildtool_data.pointers import (
    Change,
    check_together,
    content_digest,
    pointer_parts,
    same_json,
    with_change,
)
from wildtool_review.history import MODEL_SOURCE, EditConflict, ItemHistory, model_of
from wildtool_review.log import Draft, Entry
from wildtool_review.project import ReviewProject

_WHOLE_PARTS = 2
"""Steps of a pointer to a whole part of a task, such as `/english_tasks/1`."""


def proposed_changes(entry: Entry) -> list[Change]:
    """The changes of a proposal, each of a part that exists."""
    return [
        Change(str(row.get("field")), row.get("before"), row.get("after")) for row in as_objects(entry.after)
    ]


def propose(
    project: ReviewProject,
    person: str,
    item: str,
    base: str,
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
    drafts: list[Draft] = []

    def plan(history: ItemHistory | None) -> list[Draft]:
        drafts.clear()
        assert history is not None
        _check(project, history, person, base)
        content = history.seen_by(person)[0]
        rows = [change for change in changes if not same_json(change.before, change.after)]
        for change in rows:
            content = with_change(content, change)
        branch = person if history.branch_of(person) is not None else ""
        draft = Draft(
            "propose",
            person,
            item,
            branch,
            version=base,
            content=content_digest(content),
            after=[
                {"field": change.field, "before": change.before, "after": change.after} for change in rows
            ],
            reason=(f"{MODEL_SOURCE}{model}",),
            note=note,
        )
        earlier = {_key(change) for change in history.entries if change.kind == "propose"}
        drafts.extend([draft] if rows and _key(draft) not in earlier else [])
        return drafts

    project.item(item)  # says what is unknown
    project.append_about(item, plan)
    return bool(drafts)


def accept_proposal(
    project: ReviewProject, person: str, item: str, base: str, proposal: str, note: str = ""
) -> ItemHistory:
    """Makes the edits that a model proposes, as those of the model. Where whole parts of tasks were made again, the tasks
    from the first of them on are then no longer stale, since they were made again together; after the result of one
    call they are, as after any edit.

    Args: proposal: digest of the content that it leads to.

    Raises as `ReviewProject.edit`.
    """
    history = project.item(item)
    proposed = _proposal(project, history, person, base, proposal)
    changes = proposed_changes(proposed)
    content = history.seen_by(person)[0]
    fields = [change.field for change in changes if len(pointer_parts(change.field)) == _WHOLE_PARTS]
    again = [project.format.first_stale_task(content, field) - 1 for field in fields]
    history = project.edit(person, item, base, changes, model=model_of(proposed), note=note)
    still_stale = [task for task in history.stale_for(person) if again and task >= min(again)]
    return project.recheck(person, item, history.seen_by(person)[1], still_stale) if still_stale else history


def merge_proposals(
    project: ReviewProject, person: str, item: str, base: str, choices: Mapping[str, str], note: str = ""
) -> ItemHistory:
    """Makes some of the edits that models propose, each as one of its model.

    Args: choices: for the pointer of each part that is to change, the proposal that it is taken from, as
        `accept_proposal` names it.

    Raises as `accept_proposal`, and UsageError where a proposal does not have the part.
    """
    history = project.item(item)
    names = dict.fromkeys(choices.values())
    picked = {name: _proposal(project, history, person, base, name) for name in names}
    choice: list[tuple[str, Change]] = []
    for name, entry in picked.items():
        changes = [change for change in proposed_changes(entry) if choices.get(change.field) == name]
        if len(picked) == 1 and len(changes) == len(proposed_changes(entry)):
            return accept_proposal(project, person, item, base, name, note)
        choice += [(model_of(entry), change) for change in changes]
    if len(choice) < len(choices):
        raise UsageError("{0}: that is no longer proposed", item)
    check_together([change for _, change in choice])
    for model, group in groupby(choice, key=lambda pair: pair[0]):
        history = project.edit(person, item, base, [change for _, change in group], model=model, note=note)
        base = history.seen_by(person)[1]
    return history


def discard_proposal(
    project: ReviewProject, person: str, item: str, base: str, proposal: str, note: str = ""
) -> ItemHistory:
    """Takes a model's proposal away; it stays in the log. Args and errors as of `accept_proposal`."""

    def plan(history: ItemHistory | None) -> list[Draft]:
        assert history is not None
        entry = _proposal(project, history, person, base, proposal)
        return [Draft("discard", person, item, entry.branch, entry.version, entry.content, note=note)]

    project.item(item)
    project.append_about(item, plan)
    return project.item(item)


def _proposal(project: ReviewProject, history: ItemHistory, person: str, base: str, proposal: str) -> Entry:
    _check(project, history, person, base)
    for entry in history.proposals_for(person):
        if entry.content == proposal:
            return entry
    raise UsageError("{0}: that is no longer proposed", history.id)


def _check(project: ReviewProject, history: ItemHistory, person: str, base: str) -> None:
    project.check_may_work(history, person)
    content, digest = history.seen_by(person)
    if digest != base:
        raise EditConflict(history.id, base, digest, content)


def _key(entry: Draft) -> tuple[str, str, str]:
    return entry.branch, entry.version, entry.content
