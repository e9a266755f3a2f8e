"""The rules of the published evaluators in words, by what those evaluators write: the one place for verdicts and traces.

Columns (`error_label`, `reference_error`) keep what the evaluators write.
"""

import re

from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT, INVALID_JSON
from wildtool.benchmarks.wildtoolbench.official.episode import EMPTY_REPLY_RESULT, NO_MATCH, UNREADABLE_CALLS
from wildtool.benchmarks.wildtoolbench.paper.judge import (
    EARLY_STOP_LABEL,
    INVENTED_NAME_LABEL,
    MISSING_INFO_LABEL,
    MISSING_REQUIRED,
    REDUNDANT_LABEL,
    REJECT_LABEL,
    UNFOUNDED_VALUE,
    UNKNOWN_NAME,
    UNWANTED_LABEL,
    WRONG_FUNCTION_LABEL,
    WRONG_TYPE,
    WRONG_VALUE,
)

_WHOLE = {
    CORRECT: "right",
    EMPTY_REPLY_RESULT: "the reply has neither a call nor a text",
    NO_MATCH: "the action's name is none of the allowed ones",
    INVALID_JSON: "the arguments are no JSON",
    REJECT_LABEL: "text or nothing where a call was expected",
    UNWANTED_LABEL: "a call where none was expected",
    INVENTED_NAME_LABEL: "a call of a tool that is not in the tool list",
    MISSING_INFO_LABEL: "a call although the user had to be asked first",
    REDUNDANT_LABEL: "a call that was made already, or after every call was made",
    WRONG_FUNCTION_LABEL: "a call that the task does not need, or not yet",
    EARLY_STOP_LABEL: "text while calls were still to be made",
    MISSING_REQUIRED: "a required argument is missing",
    UNKNOWN_NAME: "an argument that the tool does not have",
    WRONG_TYPE: "an argument of another type than the tool's definition says",
    UNFOUNDED_VALUE: "a value that nothing in the conversation gives",
    WRONG_VALUE: "a value that differs from the gold value",
}
_PARTS = (
    (rf"^{re.escape(UNREADABLE_CALLS)}(?:, error: (.*))?$", r"the calls cannot be read: \1"),
    (r"^error: comparison failed - ", "the published evaluator cannot compare the arguments: "),
    (r"^error_schema: nested args (.*)$", r"error_schema: args \1 (inside an argument)"),
    (r"^error_schema: required nested args missing", "a required member of an argument is missing"),
    (r"^error_schema: required args missing", "a required argument is missing"),
    (
        r"^error_schema: args type inconsistent",
        "an argument is of another type than the tool's definition says",
    ),
    (r"^error_schema: args value not in enum", "a value is none of those that the tool's definition allows"),
    (r"^error_schema: args not defined", "an argument is not in the tool's definition"),
    (r"^error_match: value type inconsistent", "a value is of another type than the gold value"),
    (r"^error_match: value mismatch", "a value differs from the gold value"),
    (r"^error_match: args keys mismatch", "the arguments are others than those of the gold call"),
    (r"^error_match: array length mismatch", "a list is longer or shorter than the gold one"),
    (r"^error_match: string similarity too low", "a text is not similar enough to the gold text"),
    (r"^error_match: rouge calculation failed", "a text has nothing to compare with the gold text"),
)


def rule_in_words(text: str) -> str:
    """What an evaluator writes, in words; a text that is none of its own stays."""
    if text in _WHOLE:
        return _WHOLE[text]
    for pattern, words in _PARTS:
        text = re.sub(pattern, words, text, flags=re.DOTALL)
    return text.removesuffix(": ")
