"""What requests of the pages bring: the limits of a body, and the values in it."""

from collections.abc import Sequence
from contextlib import suppress

from wildtool.errors import UsageError
from wildtool.json_codec import JsonLimits, as_list
from wildtool_review.server.payloads import Payload

BODY_LIMITS = JsonLimits(bytes=8 * 1024 * 1024, depth=200, values=200_000)
"""Of a request's body, and of JSON that people type."""


def text_field(body: Payload, name: str) -> str:
    """A text of a request. Raises UsageError for anything else."""
    value = body.get(name)
    if not isinstance(value, str):
        raise UsageError("{0}: expected a text", name)
    return value


def texts_field(body: Payload, name: str, default: Sequence[str] | None = None) -> list[str]:
    """The texts of a list of a request. Raises UsageError for anything else, and for none without a default."""
    value = body.get(name, default)
    texts = [each for each in as_list(value) if isinstance(each, str)]
    if not isinstance(value, list) or len(texts) < len(as_list(value)):
        raise UsageError("{0}: expected a list of texts", name)
    return texts


def number_field(body: Payload, name: str, default: int) -> int:
    """A whole number of a request. Raises UsageError for anything else."""
    with suppress(ValueError, TypeError):
        return int(default if body.get(name) in (None, "") else body[name])
    raise UsageError("{0}: expected a whole number", name)
