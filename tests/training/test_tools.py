"""Tools of every layout in OpenAI's shape."""

from typing import Any

import pytest

from training.record_forms import tool
from wildtool.training.tools import TypeText, read_type, tools_from

ANY, TEXT, WHOLE = {}, {"type": "string"}, {"type": "integer"}
NUMBER, LIST, OBJECT = {"type": "number"}, {"type": "array"}, {"type": "object"}


LONG = "x" * 80


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("list[a b]", TypeText(LIST, False, ("a b",))),
        ("tuple[a b, c d]", TypeText(LIST, False, ("a b", "c d"))),
        ("list[Optional[a b]]", TypeText(LIST, False, ("a b",))),
        ("a b | c d | None", TypeText(ANY, True, ("a b", "c d"))),
        ("int |", TypeText(ANY, False, ("int |",))),
        ("Optional[a b]", TypeText(ANY, True, ("a b",))),
        ("Page[int]", TypeText(ANY, False, ("Page[int]",))),
        (f"Page[{LONG}]", TypeText(ANY, False, (f"Page[{LONG[:55]}",))),
        (LONG, TypeText(ANY, False, (LONG[:60],))),
        ("Literal[a b]", TypeText(ANY, False, ("Literal[a b]",))),
        (f"Literal[{LONG} b]", TypeText(ANY, False, (f"Literal[{LONG[:52]}",))),
        ("Literal[-'a']", TypeText(ANY, False, ("Literal[-'a']",))),
    ],
)
def test_words_that_no_rule_knows_are_named(text: str, reading: TypeText):
    assert read_type(text) == reading


# Forms of tools --------------------------------------------------------------------------------------

F = tool("f", "a", a=WHOLE)


@pytest.mark.parametrize(
    "value",
    [
        {"toolSpec": {"name": "f", "inputSchema": {"json": {"a": "int"}}}},
        [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"a": "int"}}]}],
    ],
)
def test_wrapped_definitions_are_read_and_given_as_found(value: Any):
    found = tools_from(value)
    assert found.tools == (F,)
    assert found.given == tuple(value if isinstance(value, list) else [value])
