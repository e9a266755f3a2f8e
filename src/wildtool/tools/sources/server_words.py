"""What a server says of its own failure, on one line of bounded length that is safe to show."""

import re
from typing import Any

from wildtool.json_codec import LINE_LIMITS, as_object, dumps, loads_within
from wildtool.redact import redacted_text
from wildtool.sanitize import single_line

MAX_REFUSAL_BYTES = 8 * 1024
"""Of the body of a refusal that are read."""
_LONGEST = 400
"""Characters that are shown."""
_LINES = 3
"""Lines of a log that are shown: the last ones that say something."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style|title)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_FRAME = re.compile(r"\s+at\s|Node\.js v\d")
"""How lines begin with which Node.js follows the error itself."""


def words_of_text(text: str) -> str:
    """A text without keys and control characters, on one line, cut where it is long."""
    # Keys are removed first: of one that is cut, a part would stay.
    return single_line(" ".join(redacted_text(_COLOUR.sub("", text)).split()), _LONGEST)


def words_of_body(body: bytes) -> str:
    """What the body of a refusal says: its error of JSON-RPC, the text of its page, or all of it."""
    text = body.decode("utf-8", "replace")
    if _PAGE.match(text):
        return words_of_text(_UNSEEN.sub(" ", text))
    try:
        error = as_object(loads_within(body, LINE_LIMITS)).get("error")
    except ValueError:
        error = None
    return words_of_error(error) if as_object(error) else words_of_text(text)


def words_of_error(error: Any) -> str:
    """What an error of JSON-RPC says: its message, and its data where they add to it."""
    held = as_object(error)
    message, data = held.get("message"), held.get("data")
    if not isinstance(message, str) or not message.strip():
        return words_of_text(_text_of(error))
    added = "" if data in (None, message) else f" ({_text_of(data)})"
    return words_of_text(f"{message}{added}")


def words_of_log(log: str) -> str:
    """The last lines of a log that say something; frames of Node.js, which follow the error, do not."""
    lines = [_COLOUR.sub("", line) for line in log.splitlines()]
    telling = [line.strip() for line in lines if re.search(r"\w", line) and not _FRAME.match(line)]
    return words_of_text(" | ".join(telling[-_LINES:]))


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value).decode()
