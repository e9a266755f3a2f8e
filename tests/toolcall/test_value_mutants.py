"""Wrong arguments made from gold ones: every kind of mistake, each at its place, and no other."""

from typing import Any

import pytest

from wildtool.toolcall.mutations import value_mutants, with_value

SCHEMA: dict[str, Any] = {
    "properties": {
        "city": {"type": "string", "description": "Where"},
        "unit": {"type": "string", "enum": ["km", "mi"]},
        "days": {"type": "integer", "default": 3},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "at": {"type": "object", "properties": {"lat": {"type": "number"}}},
        "limit": {"type": "integer"},
        "sort": {"type": "string", "enum": ["asc", "desc"], "description": "Order; default asc"},
        "on": {"type": "boolean", "description": "Default: true"},
        "off": {"type": "boolean"},
        "ids": {"type": "array"},
        "share": {"type": "float"},
        "more": {"type": "object"},
        "order": {"type": "string", "enum": ["up"], "description": "默认为up"},
        "any": {"type": ["string", "null"]},
    },
    "required": ["city", "days"],
}
GOLD: dict[str, Any] = {
    "city": "Oslo",
    "unit": "km",
    "days": 3,
    "flag": True,
    "tags": ["a", "b"],
    "at": {"lat": 0},
}


def changes(gold: dict[str, Any], schema: dict[str, Any]) -> list[tuple[str, dict[str, Any], str]]:
    """Kind, the top-level arguments that differ (`...`: left out), and the note."""
    return [
        (
            kind,
            {
                name: wrong.get(name, ...)
                for name in {**gold, **wrong}
                if wrong.get(name, ...) != gold.get(name, ...)
            },
            note,
        )
        for kind, wrong, note in value_mutants(gold, schema)
    ]


def test_arguments_of_all_types_have_these_mutants() -> None:
    nonsense = "zzyzx quuxly"
    assert changes(GOLD, SCHEMA) == [
        ("required argument left out", {"city": ...}, "city"),
        ("required argument left out", {"days": ...}, "days"),
        ("unknown argument", {"zz_unknown": 1}, "zz_unknown"),
        ("extra optional argument", {"limit": 987654}, "limit"),
        ("extra optional argument", {"sort": "desc"}, "sort"),
        ("extra optional argument", {"on": False}, "on"),
        ("extra optional argument", {"off": True}, "off"),
        ("extra optional argument", {"ids": [nonsense]}, "ids"),
        ("extra optional argument", {"share": 987654.5}, "share"),
        ("extra optional argument", {"more": {"zz_unknown": 1}}, "more"),
        ("extra optional argument", {"order": nonsense}, "order"),
        ("extra optional argument", {"any": nonsense}, "any"),
        ("other text", {"city": nonsense}, f"city: 'Oslo' -> '{nonsense}'"),
        ("empty text", {"city": ""}, "city: 'Oslo' -> ''"),
        ("invisible character in a word", {"city": "Os\u200blo"}, r"city: 'Oslo' -> 'Os\u200blo'"),
        ("wrong type", {"city": ["Oslo"]}, "city: 'Oslo' -> ['Oslo']"),
        ("null for a value", {"city": None}, "city: 'Oslo' -> None"),
        ("other enum member", {"unit": "mi"}, "unit: 'km' -> 'mi'"),
        ("other text", {"unit": nonsense}, f"unit: 'km' -> '{nonsense}'"),
        ("empty text", {"unit": ""}, "unit: 'km' -> ''"),
        ("wrong type", {"unit": ["km"]}, "unit: 'km' -> ['km']"),
        ("null for a value", {"unit": None}, "unit: 'km' -> None"),
        # As the default is gold, null is right for it.
        ("wrong number", {"days": 4}, "days: 3 -> 4"),
        ("wrong number", {"days": -3}, "days: 3 -> -3"),
        ("wrong type", {"days": "3"}, "days: 3 -> '3'"),
        ("wrong boolean", {"flag": False}, "flag: True -> False"),
        ("wrong type", {"flag": "true"}, "flag: True -> 'true'"),
        ("null for a value", {"flag": None}, "flag: True -> None"),
        ("element dropped", {"tags": ["a"]}, "tags: ['a', 'b'] -> ['a']"),
        ("element repeated", {"tags": ["a", "b", "b"]}, "tags: ['a', 'b'] -> ['a', 'b', 'b']"),
        ("elements reordered", {"tags": ["b", "a"]}, "tags: ['a', 'b'] -> ['b', 'a']"),
        ("null for a value", {"tags": None}, "tags: ['a', 'b'] -> None"),
        ("other text", {"tags": [nonsense, "b"]}, f"tags[0]: 'a' -> '{nonsense}'"),
        ("empty text", {"tags": ["", "b"]}, "tags[0]: 'a' -> ''"),
        ("wrong type", {"tags": [["a"], "b"]}, "tags[0]: 'a' -> ['a']"),
        ("null for a value", {"tags": [None, "b"]}, "tags[0]: 'a' -> None"),
        ("other text", {"tags": ["a", nonsense]}, f"tags[1]: 'b' -> '{nonsense}'"),
        ("empty text", {"tags": ["a", ""]}, "tags[1]: 'b' -> ''"),
        ("wrong type", {"tags": ["a", ["b"]]}, "tags[1]: 'b' -> ['b']"),
        ("null for a value", {"tags": ["a", None]}, "tags[1]: 'b' -> None"),
        ("wrong number", {"at": {"lat": 1}}, "at.lat: 0 -> 1"),
        ("wrong number", {"at": {"lat": 7}}, "at.lat: 0 -> 7"),
        ("wrong type", {"at": {"lat": "0"}}, "at.lat: 0 -> '0'"),
        ("null for a value", {"at": {"lat": None}}, "at.lat: 0 -> None"),
        ("swapped values", {"city": "km", "unit": "Oslo"}, "city and unit"),
    ]


def wrong_values(value: Any, kind: str) -> list[tuple[str, Any]]:
    """Kinds and values without those that every value has."""
    schema = {"properties": {"v": {"type": kind}}}
    everywhere = ("unknown argument", "other text", "empty text", "null for a value")
    return [
        (kind, wrong["v"]) for kind, wrong, _ in value_mutants({"v": value}, schema) if kind not in everywhere
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Do not send 2 of the 9 reports to Anna",
            [
                ("one digit of a text", "Do not send 2 of the 0 reports to Anna"),
                ("negation dropped from a text", "Do send 2 of the 9 reports to Anna"),
                ("last words of a text left out", "Do not send 2 of"),
                ("content word dropped from a text", "Do not send 2 of the 9 to Anna"),
                ("content word added to a text", "Do not send 2 of the 9 urgent reports to Anna"),
                ("invisible character in a word", "Do not se\u200bnd 2 of the 9 reports to Anna"),
            ],
        ),
        ("ab", []),
        ("one two three", [("invisible character in a word", "one two th\u200bree")]),
        (
            "one two three four",
            [
                ("last words of a text left out", "one two"),
                ("invisible character in a word", "one two th\u200bree four"),
            ],
        ),
        (
            "two boxes of red tea",
            [
                ("last words of a text left out", "two boxes"),
                ("content word dropped from a text", "two of red tea"),
                ("content word added to a text", "two urgent boxes of red tea"),
                ("invisible character in a word", "two bo\u200bxes of red tea"),
            ],
        ),
        (
            "kindly give me what about this",
            [
                ("last words of a text left out", "kindly give me"),
                ("content word dropped from a text", "kindly me what about this"),
                ("content word added to a text", "kindly urgent give me what about this"),
                ("invisible character in a word", "ki\u200bndly give me what about this"),
            ],
        ),
        (
            "请把这份报告发客户公",
            [
                ("content word dropped from a text", "请把这份发客户公"),
                ("content word added to a text", "请把这份报紧急告发客户公"),
            ],
        ),
        ("请把这份报告发客户", []),
        (
            "A: 请把这份报告发客户公司",
            [
                ("content word dropped from a text", "A: 请把这份发客户公司"),
                ("content word added to a text", "A: 请把这份报紧急告发客户公司"),
            ],
        ),
        ("不要香菜", [("negation dropped from a text", "要香菜")]),
        (
            "The shop is open.",
            [
                ("last words of a text left out", "The shop"),
                ("invisible character in a word", "The sh\u200bop is open."),
                ("statement made a question", "The shop is open?"),
            ],
        ),
        ("ls -la", [("case of a letter in code", "Ls -la")]),
    ],
)
def test_texts_have_these_mutants(text: str, expected: list[tuple[str, str]]) -> None:
    assert wrong_values(text, "string") == [*expected, ("wrong type", [text])]


def test_lists_have_these_mutants() -> None:
    assert wrong_values([], "array") == []
    assert wrong_values([1], "array")[:2] == [("element dropped", []), ("element repeated", [1, 1])]
    assert [kind for kind, _ in wrong_values([1, 2, 1], "array")[:3]] == [
        "element dropped",
        "element repeated",
        "wrong number",
    ]


def test_a_value_that_breaks_its_schema_has_no_mutant_of_another_type() -> None:
    assert wrong_values("five", "integer") == [("invisible character in a word", "fi\u200bve")]
    assert wrong_values(5, "string") == [("wrong number", 6), ("wrong number", -5)]


def test_the_same_values_are_not_swapped_and_neither_are_values_of_two_types() -> None:
    notes = [
        note
        for kind, _, note in value_mutants({"a": 1, "b": 1, "c": True, "d": 2}, {})
        if kind == "swapped values"
    ]
    assert notes == ["a and d", "b and d"]


def test_a_value_is_set_in_a_copy() -> None:
    gold = {"stops": [{"city": "Oslo"}, {"city": "Rome"}]}
    assert with_value(gold, ("stops", 1, "city"), "Bonn") == {"stops": [{"city": "Oslo"}, {"city": "Bonn"}]}
    assert gold == {"stops": [{"city": "Oslo"}, {"city": "Rome"}]}
