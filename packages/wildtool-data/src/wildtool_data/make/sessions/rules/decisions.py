"""Rules for the planner's decisions (P2 to P24), one small pure function each; P1, P3 and P13 are in `core.parsing`."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from wildtool.benchmarks.wildtoolbench.data import ANSWER, VIRTUAL
from wildtool.benchmarks.wildtoolbench.grounding import grounded, is_marked, names_value
from wildtool.findings import RuleSet
from wildtool.toolcall.defaults import documented_default
from wildtool.toolcall.schema import member_schemas
from wildtool.toolcall.schema_check import argument_faults, shorten
from wildtool.tools.schema.constraints import constraint_faults
from wildtool_data.make.core.parsing import Action, Decision
from wildtool_data.make.sessions.rules.context import (
    DecisionContext,
    gives_answer,
    is_placeholder,
    is_system_identifier,
    known_calls,
    questions_in,
    required_of,
)

DECISION_RULES: RuleSet[[Decision, DecisionContext]] = RuleSet()
"""What is wrong with a decision, as the role reads it."""
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


@DECISION_RULES.rule("P2")
def p2(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Thought and plan do not speak of the checker, or of tools as simulated."""
    if _BEHIND_THE_SCENES.search(f"{decision.thought}\n{decision.plan}"):
        yield "Thought and plan must not speak of a checker or of simulated tools."


@DECISION_RULES.rule("P4")
def p4(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Every action is a tool of the list."""
    for action in decision.actions:
        if action.name not in context.schemas and action.name not in VIRTUAL:
            yield f"{shorten(action.name)} is not a tool; there are: {', '.join(context.schemas)}."


@DECISION_RULES.rule("P5")
def p5(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Every argument is a parameter of its tool."""
    for action in known_calls(decision, context):
        parameters = member_schemas(context.schemas[action.name])
        unknown = [name for name in action.arguments if name not in parameters]
        if unknown:
            yield f"{action.name} has no parameter {', '.join(map(shorten, unknown))}."


@DECISION_RULES.rule("P6")
def p6(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No required argument is an empty text."""
    for action in known_calls(decision, context):
        for name in required_of(action.name, context):
            if action.arguments.get(name) == "":
                yield f"{action.name}: the required {name} is empty."


@DECISION_RULES.rule("P7")
def p7(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Every required argument is there."""
    for action in known_calls(decision, context):
        missing = [name for name in required_of(action.name, context) if name not in action.arguments]
        if missing:
            yield (
                f"{action.name} lacks {', '.join(missing)}: if the conversation gives a value, fill it in; if the user "
                "never gave it, ask the user; never make one up."
            )


@DECISION_RULES.rule("P8")
def p8(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """A question or the answer is the only action."""
    names = [action.name for action in decision.actions]
    if len(names) > 1 and VIRTUAL & set(names):
        yield "A question to the user, or the answer, must be the only action."


@DECISION_RULES.rule("P9")
def p9(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """A question names a tool and required parameters of it."""
    for tool, parameters in questions_in(decision):
        if not isinstance(tool, str) or tool not in context.schemas:
            yield f"A question must name a tool of the list as `tool_name`, not {shorten(tool)}."
            continue
        wrong = [name for name in parameters if name not in required_of(tool, context)]
        if wrong:
            yield f"{', '.join(map(shorten, wrong))} is no required parameter of {tool}."


@DECISION_RULES.rule("P10")
def p10(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """The answer is of type tool or chat."""
    for action in decision.actions:
        if action.name == ANSWER and action.arguments not in (
            {"answer_type": "tool"},
            {"answer_type": "chat"},
        ):
            yield 'The answer takes {"answer_type": "tool"} or {"answer_type": "chat"}.'


@DECISION_RULES.rule("P11")
def p11(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No chat right after a tool's result."""
    if context.after_result and gives_answer(decision, "chat"):
        yield "A tool has just answered, so the answer_type is `tool`."


@DECISION_RULES.rule("P12")
def p12(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """A plan that calls one by one makes one call now."""
    if len(decision.actions) > 1 and _ONE_BY_ONE.search(decision.plan):
        yield "The plan makes calls one after another, so only the first one is due now."


@DECISION_RULES.rule("P14")
def p14(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Arguments have the types of the schema, at every depth."""
    for path, message in _schema_faults(decision, context):
        if message.startswith("expected type"):
            yield f"{path}: {message}."


@DECISION_RULES.rule("P15")
def p15(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Enums, nested names, formats, patterns, bounds and counts are kept."""
    for path, message in _schema_faults(decision, context):
        # P5 and P7 report unknown and missing names of the first level.
        if not message.startswith("expected type") and (path.count(".") > 1 or "enum" in message):
            yield f"{path}: {message}."
    for action in known_calls(decision, context):
        for path, message in constraint_faults(action.arguments, context.schemas[action.name]):
            yield f"{action.name}.{path}: {message}."


@DECISION_RULES.rule("P16")
def p16(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No value is a placeholder or null."""
    for action in known_calls(decision, context):
        for name in action.arguments:
            if action.arguments[name] is None:
                yield f"{action.name}.{name} is null; leave it out, or ask if it is required."
        for leaf in context.leaves(action):
            if isinstance(leaf.value, str) and is_placeholder(leaf.value):
                yield f"{action.name}.{leaf.path}: {shorten(leaf.value)} is a placeholder."


@DECISION_RULES.rule("P17")
def p17(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No call is made twice."""
    signatures = {_signature(call) for call in context.calls}
    for action in known_calls(decision, context):
        if _signature(action) in signatures:
            yield f"{action.name} with these arguments is called twice; its result is known."
        signatures.add(_signature(action))


@DECISION_RULES.rule("P18", "warning")
def p18(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """An optional value that equals the default was said by the user."""
    for action in known_calls(decision, context):
        required = required_of(action.name, context)
        for leaf in context.leaves(action):
            if leaf.path in required or documented_default(leaf.schema) != leaf.value:
                continue
            if not any(names_value(passage, leaf.value) for passage in context.passages):
                yield f"{action.name}.{leaf.path} is the default anyway."


@DECISION_RULES.rule("P19")
def p19(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Every value occurs in the conversation, or is derived with a reason; an identifier always occurs there."""
    for action in known_calls(decision, context):
        for leaf in context.leaves(action):
            if grounded(leaf, context.passages):
                continue
            if is_system_identifier(leaf):
                yield f"{action.name}.{leaf.path}: {shorten(leaf.value)} was never seen; ask for it."
            elif not is_marked(leaf.path, action.derived):
                yield (
                    f"{action.name}.{leaf.path}: {shorten(leaf.value)} stands nowhere; take the value as it was said, "
                    "ask for it, or give the reason in `derived` if it follows from what was said."
                )


@DECISION_RULES.rule("P20")
def p20(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """A question asks for something, and for nothing that the user gave already."""
    for tool, parameters in questions_in(decision):
        if not parameters:
            yield "A question must list what is missing in `missing_required_parameters`."
        again = [name for name in parameters if (str(tool), name) in context.answered]
        if again:
            yield f"The user has already given {', '.join(again)}."


@DECISION_RULES.rule("P21")
def p21(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """An answer from tools needs a call, an answer without needs none."""
    if gives_answer(decision, "tool") and not context.calls:
        yield "No tool was called in this task, so there is no result to answer from."
    if gives_answer(decision, "chat") and context.calls:
        yield "Tools were called in this task, so the answer_type is `tool`."


@DECISION_RULES.rule("P22")
def p22(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No call of a decision needs what only another of it could give."""
    if len(decision.actions) < 2:
        return
    for action in known_calls(decision, context):
        for leaf in context.leaves(action):
            if is_system_identifier(leaf) and not any(
                names_value(passage, leaf.value) for passage in context.passages
            ):
                yield f"{action.name}.{leaf.path} is known only after another call; make that one first."


@DECISION_RULES.rule("P23")
def p23(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """There are not too many calls and questions."""
    if len(decision.actions) > MAX_DECISION_CALLS:
        yield f"{len(decision.actions)} calls at once; at most {MAX_DECISION_CALLS}."
    if len(context.calls) + len(decision.actions) > MAX_TASK_CALLS + 1:
        yield f"more than {MAX_TASK_CALLS} calls in a task; answer now."
    if context.questions >= MAX_TASK_QUESTIONS and any(questions_in(decision)):
        yield f"the user was asked {MAX_TASK_QUESTIONS} times already."


@DECISION_RULES.rule("P24")
def p24(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """What is done agrees with the wanted kind of task."""
    calls = sum(action.name not in VIRTUAL for action in decision.actions)
    problem = _GROUP_RULES[context.plan.group](
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
    count, topology = len(context.calls), context.plan.topology
    if answers and count < (3 if topology == "mixed" else 2):
        return "This task takes more calls before the answer."
    if topology == "parallel" and calls and (count or calls < 2):
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


def _schema_faults(decision: Decision, context: DecisionContext) -> Iterator[tuple[str, str]]:
    for action in known_calls(decision, context):
        for path, message in argument_faults(action.arguments, context.schemas[action.name]):
            yield f"{action.name}.{path}", message


def _signature(action: Action) -> str:
    return json.dumps([action.name, action.arguments], sort_keys=True)
