"""Expressions over literals: why one is refused, and that each limit is where it is said to be."""

import ast

import pytest

from wildtool.toolcall.call_syntax import (
    CallExpression,
    CallReader,
    CallSyntaxError,
    parse_expression,
    write_calls,
)
from wildtool.toolcall.expressions import MAX_BITS, MAX_EXPRESSION_DEPTH, MAX_WORK, Expressions


def computed(text: str) -> object:
    return Expressions().value(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "no arithmetic on Name"),
        ("x.y(1)", "no arithmetic on Name"),
        ("f(1)", "no arithmetic on Call"),
        ("(lambda: 1)()", "no arithmetic on Call"),
        ("'a'.format(1)", "no arithmetic on the attribute format"),
        ("b'a'.upper()", "no arithmetic on the attribute upper"),
        ("len(**{'a': 1})", "unpacking inside a call"),
        ("1 / 0", "division by zero"),
        ("[1][2]", "list index out of range"),
        ("{'a': 1}['b']", "'b'"),
        ("'a' + 1", 'can only concatenate str (not "int") to str'),
        ("int('x')", "invalid literal for int() with base 10: 'x'"),
        ("f'{1:1234}'", "formatting is too wide"),
        ("'%1234d' % 1", "formatting is too wide"),
        ("'%*d' % (5, 1)", "formatting is too wide"),
        ("'%(a)s 1234' % {'a': 1}", "formatting is too wide"),
        ("'a'.center(1001)", "a width is too large"),
        ("'a'.center(-1001)", "a width is too large"),
        ("round(5, -1001)", "rounds to too many digits"),
        ("round(5, ndigits=1001)", "rounds to too many digits"),
        ("str(b'a', 'punycode')", "an encoding that is not read"),
        ("bytes('a', encoding='idna')", "an encoding that is not read"),
        ("pow(2, 14000)", "a number is too large"),
        ("pow(exp=14000, base=2, mod=5)", "a number is too large"),
        ("2 ** 7000 * 2 ** 7000", "a number is too large"),
        ("1 << 14000", "a number is too large"),
        ("bytes(100001)", "too much arithmetic"),
        ("100001 * [0]", "too much arithmetic"),
        ("'x' * 100001", "too much arithmetic"),
        ("('%s' * 100) % (('a',) * 100)", "too much arithmetic"),
        ("sum([[1]] * 300, [0])", "too much arithmetic"),
    ],
)
def test_the_reason_of_a_refusal_is_named(text: str, reason: str) -> None:
    with pytest.raises(CallSyntaxError) as caught:
        computed(text)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "text",
    [
        "f'{1:999}'",
        "'%999d' % 1",
        "'%s 1234' % 'a'",
        "'%(a)s 123' % {'a': 1}",
        "b'%d' % 5",
        "'a'.center(1000)",
        "'a'.center(1000, '-')",
        "round(5, -1000)",
        "round(2.5)",
        "str(b'a', 'utf-8')",
        "str(5)",
        "bytes('a', encoding='latin-1')",
        "pow(2, 6999)",
        "pow(2, -2)",
        "pow(3, 4, 5)",
        "2 ** -1",
        "1 << 13999",
        "1 - 2 ** 100",
        "bytes(1000)",
        "bytes([1])",
        "1000 * [0]",
        "-5 * [0]",
        "0 * 'a'",
        "sum([1, 2], 5)",
        "sum([[1], [2]], [0])",
        "sum([1, 2])",
        "[*'ab', 1, *[2]]",
        "{1, *[2]}",
        "{'a': 1, **{'a': 2, 'b': 3}, 'c': 4}",
        "[1, 2, 3, 4][1:3]",
        "[1, 2, 3, 4][::2]",
        "[1, 2, 3, 4][:-1]",
        "[1, 2, 3, 4][-1]",
        "1 < 2 < 2",
        "1 < 3 > 2",
        "3 > 2 > 1",
        "0 or '' or 5 or 6",
        "1 and '' and 5",
        "1 and 2",
        "[] or 0",
        "1 if 0 else 2",
        "1 if 2 else 3",
        "not 5, +True, ~5, -5",
        'f\'a{1!r}{"b"!r}{"é"!a}{2!s:>3}{3:{4}}c\'',
        "1 is True, 1 is not True, 'a' in 'ba', 'a' not in 'ba'",
        "1 == 1.0, 1 != 2, 1 <= 1, 1 >= 2",
        "7 @ 1 if 0 else 5 ^ 3",
        "5 & 6 | 8 >> 2",
        "max([1, 2], key=None), 'ab'.replace('a', 'b', 1)",
        "(True).bit_length() if 0 else (5).bit_length()",
        "(2.0).is_integer(), (1, 2).index(2), [1, 1].count(1), {'a': 1}.get('b', 2)",
    ],
)
def test_what_is_within_the_limits_has_the_value_that_python_gives_it(text: str) -> None:
    assert repr(computed(text)) == repr(eval(text))


def test_integers_are_computed_up_to_their_limit() -> None:
    assert computed(f"{2**MAX_BITS - 1}") == 2**MAX_BITS - 1
    assert computed(f"{2 ** (MAX_BITS - 1) - 1} + {2 ** (MAX_BITS - 1)}") == 2**MAX_BITS - 1
    for text in (f"{2**MAX_BITS}", f"{2**MAX_BITS - 1} + 1"):
        with pytest.raises(CallSyntaxError, match=r"^a number is too large$"):
            computed(text)


def test_nesting_is_computed_up_to_its_limit() -> None:
    assert computed("10_000_000 * 0.5") == 5_000_000
    assert computed("not " * (MAX_EXPRESSION_DEPTH - 1) + "1") is (MAX_EXPRESSION_DEPTH % 2 == 1)
    with pytest.raises(CallSyntaxError, match=r"^nested too deeply$"):
        computed("not " * MAX_EXPRESSION_DEPTH + "1")


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("'abc'", 4),
        ("b'abc'", 4),
        ("15", 2),
        ("16", 2),
        ("255", 3),
        ("None", 1),
        ("2.5", 1),
        # A part is work, and so is the whole.
        ("[15, 'a']", 2 + 2 + 5),
        ("{'a': 15}", 2 + 2 + 5),
        ("('a',)", 2 + 3),
        ("range(10)", 2 + 2 + 11),
        ("'a' in 'abcd'", 2 + 5 + 5 + 1),
        ("3 * 'ab'", 1 + 3 + 3 * 3 + 7),
        ("'%d' % 1", 3 + 1 + 1010 + 2),
        ("f'{1}'", 1 + 1010 + 2),
        ("f'{\"ab\"}'", 3 + 1030 + 3),
        ("'ab'.upper()", 3 + 4 + 3),
        ("'ab'.join(['abc'])", 3 + 4 + 5 + 4 * 2 + 4),
        ("bytes(10)", 2 + 2 + 10 + 11),
    ],
)
def test_work_is_what_values_weigh(text: str, work: int) -> None:
    """The budget that is left is just enough for it: one less is too little."""
    node = ast.parse(text, mode="eval").body
    for left in (work, work - 1):
        expressions = Expressions()
        filler = "x" * (MAX_WORK - left - 1)
        expressions.value(ast.Constant(filler))
        if left == work:
            expressions.value(node)
        else:
            with pytest.raises(CallSyntaxError, match=r"^too much arithmetic$"):
                expressions.value(node)


def read(text: str) -> object:
    return CallReader().value(parse_expression(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("...", "..."),
        ("name", "name"),
        ("[1, 'a', None]", [1, "a", None]),
        ("(1, (2,))", (1, (2,))),
        ("{'a': [x], 1: 2}", {"a": ["x"], 1: 2}),
        ("-5", -5),
        ("~2.5", -2.5),
        ("1 + 2", 3),
        ("f()", {"f": {}}),
        ("a.f(x=g(y=1), z=h())", {"a.f": {"x": {"g": {"y": 1}}, "z": {"h": {}}}}),
        ("x[0]", "x[0]"),
        ("x.y['a':2]", "x.y['a':2]"),
    ],
)
def test_values_of_arguments_are_read(text: str, expected: object) -> None:
    value = read(text)
    assert (type(value), value) == (type(expected), expected)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("-'a'", "a sign before something that is no number"),
        ("{**x}", "unpacking inside an object"),
        ("{[]: 1}", "unhashable type: 'list'"),
        ("lambda: 1", "unsupported syntax: Lambda"),
        ("x.y", "unsupported syntax: Attribute"),
        ("[" * 100 + "1" + "]" * 100, "nested too deeply"),
        ("x" * 16_001, "longer than 16000 characters"),
        ("(" * 900 + ")" * 900, "too many nested parentheses (<unknown>, line 1)"),
        ("1 +", "invalid syntax (<unknown>, line 1)"),
    ],
)
def test_what_is_no_value_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(CallSyntaxError) as caught:
        read(text)
    assert str(caught.value) == reason


def test_values_are_read_up_to_the_limits() -> None:
    assert read("[" * 99 + "1" + "]" * 99)
    assert read("x" * 16_000) == "x" * 16_000


def test_side_by_side_is_no_nesting() -> None:
    assert read(f"[{'[1],' * 300}]") == [[1]] * 300


def test_calls_are_written_plainly() -> None:
    calls = [CallExpression("a.f", {"x": "it's", "y": [1]}), CallExpression("g", {})]
    assert write_calls(calls) == """[a.f(x="it's", y=[1]), g()]"""
    assert write_calls([]) == "[]"
