"""What people do in a review, as operations on a store. Every front end, terminal or page, works through this.

Each operation names the digest of the content that the person saw. If the item has changed since, nothing is written and
`EditConflict` says what is there now, so nobody's text is overwritten.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, cast

from wildtool import json_codec
from wildtool.errors import DataError, RecordError, UsageError, unknown_name
from wildtool.findings import Finding, custom_findings, fault, rules_identity
from wildtool.review.formats import format_of
from wildtool.review.formats.base import RawItem, ReviewFormat
from wildtool.review.history import (
    MODEL_SOURCE,
    REASON_CODES,
    DecisionChoice,
    EditConflict,
    ItemHistory,
    finding_row,
)
from wildtool.review.log import Draft, Entry, chained, now, verified
from wildtool.review.people import ROLES, Person, check_name, new_token, token_hash
from wildtool.review.pointers import Change, changed, check_together, content_digest, same_json
from wildtool.review.rounds import assigned_pairs, draw_sample
from wildtool.review.state import State, fold
from wildtool.review.store.base import Store, StoreConflict
from wildtool.review.twins import twin_drafts

BENCHMARK_SETTING = "benchmark"
_RULES_SETTING = "rules"
"""The rules of packages that have seen all items."""
_TOKEN_SETTING = "token "
CHOICES: tuple[DecisionChoice, ...] = ("approve", "approve with edits", "reject", "discuss")
_IMPORT_SIZE = 500
"""Items of one transaction."""
_KEPT_ITEMS = 64
"""Items that are kept in memory with their content."""
_SNAPSHOT_AFTER = 500
"""Entries after which the folded state is kept again, or a tenth of the items if that is more: it takes time for each."""
_ROUND_TRIES = 50
"""Times that a round is drawn again because items of it were changed meanwhile, such as by rules in the background."""
_PORTION_S = 0.05
"""Seconds of rules in one transaction: somebody may wait for the thread."""


class ReviewProject:
    """A review: the store, and the state folded from it. For one thread; several processes may use one store."""

    def __init__(self, store: Store, format_: ReviewFormat, clock: Callable[[], str] = now) -> None:
        """Folds what is in the store, from its last snapshot on if that follows from the log."""
        self.store = store
        self.format = format_
        self._clock = clock
        self._items: OrderedDict[str, ItemHistory] = OrderedDict()
        data = store.snapshot()
        kept = State.load(format_, data) if data else None
        # Snapshots without a digest are of an older wildtool.
        self._doubtful = bool(data) and not data.startswith(b"{") and not (kept and self._is_logged(kept))
        self.state = State(format_) if kept is None or self._doubtful else kept
        self._snapshot = self.state.n
        self._custom_rules = rules_identity(format_.name)
        try:
            self.refresh()
        except RecordError:
            # What the index gives of an item may not follow from the log; a whole log does without it.
            self.state, self._doubtful = State(format_), True
            self.refresh()
        before = json_codec.loads(store.setting(_RULES_SETTING) or "[]")
        fresh = any(rule not in before for rule in self._custom_rules)
        self._recheck = dict.fromkeys(self.state.items) if fresh else {}
        """Items that rules of packages have not seen, which were added or changed since."""

    @classmethod
    def create(cls, store: Store, format_: ReviewFormat) -> "ReviewProject":
        """The review in a store, which is made for a format if it is new. Raises UsageError if it is of another one."""
        known = store.setting(BENCHMARK_SETTING)
        if known is None:
            store.set_setting(BENCHMARK_SETTING, format_.name)
        elif known != format_.name:
            raise UsageError(
                f"this review is of {known}, not of {format_.name}; name another file with --store"
            )
        return cls(store, format_)

    @classmethod
    def open(cls, store: Store) -> "ReviewProject":
        """The review in a store. Raises UsageError if there is none."""
        known = store.setting(BENCHMARK_SETTING)
        if known is None:
            raise UsageError("there is no review yet; start one with `wildtool review start SET`")
        return cls(store, format_of(known))

    def close(self) -> None:
        """Keeps the folded state, and closes the store."""
        self._keep_state()
        self.store.close()

    def refresh(self) -> list[Entry]:
        """Takes what others have written meanwhile, and returns it."""
        fresh = list(self.store.read(self.state.n))
        for entry in fresh:
            self._items.pop(entry.item, None)
        self.state.add(fresh, self._history(fresh))
        if self.state.n - self._snapshot >= max(_SNAPSHOT_AFTER, len(self.state.items) // 10):
            self._keep_state()
        return fresh

    def verify(self, name: str, last: str | None = None) -> int:
        """Checks the whole log, and that the index and the state follow from it; returns the number of entries.

        Args:
            name: of the store, for messages.
            last: digest that the last entry must have; None for the one that the store noted.

        Raises RecordError naming the first bad entry.
        """
        if self.follow_log(name, last):
            raise RecordError(
                f"{name}: the state or the index that was kept did not follow from the log; it has been computed again"
            )
        return self.state.n

    def follow_log(self, name: str, last: str | None = None) -> bool:
        """Computes index and state from the whole log; whether those that were kept did not follow from it.

        Args and errors as of `verify`.
        """
        self.refresh()
        entries = list(verified(self.store.lines(), name, last=last or self.store.head()[1]))
        again = fold(self.format, entries)
        # Only what was computed from the log can be wrong: it has just been found intact.
        wrong = self.store.mend_index(entries) or self._doubtful or again.dump() != self.state.dump()
        if wrong:
            self.state, self._doubtful = again, False
            self._items.clear()
            self.store.save_snapshot(again.n, again.dump())
        return wrong

    def item(self, item: str) -> ItemHistory:
        """An item with its versions and reviews. Raises UsageError if there is none of that id."""
        if item not in self.state.items:
            raise UsageError("there is no item {0} in this review", item)
        if item not in self._items:
            self._items[item] = ItemHistory(self.format, self.store.history(item))
            if len(self._items) > _KEPT_ITEMS:
                self._items.popitem(last=False)
        self._items.move_to_end(item)
        return self._items[item]

    def histories(self, items: Iterable[str] | None = None) -> Iterator[ItemHistory]:
        """Items with their versions, one after another; all of them if none are named."""
        return (self.item(item) for item in (list(self.state.items) if items is None else items))

    # Items and rules ------------------------------------------------------------------------------------

    def import_items(self, items: Iterable[RawItem], note: str = "") -> int:
        """Adds the items that are not there yet; returns their number.

        Raises UsageError if one is there with another content.
        """
        added: list[Draft] = []
        count = 0
        seen: set[str] = set()
        for raw in items:
            digest = content_digest(raw.content)
            if raw.id in seen:
                raise DataError(f"{raw.id}: the id occurs twice in the set")
            seen.add(raw.id)
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

    def check_items(self) -> Iterator[str]:
        """Runs the rules over all items whose current version was not checked yet; yields each id."""
        while checked := self.check_some():
            yield from checked

    def check_some(self, seconds: float = _PORTION_S) -> list[str]:
        """Runs the rules over some of the items whose current version was not checked yet, or not by all of them.

        What was found is on the disk afterwards. Where several processes do this, one of them is a portion ahead of the
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
                findings = self._findings(history.content)
                if findings != history.findings():
                    drafts.append(_check_draft(item.id, item.digest, findings))
                checked.append(item.id)
                if monotonic() >= end:
                    break
        if self._attempt(drafts) is None:
            for item in checked:
                self._recheck.pop(item, None)
        if self._custom_rules and not checked:
            self.store.set_setting(_RULES_SETTING, json_codec.dumps(self._custom_rules).decode())
        return checked

    def check_item(self, item: str) -> ItemHistory:
        """Runs the rules over an item, unless its current version was checked."""
        return self._write(
            item,
            lambda found: [] if found.digest in found.checks else [self._check(found.id, found.content)],
        )

    def open_findings(self, item: str) -> list[Finding]:
        """What the rules find in the current version of an item, also if they were never run over it."""
        found = self.item(item)
        known = found.findings()
        return self._findings(found.content) if known is None else known

    def why_not(self, found: ItemHistory, who: str) -> str:
        """Why a person cannot edit an item or decide on it now; empty if they can."""
        last = found.open
        if not self.state.may(who, "reviewer"):
            return "you take no part in this review"
        if last is not None and last.conflicts():
            return "waits for an adjudicator"
        if last is not None and last.people and who not in last.people:
            return "is under review by others"
        return ""

    # Reviewing ------------------------------------------------------------------------------------------

    def edit(
        self, who: str, item: str, seen: str, changes: Sequence[Change], *, model: str = "", note: str = ""
    ) -> ItemHistory:
        """Replaces parts of an item, runs all rules, and marks the tasks after them as stale.

        Args:
            seen: digest of the content that the person saw.
            changes: each with the value before, as the person saw it.
            model: name of the model that wrote the text; empty for the person.

        Raises EditConflict if the item is not what was seen, UsageError if the person may not change it.
        """
        reason = (f"{MODEL_SOURCE}{model}",) if model else ()
        return self._edit("edit", who, item, seen, changes, reason, note)

    def choose(
        self, who: str, item: str, seen: str, change: Change, candidate: int | None, note: str = ""
    ) -> ItemHistory:
        """Takes a candidate as the text of a task, or a text merged from several.

        Args: candidate: its position; None for a merged text.

        Raises as `edit`.
        """
        reason = ("merge",) if candidate is None else (f"candidate {candidate}",)
        return self._edit("choose", who, item, seen, [change], reason, note)

    def decide(
        self,
        who: str,
        item: str,
        seen: str,
        choice: DecisionChoice,
        reasons: Sequence[str] = (),
        note: str = "",
    ) -> ItemHistory:
        """Records a person's decision; if all who were asked agree, the review of the item ends.

        An approval of what the person has edited is an `approve with edits`.

        Raises EditConflict if the item is not what was seen, UsageError if the decision is not possible.
        """
        self._check_choice(choice, reasons)

        def plan(found: ItemHistory) -> list[Draft]:
            self._check_may_work(found, who)
            _, digest = self._seen(found, who, seen)
            stale = found.stale_for(who)
            if choice.startswith("approve") and stale:
                tasks = ", ".join(str(t + 1) for t in sorted(stale))
                raise UsageError(
                    "an earlier task or the twin was changed: check task {0} again before you approve",
                    tasks,
                )
            branch = found.branch_of(who)
            if branch is not None:
                edited = bool(branch.entries)
            else:
                edited = digest != (found.outcome.version if found.outcome else found.versions[0].digest)
            made = cast(DecisionChoice, "approve with edits") if choice == "approve" and edited else choice
            number = found.open.round if found.open else 0
            name = who if branch is not None else ""
            common: dict[str, Any] = {"reason": tuple(reasons), "round": number, "note": note, "branch": name}
            return self._settled(found, [Draft("decision", who, item, version=digest, after=made, **common)])

        return self._write(item, plan)

    def resolve(
        self,
        who: str,
        item: str,
        seen: str,
        choice: DecisionChoice,
        changes: Sequence[Change] = (),
        reasons: Sequence[str] = (),
        note: str = "",
    ) -> ItemHistory:
        """Ends a conflict: the item takes the changes, and is approved or rejected.

        Args:
            seen: digest of the item's own current version.
            changes: against that version, such as those of `ItemHistory.proposal`.

        Raises EditConflict if the item has changed, UsageError if there is no conflict, the person is no adjudicator, or
        changes exclude each other.
        """
        self._check_role(who, "adjudicator")
        if choice not in ("approve", "reject"):
            raise UsageError("a conflict ends with approve or reject, not with {0}", choice)
        self._check_choice(choice, reasons if choice == "reject" else ())
        check_together(changes)

        def plan(found: ItemHistory) -> list[Draft]:
            if found.open is None or not found.open.conflicts():
                raise UsageError("{0} has no open conflict", item)
            if seen != found.digest:
                raise EditConflict(item, seen, found.digest, found.content)
            edits, content = self._edits("edit", who, found, "", found.content, changes, (), "resolved")
            digest = content_digest(content)
            outcome = Draft("resolve", who, item, version=digest, after=choice)
            outcome = replace(outcome, reason=tuple(reasons), round=found.open.round, note=note)
            return [*edits, *([self._check(item, content)] if digest not in found.checks else []), outcome]

        return self._write(item, plan)

    def recheck(self, who: str, item: str, seen: str, tasks: Sequence[int], note: str = "") -> ItemHistory:
        """Records that a person has checked tasks again after an earlier one was changed. Raises as `decide`."""

        def plan(found: ItemHistory) -> list[Draft]:
            self._check_may_work(found, who)
            _, digest = self._seen(found, who, seen)
            branch = who if found.branch_of(who) is not None else ""
            return [Draft("recheck", who, item, branch, version=digest, after=sorted(set(tasks)), note=note)]

        return self._write(item, plan)

    def remark(self, who: str, item: str, text: str, field: str = "") -> ItemHistory:
        """Keeps a remark about an item, or about a part of it."""
        self._check_role(who, "reviewer")
        return self._write(
            item, lambda found: [Draft("note", who, item, version=found.digest, field=field, note=text)]
        )

    # Rounds and people ----------------------------------------------------------------------------------

    def open_round(
        self, who: str, people: Sequence[str], *, seed: str = "1", share: float = 0.2, reviewers: int = 2
    ) -> list[str]:
        """Draws a sample and assigns each of its items to a pair of people; returns the items.

        Args:
            people: who reviews in this round.
            share: of all items.
            reviewers: per item, 1 or 2.

        Raises UsageError if nothing is left to draw, or somebody is not known.
        """
        self._check_role(who, "owner")
        names = list(dict.fromkeys(people))
        for name in names:
            if self.state.people and not self.state.may(name, "reviewer"):
                raise UsageError(
                    unknown_name("reviewer", name, [p.name for p in self.state.people.values() if p.active])
                )
        number = len(self.state.rounds) + 1
        for _ in range(_ROUND_TRIES):
            drafts = self._round(who, number, names, seed, share, reviewers)
            conflict = self._attempt(drafts)
            if conflict is None:
                return [draft.item for draft in drafts[1:]]
            if not conflict.item:
                break  # somebody else has opened a round
        raise UsageError("somebody else changed the same at the same time; try again")

    def _round(
        self, who: str, number: int, names: Sequence[str], seed: str, share: float, reviewers: int
    ) -> list[Draft]:
        """What opens a round: its sample, then each of its items with its pair."""
        sample = draw_sample(self.state, share, f"{seed}/{number}")
        if not sample.items:
            raise UsageError("there is nothing to draw: every item is in a review that has not ended")
        last = self.state.rounds[-1].pairs if self.state.rounds else ()
        pairs = assigned_pairs(names, number, last, size=reviewers)
        about = {
            "seed": seed,
            "share": share,
            "items": list(sample.items),
            "people": list(names),
            "pairs": [list(pair) for pair in pairs],
            "fresh": sample.fresh,
        }
        drafts = [Draft("round opened", who, after=about, round=number)]
        for k, item in enumerate(sample.items):
            pair, summary = list(pairs[k % len(pairs)]), self.state.items[item]
            drafts.append(Draft("assign", who, item, version=summary.digest, after=pair, round=number))
        return drafts

    def close_round(self, who: str, number: int, note: str = "") -> None:
        """Ends a round. Raises UsageError if there is none of that number, or items of it are open."""
        self._check_role(who, "owner")
        found = next((one for one in self.state.rounds if one.number == number), None)
        if found is None or found.closed:
            raise UsageError("round {0} is not open", number)
        left = [
            item
            for item in found.items
            if any(p.round == number and not p.ended for p in self.state.items[item].passes)
        ]
        if left:
            raise UsageError(
                "round {0} has {1} items without a result, such as {2}", number, len(left), left[0]
            )
        self._append([Draft("round closed", who, round=number, note=note)])

    def add_person(self, who: str, name: str, role: str) -> str:
        """Adds a person, or changes their role; returns a new token, which replaces an older one."""
        self._check_role(who, "owner")
        name = check_name(name)
        if role not in ROLES:
            raise UsageError(unknown_name("role", role, ROLES))
        self._append([Draft("person", who, field=name, after={"role": role})])
        self._remove_token(name)
        token = new_token()
        self.store.set_setting(_TOKEN_SETTING + token_hash(token), name)
        return token

    def revoke_person(self, who: str, name: str) -> None:
        """Takes a person's token and role; what they did stays. Raises UsageError for an unknown name."""
        self._check_role(who, "owner")
        person = self.state.people.get(name)
        if person is None:
            raise UsageError(unknown_name("person", name, self.state.people))
        self._remove_token(name)
        self._append([Draft("person", who, field=name, after={"role": person.role, "active": False})])

    def person_of(self, token: str) -> Person | None:
        """The active person with this token."""
        return self.person_of_hash(token_hash(token))

    def person_of_hash(self, digest: str) -> Person | None:
        """The active person with the token of this hash."""
        person = self.state.people.get(self.store.setting(_TOKEN_SETTING + digest) or "")
        return person if person and person.active else None

    # Files ----------------------------------------------------------------------------------------------

    def settle(self, items: Iterable[str]) -> int:
        """Ends reviews on which all agree, after logs were merged; returns their number."""
        count = 0
        for item in items:
            drafts = self._settled(self.item(item), [])
            if drafts:
                self._write(item, lambda found: self._settled(found, []))
                count += 1
        return count

    def restore(self, entries: Sequence[Entry]) -> None:
        """Appends entries of a whole log as they are; into an empty review they come out the same."""
        expected: dict[str, int] = {}
        for entry in entries:
            expected.setdefault(entry.item, self.state.last_of(entry.item))
        if isinstance(self.store.append(entries, expected), StoreConflict):
            raise UsageError("somebody else writes into this review; try again")
        self.refresh()

    def append_general(self, draft: Draft) -> None:
        """Appends an entry of a file about rounds or people."""
        self._append([draft])

    def append_about(self, item: str, plan: Callable[[ItemHistory | None], list[Draft]]) -> None:
        """Appends entries of a file about an item, planned again if somebody else writes meanwhile."""
        while True:
            found = self.item(item) if item in self.state.items else None
            drafts = plan(found)
            result = self.store.append(drafts, {item: self.state.last_of(item)}) if drafts else []
            self.refresh()
            if not isinstance(result, StoreConflict):
                return

    # Inside ---------------------------------------------------------------------------------------------

    def _edit(
        self,
        kind: str,
        who: str,
        item: str,
        seen: str,
        changes: Sequence[Change],
        reason: tuple[str, ...],
        note: str,
    ) -> ItemHistory:
        def plan(found: ItemHistory) -> list[Draft]:
            self._check_may_work(found, who)
            content, _ = self._seen(found, who, seen)
            branch = who if found.branch_of(who) is not None else ""
            edits, content = self._edits(kind, who, found, branch, content, changes, reason, note)
            digest = content_digest(content)
            return [*edits, *([self._check(item, content)] if edits and digest not in found.checks else [])]

        return self._write(item, plan)

    def _edits(
        self,
        kind: Any,
        who: str,
        found: ItemHistory,
        branch: str,
        content: Any,
        changes: Iterable[Change],
        reason: tuple[str, ...],
        note: str,
    ) -> tuple[list[Draft], Any]:
        """The drafts of changes that follow each other, and the content that results."""
        drafts: list[Draft] = []
        number = found.open.round if found.open else 0
        for change in changes:
            if same_json(change.before, change.after):
                continue
            before = content_digest(content)
            content = changed(content, change)
            parts: dict[str, Any] = {"field": change.field, "before": change.before, "after": change.after}
            about: dict[str, Any] = {"reason": reason, "round": number, "note": note}
            drafts.append(
                Draft(kind, who, found.id, branch, before, content_digest(content), **parts, **about)
            )
        return drafts, content

    def _settled(self, found: ItemHistory, drafts: list[Draft]) -> list[Draft]:
        """The drafts, and what ends the review if all agree after them."""
        n = found.entries[-1].n
        after = ItemHistory(self.format, [*found.entries, *chained(drafts, n, "")])
        last = after.open
        if last is None or last.contested or not last.complete or last.conflicts():
            return drafts
        decisions = list(last.decisions.values())
        rejected = decisions[0].after == "reject"
        made, content = list(drafts), after.content
        branch = next(iter(last.branches.values()), None)
        for entry in branch.entries if branch and not rejected else ():
            edits, content = self._edits(
                entry.kind, entry.who, after, "", content, [entry.change], entry.reason, entry.note
            )
            made += [replace(edit, when=entry.when) for edit in edits]
        reasons = tuple(dict.fromkeys(reason for entry in decisions for reason in entry.reason))
        outcome = Draft("settle", decisions[-1].who, after.id, version=content_digest(content))
        return [
            *made,
            replace(outcome, after="reject" if rejected else "approve", reason=reasons, round=last.round),
        ]

    def _check(self, item: str, content: Any) -> Draft:
        return _check_draft(item, content_digest(content), self._findings(content))

    def _findings(self, content: Any) -> list[Finding]:
        try:
            return [*self.format.check(content), *custom_findings(self.format.name, content)]
        except Exception as error:  # noqa: BLE001 - an item may hold anything, and people must be able to mend it
            return [fault("rules", f"the rules fail on this item ({type(error).__name__}: {error})")]

    def _seen(self, found: ItemHistory, who: str, seen: str) -> tuple[Any, str]:
        content, digest = found.seen_by(who)
        if digest != seen:
            raise EditConflict(found.id, seen, digest, content)
        return content, digest

    def _check_may_work(self, found: ItemHistory, who: str) -> None:
        self._check_role(who, "reviewer")
        if problem := self.why_not(found, who):
            raise UsageError("{0}: this item {1}", found.id, problem)

    def _check_role(self, who: str, role: str) -> None:
        if not self.state.may(who, role):
            own = self.state.role(who)
            if own:
                raise UsageError("this takes the role {0}; {1} is only {2}", role, who, own)
            raise UsageError("this takes the role {0}; {1} is not in this review", role, who)

    def _check_choice(self, choice: str, reasons: Sequence[str]) -> None:
        if choice not in CHOICES:
            raise UsageError(unknown_name("decision", choice, CHOICES))
        for reason in reasons:
            if reason not in REASON_CODES:
                raise UsageError(unknown_name("reason", reason, REASON_CODES))
        if choice == "reject" and not reasons:
            raise UsageError("say why it is rejected; reasons are: {0}", ", ".join(REASON_CODES))

    def _remove_token(self, name: str) -> None:
        for key, owner in self.store.settings(_TOKEN_SETTING).items():
            if owner == name:
                self.store.set_setting(key, None)

    def _write(self, item: str, plan: Callable[[ItemHistory], list[Draft]]) -> ItemHistory:
        """Appends what is planned for an item; plans again if somebody else wrote meanwhile."""
        while True:
            found = self.item(item)
            planned = plan(found)
            if not planned:
                return found
            planned += twin_drafts(self.state, found, planned)
            drafts = [draft if draft.when else replace(draft, when=self._clock()) for draft in planned]
            expected = {draft.item: self.state.last_of(draft.item) for draft in drafts}
            result = self.store.append(drafts, {**expected, item: found.entries[-1].n})
            self.refresh()
            if not isinstance(result, StoreConflict):
                return self.item(item)

    def _append(self, drafts: Sequence[Draft]) -> None:
        """Appends what belongs together. Raises UsageError if somebody else wrote about the same meanwhile."""
        if self._attempt(drafts):
            raise UsageError("somebody else changed the same at the same time; try again")

    def _attempt(self, drafts: Sequence[Draft]) -> StoreConflict | None:
        """Appends what belongs together, or nothing if somebody else wrote about the same meanwhile."""
        expected = {draft.item: self.state.last_of(draft.item) for draft in drafts}
        made = [draft if draft.when else replace(draft, when=self._clock()) for draft in drafts]
        result = self.store.append(made, expected) if made else []
        self.refresh()
        return result if isinstance(result, StoreConflict) else None

    def _is_logged(self, state: State) -> bool:
        """Whether a state is of an entry of this log."""
        entry = next(self.store.read(state.n - 1), None) if state.n else None
        return entry is not None and (entry.n, entry.digest) == (state.n, state.digest)

    def _history(self, fresh: Sequence[Entry]) -> Callable[[str], Sequence[Entry]]:
        """All entries of an item; items that are new in `fresh` need not be read again."""
        new: dict[str, list[Entry]] = {}
        for entry in fresh:
            if entry.item and (entry.kind == "import" or entry.item in new):
                new.setdefault(entry.item, []).append(entry)
        return lambda item: new[item] if item in new else self.store.history(item)

    def _keep_state(self) -> None:
        if self.state.n > self._snapshot:
            self.store.save_snapshot(self.state.n, self.state.dump())
            self._snapshot = self.state.n


def _check_draft(item: str, digest: str, findings: Iterable[Finding]) -> Draft:
    return Draft("check", "rules", item, version=digest, after=[finding_row(finding) for finding in findings])
