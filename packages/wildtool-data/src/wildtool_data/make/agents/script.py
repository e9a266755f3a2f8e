"""The script of an agent item made by role models: a writer designs it, it is played, judges vote on it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast

from wildtool.benchmarks.wildtoolbench.grounding import SearchText, grounded, leaves
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.toolcall.call_syntax import CallExpression, write_calls
from wildtool_data.make.agents.item import (
    AgentItem,
    AgentTask,
    played_item,
    results,
    start_problem,
    written_call,
)
from wildtool_data.make.agents.plan import AgentPlan
from wildtool_data.make.agents.scenario import AgentScenario
from wildtool_data.make.core.parsing import RefusedReplyError, read_object
from wildtool_data.make.core.roles import RoleCoroutine, RoleSession, ScriptResult, run_tries
from wildtool_data.make.items.role_replies import judge_opinions
from wildtool_data.make.procedural.values import word_list

AGENT_PROMPTS = Path(__file__).parent / "prompts"
AGENT_ROLES: Mapping[str, str] = {
    "agent": "stands for the default model; is asked nothing",
    "writer": "designs the task: who asks, the start state, the request, the calls",
    "judge": "votes on tasks that play right; the further votes are of `judge 2`, `judge 3`, …",
}
MAX_AGENT_TRIES = 3
START_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "BaseApi": {"wifi": "true or false", "logged_in": "true or false"},
    "Finance": {"balances": "object of account to money", "logged_in": "list of accounts"},
}
"""By class what a start state may set; the sandbox reads nothing else."""
_LONGEST_QUESTION = 1_500
_MOST_CALLS = 12
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class AgentJob:
    """What an item is made from."""

    plan: AgentPlan
    scenario: AgentScenario
    judges: int
    agree: int


@dataclass(frozen=True, slots=True)
class AcceptedAgentItem:
    """An item that plays right."""

    item: AgentItem
    votes: Sequence[Mapping[str, Any]]
    kept: bool
    """Whether enough judges found it right."""


def agent_script(job: AgentJob) -> RoleCoroutine[ScriptResult[AcceptedAgentItem]]:
    """Makes one item: yields requests, returns what came of it."""
    return run_tries(MAX_AGENT_TRIES, lambda number, counters: _attempt(job, number, counters))


def _attempt(job: AgentJob, number: int, counters: Counter[str]) -> RoleCoroutine[AcceptedAgentItem]:
    plan, scenario = job.plan, job.scenario
    draw = plan.stream(f"task/{number}")
    classes = draw.choice(sorted(scenario.functions))
    parts = draw.choice((1, 2, 2, 3))
    state = {name: scenario.edition.initial[name] for name in classes}
    tools = list(scenario.functions[classes])
    roles = RoleSession(AGENT_PROMPTS, plan.lang, {"tools": tools}, counters)
    situation = {
        "state": state,
        "settings": {name: START_SETTINGS[name] for name in classes if name in START_SETTINGS},
        "parts": parts,
        "words": [draw.choice(word_list(name, plan.lang)) for name in ("nouns", "first_names", "cities")],
    }

    def read(text: str) -> tuple[AgentItem | None, list[Finding]]:
        task = _task(text, classes, parts)
        if problem := start_problem(scenario, task):
            return None, [fault("E1", f"`config` cannot be used: {problem}.")]
        if faults := list(_unfounded(task, scenario, state)):
            return None, faults
        made = played_item(plan.index, scenario, task)
        if isinstance(made, str):
            return None, [fault("E4", f"Played, this does not work: {made}.")]
        return made, []

    block = "turn" if scenario.multi_turn else "step"
    item = yield from roles.ask("writer", [block], situation, read)
    assert item is not None, "a task with faults is refused"
    written = [write_calls([call]) for call in item.task.calls]
    seen = {"question": item.task.question, "calls": written}
    votes = yield from judge_opinions(roles, job.judges, [], seen)
    return AcceptedAgentItem(item, votes, sum(vote["valid"] is True for vote in votes) >= job.agree)


def _task(text: str, classes: tuple[str, ...], parts: int) -> AgentTask:
    """The task of a reply. Raises RefusedReplyError."""
    reply = read_object(text, "E1")
    question = reply.get("question")
    if not isinstance(question, str) or not 0 < len(question.strip()) <= _LONGEST_QUESTION:
        message = f"`question` is a text of at most {_LONGEST_QUESTION} characters."
        raise RefusedReplyError(fault("E1", message))
    config = _config(reply.get("config"), classes)
    groups = tuple(tuple(_calls(group)) for group in as_list(reply.get("parts")))
    if len(groups) != parts or not all(groups):
        raise RefusedReplyError(fault("E2", f"`parts` is a list of {parts} lists of at least one call each."))
    task = AgentTask(classes, question.strip(), config, tuple(_calls(reply.get("before"))), groups)
    if len(task.calls) > _MOST_CALLS:
        raise RefusedReplyError(fault("E2", f"At most {_MOST_CALLS} calls."))
    return task


def _config(entries: Any, classes: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """The start state of a reply, which may leave it out. Raises RefusedReplyError."""
    rows = as_object(entries)
    if not isinstance(entries, dict | None) or not all(isinstance(its, dict) for its in rows.values()):
        raise RefusedReplyError(fault("E1", "`config` is an object with an object for each class."))
    config = {name: as_object(its) for name, its in rows.items()}
    for name, its in config.items():
        if name not in classes or not its.keys() <= START_SETTINGS.get(name, {}).keys():
            message = (
                f"`config` may set only what `settings` lists; {name} with {', '.join(its)} is not in it."
            )
            raise RefusedReplyError(fault("E1", message))
    return config


def _calls(entries: Any) -> Iterator[CallExpression]:
    if not isinstance(entries, list | None):
        raise RefusedReplyError(fault("E2", "Calls are a list, even if there is only one."))
    for row in as_objects(entries):
        name, arguments = row.get("name"), row.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise RefusedReplyError(fault("E2", "A call has a `name` and `arguments` (an object)."))
        yield written_call(name, **as_object(arguments))


def _unfounded(task: AgentTask, scenario: AgentScenario, state: Mapping[str, Any]) -> Iterator[Finding]:
    """Why an agent could not know what the calls need: it is neither said, nor part of the world or of a result."""
    if (_CHINESE.search(task.question) is not None) != (scenario.lang == "zh"):
        yield fault("E3", f"`question` must be in the language {scenario.lang}.")
    known = [SearchText.of(task.question), SearchText.of(dict(state)), SearchText.of(dict(task.config))]
    for call, result in zip_longest(task.calls, results(scenario, task)):
        for leaf in leaves(cast(Any, call.arguments), {}):
            if not isinstance(leaf.value, bool) and not grounded(leaf, known):
                where = "is neither in the question nor in `state` nor in an earlier result"
                yield fault("E3", f"{call.name}: {leaf.value!r} {where}.")
        known.append(SearchText.of(result))
