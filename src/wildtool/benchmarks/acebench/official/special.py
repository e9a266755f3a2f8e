"""The published evaluator's check of a Special reply: phrases and names in its raw text (section 7, Q42 to Q46).

A reply is a text; in result files of others it can be any JSON value.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, cast

from wildtool.benchmarks.acebench.check import VALID, CheckResult, short_repr

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
    said = cast(Container[Any], text)
    if phrase not in said:
        return CheckResult(False, DETECTION, f"the reply does not say {phrase!r}")
    absent = [part for part in parts if part not in said]
    if absent:
        return CheckResult(False, CORRECTION, f"the reply does not name {short_repr(absent)}")
    return VALID
