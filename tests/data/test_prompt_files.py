"""Texts of the originals' Python files are read from the syntax tree: nothing is run, anything odd is a data error."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.data.prompt_files import MAX_PROMPT_CHARACTERS, read_constants
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
        *(
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
        ),
        *(
            "{1: 'a'}",
            "{**B}",
            "A",
            "A + A",
            "[x for x in B]",
            "lambda: B",
            "'a' if B else 'b'",
            "[" * 60 + "]" * 60,
        ),
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
