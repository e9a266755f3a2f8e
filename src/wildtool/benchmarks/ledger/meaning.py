"""Directives by what they mean: whether one says what was expected, and what lies between two books."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wildtool.benchmarks.ledger.book import Directive, Entries
from wildtool.benchmarks.ledger.records import LedgerChange


def is_match(expected: Directive, actual: Directive) -> bool:
    """Whether a directive says what was expected."""
    return _facts(expected) == _facts(actual) and actual.names_payee(expected.payee)


def _facts(entry: Directive) -> tuple[Any, ...]:
    """All but payee and narration. The day of an opening is free: beancount sees to it that it is early enough."""
    day = None if entry.kind == "open" else entry.date
    of_transaction = (Counter(entry.postings), entry.tags, sorted(entry.receipts))
    return entry.kind, day, *of_transaction, entry.account, entry.number, entry.currency


def unmatched(
    expected: Iterable[Directive], actual: Iterable[Directive]
) -> tuple[list[Directive], list[Directive]]:
    """What has no partner: of the expected, and of the actual directives."""
    rest, missing = [*actual], list[Directive]()
    for entry in expected:
        partner = next((other for other in rest if is_match(entry, other)), None)
        if partner is None:
            missing.append(entry)
        else:
            rest.remove(partner)
    return missing, rest


@dataclass(frozen=True, slots=True)
class BookDifference:
    """What lies between two books."""

    gone: Sequence[Directive]
    new: Sequence[Directive]

    def beside(self, changes: Iterable[LedgerChange]) -> tuple["BookDifference", "BookDifference"]:
        """What of these changes is missing, and what is there beside them."""
        changes = [*changes]
        not_gone, gone = unmatched((c.before for c in changes if c.before), self.gone)
        not_new, new = unmatched((c.after for c in changes if c.after), self.new)
        return BookDifference(not_gone, not_new), BookDifference(gone, new)

    @property
    def is_empty(self) -> bool:
        return not self.gone and not self.new


def difference_of(before: Entries, after: Entries) -> BookDifference:
    gone = [entry for key, entry in before.items() if after.get(key) != entry]
    new = [entry for key, entry in after.items() if before.get(key) != entry]
    # What went and came again under another id is no difference.
    missing, rest = unmatched(gone, new)
    return BookDifference(missing, rest)


def is_on_the_way(difference: BookDifference, changes: Sequence[LedgerChange]) -> bool:
    """Whether a book in between has some of the changes, each whole or, if it replaces an entry, field by field."""
    gone, new = [*difference.gone], [*difference.new]
    for change in changes:
        before, after = change.before, change.after
        old = next((entry for entry in gone if before and is_match(before, entry)), None)
        fresh = next((entry for entry in new if after and _is_between(entry, before or after, after)), None)
        if (before is None or old is not None) and (after is None or fresh is not None):
            # A book can hold one entry twice: the other one stays.
            if old is not None:
                gone.remove(old)
            if fresh is not None:
                new.remove(fresh)
    return not gone and not new


def _is_between(entry: Directive, before: Directive, after: Directive) -> bool:
    """Whether each field of an entry is that of one of two others."""
    if is_match(after, entry):
        return True
    legs = [
        leg
        for leg, a, b in zip(entry.postings, before.postings, after.postings, strict=False)
        if leg.account in (a.account, b.account) and leg.number in (a.number, b.number)
    ]
    alike = len(legs) == len(entry.postings) == len(after.postings)
    return alike and any(is_match(replace(each, postings=entry.postings), entry) for each in (before, after))
