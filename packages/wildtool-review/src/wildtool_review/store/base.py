"""What every store does: append atomically, read, and keep a snapshot of the folded state."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from wildtool_review.log import Draft, Entry


@dataclass(frozen=True, slots=True)
class StoreConflict:
    """Nothing was appended: an item has entries that the writer had not seen."""

    item: str
    expected: int
    """Number of the last entry about it that the writer knew."""
    found: int
    """Number of the last one there is."""


class Store(Protocol):
    """An append-only log. What `append` returned is on the disk, whatever happens to this process."""

    name: str
    """What the store is called in messages; never with a password."""

    def append(self, drafts: Sequence[Draft], expected: Mapping[str, int]) -> list[Entry] | StoreConflict:
        """Appends entries, all or none.

        Args: expected: for each item, number of the last entry about it that the writer knows, 0 for none; the empty text
                is what is about no item.

        Raises StorageError if the store cannot be written.
        """
        ...

    def read(self, after: int = 0) -> Iterator[Entry]:
        """The entries after number `after`, in order."""
        ...

    def lines(self) -> Iterator[bytes]:
        """All entries as they were written, to be checked (`wildtool_review.log.verified`)."""
        ...

    def history(self, item: str) -> list[Entry]:
        """All entries about an item, in order."""
        ...

    def mend_index(self, entries: Sequence[Entry]) -> bool:
        """Makes the tables by which entries are looked up follow from the log again; whether they did not.

        Args: entries: the whole log, checked.
        """
        ...

    def head(self) -> tuple[int, str]:
        """Number and digest of the last entry."""
        ...

    def snapshot(self) -> bytes | None:
        """What `save_snapshot` kept last; None if there is nothing."""
        ...

    def save_snapshot(self, n: int, data: bytes) -> None:
        """Keeps a folded state after entry `n`. It is a cache: losing it costs only time."""
        ...

    def setting(self, name: str) -> str | None:
        """A setting of this store, such as its benchmark."""
        ...

    def set_setting(self, name: str, value: str | None) -> None:
        """Keeps a setting; None removes it. Settings are in no log: token hashes are among them."""
        ...

    def settings(self, prefix: str) -> dict[str, str]:
        """All settings whose names begin so."""
        ...

    def close(self) -> None: ...
