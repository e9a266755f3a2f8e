"""How a tool is evolved into another; whether that was done is checked by comparing both definitions."""

from collections.abc import Callable, Mapping
from typing import Any

from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool.toolcall.text.similarity import jaccard
from wildtool_data.make.tools.api import api_parameter_class, api_parameter_classes, nested_schemas

Function = Mapping[str, Any]
CONSTRAINTS = ("pattern", "enum", "format", "minimum", "maximum")
_OTHER_FUNCTION = 0.6
"""Likeness of descriptions from which on two functions are one."""


def add_function(parent: Function, child: Function) -> str:
    """Another function for the same things: it shares a parameter, and is described otherwise."""
    if not _parameters(parent).keys() & _parameters(child).keys() and _parameters(parent):
        return "it must work on the same things: keep at least one parameter under its name"
    if jaccard(str(parent["description"]), str(child["description"])) >= _OTHER_FUNCTION:
        return "it must do something else, and say so in its description"
    return ""


def add_parameter(parent: Function, child: Function) -> str:
    """All that was there stays, and something is added."""
    before, after = (api_parameter_classes(as_schema(api["parameters"])) for api in (parent, child))
    gone = [name for name, atom in before.items() if after.get(name) != atom]
    if gone:
        return f"the parameter {gone[0]} must stay as it was"
    return "" if after.keys() - before.keys() else "it must take at least one parameter more"


def add_constraint(parent: Function, child: Function) -> str:
    """The same parameters, one of them with a constraint that it did not have."""
    if _parameters(parent).keys() != _parameters(child).keys():
        return "it must take the same parameters"
    before = dict(nested_schemas(as_schema(parent["parameters"])))
    for path, schema in nested_schemas(as_schema(child["parameters"])):
        old = before.get(path)
        if old is not None and any(key in schema and key not in old for key in CONSTRAINTS):
            return ""
    return f"a parameter must have a constraint that it had not: {', '.join(CONSTRAINTS)}"


def change_type(parent: Function, child: Function) -> str:
    """A parameter that stays under its name is of another class."""
    before, after = _parameters(parent), _parameters(child)
    both = before.keys() & after.keys()
    if any(_class(before[name]) != _class(after[name]) for name in both):
        return ""
    return "a parameter must stay under its name and have another type"


def change_return(parent: Function, child: Function) -> str:
    """Something else is returned, or in another form."""
    before, after = (
        {path: _class(schema) for path, schema in nested_schemas(as_schema(api.get("returns")))}
        for api in (parent, child)
    )
    return "" if before != after else "what it returns must have other fields, or other types"


OPERATORS: Mapping[str, Callable[[Function, Function], str]] = {
    "add function": add_function,
    "add parameter": add_parameter,
    "add constraint": add_constraint,
    "change type": change_type,
    "change return": change_return,
}
"""Each with what says why it was not done; empty if it was."""
TARGETED_OPERATORS = frozenset(["add parameter", "change type"])
"""Operators for which a class of parameter can be requested."""


def is_applicable(operator: str, parent: Function) -> bool:
    """Whether an API can be evolved in this way at all."""
    return bool(_parameters(parent)) or operator in ("add parameter", "change return")


def _parameters(function: Function) -> dict[str, Function]:
    return member_schemas(as_schema(function.get("parameters")))


def _class(schema: Function) -> tuple[str, str, str]:
    inner = as_schema(schema.get("items"))
    return str(schema.get("type")), api_parameter_class(schema), str(inner.get("type"))
