"""One item with all that happened to it, folded from its entries of the log.

An item has one line of versions. During a blind review each reviewer works on a copy of it, a *branch*. When all have
decided and agree (same decision, same content), the item takes what they agree on; otherwise it is a conflict, and an
adjudicator decides what it becomes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

from wildtool.errors import DataError, RecordError, WildtoolError
from wildtool.findings import Finding, FindingLevel, fault
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool_data.formats.base import ReviewFormat
from wildtool_data.pointers import Change, content_digest, overlap, same_json, value_at, with_change
from wildtool_review.log import Entry

DecisionChoice = Literal["approve", "approve with edits", "reject", "discuss"]
REASON_CODES: Mapping[str, str] = {
    "unnatural": "unnatural user text",
    "type": "wrong type",
    "subtype": "wrong subtype, or the context is not needed",
    "tool-misfit": "the tool does not fit the request",
    "call": "a call is missing, or one too many",
    "order": "wrong order or dependency",
    "value": "wrong argument value or type, or one that nobody gave",
    "ask": "should have asked",
    "no-ask": "should not have asked",
    "end": "ends too early, or a call is redundant",
    "observation": "implausible or inconsistent observation",
    "unfaithful": "the answer is unfaithful to the results",
    "schema": "a tool's definition is defective",
    "duplicate": "repeats another item",
    "privacy": "contains personal data",
}
"""Why an item is rejected or edited, by code."""


MODEL_SOURCE = "model "
"""How the reason of an edit begins whose text a model wrote."""


class EditConflict(WildtoolError):  # noqa: N818 - it is an answer, and no fault of anyone
    """Somebody else was faster: the item is not what the person saw."""

    def __init__(self, item: str, base: str, found: str, content: Any) -> None:
        super().__init__("{0} has changed since you read it; compare, and save again", item)
        self.item = item
        self.seen = base
        """Digest that the person saw."""
        self.found = found
        """Digest of what is there now."""
        self.content = content
        """What is there now."""


@dataclass(slots=True)
class Version:
    """One version of an item; it never changes."""

    number: int
    """From 1."""
    digest: str
    content: Any
    entry: Entry
    """The entry that made it."""


@dataclass(frozen=True, slots=True)
class PastVersion:
    """A content that a person saw before the current one."""

    digest: str
    content: Any
    until: int
    """Number of the entry that replaced it."""


@dataclass(slots=True)
class Branch:
    """A reviewer's own copy of an item."""

    digest: str
    content: Any
    entries: list[Entry] = field(default_factory=list[Entry])
    """The entries that changed it."""
    stale: set[int] = field(default_factory=set[int])
    """Tasks that an edit of an earlier task may have made wrong."""


@dataclass(slots=True)
class Pass:
    """One review of an item: by the people of an assignment, or by anyone where nothing is assigned."""

    round: int
    base: str
    """Digest of the version that was assigned."""
    people: tuple[str, ...] = ()
    branches: dict[str, Branch] = field(default_factory=dict[str, Branch])
    decisions: dict[str, Entry] = field(default_factory=dict[str, Entry])
    """The latest decision of each person."""
    contested: bool = False
    """Whether it holds edits of merged files that contradict what was there."""
    outcome: Entry | None = None
    """How it ended: an entry `settle` or `resolve`."""
    stale: set[int] = field(default_factory=set[int])
    """Tasks that were to be checked again when it ended."""

    @property
    def complete(self) -> bool:
        """Whether everyone who was asked has decided."""
        return bool(self.decisions) and all(person in self.decisions for person in self.people)

    def copied(self) -> "Pass":
        """A pass that further entries can change without changing this one."""
        branches = {
            name: replace(branch, entries=[*branch.entries], stale={*branch.stale})
            for name, branch in self.branches.items()
        }
        return replace(self, branches=branches, decisions={**self.decisions}, stale={*self.stale})

    def conflicts(self) -> list[str]:
        """What an adjudicator has to decide, in words; nothing while somebody has not decided, or once it has ended."""
        if self.outcome is not None:
            return []
        if self.contested:
            return ["merged files contradict each other"]
        if not self.complete:
            return []
        choices = [cast(str, entry.after) for entry in self.decisions.values()]
        if "discuss" in choices:
            return ["sent to discussion"]
        if len({choice == "reject" for choice in choices}) > 1:
            return ["one approves, one rejects"]
        if choices[0] != "reject" and len({branch.digest for branch in self.branches.values()}) > 1:
            return ["the edits differ"]
        return []


class ItemHistory:
    """One item: versions, reviews, findings of rules."""

    def __init__(self, format_: ReviewFormat, entries: Iterable[Entry]) -> None:
        """Folds the entries of one item, in order. Raises RecordError for entries that cannot follow each other."""
        self.format = format_
        self.id = ""
        self.versions: list[Version] = []
        self.passes: list[Pass] = []
        self.checks: dict[str, list[Finding]] = {}
        """By digest of a content, what the rules found in it."""
        self.stale: set[int] = set()
        self.proposed: list[Entry] = []
        """Proposals of models that nobody has discarded, for any version."""
        self.entries: list[Entry] = []
        for entry in entries:
            self._add(entry)

    def followed_by(self, entries: Iterable[Entry]) -> "ItemHistory":
        """The history with the entries that come next; this one stays as it is. Raises as the constructor does."""
        later = ItemHistory(self.format, ())
        later.id = self.id
        later.versions, later.proposed, later.entries = [*self.versions], [*self.proposed], [*self.entries]
        later.passes = [past.copied() for past in self.passes]
        later.checks, later.stale = {**self.checks}, {*self.stale}
        for entry in entries:
            later._add(entry)
        return later

    @property
    def content(self) -> Any:
        """The current content."""
        return self.versions[-1].content

    @property
    def digest(self) -> str:
        return self.versions[-1].digest

    @property
    def open(self) -> Pass | None:
        """The review that has not ended, if there is one."""
        return self.passes[-1] if self.passes and self.passes[-1].outcome is None else None

    @property
    def outcome(self) -> Entry | None:
        """How the last review that ended did."""
        return next((past.outcome for past in reversed(self.passes) if past.outcome is not None), None)

    @property
    def approved(self) -> bool:
        """Whether the current version is what the last review approved, and no review is open."""
        last = self.outcome
        agreed = last is not None and last.after == "approve" and last.version == self.digest
        return agreed and self.open is None and not self.stale

    def branch_of(self, person: str) -> Branch | None:
        """A reviewer's own copy in the open review; None for people who work on the item itself."""
        return self.open.branches.get(person) if self.open and person in self.open.people else None

    def can_withdraw(self, person: str) -> bool:
        """Whether a person can take back a decision: their own in a blind review before all have decided, so that nobody
        decides again after seeing the others; else one that nobody else had a part in, of the current version."""
        last = self.passes[-1] if self.passes else None
        if last is None or person not in last.decisions:
            return False
        if last.people:
            return last.outcome is None and not last.complete
        is_own = last.outcome is None or (
            last.outcome.kind == "settle" and last.outcome.version == self.digest
        )
        return is_own and [*last.decisions] == [person] and not last.branches

    def seen_by(self, person: str) -> tuple[Any, str]:
        """The content that a person sees and changes, and its digest."""
        branch = self.branch_of(person)
        return (branch.content, branch.digest) if branch else (self.content, self.digest)

    def changed_only_by(self, person: str, seen: str) -> bool:
        """Whether a person alone, perhaps in another tab, has changed what they see since a version with this digest."""
        if self.branch_of(person) is not None:
            return True
        known = next((k for k, version in enumerate(self.versions) if version.digest == seen), None)
        later = [] if known is None else self.versions[known + 1 :]
        return bool(later) and all(version.entry.who == person for version in later)

    def versions_for(self, person: str) -> list[PastVersion]:
        """What a person saw before, oldest first: versions of the item, or of their own copy where they have one."""
        branch = self.branch_of(person)
        if branch is None:
            return [
                PastVersion(old.digest, old.content, new.entry.n)
                for old, new in zip(self.versions, self.versions[1:], strict=False)
            ]
        base = self.passes[-1].base
        content = next(version.content for version in reversed(self.versions) if version.digest == base)
        past: list[PastVersion] = []
        for entry in branch.entries:
            past.append(PastVersion(content_digest(content), content, entry.n))
            content = forced(content, entry.change)
        return past

    def stale_for(self, person: str) -> set[int]:
        """Tasks that a person has to check again."""
        branch = self.branch_of(person)
        return branch.stale if branch else self.stale

    def decisions_for(self, person: str, *, sees_all: bool = False) -> dict[str, Entry]:
        """Decisions of the last review that a person may see: of others only when all have decided.

        Args: sees_all: for adjudicators and owners who review nothing in it.
        """
        last = self.passes[-1]
        if last.complete or last.outcome or (sees_all and person not in last.people):
            return dict(last.decisions)
        return {name: entry for name, entry in last.decisions.items() if name == person}

    def findings(self, digest: str | None = None) -> list[Finding] | None:
        """What the rules found in a version (None: the current one); None if they have not run."""
        return self.checks.get(digest or self.digest)

    def proposals_for(self, person: str) -> list[Entry]:
        """What models propose for the content that a person sees, oldest first."""
        branch = person if self.branch_of(person) is not None else ""
        base = self.seen_by(person)[1]
        return [entry for entry in self.proposed if (entry.branch, entry.version) == (branch, base)]

    def proposal(self) -> tuple[list[Change], list[Change]]:
        """For an adjudicator, the edits of all branches that can be taken together, and those that exclude each other.

        An edit that several made is given once. An edit is also excluded if the item changed there since.
        """
        accepted: list[Change] = []
        excluded: list[Change] = []
        last = self.open
        for branch in last.branches.values() if last else ():
            for change in net_changes(branch.entries):
                clash = [other for other in accepted if overlap(other.field, change.field)]
                if any(
                    other.field == change.field and same_json(other.after, change.after) for other in clash
                ):
                    continue
                fits = same_json(value_at(self.content, change.field), change.before)
                (excluded if clash or not fits else accepted).append(change)
        return accepted, excluded

    def _add(self, entry: Entry) -> None:
        self.id = entry.item
        if entry.kind != "import" and not self.versions:
            raise RecordError(f"entry {entry.n}: {entry.item} was not imported before")
        self.entries.append(entry)
        match entry.kind:
            case "import":
                self._new_version(entry, entry.after)
            case "check":
                self.checks[entry.version] = [_finding(row) for row in as_objects(entry.after)]
            case "assign":
                people = tuple(str(name) for name in as_list(entry.after))
                copies = {name: Branch(self.digest, self.content, stale=set(self.stale)) for name in people}
                self.passes.append(Pass(entry.round, self.digest, people, copies))
            case "edit" | "choose":
                self._edit(entry)
            case "decision":
                self._open_pass(entry).decisions[entry.who] = entry
            case "propose":
                self.proposed.append(entry)
            case "discard":
                gone = (entry.branch, entry.version, entry.content)
                self.proposed = [p for p in self.proposed if (p.branch, p.version, p.content) != gone]
            case "stale":
                copies = self.open.branches.values() if self.open else ()
                for stale in (self.stale, *(branch.stale for branch in copies)):
                    stale.update(int(task) for task in as_list(entry.after))
            case "settle" | "resolve":
                ended = self._open_pass(entry)
                ended.outcome = entry
                ended.stale = set(self.stale)
                self.stale.clear()
            case "withdraw":
                self._withdraw(entry)
            case "recheck":
                branch = self.branch_of(entry.branch) if entry.branch else None
                stale_now = branch.stale if branch else self.stale
                stale_now.difference_update(as_list(entry.after))
            case _:
                pass  # notes are kept among the entries

    def _new_version(self, entry: Entry, content: Any) -> None:
        digest = content_digest(content)
        if digest != entry.content:
            raise RecordError(
                f"entry {entry.n}: its content is not the one that its digest was computed from"
            )
        self.versions.append(Version(len(self.versions) + 1, digest, content, entry))

    def _edit(self, entry: Entry) -> None:
        if not entry.branch:
            try:
                self._new_version(entry, with_change(self.content, entry.change))
            except (DataError, IndexError, KeyError) as error:
                raise RecordError(f"entry {entry.n}: cannot be applied to {entry.item}: {error}") from error
            self._mark_stale(entry, self.stale)
            return
        branch = self.branch_of(entry.branch)
        if branch is None:
            branch = self._contested(entry)
        branch.content = forced(branch.content, entry.change)
        branch.digest = content_digest(branch.content)
        branch.entries.append(entry)
        # What was decided before the edit was about another content.
        self.passes[-1].decisions.pop(entry.branch, None)
        self._mark_stale(entry, branch.stale)

    def _open_pass(self, entry: Entry) -> Pass:
        """The open review; where nothing is assigned, a new one of all that was changed since the last."""
        if self.open is None:
            base = self.outcome.version if self.outcome else self.versions[0].digest
            self.passes.append(Pass(entry.round, base))
        return self.passes[-1]

    def _withdraw(self, entry: Entry) -> None:
        """Takes back a person's decision, with what it ended. A review in which nothing is left did not take place."""
        last = self.passes[-1] if self.passes else None
        if last is None or entry.who not in last.decisions:
            raise RecordError(f"entry {entry.n}: takes back a decision that {entry.who} did not make")
        del last.decisions[entry.who]
        if last.outcome is not None:
            last.outcome = None
            self.stale |= last.stale
        if not (last.people or last.decisions or last.branches):
            self.passes.pop()

    def _contested(self, entry: Entry) -> Branch:
        last = self._open_pass(entry)
        last.contested = True
        return last.branches.setdefault(entry.branch, Branch(self.digest, self.content))

    def _mark_stale(self, entry: Entry, stale: set[int]) -> None:
        first = self.format.first_stale_task(self.content, entry.field)
        if model_of(entry):
            # A task that was made again fits what is before it.
            stale.discard(first - 1)
        stale.update(range(first, self.format.task_count(self.content)))


def model_of(entry: Entry) -> str:
    """The model that wrote an edit or a proposal; empty for a person."""
    return next((r.removeprefix(MODEL_SOURCE) for r in entry.reason if r.startswith(MODEL_SOURCE)), "")


def net_changes(entries: Iterable[Entry]) -> Iterator[Change]:
    """What a sequence of edits changes in the end, as parts of which none is inside another."""
    changes: dict[str, Change] = {}
    for entry in entries:
        field, before, after = entry.field, entry.before, entry.after
        outer = next((other for other in changes if field.startswith(f"{other}/")), None)
        if outer is not None:
            outer_change = changes[outer]
            inside = Change(field.removeprefix(outer), before, after)
            changes[outer] = Change(outer, outer_change.before, forced(outer_change.after, inside))
            continue
        for other in [other for other in changes if other.startswith(f"{field}/")]:
            inner = changes.pop(other)
            before = forced(before, Change(other.removeprefix(field), inner.after, inner.before))
        first = changes.pop(field, None)
        changes[field] = Change(field, first.before if first else before, after)
    yield from (change for change in changes.values() if not same_json(change.before, change.after))


def forced(content: Any, change: Change) -> Any:
    """A content with a part replaced, whatever it was; unchanged if there is no place for it."""
    try:
        return with_change(content, Change(change.field, value_at(content, change.field), change.after))
    except (DataError, IndexError, KeyError):
        return content


def finding_row(finding: Finding) -> dict[str, str]:
    """A finding as the log and the pages have it."""
    return {
        "rule": finding.rule,
        "field": finding.field,
        "message": finding.message,
        "severity": finding.level,
    }


def _finding(row: Mapping[str, Any]) -> Finding:
    level = _LEVELS.get(str(row.get("severity")), "error")
    return fault(str(row.get("rule")), str(row.get("message")), str(row.get("field")), level)


_LEVELS: Mapping[str, FindingLevel] = {level: level for level in get_args(FindingLevel)}


def describes_error(past: Pass) -> bool | None:
    """Whether a review that has ended found an error: it rejected the item or changed it; None while it is open."""
    if past.outcome is None:
        return None
    return past.outcome.after != "approve" or past.outcome.version != past.base


def details(entry: Entry) -> Mapping[str, Any]:
    """The object in an entry about a round or a person."""
    return as_object(entry.after)
