"""What `--hints` and `--rationale` take, and how a run's record names it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Self

from wildtool.errors import DataError, RecordError, UsageError
from wildtool.json_codec import read_json_lines, required_field

OWN, GIVEN = "own", "given"
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


@dataclass(frozen=True, slots=True)
class Aid:
    """What a model is given in addition to the benchmark's own messages."""

    hints: tuple[Hint, ...] = ()
    shuffled: bool = False
    """Whether each hint has the text of one of another item: the control arm."""
    rationale: str = ""
    """`own`: the model is asked for its reasoning first; `given`: people's reasoning is shown; empty for neither."""
    rationales: Mapping[tuple[str, str], str] | None = None
    """People's reasoning by item and unit."""
    prompt: str = ""
    """Digest of the text that asks for reasoning."""

    def __bool__(self) -> bool:
        return bool(self.hints or self.rationale)

    @property
    def label(self) -> str:
        """What tables call it; empty for none."""
        hints = ["hints shuffled" if self.shuffled else "hints"] if self.hints else []
        return ", ".join([*hints, *([f"rationale {self.rationale}"] if self.rationale else [])])

    @classmethod
    def given(cls, hints: str | None, rationale: str | None) -> Self:
        """What the options say. Raises DataError for a file that does not follow its format, UsageError."""
        shuffled = hints is not None and hints.startswith(SHUFFLED)
        found = () if hints is None else read_hints(Path(hints.removeprefix(SHUFFLED)))
        if shuffled:
            found = shuffle_hints(found)
        if rationale in (None, OWN):
            from wildtool.aid.reasoning import PROMPT_DIGEST

            return cls(found, shuffled, rationale or "", None, PROMPT_DIGEST if rationale else "")
        return cls(found, shuffled, GIVEN, read_rationales(Path(str(rationale))))

    def identity(self) -> dict[str, Any]:
        """What a run's record says: nothing where there is none; all texts, so that the record needs no other file."""
        found: dict[str, Any] = {}
        if self.hints:
            rows = [
                [hint.item, hint.unit, hint.step, hint.text, hint.kind]
                + ([] if hint.turn is None else [hint.turn])
                for hint in self.hints
            ]
            found["hints"] = {"shuffled": self.shuffled, "texts": rows}
        if self.rationale == OWN:
            found["rationale"] = {"by": OWN, "prompt": self.prompt}
        elif self.rationale:
            rows = [[item, unit, text] for (item, unit), text in (self.rationales or {}).items()]
            found["rationale"] = {"by": GIVEN, "texts": rows}
        return found

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        """The aid of a run, from what `identity` gave among its settings. Raises RecordError where it is damaged."""
        hints, rationale = identity.get("hints"), identity.get("rationale")
        try:
            texts = () if hints is None else tuple(Hint(*row) for row in hints["texts"])
            shuffled = hints is not None and bool(hints["shuffled"])
            if rationale is None:
                return cls(texts, shuffled)
            if rationale["by"] == OWN:
                return cls(texts, shuffled, OWN, None, str(rationale["prompt"]))
            given = {(item, unit): text for item, unit, text in rationale["texts"]}
            return cls(texts, shuffled, GIVEN, given)
        except (TypeError, KeyError, ValueError) as error:
            raise RecordError(
                f"run.json: identity.hints or identity.rationale is damaged ({error}); restore it from a copy"
            ) from error


def read_hints(path: Path) -> tuple[Hint, ...]:
    """The hints of a file. Raises DataError naming line and field."""
    found: list[Hint] = []
    for where, row in read_json_lines(path, "hint"):
        for field in ("item", "unit", "text"):
            required_field(row, field, str, where)
        if not row["text"].strip():
            raise DataError(f"{where}: text is empty; a hint tells something")
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
        found.append(Hint(row["item"], row["unit"], step, row["text"], kind, turn))
    if not found:
        raise DataError(f"{path}: holds no hint")
    return tuple(found)


def read_rationales(path: Path) -> dict[tuple[str, str], str]:
    """People's reasoning by item and unit. Raises DataError naming line and field."""
    found: dict[tuple[str, str], str] = {}
    for where, row in read_json_lines(path, "reasoning"):
        for field in ("item", "unit", "text"):
            required_field(row, field, str, where)
        if not row["text"].strip():
            raise DataError(f"{where}: text is empty; leave out units without reasoning")
        key = row["item"], row["unit"]
        if key in found:
            raise DataError(f"{where}: item {key[0]!r}, unit {key[1]!r} has reasoning already")
        found[key] = row["text"]
    if not found:
        raise DataError(f"{path}: holds no reasoning")
    return found


def shuffle_hints(hints: Sequence[Hint]) -> tuple[Hint, ...]:
    """The hints with texts of another item each: at the same places, but without what is known of them.

    Raises UsageError where all are of one item.
    """
    items = sorted({hint.item for hint in hints})
    if len(items) < 2:
        raise UsageError(f"--hints {SHUFFLED}FILE needs hints of two items or more")
    Random(_SEED).shuffle(items)
    other = dict(zip(items, [*items[1:], items[0]], strict=True))
    texts = {item: [hint.text for hint in hints if hint.item == item] for item in items}
    used = dict.fromkeys(items, 0)
    found: list[Hint] = []
    for hint in hints:
        source = texts[other[hint.item]]
        found.append(replace(hint, text=source[used[hint.item] % len(source)]))
        used[hint.item] += 1
    return tuple(found)


def unknown_places(aid: Aid, known: Mapping[str, Sequence[str]]) -> int:
    """How many hints and rationales name an item or unit that is not there.

    Args:
        known: the units of each item.
    """
    named = [(hint.item, hint.unit) for hint in aid.hints] + [*(aid.rationales or {})]
    return sum(unit not in known.get(item, ()) for item, unit in named)
