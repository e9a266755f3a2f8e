"""Texts of which a reader sees nothing."""

import re

# Unicode's Default_Ignorable_Code_Point, such as zero-width spaces, soft hyphens and variation selectors.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# A braille cell without dots is a symbol to Unicode, and nothing to a reader.
_UNSEEN = re.compile(rf"(?:\s|\u2800|{INVISIBLE.pattern})*")


def is_unseen(text: str) -> bool:
    """Whether a reader sees nothing of a text: no character, or only blanks and characters that are not seen."""
    return _UNSEEN.fullmatch(text) is not None
