"""Search by words follows BM25's definition, and search by vectors the cosine."""

import math
from itertools import pairwise
from random import Random

import pytest

from wildtool.toolcall.retrieval import Bm25, Vectors, search_words

TEXTS = {
    "getTide": "tide of a harbour",
    "bookBoat": "book a boat in a harbour, a boat with sails",
    "sayHello": "hello",
}


def defined_scores(query: str, documents: dict[str, list[str]]) -> dict[str, float]:
    """Okapi BM25 of the texts that share a word with a query, written out as in its definition."""
    mean = sum(map(len, documents.values())) / len(documents)
    scores: dict[str, float] = {}
    for word in search_words(query):
        holding = sum(word in words for words in documents.values())
        rarity = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for name, words in documents.items():
            count, norm = words.count(word), 1.5 * (0.25 + 0.75 * len(words) / mean)
            if count:
                scores[name] = scores.get(name, 0.0) + rarity * count * 2.5 / (count + norm)
    return scores


def test_texts_come_in_the_order_of_their_bm25_scores():
    draw = Random(1)
    for _ in range(200):
        documents = {f"t{k}": draw.choices("abcdefgh", k=draw.randrange(1, 12)) for k in range(8)}
        query = " ".join(draw.choices("abcdefgh", k=4))
        scores = defined_scores(query, documents)
        names = Bm25({name: " ".join(words) for name, words in documents.items()}).search(query, 9)
        assert sorted(names) == sorted(scores)
        assert all(scores[name] > scores[after] - 1e-9 for name, after in pairwise(names))


def test_only_the_best_k_are_found():
    assert Bm25(TEXTS).search("a harbour tide", 1) == ["getTide"]


def test_equal_texts_keep_their_order():
    assert Bm25({"b": "same", "a": "same"}).search("same", 2) == ["b", "a"]
    # Whichever is met first, by the order of the query's words.
    assert Bm25({"b": "one", "a": "two"}).search("two one", 2) == ["b", "a"]


@pytest.mark.parametrize("query", ["", "nothing shared", "!"])
def test_a_query_without_a_shared_word_finds_nothing(query: str):
    assert Bm25(TEXTS).search(query, 3) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("getHealthData", ["get", "health", "data"]),
        ("HTTPServer get_v2", ["http", "server", "get", "v", "2"]),
        ("天气 now", ["天", "气", "now"]),
    ],
)
def test_names_are_cut_into_words(text: str, words: list[str]):
    assert search_words(text) == words


def test_vectors_are_found_by_their_angle_not_their_length():
    vectors = Vectors([("long", [9.0, 1.0]), ("near", [0.1, 0.1]), ("far", [0.0, 5.0])])
    assert vectors.search([2.0, 2.0], 3) == ["near", "long", "far"]
    assert vectors.search([2.0, 2.0], 2) == ["near", "long"]
    assert vectors.size == 2


def test_vectors_of_another_length_are_refused():
    with pytest.raises(ValueError, match="one length"):
        Vectors([("a", [1.0]), ("b", [1.0, 2.0])])
    with pytest.raises(ValueError, match=r"^a vector of 1 numbers; the others have 2$"):
        Vectors([("a", [1.0, 2.0])]).search([1.0], 1)
    with pytest.raises(ValueError, match=r"^a vector of 1 numbers; the others have 0$"):
        Vectors([]).search([1.0], 1)
