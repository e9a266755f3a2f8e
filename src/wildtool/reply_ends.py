"""How a reply ended: one class for each reason that any protocol gives, read from a reply or from its record."""

from collections.abc import Mapping
from enum import StrEnum

from wildtool.types import Reply


class End(StrEnum):
    """What the end of a reply says about it."""

    COMPLETE = "complete"
    """The model ended it with a text."""
    CALLS = "calls"
    """The model ended it with calls."""
    CUT = "cut"
    """A limit of tokens ended it; it is judged as it is."""
    FILTERED = "filtered"
    """A filter of the provider stopped it."""
    REFUSED = "refused"
    """The model or its provider declined, and said so beside the text."""
    MALFORMED = "malformed"
    """The model wrote a call that its own provider could not read."""
    UNFINISHED = "unfinished"
    """The provider did not finish it."""
    PAUSED = "paused"
    """The provider wants it back to go on."""
    UNKNOWN = "unknown"
    """No reason was given, or none that is known; it is judged as it is."""


NOT_RIGHT = frozenset({End.FILTERED, End.REFUSED, End.MALFORMED})
"""Ends that decide their unit: it is not right, whatever was written before."""
NO_REPLY = frozenset({End.UNFINISHED, End.PAUSED})
"""Ends of failed calls: what was written before is no reply."""
_REASONS: Mapping[End, tuple[str, ...]] = {
    End.COMPLETE: ("stop", "completed", "complete", "end_turn", "stop_sequence", "eos", "eos_token"),
    End.CALLS: ("tool_calls", "tool_call", "tool_use", "function_call"),
    End.CUT: (
        *("length", "max_tokens", "max_output_tokens", "max_messages", "model_length", "repetition"),
        *("model_context_window_exceeded", "continuation"),
    ),
    End.FILTERED: (
        *("content_filter", "content_filtered", "guardrail_intervened", "sensitive", "safety", "recitation"),
        *("language", "blocklist", "prohibited_content", "spii", "model_armor", "escalation"),
        *("image_safety", "image_prohibited_content", "image_recitation"),
    ),
    End.REFUSED: ("refusal",),
    End.MALFORMED: (
        *("malformed_function_call", "unexpected_tool_call", "too_many_tool_calls", "malformed_response"),
        *("malformed_model_output", "malformed_tool_use"),
    ),
    End.UNFINISHED: (
        *(
            "failed",
            "cancelled",
            "queued",
            "in_progress",
            "incomplete",
            "steered",
            "abort",
            "load",
            "timeout",
        ),
        *("error", "network_error", "insufficient_system_resource", "other", "finish_reason_unspecified"),
        *("no_image", "image_other", "missing_thought_signature", "pup_limited_disabled"),
    ),
    End.PAUSED: ("pause_turn", "compaction"),
    End.UNKNOWN: ("unknown",),
}
"""Reasons by class, in lower case: of chat completions and servers that follow them, Responses (status, and reason of
an incomplete one), Messages, and generateContent."""
_END_OF = {reason: end for end, reasons in _REASONS.items() for reason in reasons}


def reason_end(reason: object) -> End | None:
    """The class of a reason in any protocol; None for one that is not in the table."""
    return _END_OF.get(reason.lower()) if isinstance(reason, str) else None


def end_of(reply: Reply) -> End:
    """How a reply ended, from what is recorded of it."""
    refusal: object = reply.message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return End.REFUSED
    end = reason_end(reply.finish_reason) or End.UNKNOWN
    return End.CALLS if end == End.COMPLETE and reply.message.get("tool_calls") else end
