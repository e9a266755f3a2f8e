"""The differences between the English and the Chinese sandbox: sentences, initial state, and two rules.

Sentences and initial state are the benchmark's own; they are read from its data folder and not shipped.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from wildtool.benchmarks.json_copy import json_copy
from wildtool.errors import DataError
from wildtool.types import Lang

LANGUAGES: tuple[Lang, ...] = ("en", "zh")
ClassState = dict[str, Any]
"""Attributes of one sandbox class, or one entry of them."""
_INTEGER_KEYS = ("inbox", "reminder_list")
"""Attributes whose keys are integers, which JSON files write as strings."""


@dataclass(frozen=True, slots=True)
class Edition:
    """The sandbox in one language (section 9 of the specification)."""

    lang: Lang
    texts: Mapping[str, Any]
    """Texts that methods return or compare with, by `Class.method.case`."""
    initial: Mapping[str, ClassState]
    """Class name to the attributes of a fresh instance."""

    @property
    def spends_all(self) -> bool:
        """Whether an order may cost the whole balance (Q66)."""
        return self.lang == "en"

    @property
    def finds_products(self) -> bool:
        """Whether orders are found by product; the Chinese class raises there instead (Q66)."""
        return self.lang == "en"

    @property
    def absent_tools(self) -> frozenset[str]:
        """Methods that this edition's classes lack (Q65)."""
        return frozenset({"mark_as_notified", "search_reminders"}) if self.lang == "en" else frozenset()

    @property
    def cabins(self) -> tuple[str, str]:
        """Names of economy and business class."""
        economy, business = self.texts["Travel.cabin_names"]
        return economy, business

    def fresh(self, name: str) -> ClassState:
        """A copy of the initial attributes of a class."""
        state = cast(ClassState, json_copy(self.initial[name]))
        for attribute in _INTEGER_KEYS:
            if attribute in state:
                state[attribute] = {int(key): value for key, value in state[attribute].items()}
        return state

    def say(self, case: str, **values: object) -> str:
        """The sentence of a case with its blanks filled."""
        return str(self.texts[case]).format(**values)

    def failed(self, case: str, **values: object) -> ClassState:
        return {"status": False, "message": self.say(case, **values)}

    def done(self, case: str, **values: object) -> ClassState:
        return {"status": True, "message": self.say(case, **values)}


def read_edition(folder: Path, lang: Lang) -> Edition:
    """Reads an edition from the data folder's two sandbox files. Raises DataError naming the file."""
    messages = _read(folder / "sandbox_messages.json")
    initial = _read(folder / f"sandbox_initial_state_{lang}.json")
    try:
        texts = {case: by_lang[lang] for case, by_lang in messages.items()}
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{folder / 'sandbox_messages.json'}: expected an object with {lang!r} for each case; get the"
            " benchmark's data again"
        ) from error
    return Edition(lang, texts, initial)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: cannot be read as JSON ({error}); get the benchmark's data again"
        ) from error
    if not isinstance(data, dict):
        raise DataError(f"{path}: expected a JSON object; get the benchmark's data again")
    return data  # pyright: ignore[reportUnknownVariableType]
