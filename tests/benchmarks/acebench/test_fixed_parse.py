"""Reading a Normal reply in profile `fixed`: what is tolerated, what is an error, and that nothing is evaluated."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS, CallExpression, CallSyntaxError


def value(text: str) -> Any:
    (call,) = parse_reply_calls(f"[f(a={text})]")
    return call.arguments["a"]


@pytest.mark.parametrize(
    "text",
    [
        "[f(a=1), g()]",
        " \n[f(a=1),\n  g(),]\n",
        "```python\n[f(a=1), g()]\n```",
        "```\n[f(a=1), g()]```",
        "(f(a=1), g())",
        "{f(a=1), g()}",
        "f(a=1), g()",
        "[f(a=1),\u3000g()]",
        "[f(a=1), # isn't 'quoted\n g()]",
    ],
)
def test_calls_are_read_from_any_list_with_blanks_and_one_fence_around(text: str) -> None:
    assert parse_reply_calls(text) == [CallExpression("f", {"a": 1}), CallExpression("g", {})]


def test_a_single_call_needs_no_brackets() -> None:
    assert parse_reply_calls("a.f(x='y')") == [CallExpression("a.f", {"x": "y"})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'New  York'", "New  York"),
        ("['a b', {'k l': 'm n'}]", ["a b", {"k l": "m n"}]),
        ("true", True),
        ("[false, null, None]", [False, None, None]),
        ("'true'", "true"),
        ("Paris", "Paris"),
        ("+5", 5),
        ("-5", -5),
        ("--5", 5),
        ("2 * (3 + 4)", 14),
        ("'a' + 'b'", "ab"),
        ("dict(x=1, y=dict(z=2))", {"x": 1, "y": {"z": 2}}),
        ("'one\ntwo'", "one\ntwo"),
        ("'one\r\ntwo'", "one\r\ntwo"),
        ('"don\'t\nstop"', "don't\nstop"),
        ("'''one\ntwo'''", "one\ntwo"),
        ("'''a\r\nb''' + 'c\r\nd'", "a\nbc\r\nd"),
        ("'one\\\ntwo'", "onetwo"),
        ("'a\\nb'", "a\nb"),
        ("{'k':\u00a0'a\u00a0b\n'}", {"k": "a\u00a0b\n"}),
    ],
)
def test_a_value_is_what_is_written(text: str, expected: Any) -> None:
    found = value(text)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot do that.",
        "Sure: [f(a=1)]",
        "[[f(a=1)]]",
        "['f(a=1)']",
        "[f(a=1)",
        "[f(1)]",
        "[f(*x)]",
        "[f(**{'a': 1})]",
        "[f(a=1, a=2)]",
        "[f()(a=1)]",
        "[().__class__(a=1)]",
        "[f(a=g(b=1))]",
        "[f(a=g())]",
        "[f(a=dict(1))]",
        "[f(a=x[0])]",
        "[f(a=x.y)]",
        "[f(a=...)]",
        "[f(a=New York)]",
        "[f(a=New\u3000York)]",
        "[f(a=-'x')]",
        "[f(a='it's')]",
        "```\n[f()]\n```\n```\n[f()]\n```",
    ],
)
def test_anything_else_is_an_error(text: str) -> None:
    with pytest.raises(CallSyntaxError):
        parse_reply_calls(text)


@pytest.mark.parametrize(
    "text",
    [
        "[f(a=__import__('os').system('exit 1'))]",
        "[f(a=__import__('os'))]",
        "[f(a=1 + __import__('os'))]",
        "[f(a=().__class__.__bases__[0])]",
        "[f(a=(lambda: 1)())]",
        "[f(a=[x for x in 'ab'])]",
        "[f(a=f'{1}')]",
        "[f(a=9**9**9)]",
        "[f(a=1 << 99999999)]",
        "[f(a='x' * 999999999)]",
        f"[f(a={'[' * 150}{']' * 150})]",
        f"[f(a={'-' * 3000}1)]",
        f"[f(a={'(' * 4000}1{')' * 4000})]",
        f"[f(a='{'x' * MAX_CALL_CHARACTERS}')]",
        "[f(a=" + "9" * 5000 + ")]",
    ],
)
def test_code_and_excess_are_refused_unevaluated(text: str) -> None:
    with pytest.raises(CallSyntaxError):
        parse_reply_calls(text)


def test_the_longest_text_is_read_and_a_longer_one_is_named() -> None:
    longest = f"[f(a='{'x' * (MAX_CALL_CHARACTERS - 9)}')]"
    assert len(longest) == MAX_CALL_CHARACTERS
    assert len(parse_reply_calls(longest)) == 1
    with pytest.raises(CallSyntaxError, match=f"^longer than {MAX_CALL_CHARACTERS} characters$"):
        parse_reply_calls(f"{longest} ")


@given(st.text(alphabet="[]f(a=1,'\"\\\n#`){}:*-+ \u3000") | st.text())
@example("'" * MAX_CALL_CHARACTERS)
@example("[f(a='" + "\\" * 9000)
@example("'" + "\\'" * 7990)
@example("```" + " " * 15000 + "x")
@example("[f(a='\ud800')]")
@example("[f(a='\x00\n')]")
def test_a_text_gives_calls_or_a_named_error(text: str) -> None:
    try:
        calls = parse_reply_calls(text)
    except CallSyntaxError as error:
        assert str(error)
    else:
        assert all(None not in call.arguments for call in calls)
