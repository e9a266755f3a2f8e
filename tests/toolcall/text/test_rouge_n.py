"""ROUGE-N and its stemmer give the same numbers as the packages they stand for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

from long import a_fiftieth_of
from wildtool.toolcall.text.porter_stemmer import stem_word
from wildtool.toolcall.text.rouge_n import rouge_1_2, rouge_words

ENDINGS = """
s es ies ied ed eed ing y ly ally bly ation ational izer alism iveness ousness fulness fully logy ology icate
ative alize ical ful ness al ance ence er ic able ible ant ement ment ent sion tion
ou ism ate iti ous ive ize e le ll"""
STEMMER = PorterStemmer()
IRREGULAR = "sky skies dying lying tying news innings outings cannings howe proceed exceed succeed"
words = st.lists(
    st.one_of(
        st.text("abceilnorstuyxw0", min_size=1, max_size=6), st.sampled_from(ENDINGS.split()), st.text("yae", max_size=4)
    ),
    min_size=1,
    max_size=4,
).map("".join)  # fmt: skip


@settings(max_examples=a_fiftieth_of(5_000), deadline=None)
@given(words)
def test_stems_are_those_of_nltk(word: str) -> None:
    assert stem_word(word) == STEMMER.stem(word)


@pytest.mark.parametrize("word", [*IRREGULAR.split(), "ayys", "yyed", "ayying", "syyed", "aed"])
def test_irregular_words_and_runs_of_y_are_those_of_nltk(word: str) -> None:
    assert stem_word(word) == STEMMER.stem(word)


texts = st.one_of(
    st.text(), st.lists(st.sampled_from(["Step", "1:", "book", "booking", "flights", "é"])).map(" ".join)
)


@pytest.mark.parametrize("stem", [True, False])
@settings(max_examples=a_fiftieth_of(1_500), deadline=None)
@given(predicted=texts, gold=texts)
def test_scores_are_those_of_rouge_score(stem: bool, predicted: str, gold: str) -> None:
    expected = RougeScorer(["rouge1", "rouge2"], use_stemmer=stem).score(gold, predicted)
    ours = rouge_1_2(rouge_words(predicted, stem=stem), rouge_words(gold, stem=stem))
    assert ours == pytest.approx((expected["rouge1"].fmeasure, expected["rouge2"].fmeasure), abs=1e-12)
