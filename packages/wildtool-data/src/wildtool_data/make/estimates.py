"""Estimates calls and tokens of generating a set: of sessions from a measured trial, of items by a trial of templates."""

import ast
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from typing import Any, cast

from wildtool.engine.call.budget import tokens_of
from wildtool.engine.run.estimate import RoleEstimate, Usage
from wildtool.types import Reply, Request, Tool
from wildtool_data.make.core.maker import RoleBenchmark
from wildtool_data.make.core.parsing import Action
from wildtool_data.make.core.prompts import templates
from wildtool_data.make.core.roles import AttemptFailedError, voter_names
from wildtool_data.make.items.item import GeneratedItem, MissingParameters
from wildtool_data.make.items.maker import ItemMaker
from wildtool_data.make.items.procedural import draw_item
from wildtool_data.make.items.rules import item_faults
from wildtool_data.make.items.script import ItemJob, item_script
from wildtool_data.make.items.tool_catalog import ToolCatalog
from wildtool_data.make.procedural.sessions import session_tools
from wildtool_data.make.sessions.continuation import ContinuationJob, ContinuationMaker
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.sessions.result import ResultMaker, result_script
from wildtool_data.make.sessions.task import SessionJob
from wildtool_data.make.training.maker import TRAINING_BASIS, TrainingMaker, estimate_training

_TIMES_CALLS, _TIMES_WORDS = 2, 4
"""How many times the calls and words of a trial the upper end of an estimate has."""
_SAMPLED = 200
"""Planned things that are looked at."""


@dataclass(frozen=True, slots=True)
class GenerationEstimate:
    """What a generation would take."""

    roles: Mapping[str, RoleEstimate]
    basis: str
    """What it is estimated from."""
    upper_end: str
    """What its upper end allows for."""


def estimate_generation(maker: RoleBenchmark) -> GenerationEstimate | None:
    """What models would take to generate a set; None where that cannot be estimated. Raises DataError for its files."""
    match maker:
        case SessionMaker():
            return GenerationEstimate(estimate_sessions(maker), _SESSION_BASIS, _SESSION_UPPER_END)
        case ContinuationMaker():
            return GenerationEstimate(_estimate_continuations(maker), _SESSION_BASIS, _SESSION_UPPER_END)
        case ResultMaker():
            return GenerationEstimate(_estimate_result(maker), _RESULT_BASIS, _ITEM_UPPER_END)
        case ItemMaker():
            return GenerationEstimate(_estimate_items(maker), _ITEM_BASIS, _ITEM_UPPER_END)
        case TrainingMaker():
            return GenerationEstimate(
                estimate_training(cast(TrainingMaker[Any], maker)), TRAINING_BASIS, _TRAINING_UPPER_END
            )
        case _:
            return None


_TRAINING_UPPER_END = "every try wrong, or every turn right, whichever asks more"

# Sessions -----------------------------------------------------------------------------------------

_SESSION_BASIS = (
    "64 sessions of 4 tasks, half of them Chinese, "
    "made by scripted models whose replies are short and never refused"
)
"""What `TRIAL` was measured on (`packages/wildtool-data/tests/generate/test_estimates.py` measures it again)."""
_SESSION_UPPER_END = "each reply refused once, and all that is said four times as long"
"""What the upper end allows for."""
_TASKS = 4


@dataclass(frozen=True, slots=True)
class TrialUsage:
    """What one role took in the trial."""

    calls: float
    """Per session."""
    instruction: float
    """Tokens of its instruction per call, as all below."""
    conversation: float
    """Tokens of the conversation and all else that it is shown, without the tools."""
    reply: float
    """Tokens of its reply."""


TRIAL_USAGE: Mapping[str, TrialUsage] = {
    "user": TrialUsage(5.2, 418, 263, 166),
    "judge": TrialUsage(4.0, 152, 464, 11),
    "planner": TrialUsage(8.6, 563, 239, 43),
    "agent": TrialUsage(5.2, 140, 227, 9),
    "checker": TrialUsage(9.8, 203, 206, 14),
    "tool": TrialUsage(3.4, 206, 266, 37),
}
TRIAL_PARTS: Mapping[str, Mapping[str, float]] = {
    "user": {
        "task": 0.78,
        "reply": 0.195,
        "vague reply": 0.025,
        "later": 0.585,
        "single": 0.195,
        "parallel": 0.115,
        "mixed": 0.065,
        "sequential": 0.015,
        "chat": 0.195,
        "clarify": 0.195,
        "clarify some": 0.195,
        "examples": 0.195,
        "continued examples": 0.585,
        "Coreferential Reference": 0.275,
        "Partial Information": 0.18,
        "Long-Range Dependency": 0.13,
    },
    "agent": {"ask": 0.22, "answer": 0.585, "chat": 0.195},
    "checker": {"decision": 0.345, "results": 0.345, "alone": 0.305},
}
"""By role and part of its instruction the share of its calls that had the part in the trial; the beginning is in all.
Those about examples are where there are some, and of the two kinds of clarify messages one is asked for."""


def estimate_sessions(maker: SessionMaker) -> dict[str, RoleEstimate]:
    """Calls and tokens of each role. Raises DataError for tools that cannot be read."""
    spec = maker.spec
    jobs: list[SessionJob] = [item.data for item in islice(maker.planned_items(), _SAMPLED)]
    tools = [[tool.definition for tool in session_tools(job.plan, job.sets, 0)] for job in jobs]
    shown = [job.material.shown(job.plan, t)[1] for job in jobs for t in range(spec.tasks)]
    examples = fmean(tokens_of(json.dumps(each, ensure_ascii=False)) if each else 0 for each in shown)
    scenarios = fmean(_tokens_of_scenarios(job) for job in jobs) / spec.tasks
    added = _added_by_own_texts(maker)
    added["user"] += (examples + scenarios) * TRIAL_PARTS["user"]["task"]
    added["judge"] += scenarios
    return _of_tasks(spec.sessions * spec.tasks, tools, spec.vote_counts, users=spec.users, added=added)


def _tokens_of_scenarios(job: SessionJob) -> float:
    """Tokens of the scenarios of a session: all with its first task, and with each later one that of the writer."""
    texts = [job.material.scenarios[each.scenario - 1] for each in job.plan.backgrounds if each.scenario]
    sizes = [tokens_of(text) for text in texts]
    return sum(sizes) + (len(job.plan.tasks) - 1) * fmean(sizes) if sizes else 0.0


def _added_by_own_texts(maker: SessionMaker) -> dict[str, float]:
    """Tokens by role that a call has more because of the user's own texts for roles; below 0 where these are shorter."""
    spec = maker.spec
    unused = {"clarify" if spec.clarify == "some" else "clarify some"}
    if not maker.material.examples:
        unused |= {"examples", "continued examples"}
    added = dict.fromkeys(TRIAL_USAGE, 0.0)
    for lang, roles in maker.own_prompts.texts.items():
        shipped = templates(lang)
        for role, parts in roles.items():
            for part in parts.keys() - unused:
                longer = tokens_of(parts[part]) - tokens_of(shipped[role][part])
                added[role] += longer * TRIAL_PARTS.get(role, {}).get(part, 1.0) / len(spec.langs)
    return added


def _estimate_continuations(maker: ContinuationMaker) -> dict[str, RoleEstimate]:
    """Calls and tokens of each role; what was said in the tasks that stay is not counted."""
    jobs: list[ContinuationJob] = [item.data for item in maker.planned_items()]
    tasks = sum(len(job.session.tasks) - job.first for job in jobs)
    return _of_tasks(tasks, [job.session.tools for job in jobs], maker.spec.vote_counts)


_RESULT_BASIS = "its own request, with a reply as short as those of scripted models"


def _estimate_result(maker: ResultMaker) -> dict[str, RoleEstimate]:
    """Calls and tokens of the one role that is asked."""
    request = next(result_script(maker.job))
    return {"tool": _refused_once(1, tokens_of(list(request.messages)), TRIAL_USAGE["tool"].reply)}


def _of_tasks(
    tasks: int,
    tools_of: Sequence[Sequence[Tool]],
    votes: Mapping[str, int],
    *,
    users: int = 1,
    added: Mapping[str, float] | None = None,
) -> dict[str, RoleEstimate]:
    """Args:
    users: models that take the user's role in turn, so that each is asked for its part.
    added: tokens by role that a call has beside those of the trial.
    """
    definitions = [json.dumps([tool["function"] for tool in each], ensure_ascii=False) for each in tools_of]
    tools = fmean(map(tokens_of, definitions))
    estimates: dict[str, RoleEstimate] = {}
    for role, usage in TRIAL_USAGE.items():
        several = {"user": users}.get(role, 1)
        calls = usage.calls * tasks / _TASKS / several
        fixed = usage.instruction + tools + (added or {}).get(role, 0.0)
        prompt = fixed + usage.conversation
        low = Usage(round(calls), calls * prompt, calls * usage.reply)
        more = calls * _TIMES_CALLS
        high = Usage(
            round(more),
            more * (fixed + _TIMES_WORDS * usage.conversation),
            more * _TIMES_WORDS * usage.reply,
        )
        names = voter_names(role, max(several, votes.get(role, 1)))
        estimates |= dict.fromkeys(names, RoleEstimate(low, high))
    return estimates


# Items --------------------------------------------------------------------------------------------

_ITEM_BASIS = (
    "these items, with templates in the place of models, whose replies are short and hardly ever refused"
)
_ITEM_UPPER_END = "each reply refused once, and all replies four times as long"
"""What the upper end allows for."""
_DRAWS = 30


def _estimate_items(maker: ItemMaker) -> dict[str, RoleEstimate]:
    """Calls and tokens of each role. Raises DataError for tools or sessions that cannot be read."""
    calls: Counter[str] = Counter()
    prompts: Counter[str] = Counter()
    replies: Counter[str] = Counter()
    planned = list(maker.planned_items())
    for item in planned[:_SAMPLED]:
        for request, reply in _trial(item.data):
            calls[request.role] += 1
            prompts[request.role] += round(tokens_of(list(request.messages)))
            replies[request.role] += round(tokens_of({"content": reply}))
    times = max(1, len(planned) / _SAMPLED)
    estimates: dict[str, RoleEstimate] = {}
    for role, count in calls.items():
        estimates[role] = _refused_once(round(count * times), prompts[role] * times, replies[role] * times)
    return estimates


def _refused_once(calls: int, prompt: float, reply: float) -> RoleEstimate:
    """Args: prompt, reply: tokens of all calls. The upper end is that of `_ITEM_UPPER_END`."""
    more = _TIMES_WORDS * reply
    # What was refused is shown again.
    high = Usage(calls * _TIMES_CALLS, _TIMES_CALLS * prompt + more, _TIMES_CALLS * more)
    return RoleEstimate(Usage(calls, prompt, reply), high)


def _trial(job: ItemJob) -> Iterator[tuple[Request, str]]:
    """The requests of one item with the answers of templates."""
    script = item_script(job)
    player = _TemplatePlayer(job)
    try:
        request = next(script)
        while True:
            reply = json.dumps(player.answer(request), ensure_ascii=False)
            yield request, reply
            request = script.send(Reply({"role": "assistant", "content": reply}))
    except StopIteration:
        return


class _TemplatePlayer:
    """Says what an item made by templates says, in all roles."""

    def __init__(self, job: ItemJob) -> None:
        self._item = _drawn(job)
        self._users = _user_texts(self._item)
        self._acts = _acts(self._item)

    def answer(self, request: Request) -> Any:
        situation = json.loads(request.messages[1]["content"])
        if request.role == "writer":
            return _reply_of(self._item)
        if request.role == "user":
            return {"text": next(self._users, "-")}
        if request.role == "tool":
            body = {"status": "done", "number": 12345}
            return {"observations": [{"status_code": 200, "response": body} for _ in situation["calls"]]}
        if request.role == "agent":
            if "calls" in situation["conversation"][-1]:
                return {"text": "-" if self._item is None else self._item.turns[1].utterances[0].text}
            return next(self._acts, None)
        return {
            "valid": True,
            "where": "",
            "reason": "the calls do what is asked for, with the values as they were said",
        }


def _drawn(job: ItemJob) -> GeneratedItem | None:
    """An item of templates over the tools that the first attempt has; None if there is none."""
    if not isinstance(job.source, ToolCatalog):
        return job.source
    try:
        choice = job.source.choose(job.plan, 0)
    except AttemptFailedError:
        return None
    items = (draw_item(job.plan, choice, job.plan.stream(f"trial/{k}"), k) for k in range(_DRAWS))
    return next((item for item in items if item is not None and not item_faults(item)), None)


def _reply_of(item: GeneratedItem | None) -> Any:
    if item is None:
        return {}
    reply: dict[str, Any] = {
        "messages": [{utterance.speaker: utterance.text} for utterance in item.turns[0].utterances],
        "calls": [_call(call) for call in item.turns[0].calls],
    }
    if item.profile:
        # Our own text, the literal of an object with a full stop behind it.
        reply["profile"] = ast.literal_eval(item.profile[:-1])
    return reply


def _user_texts(item: GeneratedItem | None) -> Iterator[str]:
    talk = (
        [*(utterance for turn in item.turns for utterance in turn.utterances), *item.correction]
        if item
        else []
    )
    yield from (utterance.text for utterance in talk if utterance.speaker == "user")


def _acts(item: GeneratedItem | None) -> Iterator[Any]:
    """What the assistant does at each request."""
    if item is None:
        return
    fault = item.fault
    if fault is not None:
        act = {"tool": fault.tool, "text": item.correction[0].text}
        if isinstance(fault, MissingParameters):
            yield {"action": "missing", "thought": "|".join(fault.names), **act}
        else:
            yield {"action": "wrong", "thought": fault.value, "parameter": fault.parameter, **act}
    for turn in item.turns:
        yield {"action": "call", "calls": [_call(call) for call in turn.calls]}


def _call(call: Action) -> dict[str, Any]:
    derived = {"derived": dict(call.derived)} if call.derived else {}
    return {"name": call.name, "arguments": call.arguments, **derived}
