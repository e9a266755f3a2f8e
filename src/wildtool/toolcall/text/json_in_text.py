"""JSON objects inside other text."""

import json
from collections.abc import Iterator
from typing import Any

MAX_PLACES = 100
"""Places of a text at which an object is looked for."""
_DECODER = json.JSONDecoder(strict=False)


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that begin at the opening braces of a text, inner ones too; strings may have line ends."""
    begin = -1
    for _ in range(MAX_PLACES):
        begin = text.find("{", begin + 1)
        if begin < 0:
            return
        try:
            value: dict[str, Any] = _DECODER.raw_decode(text, begin)[0]
        except (ValueError, RecursionError):
            continue
        yield value
