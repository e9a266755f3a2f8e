"""Embeddings of texts, of OpenAI and every compatible server."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wildtool.data.embeddings_api import EMBEDDINGS_PATH, embeddings_body, read_embeddings
from wildtool.errors import CallError
from wildtool.json_codec import as_object
from wildtool.models.http.streams import BrokenStreamError
from wildtool.models.providers.base import HttpModel, WireRequest
from wildtool.types import Reply, Request

_VECTORS = "embeddings"


class EmbeddingsModel(HttpModel):
    """A model at `POST {base_url}/embeddings`. Each message of a request is one text."""

    path = EMBEDDINGS_PATH
    reserved = ("model", "input", "encoding_format")
    has_seed = False
    names_end = False

    async def embed(self, texts: Sequence[str]) -> tuple[list[list[float]], Reply]:
        """The vector of each text, and the reply with its usage. Raises CallError."""
        reply = await self.complete(Request([{"role": "user", "content": text} for text in texts]))
        vectors: list[list[float]] = reply.message[_VECTORS]
        if len(vectors) != len(texts):
            raise CallError(
                "wrong shape", f"{self.name}: {len(vectors)} vectors for {len(texts)} texts", final=True
            )
        if not all(map(any, vectors)):
            message = f"{self.name}: a vector of zeros, which is as near to one text as to any other"
            raise CallError("wrong shape", message, final=True)
        return vectors, reply

    def build(self, request: Request) -> WireRequest:
        texts = [message.get("content") for message in request.messages]
        return WireRequest(embeddings_body(self._model, texts))

    def parse(self, parsed: Any, request: WireRequest) -> Reply | None:
        """The vectors in the order of their texts."""
        try:
            vectors = read_embeddings(parsed)
        except ValueError:
            return None
        return Reply(
            {"role": "assistant", "content": None, _VECTORS: vectors},
            usage=as_object(as_object(parsed).get("usage")),
        )

    @staticmethod
    def join_stream(parts: Iterable[Any]) -> Any:
        """Nothing: embeddings are not streamed, whatever a server sends."""
        raise BrokenStreamError("the answer is a stream, which embeddings never are")

    def sampling(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing: embeddings are not sampled."""
        return {}

    def settings(self) -> Mapping[str, Any]:
        return {**super().settings(), "api": _VECTORS}
