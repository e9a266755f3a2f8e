"""What the rules of a profile find in one reply: six scores, and the counts that micro averages are made of."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from wildtool.benchmarks.taskbench.data import Library, ToolPlan
from wildtool.toolcall.set_scores import Overlap

NOTHING = Overlap(0, 0, 0)
MEDIA = {
    "image": "jpg png jpeg gif bmp tiff svg ico",
    "audio": "mp3 wav wma ogg aac flac aiff au",
    "video": "mp4 avi mov flv wmv mkv webm m4v mpg mpeg",
}
"""Kinds of files by their extensions."""


@dataclass(frozen=True, slots=True)
class PlanScores:
    """One reply beside its label."""

    rouge_1: float = 0.0
    rouge_2: float = 0.0
    node: Overlap = NOTHING
    edge: Overlap = NOTHING
    name: Overlap = NOTHING
    value: Overlap = NOTHING
    f1: Callable[[Overlap], float] = field(default=lambda overlap: overlap.f1)
    """F1 of one sample."""
    similarity: float | None = None
    """Of the sequence of tools; only the original has it."""
    fault: str = ""
    """Why there is no plan to compare; empty where there is one."""
    counts: tuple[bool, bool, bool] = (True, True, True)
    """Whether the original counts the sample for steps, for arguments, and for all else. The averages of arguments leave
    out what the last leaves out: the second is only printed."""
    raised: str = ""
    """What the published evaluator raises on the reply; empty where it does not."""


ScoreReply = Callable[[str, ToolPlan, Library], PlanScores]
"""Text of a reply, label, tools."""

_EXTENSIONS = {kind: re.compile(rf"\.(?:{endings.replace(' ', '|')})") for kind, endings in MEDIA.items()}


def f1_or_equal(overlap: Overlap) -> float:
    """F1, and 1 where nothing was wanted and nothing predicted (Q1)."""
    return overlap.f1_or_equal


def media_type(text: str) -> str:
    """Kind of file that a text names, by an extension anywhere in it, as both evaluators decide it (Q11)."""
    if "." not in text:
        return "text"
    return next((kind for kind, ending in _EXTENSIONS.items() if ending.search(text)), "text")
