"""What a rule of ACEBench says about one reply: the one record that both checkers give."""

from dataclasses import dataclass
from typing import Any

NO_VERDICT = "reference_error"
"""Error class of a reply on which the published evaluator raises, which ends its whole category (Q33)."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The verdict on one reply."""

    valid: bool
    error: str = ""
    """The evaluator's error type; empty for a valid reply."""
    reason: str = ""
    """The rule that decided, in words."""
    reference_error: str | None = None
    """The exception that the published evaluator ends with on this reply."""
    stray_error: str = ""
    """Error type that its score file lists although the reply is valid: a later candidate passed (Q31)."""


VALID = CheckResult(True)


def short_repr(value: Any) -> str:
    """A value for a reason: its Python spelling (no raw control characters or surrogates), cut at 120 characters."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]}…"
