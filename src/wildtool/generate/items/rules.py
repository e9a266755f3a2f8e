"""Rules for whole items: their dialogue (L1 to L6), and that their parts agree (S1 to S5); all others are asked here."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from wildtool.benchmarks.wildtoolbench.grounding import Passage, grounded, leaves
from wildtool.generate.core.parsing import Fault
from wildtool.generate.items.acebench_format import record_faults
from wildtool.generate.items.call_rules import RULES as CALL_RULES
from wildtool.generate.items.call_rules import Calls, call_faults, unsaid
from wildtool.generate.items.item import MadeItem, Missing, Turn, Wrong
from wildtool.generate.items.kinds import IMPERFECT, KINDS
from wildtool.generate.items.tool_catalog import atom_of
from wildtool.generate.schema.definitions import call_remarks, definition_faults, twice
from wildtool.generate.sessions.rules.texts import assistant_faults, user_faults
from wildtool.toolcall.schema import as_schema
from wildtool.toolcall.schema_check import short

LONGEST_PROFILE = 4_000
MOST_ANSWERS = 4
Rule = Callable[[MadeItem], Iterator[Fault]]


def d10(item: MadeItem) -> Iterator[Fault]:
    """Tools are called by names of their own: none stands inside another's that is called."""
    names = [str(function["name"]) for function in item.functions]
    for name in twice(names):
        yield Fault("D10", f"{name} is offered twice.")
    for call in (call for turn in item.turns for call in turn.calls):
        for name in names:
            if name != call.name and name in call.name:
                yield Fault("D10", f"{name} is offered beside {call.name}, which holds its name.")


def l1(item: MadeItem) -> Iterator[Fault]:
    """User and assistant take turns; the user begins, and ends each turn."""
    for t, turn in enumerate(item.turns):
        speakers = [said.who for said in turn.talk]
        wanted = ["user" if (k + (t > 0)) % 2 == 0 else "assistant" for k in range(len(speakers))]
        if not speakers or speakers != wanted or speakers[-1] != "user":
            yield Fault(
                "L1", f"turn {t}: user and assistant must take turns, the user's request coming last."
            )


def l2(item: MadeItem) -> Iterator[Fault]:
    """Nothing but what people say stands in what they say (rules A1 to C2 of sessions)."""
    talk = [said for turn in item.turns for said in turn.talk]
    for said in (*talk, *item.mended):
        if said.who == "user":
            found = (f for f in user_faults(said.text, item.offered, item.plan.lang) if not f.warning)
            # A reply may be a mere value, which is of no language; it stands in no record.
            yield from (f for f in found if f.rule != "C2" or said not in item.mended)
        else:
            yield from assistant_faults(said.text)


def l3(item: MadeItem) -> Iterator[Fault]:
    """What an incomplete request is said to lack is required, and is all that is required and not said."""
    if not isinstance(item.fault, Missing):
        return
    fault = item.fault
    schema = item.offered.get(fault.tool, {})
    required = set(schema.get("required", ()))
    for name in fault.names:
        if name not in required:
            yield Fault("L3", f"{short(name)} is no required parameter of {fault.tool}.")
    call = item.turns[0].calls[0]
    if call.name != fault.tool:
        yield Fault("L3", f"{fault.tool} was to be called, but {call.name} was.")
        return
    # What is named may follow from the reply; what is not must be said, or follow from what is.
    named, heard = set(fault.names), known(item, 0)
    if said := named - unsaid(call, schema, heard):
        yield Fault("L3", f"The request does not leave out {', '.join(sorted(said))}.")
    if open_ := unsaid(call, schema, heard, call.derived) - named:
        yield Fault("L3", f"The request leaves out {', '.join(sorted(open_))} too, which was not named.")


def l4(item: MadeItem) -> Iterator[Fault]:
    """The value that a request has wrong stands there, breaks the definition, and is set right afterwards."""
    if not isinstance(item.fault, Wrong):
        return
    fault = item.fault
    schema = as_schema(as_schema(item.offered.get(fault.tool, {}).get("properties")).get(fault.parameter))
    if not schema:
        yield Fault("L4", f"{fault.tool} has no parameter {short(fault.parameter)}.")
        return
    request = item.turns[0].talk[-1].text
    if not fault.text.strip() or fault.text not in request:
        yield Fault("L4", f"The request does not say {short(fault.text)}.")
    if not call_remarks(fault.value, schema):
        yield Fault("L4", f"{short(fault.value)} breaks nothing that is defined for {fault.parameter}.")
    call = item.turns[0].calls[0]
    if call.name != fault.tool or fault.parameter not in call.arguments:
        yield Fault("L4", f"The wrong value of {fault.tool}.{fault.parameter} is not set right afterwards.")
    elif open_ := unsaid(call, item.offered[fault.tool], known(item, 0), call.derived) - {fault.parameter}:
        yield Fault("L4", f"Besides the wrong value the request lacks {', '.join(sorted(open_))}.")


def l5(item: MadeItem) -> Iterator[Fault]:
    """A preference item takes some value from the profile alone."""
    if item.plan.kind != "preference":
        return
    if not 0 < len(item.profile) <= LONGEST_PROFILE:
        yield Fault("L5", f"The profile must have 1 to {LONGEST_PROFILE} characters.")
        return
    spoken = [Passage.of(text) for text in item.user_texts]
    told = Passage.of(item.profile)
    taken = [
        leaf
        for call in item.turns[0].calls
        for leaf in leaves(call.arguments, item.offered.get(call.name, {}))
        if not grounded(leaf, spoken) and grounded(leaf, [told])
    ]
    if not taken:
        yield Fault("L5", "At least one value of the call must stand in the profile and not in what is said.")


def l6(item: MadeItem) -> Iterator[Fault]:
    """The calls are of the kind that was planned: a class of parameters, the same tool again, another one."""
    calls = [turn.calls[0] for turn in item.turns if turn.calls]
    atom = KINDS[item.plan.kind].atom
    if atom and not any(
        atom_of(as_schema(as_schema(item.offered[call.name].get("properties")).get(name))) == atom
        for call in calls if call.name in item.offered for name in call.arguments
    ):  # fmt: skip
        yield Fault("L6", f"The call must use a parameter of the class {atom}.")
    if len(item.turns) != item.plan.turns or len(calls) != len(item.turns):
        yield Fault("L6", f"{item.plan.turns} turns with a call each are wanted, not {len(item.turns)}.")
        return
    for before, call in pairwise(calls):
        same = before.name == call.name
        if item.plan.kind == "adjust" and (not same or before.arguments == call.arguments):
            yield Fault("L6", "The user adjusts the request: the same tool is called with other values.")
        if item.plan.kind == "switch" and same:
            yield Fault("L6", "The user turns to something else: another tool is called.")


def s5(item: MadeItem) -> Iterator[Fault]:
    """Alternatives are different answers, of requests that calls answer."""
    for turn in item.turns:
        answers = [[(call.name, call.arguments) for call in calls] for calls in turn.answers]
        if any(answer in answers[:k] for k, answer in enumerate(answers)):
            yield Fault("S5", "An alternative is the same as another answer.")
        if turn.alternatives and item.plan.kind in IMPERFECT:
            yield Fault("S5", "A request that no call answers has no alternatives.")
        if len(answers) > MOST_ANSWERS:
            yield Fault(
                "S5", f"{len(answers)} answers are right; make the request clearer: {MOST_ANSWERS} at most."
            )


def s2(item: MadeItem) -> Iterator[Fault]:
    """What is called is offered; of an irrelevant request it is not."""
    names = {function["name"] for function in item.functions}
    called = {call.name for turn in item.turns for calls in turn.answers for call in calls}
    if item.plan.kind == "irrelevant":
        if called & names or not item.removed:
            yield Fault("S2", f"{', '.join(sorted(called))} must not be offered.")
    elif called - names:
        yield Fault("S2", f"{', '.join(sorted(called - names))} is not offered.")


def s3(item: MadeItem) -> Iterator[Fault]:
    """As many tools are offered as items of the kind have at most, and at least one."""
    most = KINDS[item.plan.kind].candidates[1]
    count = len(item.functions)
    if not 1 <= count <= max(most, item.plan.turns) or (item.plan.kind == "similar" and count != 2):
        yield Fault("S3", f"{count} tools are offered; 1 to {most} are wanted.")


RULES: Mapping[str, Rule] = {
    "D10": d10, "L1": l1, "L2": l2, "L3": l3, "L4": l4, "L5": l5, "L6": l6, "S2": s2, "S3": s3, "S5": s5,
}  # fmt: skip
CHECKS = (
    *(f"D{k}" for k in range(1, 11)),
    *CALL_RULES,
    *(r for r in RULES if r != "D10"),
    "S1",
    "S4",
    "lint",
    "gold",
)
"""Names of everything that an item is held to."""


def item_faults(item: MadeItem) -> list[Fault]:
    """Everything that is wrong with an item; empty for one that may be kept."""
    found = [fault for function in item.functions for fault in definition_faults(function)]
    for t, turn in enumerate(item.turns):
        # What a faulty request lacks is said afterwards.
        after = [Passage.of(said.text) for said in item.mended]
        for answer in turn.answers:
            found += call_faults(Calls(answer, item.offered, [*known(item, t), *after], item.plan.kind))
    if not item.turns or not all(turn.calls and turn.talk for turn in item.turns):
        # The other rules look at requests and first calls.
        return [*found, *l1(item), Fault("L1", "Every turn has a request and a call.")]
    found += [fault for rule in RULES.values() for fault in rule(item)]
    return found or record_faults(item)


def known(item: MadeItem, t: int) -> list[Passage]:
    """What can be known at the request of turn `t`: everything said and called before, the date, the profile."""
    passages = [Passage.of(text) for text in (item.time, item.profile) if text]
    for turn in item.turns[: t + 1]:
        passages += _heard(turn)
    for turn in item.turns[:t]:
        passages += [Passage.of(call.arguments) for call in turn.calls]
    return passages


def _heard(turn: Turn) -> Sequence[Passage]:
    return [Passage.of(said.text) for said in turn.talk]


def rendered_profile(profile: Mapping[str, Any]) -> str:
    """A profile as the format writes it: the text of a Python object with a full stop behind it."""
    return f"{dict(profile)!r}."
