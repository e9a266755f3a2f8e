"""Rules for the planner's decisions (P2 to P24), one small pure function each.

P1, P3 and P13 are in `core.parsing`, those on values in `values`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from wildtool.benchmarks.wildtoolbench.data import ANSWER, VIRTUAL
from wildtool.generate.core.parsing import Action, Decision, RuleFault
from wildtool.generate.sessions.rules.context import (
    DecisionContext,
    DecisionRule,
    gives_answer,
    known_calls,
    questions_in,
    required_of,
)
from wildtool.generate.sessions.rules.values import p14, p15, p16, p18, p19, p22
from wildtool.toolcall.schema import member_schemas
from wildtool.toolcall.schema_check import shorten


def p24(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """What is done agrees with the wanted kind of task."""
    calls = sum(action.name not in VIRTUAL for action in decision.actions)
    problem = _GROUP_RULES[context.wanted.group](
        context, calls, any(questions_in(decision)), any(action.name == ANSWER for action in decision.actions)
    )
    if problem:
        yield problem


def _single(context: DecisionContext, calls: int, asks: bool, answers: bool) -> str:
    if asks:
        return "Nothing is missing in this task; make the call."
    if len(context.calls) + calls > 1:
        return "This task takes exactly one call."
    return "This task takes a call before the answer." if answers and not context.calls else ""


def _multi(context: DecisionContext, calls: int, asks: bool, answers: bool) -> str:
    if asks:
        return "Nothing is missing in this task; make the calls."
    done, topology = len(context.calls), context.wanted.topology
    if answers and done < (3 if topology == "mixed" else 2):
        return "This task takes more calls before the answer."
    if topology == "parallel" and calls and (done or calls < 2):
        return "This task takes independent calls, all of them at once."
    if topology == "sequential" and calls > 1:
        return "This task takes calls that need each other, one at a time."
    return ""


def _clarify(context: DecisionContext, calls: int, asks: bool, answers: bool) -> str:
    if not asks and not context.questions:
        return "Something required is missing in this task; ask the user first."
    return "This task takes a call before the answer." if answers and not context.calls else ""


def _chat(context: DecisionContext, calls: int, asks: bool, answers: bool) -> str:
    return "This task needs no tool and no question; answer it." if calls or asks else ""


_GROUP_RULES: Mapping[str, Callable[[DecisionContext, int, bool, bool], str]] = {
    "Single-Tool": _single,
    "Multi-Tool": _multi,
    "Clarify": _clarify,
    "Chat": _chat,
}


MAX_DECISION_CALLS = 6
"""Calls of one decision at most; the official rules list every order of independent calls."""
MAX_TASK_CALLS = 10
"""Calls of a task at most."""
MAX_TASK_QUESTIONS = 3

_BEHIND_THE_SCENES = re.compile(r"\bchecker\b|\bsimulat(?:ed|or|ion)\b|检查员|校验员|模拟工具", re.IGNORECASE)
_ONE_BY_ONE = re.compile(
    r"\bone (?:after another|after the other|at a time|by one)\b|\bserial(?:ly)?\b|\bsequential(?:ly)?\b"
    r"|串行|依次|逐个|逐一",
    re.IGNORECASE,
)


def p2(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Thought and plan do not speak of the checker, or of tools as simulated."""
    if _BEHIND_THE_SCENES.search(f"{decision.thought}\n{decision.plan}"):
        yield "Thought and plan must not speak of a checker or of simulated tools."


def p4(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Every action is a tool of the list."""
    for action in decision.actions:
        if action.name not in context.schemas and action.name not in VIRTUAL:
            yield f"{shorten(action.name)} is not a tool; there are: {', '.join(context.schemas)}."


def p5(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Every argument is a parameter of its tool."""
    for action in known_calls(decision, context):
        known = member_schemas(context.schemas[action.name])
        unknown = [name for name in action.arguments if name not in known]
        if unknown:
            yield f"{action.name} has no parameter {', '.join(map(shorten, unknown))}."


def p6(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No required argument is an empty text."""
    for action in known_calls(decision, context):
        for name in required_of(action.name, context):
            if action.arguments.get(name) == "":
                yield f"{action.name}: the required {name} is empty."


def p7(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Every required argument is there."""
    for action in known_calls(decision, context):
        missing = [name for name in required_of(action.name, context) if name not in action.arguments]
        if missing:
            yield (
                f"{action.name} lacks {', '.join(missing)}: if the conversation gives a value, fill it in; if the user "
                "never gave it, ask the user; never make one up."
            )


def p8(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """A question or the answer is the only action."""
    names = [action.name for action in decision.actions]
    if len(names) > 1 and VIRTUAL & set(names):
        yield "A question to the user, or the answer, must be the only action."


def p9(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """A question names a tool and required parameters of it."""
    for tool, parameters in questions_in(decision):
        if not isinstance(tool, str) or tool not in context.schemas:
            yield f"A question must name a tool of the list as `tool_name`, not {shorten(tool)}."
            continue
        wrong = [name for name in parameters if name not in required_of(tool, context)]
        if wrong:
            yield f"{', '.join(map(shorten, wrong))} is no required parameter of {tool}."


def p10(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """The answer is of type tool or chat."""
    for action in decision.actions:
        if action.name == ANSWER and action.arguments not in (
            {"answer_type": "tool"},
            {"answer_type": "chat"},
        ):
            yield 'The answer takes {"answer_type": "tool"} or {"answer_type": "chat"}.'


def p11(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No chat right after a tool's result."""
    if context.after_result and gives_answer(decision, "chat"):
        yield "A tool has just answered, so the answer_type is `tool`."


def p12(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """A plan that calls one by one makes one call now."""
    if len(decision.actions) > 1 and _ONE_BY_ONE.search(decision.plan):
        yield "The plan makes calls one after another, so only the first one is due now."


def p17(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No call is made twice."""
    seen = {_signature(call) for call in context.calls}
    for action in known_calls(decision, context):
        if _signature(action) in seen:
            yield f"{action.name} with these arguments is called twice; its result is known."
        seen.add(_signature(action))


def p20(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """A question asks for something, and for nothing that the user gave already."""
    for tool, parameters in questions_in(decision):
        if not parameters:
            yield "A question must list what is missing in `missing_required_parameters`."
        again = [name for name in parameters if (str(tool), name) in context.answered]
        if again:
            yield f"The user has already given {', '.join(again)}."


def p21(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """An answer from tools needs a call, an answer without needs none."""
    if gives_answer(decision, "tool") and not context.calls:
        yield "No tool was called in this task, so there is no result to answer from."
    if gives_answer(decision, "chat") and context.calls:
        yield "Tools were called in this task, so the answer_type is `tool`."


def p23(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """There are not too many calls and questions."""
    if len(decision.actions) > MAX_DECISION_CALLS:
        yield f"{len(decision.actions)} calls at once; at most {MAX_DECISION_CALLS}."
    if len(context.calls) + len(decision.actions) > MAX_TASK_CALLS + 1:
        yield f"more than {MAX_TASK_CALLS} calls in a task; answer now."
    if context.questions >= MAX_TASK_QUESTIONS and any(questions_in(decision)):
        yield f"the user was asked {MAX_TASK_QUESTIONS} times already."


DECISION_RULES: Mapping[str, DecisionRule] = {
    "P2": p2, "P4": p4, "P5": p5, "P6": p6, "P7": p7, "P8": p8, "P9": p9, "P10": p10, "P11": p11, "P12": p12,
    "P14": p14, "P15": p15, "P16": p16, "P17": p17, "P18": p18, "P19": p19, "P20": p20, "P21": p21, "P22": p22,
    "P23": p23, "P24": p24,
}  # fmt: skip
_WARNINGS = frozenset(["P18"])
"""Rules that are only counted."""


def decision_faults(decision: Decision, context: DecisionContext) -> list[RuleFault]:
    """Everything that is wrong with a decision."""
    return [
        RuleFault(name, message, warning=name in _WARNINGS)
        for name, rule in DECISION_RULES.items()
        for message in rule(decision, context)
    ]


def _signature(action: Action) -> str:
    return json.dumps([action.name, action.arguments], sort_keys=True)
