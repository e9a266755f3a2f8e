"""`wildtool list models --check NAME`: one tiny tool call says what works behind a name."""

import asyncio
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from faults.server import Answer, http
from models.asking import call
from models.peers import PROTOCOLS, Body, Peer
from wildtool import trust
from wildtool.cli import app
from wildtool.cli.commands import list as list_command
from wildtool.engine.call import client
from wildtool.errors import CallError, InfraError
from wildtool.types import Message, Reply, Request

KEY = "sk-check-4410ab"


def able(body: Body, digest: str) -> Message:
    """Two calls that follow the system message, then a text."""
    if "Sunny" in json.dumps(body):
        return {"role": "assistant", "content": "Sunny in both."}
    given = [json.dumps({"city": city, "code": "kiwi"}) for city in ("Lisbon", "Oslo")]
    calls = [call(f"c{n}", "get_weather", text) for n, text in enumerate(given)]
    return {"role": "assistant", "content": None, "tool_calls": calls}


async def wildtool(*words: str, cwd: Path, **environment: str) -> Any:
    """How a command ends that runs beside the endpoint that it asks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for name in [name for name in os.environ if name.startswith(("OPENAI_", "WILDTOOL_"))]:
            patch.delenv(name)
        invoke, more = CliRunner().invoke, {"prog_name": "wildtool", "env": environment}
        ended = await asyncio.to_thread(lambda: invoke(app, list(words), **more))
    return SimpleNamespace(status=ended.exit_code, out=ended.stdout, err=ended.stderr)


async def checked(tmp_path: Path, protocol: str, said: Any) -> Any:
    async with Peer(protocol, said) as peer:
        address = ("--base-url", peer.base_url, "--api-key-env", "PEER_KEY")
        words = ("list", "models", "--check", PROTOCOLS[protocol].prefix, *address)
        return await wildtool(*words, cwd=tmp_path, PEER_KEY=KEY)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
async def test_what_works_is_told(protocol: str, tmp_path: Path):
    ended = await checked(tmp_path, protocol, able)
    assert ended.status == 0, ended.err
    for line in (
        "native calls: yes",
        "parallel calls: yes, 2",
        "system message: followed",
        "results: accepted",
        "7 out",
    ):
        assert line in ended.out
    assert KEY not in ended.out + ended.err


async def test_a_model_that_writes_no_call_at_all_is_advised_no_format(tmp_path: Path):
    ended = await checked(tmp_path, "chat", lambda body, digest: {"role": "assistant", "content": "Sunny!"})
    assert "native calls: no\n" in ended.out and "parallel calls: not seen" in ended.out
    assert "calls as text: none read; tried hermes, llama3-json, pythonic" in ended.out


async def test_a_model_without_native_calls_is_advised_the_format_in_which_a_call_was_read(tmp_path: Path):
    def said(body: Body, digest: str) -> Message:
        prompt = json.dumps(body["messages"])
        call = '{"name": "get_weather", "parameters": {"city": "Oslo"}}'
        llama = "tools" not in body and '\\"parameters\\"' in prompt and "<tool_call>" not in prompt
        return {"role": "assistant", "content": call if llama else "Sunny!"}

    ended = await checked(tmp_path, "chat", said)
    assert "calls as text: yes, with `--tool-format llama3-json`" in ended.out


async def test_a_system_message_that_one_call_ignores_is_told(tmp_path: Path):
    def said(body: Body, digest: str) -> Message:
        return json.loads(json.dumps(able(body, digest)).replace("kiwi", "7", 1))

    assert "system message: not seen to be followed" in (await checked(tmp_path, "chat", said)).out


async def test_an_endpoint_that_refuses_results_is_told(tmp_path: Path):
    def said(body: Body, digest: str) -> Message | Answer:
        return (
            Answer(http(400, b'{"error":"no tools"}')) if "Sunny" in json.dumps(body) else able(body, digest)
        )

    assert "results: refused: " in (await checked(tmp_path, "chat", said)).out


async def test_an_endpoint_that_does_not_answer_is_quoted(tmp_path: Path):
    ended = await checked(tmp_path, "gemini", lambda body, digest: Answer(http(401, b'{"error":"who?"}')))
    assert ended.status == 3 and "HTTP 401: who?" in ended.err and ended.out == ""


@pytest.mark.parametrize(
    "words", [("--check", "m"), ("benchmarks", "--check", "m"), ("models", "--base-url", "x")]
)
async def test_options_that_cannot_be_meant_are_refused(words: tuple[str, ...], tmp_path: Path):
    assert (await wildtool("list", *words, cwd=tmp_path)).status == 2


async def test_the_list_says_which_key_variables_are_set_and_no_key(tmp_path: Path):
    ended = await wildtool("list", "models", cwd=tmp_path, GROQ_API_KEY=KEY, XAI_API_KEY="")
    assert "key in GROQ_API_KEY (set)" in ended.out and "key in XAI_API_KEY (not set)" in ended.out
    assert KEY not in ended.out


async def test_a_model_of_the_config_file_is_checked_as_it_is_configured(tmp_path: Path):
    async with Peer("anthropic", able) as peer:
        table = f'model = "anthropic/claude-x"\nbase_url = "{peer.base_url}"\napi_key_env = "PEER_KEY"\n'
        (tmp_path / "wildtool.toml").write_text(f"[models.big]\n{table}", "utf-8")
        trusted = {"PEER_KEY": KEY, "WILDTOOL_TRUST": trust(tmp_path).digest}
        ended = await wildtool("list", "models", "--check", "big", cwd=tmp_path, **trusted)
        assert "native calls: yes" in ended.out and len(peer.digests) == 2
        typo = await wildtool("list", "models", "--check", "bg", cwd=tmp_path)
    assert typo.status == 2 and "did you mean 'big' of wildtool.toml?" in typo.err


async def test_a_model_without_native_calls_is_checked_in_its_format(tmp_path: Path):
    def said(body: Body, digest: str) -> Message:
        assert "tools" not in body
        text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo", "code": "kiwi"}}</tool_call>'
        return {"role": "assistant", "content": text}

    async with Peer("chat", said) as peer:
        address = ("--base-url", peer.base_url, "--api-key-env", "PEER_KEY", "--format", "hermes")
        ended = await wildtool("list", "models", "--check", "m", *address, cwd=tmp_path, PEER_KEY=KEY)
    assert "calls as text: yes, in the format hermes" in ended.out and "native calls" not in ended.out


def test_a_check_ends_after_its_time(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    class Endless:
        closed = False

        async def complete(self, request: Request) -> Reply:
            await asyncio.sleep(60)
            raise AssertionError

        async def close(self) -> None:
            Endless.closed = True

    monkeypatch.setattr(list_command, "CHECK_TIMEOUT_S", 0.05)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with pytest.raises(InfraError, match=r"m: no complete answer within 0\.05 s"):
        asyncio.run(list_command.check_model("m", Endless()))
    assert Endless.closed
    assert "Asking m" in capsys.readouterr().err


LOADING = "HTTP 503: Loading model"


def loading(times: int, kind: str = "http 503", words: str = LOADING) -> tuple[type, list[int]]:
    """A model whose endpoint fails as often before it answers, and the number of each request."""
    asked: list[int] = []

    class Loading:
        name = "m"

        async def complete(self, request: Request) -> Reply:
            asked.append(len(asked))
            if len(asked) <= times:
                raise CallError(kind, words)
            return Reply({"role": "assistant", "content": "Sunny."}, "", "stop")

        async def close(self) -> None:
            return

    return Loading, asked


def test_a_server_that_loads_its_model_is_waited_for_and_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(client, "RESTART_PAUSE_S", 0.0)
    model, asked = loading(3)
    answers = asyncio.run(list_command.check_model("m", model()))
    assert answers["native calls"] == "no" and len(asked) > 4
    words = "the endpoint loads its model (http 503); waiting for it, 60 s at most"
    assert capsys.readouterr().err.count(words) == 1


def test_a_server_that_never_ends_loading_is_not_waited_for_without_an_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "RESTART_PAUSE_S", 0.0)
    monkeypatch.setattr(client, "RESTART_S", 0.0)
    model, asked = loading(10**9)
    with pytest.raises(InfraError, match="Loading model"):
        asyncio.run(list_command.check_model("m", model()))
    assert len(asked) == 2


@pytest.mark.parametrize(("kind", "words"), [("http 503", "too many requests"), ("network", LOADING)])
def test_only_a_server_that_says_that_it_loads_is_waited_for(kind: str, words: str):
    model, asked = loading(10**9, kind, words)
    with pytest.raises(InfraError):
        asyncio.run(list_command.check_model("m", model()))
    assert len(asked) == 1
