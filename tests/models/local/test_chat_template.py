"""Messages are put into the shape that chat templates expect, and each change has a name."""

import ast
from typing import Any

import pytest

from models.asking import HELLO, asked_and_answered, call
from wildtool.errors import CallError
from wildtool.models.local.chat_template import (
    ChatTemplate,
    PlainText,
    takes_one_call,
    template_messages,
    wants_results_with_calls,
)
from wildtool.models.providers.openai_messages import Changes, UnsendableError
from wildtool.types import Request


def shaped(*messages: object, **how: bool) -> tuple[list[dict[str, object]], list[str]]:
    changes: Changes = {}
    return template_messages(list(messages), changes, **how), list(changes)  # type: ignore[arg-type]


def test_plain_messages_are_not_changed():
    said = [{"role": "system", "content": "Be kind."}, HELLO, {"role": "assistant", "content": "Hi.", "x": 1}]
    assert shaped(*said) == (said, [])


def test_arguments_become_objects_and_results_get_the_name_of_their_tool():
    messages, changes = shaped(*asked_and_answered(call("c1", "f", '{"a": [1, "中"]}'), content=""))
    assert messages[1]["tool_calls"] == [call("c1", "f", {"a": [1, "中"]})]
    assert messages[2] == {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "r0"}
    assert changes == ["arguments-as-object", "tool-name-added"]


def test_arguments_that_are_no_object_are_wrapped():
    messages, changes = shaped(*asked_and_answered(call("c1", "f", '{"a": ')))
    assert messages[1]["tool_calls"] == [call("c1", "f", {"malformed_arguments": '{"a": '})]
    assert "malformed-arguments-wrapped" in changes


def test_content_that_is_null_becomes_an_empty_text():
    assert shaped({"role": "assistant", "content": None}) == (
        [{"role": "assistant", "content": ""}],
        ["null-content-as-text"],
    )


def test_parts_of_text_are_joined():
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert shaped({"role": "user", "content": parts}) == (
        [{"role": "user", "content": "ab"}],
        ["content-parts-joined"],
    )


def test_pictures_are_refused():
    with pytest.raises(UnsendableError, match="image_url"):
        shaped({"role": "user", "content": [{"type": "image_url"}]})


@pytest.mark.parametrize("nothing", [None, []])
def test_a_key_for_calls_without_any_is_left_out(nothing: object):
    said = {"role": "assistant", "content": "Hi.", "tool_calls": nothing}
    assert shaped(said) == ([{"role": "assistant", "content": "Hi."}], ["empty-calls-dropped"])


def test_short_ids_have_nine_letters_and_digits_and_still_pair():
    messages, changes = shaped(*asked_and_answered(call("call_1-long", "f", {})), short_ids=True)
    made = messages[1]["tool_calls"][0]["id"]  # type: ignore[index]
    assert len(made) == 9 and made.isalnum() and messages[2]["tool_call_id"] == made
    assert "call-id-replaced" in changes


def test_a_short_id_that_is_right_already_stays():
    messages, changes = shaped(*asked_and_answered(call("abcDEF123", "f", {})), short_ids=True)
    assert messages[2]["tool_call_id"] == "abcDEF123" and "call-id-replaced" not in changes


def test_calls_made_at_once_are_split_for_a_template_that_takes_one():
    said = asked_and_answered(call("a", "f", {}), call("b", "g", {}), content="")
    messages, changes = shaped(*said, one_call=True)
    assert [len(message.get("tool_calls", ())) for message in messages] == [0, 1, 0, 1, 0]  # type: ignore[arg-type]
    assert [message.get("name") for message in messages] == [None, None, "f", None, "g"]
    assert "parallel-calls-split" in changes


@pytest.mark.parametrize(
    ("template", "one"),
    [
        ('{{- raise_exception("This model only supports single tool-calls at once!") }}', True),
        ("{%- set tool_call = message.tool_calls[0] %}{{ tool_call.name }}", True),
        ("{%- if message.tool_calls[0].id %}{%- for call in message.tool_calls %}", False),
        ("{%- set first = message['tool_calls'][0] %}{%- for call in message['tool_calls'] %}", False),
        ("{{- render_tool_calls(message.tool_calls) -}}{{ tool_calls[0] }}", False),
        ("{{ raise_exception('Conversation roles must alternate') }} single tool call", False),
    ],
)
def test_a_template_that_takes_one_call_is_told_by_its_own_words(template: str, one: bool):
    assert takes_one_call(template) == one


def test_results_stand_beside_their_calls_for_a_template_that_wants_them_there():
    said = asked_and_answered(call("a", "f", {}), call("b", "g", {}), content="")
    messages, changes = shaped(*said, HELLO, results_with_calls=True)
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["tool_responses"] == [{"name": "f", "response": "r0"}, {"name": "g", "response": "r1"}]
    assert "results-beside-calls" in changes


def test_a_template_that_wants_results_beside_calls_knows_no_messages_of_tools():
    shown = "{%- for tool_response in message['tool_responses'] -%}"
    assert wants_results_with_calls(shown)
    assert not wants_results_with_calls(shown + "{%- elif message['role'] == 'tool' -%}")
    assert not wants_results_with_calls("{%- for message in messages -%}{{ message.content }}")


def test_a_raw_text_is_the_prompt_without_a_template():
    plain = object.__new__(PlainText)
    plain._tokenizer = lambda text: {"input_ids": [ord(letter) for letter in text]}
    assert plain.prompt(Request([{"role": "user", "content": "ab"}])) == ([97, 98], {})
    with pytest.raises(CallError, match="one text"):
        plain.prompt(Request([]))


def test_a_prompt_ends_where_the_assistant_begins():
    """A base that was trained without this would go on with the user's text."""

    class Tokenizer:
        def apply_chat_template(self, messages: Any, **how: Any) -> str:
            return str(how)

    template = object.__new__(ChatTemplate)
    template._tokenizer, template.text, template._extra = Tokenizer(), "", {"enable_thinking": False}
    how = ast.literal_eval(template._rendered([], None))
    assert how == {
        "tools": None,
        "add_generation_prompt": True,
        "tokenize": False,
        "enable_thinking": False,
    }
