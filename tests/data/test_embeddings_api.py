"""What an endpoint of embeddings is sent, and how its answer is read: by scores and by retrievers alike."""

from typing import Any

import pytest

from wildtool.data.embeddings_api import embeddings_body, read_embeddings


def test_an_empty_text_is_sent_as_a_blank():
    assert embeddings_body("m", ["a", ""]) == {"model": "m", "input": ["a", " "]}


@pytest.mark.parametrize(
    "data",
    [
        [{"index": 1, "embedding": [3]}, {"index": 0, "embedding": [1.5, 2]}],
        [{"embedding": [1.5, 2]}, {"embedding": [3]}],
    ],
)
def test_vectors_are_in_the_order_of_their_texts(data: Any):
    assert read_embeddings({"data": data}) == [[1.5, 2.0], [3.0]]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        {"data": []},
        {"data": "x"},
        {"data": [{"embedding": []}]},
        {"data": [{"embedding": "abc"}]},
        {"data": [{"embedding": [1, "2"]}]},
        {"data": [{"embedding": [True]}]},
        {"data": [{"embedding": [float("nan")]}]},
        {"data": [{"embedding": [10**400]}]},
        {"data": [None]},
    ],
)
def test_an_answer_without_numbers_is_refused(answer: Any):
    with pytest.raises(ValueError, match="holds no embeddings"):
        read_embeddings(answer)
