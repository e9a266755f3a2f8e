"""Headers that a user adds: how they are read, which are refused, where they go, and what is secret of them."""

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.options import model_options
from wildtool import redact
from wildtool.errors import UsageError
from wildtool.models.headers import (
    Header,
    headers_in_table,
    is_secret_name,
    parse_headers,
    read_headers,
    refuse_own,
)
from wildtool.models.providers.anthropic import AnthropicModel
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.models.resolve import destination_of, model_from_name
from wildtool.models.settings import EndpointOptions

LOCAL = "http://127.0.0.1:1/v1"
ELSEWHERE = "http://127.0.0.2:1/v1"
SECRET = "hk-4f7Qm2/Zx9Lr8Tw3"


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redact, "_texts", ())
    monkeypatch.setattr(redact, "_bytes", ())
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GROQ_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GATEWAY_KEY", SECRET)


def sent(model: Any) -> dict[str, str]:
    """The headers of every request, beside those that wildtool always sets."""
    headers: dict[str, str] = model._endpoint._headers
    own = ("User-Agent", "Content-Type", "anthropic-version")
    return {name: value for name, value in headers.items() if name not in own}


# What may be given -----------------------------------------------------------------------------------


def test_a_value_or_its_variable_follows_the_name():
    team, key = parse_headers(["X-Team=a = b, c", "x-portkey-api-key=env:GATEWAY_KEY"])
    assert (team.name, team.value, team.variable) == ("X-Team", "a = b, c", None)
    assert (key.name, key.variable) == ("x-portkey-api-key", "GATEWAY_KEY")
    assert read_headers([team, key]) == {"X-Team": "a = b, c", "x-portkey-api-key": SECRET}


@pytest.mark.parametrize(
    "name",
    [
        "Authorization", "AUTHORIZATION", "Proxy-Authorization", "Cookie", "X-Api-Key", "apikey", "api-key",
        "cf-aig-authorization", "Ocp-Apim-Subscription-Key", "x-portkey-api-key", "x-portkey-virtual-key", "X-Auth-Token",
        "X-TOKEN", "client_secret", "X-Password", "X-Credentials", "x-goog-iap-jwt-assertion", "X-PAT",
    ],
)  # fmt: skip
def test_a_header_that_may_hold_a_secret_is_taken_from_a_variable_alone(name: str):
    assert is_secret_name(name)
    with pytest.raises(UsageError) as refused:
        parse_headers([f"{name}=swordfish-7"])
    assert f"{name}=env:VARIABLE" in str(refused.value)
    assert "swordfish" not in str(refused.value)
    assert parse_headers([f"{name}=env:MINE"])[0].variable == "MINE"


@pytest.mark.parametrize(
    "name",
    ["X-Team", "x-portkey-provider", "x-portkey-config", "cf-aig-cache-ttl", "CF-Access-Client-Id", "anthropic-beta"],
)  # fmt: skip
def test_other_headers_take_a_value(name: str):
    assert read_headers(parse_headers([f"{name}=one"])) == {name: "one"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("=evals", "…: is no name"),
        ("X Team=evals", "X…: is no name"),
        ("X-Téam=evals", "X-T…: is no name"),
        ("X-Team:=evals", "X-Team…: .* not NAME: VALUE"),
        ("X-Team=", "X-Team: is empty"),
        ("X-Team= \t ", "X-Team: is empty"),
        ("X-Team=evals\nb", "X-Team: .* line breaks"),
        ("X-Team=evals\rHost: b", "X-Team: .* line breaks"),
        ("X-Team=evals\x00", "X-Team: .* line breaks"),
        ("X-Team=evalsé", "X-Team: .* non-ASCII"),
        ("X-Team=evals\x85b", "X-Team: .* non-ASCII"),
        ("Host=evals", "Host: .* wildtool sets it"),
        ("content-length=1", "content-length: .* wildtool sets it"),
        ("Content-Type=evals/plain", "Content-Type: .* wildtool sets it"),
        ("Transfer-Encoding=evals", "Transfer-Encoding: .* wildtool sets it"),
        ("Connection=evals", "Connection: .* wildtool sets it"),
        ("X-Team=env:", "X-Team: env: .* name of an environment variable"),
        ("X-Team=env:evals b", "X-Team: env: .* name of an environment variable"),
        ("X-Team=sk-evals4f7Qm2Zx9Lr8Tw3", "X-Team: .* X-Team=env:VARIABLE"),
        ("X-Team=Bearer evals-of-mine", "X-Team: .* X-Team=env:VARIABLE"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_name_without_its_value(text: str, said: str):
    with pytest.raises(UsageError, match=f"^--user-header {said}") as refused:
        parse_headers([text], "--user-header")
    assert "evals" not in str(refused.value)


def test_one_name_is_given_once_whatever_its_case():
    with pytest.raises(UsageError, match="x-team: is given twice"):
        parse_headers(["X-Team=a", "X-Other=b", "x-team=a"])


@pytest.mark.parametrize(
    "text", ["Authorization: Bearer swordfish-7", "Authorization: Basic c3dvcmRmaXNo", "X-Api-Key swordfish-7=", SECRET]
)  # fmt: skip
def test_a_header_as_other_programs_write_it_is_refused_without_its_value(text: str):
    with pytest.raises(UsageError, match="NAME=VALUE") as refused:
        parse_headers([text])
    for part in ("swordfish", "c3dvcmRmaXNo", SECRET):
        assert part not in str(refused.value)


NAMES = st.text("abcXYZ019-_.!~", min_size=1, max_size=12).filter(lambda name: not is_secret_name(name))
PLAIN = (
    st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=14).map(str.strip).filter(bool)
)


@given(st.lists(st.tuples(NAMES, PLAIN), max_size=4, unique_by=lambda pair: pair[0].lower()))
def test_what_is_taken_is_sent_as_it_was_given(pairs: list[tuple[str, str]]):
    try:
        headers = parse_headers([f"{name}={value}" for name, value in pairs])
    except UsageError:
        return  # such as a name that wildtool sets, or a value that looks like a key
    taken = {header.name: header.value for header in headers}
    assert taken == dict(pairs)
    assert headers_in_table(dict(pairs)) == headers


@given(st.lists(st.text(max_size=30) | st.tuples(NAMES, st.text(max_size=20)).map("=".join), max_size=3))
def test_any_texts_are_headers_that_http_can_carry_or_are_refused(texts: list[str]):
    try:
        headers = parse_headers(texts)
    except UsageError as error:
        assert str(error).isprintable()
        return
    assert [f"{each.name}={each.value}" for each in headers] == [
        f"{name}={value.strip(chr(32) + chr(9))}"
        for name, _, value in (text.partition("=") for text in texts)
    ]
    for header in headers:
        assert header.name.isascii() and header.name.isprintable() and not set(header.name) & set(' :"()')
        assert header.value.isascii() and not set(header.value) & set("\r\n\x00")


@given(
    st.text("abcdefgh0123456789", min_size=9, max_size=20), st.sampled_from(["X-Api-Key", "Cookie", "X=Y"])
)
def test_no_message_repeats_a_secret(value: str, name: str):
    for text in (
        f"{name}={value}",
        f"{name}: {value}",
        f"{name} {value}",
        f"{name}:{value}=",
        f"X=env:{value} ",
    ):
        try:
            parse_headers([text])
        except UsageError as error:
            assert value not in str(error)


# Variables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_variable_that_is_not_set_is_named(value: str | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GATEWAY_KEY")
    if value is not None:
        monkeypatch.setenv("GATEWAY_KEY", value)
    options = model_options(base_url=LOCAL, headers=parse_headers(["X-Api-Key=env:GATEWAY_KEY"]))
    with pytest.raises(UsageError, match="X-Api-Key: the environment variable GATEWAY_KEY is not set"):
        model_from_name("m", options)
    assert (
        sent(
            model_from_name("m", model_options(base_url=LOCAL, headers=options.endpoint.headers, sends=False))
        )
        == {}
    )


def test_a_key_in_place_of_the_variable_is_not_repeated():
    with pytest.raises(UsageError, match="X-Api-Key: its environment variable is not set") as refused:
        read_headers(parse_headers(["X-Api-Key=env:sk_live_4f7Qm2Zx9Lr8Tw3"]))
    assert "4f7Qm2Zx9" not in str(refused.value)
    with pytest.raises(UsageError, match="the environment variable gateway_key is not set"):
        read_headers(parse_headers(["X-Api-Key=env:gateway_key"]))


def test_a_variable_that_no_header_can_hold_is_named_without_its_value(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GATEWAY_KEY", "swordfish\nX-Other: 1")
    with pytest.raises(UsageError, match="X-Api-Key, from the environment variable GATEWAY_KEY: ") as refused:
        read_headers(parse_headers(["X-Api-Key=env:GATEWAY_KEY"]))
    assert "swordfish" not in str(refused.value)


def test_what_is_secret_of_a_value_is_removed_from_all_that_is_written(monkeypatch: pytest.MonkeyPatch):
    login = b64encode(b"me:pass-of-mine-4471").decode()
    values = {
        "A": f"Bearer {SECRET}",
        "B": f"theme=dark; session={SECRET}1",
        "C": f"Basic {login}",
        "D": "open-sesame-7",
    }
    for name, value in values.items():
        monkeypatch.setenv(f"GATEWAY_{name}", value)
    given = [
        "Authorization=env:GATEWAY_A",
        "Cookie=env:GATEWAY_B",
        "Proxy-Authorization=env:GATEWAY_C",
        "X-D=env:GATEWAY_D",
    ]
    read_headers(parse_headers(given))
    repeated = [SECRET, f"{SECRET}1", login, "pass-of-mine-4471", "open-sesame-7", SECRET.replace("/", "\\/")]
    for text in repeated:
        assert text not in redact.redacted_text(f"You sent {text}.")
    assert SECRET.encode() not in redact.redacted(json.dumps({"echo": values}).encode())


def test_a_variable_with_an_ordinary_word_takes_that_word_from_no_reply(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PROVIDER", "anthropic")
    assert read_headers(parse_headers(["x-portkey-provider=env:PROVIDER"])) == {
        "x-portkey-provider": "anthropic"
    }
    assert redact.redacted_text("anthropic/claude") == "anthropic/claude"
    assert "anthropic" not in redact.redacted_text("x-portkey-provider: anthropic")


def test_a_value_is_in_no_representation():
    assert "evals" not in repr(model_options(headers=parse_headers(["X-Team=evals"])))


# What wildtool sets itself ---------------------------------------------------------------------------


def test_the_users_own_name_of_the_program_replaces_wildtools():
    model: Any = OpenAIModel("m", LOCAL, extra_headers=parse_headers(["user-agent=mine/1"]))
    headers: dict[str, str] = model._endpoint._headers
    assert {name: value for name, value in headers.items() if name.lower() == "user-agent"} == {
        "user-agent": "mine/1"
    }


def test_a_header_of_the_protocol_is_refused_where_it_is_one():
    version = parse_headers(["Anthropic-Version=2023-06-01"])
    with pytest.raises(UsageError, match="Anthropic-Version is set by the protocol of this endpoint"):
        AnthropicModel("m", LOCAL, extra_headers=version)
    assert sent(OpenAIModel("m", LOCAL, extra_headers=version)) == {"Anthropic-Version": "2023-06-01"}
    with pytest.raises(UsageError, match="Accept is set by MCP"):
        refuse_own(parse_headers(["Accept=a/b"]), ["accept"], "MCP")


@pytest.mark.parametrize(
    ("name", "header", "keyless"),
    [
        ("m", "authorization", {}),
        ("groq/m", "Authorization", {}),
        ("anthropic/m", "X-Api-Key", {}),
        ("gemini/m", "x-goog-api-key", {}),
        ("azure/m", "Api-Key", {}),
    ],
)
def test_the_header_of_the_key_takes_its_place_unless_a_key_is_named(
    name: str, header: str, keyless: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    for variable in ("OPENAI_API_KEY", "GROQ_API_KEY", "AZURE_OPENAI_API_KEY"):
        monkeypatch.setenv(variable, "another-key-1")
    headers = parse_headers([f"{header}=env:GATEWAY_KEY"])
    model = model_from_name(name, model_options(base_url=LOCAL, headers=headers))
    assert sent(model) == {header: SECRET}
    with pytest.raises(UsageError, match=f"{header} and a key are both given"):
        model_from_name(name, model_options(base_url=LOCAL, headers=headers, api_key_env="OPENAI_API_KEY"))


def test_a_login_in_the_address_and_its_header_are_not_both_sent():
    with pytest.raises(UsageError, match="Authorization is set by the key or the login"):
        OpenAIModel(
            "m",
            "http://me:word@127.0.0.1:1/v1",
            extra_headers=parse_headers(["Authorization=env:GATEWAY_KEY"]),
        )


def test_a_provider_behind_a_gateway_needs_no_key_where_a_header_holds_a_secret():
    with pytest.raises(UsageError, match="needs a key"):
        model_from_name("groq/m", model_options(headers=parse_headers(["X-Team=a"])))
    model = model_from_name("groq/m", model_options(headers=parse_headers(["X-Gateway-Key=env:GATEWAY_KEY"])))
    assert sent(model) == {"X-Gateway-Key": SECRET}


def test_settings_and_so_runs_do_not_depend_on_headers():
    plain, with_header = (
        OpenAIModel("m", LOCAL, extra_headers=parse_headers(texts)).settings() for texts in ([], ["X-Team=a"])
    )
    assert plain == with_header


def test_a_model_called_by_inspect_says_that_it_gets_no_headers():
    with pytest.raises(UsageError, match="Inspect, which takes no headers"):
        model_from_name("inspect/openai/m", model_options(headers=parse_headers(["X-Team=a"])))


# Where they go ---------------------------------------------------------------------------------------

TEAM = parse_headers(["X-Team=a"])
OTHER = parse_headers(["X-Other=b"])


def names(headers: tuple[Header, ...]) -> list[str]:
    return [header.name for header in headers]


@pytest.mark.parametrize(
    ("own", "name", "expected"),
    [
        (EndpointOptions(), "u", ["X-Team"]),
        (EndpointOptions(api_key_env="K"), "u", ["X-Team"]),
        (EndpointOptions(base_url=ELSEWHERE), "u", []),
        (EndpointOptions(base_url=ELSEWHERE, headers=OTHER), "u", ["X-Other"]),
        (EndpointOptions(headers=OTHER), "u", ["X-Other"]),
        (EndpointOptions(), "ollama/u", []),
        (EndpointOptions(headers=OTHER), "ollama/u", ["X-Other"]),
    ],
)
def test_the_headers_of_the_tested_model_go_to_its_address_alone(
    own: EndpointOptions, name: str, expected: list[str]
):
    agent = model_options(base_url=LOCAL, headers=TEAM, given_at=LOCAL)
    assert names(destination_of(name, agent.for_other_role(own, None)).headers) == expected


def test_an_address_of_the_environment_is_another_one_than_a_providers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)
    for tested, expected in ((LOCAL, ["X-Team"]), ("https://api.groq.com/openai/v1", [])):
        agent = model_options(headers=TEAM, given_at=tested)
        assert names(destination_of("u", agent.for_other_role(EndpointOptions(), None)).headers) == expected
