"""The published evaluator's checks of one reply: calls of a Normal one, the message of a Special one.

Sections and quirks (Q1, …) are those of the specification, which describes the evaluator of August 2025. The one of
October 2025 reads replies of single turns otherwise (`decode_first_list`); everything else is the same in both.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from wildtool.benchmarks.acebench.check import NO_VERDICT, VALID, CheckResult, short_repr
from wildtool.benchmarks.acebench.plain_calls import read_plain_calls
from wildtool.toolcall.call_syntax import CallExpression, CallReader, CallSyntaxError, parse_expression

_BRACKET = re.compile(r"[\[\]]")


def without_whitespace(text: str) -> str:
    """The text with every Unicode whitespace character deleted, inside quoted texts too (Q1)."""
    return "".join(text.split())


def decode(text: str) -> list[CallExpression]:
    """The calls of a bracketed list (also a set, a tuple or a bare comma list: Q2).

    Raises:
        CallSyntaxError: the text is anything else, with the reason.
    """
    return _calls_of(without_whitespace(text))


def decode_first_list(text: str) -> list[CallExpression]:
    """The calls of the first outermost `[…]` in a text, which is read as it stands.

    Raises:
        CallSyntaxError: there is none, or it is anything else, with the reason.
    """
    calls = outermost_list(text)
    if calls is None:
        raise CallSyntaxError("no list in brackets")
    return _calls_of(calls)


def outermost_list(text: str) -> str | None:
    """The first outermost `[…]`; None if there is none.

    Every bracket counts, in quotes too. One that closes before any opens takes the depth below zero, so that what
    follows begins a level too low.
    """
    depth, start = 0, None
    for bracket in _BRACKET.finditer(text):
        if bracket[0] == "[":
            if depth == 0:
                start = bracket.start()
            depth += 1
        else:
            depth -= 1
            if depth == 0 and start is not None:
                return text[start : bracket.end()]
    return None


def _calls_of(text: str) -> list[CallExpression]:
    if (plain := read_plain_calls(text)) is not None:
        return plain
    root = parse_expression(text)
    if not isinstance(root, ast.List | ast.Tuple | ast.Set):
        raise CallSyntaxError(f"not a list of calls but {type(root).__name__}")
    reader = CallReader()
    calls: list[CallExpression] = []
    for element in root.elts:
        if not isinstance(element, ast.Call):
            raise CallSyntaxError(f"not a call but {type(element).__name__}")
        calls.append(reader.call(element))
    return calls


WANTED_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("string", "any"), str),
    # Numbers are integers: with a gold integer no other float passes (Q12).
    **dict.fromkeys(("integer", "int", "number"), int),
    "float": float,
    "boolean": bool,
    **dict.fromkeys(("array", "tuple", "list", "list(string)", "list(enum)", "objectArray"), list),
    **dict.fromkeys(("dict", "object"), dict),
    # A type that no decoded value has.
    "enum": enumerate,
}
"""The Python type that a value of each declared type must have."""
_WITH_INNER_TYPE = frozenset({"array", "tuple", "list(string)", "list(enum)", "object", "objectArray"})
_IGNORED = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})
_WORDS = {"true": True, "false": False}


class ArgumentFault(NamedTuple):
    """Why a call fails."""

    error: str
    """The evaluator's error type."""
    reason: str


def check_argument(value: Any, gold: Any, schema: Mapping[str, Any]) -> ArgumentFault | None:
    """What is wrong with one top-level argument, or None.

    Args:
        value: as decoded from the reply.
        gold: the gold value, from JSON.
        schema: the parameter's entry in the function's `properties`.

    Raises:
        KeyError, TypeError, AttributeError, OverflowError: where the original raises (Q33).
    """
    declared = schema["type"]
    expected = WANTED_TYPES[declared]
    inner = _inner_type(declared, schema)
    if declared == "tuple" and type(value) is tuple:
        value = list(cast(tuple[Any, ...], value))
    if declared == "float" and type(value) is int:
        value = float(value)
    fits, variable = _type_fits(value, gold, expected, inner)
    if not fits:
        return ArgumentFault(
            "type_error", f"expected {declared} like {short_repr(gold)}, got {short_repr(value)}"
        )
    if variable:
        return None
    return _compare(value, gold, expected, inner, declared)


def _inner_type(declared: str, schema: Mapping[str, Any]) -> type | None:
    if declared not in _WITH_INNER_TYPE:
        return None
    try:
        inner_name = schema["items"]["type"]
    except (KeyError, TypeError, IndexError):
        # No `items`, or none that names a type.
        inner_name = next((kind for kind in ("string", "enum") if kind in declared), "dict")
    return WANTED_TYPES[inner_name]


def _type_fits(value: Any, gold: Any, expected: type, inner: type | None) -> tuple[bool, bool]:
    """Whether the type passes, and whether gold is of another type than declared, which ends the check (Q12)."""
    variable = gold != "" and type(gold) is not expected
    if isinstance(value, str):
        value = _WORDS.get(value, value)
    nested_fault = False
    if type(value) is expected:
        # Each item of gold is an alternative; only lists among them are looked into.
        if inner is None or any(
            type(item) is not list or all(_type_fits(element, item, inner, None)[0] for element in value)
            for item in gold
        ):
            return True, variable
        nested_fault = True
    if gold != "" and (type(value) is type(gold) or gold == value):
        return not nested_fault, True
    return False, variable


def _compare(
    value: Any, gold: Any, expected: type, inner: type | None, declared: str
) -> ArgumentFault | None:
    """The value check by declared type; numbers and booleans have none (Q11)."""
    if expected is dict:
        return _compare_objects(value, gold)
    if expected is list and inner is dict:
        return _compare_object_lists(value, gold, declared)
    if value == gold:
        return None
    if expected is list:
        if _normalised_texts(value) != _normalised_texts(gold):
            return ArgumentFault(
                "value_error:list/tuple", f"expected {short_repr(gold)}, got {short_repr(value)}"
            )
    elif expected is str and normalised(gold) not in normalised(value):
        return ArgumentFault("value_error:string", f"{short_repr(value)} does not contain {short_repr(gold)}")
    return None


def normalised(text: str) -> str:
    """Lower case, without blanks and the characters `,./-_*^`, with one kind of quotation mark."""
    return text.translate(_IGNORED).lower()


def _normalised_texts(values: Sequence[Any]) -> list[Any]:
    return [normalised(value) if isinstance(value, str) else value for value in values]


def _compare_object_lists(values: Sequence[Any], gold: Sequence[Any], declared: str) -> ArgumentFault | None:
    """Object by object, by position (Q19)."""
    if len(values) != len(gold):
        error = "value_error:dict_items" if declared == "objectArray" else "value_error:list_dict_count"
        return ArgumentFault(error, f"expected {len(gold)} objects, got {len(values)}")
    if declared == "objectArray":
        raise TypeError("dict_checker() missing 1 required positional argument: 'func_name'")
    faults = (_compare_objects(value, gold_object) for value, gold_object in zip(values, gold, strict=True))
    return next((fault for fault in faults if fault), None)


def _compare_objects(value: Any, gold: Any) -> ArgumentFault | None:
    """The same keys (Q17), and each rendered gold value contained in the rendered value (Q16)."""
    if not isinstance(value, dict):
        return ArgumentFault("value_error", f"expected an object, got {short_repr(value)}")
    entries = cast(dict[Any, Any], value)
    if len(entries) != len(gold.keys()) or any(key not in gold for key in entries):
        return ArgumentFault(
            "value_error", f"expected the keys {short_repr(list(gold))}, got {short_repr(list(entries))}"
        )
    for key, element in entries.items():
        if isinstance(element, str):
            element = _WORDS.get(element, element)
        gold_value = gold[key]
        if isinstance(gold_value, dict):
            if fault := _compare_objects(element, gold_value):
                return fault
        elif not (isinstance(element, str) and element == gold_value) and _rendered(
            gold_value
        ) not in _rendered(element):
            return ArgumentFault(
                "value_error",
                f"{short_repr(key)}: the text of {short_repr(element)} does not contain {short_repr(gold_value)}",
            )
    return None


def _rendered(value: Any) -> str:
    # Texts inside lists are not normalised, so blanks in them can hardly be matched (Q1).
    return normalised(value) if isinstance(value, str) else str(value)


Gold = Mapping[str, Mapping[str, Any]]
"""Expected calls: function name, with a suffix `_1`, `_2`, … where it is expected several times, to arguments."""

_SUFFIX = re.compile(r"_\d+$")
_RAISED = (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)


def check_normal(
    text: Any,
    functions: Sequence[Mapping[str, Any]],
    candidates: Sequence[Gold],
    read: Callable[[str], Sequence[CallExpression]] = decode,
) -> CheckResult:
    """The verdict on a Normal reply. Never raises: where the original does, the reply is wrong and it is named.

    Args:
        text: the reply; anything but a text is no list of calls.
        functions: the offered functions as written in the record.
        candidates: gold answers, any one of which suffices; at least one.
        read: gives the calls of a text, or raises CallSyntaxError.
    """
    if not isinstance(text, str):
        return CheckResult(False, "wrong_output_format", "the reply has no text")
    try:
        calls = read(text)
    except CallSyntaxError as error:
        return CheckResult(False, "wrong_output_format", str(error))
    return check_official_calls(calls, functions, candidates)


def check_official_calls(
    calls: Sequence[CallExpression], functions: Sequence[Mapping[str, Any]], candidates: Sequence[Gold]
) -> CheckResult:
    """The verdict on calls, however they were written. Never raises."""
    faults: list[ArgumentFault] = []
    try:
        for gold in candidates:
            fault = _check_candidate(calls, functions, gold)
            if fault is None:
                return CheckResult(True, stray_error=faults[0].error) if faults else VALID
            faults.append(fault)
    except _RAISED as error:
        raised = f"{type(error).__name__}: {error}"
        return CheckResult(False, NO_VERDICT, f"the published evaluator raises {raised}", raised)
    return CheckResult(False, *faults[0])


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
    used, expected = Counter(call.name for call in calls), Counter(plain)
    for names, rest, fault in ((used, expected, "not expected"), (expected, used, "missing")):
        for name in names:
            if name not in rest:
                return ArgumentFault("function_mismatch", f"{fault}: {short_repr(name)}")
    for name, count in expected.items():
        if used[name] != count:
            return ArgumentFault("function_mismatch", f"expected {count} calls of {name}, got {used[name]}")
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


MISSING_PHRASE = "Missing necessary parameters"
INCORRECT_PHRASE = "There is incorrect value"
LIMITATIONS_PHRASE = "the limitations of the function"

DETECTION = "error_detection"
"""The phrase is absent: the problem was not noticed, or not reported in the required form."""
CORRECTION = "error_correction"
"""The phrase is there, but a name or a value is not."""


def check_incomplete(text: Any, gold: Mapping[str, Sequence[str]]) -> CheckResult:
    """A request that lacks parameters: the phrase, the function's name and each missing parameter's name.

    Args:
        gold: function name to the names of the missing parameters.
    """
    return _check(text, MISSING_PHRASE, (name for api, names in gold.items() for name in (api, *names)))


def check_error_param(text: Any, gold: Mapping[str, Sequence[str]]) -> CheckResult:
    """A request with a wrong value: the phrase and each wrong value; the parameter's name is not looked for.

    Args:
        gold: parameter name to its wrong values as texts.
    """
    return _check(text, INCORRECT_PHRASE, (value for values in gold.values() for value in values))


def check_irrelevant(text: Any) -> CheckResult:
    """A request that no function serves: the phrase."""
    return _check(text, LIMITATIONS_PHRASE, ())


def _check(text: Any, phrase: str, parts: Iterable[str]) -> CheckResult:
    """`in` as the original writes it: part of a text, but an element of a list or a key of an object."""
    if not isinstance(text, str | list | dict):
        raised = f"TypeError: argument of type {type(text).__name__!r} is not iterable"
        return CheckResult(False, DETECTION, "the reply has no text", raised)
    content = cast(Container[Any], text)
    if phrase not in content:
        return CheckResult(False, DETECTION, f"the reply does not say {phrase!r}")
    absent = [part for part in parts if part not in content]
    if absent:
        return CheckResult(False, CORRECTION, f"the reply does not name {short_repr(absent)}")
    return VALID
