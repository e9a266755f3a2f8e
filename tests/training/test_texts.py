"""Values out of texts, tokens of texts, and lines of files."""

import json
from typing import Any

import pytest

from wildtool.sets.prepare import texts
from wildtool.sets.prepare.lines import training_line
from wildtool.sets.prepare.record import RowError
from wildtool.sets.prepare.texts import (
    UnreadableTextError,
    first_list,
    parse_json,
    parse_literal,
    parse_or_reject,
    parse_run,
    parse_value,
)
from wildtool.sets.prepare.tokens import (
    TextOverlap,
    compare_tokens,
    is_unseen,
    jaccard_index,
    sequences,
    shingles,
    word_tokens,
)


def problem(text: str, parse: Any = parse_literal) -> str:
    with pytest.raises(UnreadableTextError) as refused:
        parse(text)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "value", "repair"),
    [
        ("null", None, None),
        ('{"a": [1, true]}', {"a": [1, True]}, None),
        (
            """{"name": "f", "arguments": '{"a": 1}'}""",
            {"name": "f", "arguments": {"a": 1}},
            "quoted-arguments",
        ),
        ("""{'arguments': '{"a": 1}'}""", {"arguments": '{"a": 1}'}, "python-literal"),
        ("""{"arguments": '[1]'}""", {"arguments": "[1]"}, "python-literal"),
        (
            """{"arguments": '{"a": "é\\'"}', "b": 1}""",
            {"arguments": '{"a": "é\'"}', "b": 1},
            "python-literal",
        ),
        ("""{"arguments": '{"a": "é\\'"}'}""", {"arguments": {"a": "é'"}}, "quoted-arguments"),
        (
            " (1, 'a', None, True, false, null, true) ",
            [1, "a", None, True, False, None, True],
            "python-literal",
        ),
        ("{1: 2, None: [3], (4,): 5}", {"1": 2, "null": [3], "[4]": 5}, "python-literal"),
        ("{'a': -1, 'b': +2.5, **{}}", {"a": -1, "b": 2.5}, "python-literal"),
    ],
)
def test_values_are_read_with_the_repair_that_they_need(text: str, value: Any, repair: str | None):
    assert parse_value(text) == (value, repair)
    assert parse_or_reject(text, "bad-tools") == (value, repair)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "Name is no literal"),
        ("f()", "Call is no literal"),
        ("-'a'", "UnaryOp is no literal"),
        ("-True", "UnaryOp is no literal"),
        ("not 1", "UnaryOp is no literal"),
        ("b'a'", "Constant is no literal"),
        ("1j", "Constant is no literal"),
        ("{1}", "Set is no literal"),
    ],
)
def test_nothing_is_evaluated(text: str, message: str):
    assert problem(text) == f"neither JSON nor a Python literal ({message})"


def test_limits_of_literals():
    for left, right in ("[]", ("(1,", ")"), ("{1:", "}")):
        parse_literal(left * 64 + "1" + right * 64)
        assert problem(left * 65 + "1" + right * 65) == "too large or nested too deep for a literal"
    assert parse_literal(str([[1]] * 100)) == [[1]] * 100
    assert problem("[(),(),(1," + "[" * 63 + "]" * 63 + ")]") == "too large or nested too deep for a literal"
    assert parse_literal(f"'{'x' * 999_998}'") == "x" * 999_998
    assert problem(f"'{'x' * 999_999}'") == "too large or nested too deep for a literal"
    largest = 2**4096 - 1
    assert parse_literal(hex(largest)) == largest
    assert problem(hex(largest + 1)) == "neither JSON nor a Python literal (a number too long to be written)"


def test_json_alone_is_read_as_json():
    assert parse_json(" [1]") == [1]
    assert problem("[1", parse_json) == "no JSON"
    assert problem("{'a': 1}", parse_json) == "no JSON"
    with pytest.raises(RowError) as refused:
        parse_or_reject("a b", "bad-tools", "a tool: ")
    assert refused.value.reason == "bad-tools"
    assert refused.value.detail.startswith("a tool: neither JSON nor a Python literal (invalid syntax")


def test_large_texts_have_limits(monkeypatch: pytest.MonkeyPatch):
    assert texts.load_text("[" * 300 + "]" * 300)
    monkeypatch.setattr(texts, "_SMALL", 600)
    assert texts.load_text("[" * 300 + "]" * 300)
    with pytest.raises(ValueError, match="200"):
        texts.load_text("[" * 301 + "]" * 301)
    assert texts.load_text(f"[{' ' * 600}]") == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("5", [5]),
        ("[5, 6]", [5, 6]),
        ("5 6,[7, 8]\n[]\r\t{}", [5, 6, 7, 8, {}]),
        (", 5", [5]),
        ("5,", [5]),
    ],
)
def test_a_run_of_values_is_their_list(text: str, values: list[Any]):
    assert parse_run(text) == values


def test_a_run_that_breaks_off_says_where():
    assert problem("{}[1", parse_run) == "no JSON at character 3"
    assert problem("5; 6", parse_run) == "no JSON at character 2"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('a [1] b [{"name": 1}, {"name": 2}] c [{"name": 3}]', ([{"name": 1}, {"name": 2}], 8, 34)),
        ('[[{"name": 1}]', ([{"name": 1}], 1, 14)),
        ('[{"name": 1}, {}]', None),
        ('[{"name": 1}, 5]', None),
        ("[] [", None),
        ("", None),
        ("[" * 99 + '[{"name": 1}]', ([{"name": 1}], 99, 112)),
        ("[" * 100 + '[{"name": 1}]', None),
    ],
)
def test_the_first_list_of_objects_with_names(text: str, found: Any):
    assert first_list(text) == found


# Tokens ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It's_2 O'CLOCK, x2y", ["it", "s", "2", "o", "clock", "x2y"]),
        ("Straße_1 Ä\u00adB", ["strasse", "1", "äb"]),
        ("ｆｕｌｌ\u200b width", ["full", "width"]),
        ("北京abc天", ["北", "京", "abc", "天"]),
        ("カナ한글", ["カ", "ナ", "한", "글"]),
        ("", []),
        ("¿?", []),
    ],
)
def test_tokens_of_a_text(text: str, tokens: list[str]):
    assert word_tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "holds"),
    [("", True), (" \n", True), ("\u200b\u2800 \ufe0f", True), ("\u200ba", False), (".", False)],
)
def test_what_a_reader_does_not_see(text: str, holds: bool):
    assert is_unseen(text) is holds


def tokens(*numbers: int) -> list[str]:
    return list(map(str, numbers))


N = tokens(*range(40))
"""Forty different tokens."""


@pytest.mark.parametrize(
    ("benchmark", "training", "overlap"),
    [
        (N[:4], N[:4], TextOverlap(1.0, 1.0, False, "exact")),
        ([], [], TextOverlap(0.0, 0.0, False, "clean")),
        (N[:3], N[:6], TextOverlap(1.0, 0.0, False, "contained")),
        (N[:2], N[:6], TextOverlap(0.0, 0.0, False, "clean")),
        (N[3:6], N[:6], TextOverlap(1.0, 0.0, False, "contained")),
        (N[3:7], N[:6], TextOverlap(0.0, 0.0, False, "clean")),
        (N[:7], N[:9], TextOverlap(1.0, 0.6, False, "contained")),
        (N[:8], N[:9], TextOverlap(1.0, 0.8, False, "near")),
        (N[:8], N[:10], TextOverlap(1.0, 4 / 6, False, "contained")),
        (N[:9], [*N[:8], "x"], TextOverlap(0.5, 4 / 6, False, "contained")),
        (N[:10], [*N[:8], "x"], TextOverlap(1 / 3, 4 / 7, False, "clean")),
        (N[:26], N[13:39], TextOverlap(6 / 19, 9 / 35, True, "long")),
        (N[:25], N[13:39], TextOverlap(5 / 18, 8 / 35, False, "clean")),
    ],
)
def test_what_two_texts_have_in_common(benchmark: list[str], training: list[str], overlap: TextOverlap):
    assert compare_tokens(benchmark, training) == overlap
    assert compare_tokens(tuple(benchmark), training) == overlap


def test_sequences_of_tokens():
    assert list(sequences("abcd", 3)) == [("a", "b", "c"), ("b", "c", "d")]
    assert list(sequences("ab", 3)) == []
    assert list(shingles("")) == []
    assert list(shingles("a")) == [("a",)]
    assert list(shingles("abcd")) == [tuple("abcd")]
    assert list(shingles("abcde")) == [tuple("abcde")]
    assert list(shingles("abcdef")) == [tuple("abcde"), tuple("bcdef")]
    assert jaccard_index(set(), set()) == 0
    assert jaccard_index({("a",), ("b",)}, {("b",), ("c",)}) == 1 / 3


# Lines -----------------------------------------------------------------------------------------------


def test_a_row_is_a_line_of_strict_json():
    row = {"a": "é\u2028\n", "b": [1.5, None, "NaN", "\\u0000"]}
    line = training_line(row)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert json.loads(line) == row


@pytest.mark.parametrize(
    ("value", "reason", "detail"),
    [
        ("a\0", "not-text", "a text holds NUL or half a surrogate pair, which loaders refuse"),
        ("\ud800", "not-text", "a text holds NUL or half a surrogate pair, which loaders refuse"),
        ("\\\udbff", "not-text", "a text holds NUL or half a surrogate pair, which loaders refuse"),
        (float("nan"), "unreadable-call", "NaN and Infinity are no numbers of JSON"),
        ([float("-inf")], "unreadable-call", "NaN and Infinity are no numbers of JSON"),
    ],
)
def test_what_loaders_refuse_is_no_line(value: Any, reason: str, detail: str):
    with pytest.raises(RowError) as refused:
        training_line({"a": value})
    assert (refused.value.reason, refused.value.detail) == (reason, detail)
