"""What a comparison of arguments reports: place, rule, both values and the message, for each kind of difference."""

from typing import Any

import pytest

from wildtool.toolcall.compare import ArgumentDifference, compare_arguments

PARAMETERS: dict[str, Any] = {
    "properties": {
        "a": {"type": "integer", "default": 1},
        "b": {"type": "string"},
        "c": {"enum": ["x", "y"]},
        "o": {"type": "object", "properties": {"k": {"type": "string", "default": "v"}}},
        "l": {"type": "array", "items": {"type": "integer"}},
        "d": {"type": "string", "description": "Default: 'en'"},
    },
    "required": ["b"],
}
Row = tuple[str, str, Any, Any, str]


@pytest.mark.parametrize(
    ("gold", "predicted", "differences"),
    [
        ({"a": 1, "b": "x"}, {}, [("b", "missing", "x", None, "b: 'x' is missing")]),
        ({"a": 2}, {"a": None}, [("a", "missing", 2, None, "a: 2 is missing")]),
        (
            {},
            {"a": 1, "b": None, "c": "x"},
            [
                ("b", "extra", None, None, "b: null was not asked for"),
                ("c", "extra", None, "x", "c: 'x' was not asked for"),
            ],
        ),
        ({}, {"a": 2}, [("a", "extra", None, 2, "a: 2 was not asked for")]),
        ({"a": 1}, {"a": "1"}, [("a", "type", 1, "1", "a: '1' is not 1 (type)")]),
        ({"a": "1"}, {"a": 1}, []),
        ({"a": "1"}, {"a": 2}, [("a", "type", "1", 2, "a: 2 is not '1' (type)")]),
        ({"c": "x"}, {"c": "X"}, [("c", "enum", "x", "X", "c: 'X' is another member than 'x' (enum)")]),
        ({"c": "x"}, {"c": "y"}, [("c", "enum", "x", "y", "c: 'y' is another member than 'x' (enum)")]),
        ({"c": "X"}, {"c": "x"}, []),
        ({"o": {"k": "v"}}, {"o": {}}, []),
        ({"o": {"k": "w"}}, {"o": {}}, [("o.k", "missing", "w", None, "o.k: 'w' is missing")]),
        (
            {"o": {}},
            {"o": {"k": "w", "n": 1}},
            [
                ("o.k", "extra", None, "w", "o.k: 'w' was not asked for"),
                ("o.n", "extra", None, 1, "o.n: 1 was not asked for"),
            ],
        ),
        ({"l": [1, 2]}, {"l": [1, 3]}, [("l[1]", "number", 2, 3, "l[1]: 3 is not 2 (number)")]),
        (
            {"l": [1, 2]},
            {"l": [1]},
            [("l", "length", [1, 2], [1], "l: array of 1 is of another length than array of 2 (length)")],
        ),
        ({"l": [1]}, {"l": 1}, [("l", "type", [1], 1, "l: 1 is not array of 1 (type)")]),
        ({"d": "en"}, {}, []),
        ({"d": "fr"}, {}, [("d", "missing", "fr", None, "d: 'fr' is missing")]),
        ({"x": True}, {"x": False}, [("x", "boolean", True, False, "x: False is not True (boolean)")]),
        ({"x": True}, {"x": 1}, [("x", "type", True, 1, "x: 1 is not True (type)")]),
        ({"x": None}, {"x": 0}, [("x", "type", None, 0, "x: 0 is not null (type)")]),
        ({"x": []}, {"x": {}}, [("x", "type", [], {}, "x: object of 0 is not array of 0 (type)")]),
        ({"x": {}}, {"x": None}, [("x", "type", {}, None, "x: null is not object of 0 (type)")]),
        ({"x": 1.5}, {"x": 1.6}, [("x", "number", 1.5, 1.6, "x: 1.6 is not 1.5 (number)")]),
        (
            {"x": 1152921504606846976},
            {"x": 1152921504606846977},
            [
                (
                    "x",
                    "number",
                    1152921504606846976,
                    1152921504606846977,
                    "x: 1152921504606846977 is not 1152921504606846976 (number)",
                )
            ],
        ),
        (
            {"x": 1e17},
            {"x": 1.0000000000000002e17},
            [("x", "number", 1e17, 1.0000000000000002e17, "x: 1.0000000000000002e+17 is not 1e+17 (number)")],
        ),
        (
            {"x": "red"},
            {"x": "blue"},
            [("x", "short text", "red", "blue", "x: 'blue' does not mean 'red' (short text)")],
        ),
        (
            {"x": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
            {"x": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
            [
                (
                    "x",
                    "short text",
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
                    "x: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'… (61 characters) does not mean "
                    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' (short text)",
                )
            ],
        ),
        (
            {"x": 10000000000000000000000000000000000000000000000000000000000000},
            {"x": 1},
            [
                (
                    "x",
                    "number",
                    10000000000000000000000000000000000000000000000000000000000000,
                    1,
                    "x: 1 is not an integer of more than 60 digits (number)",
                )
            ],
        ),
        (
            {"x": 1},
            {"x": -1606938044258990275541962092341162602522202993782792835301376},
            [
                (
                    "x",
                    "number",
                    1,
                    -1606938044258990275541962092341162602522202993782792835301376,
                    "x: an integer of more than 60 digits is not 1 (number)",
                )
            ],
        ),
        (
            {"x": 1},
            {"x": 1606938044258990275541962092341162602522202993782792835301375},
            [
                (
                    "x",
                    "number",
                    1,
                    1606938044258990275541962092341162602522202993782792835301375,
                    "x: 160693804425899027554196209234116260252220299378279283530137 is not 1 (number)",
                )
            ],
        ),
        (
            {"x": {"y": [{"z": "é"}]}},
            {"x": {"y": [{"z": "\ud800"}]}},
            [("x.y[0].z", "short text", "é", "\ud800", "x.y[0].z: '\\ud800' does not mean 'é' (short text)")],
        ),
    ],
)
def test_each_difference_has_its_place_rule_values_and_message(
    gold: dict[str, Any], predicted: dict[str, Any], differences: list[Row]
) -> None:
    assert compare_arguments(gold, predicted, PARAMETERS) == [ArgumentDifference(*row) for row in differences]


def only_message(gold: Any, predicted: Any) -> str:
    (difference,) = compare_arguments({"x": gold}, {"x": predicted}, {})
    return difference.message


def test_long_texts_are_clipped_after_60_characters() -> None:
    assert only_message("a" * 60, "b" * 61) == (
        f"x: '{'b' * 60}'… (61 characters) does not mean '{'a' * 60}' (short text)"
    )
    assert only_message("a", "b" * 1_234).startswith(f"x: '{'b' * 60}'… (1,234 characters) does not")


def test_long_integers_are_not_written_out() -> None:
    assert only_message(1, -(2**200)) == "x: an integer of more than 60 digits is not 1 (number)"
    assert only_message(1, 2**200 - 1) == f"x: {str(2**200 - 1)[:60]} is not 1 (number)"


def test_long_names_are_clipped_after_60_characters() -> None:
    assert compare_arguments({"y" * 61: 1}, {}, {}) == [
        ArgumentDifference("y" * 60, "missing", 1, None, f"{'y' * 60}: 1 is missing")
    ]


def nested(levels: int, leaf: Any) -> Any:
    return {"a": nested(levels - 1, leaf)} if levels else leaf


def test_values_are_compared_down_to_64_levels() -> None:
    assert compare_arguments(nested(65, 1), nested(65, 1), {}) == []
    assert [difference.rule for difference in compare_arguments(nested(65, 1), nested(65, 2), {})] == [
        "number"
    ]
    (deep,) = compare_arguments(nested(66, 1), nested(66, 1), {})
    assert (deep.path, deep.rule) == (".".join(["a"] * 66), "depth")
    assert deep.message == f"{deep.path}: 1 is nested deeper than 64 levels beside 1 (depth)"


def test_20_differences_are_reported_at_most() -> None:
    gold = {f"k{number}": number for number in range(21)}
    assert [difference.gold for difference in compare_arguments(gold, {}, {})] == list(range(20))
    del gold["k20"]
    assert len(compare_arguments(gold, {}, {})) == 20


def test_enum_members_of_every_kind_equal_only_themselves() -> None:
    members: list[Any] = [["a", 1], {"k": [1.0]}, None, 2, True]
    schema = {"properties": {"x": {"enum": members}}, "required": ["x"]}
    for gold in members:
        for predicted in [*members, ["a"], ["a", 2], {"k": [2]}, {"j": [1]}, {"k": [1], "j": 1}, "a"]:
            rules = [each.rule for each in compare_arguments({"x": gold}, {"x": predicted}, schema)]
            assert rules == ([] if gold is predicted else ["enum"])


@pytest.mark.parametrize(
    ("gold", "predicted", "equal"),
    [
        (1.0, 1.0 + 1e-13, True),
        (1.5, 1.5 + 1e-13, True),
        (1.5, 1.5 + 1e-11, False),
        (2.0**53, 2.0**53 + 2, False),
        (0.5, 2.0**60, False),
        (float("nan"), float("nan"), True),
        (float("nan"), 0.5, False),
        (0.5, float("nan"), False),
    ],
)
def test_decimals_are_equal_up_to_their_last_bit(gold: float, predicted: float, equal: bool) -> None:
    assert (compare_arguments({"x": gold}, {"x": predicted}, {}) == []) is equal
