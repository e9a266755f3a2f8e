"""Who opened the address that a server printed is answered; everybody else on the machine is not."""

from collections.abc import AsyncIterator
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from aiohttp import ClientResponse, DummyCookieJar, web
from aiohttp.test_utils import TestClient, TestServer, make_mocked_request

from wildtool.report.server.access import AccessPolicy
from wildtool.report.server.address_token import AddressToken
from wildtool.report.server.serving import guarded_application

TOKEN = AddressToken()


class Browser:
    """What a browser does: it keeps cookies by host, for all ports, and follows where it is sent."""

    def __init__(self, client: "TestClient[Any, Any]") -> None:
        self.client = client
        self.cookies: dict[str, str] = {}
        self.seen: list[str] = []

    async def ask(self, path: str, method: str = "GET", **headers: str) -> ClientResponse:
        self.seen.append(path)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {"Cookie": cookies, **headers} if cookies else headers
        answer = await self.client.request(method, path, headers=sent, allow_redirects=False)
        for name, morsel in answer.cookies.items():
            self.cookies[name] = morsel.value
        return answer

    async def open(self, path: str) -> ClientResponse:
        answer = await self.ask(path)
        return await self.open(answer.headers["Location"]) if answer.status == 303 else answer


async def close() -> None:
    """Nothing is left."""


def application(token: AddressToken | None) -> web.Application:
    async def page(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.method} {request.path_qs}")

    policy = AccessPolicy("127.0.0.1", remote=False, writes=True)
    routes = [web.get("/{path:.*}", page), web.post("/{path:.*}", page)]
    return guarded_application(routes, policy, lambda request: {}, close=close, token=token)


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with TestClient(TestServer(application(TOKEN)), cookie_jar=DummyCookieJar()) as client:
        yield Browser(client)


def query_of(address: str) -> str:
    return urlsplit(address).query


async def test_nobody_is_answered_without_the_token(browser: Browser):
    cookie = {"Cookie": f"wildtool-{browser.client.port}=x"}
    for path in ("/", "/runs.json", "/?token=", "/?token=x", "/?token=é", "/?token=%ff%00", "/favicon.ico"):
        for headers in ({}, cookie):
            answer = await browser.ask(path, **headers)
            assert (answer.status, "?token=" in await answer.text()) == (403, True)
            assert not answer.cookies
    own = {"Origin": str(browser.client.make_url("")).rstrip("/")}
    assert (await browser.ask(f"/?{query_of(TOKEN.address('/'))}", "POST", **own)).status == 403


async def test_the_printed_address_leads_to_the_page_without_the_token(browser: Browser):
    answer = await browser.open(TOKEN.address("/"))
    assert (answer.status, await answer.text(), browser.seen[-1]) == (200, "GET /", "/")
    for path in ("/", "/runs.json?x=1"):
        assert (await browser.ask(path)).status == 200
    assert (await browser.open(f"/a/b?x=1&{query_of(TOKEN.address('/'))}&y=%20")).status == 200
    assert browser.seen[-1] in ("/a/b?x=1&y=+", "/a/b?x=1&y=%20")


async def test_the_cookie_is_for_this_port_and_for_no_script_and_no_other_site(browser: Browser):
    answer = await browser.ask(TOKEN.address("/"))
    (given,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    assert given.key == f"wildtool-{browser.client.port}"
    assert (given["httponly"], given["samesite"], given["path"]) == (True, "Strict", "/")
    assert given.value not in TOKEN.address("/")
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "token" not in answer.headers["Location"]


@pytest.mark.parametrize(
    "path", ["//evil.example/", "///evil.example", "/%2f/evil.example", "/\\\\evil.example"]
)
def test_an_address_leads_to_no_other_host(path: str):
    address = f"{path}?{query_of(TOKEN.address('/'))}"
    answer = TOKEN.admit(make_mocked_request("GET", address, headers={"Host": "127.0.0.1:8642"}))
    assert answer is not None
    assert urljoin("http://127.0.0.1:8642/", answer.headers["Location"]).startswith("http://127.0.0.1:8642/")


async def test_an_address_for_the_browser_works_once(browser: Browser):
    once = TOKEN.address_once("/")
    assert (await browser.open(once)).status == 200
    browser.cookies.clear()
    assert (await browser.open(once)).status == 403
    assert (await browser.open(TOKEN.address("/"))).status == 200


async def test_two_servers_of_one_machine_do_not_take_each_others_cookies(browser: Browser):
    await browser.open(TOKEN.address("/"))
    other_token = AddressToken()
    async with TestClient(TestServer(application(other_token))) as client:
        other = Browser(client)
        other.cookies = browser.cookies
        assert (await other.ask("/")).status == 403
        assert (await other.open(other_token.address("/"))).status == 200
    assert (await browser.ask("/")).status == 200


async def test_a_start_knows_nothing_of_the_one_before(browser: Browser):
    await browser.open(TOKEN.address("/"))
    async with TestClient(TestServer(application(AddressToken()))) as client:
        again = Browser(client)
        again.cookies = {f"wildtool-{client.port}": value for value in browser.cookies.values()}
        answer = await again.open(TOKEN.address("/"))
        assert (answer.status, "Each start prints a new one" in await answer.text()) == (403, True)


async def test_without_a_token_everyone_who_reaches_it_is_answered():
    async with TestClient(TestServer(application(None))) as client:
        assert (await client.get("/")).status == 200
