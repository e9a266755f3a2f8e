"""Types of parameters as texts: what they say as JSON Schema, and words that no rule knows."""

from wildtool.sets.prepare.tools import TypeText, read_type, tools_from


def test_a_type_of_no_rule_allows_anything_and_is_named():
    assert read_type("list[airport code]") == TypeText({"type": "array"}, False, ("airport code",))
    assert read_type("airport code") == TypeText({}, False, ("airport code",))


def test_a_type_within_too_many_is_named_as_unknown():
    deep = read_type("list[" * 40 + "int" + "]" * 40)
    assert [text[:10] for text in deep.unknown] == ["list[list["]


def test_a_type_that_is_a_list_stays_as_it_is_written():
    flat = {
        "city": {"type": ["string", "null"], "description": "City."},
        "days": {"type": "int, optional"},
    }
    (tool,) = tools_from([{"name": "level", "parameters": flat}]).tools
    parameters = tool["function"]["parameters"]
    assert parameters["required"] == ["city"]
    assert parameters["properties"] == {
        "city": {"type": ["string", "null"], "description": "City."},
        "days": {"type": "integer"},
    }


def test_parameters_in_a_list_are_found_by_their_names():
    listed = [{"name": "city", "type": "str"}, {"type": "int"}, {"name": "days", "type": "int", "default": 3}]
    (tool,) = tools_from([{"name": "level", "parameters": listed}]).tools
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}},
        "required": ["city"],
    }
