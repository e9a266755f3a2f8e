"""Rules for the values of a planner's calls: types, constraints, placeholders, defaults, and where they come from."""

import re
from collections.abc import Iterator

from wildtool.benchmarks.wildtoolbench.grounding import Leaf, grounded, names_value
from wildtool.generate.core.parsing import Decision
from wildtool.generate.schema.constraints import constraint_faults
from wildtool.generate.sessions.rules.context import DecisionContext, known_calls, required_of
from wildtool.toolcall.defaults import documented_default
from wildtool.toolcall.schema_check import argument_faults, shorten

PLACEHOLDER = re.compile(
    r"\s*(?:unknown|n/?a|none|null|tbd|to be determined|x{3,}|\?+|your[_ ].*|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}"
    r"|未知|待定|不详|无)\s*",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"(?:^|_)ids?$|[a-z]Ids?$|ID$|timestamp|uuid|token", re.ASCII)


def p14(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Arguments have the types of the schema, at every depth."""
    for path, message in _schema_faults(decision, context):
        if message.startswith("expected type"):
            yield f"{path}: {message}."


def p15(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Enums, nested names, formats, patterns, bounds and counts are kept."""
    for path, message in _schema_faults(decision, context):
        # P5 and P7 report unknown and missing names of the first level.
        if not message.startswith("expected type") and (path.count(".") > 1 or "enum" in message):
            yield f"{path}: {message}."
    for action in known_calls(decision, context):
        for path, message in constraint_faults(action.arguments, context.schemas[action.name]):
            yield f"{action.name}.{path}: {message}."


def p16(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No value is a placeholder or null."""
    for action in known_calls(decision, context):
        for name in action.arguments:
            if action.arguments[name] is None:
                yield f"{action.name}.{name} is null; leave it out, or ask if it is required."
        for leaf in context.leaves(action):
            if isinstance(leaf.value, str) and PLACEHOLDER.fullmatch(leaf.value) and leaf.value:
                yield f"{action.name}.{leaf.path}: {shorten(leaf.value)} is a placeholder."


def p18(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """An optional value that equals the default was said by the user."""
    for action in known_calls(decision, context):
        required = required_of(action.name, context)
        for leaf in context.leaves(action):
            if leaf.path in required or documented_default(leaf.schema) != leaf.value:
                continue
            if not any(names_value(passage, leaf.value) for passage in context.known):
                yield f"{action.name}.{leaf.path} is the default anyway."


def p19(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """Every value occurs in the conversation, or is derived with a reason; an identifier always occurs there."""
    for action in known_calls(decision, context):
        for leaf in context.leaves(action):
            if grounded(leaf, context.known):
                continue
            if is_system_identifier(leaf):
                yield f"{action.name}.{leaf.path}: {shorten(leaf.value)} was never seen; ask for it."
            elif not any(path_covers(path, leaf.path) for path in action.derived):
                yield (
                    f"{action.name}.{leaf.path}: {shorten(leaf.value)} stands nowhere; take the value as it was said, "
                    "ask for it, or give the reason in `derived` if it follows from what was said."
                )


def p22(decision: Decision, context: DecisionContext) -> Iterator[str]:
    """No call of a decision needs what only another of it could give."""
    if len(decision.actions) < 2:
        return
    for action in known_calls(decision, context):
        for leaf in context.leaves(action):
            if is_system_identifier(leaf) and not any(
                names_value(passage, leaf.value) for passage in context.known
            ):
                yield f"{action.name}.{leaf.path} is known only after another call; make that one first."


def _schema_faults(decision: Decision, context: DecisionContext) -> Iterator[tuple[str, str]]:
    for action in known_calls(decision, context):
        for path, message in argument_faults(action.arguments, context.schemas[action.name]):
            yield f"{action.name}.{path}", message


def is_system_identifier(leaf: Leaf) -> bool:
    """Whether a value is an identifier, which only a system can give."""
    name = re.split(r"[.\[\]]", leaf.path.rstrip("]0123456789["))[-1]
    return _IDENTIFIER.search(name) is not None


def path_covers(marked: str, path: str) -> bool:
    """Whether a marked path is this one or lies above it."""
    return path == marked or path.startswith((f"{marked}.", f"{marked}["))
