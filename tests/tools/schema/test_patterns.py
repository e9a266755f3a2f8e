"""Patterns of schemas: matched as `re` matches them, in bounded time, and refused where they could hang others."""

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.tools.schema.pattern_risk import pattern_risk
from wildtool.tools.schema.patterns import PatternError, check_pattern, follows, sample

ATOMS = st.sampled_from(
    ["a", "b", "-", ".", r"\d", r"\w", r"\s", r"\.", "[a-c]", "[^ab]", r"[\d_]", "^", "$", r"\b", r"\B"]
)


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    groups = inner.map(lambda text: f"({text})")
    repeated = st.tuples(groups, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}?", "{2,}"])).map(
        "".join
    )
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map(lambda text: f"(?:{text})"),
        repeated,
    )


@settings(max_examples=a_fiftieth_of(2_000), deadline=None)
@given(st.recursive(ATOMS, grown, max_leaves=6), st.text("ab-1_ .", min_size=1, max_size=6))
def test_a_pattern_is_found_where_re_finds_it(pattern: str, text: str):
    # Python's $ also stands before a last line end, and its \w, \d and . know other characters: none are in the texts.
    assert follows(text, pattern) == (re.search(pattern, text) is not None)


@settings(max_examples=a_fiftieth_of(1_500), deadline=None)
@given(st.text(r"ab()[]{}|*+?^$\d,1-:<P", max_size=12))
def test_no_text_raises_anything_but_a_pattern_error(pattern: str):
    try:
        check_pattern(pattern)
    except PatternError as error:
        assert str(error)
        return
    assert follows("ab1", pattern) in (True, False)
    assert isinstance(pattern_risk(pattern), str)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$", r"^\+?\d{10,15}$", r"^[\u4e00-\u9fff]{2,4}$",
        r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", r"^(?:\d{1,3}\.){3}\d{1,3}$", r"^[a-z]+(-[a-z]+)*$",
    ],
)  # fmt: skip
def test_usual_patterns_are_safe_and_have_samples(pattern: str):
    assert pattern_risk(pattern) == ""
    for seed in range(20):
        text = sample(pattern, Random(seed))
        assert text is not None and re.search(pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+$", r"^(a|a)*$", r"(\w+\s?)+$", r"^(\w|\d)+$", r"(a{1,20}){1,20}$", r"([a-z]*)*", r"(a|b|ab)*c"],
)
def test_a_pattern_that_takes_one_text_in_many_ways_is_risky(pattern: str):
    assert "several ways" in pattern_risk(pattern)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a(?=b)", "looks around"), (r"(a)\1", "refers back"), ("[a", "not closed"),
        ("(a", "not closed"), ("a)", "unmatched"),
        ("a**", "repeat of a repeat"), ("*a", "nothing to repeat"), ("a{2,1}", "must go up"),
        ("a{5000}", "must go up"), ("[z-a]", "does not go up"),
        ("(x{500}){500}", "too large"), ("a" * 501, "at most 500"), ("(" * 40 + ")" * 40, "deep"), ("\\", "backslash"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_refused_with_the_reason(pattern: str, why: str):
    with pytest.raises(PatternError, match=why):
        check_pattern(pattern)


def test_a_pattern_that_is_too_large_is_refused_without_a_word_on_the_screen(
    capfd: pytest.CaptureFixture[str],
):
    with pytest.raises(PatternError) as refused:
        sample("((a{1000}){1000}){999}", Random(1))
    assert str(refused.value) == "its counts make it too large"
    assert capfd.readouterr() == ("", "")


def test_a_long_text_is_matched_to_its_end():
    assert follows("a" * 1_000_000 + "b", "b$")
    assert not follows("a" * 1_000_000, "b$")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a$", "a\n"), (r"^\d$", "\u0663"), (r"^\w$", "\u00e9"), ("^.$", "\u2028"), (r"^\S$", "\u00a0"),
        ("^[^a]$", "a"), ("[[:alpha:]]", "a"),
    ],
)  # fmt: skip
def test_patterns_mean_what_json_schema_says_where_re2_or_re_differ(pattern: str, text: str):
    assert not follows(text, pattern)


def test_a_text_that_is_no_unicode_is_matched():
    assert follows("\ud800", "^.$")


def test_a_pattern_of_many_readings_is_matched_without_trying_them_all():
    assert not follows("a" * 5_000 + "!", r"^(a+)+$")
    assert follows("a" * 300, r"^(a?){300}a{300}$")


def test_a_pattern_that_nothing_follows_has_no_sample():
    assert sample("$a", Random(1)) is None
    assert sample(r"[^\s\S]", Random(1)) is None


@pytest.mark.parametrize("inner", ["()", "a{0}", "(^)", "(a?)", "(a|)", r"\b", "b"])
def test_counts_inside_counts_end(inner: str):
    for count in (7, 1000):
        pattern = inner + f"{{{count}}}" if inner == "()" else f"({inner}){{{count}}}"
        for _ in range(20):
            pattern = f"({pattern}){{{count}}}"
        assert isinstance(pattern_risk(pattern), str)
        try:
            follows("ab", pattern)
            sample(pattern, Random(1))
        except PatternError as error:
            assert "too large" in str(error)


def test_samples_of_nested_repeats_stay_small():
    text = sample("(((((((a*)*)*)*)*)*)*)*", Random(3))
    assert text is not None and len(text) < 100


def test_a_sample_may_be_of_any_character_but_halves_of_pairs():
    drawn = [sample(f"^\\u{code}$", Random(1)) for code in ("d7ff", "d800", "dfff", "e000")]
    assert drawn == ["\ud7ff", None, None, "\ue000"]
    for half in ("d800", "dbff", "dfff"):
        assert {sample(f"^[?\\u{half}]$", Random(seed)) for seed in range(9)} == {"?"}
