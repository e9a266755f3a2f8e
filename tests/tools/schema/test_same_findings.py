"""What is found in a definition, a value or a pattern, in full: roles are shown these texts."""

import json
import string
from random import Random
from typing import Any

from generate.careless import careless
from generate.golden import check
from wildtool.tools.schema.constraints import (
    constraint_faults,
    pattern_problem,
    unchecked_patterns,
    value_bounds,
)
from wildtool.tools.schema.definitions import (
    call_problems,
    definition_faults,
    duplicate_names,
    format_types,
)
from wildtool.tools.schema.pattern_risk import pattern_risk
from wildtool.tools.schema.patterns import PatternError, follows, parse_pattern, sample
from wildtool.types import Request

TEXT = {"type": "string", "description": "Words."}
WHOLE = {"type": "integer", "description": "Whole."}
RIGHT: dict[str, Any] = {
    "name": "bookRoom",
    "description": "Books a room.",
    "parameters": {
        "type": "object",
        "properties": {
            "city": TEXT,
            "nights": {**WHOLE, "minimum": 1, "maximum": 9, "default": 2},
            "view": {**TEXT, "enum": ["sea", "garden"]},
            "code": {**TEXT, "pattern": "^[A-C]{2}$", "minLength": 2, "maxLength": 2},
            "day": {**TEXT, "format": "date"},
            "guests": {"type": "array", "description": "Who.", "items": TEXT, "minItems": 1, "maxItems": 4},
            "stay": {
                "type": "object",
                "description": "Where.",
                "properties": {"floor": WHOLE},
                "required": ["floor"],
            },
            "either": {"anyOf": [TEXT, WHOLE], "description": "Both."},
        },
        "required": ["city", "nights"],
    },
}


def _with(**schema: Any) -> dict[str, Any]:
    return {
        **RIGHT,
        "parameters": {
            "type": "object",
            "properties": {"x": {"description": "It.", **schema}},
            "required": [],
        },
    }


def _nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = TEXT
    for _ in range(depth):
        schema = {"type": "object", "description": "In.", "properties": {"in": schema}}
    return schema


def _listed(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = TEXT
    for _ in range(depth):
        schema = {"type": "array", "description": "In.", "items": schema}
    return schema


def _branched(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = TEXT
    for _ in range(depth):
        schema = {"anyOf": [schema]}
    return schema


def _lists(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


DEFINITIONS: dict[str, Any] = {
    "right": RIGHT,
    "none": None,
    "list": [],
    "empty": {},
    "name 64": {**RIGHT, "name": "a" * 64},
    "name 65": {**RIGHT, "name": "a" * 65},
    "name 1a": {**RIGHT, "name": "1a"},
    "no description": {**RIGHT, "description": " TODO. "},
    "description 1000": {**RIGHT, "description": "a" * 1000},
    "description 1001": {**RIGHT, "description": "a" * 1001},
    "parameters of a list": {**RIGHT, "parameters": []},
    "parameters without type": {**RIGHT, "parameters": {"properties": {}}},
    "large": _with(type="string", enum=["a" * 100 + str(k) for k in range(90)]),
    "nested 4": _with(**_nested(3)),
    "nested 5": _with(**_nested(4)),
    **{f"nested {depth}": _with(**_nested(depth)) for depth in (16, 17, 18, 19, 20, 60)},
    "type": _with(type="text"),
    "no type": _with(),
    "types": _with(type=["string"]),
    "any of nothing": _with(anyOf=[]),
    "any of faults": _with(anyOf=[{"type": "x"}, TEXT]),
    "enum of nothing": _with(type="string", enum=[]),
    "enum 60": _with(type="integer", enum=list(range(60))),
    "enum 61": _with(type="integer", enum=list(range(61))),
    "enum no list": _with(type="string", enum="a"),
    "enum twice": _with(type="string", enum=["a", "b", "a"]),
    "enum 1 and true": _with(type="boolean", enum=[True, 1]),
    "enum of a list": _with(type="array", items=TEXT, enum=[["a"]]),
    "enum of another type": _with(type="integer", enum=["a", 2]),
    "default": _with(type="integer", default="a"),
    "default null": _with(type="integer", default=None),
    "default in enum": _with(type="string", enum=["a"], default="b"),
    "default deep": _with(type="object", properties={"a": TEXT}, default={"a": 1}),
    "pattern of a number": _with(type="integer", pattern="a"),
    "pattern broken": _with(type="string", pattern="("),
    "pattern no text": _with(type="string", pattern=3),
    "pattern of nothing": _with(type="string", pattern="^(a|b)$", minLength=2),
    "pattern hangs": _with(type="string", pattern="^(a+)+$"),
    "pattern unusual": _with(type="string", pattern="[[a]"),
    "pattern and format": _with(type="string", pattern="^\\d{4}-\\d\\d-\\d\\d$", format="date"),
    "pattern and enum": _with(type="string", pattern="^a$", enum=["a"]),
    "bounds turned": _with(type="integer", minimum=3, maximum=2),
    "bounds equal": _with(type="integer", minimum=2, maximum=2),
    "bound no number": _with(type="integer", minimum="2"),
    "bound of a text": _with(type="string", minimum=2),
    "length of a number": _with(type="integer", minLength=2),
    "items of a text": _with(type="string", maxItems=2),
    "lengths turned": _with(type="string", minLength=3, maxLength=2),
    "format": _with(type="string", format="colour"),
    "format of a number": _with(type="integer", format="date"),
    "format no text": _with(type="string", format=3),
    "object of nothing": _with(type="object"),
    "object open": _with(type="object", additionalProperties=True),
    "properties no object": _with(type="object", properties=[]),
    "list of nothing": _with(type="array"),
    "list of anything": _with(type="array", items={}),
    **{f"lists {depth}": _with(**_listed(depth)) for depth in (3, 4)},
    **{f"branches {depth}": _with(**_branched(depth)) for depth in (3, 4)},
    **{
        f"default of {depth} lists": _with(type="array", items=TEXT, default=_lists(depth))
        for depth in (37, 38)
    },
    "list of faults": _with(type="array", items={"type": "x"}),
    "20 properties": {
        **RIGHT,
        "parameters": {"type": "object", "properties": {f"p{k}": TEXT for k in range(20)}},
    },
    "21 properties": {
        **RIGHT,
        "parameters": {"type": "object", "properties": {f"p{k}": TEXT for k in range(21)}},
    },
    "required twice": {**RIGHT, "parameters": {**RIGHT["parameters"], "required": ["city", "city", "x", 3]}},
    "required no list": {**RIGHT, "parameters": {**RIGHT["parameters"], "required": "city"}},
    "names": {
        **RIGHT,
        "parameters": {
            "type": "object",
            "properties": {
                "a b": TEXT,
                "properties": TEXT,
                "userId": TEXT,
                "user_id": TEXT,
                "_x": TEXT,
                "1x": TEXT,
                "y" * 65: TEXT,
            },
        },
    },
    "undescribed": {**RIGHT, "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}},
}


def test_each_fault_of_a_definition_is_named_in_full():
    found = {name: definition_faults(value) for name, value in DEFINITIONS.items()}
    check(
        "definition_faults",
        {name: [f"{f.rule}: {f.message}" for f in faults] for name, faults in found.items()},
    )


def test_drawn_definitions_have_the_same_faults():
    spoil, rows = careless(1.0), {}
    for k in range(150):
        text = spoil(
            "designer", json.dumps(RIGHT["parameters"]), Request([{"role": "user", "content": str(k)}])
        )
        try:
            parameters = json.loads(text)
        except ValueError:
            continue
        rows[str(k)] = [
            f"{f.rule}: {f.message}" for f in definition_faults({**RIGHT, "parameters": parameters})
        ]
        rows[str(k)] += [
            f"{path}: {problem}"
            for path, problem in unchecked_patterns(parameters if isinstance(parameters, dict) else {})
        ]
    check("definition_faults_drawn", rows)


VALUES: list[tuple[Any, dict[str, Any]]] = [
    *((value, {"minimum": 2, "maximum": 4}) for value in (1, 2, 4, 5, 1.9, True, "1")),
    *((value, {"exclusiveMinimum": 2, "exclusiveMaximum": 4}) for value in (1, 2, 2.1, 4, 5)),
    *((value, {"minimum": True, "maximum": "4"}) for value in (0, 5)),
    *((value, {"minLength": 2, "maxLength": 3}) for value in ("a", "ab", "abc", "abcd", ["a"])),
    *(
        (value, {"minItems": 2, "maxItems": 3, "uniqueItems": True})
        for value in (["a"], ["a", "a"], ["a", "b", "c"], [1, 2, 3, 1], "a")
    ),
    (["a", "a"], {"uniqueItems": 1}),
    ([*range(200), 0], {"uniqueItems": True}),
    ([0, *range(199), 7], {"uniqueItems": True}),
    *((value, {"format": "date"}) for value in ("2025-02-28", "2025-02-29", "2025-2-28", "2025-02-28 ", 3)),
    *(
        (value, {"format": "date-time"})
        for value in ("2025-02-28T10:00", "2025-02-30T10:00", "2025-02-28 23:59:59Z", "2025-02-28T24:00")
    ),
    *((value, {"format": "time"}) for value in ("23:59", "24:00", "9:00", "09:60", "09:30:61")),
    *((value, {"format": "email"}) for value in ("a@b.c", "a@b", "a b@c.d", "a@b..c")),
    *((value, {"format": "ipv4"}) for value in ("255.0.0.1", "256.0.0.1", "1.2.3")),
    *(
        (value, {"format": "uuid"})
        for value in ("3f2b8c1e-7d4a-4c1b-9f30-5a6e2d8b7c90", "3f2b8c1e7d4a4c1b9f305a6e2d8b7c90")
    ),
    *(
        (value, {"format": "uri"})
        for value in ("a:b", "1a:b", "https://x y", "h:" + "x" * 1998, "h:" + "x" * 1999)
    ),
    ("x", {"format": "colour"}),
    ("x", {"format": ["date"]}),
    *((value, {"pattern": "^[ab]+$"}) for value in ("ab", "abc", 3)),
    ("x", {"pattern": "("}),
    ("\ud800", {"pattern": "^\\?$"}),
    ([3, 1, 1], {"uniqueItems": True, "items": {"minimum": 2}}),
    ({"a": [{"b": 5}, {"b": 1}]}, {"properties": {"a": {"items": {"properties": {"b": {"minimum": 2}}}}}}),
]


def test_each_constraint_that_a_value_breaks_is_named_in_full():
    rows = {
        (name if len(name := json.dumps([value, schema])) <= 200 else f"{name[:200]} {len(name)}"): [
            *constraint_faults(value, schema)
        ]
        for value, schema in VALUES
    }
    assert len(rows) == len(VALUES)
    check(
        "constraint_faults",
        {name: [f"{path}: {text}" for path, text in found] for name, found in rows.items()},
    )


def test_bounds_that_a_schema_does_not_say_are_made_up():
    schemas: list[dict[str, Any]] = [
        {},
        {"minimum": 5},
        {"minimum": 500},
        {"maximum": 5},
        {"maximum": -3},
        {"maximum": 500},
        {"minimum": 1, "maximum": 2},
        {"exclusiveMinimum": 1},
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 5},
        {"minimum": 2, "exclusiveMinimum": 2},
        {"maximum": 4, "exclusiveMaximum": 4},
        {"minimum": 1e300},
        {"minimum": -1e300, "maximum": 9e299},
        {"minimum": True},
        {"minimum": -500},
    ]
    check("value_bounds", {json.dumps(schema): value_bounds(schema) for schema in schemas})


def test_types_are_written_as_the_format_has_them():
    schema = {
        "type": "number",
        "properties": {"a": {"type": "float"}, "b": {"type": "x"}},
        "items": {"type": "number"},
        "anyOf": [{"type": "number"}, 3],
        "enum": [1],
    }
    assert format_types(schema) == {
        "type": "float",
        "properties": {"a": {"type": "float"}, "b": {"type": "x"}},
        "items": {"type": "float"},
        "anyOf": [{"type": "float"}, {}],
        "enum": [1],
    }
    assert format_types({"type": ["a"], "properties": [], "items": 3, "anyOf": {}}) == {
        "type": ["a"],
        "properties": [],
        "items": 3,
        "anyOf": {},
    }
    assert call_problems(
        {"a": "x"}, {"type": "object", "properties": {"a": {"type": "number", "minimum": 3}}}
    ) == [("a", "expected type float, found 'x'")]
    both = {"type": "object", "properties": {"a": {"type": "number", "minimum": 3}}, "required": ["b"]}
    assert call_problems({"a": 1}, both) == [("b", "a required argument is missing"), ("a", "1 is below 3")]
    assert duplicate_names(["a", "B", "b", "c", "A", "b"]) == ["a", "B", "b", "A"]


PIECES = [
    "a",
    "b",
    "-",
    ".",
    "^",
    "$",
    "|",
    "(",
    ")",
    "(?:",
    "(?=",
    "(?<n>",
    "(?P<n>",
    "(?<!",
    "(?i)",
    "[",
    "]",
    "[^",
    "a-c",
    "\\d",
    "\\W",
    "\\s",
    "\\b",
    "\\B",
    "\\1",
    "\\0",
    "\\x41",
    "\\u00e9",
    "\\x4",
    "\\-",
    "\\q",
    "\\",
    "*",
    "+",
    "?",
    "*?",
    "{2}",
    "{2,}",
    "{1,3}",
    "{3,1}",
    "{,2}",
    "{x}",
    "{1001}",
    "{9}",
    "{7}",
    "{8}",
    "\\n",
    " ",
    "é",
]
PATTERNS = [
    "(?:xb*a*b)*",
    "[a-a]",
    f"({'|'.join(string.ascii_letters[:52] + '01')})*",
    f"({'|'.join(string.ascii_letters + string.digits)})*",
    "",
    "^$",
    "[]",
    "[^]",
    "a|",
    "|",
    "(a|b)c{2,3}",
    "[a-]",
    "[-a]",
    "[a\\-c]",
    "[\\d-z]",
    "[z-a]",
    "[\\b]",
    "[a-c-e]",
    "\\w+@\\w+\\.org",
    "(?<year>\\d{4})",
    "(a+)+",
    "(a|a)*",
    "(ab|ac)*",
    "(a*b)*",
    "(a?b)*",
    "a{0,7}a",
    "(a{0,7})*",
    "(a{0,8})*",
    "(a{2,3}){8}",
    "(?:[ab][bc])*",
    "(a|b|[a-c])*",
    "x*x*",
    "(x*x*)*",
    "(?:ab){1,9}",
    "((((a))))",
    "(" * 31 + "a" + ")" * 31,
    "(" * 30 + "a" + ")" * 30,
    "a" * 500,
    "a" * 501,
    "((a{1000}){1000}){1000}",
    "(?:a{30}){30}",
    "(?:^a)*",
    "[ \\t]+",
    "^\\s$",
    "[\\u4e00-\\u9fff]{2}",
    "a{1000}",
    "(.|\\n)*",
    "a**",
    "a+?b",
    "a{2}{3}",
    "\\",
    "a\\",
    "[a",
    "(?",
    "(?<",
    "(?a",
    ")",
    "a)",
    "a{",
    "a{1",
    "a{1,",
    "a{1,2",
    "a{2,x}",
    "a{000001}",
    "a{0000001}",
    "{",
    "}",
    "a}",
    "\\c",
    "[\\q]",
    "\\u12",
    "(?:a|(?:b|c{2}))+$",
    "^(0[1-9]|1[0-2])$",
    "[^\\x00-\\U]",
    "(a{1,7}b?){1,7}",
    "(a|b{2,9}c)+",
    "[\\w.]+",
    "(?:a|b)(?:a|b)*",
    "((a|b)+,)+",
    "(x{0}){9}",
    "(?:(?:){5}){9}",
    "(ab?){3,}",
]


def _drawn_patterns() -> list[str]:
    draw = Random(5)
    return ["".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 7))) for _ in range(400)]


def _about(pattern: str) -> Any:
    try:
        part = parse_pattern(pattern)
        if problem := pattern_problem({"pattern": pattern}):
            return problem
        text = sample(pattern, Random(3))
        matches = [
            other for other in ("", "a", "ab", "aab", "b c", "-", "7", "a\n", "é") if follows(other, pattern)
        ]
        return f"{pattern_risk(pattern)[:20]!r} {text and text[:60]!r} in {' '.join(map(repr, matches))}: {part!r}"[
            :900
        ]
    except PatternError as error:
        return str(error)


def test_a_pattern_is_read_matched_and_drawn_from_in_the_same_way():
    check("patterns", {f"{pattern[:70]} {len(pattern)}": _about(pattern) for pattern in PATTERNS})
    check("patterns_drawn", {pattern: _about(pattern) for pattern in _drawn_patterns()})


def test_patterns_are_looked_at_down_to_a_depth():
    schema: dict[str, Any] = {"type": "string", "pattern": "("}
    for k in range(7):
        schema = {"pattern": "(", "properties": {f"p{k}": schema}, "items": {"pattern": ")"}}
    found = [path for path, _ in unchecked_patterns(schema)]
    names = ["p6", "p6.p5", "p6.p5.p4", "p6.p5.p4.p3", "p6.p5.p4.p3.p2"]
    assert found == ["", *names, *(f"{name}[]" for name in reversed(["", *names[:-1]]))]
    listed: dict[str, Any] = {}
    for _ in range(8):
        listed = {"pattern": "(", "items": listed}
    assert [path for path, _ in unchecked_patterns(listed)] == ["[]" * k for k in range(6)]


def test_definitions_and_patterns_are_looked_at_up_to_a_size():
    def sized(size: int) -> dict[str, Any]:
        texts = {f"p{k}": {"type": "string", "description": "x" * 900} for k in range(8)}
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {**texts, "y": {"type": "string", "description": ""}},
        }
        schema["properties"]["y"]["description"] = "x" * (size - len(repr(schema)))
        return {**RIGHT, "parameters": schema}

    assert [[fault.rule for fault in definition_faults(sized(size))] for size in (8000, 8001)] == [[], ["D9"]]

    def loop(count: int, first: int) -> str:
        return f"({'|'.join(chr(first + k) for k in range(count))})*"

    # 54 alternatives in a loop can follow each other in 54 × 54 ways.
    steps = f"^{loop(54, 0x4E00)}{loop(9, 0x5000)}a*b*c*"
    assert [
        bool(pattern_risk(pattern)) for pattern in ("a" * 400, "a" * 401, f"{steps}$", f"{steps}d*$")
    ] == [False, True, False, True]
