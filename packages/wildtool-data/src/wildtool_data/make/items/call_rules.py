"""Rules for the calls of an item (E1 to E8): can they be made as written?"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.benchmarks.wildtoolbench.grounding import Leaf, SearchText, grounded, is_marked, leaves
from wildtool.findings import Finding, RuleSet
from wildtool.toolcall.schema import member_schemas
from wildtool.toolcall.schema_check import argument_faults, shorten
from wildtool.tools.schema.constraints import constraint_faults
from wildtool_data.make.core.parsing import Action
from wildtool_data.make.items.acebench_format import roundtrip_problem
from wildtool_data.make.items.plan import MAX_ITEM_CALLS
from wildtool_data.make.sessions.rules.context import Schemas, is_placeholder, is_system_identifier


@dataclass(frozen=True, slots=True)
class CallContext:
    """Calls with what is known when they are made."""

    earlier_calls: Sequence[Action]
    offered: Schemas
    passages: Sequence[SearchText]
    """What is said up to them, the date, and the profile."""
    kind: str

    def leaves(self, call: Action) -> list[Leaf]:
        return list(leaves(call.arguments, self.offered.get(call.name, {})))


CALL_RULES: RuleSet[[CallContext]] = RuleSet()
"""What is wrong with calls, as the role reads it."""


@CALL_RULES.rule("E1")
def e1(calls: CallContext) -> Iterator[str]:
    """Every call is of an offered tool."""
    for call in calls.earlier_calls:
        if call.name not in calls.offered:
            yield f"{shorten(call.name)} is not a tool; there are: {', '.join(calls.offered)}."


@CALL_RULES.rule("E2")
def e2(calls: CallContext) -> Iterator[str]:
    """Arguments have the names and types of the definition, and required ones are there."""
    for call in calls.earlier_calls:
        for path, message in argument_faults(call.arguments, calls.offered.get(call.name, {})):
            yield f"{call.name}.{path}: {message}."


@CALL_RULES.rule("E3")
def e3(calls: CallContext) -> Iterator[str]:
    """Values keep patterns, formats, bounds and counts."""
    for call in calls.earlier_calls:
        for path, message in constraint_faults(call.arguments, calls.offered.get(call.name, {})):
            yield f"{call.name}.{path}: {message}."


@CALL_RULES.rule("E4")
def e4(calls: CallContext) -> Iterator[str]:
    """There are arguments, and none is a placeholder, empty or null."""
    for call in calls.earlier_calls:
        if not call.arguments:
            yield f"{call.name} is called without arguments; the format cannot judge that."
        for name, value in call.arguments.items():
            if value in (None, "", [], {}):
                yield f"{call.name}.{name} is empty; leave it out."
        for leaf in calls.leaves(call):
            if isinstance(leaf.value, str) and is_placeholder(leaf.value):
                yield f"{call.name}.{leaf.path}: {shorten(leaf.value)} is a placeholder."


@CALL_RULES.rule("E5")
def e5(calls: CallContext) -> Iterator[str]:
    """No call is made twice."""
    texts = [json.dumps([call.name, call.arguments], sort_keys=True) for call in calls.earlier_calls]
    for k, text in enumerate(texts):
        if text in texts[:k]:
            yield f"{calls.earlier_calls[k].name} is called twice with the same arguments."


@CALL_RULES.rule("E6")
def e6(calls: CallContext) -> Iterator[str]:
    """There are as many calls as the kind has."""
    count = len(calls.earlier_calls)
    if calls.kind != "parallel" and count != 1:
        yield f"Exactly one call is wanted, not {count}."
    if calls.kind == "parallel" and not 2 <= count <= MAX_ITEM_CALLS:
        yield f"2 to {MAX_ITEM_CALLS} calls are wanted, not {count}."


@CALL_RULES.rule("E7")
def e7(calls: CallContext) -> Iterator[str]:
    """Written as the format writes them, calls are read as the same calls."""
    if problem := roundtrip_problem(calls.earlier_calls):
        yield problem


@CALL_RULES.rule("E8")
def e8(calls: CallContext) -> Iterator[str]:
    """Every value occurs in what is said, or follows from it with a reason; an identifier always occurs there."""
    for call in calls.earlier_calls:
        for leaf in calls.leaves(call):
            if grounded(leaf, calls.passages):
                continue
            if is_system_identifier(leaf):
                message = f"{shorten(leaf.value)} was never said; an id cannot be worked out."
                yield f"{call.name}.{leaf.path}: {message}"
            elif not is_marked(leaf.path, call.derived):
                message = (
                    f"{shorten(leaf.value)} stands nowhere; take the value as it was said, or give the reason in "
                    "`derived` if it follows from what was said."
                )
                yield f"{call.name}.{leaf.path}: {message}"


def call_faults(calls: CallContext) -> list[Finding]:
    """Everything that is wrong with calls."""
    # Nothing else can be said of calls of unknown tools.
    return list(CALL_RULES.findings_of("E1", calls)) or list(CALL_RULES.findings(calls))


def ungrounded_parameters(
    call: Action, schema: Mapping[str, Any], passages: Sequence[SearchText], derived: Collection[str] = ()
) -> set[str]:
    """The required parameters of a call whose values occur in none of the passages.

    Args: derived: paths of values that follow from what is known, and so count as said.
    """
    ungrounded: set[str] = set()
    for name, child in member_schemas(schema).items():
        if name in schema.get("required", ()) and name in call.arguments:
            inside = leaves({name: call.arguments[name]}, {"properties": {name: child}})
            if not all(grounded(leaf, passages) or is_marked(leaf.path, derived) for leaf in inside):
                ungrounded.add(name)
    return ungrounded
