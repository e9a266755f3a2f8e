"""Secrets in all their forms are removed from bytes, texts and JSON; everything else passes unchanged."""

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool import redact
from wildtool.models.secrets import describe_variable, find_key
from wildtool.redact import (
    encoded_forms,
    has_digit_and_letter,
    looks_like_key,
    redacted,
    redacted_json,
    redacted_text,
    register_secrets,
)
from wildtool.secret_places import is_key_name

KEY = 'sk-4f/9A&"7c2+ü@Q'


@pytest.fixture(autouse=True)
def only_what_a_test_remembers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(redact, "_texts", ())
    monkeypatch.setattr(redact, "_bytes", ())
    monkeypatch.setattr(redact, "_environment_read", True)
    register_secrets(KEY)
    yield


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        quote(KEY, safe=""),
        quote(KEY),
        quote_plus(KEY),
        re.sub("%..", lambda code: code[0].lower(), quote(KEY, safe="")),
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        KEY.replace("/", "\\/"),
        html.escape(KEY),
        b64encode(KEY.encode()).decode(),
    ],
)
def test_a_secret_is_removed_in_every_usual_form(form: str):
    assert redacted_text(f"a {form} b") == "a [key] b"
    assert redacted(f"a {form} b".encode()) == b"a [key] b"


@given(st.text() | st.text().map(lambda text: text + KEY + text))
def test_nothing_else_is_changed(text: str):
    assert redacted_text(text) == text.replace(KEY, "[key]")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a", KEY, f"x{KEY}y"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", KEY]), inner, max_size=2)
    ),
)


@given(JSON)
def test_a_json_value_is_cleaned_at_every_depth_and_kept_where_it_is_clean(value: object):
    text = json.dumps(value, ensure_ascii=False)
    clean = redacted_json(value)
    assert KEY not in json.dumps(clean, ensure_ascii=False).replace('\\"', '"')
    assert (clean is value) == ('"7c2' not in text.replace('\\"', '"') and "sk-4f" not in text)


def test_short_texts_are_no_secrets():
    register_secrets("pass", "", None)
    assert redacted_text("pass") == "pass"


@pytest.mark.parametrize(
    ("name", "value", "removed"),
    [
        ("ANTHROPIC_API_KEY", "sk-ant-api03-x7Yq", True),
        ("GITHUB_TOKEN", "ghp_16C7e42F292c6912E7", True),
        ("DB_PASSWORD", "postgres", False),
        ("TOKENIZERS_PARALLELISM", "sk-ant-api03-x7Yq", False),
    ],
)
def test_keys_of_the_environment_are_removed_where_they_look_like_keys(
    name: str, value: str, removed: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(redact, "_environment_read", False)
    assert (redacted_text(value) == "[key]") == removed


@pytest.mark.parametrize(
    "text", ["sk-abc12345678", "AIzaSyD4f8Kx0", "e3b0c44298fc1c149afb", "hf_xYz12345678"]
)
def test_keys_are_told_by_their_look(text: str):
    assert looks_like_key(text)


@pytest.mark.parametrize("text", ["gpt-4o-mini-2024-07-18", "v1", "deployments", "api-version", "openai", ""])
def test_names_of_models_and_places_do_not_look_like_keys(text: str):
    assert not looks_like_key(text)


@pytest.mark.parametrize(
    "name",
    [
        "key",
        "api_key",
        "apiKey",
        "API-KEY",
        "x-api-key",
        "access_token",
        "accessToken",
        "client_secret",
        "clientSecret",
        "auth_token",
        "refresh_token",
        "private_key",
        "secret_key",
        "password",
        "passwd",
        "Authorization",
        "Proxy-Authorization",
        "bearer_token",
        "credentials",
        "aws_secret_access_key",
        "apikey",
    ],
)
def test_fields_that_hold_keys_are_told_by_their_names(name: str):
    assert is_key_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "max_completion_tokens",
        "stop_token_ids",
        "eos_token",
        "prompt_cache_key",
        "logit_bias",
        "return_token_ids",
        "tokenizer",
        "keyword",
        "primary_key",
        "min_tokens",
        "skip_special_tokens",
        "",
    ],
)
def test_ordinary_fields_are_not(name: str):
    assert not is_key_name(name)


@pytest.mark.parametrize(
    "body",
    [
        {"a": {"b": [{"access_token": "x"}]}},
        {"headers": [["Authorization", "x"]]},
        {"headers": [{"name": "X-Api-Key", "value": "x"}]},
        {"a": ["Bearer abcdefgh"]},
        {"api_keys": ["x"]},
    ],
)
def test_a_key_in_a_body_is_found_at_any_depth(body: dict[str, object]):
    assert find_key(body)


def test_a_body_without_keys_is_taken():
    body = {
        "top_p": 0.9,
        "stop": ["token", "key"],
        "max_tokens": 5,
        "metadata": {"user": "me"},
        "api_key": "",
    }
    assert find_key(body) is None


@pytest.mark.parametrize("name", ["AIzaSyD4f8Kx0aB3xYzQ", "sk_live_4f9a7c2b8d", "mysecretkey"])
def test_a_variable_that_may_be_the_key_itself_is_not_repeated(name: str):
    assert name not in describe_variable(name)
    assert "OPENAI_API_KEY" in describe_variable("OPENAI_API_KEY")


def test_a_secret_that_is_no_unicode_text_is_removed():
    register_secrets("b/cd\udcffefg")
    assert redacted_text("my b/cd\udcffefg") == "my [key]"
    assert redacted("my b/cd\udcffefg".encode("utf-8", "surrogatepass")) == b"my [key]"


def test_the_forms_of_a_secret():
    assert encoded_forms('a/é"&+ ') == {
        'a/é"&+ ',
        "a%2F%C3%A9%22%26%2B%20",
        "a/%C3%A9%22%26%2B%20",
        "a%2F%C3%A9%22%26%2B+",
        "a%2f%c3%a9%22%26%2b%20",
        'a\\/é"&+ ',
        'a\\u002fé"&+ ',
        'a\\u002Fé"&+ ',
        'a/\\u00e9\\"&+ ',
        'a\\/\\u00e9\\"&+ ',
        'a\\u002f\\u00e9\\"&+ ',
        'a\\u002F\\u00e9\\"&+ ',
        'a/é\\"&+ ',
        'a\\/é\\"&+ ',
        'a\\u002fé\\"&+ ',
        'a\\u002Fé\\"&+ ',
        "a/é&quot;&amp;+ ",
        'a/é"&amp;+ ',
    }


def test_texts_of_eight_characters_are_secrets_and_longer_ones_go_first():
    register_secrets("1234567", "abcdefgh", "abcdefghij", "b/cd\ud800efg")
    assert redacted_text("1234567 abcdefgh abcdefghij b/cd\ud800efg") == "1234567 [key] [key] [key]"
    assert redacted(b"1234567 abcdefgh abcdefghij") == b"1234567 [key] [key]"
    assert redacted("b/cd\ud800efg".encode("utf-8", "surrogatepass")) == b"[key]"
    data = b"nothing"
    assert redacted(data) is data


def test_a_secret_in_base64_of_urls_is_removed_without_its_padding():
    register_secrets("\xfb\xef\xbe>>>???")
    assert redacted_text("w7vDr8K-Pj4-Pz8_ w7vDr8K+Pj4+Pz8/ end") == "[key] [key] end"
    register_secrets("abcd123")
    assert redacted_text("YWJjZDEyMw") == "YWJjZDEyMw"


def test_a_value_is_cleaned_in_names_and_texts_and_else_kept():
    clean, names = ["a", {"b": None}], {"x" + KEY: 1, "y": 2}
    value = {"a": KEY, "b": clean, "c": [1, KEY, clean], "d": names}
    cleaned = redacted_json(value)
    assert cleaned == {"a": "[key]", "b": clean, "c": [1, "[key]", clean], "d": {"x[key]": 1, "y": 2}}
    assert cleaned["b"] is clean and cleaned["c"][2] is clean
    assert redacted_json(clean) is clean
    assert redacted_json({"a": KEY})["a"] == "[key]"


def test_without_secrets_a_value_is_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(redact, "_texts", ())
    value = {"a": [KEY]}
    assert redacted_json(value) is value


@pytest.mark.parametrize(("text", "mixed"), [("a1", True), ("aa", False), ("11", False), ("", False)])
def test_a_mixture_has_letters_and_digits(text: str, mixed: bool):
    assert has_digit_and_letter(text) is mixed


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("sk-abcdefgh", False),
        ("my sk-abcdefgh1", False),
        ("abcdefghijklmno1", True),
        ("abcdefghijklmn1", False),
        ("abcdefghijklmnop a1b2c3d4e5f6g7h8", True),
        ("abcdefghijklmnop 1234567812345678", False),
    ],
)
def test_a_key_has_a_known_prefix_and_a_digit_or_is_a_long_mixture(text: str, key: bool):
    assert looks_like_key(text) is key


def test_two_names_that_become_one_leave_no_secret():
    assert redacted_json({"[key]": None, KEY: None}) == {"[key]": None}
    assert redacted_json({KEY: 1, "a": 2}) == {"[key]": 1, "a": 2}
