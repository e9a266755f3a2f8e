"""How counts and ids are said in problems and remarks."""

from collections.abc import Sequence

from wildtool.engine.score.formatting import first_names

MOST_NAMED = 50
"""Ids that one problem names."""


def counted_are(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun and verb, such as `2 units are`."""
    return f"1 {noun} is" if count == 1 else f"{count:,} {plural or noun + 's'} are"


def id_list(ids: Sequence[str]) -> str:
    """The first ids, by items; a unit's repeats once each."""
    return first_names(list(dict.fromkeys(ids)), MOST_NAMED)
