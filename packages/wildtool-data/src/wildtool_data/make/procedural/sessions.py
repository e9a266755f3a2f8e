"""Sessions without any model: plans filled from templates over tool schemas, with gold that is known by construction."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from wildtool import __version__
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.draws import seeded_draw
from wildtool.errors import DataError
from wildtool.findings import Finding, custom_refusals
from wildtool_data.make.core.dedup import Deduplicator
from wildtool_data.make.core.plan import Lang, SessionGenerationSpec, SessionPlan, date_line
from wildtool_data.make.procedural.shapes import NoSuchTaskError
from wildtool_data.make.procedural.tasks import DraftTask, TaskMaker
from wildtool_data.make.procedural.tool_sets import (
    MAX_SESSION_TOOLS,
    ToolPart,
    ToolSet,
    domains,
    tool_sets_by_language,
)
from wildtool_data.make.procedural.values import ValueSampler
from wildtool_data.make.procedural.wording import Wording

_ATTEMPTS = 60
"""Draws of one task before its session is drawn again with other tools."""
_SESSION_ATTEMPTS = 25
_OWN_ATTEMPTS = 8
"""As many with tools of the user's own, for the plan and for each easier one."""
_EASED = "independent calls for chains, or no question, since these tools do not allow them"
_FEWEST_TOOLS = 3
_BARE = 2
RECORD_KEY_PREFIXES: Mapping[Lang, str] = {"en": "english", "zh": "chinese"}
PART_SESSIONS = 25_000
"""Sessions of a set that are made without regard to the others."""
MadeSession = tuple[dict[str, Any], bool]
"""The record of a session, and whether its tasks are easier than planned."""


def procedural_sessions(
    spec: SessionGenerationSpec, note: Callable[[str], None], part: ToolPart | None = None
) -> Iterator[dict[str, Any]]:
    """Sessions in the benchmark's format, one after the other; the same settings give the same sessions.

    Args:
        note: called with each tool that is left out, and why.
        part: the tools to use; None for all.

    Raises:
        DataError: for tools that no session of the wanted kind can be made with.
    """
    session_set = ProceduralSet(spec, note, part)
    easier_sessions = 0
    for number in range(session_set.parts):
        for record, easier in session_set.part(number):
            easier_sessions += easier
            yield record
    note_easier(easier_sessions, spec, note)


def note_easier(count: int, spec: SessionGenerationSpec, note: Callable[[str], None]) -> None:
    """Says how many sessions are easier than planned, if any."""
    if count:
        note(f"{count} of {spec.sessions} sessions have easier tasks than planned: {_EASED}")


class ProceduralSet:
    """A set of sessions in parts, each of which is made without regard to the others: by any process, in any order.

    Within a part no text is near another, and the least used tools come first.
    """

    def __init__(
        self,
        spec: SessionGenerationSpec,
        note: Callable[[str], None],
        part: ToolPart | None = None,
        part_sessions: int = PART_SESSIONS,
    ) -> None:
        """Args and errors as of `procedural_sessions`."""
        sets = tool_sets_by_language(spec.tools, spec.langs, note)
        self._sets = sets if part is None else {lang: part.of(its_sets) for lang, its_sets in sets.items()}
        self._places = None if part is None else part.places
        self._spec, self._part_sessions = spec, part_sessions
        self._plans, self._planned = spec.plans(), 0

    @property
    def parts(self) -> int:
        """How many there are; one where the settings allow none, which then says so."""
        return max(1, -(-self._spec.sessions // self._part_sessions))

    def part(self, number: int) -> Iterator[MadeSession]:
        """The sessions of a part. A part behind the last one is found quickly: plans follow from those before."""
        first = number * self._part_sessions
        if first < self._planned:
            self._plans, self._planned = self._spec.plans(), 0
        skipped, self._planned = first - self._planned, first + self._part_sessions
        fresh, used = Deduplicator(), Counter[str]()
        for plan in islice(self._plans, skipped, skipped + self._part_sessions):
            yield _session(plan, self._sets[plan.lang], fresh, used, self._spec, self._places)


def _session(
    plan: SessionPlan,
    sets: Sequence[ToolSet],
    fresh: Deduplicator,
    used: Counter[str],
    settings: SessionGenerationSpec,
    places: Sequence[int] | None,
) -> MadeSession:
    tries = [(plan, attempt) for attempt in range(_OWN_ATTEMPTS if settings.tools else _SESSION_ATTEMPTS)]
    if settings.tools:
        # Few tools allow chains of calls, and some documents require nothing that a question could be about.
        tries += [
            (each, attempt + _OWN_ATTEMPTS) for each in _easier(plan) for attempt in range(_OWN_ATTEMPTS)
        ]
    refused: list[Finding] = []
    for tried, attempt in tries:
        tools = session_tools(plan, sets, attempt)
        tasks = _tasks(tried, tools, fresh, used, attempt)
        if tasks is not None:
            origin = provenance(
                plan, len(sets), attempt, built_in_tools=settings.tools is None, places=places
            )
            record = _record(tried, tools, tasks, settings, origin)
            refused = custom_refusals(WILDTOOLBENCH.name, record)
            if not refused:
                used.update(node["action"]["name"] for task in tasks for node in task.nodes)
                return record, tried is not plan
    if refused:
        raise DataError(
            f"session {plan.index}: every draw breaks a rule of yours; the last: {refused[0].rule}: {refused[0].message}"
        )
    kinds = ", ".join(f"{task.group} {task.topology}".strip() for task in plan.tasks)
    raise DataError(
        f"session {plan.index}: these tools do not allow a session of {kinds}; give more tools, with parameters"
    )


def _easier(plan: SessionPlan) -> Iterator[SessionPlan]:
    """The plan with independent calls in place of chains; then with calls in place of questions too."""
    flat = tuple(
        replace(task, topology="parallel") if task.topology in ("sequential", "mixed") else task
        for task in plan.tasks
    )
    yield replace(plan, tasks=flat)
    easier = tuple(replace(task, group="Single-Tool") if task.group == "Clarify" else task for task in flat)
    yield replace(plan, tasks=easier)


def session_tools(plan: SessionPlan, sets: Sequence[ToolSet], attempt: int) -> ToolSet:
    """The tools of a session: a set, or a part of it that fits in, with some of another set as distractors."""
    draw = seeded_draw(f"{plan.shared}/tools/{attempt}")
    tools = list(sets[plan.tool_set_index(len(sets), attempt)])
    if len(tools) > MAX_SESSION_TOOLS:
        # Nothing can be asked of tools without parameters: two of them, or more where there are no others.
        able, bare = [t for t in tools if t.slots], [t for t in tools if not t.slots]
        able = draw.sample(able, min(len(able), MAX_SESSION_TOOLS - min(len(bare), _BARE)))
        tools = [*able, *draw.sample(bare, MAX_SESSION_TOOLS - len(able))]
    if len(sets) > 1:
        words_taken = {word for tool in tools for word in (tool.name, tool.request)}
        candidates = [tool for tool in draw.choice(sets) if not {tool.name, tool.request} & words_taken]
        room = max(_FEWEST_TOOLS - len(tools), min(draw.randrange(3), MAX_SESSION_TOOLS - len(tools)))
        tools.extend(draw.sample(candidates, min(room, len(candidates))))
    draw.shuffle(tools)
    return tuple(tools)


def provenance(
    plan: SessionPlan,
    sets: int,
    attempt: int,
    *,
    built_in_tools: bool,
    places: Sequence[int] | None = None,
) -> dict[str, Any]:
    """What a session's record says of its tools and of its twin.

    Args:
        sets: how many sets of tools there are.
        places: their places among all sets, where they are only some of them.
    """
    place = plan.tool_set_index(sets, attempt)
    place = place if places is None else places[place]
    origin: dict[str, Any] = {"tool_set": place, **({"domain": domains()[place]} if built_in_tools else {})}
    return {**origin, "twin": plan.shared} if plan.shared != plan.seed else origin


def _tasks(
    plan: SessionPlan, tools: ToolSet, fresh: Deduplicator, used: Counter[str], attempt: int
) -> list[DraftTask] | None:
    draw = plan.stream(f"session/{attempt}")
    maker = TaskMaker(tools, ValueSampler(draw, plan.lang, plan.date), Wording(draw, plan.lang), used)
    tasks: list[DraftTask] = []
    for t, planned in enumerate(plan.tasks):
        said_before = 0
        for drawn in range(_ATTEMPTS):
            try:
                task = maker.make(planned, t, said_before, forced=drawn >= _ATTEMPTS // 2)
            except NoSuchTaskError:
                continue
            if fresh.accepts(plan.lang, task.text):
                maker.history.add(task.mentions)
                tasks.append(task)
                break
            said_before += 1
        else:
            return None
    return tasks


def _record(
    plan: SessionPlan,
    tools: ToolSet,
    tasks: Sequence[DraftTask],
    settings: SessionGenerationSpec,
    origin: Mapping[str, Any],
) -> dict[str, Any]:
    prefix = RECORD_KEY_PREFIXES[plan.lang]
    made_by = {"model": "procedural", "version": __version__, "seed": settings.seed}
    return {
        "id": f"procedural_{settings.seed}_{plan.index}",
        f"{prefix}_env_info": date_line(plan),
        f"{prefix}_tools": [tool.definition for tool in tools],
        f"{prefix}_tasks": [task.text for task in tasks],
        f"{prefix}_answer_list": [task.nodes for task in tasks],
        f"{prefix}_task_types": [task.type for task in tasks],
        f"{prefix}_turn_subtypes": [task.subtype for task in plan.tasks[1:]],
        "made_by": {**made_by, "session": plan.index, **origin},
    }
