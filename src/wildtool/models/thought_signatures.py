"""Google's signatures of thoughts at the calls of an OpenAI-shaped chat."""

from collections.abc import Sequence
from typing import Any

from wildtool.json_codec import as_object

NO_SIGNATURE = "skip_thought_signature_validator"
"""What Google's guide of thought signatures says to send for a call that no Gemini model made."""


def are_signed(calls: Sequence[Any]) -> bool:
    """Whether the calls of one reply have a signature: of parallel calls Gemini signs only the first."""
    return any(_google_content(call).get("thought_signature") for call in calls)


def with_placeholder(call: Any) -> Any:
    """A call with the placeholder of a signature; what is no call stays as it is."""
    fields = as_object(call)
    if not fields:
        return call
    google = {**_google_content(call), "thought_signature": NO_SIGNATURE}
    return {**fields, "extra_content": {**as_object(fields.get("extra_content")), "google": google}}


def _google_content(call: Any) -> dict[str, Any]:
    return as_object(as_object(as_object(call).get("extra_content")).get("google"))
