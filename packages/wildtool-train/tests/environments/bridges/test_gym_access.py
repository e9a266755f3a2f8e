"""Who gets an answer from a resources server of NeMo Gym, and what bad requests get."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from environments.bridges.sources import SOURCES
from long import a_fiftieth_of
from wildtool_train.bridges.nemo_gym import ResourcesServer, gym_rows

UNITS = SOURCES["wild-mini"]
(ROW,) = gym_rows(UNITS, 1)
PATHS = ("/seed_session", "/verify", "/aggregate_metrics", "/some_tool")
TOO_DEEP = b"[" * 100_000


@pytest.fixture
async def client() -> AsyncIterator[Any]:
    async with TestClient(TestServer(ResourcesServer(UNITS).application())) as session:
        yield session


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "192.0.2.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_another_host_and_a_web_page_get_nothing(path: str, headers: dict[str, str], client: Any):
    answer = await client.post(path, json=ROW, headers=headers)
    assert (answer.status, answer.cookies) == (403, {})
    assert (await client.get("/reverify_mode", headers=headers)).status == 403


async def test_the_agent_names_no_origin_and_is_answered(client: Any):
    assert (await client.post("/seed_session", json=ROW)).status == 200
    assert (await client.delete("/seed_session")).status in (404, 405)


async def test_an_agent_elsewhere_is_answered_where_that_is_allowed():
    app = ResourcesServer(UNITS).application("gym.example", remote=True)
    async with TestClient(TestServer(app)) as client:
        for host, status in (("gym.example:8000", 200), ("192.0.2.1:8000", 200), ("evil.example", 403)):
            answer = await client.post("/seed_session", json=ROW, headers={"Host": host})
            assert answer.status == status


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("/seed_session", b"", "the body is no JSON"),
        ("/seed_session", b"\xff\xfe", "the body is no JSON"),
        ("/seed_session", TOO_DEEP, "nested deeper"),
        ("/seed_session", b"[]", "the body: expected an object, found a list"),
        ("/seed_session", b"{}", "field unit: expected a text, found null"),
        ("/seed_session", b'{"unit": 5}', "field unit: expected a text, found a number"),
        ("/verify", b"null", "the body: expected an object, found null"),
        (
            "/verify",
            json.dumps({"unit": ROW["unit"]}).encode(),
            "field response: expected an object, found null",
        ),
        (
            "/verify",
            json.dumps({"unit": ROW["unit"], "response": []}).encode(),
            "field response: expected an object, found a list",
        ),
        (
            "/verify",
            json.dumps({"unit": ROW["unit"], "response": {"output": "x"}}).encode(),
            "field response.output: expected a list, found a text",
        ),
        ("/aggregate_metrics", b'{"verify_responses": {}}', "field verify_responses: expected a list, found"),
        (
            "/aggregate_metrics",
            b'{"verify_responses": [{"reward": 1}, 7]}',
            "field verify_responses[1]: expected",
        ),
        (
            "/aggregate_metrics",
            b'{"verify_responses": [{"reward": "1"}]}',
            "field verify_responses[0].reward: expected a number",
        ),
        (
            "/aggregate_metrics",
            b'{"verify_responses": [{"reward": 1%b}]}' % (b"0" * 400),
            "field verify_responses[0].reward: more than a number can be",
        ),
        ("/aggregate_metrics", b"7", "the body: expected an object, found a number"),
    ],
)
async def test_a_bad_body_is_answered_with_what_is_wrong(path: str, body: bytes, named: str, client: Any):
    answer = await client.post(path, data=body)
    assert (answer.status, named in await answer.text()) == (400, True), await answer.text()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["unit", "response", "output", "type", "content", "reward", "verify_responses"]),
            inner,
            max_size=4,
        )
    ),
)


ANSWERS = JSON.map(lambda output: {"unit": ROW["unit"], "response": {"output": output}})
"""Responses to a unit that there is."""
BODIES = (JSON | ANSWERS).map(json.dumps).map(str.encode) | st.binary(max_size=20)


@settings(max_examples=a_fiftieth_of(1_000))
@given(bodies=st.lists(BODIES, min_size=1, max_size=10))
def test_no_body_is_an_internal_error(bodies: list[bytes]):
    import asyncio

    async def ask() -> None:
        async with TestClient(TestServer(ResourcesServer(UNITS).application())) as client:
            for body in bodies:
                for path in PATHS:
                    assert (await client.post(path, data=body)).status in (200, 400)

    asyncio.run(ask())
