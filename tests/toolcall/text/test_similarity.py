"""Near duplicates are found without comparing each text with each, and exactly those that comparing all would find."""

from collections import Counter
from collections.abc import Iterator
from math import log, sqrt
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from long import a_fiftieth_of
from wildtool.toolcall.text import similarity as module
from wildtool.toolcall.text.similarity import (
    NEAR_DUPLICATE,
    NearDuplicate,
    NearDuplicateIndex,
    TfidfIndex,
    features,
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


@pytest.mark.long
@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("block", [7, 4096])
@settings(max_examples=a_fiftieth_of(500), deadline=None)
@given(seed=st.integers(0, 1 << 32), longest=st.sampled_from([3, 14, 40, 130]))
def test_the_same_texts_are_found_as_by_comparing_all(alphabet: str, block: int, seed: int, longest: int):
    draw = Random(seed)
    texts = ["".join(draw.choices(alphabet, k=draw.randrange(longest + 1))) for _ in range(12)]
    texts += [edited(draw.choice(texts), draw, alphabet) for _ in range(24)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
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


def test_only_few_texts_are_compared(monkeypatch: pytest.MonkeyPatch):
    draw = Random(5)
    words = ["".join(draw.choices("abcdefghijklmnop", k=6)) for _ in range(80)]
    texts = ["please tell me about " + " ".join(draw.choices(words, k=7)) for _ in range(1000)]
    compared = 0

    def ratio(a: str, b: str, *, score_cutoff: float) -> float:
        nonlocal compared
        compared += 1
        return fuzz.ratio(a, b, score_cutoff=score_cutoff)

    monkeypatch.setattr(module, "fuzz", type("Counted", (), {"ratio": staticmethod(ratio)}))
    assert found(texts) == []
    # Another number is another speed.
    assert compared == 237


@pytest.mark.parametrize("above", [60, 80, NEAR_DUPLICATE])
def test_longer_and_shorter_texts_are_near_alike(above: float):
    draw = Random(above)
    for longest in (3, 14, 60):
        texts = ["".join(draw.choices("abc ", k=draw.randrange(longest + 1))) for _ in range(15)]
        texts += [edited(draw.choice(texts), draw, "abc ") for _ in range(15)]
        index = NearDuplicateIndex(above)
        for text in texts:
            index.add(text)
        for text in [*texts, *(edited(text, draw, "abc ") for text in texts)]:
            ratios = {number: fuzz.ratio(text, other) for number, other in enumerate(texts)}
            assert dict(index.near(text)) == {k: ratio for k, ratio in ratios.items() if ratio > above}


def defined_vectors(texts: list[str]) -> list[dict[str, float]]:
    """Unit vectors with the weights (1 + log n) log(1 + N / n_f)."""
    counts = [Counter(features(text)) for text in texts]
    spread = Counter(feature for count in counts for feature in count)
    vectors = [
        {f: (1 + log(n)) * log(1 + len(texts) / spread[f]) for f, n in count.items()} for count in counts
    ]
    lengths = [sqrt(sum(weight * weight for weight in vector.values())) for vector in vectors]
    return [
        {f: weight / length for f, weight in vector.items()}
        for vector, length in zip(vectors, lengths, strict=True)
    ]


def test_the_texts_most_alike_are_those_of_the_largest_cosines():
    draw = Random(7)
    words = ["".join(draw.choices("bcdfg", k=5)) for _ in range(40)]
    texts = ["", *(" ".join(draw.choices(words, k=draw.randrange(1, 9))) for _ in range(80))]
    texts[9] = texts[4]
    index, vectors = TfidfIndex(texts), defined_vectors(texts)
    for place in (0, 4, 9, 33):
        cosines = [sum(w * vector.get(f, 0) for f, w in vectors[place].items()) for vector in vectors]
        order = sorted(range(len(texts)), key=lambda k: (-round(cosines[k], 9), k))
        order = [k for k in order if k != place and cosines[k] > 0]
        for count, minimum in ((1, 0.0), (5, 0.0), (5, 0.4), (40, 0.0), (70, 0.2)):
            nearest = index.nearest(place, count, minimum)
            assert nearest == [(k, pytest.approx(cosines[k])) for k in order[:count] if cosines[k] >= minimum]
            for k, value in nearest:
                assert index.similarity(place, k) == index.similarity(k, place) == value <= 1
