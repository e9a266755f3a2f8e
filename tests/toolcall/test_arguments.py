"""Reading argument texts: one JSON object or a named error, whatever the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.toolcall.arguments import (
    MAX_ARGUMENT_CHARACTERS,
    MAX_ARGUMENT_DEPTH,
    ArgumentsError,
    read_arguments,
)


def kind_of(text: object) -> str:
    with pytest.raises(ArgumentsError) as caught:
        read_arguments(text)
    return caught.value.kind


def test_one_json_object_is_read():
    assert read_arguments(' {"a": [1, 2.5, null, true, "x"]}\n') == {"a": [1, 2.5, None, True, "x"]}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (None, "not a text"),
        ({"a": 1}, "not a text"),
        (b"{}", "not a text"),
        ("", "invalid JSON"),
        ("{'a': 1}", "invalid JSON"),
        ('{"a": 1} // x', "invalid JSON"),
        ('{"a": 1,}', "invalid JSON"),
        ("[1]", "not an object"),
        ('"{}"', "not an object"),
        ("null", "not an object"),
        ('{"a": 1, "a": 1}', "duplicate key"),
        ('{"b": {"a": 1, "a": 2}}', "duplicate key"),
        ("[" * 5_000, "too deep"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "too deep"),
        ('{"a": "' + "x" * MAX_ARGUMENT_CHARACTERS + '"}', "too large"),
        ('{"a": ' + "9" * 5_000 + "}", "too large"),
        ('{"a": NaN}', "not a number"),
        ('{"a": -Infinity}', "not a number"),
        ('{"a": 1e400}', "not a number"),
    ],
)
def test_anything_else_is_an_error_of_a_named_kind(text, kind):
    assert kind_of(text) == kind


def test_nesting_is_read_up_to_the_limit():
    def nested(levels: int) -> str:
        return '{"a":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"

    assert read_arguments(nested(MAX_ARGUMENT_DEPTH))
    assert kind_of(nested(MAX_ARGUMENT_DEPTH + 1)) == "too deep"


def test_brackets_inside_texts_and_side_by_side_are_no_nesting():
    text = '{"a": "' + '[{\\"' * 100 + '", "b": [' + ",".join(["[]"] * 100) + "]}"
    assert len(read_arguments(text)["b"]) == 100


def test_a_lone_surrogate_is_text():
    assert read_arguments(r'{"a": "\ud800"}') == {"a": "\ud800"}


def test_a_big_integer_keeps_every_digit():
    assert read_arguments('{"a": 123456789012345678901234567890}') == {"a": 123456789012345678901234567890}


def test_a_blank_text_is_an_empty_object_only_if_asked():
    assert read_arguments(" \n", empty_ok=True) == {}
    assert kind_of(" \n") == "invalid JSON"


@given(st.text(alphabet='{}[]":,\\u0123dtrue nN-.eE') | st.text())
def test_nothing_but_the_named_error_is_raised(text):
    try:
        assert isinstance(read_arguments(text), dict)
    except ArgumentsError as error:
        assert error.kind
