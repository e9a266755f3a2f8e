"""The text of a Normal reply as calls for profile `fixed`: what Python's call syntax says, and nothing is lost silently.

Blanks inside quoted texts are kept (Q1). Tolerated, because no other reading is possible:
- `fence`: one Markdown code fence around everything;
- `blanks`: any white space around and between the parts;
- `bare list`: a tuple, a set, a comma list without brackets, or a single call without brackets (Q2);
- `json word`: true, false and null are True, False and None; any other bare word is its own text (Q6);
- `line break`: a line break inside a quoted text is part of the text (Python would refuse it);
- `arithmetic`: `+5` is 5 (Q4) and sums of literals are their result, computed without evaluating anything (Q5).

An error is what would make the call another one: positional arguments, `*`, `**` and repeated keywords (Q3), a callee
that is no dotted name (Q8), calls, subscripts and `...` as values; only `dict(a=1)` is the object `{"a": 1}` (Q7).
"""

import ast
import re

from wildtool.benchmarks.acebench.plain_calls import read_plain_calls
from wildtool.toolcall.call_syntax import (
    MAX_CALL_CHARACTERS,
    CallExpression,
    CallReader,
    CallSyntaxError,
    PythonValue,
    dotted_name,
    parse_expression,
)

_FENCE = re.compile(r"```[^\S\n]*+[\w+-]*+[^\S\n]*+\n(.*)```", re.DOTALL)
_WORDS: dict[str, PythonValue] = {"true": True, "false": False, "null": None}
# What stands in quotes, also where they never close, or in a comment, or a blank; no character is scanned twice.
_PARTS = re.compile(
    r"""'{3}.*?(?:'{3}|\Z)|"{3}.*?(?:"{3}|\Z)|'(?:[^'\\]|\\.)*+(?:'|\\?\Z)|"(?:[^"\\]|\\.)*+(?:"|\\?\Z)"""
    r"""|#[^\r\n]*+|[^\S \r\n]""",
    re.DOTALL,
)


def parse_reply_calls(text: str) -> list[CallExpression]:
    """The calls of a reply, in order.

    Raises:
        CallSyntaxError: the text is anything else or beyond the limits of `call_syntax`, with the reason.
    """
    text = _without_fence(text)
    if (plain := read_plain_calls(text)) is not None:
        return plain
    root = _parse(text)
    elements = root.elts if isinstance(root, ast.List | ast.Tuple | ast.Set) else [root]
    reader = _Reader()
    return [reader.read(element) for element in elements]


def _without_fence(text: str) -> str:
    if len(text) > MAX_CALL_CHARACTERS:
        raise CallSyntaxError(f"longer than {MAX_CALL_CHARACTERS} characters")
    text = text.strip()
    fenced = _FENCE.fullmatch(text)
    return fenced[1].strip() if fenced else text


def _parse(text: str) -> ast.expr:
    """What Python reads as it stands is never changed."""
    try:
        return parse_expression(text)
    except CallSyntaxError as error:
        repaired = _PARTS.sub(_repaired, text)
        if repaired == text:
            raise error
        return parse_expression(repaired)


def _repaired(part: re.Match[str]) -> str:
    match = part[0]
    if match.isspace():
        return " "
    if match[:3] in ("'''", '"""'):
        return match
    # After a backslash a line break continues the line, as Python has it.
    return re.sub(
        r"\\(?:\r\n|.)|[\r\n]",
        lambda m: m[0] if m[0][0] == "\\" else repr(m[0])[1:-1],
        match,
        flags=re.DOTALL,
    )


class _Reader(CallReader):
    def read(self, node: ast.expr) -> CallExpression:
        if not isinstance(node, ast.Call):
            raise CallSyntaxError(f"not a call but {type(node).__name__}")
        return self.call(node)

    def call(self, node: ast.Call) -> CallExpression:
        if not _is_name(node.func):
            raise CallSyntaxError("a call of something that is no name")
        return CallExpression(dotted_name(node.func), {**self._keywords(node)})

    def _keywords(self, node: ast.Call) -> dict[str, PythonValue]:
        if node.args:
            raise CallSyntaxError("an argument without a name")
        values: dict[str, PythonValue] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise CallSyntaxError("unpacking instead of named arguments")
            if keyword.arg in values:
                raise CallSyntaxError(f"the argument {keyword.arg} is given twice")
            values[keyword.arg] = self.value(keyword.value)
        return values

    def _value(self, node: ast.expr) -> PythonValue:
        match node:
            case ast.Name():
                return _WORDS.get(node.id, node.id)
            case ast.UnaryOp():
                return self._arithmetic.value(node)
            case ast.Call(func=ast.Name(id="dict")):
                return self._keywords(node)
            case ast.Call() | ast.Subscript():
                raise CallSyntaxError(f"no value: {type(node).__name__}")
            case ast.Constant() if node.value is ...:
                raise CallSyntaxError("no value: ...")
            case _:
                return super()._value(node)


def _is_name(callee: ast.expr) -> bool:
    while isinstance(callee, ast.Attribute):
        callee = callee.value
    return isinstance(callee, ast.Name)
