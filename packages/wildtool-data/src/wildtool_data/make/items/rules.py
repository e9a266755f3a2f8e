"""Rules for whole items: their dialogue (L1 to L6), and that their parts agree (S1 to S5); all others are asked here."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from wildtool.benchmarks.wildtoolbench.grounding import SearchText, grounded, leaves
from wildtool.findings import Finding, RuleSet, custom_refusals, fault
from wildtool.toolcall.schema import member_schemas
from wildtool.toolcall.schema_check import shorten
from wildtool.tools.schema.definitions import call_problems, definition_faults, duplicate_names
from wildtool_data.make.items.acebench_format import BENCHMARK, format_faults, reviewed_content
from wildtool_data.make.items.call_rules import CALL_RULES as CALL_RULES
from wildtool_data.make.items.call_rules import CallContext, call_faults, ungrounded_parameters
from wildtool_data.make.items.item import GeneratedItem, MissingParameters, WrongValue
from wildtool_data.make.items.plan import IMPERFECT, ITEM_KINDS
from wildtool_data.make.items.tool_catalog import item_parameter_class
from wildtool_data.make.sessions.rules.texts import assistant_faults, user_faults

MAX_PROFILE_CHARACTERS = 4_000
MAX_ANSWERS = 4
ITEM_RULES: RuleSet[[GeneratedItem]] = RuleSet()
"""What is wrong with a whole item."""


@ITEM_RULES.rule("D10")
def d10(item: GeneratedItem) -> Iterator[str]:
    """Tool names are distinct, and no name is part of the name of a called tool."""
    names = [str(function["name"]) for function in item.functions]
    for name in duplicate_names(names):
        yield f"{name} is offered twice."
    for call in (call for turn in item.turns for call in turn.calls):
        for name in names:
            if name != call.name and name in call.name:
                yield f"{name} is offered beside {call.name}, which holds its name."


@ITEM_RULES.rule("L1")
def l1(item: GeneratedItem) -> Iterator[str]:
    """User and assistant take turns; the user begins, and ends each turn."""
    for t, turn in enumerate(item.turns):
        speakers = [utterance.speaker for utterance in turn.utterances]
        turns = ["user" if k % 2 == (t > 0) else "assistant" for k in range(len(speakers))]
        if speakers != turns or speakers[-1:] != ["user"]:
            yield f"turn {t}: user and assistant must take turns, the user's request coming last."


@ITEM_RULES.rule("L2")
def l2(item: GeneratedItem) -> Iterator[Finding]:
    """Utterances hold only what people say (rules A2 to C2 of sessions)."""
    talk = [line for turn in item.turns for line in turn.utterances]
    for line in (*talk, *item.correction):
        if line.speaker == "assistant":
            yield from assistant_faults(line.text, item.plan.lang)
            continue
        for finding in user_faults(line.text, item.offered_parameters, item.plan.lang):
            # A reply may be a mere value, which is of no language; it stands in no record.
            if finding.level == "error" and (finding.rule not in ("C2", "A8") or line not in item.correction):
                yield finding


@ITEM_RULES.rule("L3")
def l3(item: GeneratedItem) -> Iterator[str]:
    """An incomplete request lacks exactly the required parameters that its fault names."""
    if not isinstance(item.fault, MissingParameters):
        return
    fault = item.fault
    schema = item.offered_parameters.get(fault.tool, {})
    required = set(schema.get("required", ()))
    for name in fault.names:
        if name not in required:
            yield f"{shorten(name)} is no required parameter of {fault.tool}."
    call = item.turns[0].calls[0]
    if call.name != fault.tool:
        yield f"{fault.tool} was to be called, but {call.name} was."
        return
    # What is named may follow from the reply; what is not must be said, or follow from what is.
    missing, heard = set(fault.names), known_passages(item, 0)
    if spoken := missing - ungrounded_parameters(call, schema, heard):
        yield f"The request does not leave out {', '.join(sorted(spoken))}."
    if open_ := ungrounded_parameters(call, schema, heard, call.derived) - missing:
        yield f"The request leaves out {', '.join(sorted(open_))} too, which was not named."


@ITEM_RULES.rule("L4")
def l4(item: GeneratedItem) -> Iterator[str]:
    """The wrong value is in the request, breaks the definition, and is corrected afterwards."""
    if not isinstance(item.fault, WrongValue):
        return
    fault = item.fault
    parameters = item.offered_parameters.get(fault.tool, {})
    schema = member_schemas(parameters).get(fault.parameter)
    if not schema:
        yield f"{fault.tool} has no parameter {shorten(fault.parameter)}."
        return
    request = item.turns[0].utterances[-1].text
    if not fault.text.strip() or fault.text not in request:
        yield f"The request does not say {shorten(fault.text)}."
    if not call_problems(fault.value, schema):
        yield f"{shorten(fault.value)} breaks nothing that is defined for {fault.parameter}."
    call = item.turns[0].calls[0]
    if call.name != fault.tool or fault.parameter not in call.arguments:
        yield f"The wrong value of {fault.tool}.{fault.parameter} is not set right afterwards."
        return
    lacking = ungrounded_parameters(call, parameters, known_passages(item, 0), call.derived)
    if open_ := lacking - {fault.parameter}:
        yield f"Besides the wrong value the request lacks {', '.join(sorted(open_))}."


@ITEM_RULES.rule("L5")
def l5(item: GeneratedItem) -> Iterator[str]:
    """A preference item takes some value from the profile alone."""
    if item.plan.kind != "preference":
        return
    if not 0 < len(item.profile) <= MAX_PROFILE_CHARACTERS:
        yield f"The profile must have 1 to {MAX_PROFILE_CHARACTERS} characters."
        return
    spoken = [SearchText.of(text) for text in item.user_texts]
    told = SearchText.of(item.profile)
    values_taken = [
        leaf
        for call in item.turns[0].calls
        for leaf in leaves(call.arguments, item.offered_parameters.get(call.name, {}))
        if not grounded(leaf, spoken) and grounded(leaf, [told])
    ]
    if not values_taken:
        yield "At least one value of the call must stand in the profile and not in what is said."


@ITEM_RULES.rule("L6")
def l6(item: GeneratedItem) -> Iterator[str]:
    """The calls are of the kind that was planned: a class of parameters, the same tool again, another one."""
    calls = [turn.calls[0] for turn in item.turns]
    atom = ITEM_KINDS[item.plan.kind].parameter_class
    used = [
        member_schemas(item.offered_parameters.get(call.name, {})).get(name, {})
        for call in calls
        for name in call.arguments
    ]
    if atom and atom not in map(item_parameter_class, used):
        yield f"The call must use a parameter of the class {atom}."
    if len(item.turns) != item.plan.turns:
        yield f"{item.plan.turns} turns with a call each are wanted, not {len(item.turns)}."
        return
    for before, call in pairwise(calls):
        is_same_tool = before.name == call.name
        if item.plan.kind == "adjust" and (not is_same_tool or before.arguments == call.arguments):
            yield "The user adjusts the request: the same tool is called with other values."
        if item.plan.kind == "switch" and is_same_tool:
            yield "The user turns to something else: another tool is called."


@ITEM_RULES.rule("S2")
def s2(item: GeneratedItem) -> Iterator[str]:
    """What is called is offered; of an irrelevant request it is not."""
    names = {function["name"] for function in item.functions}
    called_names = {call.name for turn in item.turns for calls in turn.answers for call in calls}
    if item.plan.kind == "irrelevant":
        if called_names & names or not item.removed_tool:
            yield f"{', '.join(sorted(called_names))} must not be offered."
    elif called_names - names:
        yield f"{', '.join(sorted(called_names - names))} is not offered."


@ITEM_RULES.rule("S3")
def s3(item: GeneratedItem) -> Iterator[str]:
    """As many tools are offered as items of the kind have at most, and at least one."""
    most = ITEM_KINDS[item.plan.kind].candidates[1]
    count = len(item.functions)
    if not 1 <= count <= max(most, item.plan.turns) or (item.plan.kind == "similar" and count != 2):
        yield f"{count} tools are offered; 1 to {most} are wanted."


@ITEM_RULES.rule("S5")
def s5(item: GeneratedItem) -> Iterator[str]:
    """Alternatives are different answers, of requests that calls answer."""
    for turn in item.turns:
        answers = [[(call.name, call.arguments) for call in calls] for calls in turn.answers]
        if any(answer in answers[:k] for k, answer in enumerate(answers)):
            yield "An alternative is the same as another answer."
        if turn.alternatives and item.plan.kind in IMPERFECT:
            yield "A request that no call answers has no alternatives."
        if len(answers) > MAX_ANSWERS:
            yield f"{len(answers)} answers are right; make the request clearer: {MAX_ANSWERS} at most."


ITEM_CHECKS = (
    *(f"D{k}" for k in range(1, 11)),
    *CALL_RULES.rules,
    *(r for r in ITEM_RULES.rules if r != "D10"),
    "S1",
    "S4",
    "lint",
    "gold",
)
"""Names of everything that an item is held to."""


def item_faults(item: GeneratedItem) -> list[Finding]:
    """Everything that is wrong with an item; empty for one that may be kept."""
    findings = [wrong for function in item.functions for wrong in definition_faults(function)]
    for t, turn in enumerate(item.turns):
        # What a faulty request lacks is said afterwards.
        after = [SearchText.of(utterance.text) for utterance in item.correction]
        passages = [*known_passages(item, t), *after]
        for answer in turn.answers:
            findings += call_faults(CallContext(answer, item.offered_parameters, passages, item.plan.kind))
    if not item.turns or not all(turn.calls and turn.utterances for turn in item.turns):
        # The other rules look at requests and first calls.
        return [
            *findings,
            *ITEM_RULES.findings_of("L1", item),
            fault("L1", "Every turn has a request and a call."),
        ]
    findings += ITEM_RULES.findings(item)
    return findings or format_faults(item) or custom_refusals(BENCHMARK, reviewed_content(item))


def known_passages(item: GeneratedItem, t: int) -> list[SearchText]:
    """What can be known at the request of turn `t`: everything said and called before, the date, the profile."""
    passages = [SearchText.of(item.profile or item.plan.time)]
    for turn in item.turns[: t + 1]:
        passages += [SearchText.of(utterance.text) for utterance in turn.utterances]
    for turn in item.turns[:t]:
        passages += [SearchText.of(call.arguments) for call in turn.calls]
    return passages


def rendered_profile(profile: Mapping[str, Any]) -> str:
    """A profile as the format writes it: the text of a Python object with a full stop behind it."""
    return f"{dict(profile)!r}."
