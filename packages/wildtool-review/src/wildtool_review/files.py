"""A review by files alone: its log is written to a file and merged from files; nothing of either side is lost.

A merged entry names the digest that it had in its file (`origin`), so merging the same file again adds nothing. What
contradicts the review does not change it: edits become a branch of their author and decisions a discussion, and the item
waits for an adjudicator.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.errors import DataError
from wildtool.json_codec import as_list
from wildtool_data.make.core.files import write_whole_file
from wildtool_data.pointers import content_digest, same_json, value_at, with_change
from wildtool_review.history import ItemHistory, details, forced
from wildtool_review.log import CHANGING, GENESIS, Draft, Entry, chained, entry_line, read_log
from wildtool_review.people import pseudonyms
from wildtool_review.project import ReviewProject
from wildtool_review.store.base import Store

_PORTION = 500
"""Entries of one transaction."""


@dataclass(slots=True)
class MergeReport:
    """What came of merging a file."""

    added: int = 0
    """Entries that were new."""
    known: int = 0
    """Entries that the review had already."""
    contradictions: int = 0
    """Of the new ones, those that an adjudicator has to decide about, or that could only be kept as a note."""
    settled: int = 0
    """Reviews that have ended because all agree now."""


def export_log(store: Store, path: Path, *, anonymous: bool = False) -> int:
    """Writes the log as JSON lines; returns their number. Raises OSError.

    Args: anonymous: with pseudonyms and without remarks, in a separate chain: to be published, not to be merged.
    """
    lines = map(entry_line, _anonymous(list(store.read()))) if anonymous else store.lines()
    write_whole_file(path, (line.decode() + "\n" for line in lines))
    return store.head()[0]


def _anonymous(entries: Sequence[Entry]) -> list[Entry]:
    names = pseudonyms(entries)

    def alias(value: Any) -> Any:
        return names.get(value, value)

    drafts: list[Draft] = []
    for entry in entries:
        draft = replace(entry, who=alias(entry.who), branch=alias(entry.branch), note="", origin="")
        if entry.kind == "assign":
            draft = replace(draft, after=[alias(name) for name in as_list(entry.after)])
        elif entry.kind == "person":
            draft = replace(draft, field=alias(entry.field))
        elif entry.kind == "round opened":
            pairs = [[alias(name) for name in as_list(pair)] for pair in as_list(details(entry).get("pairs"))]
            people = [alias(name) for name in as_list(details(entry).get("people"))]
            draft = replace(draft, after={**details(entry), "pairs": pairs, "people": people})
        drafts.append(draft)
    return chained(drafts, 0, GENESIS)


def merge_log(project: ReviewProject, path: Path) -> MergeReport:
    """Adds what is new in a file. An empty review becomes exactly that of the file.

    Raises RecordError naming the first bad line of the file, before anything is added.
    """
    entries = list(read_log(path))
    if project.state.n == 0:
        for start in range(0, len(entries), _PORTION):
            project.restore(entries[start : start + _PORTION])
        return MergeReport(added=len(entries))
    digests: set[str] = set()
    for entry in project.store.read():
        digests |= {entry.digest, entry.origin}
    merge = _Merge(project)
    for entry in entries:
        if entry.digest in digests or (entry.origin and entry.origin in digests):
            merge.report.known += 1
        else:
            merge.add(entry)
    merge.report.settled = project.settle(merge.touched)
    return merge.report


class _Merge:
    """Adds entries of a file one by one, each against the review as it is then."""

    def __init__(self, project: ReviewProject) -> None:
        self.project = project
        self.report = MergeReport()
        self.touched: dict[str, None] = {}
        self._rounds: dict[int, int] = {}
        """Numbers of the file's own rounds to their numbers here."""

    def add(self, entry: Entry) -> None:
        """Adds an entry, or what is kept of it where it contradicts the review."""
        self.report.added += 1
        if not entry.item:
            self.project.append_general(self._general(entry))
            return
        self.touched[entry.item] = None
        draft = self._draft(entry)
        plan = _PLANS.get(entry.kind, lambda draft, history: ([draft], False))
        contradicted = False

        def planned(history: ItemHistory | None) -> list[Draft]:
            nonlocal contradicted
            if history is None:
                if entry.kind != "import":
                    raise DataError(f"{entry.item}: the file changes an item that it does not import")
                return [draft]
            planned_drafts, contradicted = plan(draft, history)
            return planned_drafts

        self.project.append_about(entry.item, planned)
        self.report.contradictions += contradicted

    def _draft(self, entry: Entry) -> Draft:
        values = {name: getattr(entry, name) for name in Draft.__slots__}
        values |= {
            "origin": entry.origin or entry.digest,
            "round": self._rounds.get(entry.round, entry.round),
        }
        return Draft(**values)

    def _general(self, entry: Entry) -> Draft:
        draft = self._draft(entry)
        if entry.kind == "round opened":
            ours = {round_.number: round_.items for round_ in self.project.state.rounds}
            if entry.round in ours:
                # Both sides opened a round of that number.
                self._rounds[entry.round] = len(ours) + 1
                draft = replace(draft, round=len(ours) + 1)
            items = self.project.state.items
            missing = [item for item in details(entry).get("items", []) if item not in items]
            if missing:
                raise DataError(f"{missing[0]}: a round of the file has an item that is not in this review")
        return draft


Planned = tuple[list[Draft], bool]
"""What is appended, and whether it contradicts the review."""


def _dismissed(draft: Draft, reason: str) -> Planned:
    """An entry that cannot be what it was, as a note."""
    text = f"{reason}: {draft.kind}{f' {draft.after}' if draft.kind in ('decision', 'settle', 'resolve') else ''}"
    note = f"{text}; {draft.note}" if draft.note else text
    return [replace(draft, kind="note", branch="", content="", note=note)], True


def _import(draft: Draft, history: ItemHistory) -> Planned:
    if history.versions[0].digest == draft.content:
        return [replace(draft, kind="note", content="", after=None, note="imported there too")], False
    edit = replace(draft, kind="edit", branch=draft.who, before=history.content, field="")
    return _contested(edit, history), True


def _edit(draft: Draft, history: ItemHistory) -> Planned:
    branch = history.branch_of(draft.branch) if draft.branch else None
    content, digest = (branch.content, branch.digest) if branch else (history.content, history.digest)
    if same_json(value_at(content, draft.field), draft.after):
        return [
            replace(draft, kind="note", branch="", content="", note="edited there in the same way")
        ], False
    try:
        after = with_change(content, draft.change)
    except DataError:
        return _contested(replace(draft, branch=draft.branch or draft.who), history), True
    last = history.open
    # Edits of a review that is complete are part of how it ends.
    reviewed = last is not None and bool(last.people) and not last.complete
    if (
        branch is None
        and last is not None
        and (reviewed or draft.who in last.branches.keys() - set(last.people))
    ):
        return _contested(replace(draft, branch=draft.who), history), True
    edit = replace(
        draft, branch=draft.branch if branch else "", version=digest, content=content_digest(after)
    )
    return [edit], False


def _contested(draft: Draft, history: ItemHistory) -> list[Draft]:
    """An edit as one of a branch that an adjudicator is shown."""
    name = draft.branch
    if history.branch_of(name) is not None:
        # The reviewer's own branch stays what the reviewer left.
        name = f"{name} (merged)"
    last = history.open
    branch = last.branches.get(name) if last else None
    content = branch.content if branch else history.content
    after = forced(content, draft.change)
    return [replace(draft, branch=name, version=content_digest(content), content=content_digest(after))]


def _assign(draft: Draft, history: ItemHistory) -> Planned:
    if history.open is not None:
        return _dismissed(draft, "assigned in a merged file while a review was open")
    return [replace(draft, version=history.digest)], False


def _decision(draft: Draft, history: ItemHistory) -> Planned:
    last = history.open
    base = history.seen_by(draft.who)[1]
    if draft.version != base or (last is not None and last.people and draft.who not in last.people):
        return _discuss(draft, history)
    if last is not None and draft.who in last.decisions:
        is_same = last.decisions[draft.who].after == draft.after
        return (
            ([replace(draft, kind="note", note="decided there in the same way")], False)
            if is_same
            else _discuss(draft, history)
        )
    ended = history.outcome
    if last is None and ended is not None and ended.version == history.digest:
        agrees = (ended.after == "approve") == str(draft.after).startswith("approve")
        return (
            ([replace(draft, kind="note", note="decided there in the same way")], False)
            if agrees
            else _discuss(draft, history)
        )
    branch = draft.who if history.branch_of(draft.who) is not None else ""
    return [replace(draft, branch=branch)], False


def _withdrawal(draft: Draft, history: ItemHistory) -> Planned:
    if draft.version != history.seen_by(draft.who)[1] or not history.can_withdraw(draft.who):
        return _dismissed(draft, "takes back a decision that is not there any more")
    branch = draft.who if history.branch_of(draft.who) is not None else ""
    return [replace(draft, branch=branch)], False


def _outcome(draft: Draft, history: ItemHistory) -> Planned:
    if history.open is None and history.outcome is not None:
        if (history.outcome.after, history.digest) == (draft.after, draft.version):
            return [replace(draft, kind="note", note="ended there in the same way")], False
        return _discuss(draft, history)
    unresolved = draft.kind == "settle" and history.open is not None and bool(history.open.conflicts())
    if draft.version != history.digest or unresolved:
        return _dismissed(draft, "a merged file ended the review of another version")
    return [draft], False


def _discuss(draft: Draft, history: ItemHistory) -> Planned:
    """A decision that contradicts the review: the item is discussed."""
    if history.open is not None:
        return _dismissed(draft, "contradicts the review here")
    note = f"a merged file says: {draft.after}" + (f"; {draft.note}" if draft.note else "")
    return [
        replace(draft, kind="decision", branch="", version=history.digest, after="discuss", note=note)
    ], True


def _recheck(draft: Draft, history: ItemHistory) -> Planned:
    branch = draft.branch if history.branch_of(draft.branch) is not None else ""
    base = history.seen_by(draft.branch)[1] if branch else history.digest
    return (
        ([replace(draft, branch=branch)], False)
        if draft.version == base
        else _dismissed(draft, "checked another version")
    )


def _proposal(draft: Draft, history: ItemHistory) -> Planned:
    """A proposal is about one content; for another it is history."""
    base = history.seen_by(draft.branch)[1] if draft.branch else history.digest
    copied = not draft.branch or history.branch_of(draft.branch) is not None
    if copied and draft.version == base:
        return [draft], False
    return _dismissed(draft, "about another version")[0], False


_PLANS: dict[str, Callable[[Draft, ItemHistory], Planned]] = {
    "import": _import,
    **dict.fromkeys(CHANGING, _edit),
    "assign": _assign,
    "decision": _decision,
    "withdraw": _withdrawal,
    "settle": _outcome,
    "resolve": _outcome,
    "recheck": _recheck,
    **dict.fromkeys(("propose", "discard"), _proposal),
}
"""What becomes of an entry, by its kind; the others are taken as they are."""
