"""The alteration that `--hints` and `--rationale` make: texts that are added to what the model under test sees.

The model's own reasoning is asked for before the first request of each unit; the benchmark learns nothing of that step.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from wildtool.alter.base import Alteration, AlteredUnit, Exchange
from wildtool.alter.hints.added_text import TurnCounter, anchor, with_line
from wildtool.alter.hints.hint_files import SHUFFLED, Hint, read_hints, read_rationales, shuffle_hints
from wildtool.alter.hints.reasoning import PROMPT_DIGEST, reasoning_request, with_heading
from wildtool.benchmark import Benchmark
from wildtool.episode import written_text
from wildtool.errors import RecordError, UsageError
from wildtool.types import FieldValue, Item, Message, Request

OWN, GIVEN = "own", "given"


@dataclass(frozen=True, slots=True)
class Hints(Alteration):
    """What a model is given in addition to the benchmark's own messages."""

    kind: ClassVar[str] = "aid"
    caveat: ClassVar[str] = "the model was given hints"
    hints: tuple[Hint, ...] = ()
    shuffled: bool = False
    """Whether each hint has the text of one of another item: the control arm."""
    rationale: str = ""
    """`own`: the model is asked for its reasoning first; `given`: people's reasoning is shown; empty for neither."""
    rationales: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """People's reasoning by item and unit."""
    prompt: str = ""
    """Digest of the text that asks for reasoning."""

    @classmethod
    def given(cls, hints: str | None, rationale: str | None) -> Self:
        """What the options say. Raises DataError for a file that does not follow its format, UsageError."""
        shuffled = hints is not None and hints.startswith(SHUFFLED)
        texts = () if hints is None else read_hints(Path(hints.removeprefix(SHUFFLED)))
        texts = shuffle_hints(texts) if shuffled else texts
        if rationale is None:
            return cls(texts, shuffled)
        if rationale == OWN:
            return cls(texts, shuffled, OWN, prompt=PROMPT_DIGEST)
        return cls(texts, shuffled, GIVEN, read_rationales(Path(rationale)))

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        hints, rationale = identity.get("hints"), identity.get("rationale")
        try:
            texts = () if hints is None else tuple(Hint(*row) for row in hints["texts"])
            shuffled = hints is not None and bool(hints["shuffled"])
            if rationale is None:
                return cls(texts, shuffled)
            if rationale["by"] == OWN:
                return cls(texts, shuffled, OWN, prompt=str(rationale["prompt"]))
            rationales = {(item, unit): text for item, unit, text in rationale["texts"]}
            return cls(texts, shuffled, GIVEN, rationales)
        except (TypeError, KeyError, ValueError) as error:
            raise RecordError(
                f"run.json: identity.hints or identity.rationale is damaged ({error}); restore it from a copy"
            ) from error

    def __bool__(self) -> bool:
        return bool(self.hints or self.rationale)

    @property
    def columns(self) -> Mapping[str, str]:
        columns = {"hint": self.hints, "rationale": self.rationale}
        return {name: "VARCHAR" for name, value in columns.items() if value}

    @property
    def label(self) -> str:
        hints = ["hints shuffled" if self.shuffled else "hints"] if self.hints else []
        return ", ".join([*hints, *([f"rationale {self.rationale}"] if self.rationale else [])])

    @property
    def described(self) -> str:
        return self.label

    @property
    def folder_parts(self) -> Sequence[str]:
        return self.label.replace(",", "").split()

    def identity(self) -> Mapping[str, Any]:
        """All texts, so that the record needs no other file."""
        identity: dict[str, Any] = {}
        if self.hints:
            identity["hints"] = {"shuffled": self.shuffled, "texts": [hint.row() for hint in self.hints]}
        if self.rationale == OWN:
            identity["rationale"] = {"by": OWN, "prompt": self.prompt}
        elif self.rationale:
            rows = [[item, unit, text] for (item, unit), text in self.rationales.items()]
            identity["rationale"] = {"by": GIVEN, "texts": rows}
        return identity

    def unit(self, item: Item, unit: str) -> "AidedUnit":
        return AidedUnit(self, item.id, unit)

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        places = [(hint.item, hint.unit) for hint in self.hints] + [*self.rationales]
        units = {(item.id, unit) for item in items for unit in item.units}
        unknown = sum(place not in units for place in places)
        if places and unknown == len(places):
            raise UsageError(
                "no hint or rationale is for a selected unit; items and units must be named as in the run"
            )
        return f"{unknown} of {len(places)} hints and rationales are for no selected unit" if unknown else ""


class AidedUnit(AlteredUnit):
    """A unit in which texts are added to what the model under test is shown."""

    def __init__(self, hints: Hints, item: str, unit: str) -> None:
        self._settings = hints
        self._hints = [hint for hint in hints.hints if (hint.item, hint.unit) == (item, unit)]
        self._given = hints.rationales.get((item, unit), "")
        self._reasoning = with_heading(self._given)
        self._reasons_next = hints.rationale == OWN
        """Whether the model is asked for its reasoning at its next step."""
        self._step = 0
        """The next step of the model under test."""
        self._turns = TurnCounter()
        self._added: list[tuple[int, Any, str]] = []
        """The place and content of each message that a text was added to, and the text."""

    def exchange(self, request: Request) -> Exchange:
        if self._reasons_next:
            self._reasons_next = False
            self._reasoning = with_heading(written_text((yield reasoning_request(request))) or "")
        reply = yield replace(request, messages=self._with_texts(request.messages))
        self._step += 1
        return reply

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        """The kinds of its hints, and whose reasoning it was given."""
        kinds = sorted({hint.kind for hint in self._hints})
        has_reasoning = self._given or self._settings.rationale == OWN
        cells = {"hint": " and ".join(kinds), "rationale": self._settings.rationale if has_reasoning else ""}
        return {name: cells[name] or None for name in self._settings.columns}

    def _with_texts(self, messages: Sequence[Message]) -> list[Message]:
        places = {None: self._step, **dict([self._turns.place(messages, self._step)])}
        texts = [
            hint.text
            for hint in self._hints
            if hint.turn in places and hint.step in (None, places[hint.turn])
        ]
        texts += [self._reasoning] if self._reasoning and self._step == 0 else []
        if texts:
            place = anchor(messages)
            self._added.append((place, messages[place].get("content"), "\n".join(texts)))
        extended = list(messages)
        # What was added before stays: a conversation does not change behind the model's back.
        for place, content, text in self._added:
            if place < len(messages) and messages[place].get("content") == content:
                extended[place] = with_line(extended[place], text)
        return extended
