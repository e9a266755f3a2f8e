"""What the published check says of a call's arguments, by schema and by gold."""

from typing import Any

import pytest

from wildtool.benchmarks.wildtoolbench.official.arguments import argument_schemas, argument_verdict

PARAMETERS: dict[str, Any] = {
    "n": {"type": "integer"},
    "x": {"type": "float"},
    "s": {"type": "string", "enum": ["a", "b"]},
    "t": {},
    "b": {"type": "boolean"},
    "l": {"type": "array", "items": {"type": "integer"}},
    "o": {
        "type": "object",
        "properties": {"k": {"type": "string"}, "q": {"type": "integer"}},
        "required": ["k"],
    },
    "u": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    "m": {"type": "object", "additionalProperties": True},
    "ll": {"type": "array"},
}
SCHEMAS = {"f": {"type": "object", "required": ["n"], "properties": PARAMETERS}}


@pytest.mark.parametrize(
    ("arguments", "gold", "check"),
    [
        ("{", "{}", "error: args invalid json format"),
        ("[]", "{}", "error_schema: args type inconsistent"),
        ("{}", '{"n": 1}', "error_schema: required args missing"),
        ('{"n": 1, "z": 1}', '{"n": 1}', "error_schema: args not defined"),
        ('{"n": "1"}', '{"n": 1}', "error_schema: nested args type inconsistent"),
        ('{"n": 1}', '{"n": 1}', "correct"),
        ('{"n": 2}', '{"n": 1}', "error_match: value mismatch at 'n'"),
        ('{"n": 1.0}', '{"n": 1}', "error_schema: nested args type inconsistent"),
        ('{"n": 1, "x": 2}', '{"n": 1, "x": 2.5}', "error_schema: nested args type inconsistent"),
        ('{"n": 1, "s": "c"}', '{"n": 1, "s": "a"}', "error_schema: nested args value not in enum"),
        (
            '{"n": 1, "s": "b"}',
            '{"n": 1, "s": "a"}',
            "error_match: string similarity too low at 's' (edit score: 0.00)",
        ),
        ('{"n": 1, "t": 5}', '{"n": 1, "t": "x"}', "error_schema: nested args type inconsistent"),
        ('{"n": 1, "t": "X y"}', '{"n": 1, "t": "xy"}', "correct"),
        (
            '{"n": 1, "t": "abcdefgh"}',
            '{"n": 1, "t": "abcdefgi"}',
            "error_match: string similarity too low at 't' (rouge score: 0.00)",
        ),
        (
            '{"n": 1, "t": "zzzz"}',
            '{"n": 1, "t": "abcd"}',
            "error_match: string similarity too low at 't' (edit score: 0.00)",
        ),
        ('{"n": 1, "b": true}', '{"n": 1, "b": false}', "error_match: value mismatch at 'b'"),
        ('{"n": 1, "l": [1, "a"]}', '{"n": 1, "l": [1, 2]}', "error_schema: nested args type inconsistent"),
        ('{"n": 1, "l": [1]}', '{"n": 1, "l": [1, 2]}', "error_match: array length mismatch at 'l'"),
        ('{"n": 1, "l": [1, 3]}', '{"n": 1, "l": [1, 2]}', "error_match: value mismatch at 'l[1]'"),
        ('{"n": 1, "l": {}}', '{"n": 1, "l": [1]}', "error_schema: nested args type inconsistent"),
        ('{"n": 1, "o": {}}', '{"n": 1, "o": {"k": "a"}}', "error_schema: required nested args missing"),
        (
            '{"n": 1, "o": {"k": "a", "z": 1}}',
            '{"n": 1, "o": {"k": "a"}}',
            "error_schema: nested args not defined",
        ),
        (
            '{"n": 1, "o": {"k": "a"}}',
            '{"n": 1, "o": {"k": "a", "q": 1}}',
            "error_match: args keys mismatch at 'o' (missing: ['q'])",
        ),
        (
            '{"n": 1, "o": {"k": "a", "q": 2}}',
            '{"n": 1, "o": {"k": "a", "q": 1}}',
            "error_match: value mismatch at 'o.q'",
        ),
        ('{"n": 1, "u": "x"}', '{"n": 1, "u": "x"}', "correct"),
        ('{"n": 1, "u": []}', '{"n": 1, "u": "x"}', "error_schema: nested args type inconsistent"),
        ('{"n": 1, "m": {"a": 1}}', '{"n": 1, "m": {"a": 2}}', "error_match: value mismatch at 'm.a'"),
        ('{"n": 1, "ll": [[1]]}', '{"n": 1, "ll": [[1]]}', "correct"),
        ('{"n": 1, "ll": ["1"]}', '{"n": 1, "ll": [1]}', "error_match: value type inconsistent at 'll[0]'"),
        (
            '{"n": 1, "ll": [{"k": 1}]}',
            '{"n": 1, "ll": [{"k": 1, "q": 2}]}',
            "error_match: args keys mismatch at 'll[0]' (missing: ['q'])",
        ),
        (
            '{"n": 1, "t": "aaab"}',
            '{"n": 1, "t": "baca"}',
            "error_match: string similarity too low at 't' (edit score: 0.50)",
        ),
        (
            '{"n": 1}',
            '{"n": 1, "b": true, "x": 1.5}',
            "error_match: args keys mismatch (missing: ['b', 'x'])",
        ),
        ('{"n": 1, "b": true}', '{"n": 1}', "error_match: args keys mismatch (extra: ['b'])"),
        (
            '{"n": 1, "t": "The quick brown fox jumps over the lazy dog in the evening"}',
            '{"n": 1, "t": "The quick brown fox jumps over the lazy cat in the evening"}',
            "correct",
        ),
        (
            '{"n": 1, "t": "Nothing of it"}',
            '{"n": 1, "t": "The quick brown fox jumps over the lazy cat in the evening"}',
            "error_match: string similarity too low at 't' (rouge score: 0.00)",
        ),
        (
            '{"n": 1, "t": "..."}',
            '{"n": 1, "t": "The quick brown fox jumps over the lazy cat in the evening"}',
            "error_match: rouge calculation failed at 't'",
        ),
        (
            '{"n": 1, "t": "今天天气很好我们去公园玩吧朋友们一起来吧好吗当然可以"}',
            '{"n": 1, "t": "今天天气很好我们去公园玩吧朋友们一起来吧好吗当然不行"}',
            "correct",
        ),
    ],
)
def test_arguments_are_checked_by_schema_and_then_by_gold(arguments: str, gold: str, check: str) -> None:
    assert argument_verdict(SCHEMAS, "f", arguments, gold) == check


def test_tools_that_can_be_read_have_a_schema() -> None:
    tools = [
        {},
        {"function": {"name": "f", "parameters": {"required": "ab", "properties": {"a": 1}, "type": "x"}}},
        {"function": {"name": "g"}},
        {"function": {"parameters": {}}},
        {"function": {"name": "h", "parameters": []}},
    ]
    schemas = argument_schemas(tools)
    assert {name: {**schema, "required": sorted(schema["required"])} for name, schema in schemas.items()} == {
        "f": {"type": "object", "required": ["a", "b"], "properties": {"a": 1}},
        "g": {"type": "object", "required": [], "properties": {}},
    }
