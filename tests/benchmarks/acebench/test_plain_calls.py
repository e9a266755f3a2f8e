"""The plain form of calls: what its quick reader reads is what Python's parser reads; all else it declines."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wildtool.benchmarks.acebench import official
from wildtool.benchmarks.acebench.fixed import parse as fixed
from wildtool.benchmarks.acebench.plain_calls import read_plain_calls
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError, write_calls

PLAIN = [
    "[f()]",
    "[f(a=1), g.h()]",
    "[f(a='x y', b='')]",
    '[f(a="x", b=["y"])]',
    "[f(a=-5, b=-0, c=0.5, d=1e3, e=-1.5E-2)]",
    "[f(a=True, b=False, c=None)]",
    "[f(a=[1, [2.5, 'x'], []], b={'k': {'l': [-1]}, 'm': {}})]",
    "[f(a={'k': 1, 'k': 2})]",
    "[ f(a = '天气')]",
]
NOT_PLAIN = [
    "",
    "f(a=1)",
    "[]",
    "[f(a=1)",
    "[f(a=1)]]",
    "[f(a=1),]",
    "[f(a=1,)]",
    "[f(1)]",
    "[f(*a)]",
    "[f(**{'a': 1})]",
    "[f(a=1, a=2)]",
    "[f(if=1)]",
    "[f(None=1)]",
    "[f(__debug__=1)]",
    "[if(a=1)]",
    "[a.class(a=1)]",
    "[not(a=1)]",
    "[ƒ(a=1)]",
    "[f(ſ=1)]",
    "[f(a='x''y')]",
    "[f(a='x' 'y')]",
    "[f(a=['x''y'])]",
    "[f(a='''x''')]",
    "[f(a='x\\n')]",
    "[f(a='x\n')]",
    "[f(a='\ud800')]",
    "[f(a='\x00')]",
    "[f(a=r'x')]",
    "[f(a='x' # y\n)]",
    "[f(a=1) # y\n]",
    "[f(a=+5)]",
    "[f(a=01)]",
    "[f(a=1_0)]",
    "[f(a=0x1)]",
    "[f(a=1.)]",
    "[f(a=.5)]",
    "[f(a=1j)]",
    "[f(a=1if 1else 2)]",
    "[f(a=1+1)]",
    "[f(a=(1, 2))]",
    "[f(a={1: 2})]",
    "[f(a={'k'})]",
    "[f(a=true)]",
    "[f(a=[null])]",
    "[f(a=NaN)]",
    "[f(a=-Infinity)]",
    "[f(a=[Infinity])]",
    "[f(a=Trueish)]",
    "[f(a=None.x)]",
    "[f(a=[True])]",
    "[f(a=g(b=1))]",
    "[f(a=x[0])]",
    "[f(a='x', b=\"y\")]",
    f"[f(a={'1' * 5000})]",
    f"[f(a={'[' * 101}{']' * 101})]",
]


def as_python(read: Callable[[str], list[CallExpression]], text: str) -> list[CallExpression]:
    """The calls as they are read without the quick reader."""
    with (
        patch.object(official, "read_plain_calls", return_value=None),
        patch.object(fixed, "read_plain_calls", return_value=None),
    ):
        return read(text)


@pytest.mark.parametrize("text", PLAIN)
def test_the_plain_form_is_read(text: str) -> None:
    assert repr(read_plain_calls(text)) == repr(as_python(fixed.parse_reply_calls, text))


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_anything_else_is_declined(text: str) -> None:
    assert read_plain_calls(text) is None


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.sampled_from(
            ["it's", 'a "b"', "a\\b", "true", "None", "1,2)]", "天气", "#", " ", "\n", "e\u0301"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers()), inner, max_size=3),
    ),
    max_leaves=5,
)
NAMES = st.sampled_from(
    ["f", "a.b", "get_1", "_x", "if", "None", "print", "ſ", "天", "a b", "1a", "__debug__", "match"]
)
WRITTEN_CALLS = st.lists(
    st.builds(CallExpression, NAMES, st.dictionaries(NAMES, VALUES, max_size=3)), max_size=3
).map(write_calls)
FRAGMENTS = st.sampled_from(
    [
        *"[](){}:,=+-.'\"#\\\n \t01eEjTx_",
        "f(",
        "a=",
        "f(a=",
        ")]",
        "'x'",
        '"y"',
        "[1,2]",
        "{'a':1}",
        "{'a':1,'a':2}",
        "-1.50",
        "1e999",
        "-0.0",
        "True",
        "None",
        "true",
        "null",
        "NaN",
        "-Infinity",
        "'''",
        "'x''y'",
        "\\x20",
        "# c\n",
        "b''",
        "f''",
        "\ud800",
        "\x00",
        "\u3000",
        "\ufeff",
        "\u200d",
        "é",
        "天",
    ]
)
PIECES = st.lists(FRAGMENTS, max_size=8).map("".join)
PLAIN_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.integers() | st.floats(-9, 9) | st.text("ab 天,)]", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("kl", max_size=2), inner, max_size=2),
    max_leaves=5,
)
PLAIN_ARGUMENTS = st.one_of(st.none(), st.booleans(), PLAIN_VALUES)
PLAIN_CALLS = st.lists(
    st.builds(
        CallExpression,
        st.sampled_from(["f", "a.b"]),
        st.dictionaries(st.sampled_from("abc"), PLAIN_ARGUMENTS, max_size=3),
    ),
    min_size=1,
    max_size=3,
).map(write_calls)


def with_a_change(change: tuple[str, str, int, int]) -> str:
    """A text with a piece put in place of up to two of its characters."""
    text, piece, start, length = change
    start %= len(text) + 1
    return text[:start] + piece + text[start + length :]


TEXTS = st.one_of(
    PLAIN_CALLS,
    WRITTEN_CALLS,
    PIECES.map(lambda pieces: f"[f(a={pieces})]"),
    st.tuples(PLAIN_CALLS, FRAGMENTS | PIECES, st.integers(0), st.integers(0, 2)).map(with_a_change),
)


@given(TEXTS)
@example("[f(a=1e999,b=-0.0,c=-0)]")
@example("[f(a={'k':1,'l':2,'k':3})]")
def test_the_quick_reader_gives_what_python_gives_or_declines(text: str) -> None:
    plain = read_plain_calls(text)
    assert plain is None or repr(plain) == repr(as_python(fixed.parse_reply_calls, text))


@pytest.mark.parametrize("read", [official.decode, fixed.parse_reply_calls])
@given(text=TEXTS)
def test_a_profile_reads_a_text_alike_with_and_without_the_quick_reader(
    read: Callable[[str], list[CallExpression]], text: str
) -> None:
    assert _outcome(read, text) == _outcome(lambda text: as_python(read, text), text)


def _outcome(read: Callable[[str], list[CallExpression]], text: str) -> str:
    try:
        return repr(read(text))
    except CallSyntaxError as error:
        return str(error)
