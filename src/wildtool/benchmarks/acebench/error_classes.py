"""Error classes of a wrong unit: those of the paper's section 4.2, and a few that the paper has no name for.

The evaluators name faults more finely; their own type is in the column `error_label`. The paper does not say how its
four Normal classes follow from those types; `class_of` is the mapping used here.
"""

from wildtool.benchmarks.acebench.check import NO_VERDICT
from wildtool.benchmarks.acebench.official import CORRECTION, DETECTION

OUTPUT_FORMAT = "Output Format"
"""No list of calls can be read from the reply."""
FUNCTION_NAME = "Function Name"
"""Another function than expected, a call too few or too many."""
PARAM_TYPE = "Parameter Type"
"""A value of another type than declared."""
PARAM_VALUE = "Parameter Value"
"""A value of the right type that is not the expected one."""
PARAM_SET = "Parameter Set"
"""The right function with a required argument missing or with one that is not expected. Not in the paper."""
UNCLEAR = "Unclear"
"""One of several calls is wrong and the evaluator does not say how. Not in the paper."""
UNUSABLE_GOLD = "Unusable Gold"
"""The data admit no verdict: the published evaluator raises. Not in the paper."""

ERROR_DETECTION = "Error Detection"
"""The problem of the request was not noticed, or not reported in the required words."""
ERROR_CORRECTION = "Error Correction"
"""The problem was noticed, but a name or a value that belongs to it is not named."""

CALL_ERROR = "Call Error"
"""A call in a wrong form, of a wrong function or with wrong arguments."""
RULE_VIOLATION = "Rule Violation"
"""A rule of the scenario was not followed: a step left out, done twice or done in a wrong state."""
INFORMATION = "Information Mismanagement"
"""Something that the user or the sandbox said was lost or replaced."""
UNFINISHED = "Unfinished"
"""The episode ended, or was cut, before everything was done. Not in the paper."""

NORMAL_CLASSES = (OUTPUT_FORMAT, FUNCTION_NAME, PARAM_TYPE, PARAM_VALUE, PARAM_SET, UNCLEAR, UNUSABLE_GOLD)
SPECIAL_CLASSES = (ERROR_DETECTION, ERROR_CORRECTION)
AGENT_CLASSES = (CALL_ERROR, RULE_VIOLATION, INFORMATION, UNFINISHED)

_CLASSES = {
    "wrong_output_format": OUTPUT_FORMAT,
    "wrong functions number": FUNCTION_NAME,
    "function_mismatch": FUNCTION_NAME,
    "wrong_function_name": FUNCTION_NAME,
    "lack_args": PARAM_SET,
    "addition_args": PARAM_SET,
    "wrong_param": PARAM_SET,
    "type_error": PARAM_TYPE,
    "value_error": PARAM_VALUE,
    NO_VERDICT: UNUSABLE_GOLD,
    DETECTION: ERROR_DETECTION,
    CORRECTION: ERROR_CORRECTION,
}


def class_of(error: str) -> str:
    """The class of an evaluator's error type; `value_error:string` and its like are one class, any other is unclear."""
    return _CLASSES.get(error.partition(":")[0], UNCLEAR)
