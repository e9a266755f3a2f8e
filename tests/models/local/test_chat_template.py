"""Messages are put into the shape that chat templates expect, and each change has a name."""

import hashlib
import json
from typing import Any

import jinja2
import pytest

from models.asking import HELLO, TOOL, asked_and_answered, call
from models.local.plain_libraries import Libraries
from wildtool.errors import CallError, UsageError
from wildtool.models.local.chat_template import (
    ChatTemplate,
    PlainText,
    takes_one_call,
    template_messages,
    wants_results_with_calls,
    weights_place,
)
from wildtool.models.openai_messages import Changes, UnsendableError
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


def test_without_short_ids_only_an_endless_id_is_replaced():
    longest = "中 " * 5000
    assert "call-id-replaced" not in shaped(*asked_and_answered(call(longest, "f", {})))[1]
    assert "call-id-replaced" in shaped(*asked_and_answered(call(longest + "x", "f", {})))[1]


def test_calls_made_at_once_are_split_for_a_template_that_takes_one():
    said = asked_and_answered(call("a", "f", {}), call("b", "g", {}), content="")
    messages, changes = shaped(*said, one_call=True)
    assert [len(message.get("tool_calls", ())) for message in messages] == [0, 1, 0, 1, 0]  # type: ignore[arg-type]
    assert [message.get("name") for message in messages] == [None, None, "f", None, "g"]
    assert "parallel-calls-split" in changes


def test_results_stand_beside_their_calls_for_a_template_that_wants_them_there():
    said = asked_and_answered(call("a", "f", {}), call("b", "g", {}), content="")
    messages, changes = shaped(*said, HELLO, results_with_calls=True)
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["tool_responses"] == [{"name": "f", "response": "r0"}, {"name": "g", "response": "r1"}]
    assert "results-beside-calls" in changes


@pytest.mark.parametrize(
    ("template", "one_call", "with_results"),
    [
        ('{{- raise_exception("This model only supports single tool-calls at once!") }}', True, False),
        ("raise_exception('This model only supports single tool-calls')", True, False),
        ("{%- set tool_call = message.tool_calls[0] %}{{ tool_call.name }}", True, False),
        ("{%- if message.tool_calls[0].id %}{%- for call in message.tool_calls %}", False, False),
        ("{%- set a = message['tool_calls'][0] %}{%- for call in message['tool_calls'] %}", False, False),
        ("{{- render_tool_calls(message.tool_calls) -}}{{ tool_calls[0] }}", False, False),
        ("{{ raise_exception('Conversation roles must alternate') }} single tool call", False, False),
        ("{%- for message in messages -%}{{ message.content }}", False, False),
        ("{%- for tool_response in message['tool_responses'] -%}", False, True),
        ("{%- for a in message['tool_responses'] -%}{%- elif message['role'] == 'tool' -%}", False, False),
    ],
)
def test_what_a_template_takes_shows_in_its_own_words(template: str, one_call: bool, with_results: bool):
    assert (takes_one_call(template), wants_results_with_calls(template)) == (one_call, with_results)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("models/a.b/tiny.Q4_1.gguf", ("models/a.b", {"gguf_file": "tiny.Q4_1.gguf"})),
        ("tiny.gguf", (".", {"gguf_file": "tiny.gguf"})),
        ("Qwen/Qwen3-8B", ("Qwen/Qwen3-8B", {})),
        ("models/gguf", ("models/gguf", {})),
        ("models/tiny.gguf/", ("models/tiny.gguf/", {})),
    ],
)
def test_weights_lie_in_a_folder_or_in_one_file_of_it(path: str, place: tuple[str, dict[str, str]]):
    assert weights_place(path) == place


def rendered(tokens: list[int]) -> tuple[list[Any], dict[str, Any]]:
    """What the template was given for a prompt: messages, and the rest."""
    messages, settings = json.loads("".join(map(chr, tokens)))
    return messages, settings


def test_a_template_is_read_and_says_what_it_shows(library: Libraries):
    template = ChatTemplate("a/m.gguf", {"thinking": False})
    assert library.read == [("a", {"gguf_file": "m.gguf"})]
    assert (template.takes_tools, template.shows_calls, template.end_tokens, template.pad_token) == (
        True,
        True,
        {7},
        7,
    )
    assert template.digest == hashlib.sha256(b"tools tool_calls").hexdigest()[:16]
    library.tokenizer.eos_token_id = None
    assert (template.end_tokens, template.pad_token) == (set(), 0)
    library.tokenizer.pad_token_id = 3
    assert template.pad_token == 3
    library.tokenizer.template = "neither"
    bare = ChatTemplate("m", {})
    assert (bare.takes_tools, bare.shows_calls) == (False, False)
    assert template.decode((72, 105)) == "Hi"


def test_a_tokenizer_without_a_template_is_refused(library: Libraries):
    library.tokenizer.template = ""
    with pytest.raises(UsageError) as raised:
        ChatTemplate("m", {})
    assert str(raised.value) == "model 'm' has no tokenizer with a chat template here: it has no template"
    assert PlainText("m", {}).text == ""


def test_a_request_is_rendered_with_its_tools_and_settings(library: Libraries):
    template = ChatTemplate("m", {"thinking": False})
    tokens, changes = template.prompt(Request([HELLO], [TOOL]))
    assert rendered(tokens) == (
        [HELLO],
        {"tools": [TOOL], "add_generation_prompt": True, "tokenize": False, "thinking": False},
    )
    assert changes == {}
    assert rendered(template.prompt(Request([HELLO]))[0])[1]["tools"] is None
    library.tokenizer.template = "xml_tools"
    own = ChatTemplate("m", {})
    assert rendered(own.prompt(Request([HELLO], [TOOL]))[0])[1]["xml_tools"] == [TOOL]
    assert "xml_tools" not in rendered(own.prompt(Request([HELLO]))[0])[1]


def test_results_after_other_messages_stay_messages():
    result = {"role": "tool", "tool_call_id": "x", "content": "1", "name": "f"}
    assert template_messages([result, HELLO, result], {}, results_with_calls=True) == [result, HELLO, result]


@pytest.mark.parametrize(
    "refusal", [jinja2.TemplateError("no tools"), ValueError("odd"), TypeError("odd"), KeyError("odd")]
)
def test_what_a_template_refuses_cannot_be_sent(library: Libraries, refusal: Exception):
    library.tokenizer.refusal = refusal
    template = ChatTemplate("m", {})
    with pytest.raises(CallError) as raised:
        template.prompt(Request([HELLO]))
    assert (raised.value.kind, raised.value.final) == ("unsendable request", True)
    assert str(raised.value) == f"the chat template does not take the request: {refusal}"
    assert template.expected_repairs == frozenset()


def test_a_plain_text_is_its_own_prompt(library: Libraries):
    text = PlainText("m", {})
    assert text.prompt(Request([{"role": "user", "content": "ab"}])) == ([1, 97, 98], {})
    for request in (Request([HELLO], [TOOL]), Request([])):
        with pytest.raises(CallError) as raised:
            text.prompt(request)
        assert (raised.value.kind, str(raised.value), raised.value.final) == (
            "unsendable request",
            "a completion takes one text and no tools",
            True,
        )
