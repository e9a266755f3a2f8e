"""The files of hints and of people's reasoning."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.draws import seeded_draw
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import read_json_lines, required_field

SHUFFLED = "shuffled:"
"""Begins the value of `--hints` that gives each item the hints of another."""
EVERY_STEP = "*"
CLUE = "clue"
"""The kind of a hint that names none."""
_SEED = "wildtool hints"


@dataclass(frozen=True, slots=True)
class Hint:
    """A text that is added to what the model sees before one of its steps."""

    item: str
    unit: str
    step: int | None
    """The step of the model under test in its unit, or in `turn`, from 0; None for every step."""
    text: str
    kind: str = CLUE
    """What it says, such as a clue or what to expect of a call."""
    turn: int | None = None
    """Which time the user speaks in the unit, from 0: steps are counted from there; None counts those of the unit."""

    def row(self) -> list[Any]:
        """Its fields as a run's record has them."""
        turn = [] if self.turn is None else [self.turn]
        return [self.item, self.unit, self.step, self.text, self.kind, *turn]


def read_hints(path: Path) -> tuple[Hint, ...]:
    """The hints of a file. Raises DataError naming line and field."""
    hints: list[Hint] = []
    for where, row in _rows(path, "hint", "a hint tells something"):
        step = row.get("step", 0)
        if step != EVERY_STEP and (type(step) is not int or step < 0):
            raise DataError(f"{where}: step must be a number from 0, or {EVERY_STEP!r} for every step")
        turn = row.get("turn")
        if turn is not None and (type(turn) is not int or turn < 0):
            raise DataError(
                f"{where}: turn must be a number from 0; leave it out to count the steps of the unit"
            )
        kind = row.get("kind", CLUE)
        if not isinstance(kind, str):
            raise DataError(f"{where}: kind must be a text, such as {CLUE}")
        step = None if step == EVERY_STEP else step
        hints.append(Hint(row["item"], row["unit"], step, row["text"], kind, turn))
    return tuple(hints)


def read_rationales(path: Path) -> dict[tuple[str, str], str]:
    """People's reasoning by item and unit. Raises DataError naming line and field."""
    rationales: dict[tuple[str, str], str] = {}
    for where, row in _rows(path, "reasoning", "leave out units without reasoning"):
        key = row["item"], row["unit"]
        if key in rationales:
            raise DataError(f"{where}: item {key[0]!r}, unit {key[1]!r} has reasoning already")
        rationales[key] = row["text"]
    return rationales


def _rows(path: Path, noun: str, blank: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a file, each with where it is.

    Args:
        blank: what to do about an empty text.
    """
    where = None
    for where, row in read_json_lines(path, noun):
        for field in ("item", "unit", "text"):
            required_field(row, field, str, where)
        if not row["text"].strip():
            raise DataError(f"{where}: text is empty; {blank}")
        yield where, row
    if where is None:
        raise DataError(f"{path}: holds no {noun}")


def shuffle_hints(hints: Sequence[Hint]) -> tuple[Hint, ...]:
    """The hints with texts of another item each: at the same places, but without what is known of them.

    Raises UsageError where all are of one item.
    """
    items = sorted({hint.item for hint in hints})
    if len(items) < 2:
        raise UsageError(f"--hints {SHUFFLED}FILE needs hints of two items or more")
    seeded_draw(_SEED).shuffle(items)
    other = dict(zip(items, [*items[1:], items[0]], strict=True))
    texts = {item: [hint.text for hint in hints if hint.item == item] for item in items}
    used = dict.fromkeys(items, 0)
    shuffled: list[Hint] = []
    for hint in hints:
        source = texts[other[hint.item]]
        shuffled.append(replace(hint, text=source[used[hint.item] % len(source)]))
        used[hint.item] += 1
    return tuple(shuffled)
