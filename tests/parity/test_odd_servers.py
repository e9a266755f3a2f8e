"""Every server of the found borders is told as its README says, by `check` and by a run alike.

A row names the words of the cause in what a command prints, and how the command ends. Rows in which nothing is odd for
one of the two say so by no words: then only the end is looked at.
"""

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool as wt
from check.faulty_endpoint import Endpoint, Fault
from e2e.command import HURRIED, wildtool
from faults.server import Answer, FaultServer
from models.peers import Body, Peer
from parity.cases import oracle_folder, present
from wildtool.cli import app
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.types import Message

pytestmark = pytest.mark.long
RESULTS = "refuses every request with a result of a tool"
LAST_RESULT = "refuses every request that ends in the result of a tool"
WAITS = frozenset({"err200", "html", "llamacpp23838", "nochoices", "die"})
"""Servers that a run waits for, by a clock that goes faster here."""
PIECES = "streamed with"


@dataclass(frozen=True)
class Told:
    """What a command prints of a server, and its exit status."""

    words: str
    status: int


ODD: Mapping[str, tuple[Told, Told]] = {
    "deepseek_reasoner": (Told("35. reasoning is demanded", 1), Told("an empty reasoning", 0)),
    "deepseek_reasoner_calls_only": (Told("35. reasoning is demanded", 1), Told("an empty reasoning", 0)),
    "gemini_sig": (
        Told("calls in the history without a `thought_signature`", 1),
        Told("placeholder for each missing thought signature", 0),
    ),
    "vllm41902": (Told("39. tokens are written and an empty reply comes", 1), Told("replies empty", 0)),
    "vllm45736": (
        Told("a call in the reasoning, and none in `tool_calls`", 1),
        Told("with a call that the server left in the reasoning", 0),
    ),
    "mlx562": (Told("the arguments of a call in the text", 1), Told("no call in", 0)),
    "llamacpp23838": (
        Told("cannot read a call that its model wrote", 3),
        Told("cannot read a call that its model wrote", 3),
    ),
    "llamacpp25895": (Told("34. many tools, or long ones, are refused", 1), Told("makes no grammar", 2)),
    # No tool of wild-mini has a pattern.
    "lookahead": (Told("pattern with a lookahead: refused", 1), Told("", 0)),
    "noauto": (Told("the server takes no tools", 3), Told("the server takes no tools", 2)),
    "parsed_twice": (
        Told("the same call in the text and in `tool_calls`", 1),
        Told("the same call in `tool_calls` and in the text", 0),
    ),
    "zx_bench": (Told("'length' far below the limit", 1), Told("cut off at a token limit", 0)),
    "html": (Told("this is a web page", 3), Told("this is a web page", 3)),
    "err200": (Told("29. an error comes with HTTP 200", 1), Told("HTTP 200 with the error 529", 3)),
    "nochoices": (Told("the answer holds no message", 3), Told("holds no reply of a model", 3)),
}
STREAMS: Mapping[str, tuple[str, str]] = {
    "dup_in_chunk": ("", ""),
    "dup_choice": ("", ""),
    "index_from_1": ("the first call has the index 1", ""),
    "empty_id_later": ("", ""),
    "index_text": ("`index` is the text '0'", "the index of a call as a text"),
    "name_again_id_null": ("the name of the call again", "the name of a call repeated"),
    "no_index_two_objects": ("a delta of a call without `index`", "calls without an index"),
    "no_index_two_text": ("a delta of a call without `index`", "calls without an index"),
    "index_null_fragments": ("a delta of a call without `index`", "calls without an index"),
    "name_fragments": ("the name of a call comes in pieces", "the name of a call in pieces"),
    "cumulative": ("arguments again that came before", "arguments sent again"),
    "snapshot_last": ("arguments again that came before", "arguments sent again"),
    "choices_null": ("", ""),
    "same_index_two_ids": ("4. all calls of a stream have the same index", "several calls at one index"),
    "nulls": ("", ""),
    "legacy": ("under the retired `function_call`", "under the retired `function_call`"),
}
"""By shape the words of `check`, and those of a run with --stream. The empty ones follow the protocol, or are read alike
by all clients."""
PATHS = [("list_files", {"path": "."}), ("list_files", {"path": "src"})]
TWO_CALLS = ("no_index_two_objects", "no_index_two_text", "same_index_two_ids")
GOLD: Mapping[str, tuple[str, Told]] = {
    "native": ("", Told("100.0 %", 0)),
    "429": ("", Told("100.0 %", 0)),
    "tags": ("a call in the text, and none in `tool_calls`", Told("--tool-format hermes", 0)),
    "fence": ("a call in the text, and none in `tool_calls`", Told("--tool-format hammer", 0)),
    "cut": ("", Told("cut off at a token limit", 0)),
    "empty": ("39. tokens are written and an empty reply comes", Told("replies empty", 0)),
    "dirty": ("", Told("cut off at a token limit", 0)),
    "die": ("", Told("answered until", 3)),
    "drift": ("", Told("2 models answered (toy-v2, toy-v1)", 0)),
    "reasoning": ("<think> in the text", Told("<think> in the text", 0)),
    "dupcall": ("32. the same call comes twice", Told("with the same call twice", 0)),
    "strargs": ("31. `arguments` are encoded twice", Told("encoded twice", 0)),
}
"""By mode the words of `check`, to whose own requests this server says that it does not know, and what a run tells."""
RULES: Mapping[str, tuple[str, str]] = {
    "anytool": ("33. a history that the protocol allows is refused", RESULTS),
    "twocalls": ("two calls in one message", "parallel calls one after another"),
    "nullcontent": ("33. a history that the protocol allows is refused", "none is not an allowed value"),
    "lastuser": ("33. a history that the protocol allows is refused", LAST_RESULT),
    "ds": ("calls in the history without `reasoning_content`", "an empty reasoning"),
    "gm": ("calls in the history without a `thought_signature`", "placeholder for each missing thought"),
    "look": ("pattern with a lookahead: refused", ""),
    "size": ("34. many tools, or long ones, are refused", ""),
    "ntools": ("34. many tools, or long ones, are refused", ""),
}
"""By rule of the scripts `check_blunt.py` and `check_history_rules.py` the words of `check`, and those of a run, which
meets the last three in benchmarks with more tools only."""
CALLS: Mapping[str, tuple[str, str]] = {
    "obj": ("10. `arguments` is not a JSON text", "arguments as objects"),
    "noid": ("6. call ids are missing or equal", "calls that have no id"),
    "twice": ("31. `arguments` are encoded twice", "arguments that are encoded twice"),
}
"""By model of `dictargs_live.py`."""


def scripts() -> Path:
    return present(oracle_folder("found") / "borders") / "servers"


@contextmanager
def serving(script: str, *words: object) -> Iterator[str]:
    """The address of a server that a script of the oracle starts."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(scripts() / script), str(port), *map(str, words)]
    with subprocess.Popen(command) as server:
        try:
            for _ in range(400):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


@pytest.fixture(scope="module")
def odd() -> Iterator[str]:
    with serving("odd_server.py") as address:
        yield address


@pytest.fixture(scope="module")
def streams() -> Iterator[str]:
    with serving("stream_server.py") as address:
        yield address


@pytest.fixture(scope="module")
def gold_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The conversations of a perfect run, as the gold server wants them."""
    folder = tmp_path_factory.mktemp("gold")
    for words in (
        ["run", "wild-mini", "--model", "baseline/gold", "--out", str(folder / "run"), "-q"],
        ["export", str(folder / "run"), "--format", "openai", "-o", str(folder / "gold.jsonl")],
    ):
        ended = CliRunner().invoke(app, words)
        assert ended.exit_code == 0, ended.output
    return folder / "gold.jsonl"


async def shown(
    verb: str, address: str, model: str, folder: Path, *more: object, hurried: bool = False
) -> Told:
    """All that a command prints, its lines joined, and its end."""
    clock = HURRIED if hurried and verb == "run" else {}
    words = (
        ["check", "-m", model, "--quick"]
        if verb == "check"
        else ["run", "wild-mini", "--model", f"openai-chat/{model}", "--out", folder / "run"]
    )
    ended = await wildtool(
        *words, "--base-url", address, *more, cwd=folder, OPENAI_API_KEY="x", COLUMNS="100", **clock
    )
    return Told(" ".join(f"{ended.out} {ended.err}".split()), ended.status)


def first_calls(run: Path) -> list[tuple[str, Any]]:
    """Name and arguments of each call of the first reply in a record."""
    with LogReader(run) as reader:
        log = reader.log("wild_mini_0", 0)
    (first, *_) = [step for steps in log.values() for step in steps.values()]
    assert isinstance(first, LoggedReply)
    functions = [call["function"] for call in first.reply.message["tool_calls"]]
    arguments = [function["arguments"] for function in functions]
    read = [json.loads(each) if isinstance(each, str) else each for each in arguments]
    return [(function["name"], each) for function, each in zip(functions, read, strict=True)]


def assert_told(said: Told, expected: Told) -> None:
    assert expected.words in said.words
    assert said.status == expected.status, said.words


@pytest.mark.parametrize("door", ["check", "run"])
@pytest.mark.parametrize("model", ODD)
async def test_an_odd_server_is_told(model: str, door: str, odd: str, tmp_path: Path):
    by_check, by_run = ODD[model]
    more = [] if door == "check" else ["--limit", 3]
    said = await shown(door, odd, model, tmp_path, *more, hurried=model in WAITS)
    assert_told(said, by_check if door == "check" else by_run)


@pytest.mark.parametrize("door", ["check", "run"])
@pytest.mark.parametrize("shape", STREAMS)
async def test_an_odd_stream_is_told(shape: str, door: str, streams: str, tmp_path: Path):
    by_check, by_run = STREAMS[shape]
    if door == "check":
        # The server streams what was not asked for and has no usage, hence is never fit.
        assert_told(await shown("check", streams, shape, tmp_path), Told(by_check, 1))
        return
    said = await shown("run", streams, shape, tmp_path, "--limit", 2, "--stream")
    assert_told(said, Told(by_run, 0))
    assert by_run or PIECES not in said.words
    if shape != "legacy":
        # Other calls of the units are answered with an error, since wild-mini has no such tool.
        assert first_calls(tmp_path / "run") == PATHS[: 2 if shape in TWO_CALLS else 1]


@pytest.mark.parametrize("door", ["check", "run"])
@pytest.mark.parametrize("mode", GOLD)
async def test_what_a_server_does_to_gold_is_told(mode: str, door: str, gold_file: Path, tmp_path: Path):
    by_check, by_run = GOLD[mode]
    with serving("gold_server.py", mode, gold_file, "delay=0") as address:
        said = await shown(door, address, "toy", tmp_path, hurried=mode in WAITS)
    assert_told(said, Told(by_check, 1) if door == "check" else by_run)


@cache
def rules_of(script: str) -> Mapping[str, Callable[[Body], Answer | None]]:
    """The functions of a script that refuse requests, without what follows them."""
    text = (scripts() / script).read_text("utf-8")
    found: dict[str, Any] = {}
    exec(compile(re.split(r"^async def ", text, flags=re.MULTILINE)[0], script, "exec"), found)
    return found


def rule_of(name: str) -> Callable[[Body], Answer | None]:
    every = {**rules_of("check_blunt.py"), **rules_of("check_history_rules.py")}
    return every[name]


def asked(messages: list[Message]) -> str:
    return json.dumps([message.get("content") for message in messages if message["role"] == "user"])


@cache
def gold() -> Mapping[str, list[Message]]:
    """The right replies of wild-mini in order, by what users asked before."""
    return {
        asked(item.request(unit)[0]): item.gold[unit] for item in wt.load("wild-mini") for unit in item.units
    }


def right_reply(body: Body) -> Message:
    messages = body["messages"]
    last = max(place for place, message in enumerate(messages) if message["role"] == "user")
    step = sum(message["role"] == "assistant" for message in messages[last:])
    steps = gold().get(asked(messages), [])
    return {"role": "assistant", "content": None, **(steps[step] if step < len(steps) else {"content": "ok"})}


@pytest.mark.parametrize("door", ["check", "run"])
@pytest.mark.parametrize("rule", RULES)
async def test_what_an_endpoint_refuses_is_told(rule: str, door: str, tmp_path: Path):
    by_check, by_run = RULES[rule]
    refuse = rule_of(rule)
    if door == "check":
        server = FaultServer("ok")
        server.behave = Endpoint(Fault(0, refuse=refuse))
        async with server:
            said = await shown("check", server.base_url, "m", tmp_path)
        assert_told(said, Told(by_check, 1))
        return
    async with Peer("chat", lambda body, digest: refuse(body) or right_reply(body)) as peer:
        said = await shown("run", peer.base_url, "m", tmp_path, "--limit", 4, "--retries", 1)
    assert by_run in said.words


def changed_call(model: str, call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    match model:
        case "obj":
            return {**call, "function": {**function, "arguments": json.loads(function["arguments"])}}
        case "twice":
            return {**call, "function": {**function, "arguments": json.dumps(function["arguments"])}}
        case _:
            return {key: value for key, value in call.items() if key != "id"}


def with_changed_calls(model: str, message: Message) -> Message:
    calls = message.get("tool_calls")
    return {**message, "tool_calls": [changed_call(model, call) for call in calls]} if calls else message


@pytest.mark.parametrize("door", ["check", "run"])
@pytest.mark.parametrize("model", CALLS)
async def test_what_an_endpoint_makes_of_calls_is_told(model: str, door: str, tmp_path: Path):
    by_check, by_run = CALLS[model]
    async with Peer("chat", lambda body, digest: with_changed_calls(model, right_reply(body))) as peer:
        more = [] if door == "check" else ["--limit", 3]
        said = await shown(door, peer.base_url, model, tmp_path, *more)
    assert_told(said, Told(by_check, 1) if door == "check" else Told(by_run, 0))
