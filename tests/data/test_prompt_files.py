"""Texts of the originals' Python files are read from the syntax tree: nothing is run, anything odd is a data error."""

import ast
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.data import prompt_files
from wildtool.data.prompt_files import (
    MAX_PROMPT_CHARACTERS,
    read_constants,
)
from wildtool.errors import DataError

WHERE = "prompts.py"


def value(expression: str, before: str = "") -> object:
    return read_constants(f"{before}\nA = {expression}", ["A"], WHERE)["A"]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ('"""a\\nb"""', "a\nb"),
        ("'a' 'b' + ('c' + 'd')", "abcd"),
        ("B + '!'", "text!"),
        ("{'x': B, 'y': ['a', ('b',)]}", {"x": "text", "y": ["a", ("b",)]}),
        ("+".join(["'ab'"] * 2_000), "ab" * 2_000),
    ],
)
def test_a_constant_is_text_joined_text_or_holds_text(expression: str, found: object) -> None:
    assert value(expression, "B = 'text'") == found


def test_the_last_assignment_counts_and_nothing_is_run() -> None:
    source = "import nowhere\nA = 'x'\nA: str = 'y'\nraise SystemExit\nopen('/nowhere', 'w')"
    assert read_constants(source, ["A"], WHERE) == {"A": "y"}


@pytest.mark.parametrize(
    "expression",
    [
        "f()",
        "1",
        "f'{B}'",
        "'a' * 1000000",
        "'%s' % B",
        "B.upper()",
        "B[0]",
        "C",
        "['a'] + ['b']",
        "b'x'",
        "{1: 'a'}",
        "{**B}",
        "A",
        "A + A",
        "[x for x in B]",
        "lambda: B",
        "'a' if B else 'b'",
        "[" * 60 + "]" * 60,
    ],
)
def test_any_other_value_is_named(expression: str) -> None:
    with pytest.raises(DataError, match=r"^prompts\.py: the constant A: "):
        value(expression, "B = 'text'")


def test_a_missing_constant_is_named() -> None:
    with pytest.raises(DataError, match=r"^prompts\.py: the constant A is missing$"):
        read_constants("def f():\n    A = 'x'", ["A"], WHERE)


@pytest.mark.parametrize(
    "source",
    ["A = (", "A = '\x00'", "(" * 5_000, "A = " + "-" * 100_000 + "1", "x" * (MAX_PROMPT_CHARACTERS + 1)],
)
def test_what_is_no_python_file_is_named(source: str) -> None:
    with pytest.raises(DataError, match=r"^prompts\.py: "):
        read_constants(source, ["A"], WHERE)


def test_text_that_doubles_itself_is_bounded() -> None:
    doubling = "\n".join(f"A{n + 1} = A{n} + A{n}" for n in range(40))
    with pytest.raises(DataError, match="the constant A40: "):
        read_constants(f"A0 = 'x'\n{doubling}", ["A40"], WHERE)


_NODES = st.recursive(
    st.sampled_from(["'a'", "B", "A", "1", "f()", "None", "*B", "{'a': 'b'}", "x.y", "'a' 'b'"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "*", "%", " or "]), inner).map("".join),
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.lists(inner, max_size=3).map(lambda parts: "{" + ", ".join(f"{p}: {p}" for p in parts) + "}"),
    ),
    max_leaves=8,
)


@given(_NODES)
def test_a_constant_is_what_python_says_it_is_or_a_data_error(expression: str) -> None:
    try:
        found = value(expression, "B = 'text'")
    except DataError:
        return
    tree = ast.parse(expression, mode="eval")
    assert (
        eval(compile(tree, "x", "eval"), {"B": "text"}) == found
    )  # built from the parts above, none of them a call


def error_of(source: str, *names: str) -> str:
    with pytest.raises(DataError) as caught:
        read_constants(source, names, WHERE)
    return str(caught.value)


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ("(", ",)"), ("{'k': ", "}"), ("'x' + (", ")")])
def test_fifty_levels_are_read(begin: str, end: str) -> None:
    assert value(begin * 50 + "'a'" + end * 50)
    assert error_of(f"A = {begin * 51}'a'{end * 51}", "A") == (
        "prompts.py: the constant A: nested too deeply, or refers to itself"
    )


def test_names_are_followed_fifty_times() -> None:
    names = "\n".join(f"N{number} = N{number + 1}" for number in range(50)) + "\nN50 = 'a'"
    assert read_constants(names, ["N0"], WHERE) == {"N0": "a"}
    assert error_of(f"M = N0\n{names}", "M") == (
        "prompts.py: the constant M: nested too deeply, or refers to itself"
    )


def test_text_is_read_up_to_its_limit() -> None:
    # A sum counts its parts, and then itself.
    half = "'" + "x" * (MAX_PROMPT_CHARACTERS // 4) + "'"
    assert len(str(value("B + B", f"B = {half}"))) == MAX_PROMPT_CHARACTERS // 2
    assert (
        error_of(f"B = {half}\nA = B + B + B", "A")
        == "prompts.py: the constant A: longer than 1000000 characters"
    )


def test_places_that_are_read_are_as_many_as_a_file_has_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    # A name and what it stands for are two: of C 12 and of A 43.
    source = "B='',''\nC=B,B,B\nA=C,C,C"
    for limit, reason in (
        (43, ""),
        (42, "prompts.py: the constant A: nested too deeply, or refers to itself"),
    ):
        monkeypatch.setattr(prompt_files, "MAX_PROMPT_CHARACTERS", limit)
        if reason:
            assert error_of(source, "A") == reason
        else:
            assert read_constants(source, ["A"], WHERE) == {"A": ((("", ""),) * 3,) * 3}


def test_a_file_may_be_as_long_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_files, "MAX_PROMPT_CHARACTERS", 7)
    assert read_constants("A = 'x'", ["A"], WHERE) == {"A": "x"}
    assert error_of("A =  'x'", "A") == "prompts.py: longer than 7 characters"


def test_a_warning_of_python_is_none_of_ours() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value(r"'\d'") == r"\d"
