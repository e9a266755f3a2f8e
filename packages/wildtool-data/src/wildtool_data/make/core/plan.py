"""Plans of sessions: types of tasks in order, what is left unsaid, tools, date, wording.

A plan is drawn before anything is written, by templates and models alike. Each draw has its own random stream, keyed by
seed, session and purpose, so that neither order nor concurrency changes it.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import count, product
from pathlib import Path
from random import Random
from typing import Literal, cast

from wildtool.benchmarks.wildtoolbench.data import SUBTYPES
from wildtool.benchmarks.wildtoolbench.stats.shapes import TASK_GROUPS
from wildtool.draws import seeded_draw
from wildtool.errors import UsageError
from wildtool.types import Lang
from wildtool_data.make.core.diversity import (
    FORMS,
    LENGTHS,
    TONES,
    BackgroundPlanner,
    MessageStyle,
    TaskBackground,
    message_styles,
    task_difficulty,
)

PlannedTopology = Literal["", "parallel", "sequential", "mixed"]
WEEKDAYS: Mapping[Lang, Sequence[str]] = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": tuple("星期" + day for day in "一二三四五六日"),
}

TOPOLOGIES: Mapping[str, int] = {"parallel": 61, "mixed": 33, "sequential": 6}
"""Shares in per cent, as published."""
SUBTYPE_SHARES: Mapping[str, int] = dict(zip(SUBTYPES, (45, 31, 23), strict=True))
"""Shares in per cent, as published."""
STRATEGIES: Mapping[str, tuple[str, ...]] = {
    "Coreferential Reference": (
        "forward ordinal", "backward ordinal", "interrogative pronoun", "short form of a name",
        "description of an item", "personal pronoun", "demonstrative pronoun",
    ),
    "Partial Information": (
        "omit subject", "omit attribute", "omit modifier", "omit several constituents", "add a subject",
        "add a modifier", "correct a detail", "restate with a change", "ask for more", "ask for elaboration",
        "ask for a shorter version", "ask for an example", "continue", "neighbouring topic",
    ),
    "Long-Range Dependency": ("return to a topic of several turns ago",),
}  # fmt: skip
"""Ways in which a later task leaves something out, by subtype, which is drawn first."""
MissingValues = Literal["", "all", "some"]
MISSING_VALUES: Mapping[MissingValues, str] = {
    "all": "the message gives none of the required values",
    "some": "the message leaves out at least one required value",
}
"""What the message of a Clarify task leaves out."""
DEMANDING_GROUPS = ("Multi-Tool", "Clarify")
"""Groups whose tasks are of medium difficulty or above."""
_SECOND_QUESTION = 0.25
"""Share of Clarify tasks whose user first replies without the requested value."""
YEAR = 2025
"""Of the dates of sessions and items."""
_ENUMERATED = 6
"""Tasks from which on sequences of types are sampled instead of enumerated."""


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """The plan of one task."""

    group: str
    """One of `TASK_GROUPS`."""
    topology: PlannedTopology
    """Shape of the calls of a multi-tool task; empty for the others."""
    subtype: str
    """What the user leaves unsaid; `First Turn` for the first task."""
    strategy: str
    """How it is left unsaid; empty for the first task."""
    questions: int
    """How often a Clarify task asks the user; 0 for the others."""
    missing: MissingValues
    """What the message of a Clarify task leaves out; empty for the others."""
    styles: tuple[MessageStyle, ...]
    """How each of the messages that are proposed for it is worded, from short to long."""
    difficulty: str

    @property
    def tone(self) -> str:
        """The tone of a template's message."""
        return self.styles[0].tone

    @property
    def names_a_tool(self) -> bool:
        """Whether it is about one tool, which the role that words it is shown."""
        return self.group in ("Single-Tool", "Clarify")


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """The plan of one session."""

    index: int
    seed: str
    """Seed of everything that is drawn for this session."""
    lang: Lang
    date: datetime
    rank: int
    """Number of the plan among those of its language, from 0; tool sets take turns by it."""
    shared: str
    """Seed of what it shares with the same plan in another language, such as the tools."""
    root: str
    """Seed of the set."""
    tasks: tuple[TaskPlan, ...]
    turn: int = 0
    """How many plans of the same tasks were lost before this one."""
    backgrounds: tuple[TaskBackground, ...] = ()
    """Who proposes each message of the first task, and in which circumstances; empty where nobody is planned."""

    @property
    def name(self) -> str:
        """Unique within a set: `3`, or `3.1` for its first replacement."""
        return f"{self.index}.{self.turn}" if self.turn else str(self.index)

    def replanned(self, turn: int) -> "SessionPlan":
        """The same tasks with other tools; everything else is drawn again."""
        return replace(
            self, seed=f"{self.seed}/another/{turn}", shared=f"{self.shared}/another/{turn}", turn=turn
        )

    def tool_set_index(self, count: int, attempt: int) -> int:
        """Which of `count` tool sets it takes: each occurs once in random order before any repeats.

        Args:
            attempt: earlier tries that failed; each has another set.
        """
        turn, place = divmod(self.rank, count)
        drawn = _order(self.root, turn, count)[place]
        return (drawn + (attempt + 2 * self.turn) * 7919) % count

    def stream(self, purpose: str) -> Random:
        """Random numbers for one purpose, the same each time."""
        return seeded_draw(f"{self.seed}/{purpose}")


@lru_cache(maxsize=8)
def _order(seed: str, turn: int, count: int) -> Sequence[int]:
    return seeded_draw(f"{seed}/sets/{turn}").sample(range(count), count)


class Quota:
    """Gives names in fixed shares: each time the one furthest behind its share."""

    def __init__(self, shares: Mapping[str, int]) -> None:
        self._shares = shares
        self._given: Counter[str] = Counter()

    def next(self, without: Collection[str] = ()) -> str:
        """The next name; those in `without` get their share later."""
        total = sum(self._shares.values())
        count = self._given.total() + 1
        lacking = {
            name: count * share / total - self._given[name]
            for name, share in self._shares.items()
            if name not in without
        }
        name = max(lacking, key=lambda name: lacking[name])
        self._given[name] += 1
        return name


@dataclass(frozen=True, slots=True)
class SessionGenerationSpec:
    """Which sessions are to be generated, by templates or by models."""

    sessions: int
    tasks: int = 4
    """Of each session."""
    seed: str = "1"
    langs: tuple[Lang, ...] = ("en",)
    tools: Path | None = None
    """File with tools; None for the built-in ones."""
    paired_languages: bool = False
    """Whether each plan comes in all languages."""
    avoid_near: tuple[Path, ...] = ()
    """Session files whose user texts no task of a model may be near to."""
    judges: int = 1
    """Votes on the best of the proposed tasks."""
    checkers: int = 1
    """Votes on what the checker looks at; more than half accept."""
    users: int = 1
    """Models that take the user's role in turn."""
    clarify: MissingValues = "all"
    """What the messages of Clarify tasks leave out."""
    examples: Path | None = None
    """File of real users' conversations that messages are to be like."""
    scenarios: Path | None = None
    """File of scenarios in words."""
    role_prompts: Path | None = None
    """Folder of texts for roles in place of the shipped ones."""

    @property
    def vote_counts(self) -> Mapping[str, int]:
        """Votes of each role that votes."""
        return {"judge": self.judges, "checker": self.checkers}

    def plans(self, scenarios: int = 0) -> "Iterator[SessionPlan]":
        """The plans of the set. Args: scenarios: how many there are.

        Raises UsageError as `session_plans`.
        """
        return session_plans(
            self.sessions,
            self.tasks,
            seed=self.seed,
            langs=self.langs,
            paired_languages=self.paired_languages,
            clarify=self.clarify,
            scenarios=scenarios,
        )


def session_plans(
    sessions: int,
    tasks: int,
    *,
    seed: str,
    langs: Sequence[Lang],
    paired_languages: bool = False,
    clarify: MissingValues = "all",
    scenarios: int = 0,
) -> Iterator[SessionPlan]:
    """Plans of a set; types at each position, changes between them, shapes, hidden intents and backgrounds are balanced
    in every part.

    Args:
        paired_languages: whether each plan comes in all languages, instead of alternating languages.
        clarify: what the messages of Clarify tasks leave out.
        scenarios: how many scenarios there are in the place of shipped backgrounds.

    Raises:
        UsageError: for numbers below 1, no language, or a number of sessions that cannot be paired.
    """
    if sessions < 1 or tasks < 1 or not langs:
        raise UsageError("a set needs at least one session, one task a session and one language")
    if paired_languages and (len(langs) < 2 or sessions % len(langs)):
        raise UsageError(
            f"twins take two languages, such as --lang en,zh, and an even number of sessions; found {sessions} "
            f"in {', '.join(langs)}"
        )
    quotas = {lang: (Quota(TOPOLOGIES), Quota(SUBTYPE_SHARES)) for lang in langs}
    people = {lang: BackgroundPlanner(seeded_draw(f"{seed}/backgrounds/{lang}"), scenarios) for lang in langs}
    together = len(langs) if paired_languages else 1
    for number, path in zip(range(sessions // together), group_paths(tasks, seed), strict=False):
        lang, shared = langs[number % len(langs)], f"{seed}/{number}"
        draw = seeded_draw(f"{shared}/plan")
        date = datetime(YEAR, 1, 1) + timedelta(minutes=draw.randrange(365 * 24 * 60))
        # What paired plans share is drawn once, from the quotas of one language.
        balanced = langs[0] if paired_languages else lang
        planned = tuple(
            _task(draw, path, t, *quotas[balanced], f"{shared}/styles/{t}", clarify) for t in range(tasks)
        )
        backgrounds = people[balanced].next()
        rank = number if paired_languages else number // len(langs)
        for k in range(together):
            lang = langs[k] if paired_languages else lang
            own = f"{shared}/{lang}" if paired_languages else shared
            index = number * together + k
            yield SessionPlan(index, own, lang, date, rank, shared, seed, planned, backgrounds=backgrounds)


def group_paths(tasks: int, seed: str) -> Iterator[tuple[str, ...]]:
    """Sequences of task groups without end: all 4^k in a drawn order, then all again in another.

    Of four in a row each has another group at each position; those with 0, 1, 2, … changes come in their
    proportion all along.
    """
    for round_ in count():
        draw = seeded_draw(f"{seed}/paths/{round_}")
        for steps in _steps(tasks - 1, draw):
            first = draw.randrange(4)
            for k in draw.sample(range(4), 4):
                codes = [(first + k) % 4]
                for step in steps:
                    codes.append((codes[-1] + step) % 4)
                yield tuple(TASK_GROUPS[code] for code in codes)


def _steps(length: int, draw: Random) -> Iterator[tuple[int, ...]]:
    """All sequences of differences between neighbours, those with equally many changes spread evenly."""
    if length >= _ENUMERATED:
        for _ in range(4**_ENUMERATED):
            yield tuple(draw.randrange(4) for _ in range(length))
        return
    by_changes: dict[int, list[tuple[int, ...]]] = {}
    for steps in product(range(4), repeat=length):
        by_changes.setdefault(sum(step != 0 for step in steps), []).append(steps)
    placed: list[tuple[float, int, tuple[int, ...]]] = []
    for changes, members in by_changes.items():
        draw.shuffle(members)
        placed.extend(((k + 0.5) / len(members), changes, steps) for k, steps in enumerate(members))
    for _, _, steps in sorted(placed):
        yield steps


def _task(
    draw: Random,
    path: Sequence[str],
    t: int,
    topologies: Quota,
    subtypes: Quota,
    styles: str,
    clarify: MissingValues,
) -> TaskPlan:
    """The plan of task `t`. Args: styles: seed of how its messages are worded."""
    group = path[t]
    # Nothing lies more than two turns before the second task.
    subtype = "First Turn" if t == 0 else subtypes.next(SUBTYPES[2:] if t == 1 else ())
    topology = cast(PlannedTopology, topologies.next()) if group == "Multi-Tool" else ""
    strategy = draw.choice(STRATEGIES[subtype]) if t else ""
    questions = 1 + (draw.random() < _SECOND_QUESTION) if group == "Clarify" else 0
    form, tone = draw.choice(FORMS), draw.choice(TONES)
    # Without this draw, which planned one length for all messages, templates would make other sets of a seed.
    draw.choice(LENGTHS)
    own = seeded_draw(styles)
    return TaskPlan(
        group=group,
        topology=topology,
        subtype=subtype,
        strategy=strategy,
        questions=questions,
        missing=clarify if group == "Clarify" else "",
        styles=message_styles(own, form, tone),
        difficulty=task_difficulty(draw, own, demanding=group in DEMANDING_GROUPS),
    )


def date_line(plan: SessionPlan) -> str:
    """The date of a session in the benchmark's format."""
    return plan.date.strftime("%Y-%m-%d %H:%M:00 ") + WEEKDAYS[plan.lang][plan.date.weekday()]
