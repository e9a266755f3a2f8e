"""Kinds of items: how many of each, how many tools are offered, and how each is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from wildtool.errors import UsageError, unknown_name

GenerationMode = Literal["written", "played"]


@dataclass(frozen=True, slots=True)
class ItemKind:
    """What items of a kind have in common."""

    share: int
    """Dialogues of it in the published English data; its default share."""
    candidates: tuple[int, int]
    """Fewest and most tools that are offered, as published."""
    mode: GenerationMode
    """`written` in one reply, or `played` by the roles user, agent and tool."""
    turns: tuple[int, int] = (1, 1)
    """Fewest and most requests of a dialogue."""
    parameter_class: str = ""
    """The class of parameters that the call must use; empty if any will do."""


ITEM_PARAMETER_CLASSES = ("number", "enum", "list", "bool", "object-short", "object-deep")
ITEM_KINDS: Mapping[str, ItemKind] = {
    **{name: ItemKind(50, (3, 5), "written", parameter_class=name) for name in ITEM_PARAMETER_CLASSES[:4]},
    **{name: ItemKind(50, (1, 5), "written", parameter_class=name) for name in ITEM_PARAMETER_CLASSES[4:]},
    "single": ItemKind(100, (1, 5), "written"),
    "parallel": ItemKind(100, (1, 5), "written"),
    "adjust": ItemKind(50, (2, 3), "played", (2, 3)),
    "switch": ItemKind(50, (2, 7), "played", (2, 2)),
    "preference": ItemKind(50, (3, 7), "written"),
    "similar": ItemKind(50, (2, 2), "written"),
    "incomplete": ItemKind(50, (1, 5), "played"),
    "error": ItemKind(50, (1, 5), "played"),
    "irrelevant": ItemKind(50, (1, 4), "written"),
}
IMPERFECT = ("incomplete", "error", "irrelevant")
"""Kinds whose right answer is no call."""
MAX_ITEM_CALLS = 5
"""Calls of a `parallel` item at most; the others take one for each turn."""


def parse_shares(given: tuple[str, ...]) -> dict[str, int]:
    """Kinds with their shares: all as published, or those that are named, such as `single=3`. Raises UsageError."""
    found: dict[str, int] = {}
    for text in given:
        name, sign, number = text.partition("=")
        if name not in ITEM_KINDS:
            raise UsageError(unknown_name("kind", name, ITEM_KINDS))
        if sign and not (number.isascii() and number.isdigit() and 0 < int(number) < 1_000_000):
            raise UsageError(f"--kinds {text!r}: a share is a whole number above 0, such as {name}=3")
        found[name] = int(number) if sign else ITEM_KINDS[name].share
    return found or {name: kind.share for name, kind in ITEM_KINDS.items()}
