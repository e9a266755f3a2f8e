"""Ranks documents by their nearness to a query, with a model of embeddings."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import mul
from typing import Any

from wildtool.errors import CallError
from wildtool.models.providers.embeddings import EmbeddingsModel
from wildtool.models.token_usage import token_usage
from wildtool.types import Model, Reply, Request

_TEXTS_PER_CALL = 128


class EmbeddingRanker:
    """Ranks the documents that a request holds behind its query, by the embeddings of an endpoint. Each text is embedded
    once."""

    def __init__(self, model: EmbeddingsModel) -> None:
        self.name = model.name
        self._model = model
        self._vectors: dict[str, Sequence[float]] = {}
        self._embedding = asyncio.Lock()

    async def complete(self, request: Request) -> Reply:
        """The names of the documents, the nearest first. Raises CallError if a call failed; documents that are embedded
        are kept."""
        documents = [(str(each.get("name")), str(each.get("content"))) for each in request.messages[1:]]
        tokens = 0
        async with self._embedding:
            missing = iter(
                [text for text in dict.fromkeys(text for _, text in documents) if text not in self._vectors]
            )
            while texts := list(islice(missing, _TEXTS_PER_CALL)):
                vectors, reply = await self._model.embed(texts)
                self._vectors.update(zip(texts, map(_unit, vectors), strict=True))
                tokens += token_usage(reply.usage).prompt
        (query,), reply = await self._model.embed([str(request.messages[0].get("content"))])
        tokens += token_usage(reply.usage).prompt
        if any(len(self._vectors[text]) != len(query) for _, text in documents):
            raise CallError("wrong shape", f"{self.name}: the vectors are not of one length", final=True)
        nearness = {name: sum(map(mul, query, self._vectors[text])) for name, text in documents}
        names = sorted(nearness, key=lambda name: -nearness[name])
        message = {"role": "assistant", "content": json.dumps(names, ensure_ascii=False)}
        usage = {"prompt_tokens": tokens, "completion_tokens": 0} if tokens else {}
        return Reply(message, usage=usage, latency_s=reply.latency_s)

    async def close(self) -> None:
        """Releases the connections."""
        await self._model.close()

    def settings(self) -> Mapping[str, Any]:
        return self._model.settings()


def as_ranker(model: Model) -> Model:
    """The model as a ranker of documents: one of embeddings ranks by them, any other answers as it is."""
    return EmbeddingRanker(model) if isinstance(model, EmbeddingsModel) else model


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(map(mul, vector, vector)))
    return [number / length for number in vector] if length else list(vector)
