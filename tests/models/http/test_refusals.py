"""What a failure says in any provider's shape, the advice beside it, and how an endpoint names it."""

import socket
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from yarl import URL

from wildtool.errors import UsageError
from wildtool.models.http import endpoint as endpoints
from wildtool.models.http import hints
from wildtool.models.http.endpoint import (
    Endpoint,
    authorization,
    credentials_of,
    parse_base_url,
    proxy_of,
    secrets_in,
)
from wildtool.models.http.failures import (
    ProviderFailure,
    failure_of_error,
    refusal_in,
    retry_after_s,
    retry_delay_s,
    retry_wait_s,
    status_from_names,
)

KEY = ConnectionKey("h", 1, False, True, None, None, None)


def tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, "wrong version")
    error.reason = reason
    return error


def connecting(cause: OSError, kind: Any = aiohttp.ClientConnectorError) -> aiohttp.ClientConnectorError:
    return kind(KEY, cause)


@pytest.mark.parametrize(
    ("error", "advice", "words"),
    [
        (
            aiohttp.ConnectionTimeoutError(),
            " (check host and port of the base URL, and whether a firewall lies between)",
            "ConnectionTimeoutError",
        ),
        (
            connecting(socket.gaierror(-2, "Name unknown")),
            " (check the host's name in the base URL)",
            "Name unknown",
        ),
        (socket.gaierror(-2, "Name unknown"), " (check the host's name in the base URL)", "Name unknown"),
        (
            connecting(tls("WRONG_VERSION_NUMBER")),
            " (the server speaks http, not https; change the base URL)",
            "",
        ),
        (tls("HTTP_REQUEST"), " (the server speaks http, not https; change the base URL)", ""),
        (connecting(tls("CERTIFICATE_VERIFY_FAILED")), "", "wrong version"),
        (
            connecting(ConnectionRefusedError(111, "Connect call failed")),
            " (no server listens there; start it, or check host and port of the base URL)",
            "Connection refused",
        ),
        (
            connecting(ConnectionRefusedError(111, "x"), aiohttp.ClientProxyConnectionError),
            " (no server listens there; start it, or check host and port of the base URL)",
            "at the proxy: Connection refused",
        ),
        (
            connecting(tls("UNKNOWN_PROTOCOL"), aiohttp.ClientProxyConnectionError),
            " (the server speaks http, not https; change the base URL)",
            "at the proxy",
        ),
        (OSError(0, "odd words"), "", "odd words"),
        (OSError("plain words"), "", "plain words"),
        (aiohttp.ServerDisconnectedError(), "", "the server closed the connection"),
        (ValueError(), "", "ValueError"),
        (ValueError("said"), "", "said"),
    ],
)
def test_the_advice_where_no_server_answered(error: Exception, advice: str, words: str):
    assert (hints.for_network(error), hints.network_words(error)) == (advice, words)


def made(url: str = "http://h:1/v1/", api_key: str | None = None, **more: Any) -> Endpoint:
    return Endpoint(url, "/chat/completions", api_key=api_key, timeout_s=5.0, max_body_bytes=100, **more)


def test_an_endpoint_shows_its_address_without_secrets():
    plain = made()
    assert (plain.redacted_url, plain.private_url) == ("http://h:1/v1", None)
    assert plain.redacted_url_at("/x") == "http://h:1/v1/x"
    hidden = made("http://u:pw-of-mine@h/v1?version=2#frag")
    assert hidden.redacted_url == "http://h/v1?version=…"
    assert hidden.private_url == "http://u:pw-of-mine@h/v1?version=2"
    keyed: Any = made(api_key="key-of-mine", key_header="x-api-key", headers={"a": "b"})
    assert keyed._headers == {
        "User-Agent": f"wildtool/{endpoints.__version__}",
        "Content-Type": "application/json",
        "a": "b",
        "x-api-key": "key-of-mine",
    }
    asked: Any = made("http://h/a%20b?q=1", query={"k": "v"})
    assert str(asked._url) == "http://h/a%20b/chat/completions?q=1&k=v"
    bare: Any = made("http://h/v1?q=1")
    assert str(bare._url) == "http://h/v1/chat/completions?q=1"
    port: Any = made("http://h:0/v1")
    port.use_port(5)
    port.use_port(6)
    assert str(port._url) == "http://h:5/v1/chat/completions"
    port.send_header("b", "c")
    assert port._headers["b"] == "c"
    assert "User-Agent" in port._headers


def failure(message: str, status: int | None = None, blocked: bool = False, no_quota: bool = False) -> Any:
    return ProviderFailure(message, status, blocked, no_quota)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (None, None),
        ({}, None),
        ("", None),
        (0, None),
        ("away", failure("away")),
        ([1], failure("[1]")),
        ({"message": "m", "code": 503}, failure("m", 503)),
        ({"message": "m", "code": "rate_limit_error"}, failure("m", 429)),
        ({"message": "m", "type": "overloaded_error", "code": "404"}, failure("m", 404)),
        ({"message": "m", "status": "UNAVAILABLE", "type": "not_found"}, failure("m", 503)),
        ({"message": "m", "code": 5}, failure("m")),
        ({"message": "m", "code": 10**9}, failure("m")),
        ({"message": "m", "code": True, "status": None}, failure("m")),
        ({"message": "m", "code": 999}, failure("m")),
        ({"message": "m", "innererror": {"code": "ResponsibleAIPolicyViolation"}}, failure("m", None, True)),
        ({"message": "Content Exists Risk"}, failure("Content Exists Risk", None, True)),
        ({"message": "m", "metadata": {"flagged_input": "x"}}, failure("m", None, True)),
        ({"message": "m", "code": "1301"}, failure("m", None, True)),
        ({"message": "m", "code": 402}, failure("m", 402, False, True)),
        ({"message": "m", "type": "insufficient_quota"}, failure("m", None, False, True)),
        ({"message": "Insufficient balance"}, failure("Insufficient balance", None, False, True)),
        ({"message": "m", "metadata": {"raw": "r"}}, failure("m: r")),
        ({"message": "", "metadata": {"raw": "r"}}, failure("r")),
        ({"message": 5, "code": "x"}, failure('{"message":5,"code":"x"}')),
        ({"error": {"message": "inner", "code": 500}}, failure("inner", 500)),
        ({"error": {"message": "inner"}, "message": "outer"}, failure("outer")),
        ({"error": {}, "code": 500}, failure('{"error":{},"code":500}', 500)),
        ({"error": "text"}, failure('{"error":"text"}')),
    ],
)
def test_the_failure_of_an_error(error: Any, expected: ProviderFailure | None):
    assert failure_of_error(error) == expected


def test_numbers_come_before_words_in_a_status():
    assert status_from_names(["overloaded", "no", "599", "400"]) == 599
    assert status_from_names(["nothing", "Server_Error", "timeout"]) == 500
    assert status_from_names(["600", "4000"]) is None


@pytest.mark.parametrize(
    ("answer", "status", "expected"),
    [
        (b"slow down", 429, failure("slow down", 429)),
        (b"\xff", 500, failure("\ufffd", 500)),
        (b'{"error": {"message": "m", "code": 500}}', 400, failure("m", 400)),
        (b' [{"error": "m"}]', 400, failure("m", 400)),
        (b'{"error"', 400, failure('{"error"', 400)),
        (b'"error"', 400, failure('"error"', 400)),
        (b'{"code": "Arrearage"}', 400, failure('{"code": "Arrearage"}', 400, False, True)),
        (b'{"code": "1301"}', 499, failure('{"code": "1301"}', 499, True)),
        (b'{"code": "1301"}', 500, failure('{"code": "1301"}', 500)),
        (b'{"error": {"message": "m", "code": "invalid_prompt"}}', 399, failure("m", 399)),
        (b"no", 402, failure("no", 402, False, True)),
        (b"out of credits", 403, failure("out of credits", 403, False, True)),
        (b"out of credits", 503, failure("out of credits", 503)),
    ],
)
def test_the_body_of_a_refusal(answer: bytes, status: int, expected: ProviderFailure):
    assert refusal_in(answer, status) == expected


def test_waits_are_read_of_headers_and_bodies():
    assert retry_wait_s({"retry-after-ms": "1500", "Retry-After": "9"}) == 1.5
    assert retry_wait_s({"retry-after-ms": "1500.5"}) == 1.5005
    assert retry_wait_s({"retry-after-ms": "soon", "Retry-After": "9"}) == 9.0
    assert (retry_wait_s({}), retry_after_s(None), retry_after_s("soon"), retry_after_s("-1")) == (None,) * 4
    assert (retry_after_s(" 2.5 "), retry_after_s("0")) == (2.5, 0.0)
    later = datetime.now(UTC) + timedelta(hours=1)
    for date in (format_datetime(later), format_datetime(later.replace(tzinfo=None))):
        assert 3500 < (retry_after_s(date) or 0) <= 3600
    assert retry_after_s(format_datetime(later - timedelta(hours=2))) == 0.0
    assert retry_delay_s(b'x "retryDelay" : "34.5s"') == 34.5
    assert retry_delay_s(b'"retryDelay": "34"') is None


SECRET = "sk-proj-4f8a2b6c9d1e3f5a7b8c"


def usage_error(action: Any) -> str:
    with pytest.raises(UsageError) as raised:
        action()
    return str(raised.value)


def test_an_address_that_cannot_be_used_is_not_repeated():
    for url in ("", "h/v1", "ftp://h", "http://", "http://a:b:c", "http://" + "a" * 70):
        assert usage_error(lambda url=url: parse_base_url(url)) == (
            "the base URL is not usable; expected one like http://127.0.0.1:8000/v1"
        )
    assert parse_base_url("https://h/v1") == URL("https://h/v1")


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("http://h/v1", set()),
        ("http://h/v1?version=2&a=b", set()),
        ("http://user:pass@h/v1", {"user:pass", "pass"}),
        ("http://user@h", {"user"}),
        ("http://user:EMPTY@h", {"user:EMPTY"}),
        (f"http://{SECRET}:p@h", {SECRET, "p", f"{SECRET}:p"}),
        (f"http://h/{SECRET}", {SECRET}),
        ("http://h?key=a&KEYS=b%20c", {"a", "b c", "b%20c"}),
        ("http://h?name", {"name"}),
        (f"http://h?x={SECRET}", {SECRET, f"x={SECRET}"}),
        (f"http://h?{SECRET}=x", {SECRET, f"{SECRET}=x"}),
    ],
)
def test_the_parts_of_an_address_that_may_be_keys(url: str, secrets: set[str]):
    assert {text for text in secrets_in(URL(url), url) if text != "b+c"} == secrets


def test_credentials_are_given_once():
    assert credentials_of(URL("http://h"), None) is None
    assert credentials_of(URL("http://u:p@h"), None) == ("Basic", "dTpw")
    assert credentials_of(URL("http://u@h"), None) == ("Basic", "dTo=")
    assert credentials_of(URL("http://h"), "k") == ("Bearer", "k")
    assert usage_error(lambda: credentials_of(URL("http://u@h"), "k")) == (
        "the base URL holds user:password@ and a key is given too; give only one of them"
    )
    for key in ("", "a b", "a\n", "é"):
        assert usage_error(lambda key=key: credentials_of(URL("http://h"), key)) == (
            "the API key is empty or has blanks, control or non-ASCII characters in it"
        )
    assert authorization(None, "x") == {}
    assert authorization(("Bearer", "k"), "Authorization") == {"Authorization": "Bearer k"}
    assert authorization(("Bearer", "k"), "x-api-key") == {"x-api-key": "k"}
    assert authorization(("Basic", "k"), "x-api-key") == {"Authorization": "Basic k"}


def test_this_machine_is_reached_without_a_proxy(monkeypatch: pytest.MonkeyPatch):
    for name in (
        "NO_PROXY",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
        "https_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://p:1")
    for url in ("http://localhost", "http://127.9.9.9:8", "http://[::1]/v1"):
        assert proxy_of(URL(url)) is None
    assert proxy_of(URL("http://h/v1")) == "http://p:1"
    assert proxy_of(URL("https://h/v1")) is None
    monkeypatch.setenv("no_proxy", "h:80")
    assert proxy_of(URL("http://h/v1")) is None
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", "socks5://p:1")
    assert usage_error(lambda: proxy_of(URL("http://h"))) == (
        "the environment's http_proxy is not an http(s) URL; set it to one or unset it"
    )


def test_an_error_names_the_endpoint_and_quotes_without_secrets():
    asked = made(api_key="key-of-mine")
    error = asked.error("kind", "said", "a\n  key-of-mine  b" + "c" * 700)
    assert str(error) == f"http://h:1/v1/chat/completions: said: a [key] b{'c' * 291}"
    assert (error.kind, error.final, error.retry_after_s) == ("kind", False, None)
    bare = asked.error("kind", "said", where="there", final=True)
    assert (str(bare), bare.final) == ("there: said", True)
    assert str(asked.error("kind", "said", " \n")) == "http://h:1/v1/chat/completions: said"


@pytest.mark.parametrize(
    ("status", "final"),
    [
        (299, False),
        (300, True),
        (404, True),
        (408, False),
        (409, False),
        (425, False),
        (429, False),
        (499, True),
        (500, False),
    ],
)
def test_a_status_is_final_where_the_same_request_can_only_fail_again(status: int, final: bool):
    error = made().status_error(status, "no", retry_after_s=3.0, where="there")
    assert (error.kind, error.final, error.retry_after_s) == (f"http {status}", final, 3.0)
    assert str(error) == f"there: HTTP {status}: no"


@pytest.mark.parametrize(
    ("given", "kind", "message", "final"),
    [
        (failure("m", 429, True, True), "blocked prompt", "the provider blocked the prompt: m", True),
        (failure("m", 429, False, True), "quota used up", "the account has no quota left: m", True),
        (failure("m", 400), "http 400", "HTTP 400: m", True),
        (failure("m", 503), "http 503", "HTTP 503: m", False),
        (failure("m"), "wrong shape", "an error came with HTTP 200: m", False),
    ],
)
def test_a_failure_in_an_answer_has_its_kind(given: ProviderFailure, kind: str, message: str, final: bool):
    error = made().failure_error(given, where="there")
    assert (error.kind, str(error), error.final) == (kind, f"there: {message}", final)
    assert str(made().failure_error(given)).startswith("http://h:1/v1/chat/completions: ")
