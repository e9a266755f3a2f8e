"""Which tools a text asks for: clauses, idf-weighted overlap of words, and the wishes that come out of it."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from wildtool.models.lexical.find import glosses
from wildtool.models.lexical.offered import OfferedTool, parameters_of
from wildtool.models.lexical.reading import as_list, as_object
from wildtool.models.lexical.words import words

NAME, DESCRIPTION, ENUM, PARAMETER, DETAIL = 2.0, 1.0, 1.5, 0.7, 0.3
"""Weights of a word by where the tool has it."""
THRESHOLD = 1.3
"""Overlap from which words ask for a tool: a word of its name does, one of its description does not."""

_BREAK = re.compile(
    r"[.!?](?=\s|$)|[;\n。！？；，,：:](?!\d)|\b(?:and then|then|also|plus|and|but|oh|once|after that|afterwards)\b"
    r"|然后|另外|再|顺便|还有|以及|同时",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"\b(?:don'?t|do not|not yet|no need to|never)\b|(?:先|千万)?(?:别|不要|不用)", re.IGNORECASE
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」")


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool that the user's text asks for, and the part of the text that does."""

    tool: OfferedTool
    text: str


class ToolIndex:
    """Word weights of the offered tools."""

    def __init__(self, tools: Sequence[OfferedTool]) -> None:
        self.tools = tools
        self._weights = [_weights(tool) for tool in tools]
        self._idf: dict[str, float] = {}
        """1 for a word that one tool alone has, less for one that many have."""
        alone = math.log(1 + (len(tools) + 1) / 1.5)
        for word in {word for weights in self._weights for word in weights}:
            # Words that only detail a parameter say little about what a tool does, so they count half here.
            holders = sum(
                1.0 if weights[word] > DETAIL else 0.5 for weights in self._weights if word in weights
            )
            self._idf[word] = math.log(1 + (len(tools) + 1) / (holders + 0.5)) / alone

    def scores(self, text: str) -> list[float]:
        """The overlap of a text with each tool."""
        # In order of mention: a set would add up in another order in another process.
        found = dict.fromkeys(words(text))
        return [
            sum(self._idf[word] * weights[word] for word in found if word in weights)
            for weights in self._weights
        ]

    def best(self, text: str) -> tuple[OfferedTool, float]:
        """The tool with the largest overlap, the first of equals."""
        scores = self.scores(text)
        best = max(range(len(scores)), key=scores.__getitem__)
        return self.tools[best], scores[best]


def _weights(tool: OfferedTool) -> dict[str, float]:
    weights: dict[str, float] = {}

    def add(text: str, weight: float) -> None:
        for word in words(text):
            weights[word] = max(weights.get(word, 0.0), weight)

    add(tool.name, NAME)
    first, _, rest = tool.description.partition(". ")
    add(first, DESCRIPTION)
    # What follows the first sentence is often what the tool does not do.
    add(rest, DETAIL)
    for parameter in tool.parameters:
        add(parameter.name, PARAMETER)
        add(parameter.description, DETAIL)
        for part in (parameter, *parameters_of(parameter.schema)):
            add(part.name, DETAIL)
            for member in (
                *as_list(part.schema.get("enum")),
                *as_list(as_object(part.schema.get("items")).get("enum")),
            ):
                if isinstance(member, str):
                    add(" ".join((member, *glosses(member, part.description))), ENUM)
    return weights


def clauses(text: str) -> list[str]:
    """Parts of a text that may each hold a wish; what stands in quotes is never cut."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    parts: list[str] = []
    start = 0
    for match in _BREAK.finditer(text):
        if not any(a < match.start() < b for a, b in quoted):
            parts.append(text[start : match.start()])
            start = match.start()
    parts.append(text[start:])
    return [part for part in parts if part.strip(" .,;:!?\n。，；：！？")]


def wishes(index: ToolIndex, text: str) -> list[Wish]:
    """The tools a text asks for, in order of mention; a clause without one belongs to the wish before it."""
    found: list[Wish] = []
    lead = ""
    # "don't book anything": the words of a tool, but no wish for it.
    wanted = [clause for clause in clauses(text) if not _REFUSED.search(clause)]
    for clause in wanted:
        tool, score = index.best(clause)
        if score < THRESHOLD or (found and found[-1].tool is tool):
            if found:
                found[-1] = Wish(found[-1].tool, found[-1].text + clause)
            else:
                lead += clause
        else:
            found.append(Wish(tool, lead + clause))
            lead = ""
    if found:
        return found
    whole = "".join(wanted)
    tool, score = index.best(whole)
    return [Wish(tool, whole)] if score >= THRESHOLD else []
