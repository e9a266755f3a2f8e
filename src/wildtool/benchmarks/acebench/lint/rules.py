"""Rules for records in ACEBench's format, one function each, and those for episodes: known classes, readable milestones,
and milestones that lead to the gold state.

Numbers such as Q21 are known faults of the published evaluator: data that run into one cannot be solved, or are not
scored, under the official profile.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.benchmarks.acebench.check import short_repr
from wildtool.benchmarks.acebench.data import AgentRecord, NormalRecord, Record, SpecialRecord
from wildtool.benchmarks.acebench.episode.end_state import compare_end_state
from wildtool.benchmarks.acebench.episode.official import decode_message, execute_step
from wildtool.benchmarks.acebench.gold import called_function
from wildtool.benchmarks.acebench.sandbox import SANDBOX_CLASSES, SAVED_ATTRIBUTES, TOOL_ERRORS, Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import Edition
from wildtool.findings import Breach, Finding, RuleSet, fault
from wildtool.toolcall.schema import as_schema, required_names
from wildtool.toolcall.schema_check import is_of_type

RECORD_RULES = RuleSet[[Record]]()
"""Rules for one record, which give the field and what is wrong with it."""
ANSWER_FIELDS = ("ground_truth", "mile_stone")
"""Fields of the line with the answer; any other is of the line with the question."""

JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("string", "enum"), (str,)),
    **dict.fromkeys(("integer", "int"), (int,)),
    **dict.fromkeys(("number", "float"), (int, float)),
    "boolean": (bool,),
    **dict.fromkeys(("array", "tuple", "list", "list(string)", "list(enum)", "objectArray"), (list,)),
    **dict.fromkeys(("dict", "object"), (dict,)),
}
"""Type names of the format with their JSON types; `any` accepts everything."""


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """One call that a gold answer expects."""

    field: str
    """Its place in the answer."""
    key: str
    """Its name there, perhaps with a suffix."""
    name: str
    """The called function."""
    function: Mapping[str, Any] | None
    """The function's definition; None if it is not offered."""
    arguments: Mapping[str, Any]

    @property
    def properties(self) -> Mapping[str, Any]:
        return properties_of(self.function or {})


def expected_calls(record: Record) -> Iterator[ExpectedCall]:
    """The calls of all candidates of a Normal record; nothing for other records."""
    if not isinstance(record, NormalRecord):
        return
    offered = {function["name"]: function for function in reversed(record.functions)}
    several = len(record.candidates) > 1
    for position, candidate in enumerate(record.candidates):
        field = f"ground_truth[{position}]" if several else "ground_truth"
        for key, arguments in candidate.items():
            name = called_function(key, set(offered))
            yield ExpectedCall(f"{field}.{key}", key, name, offered.get(name), arguments)


def function_parameters(function: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_schema(function.get("parameters"))


def properties_of(function: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_schema(function_parameters(function).get("properties"))


@RECORD_RULES.rule("duplicate function")
def duplicate_functions(record: Record) -> Iterator[Breach]:
    counts = Counter(function["name"] for function in record.functions)
    for name, count in counts.items():
        if count > 1:
            yield "function", f"{short_repr(name)} is offered {count} times; the first one counts"


@RECORD_RULES.rule("not offered")
def unoffered_calls(record: Record) -> Iterator[Breach]:
    """Gold calls, and functions named by an `incomplete` answer, must be offered with parameters."""
    for call in expected_calls(record):
        if call.function is None:
            yield call.field, f"the function {short_repr(call.name)} is not offered"
        elif not isinstance(call.function.get("parameters"), dict):
            yield call.field, f"the function {short_repr(call.name)} is offered without parameters"
        elif (match := next(f["name"] for f in record.functions if f["name"] in call.key)) != call.name:
            excerpt = short_repr(match)
            message = f"the official rules take the description of {excerpt}, since its name contains that one (Q28)"
            yield call.field, message
    if record.category == "special_incomplete":
        offered = {function["name"].strip() for function in record.functions}
        for name in cast(SpecialRecord, record).faults:
            if name.strip() not in offered:
                yield f"ground_truth.{name}", "this function is not offered"


@RECORD_RULES.rule("name with digits")
def names_with_digits(record: Record) -> Iterator[Breach]:
    for call in expected_calls(record):
        if call.function is not None and re.search(r"_\d+$", call.name):
            message = f"{short_repr(call.name)} ends in digits, which the official rules cut off: no reply passes (Q27)"
            yield call.field, message


@RECORD_RULES.rule("missing required")
def missing_required(record: Record) -> Iterator[Breach]:
    for call in expected_calls(record):
        for name in required_names(function_parameters(call.function or {})):
            if isinstance(name, str) and name not in call.arguments:
                message = f"the required parameter {short_repr(name)} is not in gold: no reply passes (Q22)"
                yield call.field, message


@RECORD_RULES.rule("unknown parameter")
def unknown_parameters(record: Record) -> Iterator[Breach]:
    """Parameters that a gold answer names must be in a schema."""
    for call in expected_calls(record):
        for name in call.arguments:
            if function_parameters(call.function or {}) and name not in call.properties:
                yield f"{call.field}.{name}", "no parameter of the function"
    if not isinstance(record, SpecialRecord):
        return
    by_function = {function["name"].strip(): set(_property_names(function)) for function in record.functions}
    every = set[str]().union(*by_function.values())
    for key, parts in record.faults.items():
        names = parts if record.category == "special_incomplete" else [key]
        for name in names:
            if name.strip() not in by_function.get(key.strip(), every):
                yield f"ground_truth.{key}", f"{short_repr(name)} is no parameter of the function"


@RECORD_RULES.rule("type")
def other_types(record: Record) -> Iterator[Breach]:
    for call in expected_calls(record):
        for name, value in call.arguments.items():
            declared = as_schema(call.properties.get(name)).get("type", "any")
            if name not in call.properties or declared == "any":
                continue
            field = f"{call.field}.{name}"
            kinds = JSON_TYPES.get(declared) if isinstance(declared, str) else None
            if kinds is None:
                yield field, f"declared type {short_repr(declared)} is unknown: the official rules fail"
            elif not is_of_type(value, kinds):
                message = f"declared {declared}, gold is {short_repr(value)}: any {type(value).__name__} passes (Q12)"
                yield field, message
            elif declared == "number" and isinstance(value, float):
                message = f"declared number, gold is {value}: the official rules compare no fractions (Q12)"
                yield field, message


@RECORD_RULES.rule("empty gold")
def empty_gold(record: Record) -> Iterator[Breach]:
    for call in expected_calls(record):
        for name, value in call.arguments.items():
            if value in ([], {}):
                message = (
                    f"gold is {short_repr(value)}, which no value matches (Q21); leave the parameter out"
                )
                yield f"{call.field}.{name}", message


@RECORD_RULES.rule("array without items")
def arrays_without_items(record: Record) -> Iterator[Breach]:
    for call in expected_calls(record):
        for name, value in call.arguments.items():
            schema = as_schema(call.properties.get(name))
            if schema.get("type") == "array" and "items" not in schema and isinstance(value, list):
                message = (
                    f"{short_repr(call.name)} declares no items, so the official rules expect objects (Q20)"
                )
                yield f"function {call.name}.{name}", message


@RECORD_RULES.rule("stray blanks")
def stray_blanks(record: Record) -> Iterator[Breach]:
    """Names with blanks around them, which a reply must repeat (Q44)."""
    for field, name in _names(record):
        if name != name.strip():
            yield field, f"blanks around {short_repr(name)}, which a reply must repeat (Q44)"


@RECORD_RULES.rule("not in question")
def values_not_in_question(record: Record) -> Iterator[Breach]:
    if record.category == "special_error_param" and isinstance(record, SpecialRecord):
        for key, values in record.faults.items():
            for value in values:
                if value not in record.question:
                    message = (
                        f"the question does not say {short_repr(value)}, which a reply must repeat (Q47)"
                    )
                    yield f"ground_truth.{key}", message


def _names(record: Record) -> Iterator[tuple[str, str]]:
    """Field and text of every name that a reply repeats."""
    for function in record.functions:
        yield "function", function["name"]
    for call in expected_calls(record):
        for name in (call.key, *call.arguments):
            yield call.field, name
    if isinstance(record, SpecialRecord):
        for key, parts in record.faults.items():
            for name in (key, *parts):
                yield f"ground_truth.{key}", name


def _property_names(schema: Any) -> Iterator[str]:
    """Names of the properties of a schema at any depth."""
    if isinstance(schema, dict):
        for key, value in cast(Mapping[str, Any], schema).items():
            if key == "properties" and isinstance(value, dict):
                yield from cast(Mapping[str, Any], value)
            yield from _property_names(value)
    elif isinstance(schema, list):
        for value in cast(list[Any], schema):
            yield from _property_names(value)


MAX_SHOWN = 300
"""Characters of a difference between states that a finding shows."""
_TOOL_NAME = re.compile(r"[^\W\d]\w*(?=\()")


def episode_faults(record: AgentRecord, edition: Edition | None) -> Iterator[Finding]:
    """Every fault of an agent record, with its field.

    Args:
        edition: the sandbox in which to run the milestones; None does not run them.
    """
    yield from _unknown_classes(record)
    yield from _other_classes(record)
    yield from _other_attributes(record)
    involved = record.involved_classes
    runs = edition is not None and all(
        name in SANDBOX_CLASSES and name in edition.initial for name in involved
    )
    for field, milestones in _lists(record):
        for position, text in enumerate(milestones):
            if not decode_message(text.strip()):
                message = (
                    f"{short_repr(text)} cannot be read as calls, so no reply that works matches it (Q52)"
                )
                yield fault("milestone", message, f"{field}[{position}]")
        for name in sorted(
            set(_tools_called(milestones)) - {function["name"] for function in record.functions}
        ):
            message = f"the milestones call {short_repr(name)}, which is not offered"
            yield fault("not offered", message, field)
        if runs and (difference := _state_differences(record, cast(Edition, edition), milestones)):
            yield fault("state", f"the milestones do not lead to the gold state: {difference}", field)


def _unknown_classes(record: AgentRecord) -> Iterator[Finding]:
    names = ", ".join(sorted(SANDBOX_CLASSES))
    unknown = [
        *(("involved_classes", name, "") for name in record.involved_classes),
        *(("initial_config", name, ", so this part is not used") for name in record.initial_config),
        *(
            (f"ground_truth[{at}]", name, ", so this state is never compared (Q49)")
            for at, entry in enumerate(record.end_state)
            for name in entry
        ),
    ]
    for field, name, effect in unknown:
        if name not in SANDBOX_CLASSES:
            yield fault("class", f"{short_repr(name)} is no class of the sandbox{effect}: {names}", field)


def _other_classes(record: AgentRecord) -> Iterator[Finding]:
    """The gold state has one entry per involved class."""
    gold = [name for entry in record.end_state for name in entry]
    entries, classes = len(record.end_state), record.involved_classes
    if entries != len(classes):
        yield fault("class", f"{entries} entries for {len(classes)} classes: no reply passes", "ground_truth")
    for name in sorted(set(gold) & SANDBOX_CLASSES.keys() - set(classes)):
        yield fault("class", f"{name} is not among the involved classes", "ground_truth")


def _other_attributes(record: AgentRecord) -> Iterator[Finding]:
    """The gold state of a class has exactly the attributes that are compared."""
    for position, entry in enumerate(record.end_state):
        for name, attributes in entry.items():
            saved = set(SAVED_ATTRIBUTES.get(name, attributes))
            for attribute in sorted(saved ^ attributes.keys()):
                effect = "missing: no reply passes" if attribute in saved else "never compared (Q50)"
                yield fault("attribute", f"{attribute} is {effect}", f"ground_truth[{position}].{name}")


def _lists(record: AgentRecord) -> Iterator[tuple[str, Sequence[str]]]:
    """Each alternative list of milestones with its field."""
    lists = record.milestone_lists
    several = lists != (record.milestones,)
    yield from ((f"mile_stone[{at}]" if several else "mile_stone", texts) for at, texts in enumerate(lists))


def _tools_called(milestones: Sequence[str]) -> Iterator[str]:
    for milestone in milestones:
        for call in decode_message(_requoted(milestone)) or ():
            yield from _TOOL_NAME.findall(call)[:1]


def _state_differences(record: AgentRecord, edition: Edition, milestones: Sequence[str]) -> str:
    """Differences from the gold state after running all milestones; empty if there are none."""
    try:
        sandbox = Sandbox(edition, record.involved_classes, record.initial_config)
        for milestone in milestones:
            execute_step(edition, sandbox, decode_message(_requoted(milestone)))
    except TOOL_ERRORS as error:
        return f"the sandbox's tables are damaged ({type(error).__name__}: {error})"
    compared = compare_end_state(record.end_state, sandbox.saved())
    sentences = [sentence for sentences in compared.errors for sentence in sentences]
    return "; ".join(sentences or [compared.error_type])[:MAX_SHOWN]


def _requoted(text: str) -> str:
    """A milestone, with apostrophes between letters escaped if it cannot be read otherwise."""
    text = text.strip()
    return text if decode_message(text) else re.sub(r"(?<=\w)'(?=\w)", r"\\'", text)
