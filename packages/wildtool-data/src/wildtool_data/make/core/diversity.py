"""What messages of users differ in: structure, tone, length, difficulty and background, planned for a whole set."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from random import Random

from wildtool.types import Lang

FORMS = ("imperative", "question", "statement")
TONES = ("direct", "polite", "formal", "colloquial")
LENGTHS = ("short", "medium", "long")
LENGTH_STEPS = ("very short", "short", "medium", "long", "very long")
"""Lengths of the messages that are proposed for a task, one each."""
DIFFICULTIES = ("easy", "medium", "hard")
PROPOSED = len(LENGTH_STEPS)
"""Messages that are proposed for a task."""
DIMENSIONS = ("theme", "identity", "circumstances")
"""What a background says."""


@dataclass(frozen=True, slots=True)
class MessageStyle:
    """How a message is worded."""

    form: str
    """One of `FORMS`: its structure."""
    tone: str
    """One of `TONES`."""
    length: str
    """One of `LENGTH_STEPS`."""


@dataclass(frozen=True, slots=True)
class TaskBackground:
    """Who writes a message, what about and in which circumstances: by the English names of the shipped list, or by a
    scenario of the user's own, which has all of it."""

    theme: str = ""
    identity: str = ""
    circumstances: str = ""
    scenario: int = 0
    """Number of the scenario, from 1; 0 for none."""

    def shown(self, lang: Lang, scenarios: Sequence[str]) -> dict[str, str]:
        """What the role that writes the message is shown, in the language of its session where it is shipped."""
        if self.scenario:
            return {"scenario": scenarios[self.scenario - 1]}
        return {name: _words()[name][getattr(self, name)][lang] for name in DIMENSIONS}

    @property
    def named(self) -> dict[str, str | int]:
        """What it says, as provenance has it: a scenario by its number, since it may be a real user's."""
        if self.scenario:
            return {"scenario": self.scenario}
        return {name: getattr(self, name) for name in DIMENSIONS}


@cache
def _words() -> Mapping[str, Mapping[str, Mapping[Lang, str]]]:
    """For each dimension the wordings of a value by its English name."""
    text = files("wildtool_data.make.core").joinpath("backgrounds.json").read_text(encoding="utf-8")
    return {dimension: {row["en"]: row for row in rows} for dimension, rows in json.loads(text).items()}


class BackgroundPlanner:
    """Gives backgrounds; each theme, identity and circumstance comes once, in a drawn order, before any comes again. So
    does each scenario, where there are any in their place."""

    def __init__(self, draw: Random, scenarios: int = 0) -> None:
        """Args: scenarios: how many scenarios there are."""
        self._draw = draw
        self._scenarios = scenarios
        self._waiting_scenarios: list[int] = []
        self._waiting: dict[str, list[str]] = {name: [] for name in DIMENSIONS}

    def next(self) -> tuple[TaskBackground, ...]:
        """The backgrounds of the messages that are proposed for one task."""
        if self._scenarios:
            return tuple(TaskBackground(scenario=self._next_scenario()) for _ in range(PROPOSED))
        return tuple(
            TaskBackground(self._next("theme"), self._next("identity"), self._next("circumstances"))
            for _ in range(PROPOSED)
        )

    def _next_scenario(self) -> int:
        if not self._waiting_scenarios:
            self._waiting_scenarios = self._draw.sample(range(1, self._scenarios + 1), self._scenarios)
        return self._waiting_scenarios.pop()

    def _next(self, dimension: str) -> str:
        if not self._waiting[dimension]:
            names = list(_words()[dimension])
            self._waiting[dimension] = self._draw.sample(names, len(names))
        return self._waiting[dimension].pop()


def message_styles(draw: Random, form: str, tone: str) -> tuple[MessageStyle, ...]:
    """Styles of the messages proposed for a task: from short to long, with every form and every tone among them.

    Args:
        form: of the first; `tone` likewise.
    """
    forms = _each_at_least_once(draw, FORMS, form)
    tones = _each_at_least_once(draw, TONES, tone)
    return tuple(map(MessageStyle, forms, tones, LENGTH_STEPS))


def _each_at_least_once(draw: Random, names: Sequence[str], first: str) -> list[str]:
    others = draw.sample([name for name in names if name != first], len(names) - 1)
    rounds = chain([first], others, draw.sample(names, len(names)))
    return [name for name, _ in zip(rounds, range(PROPOSED), strict=False)]


def task_difficulty(draw: Random, own: Random, *, demanding: bool) -> str:
    """The difficulty of a task.

    Args:
        draw: gives one of all; `own` another, where that is too easy.
        demanding: whether the task is of medium difficulty or above.
    """
    difficulty = draw.choice(DIFFICULTIES)
    return own.choice(DIFFICULTIES[1:]) if demanding and difficulty == DIFFICULTIES[0] else difficulty
