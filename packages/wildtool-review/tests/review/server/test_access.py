"""Who gets what from the server of a review: own pages and signed-in people everything, everybody else nothing."""

from pathlib import Path

import pytest

from review.made_sets import project
from review.server.served import Pages, served
from wildtool.errors import UsageError
from wildtool_review.server.app import Listen
from wildtool_review.server.sign_in import SESSION_S, SignIn

READS = ("/", "/review.js", "/api/review", "/api/queue?queue=all", "/api/item?id=s0", "/api/figures")
SECRET = "Tell me about number 0."


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "192.0.2.1"]
)
async def test_another_host_gets_nothing(tmp_path: Path, host: str):
    async with served(project(tmp_path)) as pages:
        for path in READS:
            answer = await pages.client.get(path, headers={"Host": host})
            assert answer.status == 403
            assert SECRET not in await answer.text()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_a_foreign_origin_reads_and_writes_nothing(tmp_path: Path, headers: dict[str, str]):
    review = project(tmp_path)
    before = review.state.n
    async with served(review) as pages:
        for path in READS:
            assert (await pages.client.get(path, headers=headers)).status == 403
        headers = {"Origin": pages.origin, **headers}
        body = {"id": "s0", "note": "planted"}
        assert (await pages.client.post("/api/remark", json=body, headers=headers)).status == 403
        assert review.state.n == before


async def test_a_write_must_name_its_origin_and_be_json(tmp_path: Path):
    review = project(tmp_path)
    before = review.state.n
    async with served(review) as pages:
        body = '{"id": "s0", "note": "planted"}'
        assert (await pages.client.post("/api/remark", data=body)).status == 403
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            headers = {"Origin": pages.origin, "Content-Type": kind}
            assert (await pages.client.post("/api/remark", data=body, headers=headers)).status == 415
        assert (await pages.client.put("/api/remark", data=body)).status == 405
        assert review.state.n == before
        assert (await pages.post("remark", id="s0", note="mine")).status == 200
        assert review.state.n == before + 1


async def test_without_a_token_nothing_is_answered_but_the_empty_page(tmp_path: Path):
    review = project(tmp_path, people="ann")
    before = review.state.n
    async with served(review, alone="") as pages:
        for path in READS[2:]:
            answer = await pages.client.get(path)
            assert (answer.status, (await answer.json())["problem"]) == (401, "Sign in first.")
        for what in ("edit", "decide", "resolve", "open-round", "no-such-thing"):
            assert (await pages.post(what, id="s0")).status == 401
        for token in ("", "wtr_wrong", "x" * 100_000):
            answer = await pages.post("sign-in", token=token)
            assert answer.status == 401
            assert "Set-Cookie" not in answer.headers
        assert review.state.n == before


async def test_a_session_is_a_cookie_that_no_script_and_no_other_site_has(tmp_path: Path):
    review = project(tmp_path, people="ann")
    token = review.add_person("owner", "ann", "reviewer")
    async with served(review, alone="") as pages:
        answer = await pages.post("sign-in", token=token)
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
        assert token not in cookie
        assert (await (await pages.get("review")).json())["who"] == "ann"
        await pages.post("sign-out")
        assert (await pages.get("review")).status == 401


async def test_a_revoked_or_replaced_token_ends_its_sessions(tmp_path: Path):
    review = project(tmp_path, people="ann bob")
    async with served(review, alone="") as pages:
        for end in (
            lambda: review.add_person("owner", "ann", "reviewer"),
            lambda: review.revoke_person("owner", "ann"),
        ):
            await pages.post("sign-in", token=review.add_person("owner", "ann", "reviewer"))
            assert (await pages.get("review")).status == 200
            end()
            assert (await pages.get("review")).status == 401


async def test_a_session_ends_after_half_a_day(tmp_path: Path):
    from aiohttp import web
    from aiohttp.test_utils import make_mocked_request

    review, now = project(tmp_path, people="ann"), [0.0]
    sign_in, response = SignIn(secure=True, clock=lambda: now[0]), web.Response()
    assert sign_in.start(review, review.add_person("owner", "ann", "reviewer"), response)
    (cookie,) = response.cookies.values()
    assert cookie["secure"] and cookie.key.startswith("__Host-")
    request = make_mocked_request("GET", "/", headers={"Cookie": f"{cookie.key}={cookie.value}"})
    now[0] = SESSION_S - 1
    assert sign_in.person(review, request) == "ann"
    now[0] = SESSION_S + 1
    assert sign_in.person(review, request) == ""


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/..%2f..%2fapp.py",
        "/%2e%2e/app.py",
        "/assets/../app.py",
        "/%2fetc%2fpasswd",
        "/app.py",
        "/set.review.sqlite",
        "/%00",
    ],
)
async def test_only_files_of_the_pages_are_sent(tmp_path: Path, path: str):
    async with served(project(tmp_path)) as pages:
        from yarl import URL

        answer = await pages.client.get(URL(path, encoded=True))
        assert answer.status in (400, 404)
        assert "import" not in await answer.text()


async def test_bodies_that_are_too_large_or_too_deep_are_refused(tmp_path: Path):
    review = project(tmp_path)
    async with served(review) as pages:
        assert (await pages.post("remark", id="s0", note="x" * 9_000_000)).status == 413
        headers = {"Origin": pages.origin, "Content-Type": "application/json"}
        for body in ("[" * 100_000, "{", "", '{"id": NaN}'):
            assert (await pages.client.post("/api/remark", data=body, headers=headers)).status in (400, 422)
        seen = (await pages.item("s0"))["seen"]
        deep = await pages.post(
            "edit", id="s0", seen=seen, field="/english_tools", json="[" * 1000 + "]" * 1000
        )
        assert deep.status == 422
        assert (await pages.get("review")).status == 200


async def test_every_answer_forbids_scripts_of_others(tmp_path: Path):
    async with served(project(tmp_path)) as pages:
        for path in (*READS, "/no-such-page"):
            headers = (await pages.client.get(path)).headers
            policy = headers["Content-Security-Policy"]
            assert (
                "default-src 'none'" in policy
                and "unsafe" not in policy
                and "frame-ancestors 'none'" in policy
            )
            assert headers["X-Content-Type-Options"] == "nosniff"
        assert (await pages.client.get("/api/review")).headers["Cache-Control"] == "no-store"


def test_others_reach_it_only_encrypted():
    with pytest.raises(UsageError, match="belong together"):
        Listen(tls_cert=Path("cert.pem")).check()
    for origin in (
        "review.example.org",
        "http://review.example.org",
        "https://x/path",
        "https://a@b",
        "ftp://x",
    ):
        with pytest.raises(UsageError, match="--behind-proxy"):
            Listen(proxy=origin).check()
    for origin in ("https://review.example.org", "https://review.example.org:8443", "http://127.0.0.1:9000"):
        Listen(proxy=origin).check()
        assert Listen(proxy=origin).signs_in
    assert not Listen().signs_in


async def test_behind_a_proxy_only_its_origin_counts(tmp_path: Path):
    from aiohttp.test_utils import TestClient, TestServer

    from wildtool.report.server.access import AccessPolicy
    from wildtool_review.server.app import ReviewApp, review_application

    origin = "https://review.example.org"
    policy = AccessPolicy("127.0.0.1", remote=True, proxy=origin, writes=True)
    app = review_application(ReviewApp(project(tmp_path, people="ann"), "set", SignIn("")), policy)
    async with TestClient(TestServer(app)) as client:
        pages = Pages(client)
        for host in ("review.example.org", f"127.0.0.1:{client.port}"):
            for named, status in ((origin, 401), ("https://evil.example", 403), (pages.origin, 403)):
                answer = await client.post("/api/edit", json={}, headers={"Host": host, "Origin": named})
                assert answer.status == status
