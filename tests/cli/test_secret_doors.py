"""No word of any command is printed or written with a key in it: each option and argument of each verb that takes text
gets keys in every place in which they are given. Verbs and options are read off the program, so a new one is in it."""

import json
import os
import re
import shutil
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from zipfile import ZipFile

import pytest
import typer
from typer.testing import CliRunner, Result

from e2e.surface import wild_mini
from wildtool import redact
from wildtool.cli import app
from wildtool.report.server import serving

KEYS = {
    "login": "lg7Yq2Wd9sKx4",
    "query": "qy5Tn8Rb3mVz6",
    "option": "op4Jc9Hf2wLp7",
    "assignment": "as6Gv3Xk8dQt5",
    "header": "hd2Bn7Ms4yPw9",
    "database": "db9Fz5Cr6jUe3",
    "proxy": "px3Kw8Dh5vNa2",
}
"""Too short to look like keys, and no words: what proves that they are keys is their place."""
SHORT = "q7Zx2"
SHAPES: Mapping[str, str] = {
    "login": f"http://me:{KEYS['login']}@127.0.0.1:9/v1",
    "query": f"http://127.0.0.1:9/v1?api_key={KEYS['query']}&version=2",
    "option": f"mcp:/no/such-server --token {KEYS['option']} --port 1",
    "assignment": f"host=127.0.0.1 user=me password={KEYS['assignment']} dbname=x",
    "header": f'mcp:/no/such-server -H "Authorization: Bearer {KEYS["header"]}"',
    "database": f"postgresql://me:{KEYS['database']}@127.0.0.1:9/x",
    "short": f"mcp:/no/such-server --token {SHORT}",
}
SENTINEL = f"http://me:{KEYS['proxy']}@127.0.0.1:9"
"""A proxy that nobody answers at: no test reaches the network."""
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{12,}")


def leaves(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each verb that does something, with the words that name it."""
    verbs = getattr(command, "commands", None)
    if verbs is None:
        yield words, command
    for name in verbs or ():
        yield from leaves(verbs[name], (*words, name))


def takes_text(param: Any) -> bool:
    """Whether any text may be given to it: it is no flag, number or choice."""
    number = re.search("int|float|whole number|number", param.type.name)
    return not (getattr(param, "is_flag", False) or getattr(param.type, "choices", ()) or number)


VERBS = dict(leaves(typer.main.get_command(app)))
DOORS = [
    (verb, param.name) for verb, command in VERBS.items() for param in command.params if takes_text(param)
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and a set, which verbs get where they require something."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "set.jsonl").write_text(wild_mini(2), "utf-8")
    words = ["run", "wild-mini", "-m", "baseline/gold", "-n", "1", "-q", "-o", str(folder / "run")]
    assert CliRunner().invoke(app, words, prog_name="wildtool").exit_code == 0
    return folder


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No secret of another test, no network, no server that stays."""
    monkeypatch.setattr(redact, "_texts", ())
    monkeypatch.setattr(redact, "_bytes", ())
    monkeypatch.setattr(redact, "_environment_read", False)
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("OPENAI_", "WILDTOOL_")):
            monkeypatch.delenv(name)
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, SENTINEL)

    async def at_once() -> None:
        return

    monkeypatch.setattr(serving, "wait_for_sigterm", at_once)
    monkeypatch.chdir(tmp_path)


def typed(*words: str) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["wildtool", *words])  # what is recorded as the command
        return CliRunner().invoke(app, words, prog_name="wildtool")


def words_of(verb: tuple[str, ...], name: str, text: str, made: Path) -> list[str]:
    """A command in which one option or argument is a text, and what else is required is there."""
    words, last = list(verb), list[str]()
    for param in VERBS[verb].params:
        given = text if param.name == name else _plain(param, made)
        if given is None:
            continue
        if param.param_type_name == "argument":
            last.append(given)
        else:
            words += [max(param.opts, key=len), given]
    return [*words, *last]


def _plain(param: Any, made: Path) -> str | None:
    """What a parameter gets that is not looked at; None for nothing."""
    small = {"limit": "1", "retries": "0", "model": "baseline/gold"}
    if param.name in small:
        return small[param.name]
    if not param.required:
        return None
    if choices := getattr(param.type, "choices", ()):
        return str(choices[0])
    if param.name in ("benchmark", "name"):
        return "wild-mini"
    if not takes_text(param):
        return "1"
    return str(made / ("set.jsonl" if "set" in str(param.name) else "run"))


def decoded(data: bytes) -> Iterator[bytes]:
    """Whatever may be base64 in some bytes, wherever in a longer text it begins."""
    for match in _BASE64.finditer(data):
        text = match[0].translate(bytes.maketrans(b"-_", b"+/"))
        for start in range(4):
            yield b64decode(text[start : start + (len(text) - start) // 4 * 4])


def found(data: bytes) -> set[str]:
    """The names of the keys in some bytes, base64 read too."""
    everything = b"\n".join([data, *decoded(data)])
    return {name for name, key in (KEYS | {"short": SHORT}).items() if key.encode() in everything}


def leaked(result: Result, folder: Path) -> dict[str, set[str]]:
    """The keys that were printed or written, by place."""
    places = {"output": result.output.encode(), "errors": result.stderr.encode()}
    if result.exception and not isinstance(result.exception, SystemExit):
        places["exception"] = repr(result.exception).encode()
    for path in folder.rglob("*"):
        if path.is_file():
            places[str(path.relative_to(folder))] = path.read_bytes()
    return {place: names for place, data in places.items() if (names := found(data))}


@pytest.mark.long
@pytest.mark.parametrize(
    ("verb", "name"), DOORS, ids=lambda its: " ".join(its) if isinstance(its, tuple) else its
)
def test_no_key_in_any_word_of_a_command_is_printed_or_written(
    verb: tuple[str, ...], name: str, made: Path, tmp_path: Path
):
    for shape, text in SHAPES.items():
        result = typed(*words_of(verb, name, text, made))
        assert not leaked(result, tmp_path), (shape, result.output)


@pytest.mark.long
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_what_a_command_does_not_know_is_told_without_a_key(verb: tuple[str, ...], tmp_path: Path):
    for text in SHAPES.values():
        assert not leaked(typed(*verb, f"--no-such={text}", text, text), tmp_path)


MCP_SERVER = """
import base64, json, sys
key = sys.argv[-1]
sys.stderr.write(f"started with {key}\\n")
schema = {"type": "object", "properties": {"day": {"type": "string", "description": key}}}
tools = [{"name": f"tides_{day}", "inputSchema": schema,
          "description": f"Lists the tides of {day}: {key} {base64.b64encode(f'me:{key}'.encode()).decode()}"}
         for day in ("today", "tomorrow")]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = {"tools": tools} if asked["method"] == "tools/list" else {}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
"""Repeats its key in all that it says."""


def test_a_key_of_an_mcp_server_is_in_nothing_that_is_made_of_its_tools(tmp_path: Path):
    (tmp_path / "server.py").write_text(MCP_SERVER, "utf-8")
    (tmp_path / "asked.jsonl").write_text(
        '{"id": "1", "request": "When is low tide?", "tool": "tides_today"}\n'
    )
    source = f"mcp:{sys.executable} server.py --token {KEYS['option']}"
    commands = [
        ["tools", "lint", source],
        ["tools", "lint", source, "--json"],
        ["tools", "try", source, "--requests", "asked.jsonl", "-m", "baseline/gold", "-o", "out"],
        ["tools", "try", source, "--requests", "asked.jsonl", "-m", "baseline/gold", "-o", "out"],
        ["report", "out/runs/tools", "-o", "pages"],
        ["export", "out/runs/tools", "--to", "bundle", "-o", "run.zip"],
        ["export", "out/runs/tools", "--to", "eee", "-o", "eee"],
    ]
    for words in commands:
        result = typed(*words)
        assert result.exit_code in (0, 1) and not isinstance(result.exception, AssertionError), result.stderr
        assert "internal error" not in result.stderr
        assert not leaked(result, tmp_path), words
    with ZipFile("run.zip") as bundle:
        assert not [name for name in bundle.namelist() if found(bundle.read(name))]
        commands_of = [its["command"] for its in json.loads(bundle.read("run.json"))["sittings"]]
    assert ["[key]" in word for word in commands_of[0]].count(True) == 1


def test_a_run_of_before_is_passed_on_without_the_key_in_its_command(made: Path, tmp_path: Path):
    shutil.copytree(made / "run", "run")
    run = json.loads(Path("run/run.json").read_text())
    run["sittings"][0]["command"] = ["wildtool", "catalogue", SHAPES["short"]]
    Path("run/run.json").write_text(json.dumps(run))
    assert typed("export", "run", "--to", "bundle", "-o", "run.zip").exit_code == 0
    assert typed("report", "run", "-o", "pages").exit_code == 0
    with ZipFile("run.zip") as bundle:
        assert not found(bundle.read("run.json"))
    assert not any(found(path.read_bytes()) for path in Path("pages").rglob("*") if path.is_file())


class Proxy(BaseHTTPRequestHandler):
    """Answers for any host, and repeats the headers that it gets."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        text = f"{self.headers} {b64encode(b'x' + str(self.headers).encode()).decode()}"
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing."""


@pytest.mark.parametrize("password", [KEYS["proxy"], SHORT])
def test_a_proxy_that_repeats_its_login_leaves_it_in_no_record(
    password: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        Thread(target=proxy.serve_forever, daemon=True).start()
        monkeypatch.setenv("HTTP_PROXY", f"http://me:{password}@127.0.0.1:{proxy.server_port}")
        words = ["--base-url", "http://model.example/v1", "-n", "1", "-q", "-o", "run"]
        result = typed("run", "wild-mini", "-m", "m", *words)
        proxy.shutdown()
    assert b"Proxy-Authorization" in b"".join(path.read_bytes() for path in Path("run").glob("record*"))
    assert not leaked(result, tmp_path)


def test_a_setting_with_a_key_in_it_makes_no_other_run():
    def run(key: str) -> Result:
        body = json.dumps({"metadata": {"note": f"password={key}"}})
        words = [
            "-m",
            "openai-chat/m",
            "--base-url",
            "http://127.0.0.1:9/v1",
            "--extra-body",
            body,
            "-o",
            "run",
        ]
        return typed("run", "wild-mini", *words, "-n", "1", "--retries", "0", "-q")

    for key in (KEYS["assignment"], KEYS["assignment"], KEYS["option"]):
        assert "the settings differ" not in run(key).stderr
    assert "[key]" in Path("run/run.json").read_text()


def test_what_is_submitted_to_a_cluster_holds_no_key(tmp_path: Path):
    server = f"serve --api-key {KEYS['option']} --port {{port}}"
    words = ["-o", f"file://{tmp_path}/shared", "--workers", "2", "--server", server, "--print"]
    endpoint = ["-m", "m", "--base-url", "http://127.0.0.1:{port}/v1"]
    result = typed("worker", "slurm", "wild-mini", *endpoint, *words)
    assert result.exit_code == 2
    assert "--server holds a key" in result.stderr
    assert not leaked(result, tmp_path)
