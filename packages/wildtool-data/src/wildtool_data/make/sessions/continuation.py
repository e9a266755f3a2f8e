"""Sessions continued by role models from a task on: the tasks before it, the tools and the date stay as they are."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random
from typing import Any, ClassVar, cast

from wildtool.benchmarks.wildtoolbench.data import (
    ANSWER,
    ASK,
    LANGUAGE_PREFIXES,
    SUBTYPES,
    TASK_TYPES,
    GoldNode,
    Session,
    Task,
    language_prefixes,
    read_session,
)
from wildtool.benchmarks.wildtoolbench.fixed.episode import fixed_schedule
from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.benchmarks.wildtoolbench.stats.shapes import TASK_GROUPS
from wildtool.draws import seeded_draw
from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object
from wildtool.types import Item, Source
from wildtool_data.make.core.collect import GeneratedSet
from wildtool_data.make.core.diversity import FORMS, TONES, message_styles, task_difficulty
from wildtool_data.make.core.maker import SESSION_RECIPE, ScriptMaker, voter_roles
from wildtool_data.make.core.plan import (
    DEMANDING_GROUPS,
    STRATEGIES,
    Lang,
    PlannedTopology,
    SessionPlan,
    TaskPlan,
)
from wildtool_data.make.core.prompts import SESSION_PROMPTS, SESSION_ROLES
from wildtool_data.make.core.roles import RoleCoroutine, ScriptResult, SessionRoles, run_tries
from wildtool_data.make.procedural.sessions import RECORD_KEY_PREFIXES
from wildtool_data.make.sessions.rules.final import TYPE_OF_TOPOLOGY, session_format_faults
from wildtool_data.make.sessions.rules.texts import entities_in
from wildtool_data.make.sessions.script import SESSION_TRIES, add_task
from wildtool_data.make.sessions.state import SessionState
from wildtool_data.make.sessions.task import SessionJob

_SHAPES = {name: shape for shape, name in TYPE_OF_TOPOLOGY.items() if "Multi-Tool" in name}


@dataclass(frozen=True, slots=True)
class ContinuationSpec:
    """How sessions are continued."""

    seed: str = "1"
    keep_texts: bool = False
    """Whether the user says what is there already, so that only the assistant's side is made again."""
    vote_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many vote in a role; one where it is not named."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """A session that is to be continued."""

    id: str
    digest: str
    """Of its content."""
    record: Mapping[str, Any]
    """In the benchmark's format, in one language."""
    first: int
    """The first task that is made again, from 0."""


@dataclass(frozen=True, slots=True)
class RemadeTasks:
    """The tasks of a session from the first remade one on."""

    prefix: str
    """Language of its fields."""
    texts: tuple[str, ...]
    answers: tuple[list[dict[str, Any]], ...]
    types: tuple[str, ...]
    doubtful: tuple[dict[str, Any], ...]
    """Edges that were inferred with little confidence."""


@dataclass(frozen=True, slots=True)
class ContinuationJob:
    """What the remade tasks of one session are made from."""

    job: SessionJob
    session: Session
    prefix: str
    first: int
    groundings: Sequence[list[Mapping[str, str]]]
    """Of the nodes of each earlier task, where their values come from."""
    keep_texts: bool

    @property
    def plan(self) -> SessionPlan:
        """The plan of the whole session."""
        return self.job.plan


@dataclass(frozen=True, slots=True)
class ContinuedSessions(GeneratedSet[tuple[str, RemadeTasks]]):
    """The outcome of all continued sessions; each with its id."""

    noun: ClassVar[str] = "sessions"
    key: ClassVar[str] = "session"
    roles: ClassVar[Mapping[str, str]] = SESSION_ROLES


def continuation_job(start: Continuation, index: int, spec: ContinuationSpec) -> ContinuationJob:
    """Args: index: number of the session among those that are continued.

    Raises DataError saying why the session cannot be continued from there.
    """
    prefix, lang, session = read_continued(start)
    for t in range(start.first, len(session.tasks)):
        task = session.tasks[t]
        if task.type not in TASK_TYPES or (t and task.subtype not in SUBTYPES):
            raise DataError(f"{start.id}: task {t + 1} has no type and subtype of those that are made")
    groundings = [
        [cast(Mapping[str, str], as_object(as_object(node).get("grounding"))) for node in as_list(nodes)]
        for nodes in as_list(start.record.get(f"{prefix}_answer_list", start.record.get("answer_list")))
    ]
    plan = _plan(session, start, index, lang, spec.seed)
    before = _state_before(session, start.first, groundings).record(plan, session.tools, session.date)
    job = SessionJob(
        plan,
        (),
        vote_counts=spec.vote_counts,
        # Which tool a task is about is drawn, since there are no sessions beside this one to take turns with.
        earlier_tool_tasks=plan.stream("tool").randrange(1 << 16),
        known_faults=frozenset(session_format_faults(before)),
    )
    return ContinuationJob(job, session, prefix, start.first, groundings, spec.keep_texts)


def read_continued(continuation: Continuation) -> tuple[str, Lang, Session]:
    """Prefix of the fields, language and session. Raises DataError if models cannot make parts of it again."""
    prefixes = language_prefixes(continuation.record)
    langs = {prefix: LANGUAGE_PREFIXES.get(prefix, prefix) for prefix in prefixes}
    if len(prefixes) != 1 or langs[prefixes[0]] not in RECORD_KEY_PREFIXES:
        raise DataError(
            f"{continuation.id}: only sessions in one language, English or Chinese, are made again"
        )
    session = read_session(continuation.record, continuation.id, prefixes[0])
    if not 0 <= continuation.first < len(session.tasks):
        raise DataError(
            f"{continuation.id}: it has {len(session.tasks)} tasks, no task {continuation.first + 1}"
        )
    return prefixes[0], cast(Lang, langs[prefixes[0]]), session


def continuation_script(continuation: ContinuationJob) -> RoleCoroutine[ScriptResult[RemadeTasks]]:
    """Makes the tasks of one session again: yields requests, returns what came of it."""
    job, session, first = continuation.job, continuation.session, continuation.first

    def attempt(number: int, counters: Counter[str]) -> RoleCoroutine[RemadeTasks]:
        roles = SessionRoles(job.plan, session.tools, counters, session.date)
        state = _state_before(session, first, continuation.groundings)
        for t in range(first, len(job.plan.tasks)):
            text = session.tasks[t].text if continuation.keep_texts else ""
            state = yield from add_task(job, roles, state, t, number, text)
        record = state.record(job.plan, session.tools, session.date)
        key = RECORD_KEY_PREFIXES[job.plan.lang]
        texts, answers, types = (
            tuple(record[f"{key}_{name}"][first:]) for name in ("tasks", "answer_list", "task_types")
        )
        return RemadeTasks(continuation.prefix, texts, answers, types, tuple(state.doubtful))

    return run_tries(SESSION_TRIES, attempt)


class ContinuationMaker(ScriptMaker[RemadeTasks]):
    """The part of a benchmark that a run takes; an item is a session that is continued."""

    name = "sessions"
    title = "Sessions continued by models"
    unit = "session"
    prompts = SESSION_PROMPTS
    recipe = SESSION_RECIPE

    def __init__(self, spec: ContinuationSpec, continuations: Sequence[Continuation]) -> None:
        """Raises DataError for a session that cannot be continued."""
        super().__init__(len(continuations))
        self.spec = spec
        self.wanted = continuations
        self.roles = voter_roles(SESSION_ROLES, spec.vote_counts)
        self._jobs = [continuation_job(start, index, spec) for index, start in enumerate(continuations)]

    def source(self) -> Source:
        """See RoleBenchmark."""
        votes = sorted(self.spec.vote_counts.items())
        sessions = [[start.id, start.digest, start.first] for start in self.wanted]
        counted = ["continued", self.spec.seed, self.spec.keep_texts, votes, sessions]
        return self._source(None, "continued sessions", counted, ())

    def planned_items(self) -> Iterator[Item]:
        """See ScriptMaker."""
        return map(self._item, self._jobs)

    def replanned_item(self, item: Item, turn: int) -> Item:
        """The same tasks of the same session, worded otherwise."""
        index: int = item.data.plan.index
        spec = replace(self.spec, seed=f"{self.spec.seed}/another/{turn}")
        job = continuation_job(self.wanted[index], index, spec)
        return self._item(replace(job, job=replace(job.job, plan=replace(job.plan, turn=turn))))

    def _item(self, job: ContinuationJob) -> Item:
        return Item(job.plan.name, (self.unit,), job, "", job.plan.lang, tuple(self.roles))

    def script(self, item: Item) -> RoleCoroutine[ScriptResult[RemadeTasks]]:
        """See ScriptMaker."""
        return continuation_script(item.data)

    def collect(self, results: Iterable[tuple[Item, ScriptResult[RemadeTasks] | None]]) -> ContinuedSessions:
        """What came of all sessions. Args: results: as `recorded` gives it."""

        def id_of(item: Item) -> str:
            job: ContinuationJob = item.data
            return self.wanted[job.plan.index].id

        return ContinuedSessions.collect(
            results,
            lambda item: {"session": item.id, "id": id_of(item)},
            lambda item, remade, _: (id_of(item), remade),
        )


def _plan(session: Session, continuation: Continuation, index: int, lang: Lang, seed: str) -> SessionPlan:
    """The plan of a session by its types and subtypes; the wording is drawn again."""
    own = f"{seed}/continued/{continuation.id}/{continuation.first}"
    tasks = tuple(_task_plan(task, seeded_draw(f"{own}/{t}")) for t, task in enumerate(session.tasks))
    # Only the date line is shown, which is the session's own.
    return SessionPlan(index, own, lang, datetime.min, index, own, seed, tasks)


def _task_plan(task: Task, draw: Random) -> TaskPlan:
    return TaskPlan(
        group=task.group if task.group in TASK_GROUPS else "",
        topology=cast(PlannedTopology, _SHAPES.get(task.type, "")),
        subtype=task.subtype,
        strategy=draw.choice(STRATEGIES[task.subtype]) if task.subtype in STRATEGIES else "",
        questions=max(1, sum(node.name == ASK for node in task.nodes)) if task.group == "Clarify" else 0,
        # What was missing before is not asked for again: the message may be kept as it is.
        missing="some" if task.group == "Clarify" else "",
        styles=message_styles(draw, draw.choice(FORMS), draw.choice(TONES)),
        difficulty=task_difficulty(draw, draw, demanding=task.group in DEMANDING_GROUPS),
    )


# The state when a task, or a call, begins ------------------------------------------------------------


def _state_before(
    session: Session, first: int, groundings: Sequence[list[Mapping[str, str]]]
) -> SessionState:
    """What was said and returned in the tasks before one, in an order that their graphs allow."""
    state = SessionState(passages=[SearchText.of(session.date)])
    for t in range(first):
        task = session.tasks[t]
        _say(state, "user", task.text)
        for step in _steps(session, t):
            _add_step(state, [task.nodes[i] for i in step])
        state.tasks.append(task)
        state.groundings.append(groundings[t])
        state.candidates.append([])
    return state


def state_before_call(session: Session, t: int, call: int) -> SessionState:
    """What was said and returned before a call of a task, with the calls that may go together with it."""
    unseen: list[list[Mapping[str, str]]] = [[]] * t
    state = _state_before(session, t, unseen)
    task = session.tasks[t]
    _say(state, "user", task.text)
    for step in _steps(session, t):
        if beside := [task.nodes[i] for i in step if i != call]:
            _add_step(state, beside)
        if call in step:
            break
    return state


def _steps(session: Session, t: int) -> Sequence[Sequence[int]]:
    return fixed_schedule(session, t).shortest or [(i,) for i in range(len(session.tasks[t].nodes))]


def _add_step(state: SessionState, nodes: Sequence[GoldNode]) -> None:
    if nodes[0].name in (ASK, ANSWER):
        _say(state, "assistant", str(nodes[0].observation or ""))
        if nodes[0].user_input is not None:
            _say(state, "user", nodes[0].user_input)
        return
    calls = [{"name": node.name, "arguments": node.arguments} for node in nodes]
    state.conversation.append({"calls": calls, "results": [node.observation for node in nodes]})
    for node in nodes:
        state.passages.extend((SearchText.of(node.arguments), SearchText.of(node.observation)))
        for name, lasting in entities_in(node.observation):
            state.entities[name] = {**state.entities.get(name, {}), **lasting}


def _say(state: SessionState, speaker: str, text: str) -> None:
    state.conversation.append({speaker: text})
    state.passages.append(SearchText.of(text))
