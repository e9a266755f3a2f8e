"""What goes to the batch endpoints of each provider, byte by byte, and what is made of whatever comes back."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.batch_server import BEGAN, BatchServer, Held
from long import a_fiftieth_of
from models.asking import HELLO, TOOL, model
from wildtool import json_codec
from wildtool.errors import CallError
from wildtool.models.batch.protocol import BatchClient, BatchResult, NoResultError, quote_id
from wildtool.types import Request

KINDS = ("chat", "responses", "anthropic")
SYSTEM = {"role": "system", "content": '你好 \u2028 "x"'}


def batches(kind: str, base_url: str = "http://127.0.0.1:1/v1") -> BatchClient:
    async def send(body: bytes, request: Request) -> tuple[bytes, float]:
        return body, 0.0

    return model(kind, base_url).use_batches(send)


def file_of(api: BatchClient, mark: str, *bodies: bytes) -> io.BytesIO:
    head, tail = api.envelope(mark)
    lines = api.separator.join(api.line(f"wt_{number}", body) for number, body in enumerate(bodies))
    return io.BytesIO(head + lines + tail)


AT_NOBODY: dict[str, Any] = {kind: batches(kind) for kind in KINDS}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
words = ("custom_id", "result", "response", "error", "type", "message", "status_code", "body", "code")
rows = st.dictionaries(
    st.sampled_from(words), json_values | st.dictionaries(st.sampled_from(words), json_values)
)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_request_stands_in_the_file_byte_for_byte_as_it_is_sent_alone(kind: str):
    body = model(kind).body(Request([SYSTEM, HELLO], [TOOL]))
    api = batches(kind)
    whole = file_of(api, "wildtool-1", body, body).read()
    assert whole.count(body) == 2
    async with BatchServer(kind, lambda asked, digest: {"content": "hi"}) as server:
        api = batches(kind, server.base_url)
        uploaded = await api.upload("wildtool-1", file_of(api, "wildtool-1", body, body))
        state = await api.create("wildtool-1", file_of(api, "wildtool-1", body, body), uploaded)
        await api.endpoint.close()
    assert (state.total, state.ended, state.results) == (2, False, ())
    assert server.mistakes == []
    assert [json.dumps(asked) for asked in server.batches["b1"].requests.values()] == [
        json.dumps(json.loads(body))
    ] * 2


@pytest.mark.parametrize("kind", KINDS)
async def test_results_are_read_where_the_batch_says(kind: str):
    body = model(kind).body(Request([HELLO]))
    async with BatchServer(kind, lambda asked, digest: {"role": "assistant", "content": "hi"}) as server:
        api = batches(kind, server.base_url)
        uploaded = await api.upload("m", file_of(api, "m", body))
        await api.create("m", file_of(api, "m", body), uploaded)
        state = await api.state("b1")
        assert state.ended
        found: list[BatchResult] = []
        for where in state.results:
            into = io.BytesIO()
            await api.fetch(where, into)
            found += [api.result(json_codec.loads(line)) for line in into.getvalue().splitlines()]
        await api.endpoint.close()
    assert [(result.custom_id, result.error) for result in found] == [("wt_0", None)]
    parsed = json.loads(found[0].answer)
    reply = model(kind).parse(parsed, model(kind).build(Request([HELLO])))
    assert reply is not None and reply.message["content"] == "hi"


@pytest.mark.parametrize(("kind", "pages"), [("chat", 3), ("anthropic", 3)])
async def test_a_batch_is_looked_for_through_all_pages_of_the_list(kind: str, pages: int):
    requests = {"wt_1": json.loads(model(kind).body(Request([HELLO])))}
    async with BatchServer(kind, lambda asked, digest: {"content": "hi"}) as server:
        for number in range(250):
            # Older ones have other numbers of requests.
            asked = requests if number == 0 else requests | {"wt_2": requests["wt_1"]}
            server.batches[f"b{number}"] = Held(
                f"b{number}", asked, BEGAN + number, {"wildtool": f"m{number}"}
            )
        api = batches(kind, server.base_url)
        found = [state.id async for state in api.find("m0", 1, BEGAN)]
        assert (found, server.counts["list"]) == (["b0"], pages)
        assert [state.id async for state in api.find("m0", 1, BEGAN + 200)] == []
        assert server.counts["list"] == pages + 1
        await api.endpoint.close()
    assert server.mistakes == []


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example/v1/messages/batches/b1/results",
        "http://127.0.0.1:1/v1/../admin",
        "http://127.0.0.1:1/v1/messages/batches/b1/results?key=x",
        "http://127.0.0.1:1/v1x/y",
        "http://user:pass@127.0.0.1:1/v1/messages",
        "file:///etc/passwd",
        7,
        None,
    ],
)
def test_results_are_asked_for_nowhere_but_below_our_own_base_url(url: Any):
    api: Any = batches("anthropic")
    found = {"id": "b1", "processing_status": "ended", "results_url": url}
    assert api.read_state(found).results == ("/messages/batches/b1/results",)
    good = {**found, "results_url": "http://127.0.0.1:1/v1/other/b1.jsonl"}
    assert api.read_state(good).results == ("/other/b1.jsonl",)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=a_fiftieth_of(500))
@given(row=json_values | rows)
def test_any_line_is_a_result_or_none(kind: str, row: Any):
    try:
        result = AT_NOBODY[kind].result(row)
    except NoResultError:
        return
    assert isinstance(result.custom_id, str)
    assert bool(result.answer) + (result.error is not None) + result.canceled == 1


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=a_fiftieth_of(500))
@given(
    found=st.dictionaries(
        st.sampled_from(("id", "status", "processing_status", "errors", "request_counts")), json_values
    )
)
def test_any_object_is_a_batch_or_a_failed_call(kind: str, found: dict[str, Any]):
    try:
        state = AT_NOBODY[kind].read_state(found)
    except CallError as error:
        assert error.kind == "wrong shape"
    else:
        assert state.id and state.done >= 0


OPENAI = [
    ({"response": {"status_code": 400, "body": {"error": {"message": "bad"}}}}, "http 400", True),
    ({"response": {"status_code": 429, "body": {"error": {"message": "slow"}}}}, "http 429", False),
    ({"response": {"status_code": 500, "body": None}, "error": None}, None, None),
    ({"response": None, "error": {"code": "batch_expired", "message": "late"}}, "batch expired", False),
    ({"response": None, "error": {"code": "invalid_url", "message": "no"}}, "batch error", True),
    ({"response": None, "error": {"code": "server_error", "message": "no"}}, "batch error", False),
    ({"response": None, "error": None}, None, None),
]
ANTHROPIC = [
    (
        {"type": "errored", "error": {"type": "error", "error": {"type": "invalid_request_error"}}},
        "http 400",
        True,
    ),
    ({"type": "errored", "error": {"type": "invalid_request", "message": "bad"}}, "http 400", True),
    (
        {"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error"}}},
        "http 529",
        False,
    ),
    ({"type": "errored", "error": {"type": "rate_limit_error"}}, "http 429", False),
    ({"type": "errored", "error": {"type": "api_error"}}, "http 500", False),
    ({"type": "errored", "error": {"type": "new_error"}}, "batch error", False),
    ({"type": "errored"}, "batch error", False),
    ({"type": "expired"}, "batch expired", False),
    ({"type": "succeeded"}, None, None),
    ({"type": "other"}, None, None),
]


@pytest.mark.parametrize(
    ("kind", "row", "failure", "final"),
    [("chat", row, kind, final) for row, kind, final in OPENAI]
    + [("anthropic", {"result": result}, kind, final) for result, kind, final in ANTHROPIC],
)
def test_each_way_of_failing_has_its_name(kind: str, row: Any, failure: str | None, final: bool | None):
    api = batches(kind)
    if failure is None:
        with pytest.raises(NoResultError):
            api.result({"custom_id": "wt_1", **row})
        return
    error = api.result({"custom_id": "wt_1", **row}).error
    assert error is not None and (error.kind, error.final) == (failure, final)


@pytest.mark.parametrize("id_", ["../../x", "..", ".", "a/b", "a?b#c", "%2e%2e", "a b"])
def test_an_id_is_one_part_of_a_path_whatever_a_server_calls_it(id_: str):
    part = quote_id(id_)
    assert "/" not in part and "?" not in part and "#" not in part and part not in (".", "..")


def test_the_address_for_canceling_holds_no_key():
    api = batches("chat", "http://127.0.0.1:1/v1/?key=sk-123456")
    assert api.cancel_url("b1") == "http://127.0.0.1:1/v1/batches/b1/cancel"
