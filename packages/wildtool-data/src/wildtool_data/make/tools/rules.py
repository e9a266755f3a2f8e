"""Rules for what the roles say when an API is made (N1, N2, S1 to S9, K1 to K4); D1 to D9 are in `definitions`."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rapidfuzz import fuzz

from wildtool.benchmarks.wildtoolbench.grounding import leaves
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, values_inside
from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool.toolcall.schema_check import shorten
from wildtool.toolcall.text.similarity import jaccard
from wildtool.tools.schema.definitions import call_problems, definition_faults, schema_definition_faults
from wildtool_data.make.core.parsing import RefusedReplyError, read_object
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.sessions.rules.context import is_placeholder
from wildtool_data.make.sessions.rules.texts import control_character_faults
from wildtool_data.make.tools.api import ApiSpec, api_parameter_classes, definition_text, nested_schemas
from wildtool_data.make.tools.assignments import Assignment
from wildtool_data.make.tools.operators import OPERATORS
from wildtool_data.make.tools.tree import name_problem

MAX_SIBLING_SIMILARITY = 0.7
"""Share of features from which on an API is too much like a sibling."""
MAX_PARENT_SIMILARITY = 0.9
"""The same for the one that it was evolved from, most of which it keeps."""
_ALIKE_DESCRIPTION = 92.0
SCHEMA_KEYWORDS = frozenset(
    [
        "type",
        "description",
        "enum",
        "items",
        "properties",
        "required",
        "default",
        "pattern",
        "format",
        "minimum",
        "maximum",
    ]
)
"""What a made schema may say: everything that is checked."""
MAX_PROPOSALS = 3
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[a-zA-Z]{2,}")
_FIELDS = ("name", "description", "parameters", "returns")
WrittenDesign = Mapping[str, Any]


def parse_design(
    text: str, assignment: Assignment, used: Collection[str]
) -> tuple[WrittenDesign, list[Finding]]:
    """What the designer or the evolver wrote: `api`, `function`, `found`. Raises RefusedReplyError.

    Args: taken: names that APIs have already, in small letters.
    """
    reply = read_object(text, "N1")
    api = as_schema(reply.get("api"))
    if not api:
        message = "`api` must be an object with name, description, parameters and returns."
        raise RefusedReplyError(fault("N1", message))
    if faults := definition_faults(api):
        # Nothing else can be said of what is no definition.
        raise RefusedReplyError(*faults)
    faults = [
        *_form_faults(api, assignment.lang),
        *_newness_faults(api, assignment, used),
        *_aim_faults(api, assignment),
    ]
    if assignment.function is None and (problem := name_problem(reply.get("function"))):
        faults.append(fault("N2", f"`function` {problem}: it says in a few words what the API is for."))
    faults += [fault("N2", f"`found`: {problem}.", level="warning") for problem in _found_problems(reply)]
    return reply, faults


def _form_faults(api: WrittenDesign, lang: Lang) -> Iterator[Finding]:
    returns = as_schema(api.get("returns"))
    if returns.get("type") != "object" or not member_schemas(returns):
        yield fault("S6", "`returns` must be a JSON Schema of type object with the fields of the result.")
    elif len(repr(returns)) > 8_000:
        yield fault("S6", "`returns` is too long.")
    else:
        for finding in schema_definition_faults(returns, "returns"):
            yield fault("S6", finding.message)
    for where in ("parameters", "returns"):
        for path, schema in nested_schemas({"properties": {where: api.get(where)}}):
            if strange := sorted(map(str, schema.keys() - SCHEMA_KEYWORDS)):
                yield fault(
                    "S1",
                    f"{path}: {shorten(strange[0])} is not used here; there are: {', '.join(sorted(SCHEMA_KEYWORDS))}.",
                )
                break
            if schema.get("type") == "float":
                yield fault("S1", f"{path}: JSON Schema calls decimals `number`, not `float`.")
    if strange := [key for key in api if key not in _FIELDS]:
        yield fault(
            "S1", f"`api` has {shorten(strange[0])}; it has name, description, parameters and returns only."
        )
    # Of objects the keys are looked at too.
    parts = [part for value in values_inside(api) for part in (as_object(value) or [value])]
    yield from control_character_faults("\n".join(part for part in parts if isinstance(part, str)), "S8")
    fitting = (_CHINESE if lang == "zh" else _LATIN).search(str(api["description"]))
    if not fitting or (lang == "en" and _CHINESE.search(definition_text(api))):
        yield fault("S7", f"descriptions must be in {'Chinese' if lang == 'zh' else 'English'}.")


def _newness_faults(api: WrittenDesign, assignment: Assignment, used: Collection[str]) -> Iterator[Finding]:
    name = str(api["name"])
    if name.casefold() in used:
        yield fault("S2", f"there is an API called {name} already; do something else, under another name.")
        return
    near = near_duplicate_of(api, assignment.siblings, assignment.parent)
    if near is not None:
        yield fault("S3", f"it is nearly {near.name}, which is there already; do something else.")


def near_duplicate_of(
    api: WrittenDesign, siblings: Sequence[ApiSpec], parent: ApiSpec | None
) -> ApiSpec | None:
    """The sibling that an API is too much like; None if it differs enough from all."""
    text, described = definition_text(api), str(api["description"])
    for other in siblings:
        is_parent = parent is not None and other.name == parent.name
        most = MAX_PARENT_SIMILARITY if is_parent else MAX_SIBLING_SIMILARITY
        alike = fuzz.ratio(described, other.description) >= _ALIKE_DESCRIPTION
        if alike or jaccard(text, other.text) >= most:
            return other
    return None


def _aim_faults(api: WrittenDesign, aim: Assignment) -> Iterator[Finding]:
    if aim.target and aim.target not in api_parameter_classes(as_schema(api["parameters"])).values():
        yield fault("S4", f"it must have a parameter of the class {aim.target}, as described.")
    count = len(api_parameter_classes(as_schema(api["parameters"])))
    if aim.complexity is not None and not aim.complexity[0] <= count <= aim.complexity[1]:
        lowest, most = aim.complexity
        yield fault("S9", f"it has {count} parameters; wanted are {lowest} to {most}.")
    if aim.parent is not None and (problem := OPERATORS[aim.operator](aim.parent.function, api)):
        yield fault("S5", f"this is not `{aim.operator}`: {problem}.")


def _found_problems(design: WrittenDesign) -> Iterator[str]:
    proposed = as_schema(design.get("found"))
    for key in ("functions", "subdomains"):
        names = proposed.get(key, [])
        if not isinstance(names, list):
            yield f"{key} must be a list of names"
            continue
        for name in as_list(names)[:MAX_PROPOSALS]:
            if problem := name_problem(name):
                yield f"a name of {key} {problem}"


def proposed_names(entry: WrittenDesign, key: str) -> list[str]:
    """The names of nodes that a role found, without those that cannot be one."""
    names = as_list(as_schema(entry.get("found")).get(key))
    return [name for name in names[:MAX_PROPOSALS] if not name_problem(name)]


def parse_call(text: str, api: WrittenDesign, use: Collection[str]) -> tuple[WrittenDesign, list[Finding]]:
    """The arguments of a made-up call, held to the definition. Raises RefusedReplyError.

    Args: use: parameters that it must give.
    """
    arguments = read_object(text, "K1").get("arguments")
    if not isinstance(arguments, dict):
        raise RefusedReplyError(fault("K1", "`arguments` must be an object."))
    values = as_object(arguments)
    parameters = as_schema(api["parameters"])
    faults = [fault("K2", f"{where}: {problem}.") for where, problem in call_problems(values, parameters)]
    faults += [fault("K3", f"the call must give {name}.") for name in use if name not in values]
    for leaf in leaves(values, parameters):
        if isinstance(leaf.value, str) and (not leaf.value.strip() or is_placeholder(leaf.value)):
            faults.append(fault("K4", f"{leaf.path}: {shorten(leaf.value)} is no real value."))
    return values, faults
