"""Lines of training files: strict JSON that every loader reads."""

import re
from typing import Any

import orjson

from wildtool import json_codec
from wildtool.training.record import RowError

_REFUSED = re.compile(rb"(?<!\\)(?:\\\\)*\\u(?:0000|d[89ab]|D[89AB])")


def training_line(row: Any) -> bytes:
    """A row as a line of a file.

    Raises:
        RowError: it holds what loaders refuse: NUL, half a surrogate pair (`not-text`), or a number that JSON lacks.
    """
    data = json_codec.dumps(row)
    if b"\\u" in data and _REFUSED.search(data):
        raise RowError("not-text", "a text holds NUL or half a surrogate pair, which loaders refuse")
    if b"NaN" in data or b"Infinity" in data:
        try:
            orjson.loads(data)
        except ValueError as error:
            raise RowError("unreadable-call", "NaN and Infinity are no numbers of JSON") from error
    return json_codec.one_line(data) + b"\n"
