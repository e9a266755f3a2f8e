"""Finds tools for a query of the model: by words, patterns, embeddings, a first pass of the model, or right answers."""

from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from wildtool.alter.distractors.retrieval import (
    FIRST_PASS,
    ranking_request,
    read_names,
    selection_request,
)
from wildtool.alter.expose.outcomes import FaultKind
from wildtool.alter.expose.search.settings import FUSED, PERFECT, REGEX, SearchSettings, ToolField
from wildtool.json_codec import as_object
from wildtool.shapes import tool_name
from wildtool.toolcall.patterns import pattern_occurs
from wildtool.toolcall.retrieval import BM25, Bm25
from wildtool.types import Message, Request, Tool

_RANKED = 100
"""Tools of each of two rankings that are fused."""
_RANK_CONSTANT = 60
"""Added to each rank, so that the first places do not decide alone (reciprocal rank fusion, Cormack and others 2009)."""


class SearchError(Exception):
    """A search that cannot be carried out; its text is what the model is answered."""

    def __init__(self, text: str, kind: FaultKind = "search failed") -> None:
        super().__init__(text)
        self.kind: FaultKind = kind


def field_texts(tool: Tool) -> Mapping[ToolField, list[str]]:
    """The texts of each field of a tool; of parameters the outermost."""
    function = as_object(tool.get("function"))
    parameters = as_object(as_object(function.get("parameters")).get("properties"))
    described = [as_object(each).get("description") for each in parameters.values()]
    return {
        "name": [tool_name(tool)],
        "description": _texts([function.get("description")]),
        "parameters": list(parameters),
        "parameter-descriptions": _texts(described),
    }


def _texts(values: Sequence[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


class ToolFinder:
    """Finds tools by the settings of a search. It keeps an index of the tools that it was last sent."""

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings
        self._indexed: tuple[Sequence[Tool], Bm25 | None] = (), None

    def find(
        self, request: Request, query: str, limit: int, needed: Sequence[str]
    ) -> Generator[Request, Message, list[str]]:
        """Names of the tools that are found, the best first; asks a model where its retriever is one.

        Args:
            request: whose tools are searched.
            limit: most tools that are found.
            needed: names that right answers call next.

        Raises SearchError for a query that cannot be sought.
        """
        # A tool without a name can neither be found nor called.
        retriever, tools = self._settings.retriever, list(filter(tool_name, request.tools))
        if retriever == PERFECT:
            return list(needed[:limit])
        if retriever == REGEX:
            return self._matching(tools, query)[:limit]
        if retriever == BM25:
            return self._by_words(tools, query, limit)
        offered = list(map(tool_name, tools))
        if retriever == FIRST_PASS:
            asked = Request([{"role": "user", "content": query}], gold=request.gold)
            reply = yield selection_request(asked, tools, limit, needed)
            return read_names(reply, offered)[:limit]
        ranked = read_names((yield ranking_request(query, tools, needed)), offered)
        if retriever == FUSED:
            ranked = fused(self._by_words(tools, query, _RANKED), ranked[:_RANKED])
        return ranked[:limit]

    def text_of(self, tool: Tool) -> str:
        """What words are sought in."""
        return " ".join(self._texts(tool))

    def _texts(self, tool: Tool) -> list[str]:
        """The texts of the fields that are searched."""
        texts = field_texts(tool)
        return [text for field in self._settings.fields for text in texts[field]]

    def _by_words(self, tools: Sequence[Tool], query: str, limit: int) -> list[str]:
        indexed, index = self._indexed
        if index is None or indexed != tools:
            index = Bm25({tool_name(tool): self.text_of(tool) for tool in tools})
            self._indexed = tools, index
        return index.search(query, limit)

    def _matching(self, tools: Sequence[Tool], pattern: str) -> list[str]:
        """Names of the tools with a match in one of their fields, in order: a pattern has no better and worse ones."""
        names: list[str] = []
        try:
            for tool in tools:
                if any(pattern_occurs(pattern, text) for text in self._texts(tool)):
                    names.append(tool_name(tool))
        except ValueError as error:
            raise SearchError(f"the pattern cannot be read: {error}") from error
        return names


def fused(*rankings: Sequence[str]) -> list[str]:
    """Names by the sum of their reciprocal ranks, the best first; of equal ones the first of the first ranking."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, name in enumerate(ranking):
            scores[name] += 1 / (_RANK_CONSTANT + rank)
    return sorted(scores, key=lambda name: -scores[name])
