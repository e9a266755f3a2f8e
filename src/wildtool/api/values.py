"""Values that are texts: lists, durations, JSON objects, headers."""

import re
from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.api.records import Headers


def split_values(lists: Sequence[str] | str | None) -> tuple[str, ...]:
    """The values of a list, each of which may be several, separated by commas; or of such a text alone."""
    texts = (lists,) if isinstance(lists, str) else lists or ()
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def parse_duration(text: str | float) -> float:
    """The seconds of a duration such as `90`, `45s`, `30m` or `1h30m`. Raises UsageError for anything else."""
    text = text if isinstance(text, str) else f"{text:.15g}"
    match = re.fullmatch(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip(), re.ASCII)
    parts = match.groups() if match else ()
    total = sum(float(part or 0) * size for part, size in zip(parts, (86_400, 3600, 60, 1), strict=False))
    if not 0 < total < inf:
        raise UsageError(f"{text!r} is not a duration; examples: 90 (seconds), 30m, 1h30m")
    return total


def parse_json_object(text: Mapping[str, Any] | str | None, option: str) -> dict[str, Any]:
    """The value of an option that takes a JSON object. Raises UsageError, which never repeats the value."""
    from wildtool import json_codec

    if text is None:
        return {}
    if isinstance(text, Mapping):
        return dict(text)
    try:
        value = json_codec.loads(text)
    except ValueError as error:
        raise UsageError(f"{option} is not JSON ({error}); example: {option} '{{\"top_p\": 0.9}}'") from None
    if not isinstance(value, dict):
        raise UsageError(f"{option} must be a JSON object; example: {option} '{{\"top_p\": 0.9}}'")
    return value  # pyright: ignore[reportUnknownVariableType]


def header_texts(headers: "Headers | None") -> list[str] | None:
    """Headers as texts `NAME=VALUE`; None for none."""
    if headers is None:
        return None
    return (
        [f"{name}={value}" for name, value in headers.items()] if isinstance(headers, Mapping) else [*headers]
    )
