"""A file that describes something else is refused, by name where its kind is known: a name alone makes no tool."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.command import wildtool
from wildtool.errors import DataError
from wildtool.tools.sources.tool_files import tools_of_file

DISCOVERY = {
    "kind": "discovery#restDescription",
    "discoveryVersion": "v1",
    "id": "drive:v3",
    "name": "drive",
    "version": "v3",
    "description": "Stores and shares files for its users",
    "parameters": {"alt": {"type": "string", "description": "Data format for the response"}},
    "resources": {"files": {"methods": {"list": {"id": "drive.files.list", "path": "files"}}}},
}
DOCUMENTS: dict[str, tuple[Any, str]] = {
    "discovery": (DISCOVERY, "this is a Google Discovery document"),
    "discovery by its kind": (
        {key: value for key, value in DISCOVERY.items() if key != "discoveryVersion"},
        "this is a Google Discovery document",
    ),
    "discovery documents": (
        [DISCOVERY, DISCOVERY],
        "tool 1: tool 'drive': this is a Google Discovery document",
    ),
    "asyncapi": ({"asyncapi": "3.0.0", "name": "a"}, "this is an AsyncAPI document"),
    "configuration": ({"mcpServers": {"a": {"command": "npx"}}}, "this is the configuration of MCP servers"),
    "package": ({"name": "left-pad", "version": "1.0.0", "main": "index.js"}, "`version`, `main`"),
    "agent card": ({"name": "a", "description": "Plans routes", "url": "x", "skills": []}, "`url`, `skills`"),
    "person": ([{"name": "Ada", "age": 36}], "tool 1: tool 'Ada': no tool: it has no parameters, but `age`"),
    "action": ({"name": "CI", "on": {"push": None}, "jobs": {}}, "`on`, `jobs`"),
    "by name": ({"definitions": {"name": "x"}}, "no tool: it has the keys definitions"),
}


def refused(folder: Path, value: Any) -> str:
    path = folder / "file.json"
    path.write_text(json.dumps(value))
    with pytest.raises(DataError) as caught:
        tools_of_file(path)
    return str(caught.value)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_document_of_another_kind_is_refused_with_its_file_and_what_it_is(kind: str, tmp_path: Path):
    value, what = DOCUMENTS[kind]
    assert refused(tmp_path, value).startswith(f"{tmp_path / 'file.json'}: ")
    assert what in refused(tmp_path, value)


@pytest.mark.parametrize("lines", [1, 3])
def test_lines_of_records_with_names_are_no_tools(lines: int, tmp_path: Path):
    path = tmp_path / "people.jsonl"
    path.write_text('{"name": "Ada", "age": 36}\n' * lines)
    with pytest.raises(DataError, match=r"people\.jsonl.*'Ada': no tool: it has no parameters, but `age`"):
        tools_of_file(path)


@pytest.mark.parametrize(
    "words",
    [
        ("catalogue", "drive.json"),
        ("catalogue", "drive.json", "--requests", "mine.jsonl"),
        ("generate", "--model", "procedural", "--tools", "drive.json", "-o", "made.jsonl"),
        ("generate", "acebench", "--model", "procedural", "--tools", "drive.json", "-o", "made"),
        ("run", "wild-mini", "-m", "baseline/gold", "--among", "8", "--among-tools", "drive.json"),
    ],
)
async def test_no_command_takes_a_discovery_document_for_a_tool(words: tuple[str, ...], tmp_path: Path):
    (tmp_path / "drive.json").write_text(json.dumps(DISCOVERY))
    (tmp_path / "mine.jsonl").write_text('{"request": "Find my file", "tool": "drive"}\n')
    ended = await wildtool(*words, cwd=tmp_path)
    assert ended.status == 2
    assert "drive.json: this is a Google Discovery document" in " ".join(ended.err.split())
    assert not (tmp_path / "made.jsonl").exists()


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "ping"},
        {"name": "ping", "description": "Pings the host"},
        {
            "name": "ping",
            "title": "Ping",
            "annotations": {"readOnlyHint": True},
            "outputSchema": {"type": "object"},
        },
        {"name": "ping", "category": "network", "parameters": {}},
        {"name": "ping", "category": "network", "parameters": None, "input_schema": {"type": "object"}},
        {"type": "function", "function": {"name": "ping", "category": "network"}},
        {"tools": [{"name": "ping", "category": "network"}]},
        {"ping": {"description": "Pings the host"}},
    ],
)
def test_a_tool_is_one_by_its_keys_or_by_what_is_around_it(tool: Any, tmp_path: Path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(tool))
    assert [each["function"]["name"] for each in tools_of_file(path)] == ["ping"]


@given(st.text("abcdefghij_", min_size=1, max_size=8), st.sampled_from([1, "x", None, [], [1], {"a": 1}]))
def test_no_key_that_tools_lack_stays_unsaid(tmp_path_factory: pytest.TempPathFactory, key: str, value: Any):
    told = refused(tmp_path_factory.mktemp("any"), {"name": "thing", f"x_{key}": value})
    assert "'thing'" in told and f"`x_{key}`" in told
