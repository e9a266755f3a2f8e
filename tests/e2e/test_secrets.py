"""A key stands in no file and on no screen, whatever an endpoint repeats of it and however it is given."""

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import quote

import pytest

from e2e.command import Ended, contents, wildtool
from faults.server import Answer, FaultServer, http
from models.peers import PROTOCOLS, sse

KEY = "sk-secret-5b1f/09aa77c2"
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


def nowhere(folder: Path, *ended: Ended) -> None:
    """Demands that neither the key nor a recognisable part of it was shown or written."""
    said = "".join(one.out + one.err for one in ended)
    parts = (KEY, KEY.replace("/", "\\/"), quote(KEY, safe=""), "09aa77c2")
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


@pytest.mark.parametrize(
    "mistake",
    [
        ("--api-key-env", KEY),
        ("--extra-body", json.dumps({"api_key": KEY})),
        ("--extra-body", json.dumps({"litellm": {"headers": {"Authorization": KEY}}})),
    ],
)
async def test_a_key_in_a_wrong_place_is_refused_and_not_repeated(mistake: tuple[str, str], tmp_path: Path):
    (tmp_path / "empty").touch()
    ended = await wildtool(
        *("run", "wild-mini", "--model", "m", "--base-url", "http://127.0.0.1:1/v1", *mistake), cwd=tmp_path
    )
    assert ended.status == 2
    assert "variable" in ended.err
    nowhere(tmp_path, ended)
