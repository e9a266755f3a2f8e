"""Searching the texts of items: conversations, calls and results, without the definitions of tools.

Nothing of this is in the log, and nobody finds what blind review hides: each person searches what they see.
"""

from typing import Any

from wildtool.json_codec import values_inside
from wildtool_data.pointers import value_at
from wildtool_review.project import ReviewProject


class ItemTexts:
    """The texts of items, read when somebody searches for the first time, and again where an item was changed."""

    def __init__(self, project: ReviewProject) -> None:
        self._project = project
        self._texts: dict[str, tuple[str, str]] = {}
        """By item the digest of its content, and its texts."""

    def has(self, item: str, person: str, text: str) -> bool:
        """Whether an item has a text in its id, or in what a person sees of it, in capitals or not."""
        text = text.casefold()
        return text in item.casefold() or text in self._seen_by(item, person)

    def _seen_by(self, item: str, person: str) -> str:
        summary = self._project.state.items[item]
        if summary.open is not None and person in summary.open.people:
            return self._text(self._project.item(item).seen_by(person)[0])
        digest, text = self._texts.get(item, ("", ""))
        if digest != summary.digest:
            text = self._text(self._project.item(item).content)
            self._texts[item] = (summary.digest, text)
        return text

    def _text(self, content: Any) -> str:
        parts = (part for part in self._project.format.parts(content) if part.kind != "tool")
        values = (value for part in parts for value in values_inside([value_at(content, part.field)]))
        return "\n".join(str(value) for value in values if isinstance(value, str | int | float)).casefold()
