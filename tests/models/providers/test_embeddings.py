"""Embeddings are asked for and read, and rank documents by their nearness to a query."""

import json
from typing import Any

import pytest

from models.asking import model
from wildtool.errors import CallError
from wildtool.models.providers.embeddings import EmbeddingsModel
from wildtool.models.providers.ranker import as_ranker
from wildtool.models.settings import Sampling
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


async def test_vectors_of_other_lengths_cannot_be_ranked():
    with pytest.raises(CallError) as raised:
        await as_ranker(Vectors({"q": [1.0], "a": [1.0, 2.0]})).complete(ranked("q", "a"))
    assert (raised.value.kind, str(raised.value), raised.value.final) == (
        "wrong shape",
        "e: the vectors are not of one length",
        True,
    )


async def test_many_documents_are_embedded_in_parts():
    inner = Vectors({str(number): [float(number), 1.0] for number in range(130)})
    await as_ranker(inner).complete(ranked("0", *map(str, range(1, 130))))
    assert [len(texts) for texts in inner.asked] == [128, 1, 1]


def test_embeddings_are_read_in_order_or_refused():
    answer = {"data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}], "usage": {"a": 1}}
    inner = EmbeddingsModel("e", "http://127.0.0.1:1/v1")
    wire = inner.build(Request([{"content": "x"}, {"content": "y"}]))
    reply = inner.parse(answer, wire)
    message = {"role": "assistant", "content": None, "embeddings": [[1.0], [2.0]]}
    assert reply == Reply(message, usage={"a": 1})
    assert inner.parse({"data": 5}, wire) is None
    assert inner.settings()["api"] == "embeddings"
    assert wire.fields["input"] == ["x", "y"]


async def test_embeddings_are_asked_for_without_sampling_one_for_each_text():
    class Short(EmbeddingsModel):
        async def complete(self, request: Request) -> Reply:
            asked.extend(json.loads(self.body(request))["input"])
            return Reply({"embeddings": [[1.0]]}, usage={"prompt_tokens": 3})

    asked: list[str] = []
    inner = Short("e", "http://127.0.0.1:1/v1", sampling=Sampling(temperature=0.5, max_tokens=4, seed=1))
    assert await inner.embed(["a"]) == ([[1.0]], Reply({"embeddings": [[1.0]]}, usage={"prompt_tokens": 3}))
    with pytest.raises(CallError) as raised:
        await inner.embed(["b", "c"])
    error = raised.value
    assert (error.kind, str(error), error.final) == ("wrong shape", "e: 1 vectors for 2 texts", True)
    assert asked == ["a", "b", "c"]
    assert json.loads(inner.body(Request([{"content": "x"}]))) == {"model": "e", "input": ["x"]}
    with pytest.raises(CallError) as raised:
        inner._reply(b"data: {}\n\n", inner.build(Request([])))  # pyright: ignore[reportPrivateUsage]
    assert "the answer is a stream, which embeddings never are" in str(raised.value)


async def test_a_ranking_without_counts_has_none():
    class Free(Vectors):
        async def embed(self, texts: Any) -> Any:
            return [self.vectors[text] for text in texts], Reply({}, latency_s=0.5)

    ranking = await as_ranker(Free({"q": [1.0], "é": [1.0]})).complete(ranked("q", "é"))
    assert ranking == Reply({"role": "assistant", "content": '["né"]'}, latency_s=0.5)
    empty = await as_ranker(Free({"q": [1.0]})).complete(ranked("q"))
    assert empty.message["content"] == "[]"
