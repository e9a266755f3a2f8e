"""Headers of the user, through commands: where they arrive, and that no value of one is written or shown."""

import json
import os
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from zipfile import ZipFile

import pytest
from typer.testing import CliRunner, Result

import wildtool as wt
from models.peers import PROTOCOLS
from wildtool import redact
from wildtool.cli import app

KEY = "gk-41xQ7m/Zx9Lr8"
TEAM = "evals-of-berlin-7"
"""A value that is given itself: no secret, and recorded nowhere either."""
GIVEN = ("--header", f"X-Team={TEAM}", "--header", "x-portkey-api-key=env:GATEWAY_KEY")


@dataclass
class Gateway:
    """What a server on this machine has received, and how it answers."""

    protocol: str = "chat"
    repeats: str = ""
    """Where it repeats the headers that it got: `error`, `reply`, or nowhere."""
    heads: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """The headers of each request, their names in lower case."""
    models: list[str] = field(default_factory=list[str])
    """The model that each request names."""
    url: str = ""

    def arrived(self, name: str) -> set[str | None]:
        """The values of a header in all requests; None for requests without it."""
        return {head.get(name.lower()) for head in self.heads}

    def answer(self, head: str) -> tuple[int, dict[str, Any]]:
        said = f"{head} {b64encode(head.encode()).decode()}"
        if self.repeats == "error":
            return 400, PROTOCOLS[self.protocol].error(400, said)
        text = said if self.repeats else "It is done."
        return 200, PROTOCOLS[self.protocol].write({"role": "assistant", "content": text}, "0")


@contextmanager
def gateway(protocol: str = "chat", repeats: str = "") -> Iterator[Gateway]:
    its = Gateway(protocol, repeats)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            its.heads.append({name.lower(): value for name, value in self.headers.items()})
            its.models.append(body.get("model", ""))
            status, answer = its.answer(str(self.headers))
            if "jsonrpc" in body:
                tool = {"name": "tides", "description": str(self.headers), "inputSchema": {"type": "object"}}
                result = {"tools": [tool]} if body["method"] == "tools/list" else {}
                answer = {"jsonrpc": "2.0", "id": body.get("id"), "result": result}
            data = json.dumps(answer).encode()
            self.send_response(status, str(self.headers)[:400].replace("\r", " ").replace("\n", " "))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    its.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield its
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No secret and no key of another test; in a folder of its own."""
    for name, empty in (("_texts", ()), ("_bytes", ()), ("_environment_read", False)):
        monkeypatch.setattr(redact, name, empty)
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "WILDTOOL_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("GATEWAY_KEY", f"Bearer {KEY}")
    monkeypatch.setenv("OTHER_KEY", "gk-other-5520/ab")
    monkeypatch.setenv("PEER_KEY", "sk-peer-7d10a")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def typed(*words: object) -> Result:
    line = [str(word) for word in words]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["wildtool", *line])  # what is recorded as the command
        return CliRunner().invoke(app, line, prog_name="wildtool")


def run(its: Gateway, *words: object, model: str = "m") -> Result:
    return typed(
        "run", "wild-mini", "-m", model, "--base-url", its.url, "--retries", 0, "-q", "-o", "run", *words
    )


def about() -> dict[str, Any]:
    return json.loads(Path("run/run.json").read_text())


def written(*results: Result) -> bytes:
    """All that was printed, and all that lies in this folder, bundles unpacked."""
    parts = [f"{result.output}{result.stderr}{result.exception!r}".encode() for result in results]
    for path in Path().rglob("*"):
        if path.suffix == ".zip":
            with ZipFile(path) as bundle:
                parts += map(bundle.read, bundle.namelist())
        elif path.is_file():
            parts.append(path.read_bytes())
    return b"\n".join(parts)


def error(result: Result) -> str:
    assert result.exit_code == 2 and "internal error" not in result.stderr, result.stderr
    return " ".join(result.stderr.split())


# Where they arrive -----------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("more", [(), ("--stream",)])
def test_headers_arrive_in_every_request_beside_the_key(protocol: str, more: tuple[str, ...]):
    with gateway(protocol) as its:
        result = run(
            its, *GIVEN, "--api-key-env", "PEER_KEY", "-n", 1, *more, model=PROTOCOLS[protocol].prefix
        )
    assert result.exit_code in (0, 3) and its.heads, result.stderr
    assert its.arrived("X-Team") == {TEAM}
    assert its.arrived("x-portkey-api-key") == {f"Bearer {KEY}"}
    key_header = PROTOCOLS[protocol].model.key_header
    assert {str(value).removeprefix("Bearer ") for value in its.arrived(key_header)} == {"sk-peer-7d10a"}


VERBS = {
    "run in a format": "run wild-mini -m m --tool-format hermes -n 1 -q",
    "check": "check -m m --quick --json",
    "list": "list models --check m",
    "generate": "generate --model m --sessions 1 -o set -q --max-tokens-total 2000",
    "tools try": "tools try tools.json --requests asked.jsonl -m m -o out -q",
}
TOOL = {
    "type": "function",
    "function": {"name": "tides", "description": "Lists the tides of a day.", "parameters": {}},
}


@pytest.mark.long
@pytest.mark.parametrize("verb", VERBS)
def test_every_command_that_asks_a_model_sends_them(verb: str):
    Path("tools.json").write_text(json.dumps([TOOL]))
    Path("asked.jsonl").write_text('{"id": "1", "request": "When is low tide?", "tool": "tides"}\n')
    with gateway() as its:
        result = typed(*VERBS[verb].split(), "--base-url", its.url, *GIVEN)
    assert its.heads, result.stderr
    assert (its.arrived("X-Team"), its.arrived("x-portkey-api-key")) == ({TEAM}, {f"Bearer {KEY}"})
    assert KEY.encode() not in written(result)


def test_a_point_of_a_curve_has_headers_of_its_own():
    with gateway() as base, gateway() as trained:
        points = [
            ("base", 0, base, f"X-Team = '{TEAM}'"),
            ("t", 10, trained, "X-Api-Key = 'env:GATEWAY_KEY'"),
        ]
        text = "[series]\nbenchmarks = ['wild-mini']\n"
        for name, size, its, header in points:
            text += f"[[point]]\nname = '{name}'\nmodel = 'm'\nsize = {size}\n"
            text += f"base_url = '{its.url}'\nheaders = {{{header}}}\n"
        Path("series.toml").write_text(text)
        assert typed("run", "series.toml", "--limit", 1, "-q", "-o", "out").exit_code in (0, 3)
    assert (base.arrived("X-Team"), base.arrived("X-Api-Key")) == ({TEAM}, {None})
    assert (trained.arrived("X-Team"), trained.arrived("X-Api-Key")) == ({None}, {f"Bearer {KEY}"})
    Path("series.toml").write_text(text.replace("env:GATEWAY_KEY", "swordfish-7"))
    refused = error(typed("run", "series.toml"))
    assert "[[point]] 2: headers: X-Api-Key" in refused and "swordfish" not in refused


PLAYED = (
    "run",
    "acebench",
    "--split",
    "agent_finance",
    "--ids",
    "en/agent_finance_multi_turn_0",
    "-q",
    "--retries",
    0,
)


@pytest.mark.long
def test_the_users_model_at_another_address_gets_its_own_headers_alone():
    with gateway() as agents, gateway() as users:
        words = (*PLAYED, "-m", "m", "--base-url", agents.url, *GIVEN, "--user-model", "u", "-o", "run")
        elsewhere = (*words, "--user-base-url", users.url)
        typed(*elsewhere, "--limit", 1)
        assert users.heads and users.arrived("x-portkey-api-key") == {None} == users.arrived("X-Team")
        users.heads.clear()
        own = ("--user-header", "X-User=env:OTHER_KEY")
        typed(*elsewhere[:-4], "-o", "other", *elsewhere[-2:], *own)
        assert (users.arrived("X-User"), users.arrived("X-Team")) == ({"gk-other-5520/ab"}, {None})
        assert agents.arrived("X-User") == {None}
        agents.heads.clear()
        typed(*words[:-1], "shared")
        assert agents.arrived("X-Team") == {TEAM}
    run_json = json.loads(Path("other/run.json").read_text())
    assert run_json["sittings"][0]["headers"] == {
        "agent": ["X-Team", "x-portkey-api-key"],
        "user": ["X-User"],
    }


def test_a_users_model_beside_one_without_an_endpoint_gets_them_at_the_address_of_the_command():
    with gateway() as its:
        words = (
            *PLAYED,
            "-m",
            "baseline/chat",
            "--user-model",
            "u",
            "--base-url",
            its.url,
            *GIVEN,
            "-o",
            "run",
        )
        typed(*words)
    assert its.arrived("X-Team") == {TEAM}
    assert json.loads(Path("run/run.json").read_text())["sittings"][0]["headers"].keys() == {"user"}


def test_the_other_endpoint_of_a_check_gets_its_own_headers_alone():
    with gateway() as its, gateway() as other:
        words = ("check", "-m", "m", "--quick", "--base-url", its.url, *GIVEN, "--against", other.url)
        typed(*words, "--against-header", "X-Other=env:OTHER_KEY")
    assert (its.arrived("X-Team"), its.arrived("X-Other")) == ({TEAM}, {None})
    assert (other.arrived("X-Team"), other.arrived("X-Other")) == ({None}, {"gk-other-5520/ab"})


@pytest.mark.parametrize(
    "verb",
    ["run wild-mini -m groq/a -m openrouter/b", "generate -m groq/a --role-model judge=openrouter/b"],
)
def test_a_secret_goes_to_one_host(verb: str):
    words = (*verb.split(), "--dry-run", "-o", "out")
    refused = error(typed(*words, "--header", "X-Api-Key=env:GATEWAY_KEY"))
    assert "X-Api-Key holds a secret and goes to one host" in refused and "api.groq.com" in refused
    assert typed(*words, "--header", "X-Team=a").exit_code == 0


def test_python_takes_them_as_a_dictionary():
    with gateway() as its:
        headers = {"X-Team": TEAM, "x-portkey-api-key": "env:GATEWAY_KEY"}
        wt.run("wild-mini", model="m", base_url=its.url, header=headers, limit=1, out="run")
    assert (its.arrived("X-Team"), its.arrived("x-portkey-api-key")) == ({TEAM}, {f"Bearer {KEY}"})
    assert about()["sittings"][0]["headers"] == {"agent": ["X-Team", "x-portkey-api-key"]}


# What is recorded ------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("repeats", ["error", "reply"])
def test_what_a_server_repeats_of_a_secret_is_in_no_record_and_on_no_screen(protocol: str, repeats: str):
    with gateway(protocol, repeats) as its:
        played = run(its, *GIVEN, "-n", 1, model=PROTOCOLS[protocol].prefix)
        assert its.heads
    assert b"x-portkey-api-key" in written(played)
    everything = written(played, typed("show", "run", "--json"))
    encoded = {b64encode(b"x" * before + KEY.encode())[4:-4] for before in range(3)}
    assert not [
        part for part in (KEY.encode(), KEY.replace("/", "\\/").encode(), *encoded) if part in everything
    ]


def test_a_run_has_the_names_and_no_value():
    with gateway() as its:
        played = run(its, "--header", f"X-Team={TEAM}", f"--header=X-Part={TEAM}", *GIVEN[2:], "-n", 1)
    assert played.exit_code == 0, played.stderr
    (sitting,) = about()["sittings"]
    assert sitting["headers"] == {"agent": ["X-Team", "X-Part", "x-portkey-api-key"]}
    assert {"X-Team=…", "--header=X-Part=…", "x-portkey-api-key=env:GATEWAY_KEY"} <= set(sitting["command"])
    bundle = typed("export", "run", "--to", "bundle", "-o", "run.zip")
    shown = [
        typed("show", "run"),
        typed("report", "run", "--format", "md", "-o", "run.md"),
        typed("export", "run", "--to", "eee", "-o", "eee"),
    ]
    assert TEAM.encode() not in written(played, bundle, *shown)


def test_other_headers_continue_the_run_as_another_key_does(monkeypatch: pytest.MonkeyPatch):
    with gateway() as its:
        assert run(its, "-n", 1).exit_code == 0
        before, calls = about()["identity"], len(its.heads)
        hashes = [line for path in Path("run").glob("record*") for line in path.read_text().splitlines()]
        assert run(its, *GIVEN, "-n", 1).exit_code == 0
        assert len(its.heads) == calls, "all was recorded"
        monkeypatch.setenv("GATEWAY_KEY", "gk-another-1100/x")
        result = run(its, "--header", "x-portkey-api-key=env:GATEWAY_KEY", "-n", 2)
        assert result.exit_code == 0, result.stderr
        assert {head.get("x-portkey-api-key") for head in its.heads[calls:]} == {"gk-another-1100/x"}
    assert about()["identity"] == before
    assert [sitting.get("headers") for sitting in about()["sittings"]] == [
        None,
        {"agent": ["X-Team", "x-portkey-api-key"]},
        {"agent": ["x-portkey-api-key"]},
    ]
    after = [line for path in Path("run").glob("record*") for line in path.read_text().splitlines()]
    assert set(hashes) <= set(after)


def test_a_missing_variable_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GATEWAY_KEY")
    with gateway() as its:
        assert "the environment variable GATEWAY_KEY is not set" in error(run(its, *GIVEN, "-n", 1))
        assert run(its, *GIVEN, "-n", 1, "--dry-run").exit_code == 0
    assert its.heads == []


# wildtool.toml ---------------------------------------------------------------------------------------


def configured(text: str) -> str:
    """Writes the file, trusts it, and gives what it would do without trust."""
    Path("wildtool.toml").write_text(text)
    request = wt.trust()
    if request.effects:
        wt.trust("wildtool.toml", request.digest)
    return "; ".join(request.effects)


def test_a_model_of_the_file_has_headers_for_its_address_alone():
    with gateway() as its, gateway() as other:
        headers = f'[models.mine.headers]\nX-Team = "{TEAM}"\nX-Key = "env:GATEWAY_KEY"\n'
        table = f'[models.mine]\nmodel = "m"\nbase_url = "{its.url}"\n{headers}'
        configured(f'[run]\nheader = ["X-Run=r"]\n{table}')
        words = ("run", "wild-mini", "-m", "mine", "-n", 1, "-q", "--retries", 0)
        assert typed(*words, "-o", "run").exit_code == 0
        assert [its.arrived(name) for name in ("X-Team", "X-Key", "X-Run")] == [
            {TEAM},
            {f"Bearer {KEY}"},
            {None},
        ]
        typed(*words, "-o", "other", "--base-url", other.url)
        assert [other.arrived(name) for name in ("X-Team", "X-Key", "X-Run")] == [{None}] * 3
        its.heads.clear()
        typed(*words, "-o", "typed", "--header", "X-Typed=t")
        assert [its.arrived(name) for name in ("X-Team", "X-Key", "X-Typed")] == [{None}, {None}, {"t"}]
    listed = typed("list", "models").stdout
    assert "headers X-Team, X-Key from GATEWAY_KEY (set)" in " ".join(listed.split())
    assert KEY not in listed and TEAM not in listed


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            '[models.m]\nmodel = "m"\nheaders = {X-Api-Key = "swordfish-7"}',
            "line 3: models.m.headers: X-Api-Key",
        ),
        ('[models.m]\nmodel = "m"\n[models.m.headers]\nHost = "swordfish-7"', "models.m.headers: Host"),
        ('[models.m]\nmodel = "m"\nheaders = ["X-A=swordfish-7"]', "models.m.headers: must be a table"),
        (
            '[models.m]\nmodel = "m"\nheaders = {X-A = ["swordfish-7"]}',
            "models.m.headers: X-A: must be a text",
        ),
        ('[run]\nheader = ["X-Api-Key=swordfish-7"]', "--header X-Api-Key"),
    ],
)
def test_what_the_file_may_not_hold_is_refused_without_its_value(text: str, place: str):
    Path("mine.toml").write_text(text)
    refused = error(typed("run", "wild-mini", "-m", "baseline/gold", "--config", "mine.toml"))
    assert place in refused and "swordfish" not in refused


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ('[run]\nheader = "X-K=env:AWS_SECRET"', "send AWS_SECRET to http://127.0.0.1:1/v1, in the header X-K"),
        ('[run]\nheader = ["X-Route=elsewhere"]', "add the headers X-Route to every request"),
        ('[run]\nheader = ["nonsense"]', "add headers to every request"),
        ('[models.m]\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"\nheaders = {X-K = "env:AWS_SECRET"}',
         "send AWS_SECRET to http://127.0.0.1:1/v1, in the header X-K"),
        ('[models.m]\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"\nheaders = {X-Route = "a"}',
         "add the headers X-Route to every request"),
        ('[run]\nuser_model = "u"\nuser_header = ["X-K=env:AWS_SECRET"]',
         "send AWS_SECRET to http://127.0.0.1:1/v1, in the header X-K"),
    ],
)  # fmt: skip
def test_headers_of_a_file_that_nobody_named_need_trust(
    text: str, effect: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_SECRET", "swordfish-7")
    Path("wildtool.toml").write_text(text)
    words = ["run", "wild-mini", "-m", "m", "-n", 1]
    refused = error(typed(*words, *([] if "base_url" in text else ["--base-url", "http://127.0.0.1:1/v1"])))
    assert effect in refused and "swordfish" not in refused
    where = "the model that you name"
    shown = "; ".join(wt.trust().effects)
    assert effect in shown or effect.replace("http://127.0.0.1:1/v1", where) in shown or "user" in text


def test_a_typed_secret_for_an_address_of_such_a_file_needs_trust():
    Path("wildtool.toml").write_text('[run]\nbase_url = "http://127.0.0.1:1/v1"')
    refused = error(typed("run", "wild-mini", "-m", "m", "--header", "X-K=env:GATEWAY_KEY"))
    assert "send GATEWAY_KEY to http://127.0.0.1:1/v1, in the header X-K" in refused


# MCP -------------------------------------------------------------------------------------------------


def test_an_mcp_server_at_an_address_gets_its_headers_and_the_model_its_own():
    Path("asked.jsonl").write_text('{"id": "1", "request": "When is low tide?", "tool": "tides"}\n')
    with gateway() as server, gateway() as models:
        words = (
            "catalogue",
            server.url,
            "--mcp-header",
            "Authorization=env:GATEWAY_KEY",
            "--mcp-header",
            f"X-Team={TEAM}",
        )
        looked = typed(*words, "--json")
        assert looked.exit_code in (0, 1), looked.stderr
        asked = (
            "--requests",
            "asked.jsonl",
            "-m",
            "m",
            "--base-url",
            models.url,
            "--header",
            "X-Model=env:OTHER_KEY",
        )
        played = typed(*words, *asked, "-o", "out", "-q")
    assert (server.arrived("Authorization"), server.arrived("X-Team")) == ({f"Bearer {KEY}"}, {TEAM})
    assert server.arrived("X-Model") == {None}
    assert (models.arrived("X-Model"), models.arrived("Authorization")) == ({"gk-other-5520/ab"}, {None})
    assert KEY.encode() not in written(looked, played)


def test_a_refusal_of_an_mcp_server_that_repeats_a_secret_is_shown_without_it():
    with gateway(repeats="error") as server:
        refused = typed("tools", "lint", server.url, "--mcp-header", "Authorization=env:GATEWAY_KEY")
    assert refused.exit_code == 2 and "HTTP 400" in refused.stderr
    assert KEY.encode() not in written(refused)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("http://127.0.0.1:1/mcp --header X-Team=a", "give --mcp-header"),
        ("tools.json --mcp-header X-Team=a", "--mcp-header is for an MCP server at an address"),
        ("http://127.0.0.1:1/mcp --mcp-header Accept=a/b", "Accept is set by the protocol of MCP"),
        ("http://127.0.0.1:1/mcp --mcp-header X-Api-Key=swordfish-7", "--mcp-header X-Api-Key"),
        ("http://127.0.0.1:1/mcp --mcp-header X-Api-Key=env:NOT_SET", "NOT_SET is not set"),
        (
            "--ab http://127.0.0.1:1/mcp http://127.0.0.1:2/mcp --requests a.jsonl --mcp-header X-Team=a",
            "--mcp-header goes to one host",
        ),
    ],
)
def test_headers_that_no_mcp_server_can_get_are_refused(words: str, said: str):
    Path("tools.json").write_text(json.dumps([TOOL]))
    refused = error(typed("catalogue", *words.split()))
    assert said in refused and "swordfish" not in refused
