"""The log of a review in its store, with the state folded from it: reading, appending, and checking both."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from wildtool.engine.record.format import Closing
from wildtool.errors import RecordError, UsageError
from wildtool_data.formats.base import ReviewFormat
from wildtool_review.history import ItemHistory
from wildtool_review.log import CHANGING, Draft, Entry, now, verified
from wildtool_review.state import State, fold
from wildtool_review.store.base import Store, StoreConflict

_KEPT_ITEMS = 64
"""Items that are kept in memory with their content."""
_SNAPSHOT_AFTER = 500
"""Entries after which the folded state is kept again, or a tenth of the items if that is more: it takes time for each."""


class ReviewJournal(Closing):
    """The store of a review, and the state folded from it. A context manager.

    For one thread; several processes may use one store.
    """

    def __init__(self, store: Store, format_: ReviewFormat, clock: Callable[[], str] = now) -> None:
        """Folds what is in the store, from its last snapshot on if that follows from the log."""
        self.store = store
        self.format = format_
        self._clock = clock
        self._items: OrderedDict[str, ItemHistory] = OrderedDict()
        data = store.snapshot()
        saved = State.load(format_, data) if data else None
        # Snapshots without a digest are of an older wildtool.
        self._doubtful = bool(data) and not data.startswith(b"{") and not (saved and self._is_logged(saved))
        self.state = State(format_) if saved is None or self._doubtful else saved
        self._snapshot = self.state.n
        try:
            self.refresh()
        except RecordError:
            # What the index gives of an item may not follow from the log; a whole log does without it.
            self.state, self._doubtful = State(format_), True
            self.refresh()

    def close(self) -> None:
        """Keeps the folded state, and closes the store."""
        self._keep_state()
        self.store.close()

    def refresh(self) -> list[Entry]:
        """Takes what others have written meanwhile, and returns it."""
        fresh = list(self.store.read(self.state.n))
        self._follow(fresh)
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
        # Only what was computed from the log can be wrong: it has just been history intact.
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
            history = self.item(item) if item in self.state.items else None
            drafts = self._timed(plan(history))
            result = self.store.append(drafts, {item: self.state.last_of(item)}) if drafts else []
            self.refresh()
            if not isinstance(result, StoreConflict):
                return

    def _write(self, item: str, plan: Callable[[ItemHistory], list[Draft]]) -> ItemHistory:
        """Appends what is planned for an item; plans again if somebody else wrote meanwhile."""
        while True:
            history = self.item(item)
            planned = plan(history)
            if not planned:
                return history
            planned += _twin_drafts(self.state, history, planned)
            drafts = self._timed(planned)
            expected = {draft.item: self.state.last_of(draft.item) for draft in drafts}
            result = self.store.append(drafts, {**expected, item: history.entries[-1].n})
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
        result = self.store.append(self._timed(drafts), expected) if drafts else []
        self.refresh()
        return result if isinstance(result, StoreConflict) else None

    def _timed(self, drafts: Iterable[Draft]) -> list[Draft]:
        """Drafts with the time; those of a file that is merged have theirs."""
        return [draft if draft.when else replace(draft, when=self._clock()) for draft in drafts]

    def _is_logged(self, state: State) -> bool:
        """Whether a state is of an entry of this log."""
        entry = next(self.store.read(state.n - 1), None)
        return entry is not None and (entry.n, entry.digest) == (state.n, state.digest)

    def _follow(self, fresh: Sequence[Entry]) -> None:
        """Brings the kept items up to date: reading a long history again would take long."""
        new: dict[str, list[Entry]] = {}
        for entry in fresh:
            new.setdefault(entry.item, []).append(entry)
        for item in new.keys() & self._items.keys():
            known = self._items.pop(item)
            # Somebody else may have written between the last look at the log and the reading of the item.
            last = known.entries[-1].n
            self._items[item] = known.followed_by(entry for entry in new[item] if entry.n > last)

    def _history(self, fresh: Sequence[Entry]) -> Callable[[str], ItemHistory]:
        """Gives items with all their entries; those that are new in `fresh` need not be read again."""
        new: dict[str, list[Entry]] = {}
        for entry in fresh:
            if entry.item and (entry.kind == "import" or entry.item in new):
                new.setdefault(entry.item, []).append(entry)

        def history(item: str) -> ItemHistory:
            if item in self._items:
                return self._items[item]
            return ItemHistory(self.format, new[item] if item in new else self.store.history(item))

        return history

    def _keep_state(self) -> None:
        if self.state.n > self._snapshot:
            self.store.save_snapshot(self.state.n, self.state.dump())
            self._snapshot = self.state.n


def _twin_drafts(state: State, item: ItemHistory, drafts: Iterable[Draft]) -> list[Draft]:
    """What is logged about the twins of an item that is about to change: the same tasks in the other language are stale.

    Args: drafts: what is about to be logged of the item. Edits of a reviewer's own copy do not count before the item
        takes them.
    """
    edits = [draft for draft in drafts if draft.kind in CHANGING and not draft.branch]
    planned: list[Draft] = []
    for twin in state.twins_of(item.id) if edits else ():
        count = len(state.items[twin].strata)
        tasks: set[int] = set()
        for draft in edits:
            task = item.format.task_of(item.content, draft.field)
            tasks.update(range(count) if task is None else [task])
        # A task that waits to be checked again is edited to follow its twin.
        stale = {task for task in tasks if task < count} - item.stale
        if not stale <= set(state.items[twin].stale):
            note = f"its twin {item.id} was edited"
            planned.append(Draft("stale", edits[-1].who, twin, after=sorted(stale), note=note))
    return planned
