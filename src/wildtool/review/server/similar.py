"""User texts that are nearly the same in two items: a rule about the set, which an edit of either can break or mend.

Nothing of this is in the log: it follows from all items as they are now.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

from wildtool.findings import Finding, fault
from wildtool.review.pointers import value_at
from wildtool.review.project import ReviewProject
from wildtool.toolcall.text.similarity import NEAR_DUPLICATE, NearDuplicateIndex, fold_text

_PORTION_S = 0.05


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text stands."""

    item: str
    digest: str
    """Of the item's content that has it."""
    task: int


class SimilarTexts:
    """The user texts of all items as they are in the items themselves, without the copies of reviewers."""

    def __init__(self, project: ReviewProject) -> None:
        self._project = project
        self._index = NearDuplicateIndex(NEAR_DUPLICATE)
        self._places: list[_Place] = []
        """By number of a text; those of older versions stay, and do not count."""
        self._read: dict[str, str] = {}
        """The digests of the items that were read."""

    def read_some(self, seconds: float = _PORTION_S) -> bool:
        """Reads items that were not read yet, for about so long; whether some were left."""
        end = monotonic() + seconds
        for item in self._project.state.items:
            if item not in self._read:
                self._add(item)
                if monotonic() >= end:
                    return True
        return False

    def findings(self, item: str, content: Any) -> list[Finding]:
        """The first near text of another item for each user text of a content.

        Args: content: of the item, as a person sees it.
        """
        for changed in [one for one, digest in self._read.items() if self._digest(one) != digest]:
            self._add(changed)
        found: list[Finding] = []
        for field, _, text in self._texts(content):
            if message := self.near(item, text):
                found.append(fault("duplicate", message, field, "warning"))
        return found

    def near(self, item: str, text: str) -> str:
        """How a text is like the first near one of the items that were read; empty if there is none.

        Args: item: the item of the text, whose own texts do not count.
        """
        for number, similarity in self._index.near(fold_text(text)):
            place = self._places[number]
            if place.item != item and self._digest(place.item) == place.digest:
                return f"{similarity:.0f} % like the user text of task {place.task + 1} in {place.item}"
        return ""

    def _digest(self, item: str) -> str:
        return self._project.state.items[item].digest

    def _add(self, item: str) -> None:
        history = self._project.item(item)
        self._read[item] = history.digest
        for _, task, text in self._texts(history.content):
            self._index.add(fold_text(text))
            self._places.append(_Place(item, history.digest, task))

    def _texts(self, content: Any) -> Iterator[tuple[str, int, str]]:
        """Field, task and text."""
        for part in self._project.format.parts(content):
            text = value_at(content, part.field) if part.kind == "user text" else None
            if isinstance(text, str) and text.strip():
                yield part.field, part.task or 0, text
