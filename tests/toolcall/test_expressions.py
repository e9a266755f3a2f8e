"""Expressions over literals: why one is refused, and that each limit is where it is said to be."""

import ast

import pytest

from wildtool.toolcall.call_syntax import (
    CallSyntaxError,
)
from wildtool.toolcall.expressions import MAX_WORK, Expressions


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
