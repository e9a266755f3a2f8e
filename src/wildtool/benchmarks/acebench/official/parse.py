"""The text of a Normal reply as calls, the way the published evaluator decodes it (section 5 of its specification)."""

import ast

from wildtool.benchmarks.acebench.plain_calls import read_plain_calls
from wildtool.toolcall.call_syntax import CallExpression, CallReader, CallSyntaxError, parse_expression


def without_whitespace(text: str) -> str:
    """The text with every Unicode whitespace character deleted, inside quoted texts too (Q1)."""
    return "".join(text.split())


def decode(text: str) -> list[CallExpression]:
    """The calls of a bracketed list (also a set, a tuple or a bare comma list: Q2).

    Raises:
        CallSyntaxError: the text is anything else, with the reason.
    """
    text = without_whitespace(text)
    if (plain := read_plain_calls(text)) is not None:
        return plain
    root = parse_expression(text)
    if not isinstance(root, ast.List | ast.Tuple | ast.Set):
        raise CallSyntaxError(f"not a list of calls but {type(root).__name__}")
    reader = CallReader()
    calls: list[CallExpression] = []
    for element in root.elts:
        if not isinstance(element, ast.Call):
            raise CallSyntaxError(f"not a call but {type(element).__name__}")
        calls.append(reader.call(element))
    return calls
