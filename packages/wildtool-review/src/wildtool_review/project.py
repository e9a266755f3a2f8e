"""What people do in a review, as operations on a store. Every front end, terminal or page, works through this.

Each operation names the digest of the content that the person saw. If the item has changed since, nothing is written and
`EditConflict` says what is there now, so nobody's text is overwritten.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, cast

from wildtool import json_codec
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.findings import Finding, custom_findings, fault, rules_identity
from wildtool_data.formats import format_of
from wildtool_data.formats.base import RawItem, ReviewFormat
from wildtool_data.pointers import Change, check_together, content_digest, same_json, with_change
from wildtool_review.history import (
    MODEL_SOURCE,
    REASON_CODES,
    DecisionChoice,
    EditConflict,
    ItemHistory,
    finding_row,
)
from wildtool_review.log import Draft, chained, now
from wildtool_review.state import REVIEWERS_FIELD
from wildtool_review.store.base import Store
from wildtool_review.team import ReviewTeam

BENCHMARK_SETTING = "benchmark"
_RULES_SETTING = "rules"
"""The rules of packages that have seen all items."""
CHOICES: tuple[DecisionChoice, ...] = ("approve", "approve with edits", "reject", "discuss")
_IMPORT_SIZE = 500
"""Items of one transaction."""
_PORTION_S = 0.05
"""Seconds of rules in one transaction: somebody may wait for the thread."""


class OpenFindingsError(UsageError):
    """An approval of what a release would refuse."""


class ReviewProject(ReviewTeam):
    """A review: its items, what rules find in them, and what people decide."""

    def __init__(self, store: Store, format_: ReviewFormat, clock: Callable[[], str] = now) -> None:
        """Folds what is in the store. Raises UsageError for a rule of a package that cannot be used."""
        self._custom_rules = rules_identity(format_.name)
        super().__init__(store, format_, clock)
        before: list[Any] = json_codec.loads(store.setting(_RULES_SETTING) or "[]")
        fresh = any(rule not in before for rule in self._custom_rules)
        self._recheck = dict.fromkeys(self.state.items) if fresh else {}
        """Items that rules of packages have not seen, which were added or changed since."""
        self.is_checked_later: Callable[[Any], bool] = lambda content: False
        """Whether the rules read a content after it is saved, by `findings_in` and `keep_check`, and not with it."""

    @classmethod
    def create(cls, store: Store, format_: ReviewFormat) -> "ReviewProject":
        """The review in a store, which is made for a format if it is new. Raises UsageError if it is of another one."""
        benchmark = store.setting(BENCHMARK_SETTING)
        if benchmark is None:
            store.set_setting(BENCHMARK_SETTING, format_.name)
        elif benchmark != format_.name:
            raise UsageError(
                f"this review is of {benchmark}, not of {format_.name}; name another file with --store"
            )
        return cls(store, format_)

    @classmethod
    def open(cls, store: Store) -> "ReviewProject":
        """The review in a store. Raises UsageError if there is none."""
        benchmark = store.setting(BENCHMARK_SETTING)
        if benchmark is None:
            raise UsageError("there is no review yet; start one with `wildtool review start SET`")
        return cls(store, format_of(benchmark))

    # Items and rules ------------------------------------------------------------------------------------

    def import_items(self, items: Iterable[RawItem], note: str = "") -> int:
        """Adds the items that are not there yet; returns their number.

        Raises UsageError if one is there with another content.
        """
        added: list[Draft] = []
        count = 0
        ids: set[str] = set()
        for raw in items:
            digest = content_digest(raw.content)
            if raw.id in ids:
                raise DataError(f"{raw.id}: the id occurs twice in the set")
            ids.add(raw.id)
            if raw.id in self.state.items:
                if self.item(raw.id).versions[0].digest != digest:
                    raise UsageError(
                        f"{raw.id} is in the review already, with another content; the set was changed since. "
                        "Name another file with --store"
                    )
                continue
            draft = Draft("import", "import", raw.id, content=digest, after=raw.content, note=note)
            added.append(draft)
            count += 1
            if len(added) == _IMPORT_SIZE:
                self._append(added)
                added = []
        self._append(added)
        return count

    def keep_reviewers(self, number: int, note: str = "") -> None:
        """Keeps how many people have to review each item, as the set says now, in the log."""
        if number != self.state.reviewers:
            self._append([Draft("import", "import", field=REVIEWERS_FIELD, after=number, note=note)])

    def check_items(self) -> Iterator[str]:
        """Runs the rules over all items whose current version was not checked yet; yields each id."""
        while checked := self.check_some():
            yield from checked

    def check_some(self, seconds: float = _PORTION_S) -> list[str]:
        """Runs the rules over some of the items whose current version was not checked yet, or not by all of them.

        What was history is on the disk afterwards. Where several processes do this, one of them is a portion ahead of the
        others, whose work on it is lost.

        Args: seconds: after which the item at hand is the last one.

        Returns the ids; none if all items are checked.
        """
        self.refresh()
        end = monotonic() + seconds
        checked: list[str] = []
        drafts: list[Draft] = []
        for item in self.state.items.values():
            if item.warnings is None or item.id in self._recheck:
                history = self.item(item.id)
                if self.is_checked_later(history.content):
                    continue
                findings = self.findings_in(history.content)
                if findings != history.findings():
                    drafts.append(_check_draft(item.id, item.digest, findings))
                checked.append(item.id)
                if monotonic() >= end:
                    break
        if self._attempt(drafts) is None:
            for item in checked:
                self._recheck.pop(item, None)
        if not checked:
            self._note_rules()
        return checked

    def checked_later(self) -> list[tuple[str, str]]:
        """Id and digest of the items that `check_some` leaves to `findings_in` and `keep_check`, since they are long."""
        return [
            (item.id, item.digest)
            for item in self.state.items.values()
            if (item.warnings is None or item.id in self._recheck)
            and self.is_checked_later(self.item(item.id).content)
        ]

    def _note_rules(self) -> None:
        """Keeps which rules of packages have seen all items, once they have."""
        if self._custom_rules and not self._recheck:
            self.store.set_setting(_RULES_SETTING, json_codec.dumps(self._custom_rules).decode())

    def check_item(self, item: str) -> ItemHistory:
        """Runs the rules over an item, unless its current version was checked."""
        return self._write(item, lambda history: self._checks(history, history.content))

    def keep_check(self, item: str, digest: str, findings: Iterable[Finding]) -> ItemHistory:
        """Keeps what the rules find in a content of an item, unless that is known."""
        found = list(findings)
        history = self._write(
            item,
            lambda history: [] if history.findings(digest) == found else [_check_draft(item, digest, found)],
        )
        if history.digest == digest and item in self._recheck:
            del self._recheck[item]
            self._note_rules()
        return history

    def open_findings(self, item: str) -> list[Finding]:
        """What a release refuses an approved item for in its current version, also if rules were never run over it."""
        history = self.item(item)
        return self._open_findings(history, history.content)

    def _open_findings(self, history: ItemHistory, content: Any) -> list[Finding]:
        checked = history.findings(content_digest(content))
        if checked is None and self.is_checked_later(content):
            raise UsageError("the rules still read this item, which is long; try again when they are done")
        findings = self.findings_in(content) if checked is None else checked
        # A note says what to look at, and an approval says that somebody did.
        return [finding for finding in findings if finding.level != "note"]

    def _checks(self, history: ItemHistory, content: Any) -> list[Draft]:
        """What the rules find in a content; nothing if that is known, or comes later."""
        digest = content_digest(content)
        if digest in history.checks or self.is_checked_later(content):
            return []
        return [_check_draft(history.id, digest, self.findings_in(content))]

    def _check_findings(self, history: ItemHistory, content: Any) -> None:
        """Raises OpenFindingsError with the reason if a release would refuse an approved item with this content."""
        findings = self._open_findings(history, content)
        if findings:
            raise OpenFindingsError(
                "Not approved, since a release would refuse it: {0}: {1}",
                findings[0].rule,
                findings[0].message,
            )

    def findings_in(self, content: Any) -> list[Finding]:
        """What the rules find in a content; for any thread."""
        try:
            return [*self.format.check(content), *custom_findings(self.format.name, content)]
        except Exception as error:  # noqa: BLE001 - an item may hold anything, and people must be able to mend it
            return [fault("rules", f"the rules fail on this item ({type(error).__name__}: {error})")]

    # Reviewing ------------------------------------------------------------------------------------------

    def why_not(self, history: ItemHistory, person: str) -> str:
        """Why a person cannot edit an item or decide on it now; empty if they can."""
        last = history.open
        if not self.state.may(person, "reviewer"):
            return "you take no part in this review"
        if last is not None and last.conflicts():
            return "waits for an adjudicator"
        if last is not None and last.people and person not in last.people:
            return "is under review by others"
        return ""

    def check_may_work(self, history: ItemHistory, person: str) -> None:
        """Raises UsageError saying why a person cannot edit an item or decide on it now."""
        self._check_role(person, "reviewer")
        if problem := self.why_not(history, person):
            raise UsageError("{0}: this item {1}", history.id, problem)

    def edit(
        self, person: str, item: str, base: str, changes: Sequence[Change], *, model: str = "", note: str = ""
    ) -> ItemHistory:
        """Replaces parts of an item, runs all rules, and marks the tasks after them as stale.

        Args:
            base: digest of the content that the person saw.
            changes: each with the value before, as the person saw it.
            model: name of the model that wrote the text; empty for the person.

        Raises EditConflict if the item is not what was seen, UsageError if the person may not change it.
        """
        reason = (f"{MODEL_SOURCE}{model}",) if model else ()
        return self._edit("edit", person, item, base, changes, reason, note)

    def choose(
        self, person: str, item: str, base: str, change: Change, candidate: int | None, note: str = ""
    ) -> ItemHistory:
        """Takes a candidate as the text of a task, or a text merged from several.

        Args: candidate: its position; None for a merged text.

        Raises as `edit`.
        """
        reason = ("merge",) if candidate is None else (f"candidate {candidate}",)
        return self._edit("choose", person, item, base, [change], reason, note)

    def decide(
        self,
        person: str,
        item: str,
        base: str,
        choice: DecisionChoice,
        reasons: Sequence[str] = (),
        note: str = "",
        *,
        despite_findings: bool = True,
    ) -> ItemHistory:
        """Records a person's decision; if all who were asked agree, the review of the item ends.

        An approval of what the person has edited is an `approve with edits`.

        Args: despite_findings: whether an item can be approved in which rules find something.

        Raises EditConflict if the item is not what was seen, UsageError if the decision is not possible.
        """
        self._check_choice(choice, reasons)

        def plan(history: ItemHistory) -> list[Draft]:
            self.check_may_work(history, person)
            content, digest = self._content_at(history, person, base)
            stale = history.stale_for(person)
            if choice.startswith("approve") and stale:
                tasks = ", ".join(str(t + 1) for t in sorted(stale))
                raise UsageError(
                    "an earlier task or the twin was changed: check task {0} again before you approve",
                    tasks,
                )
            if choice.startswith("approve") and not despite_findings:
                self._check_findings(history, content)
            branch = history.branch_of(person)
            if branch is not None:
                edited = bool(branch.entries)
            else:
                edited = digest != (
                    history.outcome.version if history.outcome else history.versions[0].digest
                )
            decision = (
                cast(DecisionChoice, "approve with edits") if choice == "approve" and edited else choice
            )
            number = history.open.round if history.open else 0
            name = person if branch is not None else ""
            common: dict[str, Any] = {"reason": tuple(reasons), "round": number, "note": note, "branch": name}
            return self._settled(
                history, [Draft("decision", person, item, version=digest, after=decision, **common)]
            )

        return self._write(item, plan)

    def withdraw(self, person: str, item: str, base: str, note: str = "") -> ItemHistory:
        """Takes back a person's decision on an item, and what it ended; both stay in the log.

        Raises EditConflict if the item is not what was seen, UsageError if there is no decision that can be taken back.
        """
        self._check_role(person, "reviewer")

        def plan(history: ItemHistory) -> list[Draft]:
            _, digest = self._content_at(history, person, base)
            if not history.can_withdraw(person):
                raise UsageError("{0}: you have no decision here that can be taken back", item)
            branch = person if history.branch_of(person) is not None else ""
            number = history.passes[-1].round
            return [Draft("withdraw", person, item, branch, version=digest, round=number, note=note)]

        return self._write(item, plan)

    def resolve(
        self,
        person: str,
        item: str,
        base: str,
        choice: DecisionChoice,
        changes: Sequence[Change] = (),
        reasons: Sequence[str] = (),
        note: str = "",
        *,
        despite_findings: bool = True,
    ) -> ItemHistory:
        """Ends a conflict: the item takes the changes, and is approved or rejected.

        Args:
            base: digest of the item's own current version.
            changes: against that version, such as those of `ItemHistory.proposal`.
            despite_findings: as `decide` takes it.

        Raises EditConflict if the item has changed, UsageError if there is no conflict, the person is no adjudicator, or
        changes exclude each other.
        """
        self._check_role(person, "adjudicator")
        if choice not in ("approve", "reject"):
            raise UsageError("a conflict ends with approve or reject, not with {0}", choice)
        self._check_choice(choice, reasons)
        check_together(changes)

        def plan(history: ItemHistory) -> list[Draft]:
            if history.open is None or not history.open.conflicts():
                raise UsageError("{0} has no open conflict", item)
            if base != history.digest:
                raise EditConflict(item, base, history.digest, history.content)
            edits, content = self._edits(
                "edit", person, history, "", history.content, changes, (), "resolved"
            )
            if choice == "approve" and not despite_findings:
                self._check_findings(history, content)
            digest = content_digest(content)
            outcome = Draft("resolve", person, item, version=digest, after=choice)
            outcome = replace(outcome, reason=tuple(reasons), round=history.open.round, note=note)
            return [*edits, *self._checks(history, content), outcome]

        return self._write(item, plan)

    def recheck(self, person: str, item: str, base: str, tasks: Sequence[int], note: str = "") -> ItemHistory:
        """Records that a person has checked tasks again after an earlier one was changed. Raises as `decide`."""

        def plan(history: ItemHistory) -> list[Draft]:
            self.check_may_work(history, person)
            _, digest = self._content_at(history, person, base)
            branch = person if history.branch_of(person) is not None else ""
            numbers = sorted(set(tasks))
            return [Draft("recheck", person, item, branch, version=digest, after=numbers, note=note)]

        return self._write(item, plan)

    def remark(self, person: str, item: str, text: str, field: str = "") -> ItemHistory:
        """Keeps a remark about an item, or about a part of it."""
        self._check_role(person, "reviewer")
        return self._write(
            item,
            lambda history: [Draft("note", person, item, version=history.digest, field=field, note=text)],
        )

    def settle(self, items: Iterable[str]) -> int:
        """Ends reviews on which all agree, after logs were merged; returns their number."""
        count = 0
        for item in items:
            drafts = self._settled(self.item(item), [])
            if drafts:
                self._write(item, lambda history: self._settled(history, []))
                count += 1
        return count

    # Inside ---------------------------------------------------------------------------------------------

    def _edit(
        self,
        kind: str,
        person: str,
        item: str,
        base: str,
        changes: Sequence[Change],
        reason: tuple[str, ...],
        note: str,
    ) -> ItemHistory:
        def plan(history: ItemHistory) -> list[Draft]:
            self.check_may_work(history, person)
            content, _ = self._content_at(history, person, base)
            branch = person if history.branch_of(person) is not None else ""
            edits, content = self._edits(kind, person, history, branch, content, changes, reason, note)
            return [*edits, *(self._checks(history, content) if edits else [])]

        return self._write(item, plan)

    def _edits(
        self,
        kind: Any,
        person: str,
        history: ItemHistory,
        branch: str,
        content: Any,
        changes: Iterable[Change],
        reason: tuple[str, ...],
        note: str,
    ) -> tuple[list[Draft], Any]:
        """The drafts of changes that follow each other, and the content that results."""
        drafts: list[Draft] = []
        number = history.open.round if history.open else 0
        for change in changes:
            if same_json(change.before, change.after):
                continue
            before = content_digest(content)
            content = with_change(content, change)
            parts: dict[str, Any] = {"field": change.field, "before": change.before, "after": change.after}
            origin: dict[str, Any] = {"reason": reason, "round": number, "note": note}
            drafts.append(
                Draft(kind, person, history.id, branch, before, content_digest(content), **parts, **origin)
            )
        return drafts, content

    def _settled(self, history: ItemHistory, drafts: list[Draft]) -> list[Draft]:
        """The drafts, and what ends the review if all agree after them."""
        n = history.entries[-1].n
        after = ItemHistory(self.format, [*history.entries, *chained(drafts, n, "")])
        last = after.open
        if last is None or last.contested or not last.complete or last.conflicts():
            return drafts
        decisions = list(last.decisions.values())
        rejected = decisions[0].after == "reject"
        planned, content = list(drafts), after.content
        branch = next(iter(last.branches.values()), None)
        for entry in branch.entries if branch and not rejected else ():
            edits, content = self._edits(
                entry.kind, entry.who, after, "", content, [entry.change], entry.reason, entry.note
            )
            planned += [replace(edit, when=entry.when) for edit in edits]
        reasons = tuple(dict.fromkeys(reason for entry in decisions for reason in entry.reason))
        outcome = Draft("settle", decisions[-1].who, after.id, version=content_digest(content))
        return [
            *planned,
            replace(outcome, after="reject" if rejected else "approve", reason=reasons, round=last.round),
        ]

    def _content_at(self, history: ItemHistory, person: str, base: str) -> tuple[Any, str]:
        content, digest = history.seen_by(person)
        if digest != base:
            raise EditConflict(history.id, base, digest, content)
        return content, digest

    def _check_choice(self, choice: str, reasons: Sequence[str]) -> None:
        if choice not in CHOICES:
            raise UsageError(unknown_name("decision", choice, CHOICES))
        for reason in reasons:
            if reason not in REASON_CODES:
                raise UsageError(unknown_name("reason", reason, REASON_CODES))
        if choice == "reject" and not reasons:
            raise UsageError("say why it is rejected; reasons are: {0}", ", ".join(REASON_CODES))


def _check_draft(item: str, digest: str, findings: Iterable[Finding]) -> Draft:
    return Draft("check", "rules", item, version=digest, after=[finding_row(finding) for finding in findings])
