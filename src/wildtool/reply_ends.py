"""How a reply ended: one class for each reason that any protocol gives, read from a reply or from its record."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from wildtool.advice import NOT_AS_TOOLS
from wildtool.json_codec import as_list, as_object
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


OVERFLOWED = "the context overflowed"
"""Occurs in the message of every call that a server refused for its length."""
NO_HELP = "the same command cannot help: "
"""Occurs in the message of every call that an endpoint refuses for what no other try changes."""
_REMEDY = re.compile(rf"; {NO_HELP}([^()]+)\)")
NOT_RIGHT: Mapping[End, str] = {
    End.FILTERED: "the provider filtered the reply",
    End.REFUSED: "the model or its provider refused to answer",
    End.MALFORMED: "the provider could not read the call that the model wrote",
}
"""Ends that decide their unit, with the reason: it is not right, whatever was written before."""
NO_REPLY = frozenset({End.UNFINISHED, End.PAUSED})
"""Ends of failed calls: what was written before is no reply."""
_REASONS: Mapping[End, tuple[str, ...]] = {
    End.COMPLETE: ("stop", "completed", "complete", "end_turn", "stop_sequence", "eos", "eos_token"),
    End.CALLS: ("tool_calls", "tool_call", "tool_use", "function_call"),
    End.CUT: (
        "length",
        "max_tokens",
        "max_output_tokens",
        "max_messages",
        "model_length",
        "repetition",
        "model_context_window_exceeded",
        "continuation",
    ),
    End.FILTERED: (
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "sensitive",
        "safety",
        "recitation",
        "language",
        "blocklist",
        "prohibited_content",
        "spii",
        "model_armor",
        "escalation",
        "image_safety",
        "image_prohibited_content",
        "image_recitation",
    ),
    End.REFUSED: ("refusal",),
    End.MALFORMED: (
        "malformed_function_call",
        "unexpected_tool_call",
        "too_many_tool_calls",
        "malformed_response",
        "malformed_model_output",
        "malformed_tool_use",
    ),
    End.UNFINISHED: (
        "failed",
        "cancelled",
        "queued",
        "in_progress",
        "incomplete",
        "steered",
        "abort",
        "load",
        "timeout",
        "error",
        "network_error",
        "insufficient_system_resource",
        "other",
        "finish_reason_unspecified",
        "no_image",
        "image_other",
        "missing_thought_signature",
        "pup_limited_disabled",
    ),
    End.PAUSED: ("pause_turn", "compaction"),
    End.UNKNOWN: ("unknown",),
}
"""Reasons by class, in lower case: of chat completions and servers that follow them, Responses (status, and reason of
an incomplete one), Messages, and generateContent."""
_END_OF = {reason: end for end, reasons in _REASONS.items() for reason in reasons}


def lasting_refusal(cause: str, remedy: str) -> str:
    """How the message of a call ends that an endpoint refuses for good. Args: without brackets."""
    return f" ({cause}; {NO_HELP}{remedy})"


def remedy_in(message: str) -> str:
    """The remedy of `lasting_refusal` in the message of a failed call; empty for other messages."""
    found = _REMEDY.search(message)
    return found[1] if found else ""


def without_remedy(message: str) -> str:
    """The message of a failed call without the remedy of `lasting_refusal`, whose cause stays."""
    return _REMEDY.sub(")", message)


def names_remedy(message: str) -> bool:
    """Whether the message of a refused call says already what to do about the request itself."""
    explained = OVERFLOWED in message or any(advice in message for advice in NOT_AS_TOOLS)
    return explained or bool(remedy_in(message))


def reason_end(reason: object) -> End | None:
    """The class of a reason in any protocol; None for one that is not in the table."""
    return _END_OF.get(reason.lower()) if isinstance(reason, str) else None


_KEYS = ("finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason")
"""Keys that hold a reason in an answer of some vendor or program."""
_AROUND = ("choices", "candidates", "response_metadata", "message")
"""Keys of an answer under which the reason may be."""


def given_reason(answer: Mapping[str, Any]) -> str | None:
    """The reason of its end that an answer of any shape gives: a message, or a whole answer around one; None for none."""
    inside = [as_object(next(iter(as_list(answer.get(key))), answer.get(key))) for key in _AROUND]
    for held in (answer, *inside):
        for key in _KEYS:
            if isinstance(held.get(key), str):
                return str(held[key])
    details = as_object(answer.get("incomplete_details")).get("reason")
    if isinstance(details, str):
        return details
    status = answer.get("status")
    return status if isinstance(status, str) and "output" in answer else None


def error_class(end: End) -> str:
    """The error class of a unit that a reply decided by its end, or the error kind of a call that failed by it."""
    return f"reply {end}"


def failing_end(role: str, reply: Reply) -> End | None:
    """The end by which a call counts as failed; None for a reply that can be used.

    What another role than the model under test was to say must be whole: a filtered user is no fault of that model.
    """
    end = end_of(reply)
    return end if end in NO_REPLY or (role != "agent" and end in NOT_RIGHT) else None


def deciding_end(reply: Reply, *, as_published: bool = False) -> End | None:
    """The end by which a reply decides its unit; None for a reply that the rules judge.

    Args:
        as_published: whether rules of a published evaluator judge it. These read text and calls alone, so what the model
            declines beside them decides nothing; what the provider gives as the reason of the end does.
    """
    words_or_calls = reply.message.get("content") or reply.message.get("tool_calls")
    end = _end_by_reason(reply) if as_published and words_or_calls else end_of(reply)
    return end if end in NOT_RIGHT else None


def end_of(reply: Reply) -> End:
    """How a reply ended, from what is recorded of it."""
    refusal: object = reply.message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return End.REFUSED
    return _end_by_reason(reply)


def _end_by_reason(reply: Reply) -> End:
    end = reason_end(reply.finish_reason) or End.UNKNOWN
    return End.CALLS if end == End.COMPLETE and reply.message.get("tool_calls") else end
