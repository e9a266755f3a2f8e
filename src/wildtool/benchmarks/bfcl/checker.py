"""BFCL's check of decoded calls against the accepted ones, rule by rule (spec section 5)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.benchmarks.bfcl.categories import Category, Kind, Language
from wildtool.benchmarks.bfcl.languages.java import JAVA_TYPES, convert_java
from wildtool.benchmarks.bfcl.languages.javascript import JAVASCRIPT_TYPES, convert_javascript
from wildtool.benchmarks.bfcl.records import AcceptedCall

PYTHON_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
"""Type words of function documents to the types that values must have."""
_NESTING = frozenset({"array", "tuple"})
_SPACES_AND_SIGNS = str.maketrans("'", '"', " ,./-_*^")
_NUMBER_SIGN = re.compile(r"(?<=\d)\.(?=\d)|(?<![\w.])-(?=\d)")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call is refused."""

    error: str
    """The original's error type."""
    message: str


UNREADABLE_ENTRY = (
    TypeError,
    AttributeError,
    KeyError,
    IndexError,
    RecursionError,
    ValueError,
    NotImplementedError,
)
"""What checking raises where a document or an answer is of another form than the rules expect."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """How the values of a language's calls are typed."""

    types: Mapping[str, type]
    nesting: frozenset[str]
    """Type words whose elements are checked too."""
    error: str = ""
    """Error where a value is no text, for languages whose values are texts of their source."""
    convert: Callable[[str, str, str | None], Any] | None = None
    """Turns the text of a value into a Python value, given its type word and that of its elements."""


SYNTAXES: Mapping[Language, Syntax] = {
    "python": Syntax(PYTHON_TYPES, _NESTING),
    "java": Syntax(JAVA_TYPES, frozenset({"Array", "ArrayList"}), "type_error:java", convert_java),
    "javascript": Syntax(JAVASCRIPT_TYPES, frozenset({"array"}), "type_error:js", convert_javascript),
}


def standardise(text: str) -> str:
    """A text as it is compared: lower-case, single quotes as double ones, without spaces and `, . / - _ * ^`."""
    return text.translate(_SPACES_AND_SIGNS).lower()


def mark_numbers(text: str) -> str:
    """A text with other signs for the points and minus signs of its numbers, so that they count when it is compared."""
    return _NUMBER_SIGN.sub(lambda sign: "¤" if sign[0] == "." else "¬", text)


def standard(value: Any) -> Any:
    return standardise(value) if isinstance(value, str) else value


def check_calls(
    category: Category,
    functions: Sequence[Mapping[str, Any]],
    answers: Sequence[AcceptedCall],
    calls: Sequence[Mapping[str, Any]],
    *,
    underscores: bool,
) -> Fault | None:
    """Why the calls are not the expected ones; None if they are.

    Args:
        calls: as decoded, each of one name.
        underscores: whether dots in names of functions were replaced by underscores in what the model was sent.

    Raises:
        UNREADABLE_ENTRY: where the original raises too.
    """
    checker, expected = CallChecker(SYNTAXES[category.language], underscores), len(answers)
    if (fault := count_fault(category, calls, 1 if category.kind == "simple" else expected)) is not None:
        return fault
    if category.kind == "parallel":
        return _check_parallel(checker, functions, answers, calls)
    document = functions[0] if category.kind == "simple" else _document(functions, answers[0])
    return checker.check(document, calls[0], answers[0])


def count_fault(category: Category, calls: Sequence[Any], expected: int) -> Fault | None:
    """The fault of another number of calls than expected."""
    if len(calls) == expected:
        return None
    return Fault(f"{_CHECKERS[category.kind]}:wrong_count", f"{len(calls)} calls, expected {expected}")


def no_match(answer: AcceptedCall, reasons: str) -> Fault:
    """The fault of an expected call that none of several calls is."""
    return Fault(f"{_CHECKERS['parallel']}:cannot_find_match", f"no call is {next(iter(answer))}: {reasons}")


def _check_parallel(
    checker: "CallChecker", functions: Sequence[Any], answers: Sequence[AcceptedCall], calls: Sequence[Any]
) -> Fault | None:
    """Each answer takes the first call left that passes, without looking back."""
    unmatched = list(range(len(calls)))
    for answer in answers:
        document = _document(functions, answer)
        faults: list[str] = []
        for place in unmatched:
            fault = checker.check(document, calls[place], answer)
            if fault is None:
                unmatched.remove(place)
                break
            faults.append(f"call {place + 1}: {fault.message}")
        else:
            return no_match(answer, "; ".join(faults))
    return None


_CHECKERS: Mapping[Kind, str] = {
    "simple": "simple_function_checker",
    "multiple": "multiple_function_checker",
    "parallel": "parallel_function_checker_no_order",
}
"""Kind of category to the original's name of its check."""


def _document(functions: Sequence[Mapping[str, Any]], answer: AcceptedCall) -> Mapping[str, Any]:
    gold_name = next(iter(answer))
    for function in functions:
        if function["name"] == gold_name:
            return function
    raise TypeError(f"no function {gold_name}")


@dataclass(frozen=True, slots=True)
class CallChecker:
    """Checks single calls in one language."""

    syntax: Syntax
    underscores: bool

    def check(
        self, document: Mapping[str, Any], call: Mapping[str, Any], answer: AcceptedCall
    ) -> Fault | None:
        """Why a call is not the expected one of a function; None if it is."""
        properties: Mapping[str, Any] = document["parameters"]["properties"]
        accepted = next(iter(answer.values()))
        name = document["name"].replace(".", "_") if self.underscores else document["name"]
        if name not in call:
            listing = ", ".join(map(str, call)) or "none"
            return Fault("simple_function_checker:wrong_func_name", f"called {listing}, expected {name}")
        arguments: Mapping[Any, Any] = call[name]
        required = document["parameters"].get("required", ())
        for parameter in required:
            if parameter not in arguments:
                return Fault("simple_function_checker:missing_required", f"{parameter!r} is required")
        for parameter, value in arguments.items():
            if parameter not in properties or parameter not in accepted:
                return Fault("simple_function_checker:unexpected_param", f"{parameter!r} is not expected")
            fault = self.check_value(
                parameter, value, properties[parameter], accepted[parameter], required=parameter in required
            )
            if fault is not None:
                return fault
        for parameter, values in accepted.items():
            if parameter not in arguments and "" not in values:
                return Fault("simple_function_checker:missing_optional", f"{parameter!r} must be given")
        return None

    def check_value(
        self, name: Any, value: Any, schema: Mapping[str, Any], accepted: Any, *, required: bool
    ) -> Fault | None:
        """Why an argument is not an accepted one; None if it is."""
        word = schema["type"]
        expected = self.syntax.types[word]
        nested_word = schema["items"]["type"] if word in self.syntax.nesting else None
        nested = None if nested_word is None else self.syntax.types[nested_word]
        if self.syntax.convert is not None:
            if not isinstance(value, str):
                return Fault(
                    self.syntax.error, f"{name!r}: expected the text of a value, found {_kind(value)}"
                )
            value = self.syntax.convert(value, word, nested_word)
        elif word == "tuple" and type(value) is tuple:
            value = list(cast(tuple[Any, ...], value))
        elif word == "float" and type(value) is int:
            value = float(value)
        error, variable = type_fault(value, accepted, expected, nested)
        if error is not None:
            return Fault(error, f"{name!r}: expected {word}, found {_kind(value)} {_short(value)}")
        error = _value_error(value, accepted, expected, nested, variable)
        if error is None:
            return None
        return Fault(error, f"{name!r} is {_short(value)}, expected {_short(accepted)}")


def type_fault(
    value: Any, accepted: Sequence[Any], expected: type, nested: type | None
) -> tuple[str | None, bool]:
    """The error of a value's type, None if it is right; and whether the value may be the name of a variable."""
    like = _first_type(accepted)
    variable = like is not None and like is not expected
    error = "type_error:simple"
    if type(value) is expected:
        if nested is None or any(_elements_fit(value, candidate, nested) for candidate in accepted):
            return None, variable
        error = "type_error:nested"
    if like is not None and type(value) is like:
        return (None, True) if error == "type_error:simple" else (error, True)
    return "type_error:simple", variable


def _first_type(values: Sequence[Any]) -> type[Any] | None:
    return next((cast(type[Any], type(element)) for element in values if element != ""), None)


def _elements_fit(value: Any, accepted: Any, nested: type) -> bool:
    """Whether all elements have the type, or that of the accepted list; always, where what is accepted is no list."""
    if not isinstance(accepted, list):
        return True
    like = _first_type(cast(list[Any], accepted))
    return all(type(element) in (nested, like) for element in value)


def _value_error(
    value: Any, accepted: Sequence[Any], expected: type, nested: type | None, variable: bool
) -> str | None:
    if variable:
        return None if value in accepted else "value_error:others"
    if expected is dict:
        return dict_error(value, accepted)
    if expected is list and nested is dict:
        return _dicts_error(value, accepted)
    if expected is str:
        standards = [standardise(text) for text in accepted if isinstance(text, str)]
        return None if standardise(value) in standards else "value_error:string"
    if expected is list:
        standards = [[standard(element) for element in choice] for choice in accepted]
        return None if [standard(element) for element in value] in standards else "value_error:list/tuple"
    return None if value in accepted else "value_error:others"


def dict_error(value: Mapping[Any, Any], accepted: Sequence[Any]) -> str | None:
    """The error of an object against the accepted ones: None if one fits, else that of the last."""
    error = "dict_checker:unclear"
    for gold in accepted:
        if gold == "":
            continue
        difference = _one_dict_error(value, gold)
        if difference is None:
            return None
        error = difference
    return error


def _one_dict_error(value: Mapping[Any, Any], gold: Mapping[str, Any]) -> str | None:
    """The error of an object against one accepted one. A missing key decides its class, whatever else is wrong."""
    if any(key not in value and "" not in values for key, values in gold.items()):
        return "value_error:dict_key"
    for key, element in value.items():
        if key not in gold:
            return "value_error:dict_key"
        if standard(element) not in [standard(choice) for choice in gold[key]]:
            return "value_error:dict_value"
    return None


def _dicts_error(value: Sequence[Any], accepted: Sequence[Any]) -> str | None:
    error: str | None = "value_error:list_dict_count"
    for golds in accepted:
        if len(value) != len(golds):
            error = "value_error:list_dict_count"
            continue
        error = next(
            (fault for each, gold in zip(value, golds, strict=True) if (fault := dict_error(each, [gold]))),
            None,
        )
        if error is None:
            return None
    return error


def _kind(value: Any) -> str:
    return type(value).__name__


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:119]}…"
