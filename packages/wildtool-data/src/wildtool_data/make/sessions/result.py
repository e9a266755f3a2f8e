"""The result of one call of a session, made again by the tool's role alone: everything else stays as it is."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, GoldNode, Session
from wildtool.errors import DataError
from wildtool.findings import Finding
from wildtool.json_codec import as_list
from wildtool.toolcall.schema import as_schema
from wildtool.toolcall.schema_check import argument_faults
from wildtool.types import Item, Role, Source
from wildtool_data.make.core.collect import GeneratedSet
from wildtool_data.make.core.maker import ScriptMaker
from wildtool_data.make.core.parsing import Action
from wildtool_data.make.core.plan import SessionPlan
from wildtool_data.make.core.prompts import SESSION_PROMPTS, SESSION_ROLES
from wildtool_data.make.core.roles import RoleCoroutine, ScriptResult, SessionRoles, run_tries
from wildtool_data.make.sessions.continuation import Continuation, read_continued, state_before_call
from wildtool_data.make.sessions.rules.texts import parse_tool_results
from wildtool_data.make.sessions.script import TASK_TRIES

REMADE_RESULT_ROLES: Mapping[str, str] = {"tool": SESSION_ROLES["tool"]}


@dataclass(frozen=True, slots=True)
class ResultJob:
    """What the result of one call is made from."""

    plan: SessionPlan
    """Without tasks: nothing is drawn."""
    session: Session
    task: int
    call: int
    """Position of its node in the task."""


@dataclass(frozen=True, slots=True)
class RemadeResults(GeneratedSet[Any]):
    """The results that were made again."""

    noun: ClassVar[str] = "results"
    key: ClassVar[str] = "result"
    roles: ClassVar[Mapping[str, str]] = REMADE_RESULT_ROLES


def result_script(job: ResultJob) -> RoleCoroutine[ScriptResult[Any]]:
    """Makes the result of one call again: yields requests, returns what came of it."""
    node = job.session.tasks[job.task].nodes[job.call]
    state = state_before_call(job.session, job.task, job.call)
    calls = [{"name": node.name, "arguments": node.arguments}]
    situation = {"conversation": state.conversation, "calls": calls, "facts": state.entities}

    def read(text: str) -> tuple[list[Any], list[Finding]]:
        action = Action(node.name, node.arguments)
        return parse_tool_results(text, [action], lang=job.plan.lang, entities=state.entities, returns={})

    def attempt(number: int, counters: Counter[str]) -> RoleCoroutine[Any]:
        roles = SessionRoles(job.plan, job.session.tools, counters, job.session.date)
        (result,) = yield from roles.ask("tool", [], situation, read)
        return result

    return run_tries(TASK_TRIES, attempt)


class ResultMaker(ScriptMaker[Any]):
    """The part of a benchmark that a run takes; its one item is a call."""

    name = "results"
    title = "Results of calls made again by models"
    unit = "result"
    prompts = SESSION_PROMPTS

    def __init__(self, seed: str, start: Continuation, call: int) -> None:
        """Args:
        seed: of the record; the request does not depend on it.
        wanted: the session, and the task of the call.
        call: position of the call's node in the task.

        Raises DataError saying why there is no result to make.
        """
        super().__init__(1)
        self.roles = {role: Role(task, "") for role, task in REMADE_RESULT_ROLES.items()}
        self._about = ["result", seed, start.id, start.digest, start.first, call]
        prefix, lang, session = read_continued(start)
        _check_call(session, start.first, call, start.id)
        nodes = as_list(start.record.get(f"{prefix}_answer_list", start.record.get("answer_list")))
        if "observation" not in as_list(nodes[start.first])[call]:
            raise DataError(f"{start.id}: call {call} of task {start.first + 1} has no field observation")
        own = "/".join(map(str, self._about))
        # Only the date line is shown, which is the session's own.
        plan = SessionPlan(0, own, lang, datetime.min, 0, own, seed, ())
        self.job = ResultJob(plan, session, start.first, call)

    def source(self) -> Source:
        """See RoleBenchmark."""
        return self._source(None, "one result", self._about, ())

    def planned_items(self) -> Iterator[Item]:
        """See ScriptMaker."""
        yield self._item(self.job)

    def replanned_item(self, item: Item, turn: int) -> Item:
        """The same call, asked for once more."""
        return self._item(replace(self.job, plan=replace(self.job.plan, turn=turn)))

    def _item(self, job: ResultJob) -> Item:
        return Item(job.plan.name, (self.unit,), job, "", job.plan.lang, tuple(self.roles))

    def script(self, item: Item) -> RoleCoroutine[ScriptResult[Any]]:
        """See ScriptMaker."""
        return result_script(item.data)

    def collect(self, results: Iterable[tuple[Item, ScriptResult[Any] | None]]) -> RemadeResults:
        """What came of it. Args: results: as `recorded` gives it."""
        return RemadeResults.collect(results, lambda item: {"result": item.id}, lambda _, result, __: result)


def _check_call(session: Session, t: int, call: int, name: str) -> None:
    """Raises DataError if a node of a task is no call that its tool can answer. Args: name: of the session."""
    nodes = session.tasks[t].nodes
    if not 0 <= call < len(nodes):
        raise DataError(f"{name}: task {t + 1} has the steps 0 to {len(nodes) - 1}, no call {call}")
    node = nodes[call]
    if node.name in (ASK, ANSWER):
        kind = "a question" if node.name == ASK else "an answer"
        raise DataError(f"{name}: step {call} of task {t + 1} is {kind}, not a call with a result")
    if fault := _definition_fault(session, node):
        raise DataError(f"{name}: call {call} of task {t + 1} {fault}; correct that first")


def _definition_fault(session: Session, node: GoldNode) -> str:
    """How a call differs from the definition of its tool; empty if it does not."""
    functions = [tool["function"] for tool in session.tools]
    schemas = {function["name"]: as_schema(function.get("parameters")) for function in functions}
    if node.name not in schemas:
        return f"is of {node.name}, which is no tool of the session"
    faults = (f"{path}: {message}" for path, message in argument_faults(node.arguments, schemas[node.name]))
    first = next(faults, "")
    return f"does not follow the definition of {node.name} ({first})" if first else ""
