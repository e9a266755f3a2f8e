"""Retrievers answer with names; that by embeddings embeds its documents once, and keeps what it has when a call fails."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from faults.server import Answer, FaultServer, http
from wildtool.errors import CallError
from wildtool.models.providers.embeddings import EmbeddingsModel
from wildtool.models.providers.ranker import as_ranker
from wildtool.models.retrievers import Bm25Retriever, EmbeddingRetriever
from wildtool.types import Reply, Request

DOCUMENTS = {"getTide": "tide tide", "bookBoat": "boat", "sayHello": "hello"}
WORDS = ("tide", "boat", "hello")


class Embedding(FaultServer):
    """Counts words; the last vectors first, to be put in order by their index."""

    failing = 0
    streaming = False
    usage: Any = None
    zeros = False

    def answer(self, head: bytes, body: bytes) -> Answer:
        assert head.startswith(b"POST /v1/embeddings ")
        texts = json.loads(body)["input"]
        self.bodies.append(body)
        if self.failing:
            self.failing -= 1
            return Answer(http(500, b"{}"))
        if self.streaming:
            return Answer(http(200, b'data: {"data": []}\n\n'))
        data = [
            {"index": n, "embedding": [text.count(word) + 0.1 for word in WORDS]}
            for n, text in enumerate(texts)
        ]
        if self.zeros:
            data = [{"index": n, "embedding": [0.0, 0.0]} for n in range(len(texts))]
        answer: dict[str, Any] = {
            "data": data[::-1],
            "usage": self.usage or {"prompt_tokens": len(texts)},
        }
        return Answer(http(200, json.dumps(answer).encode()))


def asked(text: str) -> Request:
    return Request([{"role": "user", "content": text}], role="retriever")


async def test_bm25_answers_with_names():
    retriever = Bm25Retriever(DOCUMENTS, 1)
    reply = await retriever.complete(asked("a boat please"))
    assert json.loads(reply.message["content"]) == ["bookBoat"]
    assert retriever.settings()["top_k"] == 1


async def test_documents_are_embedded_once_and_reported_with_the_first_reply():
    async with Embedding() as server:
        retriever = EmbeddingRetriever(EmbeddingsModel("e", server.base_url), DOCUMENTS, 2)
        first = await retriever.complete(asked("boat"))
        second = await retriever.complete(asked("tide"))
        await retriever.close()
    assert [json.loads(r.message["content"])[0] for r in (first, second)] == ["bookBoat", "getTide"]
    assert [json.loads(body)["input"] for body in server.bodies] == [
        [*DOCUMENTS.values()],
        ["boat"],
        ["tide"],
    ]
    assert [reply.usage["prompt_tokens"] for reply in (first, second)] == [4, 1]


async def test_a_failed_call_is_tried_again_by_the_next():
    async with Embedding() as server:
        retriever = EmbeddingRetriever(EmbeddingsModel("e", server.base_url), DOCUMENTS, 1)
        server.failing = 1
        with pytest.raises(CallError):
            await retriever.complete(asked("boat"))
        assert json.loads((await retriever.complete(asked("boat"))).message["content"]) == ["bookBoat"]
        await retriever.close()


async def test_a_stream_is_no_embedding():
    async with Embedding() as server:
        retriever = EmbeddingRetriever(EmbeddingsModel("e", server.base_url), DOCUMENTS, 1)
        server.streaming = True
        with pytest.raises(CallError, match="the answer is a stream"):
            await retriever.complete(asked("boat"))
        await retriever.close()


@pytest.mark.parametrize("count", ["5", -5, 2.5, 10**30, None])
async def test_nonsense_for_a_count_of_tokens_is_no_count(count: Any):
    async with Embedding() as server:
        server.usage = {"prompt_tokens": count}
        found = as_ranker(EmbeddingsModel("e", server.base_url))
        documents = [{"name": name, "content": text} for name, text in DOCUMENTS.items()]
        ranked = await found.complete(Request([{"role": "user", "content": "boat"}, *documents]))
        retriever = EmbeddingRetriever(EmbeddingsModel("e", server.base_url), DOCUMENTS, 1)
        retrieved = await retriever.complete(asked("boat"))
        await asyncio.gather(found.close(), retriever.close())
    for reply in (ranked, retrieved):
        assert json.loads(reply.message["content"])[0] == "bookBoat"
        assert reply.usage == {}


async def test_vectors_of_zeros_find_nothing():
    async with Embedding() as server:
        server.zeros = True
        retriever = EmbeddingRetriever(EmbeddingsModel("e", server.base_url), DOCUMENTS, 1)
        with pytest.raises(CallError, match="a vector of zeros"):
            await retriever.complete(asked("boat"))
        await retriever.close()


async def test_a_request_without_text_is_refused():
    with pytest.raises(CallError, match="one text"):
        await Bm25Retriever(DOCUMENTS, 1).complete(Request([]))


def test_the_settings_say_what_is_asked_and_how_many():
    settings = EmbeddingRetriever(EmbeddingsModel("e", "http://127.0.0.1:1/v1"), DOCUMENTS, 3).settings()
    assert (settings["api"], settings["top_k"], settings["base_url"]) == (
        "embeddings",
        3,
        "http://127.0.0.1:1/v1",
    )


class Counting(EmbeddingsModel):
    """Embeds without an endpoint: a vector of counts, or of one number less; notes what it was asked."""

    def __init__(self, width: int = 3) -> None:
        super().__init__("e", "http://127.0.0.1:1/v1")
        self.width, self.asked, self.closed = width, list[list[str]](), False

    async def embed(self, texts: Sequence[str]) -> Any:
        self.asked.append([*texts])
        width = self.width if len(self.asked) > 1 else 3
        vectors = [[text.count(word) + 0.1 for word in WORDS][:width] for text in texts]
        return vectors, Reply({}, usage={"prompt_tokens": 10 * len(texts)}, latency_s=0.5)

    async def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("count", "problem"),
    [(3, "a vector of 2 numbers; the others have 3"), (129, "the vectors are not of one length")],
)
async def test_vectors_that_do_not_fit_are_an_error_for_good(count: int, problem: str):
    documents = {f"d{number}": "tide" for number in range(count)}
    with pytest.raises(CallError) as raised:
        await EmbeddingRetriever(Counting(width=2), documents, 1).complete(asked("tide"))
    assert (raised.value.kind, raised.value.final, str(raised.value)) == (
        "wrong shape",
        True,
        f"e: {problem}",
    )
