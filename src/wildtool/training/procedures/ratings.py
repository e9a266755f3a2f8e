"""Reads the score from 0 to 10 in what a model says of a record."""

import re

_NUMBER = r"-?\d+(?:\.\d+)?"
_NAMED = re.compile(rf"\bscore\b[\"']?\s*[:=]\s*[\"']?({_NUMBER})", re.IGNORECASE)
_OF_TEN = re.compile(rf"({_NUMBER})\s*(?:/\s*10|out\s+of\s+10)(?![\d.]*\d)", re.IGNORECASE)
_ALONE = re.compile(rf"(?<![\w.])({_NUMBER})(?![\w%]|\s*%|[.,]\d)")
LOWEST_SCORE, HIGHEST_SCORE = 0.0, 10.0


def read_score(text: str) -> float | None:
    """The score that a text gives; None if it gives none, several, or one that is not from 0 to 10.

    The first rule that finds a number decides: one behind the word `score` and a colon or equals sign; one before `/10`
    or `out of 10`; the only distinct number that is no part of a word, a percentage or a longer number.
    """
    for rule in (_NAMED, _OF_TEN):
        if found := rule.search(text):
            return _in_range(found[1])
    alone = {float(number) for number in _ALONE.findall(text)}
    return _in_range(alone.pop()) if len(alone) == 1 else None


def _in_range(number: float | str) -> float | None:
    value = float(number)
    return value if LOWEST_SCORE <= value <= HIGHEST_SCORE else None
