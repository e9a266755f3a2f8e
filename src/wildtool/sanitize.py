"""Texts of strangers (model names, ids, reasons) made harmless where they are shown: on a screen, in a cell."""

import re
from pathlib import PurePath
from typing import Any

from wildtool.redact import redacted_text

MAX_SHOWN_NAME = 200
"""Characters of a name (model, run, data) that are shown."""
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline; escape sequences begin so
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # changes of line and direction, which forge what is seen
    "\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # what is not seen at all
    "\ud800-\udfff\ufffe\uffff]"  # what no terminal can be sent and no page may hold
)
_ABOVE = re.compile(r"(?<![\w/.<])~?/(?!/)(?:[^\s/'\"<>]+/)+(?=[^\s/'\"<>])")
"""What stands before the last part of an absolute path; nothing of an address on the web."""
_BREAKS = re.compile(r"[\t\n]")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def escape_text(text: object) -> str:
    """A text as it may be shown: without keys, and with escapes (`\\x1b`) for characters that act on what is seen."""
    return _HARMFUL.sub(lambda match: ascii(match[0])[1:-1], redacted_text(str(text)))


def single_line(text: object, longest: int = MAX_SHOWN_NAME) -> str:
    """A text as it may stand in a table or a list: plain, on one line, and not too long."""
    short = escape_text(_BREAKS.sub(" ", str(text)[: longest + 1]))
    return short if len(short) <= longest else short[: longest - 1] + "…"


def truncate_words(text: str, longest: int) -> str:
    """A text cut between two words where it is too long; inside of a word only where that alone is too long."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    end = max(head.rfind(" "), head.rfind("\n"))
    return (head[:end] if end > longest // 2 else head).rstrip() + "…"


def ellipsize(text: object, longest: int = MAX_SHOWN_NAME) -> str:
    """A text on one line, with its middle left out where it is too long: what tells paths apart is their end."""
    short = single_line(text, 10_000)
    if len(short) <= longest:
        return short
    end = 2 * longest // 3
    return f"{short[: longest - end - 1]}…{short[-end:]}"


def strip_folders(text: str) -> str:
    """A text that is handed around, with nothing left of each absolute path in it but its last part."""
    return _ABOVE.sub("", text)


def basename_only(name: str) -> str:
    """A name that may be a path: of an absolute one its last part, else as it is."""
    before, sign, path = name.rpartition("=")
    if path.startswith(("/", "~/")) and (last := PurePath(path).name):
        return f"{before}{sign}{last}"
    return strip_folders(name)


def csv_safe(value: Any) -> Any:
    """A value as it may stand in a CSV file that a spreadsheet opens, where no cell may be a formula.

    A text that a spreadsheet would run gets an apostrophe in front, and so does such a text with apostrophes in front, so
    that removing one apostrophe gives the text back. NUL, which ends a text for many readers, becomes U+FFFD.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = value.replace("\0", "\ufffd")
    return f"'{text}" if _FORMULA.match(text) else text
