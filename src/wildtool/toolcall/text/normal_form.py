"""Unicode's normal forms of any text, in time linear in its length."""

import re
import sys
import unicodedata
from functools import cache
from typing import Literal

_JOINER = "\u034f"
_MOST_MARKS = 30
"""Combining marks in a row that stay as they are, as in Unicode's Stream-Safe Text Format (UAX 15, section 13)."""

_SHORT = 1_000
"""Characters of a text in which any run is sorted quickly."""


def normal_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """A text in a normal form; in a long one, more than 30 combining marks in a row, which
    no language writes, are sorted in parts."""
    if len(text) > _SHORT and not text.isascii():
        # Sorting a run of marks takes time quadratic in its length.
        text = _long_runs().sub(rf"\g<0>{_JOINER}", text)
    return unicodedata.normalize(form, text)


@cache
def _long_runs() -> re.Pattern[str]:
    """Finds as many marks in a row as are sorted at once, where more follow."""
    marks = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.combining(c))
    return re.compile(f"[{marks}]{{{_MOST_MARKS}}}(?=[{marks}])")
