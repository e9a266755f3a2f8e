"""How the server of a review answers: status, words and headers of each kind of request, and what it is started with."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from review.made_sets import project
from review.server.served import served
from wildtool.errors import DataError, RecordError, StorageError, UsageError
from wildtool_review.server import operations
from wildtool_review.server.app import PAGES_POLICY
from wildtool_review.server.bodies import BODY_LIMITS
from wildtool_review.server.sign_in import WRONG_TOKENS, SignIn

WRONG_TOKEN = "This token is nobody's. Ask for a new one: wildtool review people add"


async def problem(answer: Any) -> tuple[int, str]:
    return answer.status, (await answer.json())["problem"]


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (UsageError("no such item"), 422, "no such item"),
        (DataError("damaged"), 422, "damaged"),
        (StorageError("disk full"), 507, "The review cannot be saved: disk full"),
        (RecordError("was changed"), 500, "was changed"),
    ],
)
async def test_errors_of_operations_are_answered_by_their_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, words: str
):
    def fail(*_: Any) -> Any:
        raise error

    for table, name in ((operations.READS, "figures"), (operations.WRITES, "remark")):
        monkeypatch.setitem(cast(Any, table), name, fail)
    async with served(project(tmp_path)) as pages:
        assert await problem(await pages.get("figures")) == (status, words)
        assert await problem(await pages.post("remark")) == (status, words)


async def test_what_does_not_exist_is_not_found(tmp_path: Path):
    async with served(project(tmp_path)) as pages:
        nothing = (404, "There is no such thing to ask for.")
        assert await problem(await pages.get("nothing")) == nothing
        assert await problem(await pages.get("remark")) == nothing
        assert await problem(await pages.post("figures")) == nothing
        answer = await pages.client.get("/nothing")
        assert (answer.status, await answer.text()) == (404, "There is no such page. The review: /\n")


async def test_a_body_is_one_json_object(tmp_path: Path):
    async with served(project(tmp_path)) as pages:

        async def send(body: bytes, kind: str = "application/json") -> tuple[int, str]:
            headers = {"Origin": pages.origin, "Content-Type": kind}
            answer = await pages.client.post("/api/remark", data=body, headers=headers)
            return answer.status, await answer.text()

        assert await send(b"{}", "text/plain") == (415, "Expected JSON.\n")
        for body in (b"", b"{", b'{"a": NaN', b"[" * 300 + b"]" * 300):
            assert await send(body) == (400, "Expected one JSON object, not too large.\n"), body
        assert await send(b" " * (BODY_LIMITS.bytes + 1)) == (413, "This is too long to be saved.\n")


async def test_people_sign_in_and_out(tmp_path: Path):
    review = project(tmp_path, people="ann")
    token = review.add_person("owner", "ann", "reviewer")
    async with served(review, alone="") as pages:
        assert await (await pages.get("sign-in")).json() == {"who": ""}
        for answer in (await pages.get("review"), await pages.post("remark", id="s0", note="x")):
            assert await problem(answer) == (401, "Sign in first.")
        for wrong in ("wtr_wrong", "", token + "x"):
            assert await problem(await pages.post("sign-in", token=wrong)) == (401, WRONG_TOKEN)
        headers = {"Origin": pages.origin}
        for size, status in ((4096, 200), (4097, 401)):
            body = json.dumps({"token": token}).ljust(size).encode()
            headers["Content-Type"] = "application/json"
            answer = await pages.client.post("/api/sign-in", data=body, headers=headers)
            assert answer.status == status, size
        answer = await pages.post("sign-in", token=f" {token}\n")
        assert (answer.status, await answer.json()) == (200, {})
        assert await (await pages.get("sign-in")).json() == {"who": "ann"}
        assert (await pages.get("review")).status == 200
        answer = await pages.post("sign-out")
        assert (answer.status, await answer.json()) == (200, {})
        assert await (await pages.get("sign-in")).json() == {"who": ""}


async def test_whom_another_process_has_added_signs_in(tmp_path: Path):
    review, other = project(tmp_path), project(tmp_path, [])
    async with served(review, alone="") as pages:
        token = other.add_person("owner", "ann", "reviewer")
        assert (await pages.post("sign-in", token=token)).status == 200
        assert await (await pages.get("sign-in")).json() == {"who": "ann"}


async def test_after_many_wrong_tokens_nobody_signs_in_for_a_while(tmp_path: Path):
    review = project(tmp_path, people="ann")
    token = review.add_person("owner", "ann", "reviewer")
    async with served(review, alone="") as pages:
        for _ in range(WRONG_TOKENS):
            await pages.post("sign-in", token="wrong")
        limited = (429, "Too many wrong tokens. Try again in a minute.")
        assert await problem(await pages.post("sign-in", token=token)) == limited


async def test_a_store_that_cannot_be_used_is_named_at_the_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: Any, **__: Any) -> Any:
        raise StorageError("away")

    for name in ("start", "end", "person"):
        monkeypatch.setattr(SignIn, name, fail)
    away = (507, "The review cannot be saved: away")
    async with served(project(tmp_path, people="ann"), alone="") as pages:
        assert await problem(await pages.post("sign-in", token="x")) == away
        assert await problem(await pages.post("sign-out")) == away
        assert await problem(await pages.get("sign-in")) == away
        assert await problem(await pages.post("remark")) == away


async def test_one_person_alone_needs_no_token(tmp_path: Path):
    async with served(project(tmp_path)) as pages:
        answer = await pages.post("sign-in", token="whatever")
        assert (answer.status, await answer.json(), "Set-Cookie" in answer.headers) == (200, {}, False)
        assert await (await pages.get("sign-in")).json() == {"who": "owner"}


async def test_each_answer_has_its_headers(tmp_path: Path):
    async with served(project(tmp_path)) as pages:
        for path, caching in (("/", "no-cache"), ("/api/review", "no-store"), ("/nothing", "no-cache")):
            headers = (await pages.client.get(path)).headers
            assert headers["Content-Security-Policy"] == PAGES_POLICY
            assert headers["Cache-Control"] == caching
        for path, kind in (
            ("/", "text/html; charset=utf-8"),
            ("/review.js", "text/javascript; charset=utf-8"),
            ("/site.css", "text/css; charset=utf-8"),
        ):
            assert (await pages.client.get(path)).headers["Content-Type"] == kind


async def test_what_a_server_began_ends_with_it(tmp_path: Path):
    closed: list[str] = []
    regeneration: Any = SimpleNamespace(close=lambda: closed.append("regeneration"))
    review = project(tmp_path)
    close = review.close
    review.close = lambda: (closed.append("project"), close())[1]
    async with served(review, regeneration=regeneration):
        assert closed == []
    assert closed == ["regeneration", "project"]
