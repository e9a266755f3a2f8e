"""Embeddings are asked for and read, and rank documents by their nearness to a query."""

import json
from typing import Any

from models.asking import model
from wildtool.models.providers.embeddings import EmbeddingsModel
from wildtool.models.providers.ranker import as_ranker
from wildtool.types import Reply, Request


class Vectors(EmbeddingsModel):
    def __init__(self, vectors: dict[str, list[float]]) -> None:
        super().__init__("e", "http://127.0.0.1:1/v1")
        self.vectors, self.asked, self.closed = vectors, list[list[str]](), False

    async def embed(self, texts: Any) -> Any:
        self.asked.append([*texts])
        return [self.vectors[text] for text in texts], Reply({}, usage={"prompt_tokens": 2}, latency_s=0.5)

    async def close(self) -> None:
        self.closed = True


def ranked(query: str, *documents: str) -> Request:
    return Request([{"content": query}, *({"name": f"n{text}", "content": text} for text in documents)])


async def test_documents_are_ranked_by_their_angle_to_the_query():
    inner = Vectors({"q": [1.0, 1.0], "a": [9.0, 0.0], "b": [1.0, 1.0], "c": [0.0, 0.0], "r": [1.0, 0.0]})
    ranker = as_ranker(inner)
    first = await ranker.complete(ranked("q", "a", "b", "c"))
    assert first == Reply(
        {"role": "assistant", "content": '["nb", "na", "nc"]'},
        usage={"prompt_tokens": 4, "completion_tokens": 0},
        latency_s=0.5,
    )
    second = await ranker.complete(ranked("r", "b", "a", "b"))
    assert json.loads(second.message["content"]) == ["na", "nb"]
    assert second.usage["prompt_tokens"] == 2
    assert inner.asked == [["a", "b", "c"], ["q"], ["r"]]
    await ranker.close()
    assert (inner.closed, ranker.settings(), ranker.name) == (True, inner.settings(), "e")
    chat = model("chat")
    assert as_ranker(chat) is chat
