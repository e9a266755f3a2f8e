"""Which tools a text asks for: clauses, idf-weighted overlap of words, and the wishes that come out of it."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from wildtool.models.baselines.lexical.reading import OfferedTool
from wildtool.models.baselines.lexical.values import QUOTED, glosses
from wildtool.models.baselines.lexical.words import words

NAME, ENUM, DESCRIPTION, DETAIL = 2.0, 1.5, 1.0, 0.3
"""Weights of a word by where the tool has it."""
THRESHOLD = 1.3
"""Overlap from which words ask for a tool: a word of its name does, one of its description does not."""

_BREAK = re.compile(
    r"[.!?](?=\s|$)|[;\n。！？；，,：:](?!\d)|\b(?:then|also|plus|and|but|once|afterwards)\b|然后|另外|再|顺便|还有|以及|同时",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool that the user's text asks for, and the part of the text that does."""

    tool: OfferedTool
    text: str


class ToolIndex:
    """Word weights of the offered tools, of which there is at least one."""

    def __init__(self, tools: Sequence[OfferedTool]) -> None:
        self.tools = tools
        self._weights = [_weights(tool) for tool in tools]

    def best(self, text: str) -> tuple[OfferedTool, float]:
        """The tool with the largest overlap (the first of equals) and that overlap."""
        # In order of mention: a set would add up in another order in another process.
        found = dict.fromkeys(words(text))
        scores = [
            sum(self._idf(word) * weights[word] for word in found if word in weights)
            for weights in self._weights
        ]
        best = max(range(len(scores)), key=scores.__getitem__)
        return self.tools[best], scores[best]

    def _idf(self, word: str) -> float:
        """1 for a word that one tool alone has, less for one that many have; mere details do not count."""
        holders = sum(weights.get(word, 0.0) > DETAIL for weights in self._weights) or 1
        return math.log(1 + (len(self.tools) + 1) / (holders + 0.5)) / math.log(
            1 + (len(self.tools) + 1) / 1.5
        )


def _weights(tool: OfferedTool) -> dict[str, float]:
    first, _, rest = tool.description.partition(". ")
    # What follows the first sentence is often what the tool does not do.
    texts = [(tool.name, NAME), (first, DESCRIPTION), (rest, DETAIL)]
    for parameter in tool.parameters:
        texts += [(parameter.name, DETAIL), (parameter.description, DETAIL)]
        for member in parameter.members:
            texts += [(name, ENUM) for name in (str(member), *glosses(str(member), parameter.description))]
    weights: dict[str, float] = {}
    for text, weight in texts:
        for word in words(text):
            weights[word] = max(weights.get(word, 0.0), weight)
    return weights


def wishes(index: ToolIndex, text: str) -> list[Wish]:
    """The tools a text asks for, in order of mention; a clause without one belongs to the wish before it."""
    found: list[Wish] = []
    lead = ""
    for clause in _clauses(text):
        tool, score = index.best(clause)
        if found and (score < THRESHOLD or found[-1].tool is tool):
            found[-1] = Wish(found[-1].tool, found[-1].text + clause)
        elif score < THRESHOLD:
            lead += clause
        else:
            found.append(Wish(tool, lead + clause))
            lead = ""
    return found


def _clauses(text: str) -> list[str]:
    """Parts of a text that may each hold a wish; what stands in quotes is never cut."""
    quoted = [match.span() for match in QUOTED.finditer(text)]
    cuts = [m.start() for m in _BREAK.finditer(text) if not any(a < m.start() < b for a, b in quoted)]
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
