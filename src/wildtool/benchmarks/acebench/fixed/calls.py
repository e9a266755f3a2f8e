"""Profile `fixed`: the calls of a Normal reply against gold calls, by what they mean.

- A function is looked up by its exact name (Q28); a suffix `_<n>` of a gold name counts calls, unless a function is
  called so (Q27).
- Calls and gold calls are matched one to one (Q30); order does not matter. Of a reply that fails the first fault of
  the matching with the fewest failing calls is reported, so the order of the calls does not change it (Q29).
- Every value is compared, numbers and booleans too (Q11 to Q14), by the rules of `toolcall.compare`: texts by meaning
  instead of containment (Q15), objects and lists by value (Q16 to Q21).
- A parameter is missing where gold has it and extra where gold lacks it (Q22, Q23, Q24), but for optional ones at
  their documented default or empty: null, `""`, `[]` and `{}` say nothing. No arguments are right where gold has none
  (Q25, Q26).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from wildtool.benchmarks.acebench.check import VALID, CheckResult, short_repr
from wildtool.benchmarks.acebench.official import Gold
from wildtool.toolcall.arguments import MAX_ARGUMENT_DEPTH
from wildtool.toolcall.call_syntax import CallExpression
from wildtool.toolcall.compare import ArgumentDifference, compare_arguments
from wildtool.toolcall.schema import as_schema, required_names

_SUFFIX = re.compile(r"_\d+$", re.ASCII)
_ERRORS = {"missing": "lack_args", "extra": "addition_args", "type": "type_error"}


class _Fault(NamedTuple):
    """How far a reply is from gold; the smallest is reported."""

    stage: int = 0
    """0 where number and names of the calls are right."""
    calls: int = 0
    """Calls that fail."""
    differences: int = 0
    texts: tuple[tuple[str, str], ...] = ()
    """Error and reason of each failing call, in the order of gold."""


_NONE = _Fault()


def check_fixed_calls(
    calls: Sequence[CallExpression], functions: Sequence[Mapping[str, Any]], candidates: Sequence[Gold]
) -> CheckResult:
    """The verdict on the calls of a Normal reply. Never raises.

    Args:
        functions: the offered functions as written in the record.
        candidates: gold answers, any one of which suffices; at least one.
    """
    described = {function.get("name"): as_schema(function.get("parameters")) for function in functions[::-1]}
    least = _least(_compare(calls, described, gold) for gold in candidates)
    return CheckResult(False, *least.texts[0]) if least.texts else VALID


def _compare(
    calls: Sequence[CallExpression], described: Mapping[Any, Mapping[str, Any]], gold: Gold
) -> _Fault:
    if len(calls) != len(gold):
        reason = f"expected {len(gold)} calls, got {len(calls)}"
        return _Fault(2, texts=(("wrong functions number", reason),))
    names = [name if name in described else _SUFFIX.sub("", name) for name in gold]
    if reason := _names_differ(Counter(names), Counter(call.name for call in calls)):
        return _Fault(1, texts=(("function_mismatch", reason),))
    total = _NONE
    for name in dict.fromkeys(names):
        expected = [arguments for key, arguments in zip(names, gold.values(), strict=True) if key == name]
        predicted = [_plain(call.arguments) for call in calls if call.name == name]
        total = _sum(total, _match(expected, predicted, described.get(name, {})))
    return total


def _names_differ(expected: Counter[str], predicted: Counter[str]) -> str:
    """The first name, in alphabetical order, that is called too often or too seldom."""
    for name in sorted(expected.keys() | predicted.keys()):
        if expected[name] != predicted[name]:
            return f"expected {expected[name]} calls of {short_repr(name)}, got {predicted[name]}"
    return ""


def _match(expected: Sequence[Any], predicted: Sequence[Any], parameters: Mapping[str, Any]) -> _Fault:
    """The least fault over all ways to match the calls of one function with its gold calls, one to one."""

    @cache
    def pair(row: int, column: int) -> _Fault:
        return _arguments(expected[row], predicted[column], parameters)

    @cache
    def smallest(used: int) -> _Fault:
        row = used.bit_count()
        if row == len(expected):
            return _NONE
        return _least(
            _sum(pair(row, right), smallest(used | 1 << right))
            for right in range(len(predicted))
            if not used >> right & 1
        )

    return smallest(0)


def _least(faults: Iterable[_Fault]) -> _Fault:
    """The smallest of some faults; those after one that is none are not looked for."""
    least: _Fault | None = None
    for fault in faults:
        if fault == _NONE:
            return fault
        least = fault if least is None else min(least, fault)
    assert least is not None
    return least


def _sum(a: _Fault, b: _Fault) -> _Fault:
    return _Fault(a.stage + b.stage, a.calls + b.calls, a.differences + b.differences, a.texts + b.texts)


def _arguments(gold: Mapping[str, Any], values: Mapping[str, Any], parameters: Mapping[str, Any]) -> _Fault:
    differences = compare_arguments(
        _without_blanks(gold, parameters), _without_blanks(values, parameters), parameters
    )
    if not differences:
        return _NONE
    first = differences[0]
    return _Fault(0, 1, len(differences), ((_error(first, gold, values), first.message),))


def _error(difference: ArgumentDifference, gold: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Missing and extra are errors of their own for parameters only; inside a value they are a wrong value."""
    inside = difference.path not in gold and difference.path not in arguments
    return (
        "value_error" if inside and difference.rule != "type" else _ERRORS.get(difference.rule, "value_error")
    )


def _without_blanks(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without optional ones that say nothing."""
    properties = as_schema(parameters.get("properties"))
    needed = required_names(parameters)
    return {
        name: value
        for name, value in arguments.items()
        if not (name in properties and name not in needed and is_blank(value))
    }


def is_blank(value: Any) -> bool:
    """Whether giving an optional parameter this value means the same as leaving it out."""
    return value in (None, "", [], {})


def _plain(value: Any, depth: int = 0) -> Any:
    """Python's values as JSON's: a tuple is a list. Deeper than values are compared nothing is changed."""
    if depth > MAX_ARGUMENT_DEPTH:
        return value
    if isinstance(value, dict):
        return {key: _plain(part, depth + 1) for key, part in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(part, depth + 1) for part in cast("list[Any]", value)]
    return value
