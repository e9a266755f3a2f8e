"""Comparison of argument values by meaning: properties that hold for any value, and the rules for values."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from toolcall.values import compare_values
from wildtool.toolcall.compare import MAX_ARGUMENT_DIFFERENCES, compare_arguments

TEXT = st.text(st.characters(), max_size=40) | st.text(alphabet="ab不明天一二1209.,:/-+@ 'notT", max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
KEYWORD = st.sampled_from(
    ["type", "enum", "properties", "required", "items", "anyOf", "oneOf", "description", "default"]
)
SCHEMA = st.recursive(
    JSON | st.sampled_from(["string", "integer", ["string", "null"], "default is 1", "默认为'a'"]),
    lambda inner: st.dictionaries(KEYWORD, inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=8,
)
SCALAR = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.none()


def parameters(**properties):
    return {"type": "object", "properties": properties, "required": []}


def rules(gold, predicted, schema=None):
    return [difference.rule for difference in compare_values(gold, predicted, schema or {})]


@given(JSON, SCHEMA)
def test_a_value_means_the_same_as_itself_under_any_schema(value, schema):
    assert compare_values(value, value, schema) == []


@given(JSON, JSON, SCHEMA, st.booleans())
@example(True, 1, {}, False)
@example([1], [1.0], {}, False)
@example({"a": None}, {}, {"properties": {"a": {}}}, False)
def test_a_value_is_compared_alike_alone_and_beside_one_that_differs(gold, predicted, schema, alike):
    """Arguments that are all the same are not looked at by their schema; these are in one case only."""
    described = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    sides = [{"a": gold}, {"a": gold if alike else predicted}]
    alone = compare_arguments(*sides, described)
    beside = compare_arguments(*(side | {"z": number} for number, side in enumerate(sides)), described)
    assume(len(beside) < MAX_ARGUMENT_DIFFERENCES)
    assert repr(alone) == repr([difference for difference in beside if difference.path != "z"])


@given(JSON, JSON, SCHEMA)
@example("x", "\ud800" * 3, {"anyOf": [], "type": ["string", {}], "enum": "x"})
@example({"a": 1}, {"b": 1}, {"properties": ["a"], "required": None})
@example({"a": 1}, {}, {"properties": {"a": "string"}, "required": {"a": 1}})
@example(10**400, 0.5, {})
def test_no_pair_of_values_and_no_schema_raises(gold, predicted, schema):
    for difference in compare_values(gold, predicted, schema):
        assert difference.message.encode()


@given(SCALAR, SCALAR)
def test_scalars_compare_alike_in_both_directions(one, other):
    assert bool(compare_values(one, other, {})) == bool(compare_values(other, one, {}))


@given(st.text(alphabet="0123456789abAB年月日 .,:/-+#_@", min_size=1, max_size=25), st.data())
def test_another_digit_is_a_difference_in_any_text(gold, data):
    places = [place for place, character in enumerate(gold) if character.isdigit()]
    assume(places)
    place = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != gold[place]]))
    assert compare_values(gold, gold[:place] + digit + gold[place + 1 :], {})


WORD = st.sampled_from(
    ["please", "send", "the", "report", "to", "Anna", "before", "noon", "green", "two", "3"]
)


@given(st.lists(WORD, max_size=30), st.data())
def test_a_dropped_not_is_a_difference_in_any_sentence(words, data):
    place = data.draw(st.integers(0, len(words)))
    assert compare_values(" ".join([*words[:place], "not", *words[place:]]), " ".join(words), {})


@given(st.text(alphabet="请把这份报告发给客户公司同事明天上午三点会议室要", max_size=30), st.data())
def test_a_dropped_chinese_negation_is_a_difference_in_any_sentence(text, data):
    place = data.draw(st.integers(0, len(text)))
    assert compare_values(text[:place] + "不" + text[place:], text, {})


@pytest.mark.parametrize(
    ("gold", "predicted"), [(5, 5.0), (0.1 + 0.2, 0.3), (-0.0, 0), (10**30, 10**30), (1e3, 1000), (0.5, 0.50)]
)
def test_numbers_compare_by_value(gold, predicted):
    assert rules(gold, predicted) == []


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        (5, 6),
        (10**20, 10**20 + 1),
        (10**13, 10**13 + 1),
        (10**13, 1e13 + 1),
        (1234567890.5, 1234567891.5),
        (40.712812345, 40.712812346),
        (10**10, 1e10 + 1),
    ],
)
def test_numbers_that_differ_by_a_written_digit_differ(gold, predicted):
    assert rules(gold, predicted) == ["number"]


@pytest.mark.parametrize(
    ("gold", "predicted"), [(1, True), (0, False), ("true", True), (None, ""), (5, "5"), ([], {}), ([1], 1)]
)
def test_values_of_two_kinds_differ(gold, predicted):
    assert rules(gold, predicted) == ["type"]


@pytest.mark.parametrize(
    ("gold", "predicted", "schema_type"),
    [
        ("5", 5, "integer"),
        (5, "5", "string"),
        ("true", True, "boolean"),
        ('["a"]', ["a"], "array"),
        ("2.50", 2.5, "float"),
    ],
)
def test_gold_that_breaks_its_schema_equals_the_same_value_in_the_declared_type(gold, predicted, schema_type):
    assert rules(gold, predicted, {"type": schema_type}) == []
    assert rules(predicted, gold, {"type": schema_type}) == ["type"]


def test_an_enum_member_equals_only_itself():
    assert rules("new", "NEW", {"enum": ["new", "old"]}) == ["enum"]
    assert rules(["a"], ["a "], {"items": {"enum": ["a"]}}) == ["enum"]
    assert rules("New", "new", {"enum": ["new", "old"]}) == []


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("password", ""),
        ("new_password", "At least eight characters."),
        ("pw", "The user's password."),
        ("passphrase", "Passphrase for the key"),
        ("apiKey", "Key of the service"),
        ("v", "API key used to authenticate requests"),
        ("v", "Access token of the session"),
        ("v", "用户的密码，至少8位"),
        ("v", "Text to hash"),
        ("v", "The string to be reversed"),
        ("v", "Word to spell"),
        ("v", "Text to count characters of"),
        ("v", "要加密的文本"),
        ("v", "Name of the column. Case-sensitive."),
        ("v", "列名，区分大小写"),
    ],
)
def test_every_letter_counts_of_secrets_and_of_texts_that_are_worked_on_letter_by_letter(name, description):
    schema = {"properties": {name: {"type": "string", "description": description}}, "required": [name]}

    def accepted(predicted: str) -> bool:
        return compare_arguments({name: "Open two doors"}, {name: predicted}, schema) == []

    assert accepted(" Open two doors\n")
    assert not any(map(accepted, ("open two doors", "Open 2 doors", "Open two doors!", "“Open two doors”")))


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("password_hint", "Hint for the password"),
        ("v", "Question that is asked when the password is reset"),
        ("v", "Token symbol"),
        ("v", "Name of the column, not case sensitive"),
        ("v", "列名，不区分大小写"),
        ("v", "Text to send"),
        ("v", "Number of passwords to make, in words"),
    ],
)
def test_case_does_not_count_of_texts_about_secrets(name, description):
    schema = {"properties": {name: {"type": "string", "description": description}}, "required": [name]}
    assert compare_arguments({name: "Open two doors"}, {name: "open two doors"}, schema) == []


def test_gold_that_is_not_the_constant_of_its_schema_is_named():
    from wildtool.toolcall.schema_check import argument_faults

    schema = {"type": "object", "properties": {"a": {"type": "string", "const": "new"}}}
    assert [*argument_faults({"a": "new"}, schema)] == []
    assert [path for path, _ in argument_faults({"a": "New"}, schema)] == ["a"]


@pytest.mark.parametrize("combined", ["anyOf", "oneOf"])
def test_a_constant_equals_only_itself(combined):
    schema = {"properties": {"a": {combined: [{"const": "new"}, {"const": "old"}]}}, "required": ["a"]}
    assert compare_arguments({"a": "old"}, {"a": "old"}, schema) == []
    assert [each.rule for each in compare_arguments({"a": "old"}, {"a": "Old"}, schema)] == ["enum"]


def test_a_branch_that_admits_gold_gives_its_schema():
    either = {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["all", "none"]}]}
    assert rules("all", "All", either) == ["enum"]


def test_arrays_compare_in_order_and_length():
    assert rules([1, 2], [2, 1]) == ["number", "number"]
    assert rules([1, 2], [1]) == ["length"]
    assert [
        difference.path for difference in compare_values({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, {})
    ] == ["a[1].b"]


def test_missing_and_extra_arguments_are_named():
    differences = compare_arguments({"a": 1}, {"b": None}, {})
    assert [(difference.path, difference.rule) for difference in differences] == [
        ("a", "missing"),
        ("b", "extra"),
    ]


def test_a_required_argument_may_not_be_left_out_for_its_default():
    schema = {"properties": {"a": {"type": "integer", "default": 1}}, "required": ["a"]}
    assert [difference.rule for difference in compare_arguments({"a": 1}, {}, schema)] == ["missing"]


def test_null_for_an_absent_optional_argument_is_absent():
    assert compare_arguments({}, {"a": None}, parameters(a={"type": "string"})) == []
    assert compare_arguments({}, {"unknown": None}, parameters(a={"type": "string"})) != []


def test_nested_objects_follow_their_nested_schemas():
    inner = {"type": "object", "properties": {"unit": {"type": "string", "default": "km"}}, "required": []}
    schema = parameters(trips={"type": "array", "items": inner})
    assert compare_arguments({"trips": [{}]}, {"trips": [{"unit": "km"}]}, schema) == []
    assert compare_arguments({"trips": [{}]}, {"trips": [{"unit": "mi"}]}, schema) != []


def test_defaults_behind_references_are_found_however_deep():
    node = {
        "type": "object",
        "properties": {
            "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            "open": {"$ref": "#/$defs/flags~1open"},
        },
    }
    definitions = {"Node": node, "flags/open": {"type": "boolean", "default": False}}
    schema = {**parameters(node={"$ref": "#/$defs/Node"}), "$defs": definitions}

    def nested(inner):
        return {"node": {"kids": [{"kids": [inner]}]}}

    assert compare_arguments(nested({}), nested({"open": False}), schema) == []
    assert compare_arguments(nested({"open": False}), nested({}), schema) == []
    assert compare_arguments(nested({}), nested({"open": True}), schema) != []


def test_the_members_of_a_set_equal_one_another_once_each():
    schema = {"type": "array", "uniqueItems": True}
    assert compare_values(["a", "b", "b"], ["b", "a", "b"], schema) == []
    assert rules(["a", "b", "b"], ["a", "a", "b"], schema) == ["short text"]
    assert compare_values(["May 5", "May 6"], ["6 May", "5 May"], schema) == []
    assert rules(["a", "b"], ["b"], schema) == ["length"]


def test_a_set_of_many_or_long_members_is_compared_in_its_own_order():
    schema = {"type": "array", "uniqueItems": True}
    many = [f"word {number}" for number in range(200)]
    assert compare_values(many, many, schema) == []
    assert compare_values(many, many[::-1], schema) != []
    assert compare_values(["a" * 5_000, "b"], ["b", "a" * 5_000], schema) != []


COLOUR = {"type": "string", "enum": ["red", "blue"]}
CAT = {"required": ["kind"], "properties": {"kind": {"const": "cat"}, "lives": {"default": 9}}}
DOG = {"required": ["kind"], "properties": {"kind": {"const": "dog"}, "age": {"default": 3}}}
BOX = {"properties": {"size": {"type": "integer", "default": 5}, "colour": {"$ref": "#/$defs/COLOUR"}}}
CIRCLE = {"allOf": [{"$ref": "#/$defs/CIRCLE"}, {"$ref": "#/$defs/CIRCLE"}, {"enum": ["red"]}]}
DEFINITIONS = {"COLOUR": COLOUR, "CAT": CAT, "DOG": DOG, "BOX": BOX, "CIRCLE": CIRCLE}


def named(*names):
    return [{"$ref": f"#/$defs/{name}"} for name in names]


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "same"),
    [
        ({"allOf": named("COLOUR"), "default": "red"}, "red", "Red", False),
        ({"allOf": named("CIRCLE")}, "red", "Red", False),
        ({"allOf": named("BOX")}, {}, {"size": 5}, True),
        (
            {"allOf": [*named("BOX"), {"properties": {"lid": {"default": 1}}}]},
            {},
            {"size": 5, "lid": 1},
            True,
        ),
        ({"allOf": [*named("BOX"), {"required": ["size"]}]}, {}, {"size": 5}, False),
        ({"allOf": named("BOX")}, {"colour": "red"}, {"colour": "Red"}, False),
        ({"anyOf": named("CAT", "DOG")}, {"kind": "dog"}, {"kind": "dog", "age": 3}, True),
        ({"oneOf": named("CAT", "DOG")}, {"kind": "dog"}, {"kind": "dog", "lives": 9}, False),
        ({"oneOf": named("CAT", "DOG")}, {"kind": "dog"}, {"kind": "Dog"}, False),
        ({"anyOf": [{"type": "null"}, *named("COLOUR")]}, "red", "Red", False),
        ({"items": {"allOf": named("COLOUR")}}, ["red"], ["Red"], False),
        ({"prefixItems": [COLOUR], "items": {"type": "string"}}, ["red", "A b"], ["red", "a b"], True),
        ({"prefixItems": [COLOUR], "items": {"type": "string"}}, ["red", "A b"], ["Red", "a b"], False),
        ({"additionalProperties": COLOUR}, {"x": "red"}, {"x": "Red"}, False),
        ({"additionalProperties": False}, {"x": "red"}, {"x": "Red"}, True),
    ],
)
def test_a_schema_is_found_wherever_another_names_it(schema, gold, predicted, same):
    tool = {"properties": {"v": schema}, "required": ["v"], "$defs": DEFINITIONS}
    assert (compare_arguments({"v": gold}, {"v": predicted}, tool) == []) == same


@pytest.mark.parametrize("default", ["red", []])
def test_a_default_beside_what_a_schema_names_counts(default):
    tool = {"properties": {"v": {"allOf": named("COLOUR"), "default": default}}, "$defs": DEFINITIONS}
    assert compare_arguments({}, {"v": default}, tool) == []


def test_references_in_a_circle_or_to_nothing_are_passed_over():
    for target in (
        {"$ref": "#/$defs/A"},
        {"$ref": "#/nowhere/x"},
        {"$ref": "http://other.example/s"},
        {"$ref": 7},
    ):
        schema = {**parameters(a={"$ref": "#/$defs/A"}), "$defs": {"A": target}}
        assert compare_arguments({"a": 1}, {"a": 1}, schema) == []
        assert compare_arguments({"a": 1}, {"a": 2}, schema) != []


def test_parameters_named_like_schema_words_are_parameters():
    schema = parameters(type={"type": "string"}, properties={"type": "array"})
    assert (
        compare_arguments({"type": "a", "properties": ["x"]}, {"type": "a", "properties": ["x"]}, schema)
        == []
    )
    assert compare_arguments({"type": "a"}, {"type": "b"}, schema) != []


def test_a_reply_with_thousands_of_wrong_keys_gives_a_short_list():
    wrong = {f"k{number}": number for number in range(5_000)}
    assert len(compare_arguments({}, wrong, {})) == MAX_ARGUMENT_DIFFERENCES


def test_a_message_is_short_and_can_be_written():
    difference = compare_values("a", "\ud800" * 100_000, {})[0]
    assert len(difference.message) < 1_000
    assert difference.message.encode("utf-8")
