"""What baselines search: the gold answers of a request whose tools are behind a search, and policies of known recall.

A baseline asks for gold answers in a style. Those of the benchmark search for each tool before they call it.
`searcher SHARE SEED` finds a tool with this probability and gives up otherwise; `first-found` searches for the user's
words and calls the first tool found.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from wildtool.alter.distractors.pool import tool_text
from wildtool.alter.distractors.retrieval import user_texts
from wildtool.alter.expose.search.finding import ToolFinder
from wildtool.alter.expose.search.settings import FUSED, SearchSettings
from wildtool.draws import seeded_draw
from wildtool.episode import GOLD_STYLE
from wildtool.toolcall.retrieval import BM25, search_words
from wildtool.types import Message, Tool

SEARCHER, FIRST_FOUND = "searcher", "first-found"
"""Styles of gold answers, the first followed by recall and seed."""
NOT_FOUND: Message = {"role": "assistant", "content": "I found no tool that can do this."}
"""What a policy says that found nothing."""
_LETTERS = "bcdfghjklmnpqrstvwxz"
_LENGTH = 12
"""Letters of a query that no tool holds."""
_SHORTEST_WORD = 4
"""Letters of the shortest word of a user that becomes part of a pattern."""


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """How a baseline searches."""

    style: str
    """Of the gold answers of the benchmark."""
    recall: float = 1.0
    """Probability that it searches for a needed tool so that it is found, for retrievers that go by words."""
    seed: str = "0"
    takes_first: bool = False
    """Whether it calls the first tool found for the user's words."""

    @classmethod
    def of(cls, style: str) -> Self:
        """The policy of a style of gold answers."""
        match style.split():
            case [word, recall, seed] if word == SEARCHER:
                return cls(GOLD_STYLE, float(recall), seed)
            case [word] if word == FIRST_FOUND:
                return cls(GOLD_STYLE, takes_first=True)
            case _:
                return cls(style)

    def queries(self, settings: SearchSettings, finder: ToolFinder, tool: Tool, place: str) -> list[str]:
        """What it searches to find a tool, one after another until it is found.

        Args:
            place: names the unit and the tool, for draws.
        """
        name = str(tool["function"]["name"])
        draw = seeded_draw(f"{self.seed} {place} {name}")
        if draw.random() >= self.recall:
            return ["".join(draw.choices(_LETTERS, k=_LENGTH))]
        if settings.is_pattern:
            return [f"^{re.escape(name)}$"[: settings.longest_query]]
        by_words = settings.retriever in (BM25, FUSED)
        text = finder.text_of(tool) if by_words else tool_text(tool)
        return [text[: settings.longest_query], name[: settings.longest_query]]


def query_of_user(settings: SearchSettings, messages: Sequence[Message]) -> str:
    """The user's last text as a query; for patterns any of its longer words."""
    texts = user_texts(messages)
    text = texts[-1] if texts else ""
    if not settings.is_pattern:
        return text[: settings.longest_query]
    pattern = ""
    for word in search_words(text):
        longer = f"{pattern}|{word}" if pattern else f"(?i){word}"
        if len(word) >= _SHORTEST_WORD and len(longer) <= settings.longest_query:
            pattern = longer
    return pattern
