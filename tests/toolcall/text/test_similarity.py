"""Near duplicates: exactly those that comparing each text with each would find."""

from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz, process

from wildtool.toolcall.text import similarity as module
from wildtool.toolcall.text.similarity import (
    NEAR_DUPLICATE,
    NearDuplicate,
    NearDuplicateIndex,
    near_duplicates,
)


def by_comparing_all(texts: list[str]) -> Iterator[NearDuplicate]:
    rows = sorted(
        ((" ".join(t.casefold().split()), str(k)) for k, t in enumerate(texts)), key=lambda r: len(r[0])
    )
    for i, (text, place) in enumerate(rows):
        for other, earlier in rows[:i]:
            similarity = fuzz.ratio(text, other)
            if similarity > NEAR_DUPLICATE:
                yield NearDuplicate(place, earlier, similarity)
                break


def found(texts: list[str]) -> list[NearDuplicate]:
    return list(near_duplicates((text, str(k)) for k, text in enumerate(texts)))


def edited(text: str, draw: Random, alphabet: str) -> str:
    """The text with up to a tenth of its characters changed, left out or put in."""
    characters = list(text)
    for _ in range(draw.randrange(len(text) // 10 + 2)):
        at = draw.randrange(len(characters) + 1)
        characters[at : at + draw.randrange(2)] = draw.choices(alphabet, k=draw.randrange(2))
    return "".join(characters)


ALPHABETS = [
    "ab",
    "abcdefghijklmnopqrstuvwxyz     ",
    "请帮我查一下北京上海的天气和明天的航班，谢谢",
    "Aa ß\tİ\ud800😀é",
]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 32), longest=st.sampled_from([3, 14, 40, 130]))
def test_the_same_texts_are_found_as_by_comparing_all(alphabet: str, seed: int, longest: int):
    draw = Random(seed)
    texts = ["".join(draw.choices(alphabet, k=draw.randrange(longest + 1))) for _ in range(12)]
    texts += [edited(draw.choice(texts), draw, alphabet) for _ in range(24)]
    assert found(texts) == list(by_comparing_all(texts))


def test_texts_at_the_edge_of_likeness_are_told_apart():
    text = "x" * 25 + "y" * 25
    four_of_fifty, three_of_fifty = "z" * 4 + text[4:], "z" * 3 + text[3:]
    assert fuzz.ratio(text, four_of_fifty) == NEAR_DUPLICATE
    assert [(n.place, n.earlier) for n in found([text, four_of_fifty])] == []
    assert [(n.place, n.earlier) for n in found([text, three_of_fifty])] == [("1", "0")]


def test_edits_spread_over_a_text_hide_no_duplicate():
    text = "".join(Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=200))
    spread = "".join("" if k % 14 == 3 else c for k, c in enumerate(text))
    assert [near.place for near in found([text, spread])] == ["0"]


def test_only_texts_of_like_length_are_compared(monkeypatch: pytest.MonkeyPatch):
    draw = Random(5)
    texts = ["".join(draw.choices("abcdefghijklmnop", k=length)) for length in range(20, 1020)]
    compared: list[tuple[str, str]] = []

    def extract_iter(text: str, others: list[str], **options: Any) -> Iterator[tuple[str, float, int]]:
        compared.extend((text, other) for other in others)
        return process.extract_iter(text, others, **options)

    monkeypatch.setattr(module, "process", SimpleNamespace(extract_iter=extract_iter))
    assert found(texts) == []
    assert compared
    assert all(len(other) >= len(text) * 92 / 108 - 1 for text, other in compared)


def test_the_oldest_texts_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_FORGET_EVERY", 4)
    index = NearDuplicateIndex(NEAR_DUPLICATE, remembered=2)
    texts = ["alpha alpha", "bravo bravo", "gamma gamma", "delta delta"]
    for text in texts:
        index.add(text)
    assert [index.first_near(text) for text in texts] == [None, None, (2, 100), (3, 100)]
