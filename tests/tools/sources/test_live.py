"""A live MCP server is taken wherever tools are named: `tools`, `generate --tools`, `run --among-tools`."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wildtool.cli import app
from wildtool.config.whitelist import option_effects

SERVER = """
import json, sys
from pathlib import Path
folder = Path(__file__).parent
with (folder / "started").open("a") as log:
    log.write("x")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = {"tools": json.loads((folder / "listed.json").read_text())} if "list" in asked["method"] else {}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def listed(*names: str) -> list[dict[str, Any]]:
    """Tools as a server lists them."""
    text = {"type": "string", "description": "Name of the harbour."}
    schema = {"type": "object", "properties": {"harbour": text}, "required": ["harbour"]}
    result = {"type": "object", "properties": {"height": {"type": "number", "description": "Metres."}}}
    return [
        {
            "name": name,
            "description": f"Gives the {name} of one harbour.",
            "inputSchema": schema,
            "outputSchema": result,
        }
        for name in names
    ]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The source that starts a server of two tools."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "listed.json").write_text(json.dumps(listed("tides", "weather")))
    return "mcp:" + shlex.join([sys.executable, str(tmp_path / "server.py")])


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="wildtool")


def names_in(path: Path) -> set[str]:
    """Names of the tools of generated sessions."""
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return {tool["function"]["name"] for line in lines for tool in line["english_tools"]}


def test_sessions_are_made_over_the_tools_of_a_server_which_is_asked_once(server: str, tmp_path: Path):
    words = ("generate", "--model", "procedural", "--sessions", "2", "--tasks", "1", "--tools", server, "-o")
    made = run(*words, "made.jsonl")
    assert made.exit_code == 0, made.output
    assert names_in(tmp_path / "made.jsonl") <= {"tides", "weather"}
    (tmp_path / "listed.json").write_text(json.dumps(listed("ferries")))
    (tmp_path / "made.jsonl").unlink()
    again = run(*words, "made.jsonl")
    assert again.exit_code == 0, again.output
    assert names_in(tmp_path / "made.jsonl") <= {"tides", "weather"}, "what was listed before counts"
    assert (tmp_path / "started").read_text() == "x"
    forced = run(*words, "made.jsonl", "--force")
    assert forced.exit_code == 0, forced.output
    assert names_in(tmp_path / "made.jsonl") == {"ferries"}


def test_distractors_come_from_a_server(server: str, tmp_path: Path):
    words = ["run", "wild-mini", "-m", "baseline/gold", "--limit", "1", "--among", "9", "-q", "-o", "out"]
    played = run(*words, "--among-tools", server)
    assert played.exit_code == 0, played.output
    assert "catalogue of 9 tools" in played.stdout
    assert (tmp_path / "started").read_text() == "x"
    (tmp_path / "listed.json").write_text(json.dumps(listed("ferries", "locks")))
    refused = run(*words, "--among-tools", server)
    assert refused.exit_code == 2 and "the settings differ: catalogue" in refused.stderr, refused.output


@pytest.mark.parametrize(
    ("option", "needed"), [("--mcp-env", "--among-tools"), ("--mcp-header", "--among-tools")]
)
def test_what_a_server_gets_is_refused_where_there_is_none(option: str, needed: str, server: str):
    refused = run("run", "wild-mini", "-m", "baseline/gold", "--among", "6", option, "A=B")
    assert (refused.exit_code, f"{option} needs {needed}" in refused.stderr) == (2, True)


FOUND: list[tuple[str, Callable[[str], str]]] = [
    ("mcp:npx -y somebody", lambda text: f"start `{text}`"),
    ("https://example.org/mcp", lambda text: f"ask {text} for its tools"),
]


@pytest.mark.parametrize(("source", "effect"), FOUND)
def test_a_file_that_was_only_found_starts_and_asks_no_server_untrusted(
    source: str, effect: Callable[[str], str], tmp_path: Path
):
    effects = option_effects({"among_tools": source}, ["among_tools"], (), tmp_path)
    assert effects == [effect(source.removeprefix("mcp:"))]
    assert option_effects({"among_tools": "tools.json"}, ["among_tools"], (), tmp_path) == []
