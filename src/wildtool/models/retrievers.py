"""Retrievers: sent a text, they answer with the names of the documents that fit it best, as a JSON list."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from wildtool.errors import CallError
from wildtool.models.providers.embeddings import EmbeddingsModel
from wildtool.models.token_usage import token_usage
from wildtool.toolcall.retrieval import BM25, LENGTH_WEIGHT, SATURATION, Bm25, Vectors
from wildtool.types import Message, Model, Reply, Request

DEFAULT_TOP_K = 5
"""Documents that are found by default: as many tools as benchmarks show beside the gold ones."""
TEXTS_PER_CALL = 128
"""Documents that one call embeds."""


class Bm25Retriever:
    """Finds documents by their words, in this process."""

    name = BM25

    def __init__(self, documents: Mapping[str, str], top_k: int) -> None:
        self._documents, self._top_k = documents, top_k
        self._index: Bm25 | None = None

    async def complete(self, request: Request) -> Reply:
        """The names. Raises CallError if the request holds no text."""
        query = _query(request)
        if self._index is None:
            self._index = Bm25(self._documents)
        return Reply(_names_message(self._index.search(query, self._top_k)))

    async def close(self) -> None:
        """Nothing is open."""

    def settings(self) -> Mapping[str, Any]:
        return {"top_k": self._top_k, "k1": SATURATION, "b": LENGTH_WEIGHT}


class EmbeddingRetriever:
    """Finds documents by the embeddings of an endpoint. All are embedded once, before the first query."""

    def __init__(self, model: EmbeddingsModel, documents: Mapping[str, str], top_k: int) -> None:
        self.name = model.name
        self._model, self._documents, self._top_k = model, documents, top_k
        self._vectors: dict[str, Sequence[float]] = {}
        self._index: Vectors | None = None
        self._indexing = asyncio.Lock()
        self._spent = 0
        """Tokens of documents that no reply has reported yet."""

    async def complete(self, request: Request) -> Reply:
        """The names. Raises CallError if a call failed; documents that are embedded are kept."""
        query = _query(request)
        async with self._indexing:
            index = self._index or await self._embed_documents()
        (vector,), reply = await self._model.embed([query])
        try:
            names = index.search(vector, self._top_k)
        except ValueError as error:
            raise CallError("wrong shape", f"{self.name}: {error}", final=True) from error
        tokens, self._spent = self._spent + token_usage(reply.usage).prompt, 0
        usage = {"prompt_tokens": tokens, "completion_tokens": 0} if tokens else {}
        return Reply(_names_message(names), usage=usage, latency_s=reply.latency_s)

    async def _embed_documents(self) -> Vectors:
        missing = iter([name for name in self._documents if name not in self._vectors])
        while names := list(islice(missing, TEXTS_PER_CALL)):
            vectors, reply = await self._model.embed([self._documents[name] for name in names])
            self._vectors.update(zip(names, vectors, strict=True))
            self._spent += token_usage(reply.usage).prompt
        try:
            self._index = Vectors((name, self._vectors[name]) for name in self._documents)
        except ValueError as error:
            raise CallError("wrong shape", f"{self.name}: {error}", final=True) from error
        self._vectors.clear()
        return self._index

    async def close(self) -> None:
        """Releases the connections."""
        await self._model.close()

    def settings(self) -> Mapping[str, Any]:
        return {**self._model.settings(), "top_k": self._top_k}


def as_retriever(model: Model, documents: Mapping[str, str], top_k: int) -> Model:
    """The model as a retriever: one of embeddings finds documents by them, any other answers as it is."""
    return EmbeddingRetriever(model, documents, top_k) if isinstance(model, EmbeddingsModel) else model


def _query(request: Request) -> str:
    content = request.messages[-1].get("content") if request.messages else None
    if not isinstance(content, str):
        raise CallError("unsendable request", "a retriever is sent one text", final=True)
    return content


def _names_message(names: Sequence[str]) -> Message:
    return {"role": "assistant", "content": json.dumps(list(names), ensure_ascii=False)}
