"""Texts for pages, in addition to those shared with terminals (`engine.score.formatting`, `sanitize`)."""

import re

from wildtool.engine.score.formatting import format_interval
from wildtool.types import Metric


def slug(text: str) -> str:
    """A text as part of a file name: lower-case letters, digits and `-`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "x"


def interval_of(metric: Metric) -> str:
    """Its 95 % interval; empty if there is none."""
    return "–".join(format_interval(metric) or ())
