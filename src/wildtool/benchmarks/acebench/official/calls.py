"""The published evaluator's check of a Normal reply against gold calls (section 6, quirks Q1 to Q33)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.benchmarks.acebench.check import NO_VERDICT, VALID, CheckResult, short_repr
from wildtool.benchmarks.acebench.official.parse import decode
from wildtool.benchmarks.acebench.official.values import ArgumentFault, check_argument
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError

Gold = Mapping[str, Mapping[str, Any]]
"""Expected calls: function name, with a suffix `_1`, `_2`, … where it is expected several times, to arguments."""

_SUFFIX = re.compile(r"_\d+$")
_RAISED = (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)


def check_normal(
    text: Any, functions: Sequence[Mapping[str, Any]], candidates: Sequence[Gold]
) -> CheckResult:
    """The verdict on a Normal reply. Never raises: where the original does, the reply is wrong and it is named.

    Args:
        text: the reply; anything but a text is no list of calls.
        functions: the offered functions as written in the record.
        candidates: gold answers, any one of which suffices.
    """
    if not isinstance(text, str):
        return CheckResult(False, "wrong_output_format", "the reply has no text")
    try:
        calls = decode(text)
    except CallSyntaxError as error:
        return CheckResult(False, "wrong_output_format", str(error))
    return check_official_calls(calls, functions, candidates)


def check_official_calls(
    calls: Sequence[CallExpression], functions: Sequence[Mapping[str, Any]], candidates: Sequence[Gold]
) -> CheckResult:
    """The verdict on calls, however they were written. Never raises."""
    first: ArgumentFault | None = None
    try:
        for gold in candidates:
            fault = _check_candidate(calls, functions, gold)
            if fault is None:
                return VALID if first is None else CheckResult(True, stray_error=first.error)
            first = first or fault
    except _RAISED as error:
        raised = f"{type(error).__name__}: {error}"
        return CheckResult(False, NO_VERDICT, f"the published evaluator raises {raised}", raised)
    return (
        CheckResult(False, *first)
        if first
        else CheckResult(False, NO_VERDICT, "no gold answer to compare with")
    )


def _check_candidate(
    calls: Sequence[CallExpression], functions: Sequence[Mapping[str, Any]], gold: Gold
) -> ArgumentFault | None:
    """Section 6.1: numbers and names of the calls, then for each gold call a call that passes."""
    if len(calls) != len(gold):
        return ArgumentFault("wrong functions number", f"expected {len(gold)} calls, got {len(calls)}")
    # Names that really end in digits lose them, too (Q27).
    plain = [_SUFFIX.sub("", name) for name in gold]
    if len(plain) == 1 and plain[0] == calls[0].name:
        return _check_call(calls[0], gold[next(iter(gold))], _described(next(iter(gold)), functions))
    found, wanted = Counter(call.name for call in calls), Counter(plain)
    for names, others, fault in ((found, wanted, "not expected"), (wanted, found, "missing")):
        for name in names:
            if name not in others:
                return ArgumentFault("function_mismatch", f"{fault}: {short_repr(name)}")
    for name, count in wanted.items():
        if found[name] != count:
            return ArgumentFault("function_mismatch", f"expected {count} calls of {name}, got {found[name]}")
    for short, (name, arguments) in zip(plain, gold.items(), strict=True):
        if fault := _find_match(short, arguments, calls, _described(name, functions)):
            return fault
    return None


def _described(name: str, functions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first function whose name occurs in a gold call's (Q28)."""
    for function in functions:
        if function["name"] in name:
            return function
    return None


def _find_match(
    name: str, gold: Mapping[str, Any], calls: Sequence[CallExpression], function: Mapping[str, Any] | None
) -> ArgumentFault | None:
    """None if a call passes, else the fault of the last call, of any name (Q29). A call can match again (Q30)."""
    fault: ArgumentFault | None = None
    for call in calls:
        if call.name != name:
            fault = ArgumentFault(
                "simple_function_checker:unclear", f"no call of {name} passes; the last is another"
            )
        elif (fault := _check_call(call, gold, function)) is None:
            return None
    return fault


def _check_call(
    call: CallExpression, gold: Mapping[str, Any], function: Mapping[str, Any] | None
) -> ArgumentFault | None:
    """Section 6.2: one call against the gold call and the function's description."""
    if function is None:
        raise TypeError("'NoneType' object is not subscriptable")
    parameters: Mapping[str, Any] = function["parameters"]
    if not call.arguments and parameters == {}:
        return None
    if not call.arguments or parameters == {}:
        return ArgumentFault(
            "wrong_param", "no arguments" if parameters else "arguments for a function without any"
        )
    if gold == parameters["properties"]:
        return None
    if not gold:
        return ArgumentFault("wrong_param", "arguments where gold has none")
    if function["name"] != call.name:
        return ArgumentFault(
            "wrong_function_name", f"the description of {function['name']} was taken for {call.name}"
        )
    for name in parameters["required"]:
        if name not in call.arguments:
            return ArgumentFault("lack_args", f"required argument {short_repr(name)} is missing")
    properties: Mapping[str, Any] = parameters["properties"]
    for name, value in call.arguments.items():
        if name is None or name not in properties or name not in gold:
            return ArgumentFault("addition_args", f"argument {short_repr(name)} is not expected")
        if fault := check_argument(value, gold[name], properties[name]):
            return ArgumentFault(fault.error, f"argument {name}: {fault.reason}")
    return None
