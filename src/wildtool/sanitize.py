"""Makes untrusted texts (model names, ids, reasons) safe to show on a screen or in a table cell."""

import re
from pathlib import PurePath
from typing import Any

from wildtool.redact import redacted_text

MAX_SHOWN_NAME = 200
"""Characters of a name (model, run, data) that are shown at most."""
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and newline; escape sequences start with one
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # line breaks and changes of direction, which can forge what is seen
    "\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible characters
    "\ud800-\udfff\ufffe\uffff]"  # not allowed in terminals and pages
)
_ABOVE = re.compile(r"(?<![\w/.<])~?/(?!/)(?:[^\s/'\"<>]+/)+(?=[^\s/'\"<>])")
"""The folders of an absolute path; no part of a URL."""
_BREAKS = re.compile(r"[\t\n]")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def escape_text(text: object) -> str:
    """A text that is safe to show: without keys, with escapes (`\\x1b`) for characters that change what is seen."""
    return _HARMFUL.sub(lambda match: ascii(match[0])[1:-1], redacted_text(str(text)))


def single_line(text: object, longest: int = MAX_SHOWN_NAME) -> str:
    """A text for a table or list: safe to show, on one line, and cut if it is too long."""
    short = escape_text(_BREAKS.sub(" ", str(text)[: longest + 1]))
    return short if len(short) <= longest else short[: longest - 1] + "…"


def truncate_words(text: str, longest: int) -> str:
    """A text cut between words if it is too long; inside a word only if that word alone is too long."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    end = max(head.rfind(" "), head.rfind("\n"))
    return (head[:end] if end > longest // 2 else head).rstrip() + "…"


def ellipsize(text: object, longest: int = MAX_SHOWN_NAME) -> str:
    """A text on one line, without its middle if it is too long: paths differ at their ends."""
    short = single_line(text, 10_000)
    if len(short) <= longest:
        return short
    end = 2 * longest // 3
    return f"{short[: longest - end - 1]}…{short[-end:]}"


def strip_folders(text: str) -> str:
    """A text with each absolute path in it reduced to its last part."""
    return _ABOVE.sub("", text)


def basename_only(name: str) -> str:
    """A name; only the last part if it is an absolute path."""
    before, sign, path = name.rpartition("=")
    if path.startswith(("/", "~/")) and (last := PurePath(path).name):
        return f"{before}{sign}{last}"
    return strip_folders(name)


def csv_safe(value: Any) -> Any:
    """A value for a CSV file, changed so that no spreadsheet takes it for a formula.

    A text that a spreadsheet would run gets an apostrophe in front, and so does such a text with apostrophes in front, so
    that removing one apostrophe gives the text back. NUL, which ends a text for many readers, becomes U+FFFD.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = value.replace("\0", "\ufffd")
    return f"'{text}" if _FORMULA.match(text) else text
