"""Texts as a page needs them, besides those that terminals show too (`engine.shown`, `plain`)."""

import re

from wildtool.engine.score.formatting import ends_of
from wildtool.types import Metric


def slug(text: str) -> str:
    """A text as part of a file name: lower-case letters, digits and `-`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "x"


def interval_of(metric: Metric) -> str:
    """Its 95 % interval; empty where none is given."""
    return "–".join(ends_of(metric) or ())
