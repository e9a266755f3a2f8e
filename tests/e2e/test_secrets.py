"""A key stands in no file and on no screen, whatever an endpoint repeats of it and however it is given."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from e2e.command import Ended, contents, wildtool
from faults.server import Answer, FaultServer, http
from models.peers import PROTOCOLS, sse
from wildtool import trust

KEY = "sk-secret-5b1f/09aa77c2"
PARTS = (KEY, KEY.replace("/", "\\/"), quote(KEY, safe=""), "09aa77c2")
LOUD = {"PYTHONASYNCIODEBUG": "1", "PYTHONWARNINGS": "default", "THE_KEY": KEY}
"""What makes Python and its libraries tell more of themselves, and the key's variable."""


class Echo(FaultServer):
    """Repeats all headers that it gets, in one kind of answer after another."""

    def __init__(self, protocol: str) -> None:
        super().__init__("ok")
        self.protocol = PROTOCOLS[protocol]
        self.seen = 0

    def answer(self, head: bytes, body: bytes) -> Answer:
        assert KEY.encode() in head or quote(KEY, safe="").encode() in head or b"Basic " in head
        text = head.decode()
        said = self.protocol.write({"role": "assistant", "content": text}, "0")
        if json.loads(body).get("stream") or b"alt=sse" in head:
            good = http(200, sse(self.protocol.stream(said), self.protocol.closing), kind="text/event-stream")
        else:
            good = http(200, json.dumps(said).encode())
        error = json.dumps(self.protocol.error(400, text)).encode()
        location = head.split(b"\r\n")[0].decode() + KEY
        kinds = (
            Answer(good),
            Answer(http(400, error)),
            Answer(http(500, head, f"X-Sent: {KEY}", kind="text/plain")),
            Answer(http(302, b"", f"Location: http://127.0.0.1/{quote(location)}?key={KEY}")),
            Answer(http(200, error)),
            Answer(http(200, b'{"echo": ' + head)),
            Answer(http(429, error, "Retry-After: 0")),
            Answer(http(200, good[: len(good) // 2], length=len(good)), close=True),
        )
        self.seen += 1
        return kinds[self.seen % len(kinds)]


def nowhere(folder: Path, *ended: Ended, parts: Sequence[str] = PARTS) -> None:
    """Demands that neither the key nor a recognisable part of it was shown or written."""
    said = "".join(one.out + one.err for one in ended)
    assert not [part for part in parts if part in said]
    written = contents(folder)
    assert written
    found = {path.name for path, data in written.items() if any(part.encode() in data for part in parts)}
    assert found <= {"the-key"}


def playing(server: Echo, model: str, *more: object) -> list[object]:
    words = ["run", "wild-mini", "--model", model, "--base-url", server.base_url, "--out", "run"]
    return [*words, "--limit", 4, "--retries", 0, *more]


BY_VARIABLE = ("--api-key-env", "THE_KEY")
ADAPTERS: Mapping[str, tuple[str, str, str]] = {
    "openai": ("chat", "m", ""),
    "openai-stream": ("chat", "openai-chat/m", "stream = true"),
    "openai-in-a-format": ("chat", "m", 'format = "hermes"'),
    "azure": ("chat", "azure/m", ""),
    "bedrock": ("chat", "bedrock/m", ""),
    "openrouter": ("chat", "openrouter/m", ""),
    "openai-responses": ("responses", "openai-responses/m", ""),
    "anthropic": ("anthropic", "anthropic/m", ""),
    "gemini": ("gemini", "gemini/m", ""),
    "gemini-stream": ("gemini", "gemini/m", "stream = true"),
}


async def test_whatever_an_endpoint_repeats_the_key_is_nowhere_by_any_adapter(tmp_path: Path):
    async with AsyncExitStack() as stack:
        servers = {
            name: await stack.enter_async_context(Echo(protocol)) for name, (protocol, *_) in ADAPTERS.items()
        }
        tables = [
            f'[models.{name}]\nmodel = "{ADAPTERS[name][1]}"\nbase_url = "{server.base_url}"\n'
            f'api_key_env = "THE_KEY"\n{ADAPTERS[name][2]}\n'
            for name, server in servers.items()
        ]
        (tmp_path / "wildtool.toml").write_text("\n".join(tables), "utf-8")
        trust(tmp_path, trust(tmp_path).digest)
        models = [word for name in ADAPTERS for word in ("--model", name)]
        words = ("run", "wild-mini", *models, "--out", "run", "--limit", 4, "--retries", 0)
        played = await wildtool(*words, cwd=tmp_path, **LOUD)
    assert played.status == 3, played.err
    assert all(server.seen >= 16 for server in servers.values())
    assert {path.parent.name for path in contents(tmp_path)} >= set(ADAPTERS)
    nowhere(tmp_path, played)


@pytest.mark.parametrize("way", ["file", "login", "query"])
async def test_however_a_key_is_given_it_is_nowhere(way: str, tmp_path: Path):
    async with Echo("chat") as server:
        words = playing(server, "m")
        if way == "file":
            (tmp_path / "the-key").write_text(f"{KEY}\n", "utf-8")
            words += ["--api-key-file", "the-key"]
        else:
            login = server.base_url.replace("//", f"//me:{quote(KEY, safe='')}@")
            words[words.index(server.base_url)] = login if way == "login" else f"{server.base_url}?key={KEY}"
        ended = await wildtool(*words, cwd=tmp_path, **LOUD)
    assert ended.status == 3
    nowhere(tmp_path, ended)


async def test_what_is_made_of_a_run_tells_no_key(tmp_path: Path):
    async with Echo("chat") as server:
        words = playing(server, "m", *BY_VARIABLE)
        ended = await wildtool(*words, cwd=tmp_path, **LOUD)
        again = await wildtool(*words, cwd=tmp_path, **LOUD)
        address = ("--base-url", server.base_url, *BY_VARIABLE)
        check = await wildtool("list", "models", "--check", "m", *address, cwd=tmp_path, **LOUD)
    shown = await wildtool("show", "run", "--json", cwd=tmp_path, **LOUD)
    report = await wildtool("report", "run", "--format", "md", "-o", "run.md", cwd=tmp_path, **LOUD)
    bundle = await wildtool("export", "run", "--to", "bundle", "-o", "run.zip", cwd=tmp_path, **LOUD)
    assert (ended.status, again.status, report.status, bundle.status) == (3, 3, 3, 0), bundle.err
    nowhere(tmp_path, ended, again, check, shown, report, bundle)


CANARY = "sk-canary-7f3Qx9/L@m2Vt8Rz4"
"""A key of the usual look."""
SEEN = (
    CANARY,
    CANARY.replace("/", "\\/"),
    quote(CANARY, safe=""),
    b64encode(CANARY.encode()).decode(),
    SPELLED := "".join(f"\\u{ord(character):04x}" for character in CANARY),
    "m2Vt8Rz4",
)
SPELLED = "".join(f"\\u{ord(character):04x}" for character in CANARY)
"""In escapes, as JSON allows."""
WELL: dict[str, Any] = {"role": "assistant", "content": "It is done."}
CALL: dict[str, Any] = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def whole(message: dict[str, Any] = WELL, **more: Any) -> str:
    choice = {"index": 0, "message": message, "finish_reason": "stop"} | more.pop("choice", {})
    return json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]} | more)


def calling(**changed: Any) -> str:
    return whole({"role": "assistant", "content": None, "tool_calls": [CALL | changed]})


PLACES: Mapping[str, Callable[[str], bytes]] = {
    "text": lambda key: http(200, whole(WELL | {"content": f"Your key is {key}."}).encode()),
    "text in escapes": lambda _: http(
        200, whole(WELL | {"content": "Key: @"}).replace("@", SPELLED).encode()
    ),
    "text in base64": lambda key: http(
        200, whole(WELL | {"content": b64encode(key.encode()).decode()}).encode()
    ),
    "text as an address": lambda key: http(
        200, whole(WELL | {"content": f"?k={quote(key, safe='')}"}).encode()
    ),
    "text with escaped slashes": lambda key: http(
        200, whole(WELL | {"content": key}).replace("/", "\\/").encode()
    ),
    "reasoning": lambda key: http(200, whole(WELL | {"reasoning_content": key}).encode()),
    "unknown field": lambda key: http(200, whole(WELL | {"x": [{"y": key}]}).encode()),
    "name of a field": lambda key: http(200, whole(WELL | {key: 1}).encode()),
    "name of a field in escapes": lambda _: http(200, whole(WELL | {"@": 1}).replace("@", SPELLED).encode()),
    "name of a call": lambda key: http(200, calling(function={"name": key, "arguments": "{}"}).encode()),
    "id of a call": lambda key: http(200, calling(id=key).encode()),
    "arguments": lambda key: http(
        200, calling(function={"name": "f", "arguments": json.dumps({"k": key})}).encode()
    ),
    "finish reason": lambda key: http(200, whole(choice={"finish_reason": key}).encode()),
    "usage": lambda key: http(200, whole(usage={"prompt_tokens": 1, key: 2}).encode()),
    "model": lambda key: http(200, whole(model=key).encode()),
    "header": lambda key: http(200, whole().encode(), f"X-Key: {key}"),
    "message of a 400": lambda key: http(400, json.dumps({"error": {"message": f"wrong {key}"}}).encode()),
    "message in an answer": lambda key: http(
        200, json.dumps({"error": {"message": key, "code": 500}}).encode()
    ),
    "failed choice": lambda key: http(200, whole(choice={"error": {"message": key}}).encode()),
    "page of a 502": lambda key: http(502, f"<html>{key}</html>".encode(), kind="text/html"),
    "redirect": lambda key: http(302, b"", f"Location: http://127.0.0.1/{key}?k={quote(key)}"),
    "no JSON": lambda key: http(200, f"{{{key}".encode()),
    "half an answer": lambda key: http(200, whole(WELL | {"content": key}).encode()[:-20]),
    "pieces of a stream": lambda key: http(
        200,
        b"".join(
            f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': piece}}]})}\n\n".encode()
            for piece in key
        )
        + b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n',
        kind="text/event-stream",
    ),
}


class Planting(FaultServer):
    """Repeats the key at one place after another."""

    def __init__(self) -> None:
        super().__init__("ok")
        self.asked = 0

    def answer(self, head: bytes, body: bytes) -> Answer:
        place = list(PLACES.values())[self.asked % len(PLACES)]
        self.asked += 1
        return Answer(place(CANARY))


WAYS: Mapping[str, Callable[[str], str]] = {
    "variable": lambda base: base,
    "file": lambda base: base,
    "login": lambda base: base.replace("//", f"//me:{quote(CANARY, safe='')}@"),
    "login with @ in it": lambda base: base.replace("//", f"//me:{quote(CANARY, safe='@')}@"),
    "login with a blank and a tab": lambda base: base.replace("//", f"//m e:\t{quote(CANARY, safe='')}@"),
    "user name": lambda base: base.replace("//", f"//{quote(CANARY, safe='')}@"),
    "value of a query": lambda base: f"{base}?key={CANARY}",
    "name of a query": lambda base: f"{base}?{CANARY}",
    "name of a query with a value": lambda base: f"{base}?{CANARY}=1",
    "part of the path": lambda base: base.replace("/v1", f"/{quote(CANARY, safe='')}/v1"),
}


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
async def test_a_canary_at_many_places_is_nowhere(way: str, tmp_path: Path):
    async with Planting() as server:
        base = WAYS[way](server.base_url)
        words: list[object] = ["run", "wild-mini", "--model", "m", "--base-url", base, "--out", "run"]
        words += ["--limit", 8, "--retries", 0, "--concurrency", 1]
        if way == "variable":
            words += ["--api-key-env", "THE_KEY"]
        elif way == "file":
            (tmp_path / "the-key").write_text(CANARY, "utf-8")
            words += ["--api-key-file", "the-key"]
        ended = await wildtool(*words, cwd=tmp_path, **LOUD | {"THE_KEY": CANARY})
        assert server.asked > len(PLACES), ended.err
    shown = await wildtool("show", "run", "--json", cwd=tmp_path)
    page = await wildtool("report", "run", "--single-file", "-o", "run.html", cwd=tmp_path)
    assert (ended.status, shown.status, page.status) == (3, 0, 3), (ended.err, page.err)
    nowhere(tmp_path, ended, shown, page, parts=SEEN)


@pytest.mark.long
@pytest.mark.parametrize(
    "mistake",
    [
        ("--api-key-env", KEY),
        ("--extra-body", json.dumps({"access_token": KEY})),
        ("--extra-body", json.dumps({"client_secret": KEY})),
        ("--extra-body", json.dumps({"clientSecret": KEY})),
        ("--extra-body", json.dumps({"headers": [{"X-API-Key": KEY}]})),
        ("--extra-body", json.dumps({"headers": [["Authorization", KEY]]})),
        ("--extra-body", json.dumps({"headers": [{"name": "Authorization", "value": KEY}]})),
        ("--extra-body", json.dumps({"anything": f"Bearer {KEY}"})),
        ("--extra-body", json.dumps({"api_keys": [KEY]})),
        ("--extra-body", json.dumps({"api_key": KEY})),
        ("--extra-body", json.dumps({"litellm": {"headers": {"Authorization": KEY}}})),
    ],
)
async def test_a_key_in_a_wrong_place_is_refused_and_not_repeated(mistake: tuple[str, str], tmp_path: Path):
    (tmp_path / "empty").touch()
    ended = await wildtool(
        "run", "wild-mini", "--model", "m", "--base-url", "http://127.0.0.1:1/v1", *mistake, cwd=tmp_path
    )
    assert ended.status == 2
    assert "variable" in ended.err
    nowhere(tmp_path, ended)
