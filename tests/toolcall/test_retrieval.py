"""Search by words follows BM25's definition, and search by vectors the cosine."""

import math

import pytest

from wildtool.toolcall.retrieval import LENGTH_WEIGHT, SATURATION, Bm25, Vectors, search_words

TEXTS = {
    "getTide": "tide of a harbour",
    "bookBoat": "book a boat in a harbour, a boat with sails",
    "sayHello": "hello",
}


def defined_score(query: str, name: str) -> float:
    """Okapi BM25, written out as in its definition."""
    documents = {each: search_words(text) for each, text in TEXTS.items()}
    mean = sum(map(len, documents.values())) / len(documents)
    score = 0.0
    for word in search_words(query):
        holding = sum(word in words for words in documents.values())
        rarity = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        count, length = documents[name].count(word), len(documents[name])
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean)
        score += rarity * count * (SATURATION + 1) / (count + norm) if count else 0.0
    return score


@pytest.mark.parametrize(
    "query", ["a boat", "harbour tide", "hello boat", "a a a", "sails of a harbour boat"]
)
def test_texts_come_in_the_order_of_their_bm25_scores(query: str):
    scores = {name: defined_score(query, name) for name in TEXTS}
    expected = [name for name in sorted(TEXTS, key=lambda name: -scores[name]) if scores[name] > 0]
    assert Bm25(TEXTS).search(query, 3) == expected


def test_only_the_best_k_are_found():
    assert Bm25(TEXTS).search("a harbour tide", 1) == ["getTide"]


def test_equal_texts_keep_their_order():
    assert Bm25({"b": "same", "a": "same"}).search("same", 2) == ["b", "a"]


@pytest.mark.parametrize("query", ["", "nothing shared", "!"])
def test_a_query_without_a_shared_word_finds_nothing(query: str):
    assert Bm25(TEXTS).search(query, 3) == []


def test_no_texts_are_searched_too():
    assert Bm25({}).search("a", 3) == []


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


def test_vectors_of_another_length_are_refused():
    with pytest.raises(ValueError, match="one length"):
        Vectors([("a", [1.0]), ("b", [1.0, 2.0])])
    with pytest.raises(ValueError, match="of 1 numbers"):
        Vectors([("a", [1.0, 2.0])]).search([1.0], 1)
