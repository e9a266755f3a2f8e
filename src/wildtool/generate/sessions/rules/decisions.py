"""Rules for the planner's decisions (P2 to P24), one small pure function each.

P1, P3 and P13 are in `reading`, those on values in `value_rules`, that on the kind of task in `kind_rules`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import ANSWER, VIRTUAL
from wildtool.generate.core.parsing import Action, Decision, Fault
from wildtool.generate.sessions.rules.context import Moment, Rule, answers, asked, real, required_of
from wildtool.generate.sessions.rules.values import p14, p15, p16, p18, p19, p22
from wildtool.toolcall.schema import as_schema
from wildtool.toolcall.schema_check import short


def p24(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """What is done agrees with the wanted kind of task."""
    calls = sum(action.name not in VIRTUAL for action in decision.actions)
    problem = _KINDS[moment.wanted.group](
        moment, calls, any(asked(decision)), any(action.name == ANSWER for action in decision.actions)
    )
    if problem:
        yield Fault("P24", problem)


def _single(moment: Moment, calls: int, asks: bool, answers: bool) -> str:
    if asks:
        return "Nothing is missing in this task; make the call."
    if len(moment.calls) + calls > 1:
        return "This task takes exactly one call."
    return "This task takes a call before the answer." if answers and not moment.calls else ""


def _multi(moment: Moment, calls: int, asks: bool, answers: bool) -> str:
    if asks:
        return "Nothing is missing in this task; make the calls."
    done, topology = len(moment.calls), moment.wanted.topology
    if answers and done < (3 if topology == "mixed" else 2):
        return "This task takes more calls before the answer."
    if topology == "parallel" and calls and (done or calls < 2):
        return "This task takes independent calls, all of them at once."
    if topology == "sequential" and calls > 1:
        return "This task takes calls that need each other, one at a time."
    return ""


def _clarify(moment: Moment, calls: int, asks: bool, answers: bool) -> str:
    if not asks and not moment.questions:
        return "Something required is missing in this task; ask the user first."
    return "This task takes a call before the answer." if answers and not moment.calls else ""


def _chat(moment: Moment, calls: int, asks: bool, answers: bool) -> str:
    return "This task needs no tool and no question; answer it." if calls or asks else ""


_KINDS: Mapping[str, Callable[[Moment, int, bool, bool], str]] = {
    "Single-Tool": _single,
    "Multi-Tool": _multi,
    "Clarify": _clarify,
    "Chat": _chat,
}


MOST_ACTIONS = 6
"""Calls of one decision at most; the official rules list every order of independent calls."""
MOST_CALLS = 10
"""Calls of a task at most."""
MOST_QUESTIONS = 3

_BEHIND_THE_SCENES = re.compile(r"\bchecker\b|\bsimulat(?:ed|or|ion)\b|检查员|校验员|模拟工具", re.IGNORECASE)
_ONE_BY_ONE = re.compile(
    r"\bone (?:after another|after the other|at a time|by one)\b|\bserial(?:ly)?\b|\bsequential(?:ly)?\b"
    r"|串行|依次|逐个|逐一",
    re.IGNORECASE,
)


def p2(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """Thought and plan do not speak of the checker, or of tools as simulated."""
    if _BEHIND_THE_SCENES.search(f"{decision.thought}\n{decision.plan}"):
        yield Fault("P2", "Thought and plan must not speak of a checker or of simulated tools.")


def p4(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """Every action is a tool of the list."""
    for action in decision.actions:
        if action.name not in moment.schemas and action.name not in VIRTUAL:
            yield Fault("P4", f"{short(action.name)} is not a tool; there are: {', '.join(moment.schemas)}.")


def p5(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """Every argument is a parameter of its tool."""
    for action in real(decision, moment):
        unknown = [name for name in action.arguments if name not in _properties(action, moment)]
        if unknown:
            yield Fault("P5", f"{action.name} has no parameter {', '.join(map(short, unknown))}.")


def p6(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """No required argument is an empty text."""
    for action in real(decision, moment):
        for name in required_of(action.name, moment):
            if action.arguments.get(name) == "":
                yield Fault("P6", f"{action.name}: the required {name} is empty.")


def p7(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """Every required argument is there."""
    for action in real(decision, moment):
        missing = [name for name in required_of(action.name, moment) if name not in action.arguments]
        if missing:
            yield Fault(
                "P7",
                f"{action.name} lacks {', '.join(missing)}: if the conversation gives a value, fill it in; if the user "
                "never gave it, ask the user; never make one up.",
            )


def p8(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """A question and the answer stand alone."""
    names = [action.name for action in decision.actions]
    if len(names) > 1 and VIRTUAL & set(names):
        yield Fault("P8", "A question to the user, or the answer, must be the only action.")


def p9(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """A question names a tool and required parameters of it."""
    for tool, parameters in asked(decision):
        if tool not in moment.schemas:
            yield Fault("P9", f"A question must name a tool of the list as `tool_name`, not {short(tool)}.")
            continue
        wrong = [name for name in parameters if name not in required_of(str(tool), moment)]
        if wrong:
            yield Fault("P9", f"{', '.join(map(short, wrong))} is no required parameter of {tool}.")


def p10(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """The answer is of type tool or chat."""
    for action in decision.actions:
        if action.name == ANSWER and action.arguments not in (
            {"answer_type": "tool"},
            {"answer_type": "chat"},
        ):
            yield Fault("P10", 'The answer takes {"answer_type": "tool"} or {"answer_type": "chat"}.')


def p11(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """No chat right after a tool's result."""
    if moment.after_result and answers(decision, "chat"):
        yield Fault("P11", "A tool has just answered, so the answer_type is `tool`.")


def p12(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """A plan that calls one by one makes one call now."""
    if len(decision.actions) > 1 and _ONE_BY_ONE.search(decision.plan):
        yield Fault("P12", "The plan makes calls one after another, so only the first one is due now.")


def p17(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """No call is made twice."""
    seen = {_signature(call) for call in moment.calls}
    for action in real(decision, moment):
        if _signature(action) in seen:
            yield Fault("P17", f"{action.name} with these arguments is called twice; its result is known.")
        seen.add(_signature(action))


def p20(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """A question asks for something, and for nothing that the user gave already."""
    for tool, parameters in asked(decision):
        if not parameters:
            yield Fault("P20", "A question must list what is missing in `missing_required_parameters`.")
        again = [name for name in parameters if (tool, name) in moment.answered]
        if again:
            yield Fault("P20", f"The user has already given {', '.join(again)}.")


def p21(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """An answer from tools needs a call, an answer without needs none."""
    if answers(decision, "tool") and not moment.calls:
        yield Fault("P21", "No tool was called in this task, so there is no result to answer from.")
    if answers(decision, "chat") and moment.calls:
        yield Fault("P21", "Tools were called in this task, so the answer_type is `tool`.")


def p23(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """There are not too many calls and questions."""
    if len(decision.actions) > MOST_ACTIONS:
        yield Fault("P23", f"{len(decision.actions)} calls at once; at most {MOST_ACTIONS}.")
    if len(moment.calls) + len(decision.actions) > MOST_CALLS + 1:
        yield Fault("P23", f"more than {MOST_CALLS} calls in a task; answer now.")
    if moment.questions >= MOST_QUESTIONS and any(asked(decision)):
        yield Fault("P23", f"the user was asked {MOST_QUESTIONS} times already.")


RULES: Mapping[str, Rule] = {
    "P2": p2, "P4": p4, "P5": p5, "P6": p6, "P7": p7, "P8": p8, "P9": p9, "P10": p10, "P11": p11, "P12": p12,
    "P14": p14, "P15": p15, "P16": p16, "P17": p17, "P18": p18, "P19": p19, "P20": p20, "P21": p21, "P22": p22,
    "P23": p23, "P24": p24,
}  # fmt: skip


def decision_faults(decision: Decision, moment: Moment) -> list[Fault]:
    """Everything that is wrong with a decision."""
    return [fault for rule in RULES.values() for fault in rule(decision, moment)]


def _properties(action: Action, moment: Moment) -> Mapping[str, Any]:
    return as_schema(moment.schemas[action.name].get("properties"))


def _signature(action: Action) -> str:
    return json.dumps([action.name, action.arguments], sort_keys=True)
