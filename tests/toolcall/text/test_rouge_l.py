"""ROUGE-L says what the package `rouge` 1.0.1 says, without its recursion."""

import sys
import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.toolcall.text.rouge_l import MAX_ROUGE_CHARACTERS, RougeError, rouge_l_f

WORDS = st.lists(st.sampled_from("abcde"), max_size=9).map(" ".join)
TEXTS = st.lists(WORDS, max_size=3).map(". ".join) | st.text("ab .\n\té", max_size=14)
"""Sentences of few words, so that there are several longest common subsequences; and odd blanks and stops."""


def of_the_package(predicted: str, gold: str) -> float | None:
    """The package's F measure at summary level; None where it raises."""
    rouge = pytest.importorskip("rouge", reason="the package rouge 1.0.1 is needed to compare with")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return rouge.Rouge(metrics=["rouge-l"]).get_scores(predicted, gold)[0]["rouge-l"]["f"]
        except (ValueError, RecursionError):
            return None


def ours(predicted: str, gold: str) -> float | None:
    try:
        return rouge_l_f(predicted, gold)
    except RougeError:
        return None


@settings(max_examples=a_fiftieth_of(3_500), deadline=None)
@given(TEXTS, TEXTS)
@example("a b. c", "c. a b")
@example("a. a b", "b a")
@example(" ", "a")
@example("", "a")
@example("...", "a")
@example("a", "")
def test_score_is_the_packages(predicted: str, gold: str) -> None:
    assert ours(predicted, gold) == of_the_package(predicted, gold)


def test_equal_texts_score_one_less_the_packages_epsilon() -> None:
    assert rouge_l_f("a b", "a b") == 2.0 / (2.0 + 1e-8)


def test_repeated_words_count_once() -> None:
    assert rouge_l_f("a a a b", "a b") == rouge_l_f("a b", "a b")


def test_seven_of_ten_words_stay_below_seven_tenths() -> None:
    assert 0.699 < rouge_l_f("a b c d e f g x y z", "a b c d e f g h i j") < 0.7


@pytest.mark.parametrize("text", ["", ".", "..."])
def test_a_text_without_words_cannot_be_scored(text: str) -> None:
    with pytest.raises(RougeError):
        rouge_l_f(text, "a")
    with pytest.raises(RougeError):
        rouge_l_f("a", text)


@pytest.mark.parametrize(("words", "scored"), [(982, True), (983, False)])
def test_the_longest_text_that_is_scored_has_982_words(words: int, scored: bool) -> None:
    gold = [f"w{i}" for i in range(words)]
    assert (ours(" ".join(["other", *gold[1:]]), " ".join(gold)) is not None) == scored


def test_the_score_does_not_depend_on_the_depth_of_the_callers_stack() -> None:
    words = " ".join(f"w{i}" for i in range(900))

    def deep(level: int) -> float:
        return deep(level - 1) if level else rouge_l_f(words, words)

    assert deep(sys.getrecursionlimit() // 2) == rouge_l_f(words, words)


def test_huge_texts_are_given_up_before_a_table_is_made() -> None:
    with pytest.raises(RougeError):
        rouge_l_f("a " * 1_000_000, "a b c d e")


@pytest.mark.parametrize(
    "predicted",
    ["a" * (MAX_ROUGE_CHARACTERS + 1), "a." * 90_000, "a " * 90_000],
    ids=["too long to be cut", "too many sentences", "too many words"],
)
def test_texts_that_would_take_minutes_cannot_be_scored(predicted: str) -> None:
    with pytest.raises(RougeError, match="too long"):
        rouge_l_f(predicted, "one two. " * 50)
