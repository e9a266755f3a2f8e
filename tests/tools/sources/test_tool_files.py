"""Tools out of OpenAPI documents and MCP tool lists."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from generate.sessions.players import TOOLS
from wildtool.errors import DataError
from wildtool.tools.sources.normalize import (
    KEPT_KEYWORDS,
    normalize_schema,
    normalize_tool,
    result_schema,
)
from wildtool.tools.sources.tool_files import described_tools, read_tool_lists, tools_of_file
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_data.make.procedural.tool_sets import read_tool_sets, result_schemas

OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/rooms/{room_id}/bookings": {
            "parameters": [{"$ref": "#/components/parameters/Room"}],
            "post": {
                "operationId": "bookings.create",
                "summary": "Books a room.",
                "parameters": [
                    {"name": "dry", "in": "query", "description": "Only try.", "schema": {"type": "boolean"}},
                    {"name": "X-Key", "in": "header", "required": True, "schema": {"type": "string"}},
                ],
                "requestBody": {
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Booking"}}}
                },
                "responses": {
                    "201": {
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Made"}}}
                    },
                    "404": {"description": "no such room"},
                },
            },
        },
        "/rooms": {"get": {"description": "Lists rooms.", "responses": {"200": {"description": "rooms"}}}},
    },
    "components": {
        "parameters": {
            "Room": {"name": "room_id", "in": "path", "required": True, "schema": {"type": "string"}}
        },
        "schemas": {
            "Stay": {"type": "object", "properties": {"nights": {"type": "integer"}}, "required": ["nights"]},
            "Booking": {
                "allOf": [
                    {"$ref": "#/components/schemas/Stay"},
                    {"type": "object", "properties": {"guest": {"type": "string"}}, "required": ["guest"]},
                ]
            },
            "Made": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
            "Ring": {
                "type": "object",
                "properties": {"next": {"$ref": "#/components/schemas/Ring"}, "link": {"type": "string"}},
            },
        },
    },
}
MCP = {"tools": [{"name": "addNote", "description": "Adds a note.", "inputSchema": {"type": "object"}}]}


def functions(value: Any) -> dict[str, Any]:
    tools = described_tools(value)
    assert tools is not None
    return {tool["function"]["name"]: tool["function"] for tool in tools}


def test_each_operation_is_a_tool():
    found = functions(OPENAPI)
    assert list(found) == ["bookingsCreate", "getRooms"]
    assert found["bookingsCreate"]["description"] == "Books a room."


def test_parameters_and_fields_of_the_body_are_parameters_of_the_tool():
    parameters = functions(OPENAPI)["bookingsCreate"]["parameters"]
    assert {name: schema["type"] for name, schema in parameters["properties"].items()} == {
        "room_id": "string", "dry": "boolean", "nights": "integer", "guest": "string",
    }  # fmt: skip
    assert sorted(parameters["required"]) == ["guest", "nights", "room_id"]
    assert parameters["properties"]["dry"]["description"] == "Only try."


def test_what_an_operation_returns_is_known(tmp_path: Path):
    path = tmp_path / "api.json"
    path.write_text(json.dumps(OPENAPI))
    schemas = result_schemas(path)
    assert list(schemas) == ["bookingsCreate"]
    assert schemas["bookingsCreate"]["required"] == ["code"]


def test_a_schema_that_holds_itself_ends():
    ring = json.loads(json.dumps(OPENAPI).replace("schemas/Booking", "schemas/Ring"))
    assert "next" in functions(ring)["bookingsCreate"]["parameters"]["properties"]


@pytest.mark.parametrize("value", [MCP, MCP["tools"], {"jsonrpc": "2.0", "id": 1, "result": MCP}])
def test_an_mcp_tool_list_is_taken(tmp_path: Path, value: Any):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(value))
    parameters = {"name": "addNote", "description": "Adds a note.", "parameters": {"type": "object"}}
    assert tools_of_file(path) == ({"type": "function", "function": parameters},)


def test_a_schema_of_results_is_for_those_who_make_sets_and_never_sent(tmp_path: Path):
    path = tmp_path / "tools.json"
    result = {"type": "object", "properties": {"id": {"type": "string"}}}
    path.write_text(json.dumps({"tools": [{**MCP["tools"][0], "outputSchema": result}]}))
    assert set(tools_of_file(path)[0]["function"]) == {"name", "description", "parameters"}
    assert set(result_schemas(path)) == {"addNote"}


@pytest.mark.parametrize("key", ["schema", "params", "argsSchema"])
def test_parameters_under_an_unknown_key_are_refused_with_file_tool_and_key(tmp_path: Path, key: str):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "addNote", key: {"type": "object", "properties": {"a": {}}}}]))
    with pytest.raises(DataError, match=rf"tools\.json: .*'addNote'.*`{key}`"):
        tools_of_file(path)


@pytest.mark.parametrize(
    "value", [[], {}, None, 3, "x", [[{"name": "a"}]], {"tools": [{"name": "a"}]}, {"paths": 3}, MCP]
)
def test_anything_else_is_not_described_so(value: Any):
    assert described_tools(value) is None


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_an_api_is_read_from_its_file(tmp_path: Path, suffix: str):
    yaml = pytest.importorskip("yaml")
    path = tmp_path / f"api.{suffix}"
    path.write_text(json.dumps(OPENAPI) if suffix == "json" else yaml.safe_dump(OPENAPI))
    (tools,) = read_tool_sets(path, "en", [].append)
    assert {tool.name: [slot.key for slot in tool.slots] for tool in tools} == {
        "bookingsCreate": ["room_id", "dry", "guest", "nights"],
        "getRooms": [],
    }


def test_a_line_of_tools_ends_where_json_says(tmp_path: Path):
    path = tmp_path / "tools.jsonl"
    lines = ['{"name": "takeSeat", "description": "one\u2028two"}', '{"name": "leave"}']
    path.write_text("\r\n".join(lines), encoding="utf-8", newline="")
    assert [tool["function"]["name"] for tool in tools_of_file(path)] == ["takeSeat", "leave"]


@pytest.mark.parametrize("kind", [{}, {"type": "function"}])
def test_a_bare_list_of_functions_is_a_list_of_tools(tmp_path: Path, kind: dict[str, str]):
    function = shaped()["function"]
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{**kind, **function}]))
    ((tool,),) = read_tool_sets(path, "en", [].append)
    assert tool.name == "takeSeat" and [slot.key for slot in tool.slots] == ["seat"]


def test_a_tool_without_a_name_is_named_by_its_place(tmp_path: Path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([shaped(), {"function": {}}]))
    remarks: list[str] = []
    read_tool_sets(path, "en", remarks.append)
    assert [remark.partition(": ")[2] for remark in remarks] == [
        "set 0: tool 2 is left out: expected {type: function, function: {name, description, parameters}}"
    ]


def test_broken_yaml_is_named(tmp_path: Path):
    path = tmp_path / "api.yaml"
    path.write_text("a: [")
    with pytest.raises(DataError, match=r"api\.yaml: not YAML"):
        read_tool_sets(path, "en", [].append)


def shaped(**schema: Any) -> Any:
    parameters = {
        "type": "object",
        "properties": {"seat": {"type": "string", **schema}},
        "required": ["seat"],
    }
    return {
        "type": "function",
        "function": {"name": "takeSeat", "description": "Takes a seat.", "parameters": parameters},
    }


def test_procedural_values_follow_the_pattern_of_a_tool(tmp_path: Path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([shaped(pattern="^[A-F]{2}-\\d{3}$"), *TOOLS]))
    seats = [
        node["action"]["arguments"]["seat"]
        for record in procedural_sessions(SessionGenerationSpec(8, 2, "1", ("en",), path), lambda text: None)
        for task in record["english_answer_list"]
        for node in task
        if node["action"]["name"] == "takeSeat"
    ]
    assert seats and all(re.fullmatch(r"[A-F]{2}-\d{3}", seat) for seat in seats)


def test_values_of_a_format_are_real_where_a_pattern_says_the_same(tmp_path: Path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([shaped(pattern=r"^\d{4}-\d{2}-\d{2}$", format="date"), *TOOLS]))
    kinds = {
        slot.key: slot.kind
        for tools in read_tool_sets(path, "en", print)
        for tool in tools
        for slot in tool.slots
    }
    assert kinds["seat"] == "date"


@pytest.mark.parametrize(
    ("pattern", "why"), [(r"(a)\1", "refers back"), ("b$a", "no text was found"), (7, "must be a text")]
)
def test_a_pattern_that_cannot_be_checked_is_left_out_and_told(tmp_path: Path, pattern: Any, why: str):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([shaped(pattern=pattern)]))
    notes: list[str] = []
    ((tool,),) = read_tool_sets(path, "en", notes.append)
    assert "pattern" not in tool.definition["function"]["parameters"]["properties"]["seat"]
    assert len(notes) == 1 and "takeSeat: the pattern of seat is left out" in notes[0] and why in notes[0]


def test_types_by_their_names_in_python_are_taken(tmp_path: Path):
    fields = {"tags": {"type": "list", "items": {"type": "str"}}, "open": {"type": "bool"}}
    filter_ = {"type": "dict", "properties": fields, "required": ["tags"]}
    parameters = {"type": "dict", "properties": {"filter": filter_}, "required": ["filter"]}
    function = {"name": "search", "description": "Searches.", "parameters": parameters}
    (tmp_path / "tools.json").write_text(json.dumps([{"type": "function", "function": function}]))
    ((tool,),) = read_tool_sets(tmp_path / "tools.json", "en", print)
    written = tool.definition["function"]["parameters"]
    assert written["type"] == written["properties"]["filter"]["type"] == "object"
    inner = written["properties"]["filter"]["properties"]
    assert (inner["tags"]["type"], inner["open"]["type"]) == ("array", "boolean")


def test_lists_of_a_file_are_given_as_they_stand(tmp_path: Path):
    def lists(value: Any) -> list[list[Any]]:
        path = tmp_path / "tools.json"
        path.write_text(json.dumps(value))
        return list(read_tool_lists(path, print))

    bare, full = (
        {"name": "a", "type": "function", "parameters": {}},
        {"type": "function", "function": {"name": "b"}},
    )
    wrapped = {"type": "function", "function": {"name": "a", "parameters": {}}}
    both = {"name": "c", "function": {"name": "d"}}
    named = {"type": "function", "name": "c", "function": {"name": "d"}}
    assert lists([bare, full, both, {}, {"x": 1}, 3]) == [[wrapped, full, named, {}, {"x": 1}, 3]]
    assert lists({"tools": [full]}) == lists([[full]]) == lists([full]) == lists(full) == [[full]]
    assert lists([[full], [bare]]) == [[full], [wrapped]]
    assert lists([[full], bare]) == [[full, wrapped]]
    assert lists([]) == [[]]
    with pytest.raises(DataError, match=r"tools\.json: expected a list of tools, found 3"):
        lists(3)


def tool(parameters: Any, **more: Any) -> dict[str, Any]:
    return {"function": {"name": "findFreeSeats", "description": "Finds.", "parameters": parameters, **more}}


@pytest.mark.parametrize(
    ("text", "written"), [(" ", "Find free seats."), (None, "Find free seats."), ("A\r\nb\x07", "A\nb ")]
)
def test_a_tool_without_words_is_described_by_its_name(text: Any, written: str):
    _, normal, _ = normalize_tool(tool({}, description=text), KEPT_KEYWORDS)
    assert normal is not None and normal["function"]["description"] == written
    assert normalize_tool({"function": {"name": "a-b_c.D"}}, KEPT_KEYWORDS)[1] == {
        "type": "function",
        "function": {
            "name": "a-b_c.D",
            "description": "A b c d.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    }


def test_words_about_a_schema_may_hold_control_characters():
    words = {"description": "a\0", "title": "\0", "example": "\0", "examples": ["\0"], "$comment": "\0"}
    assert normalize_tool(tool({**words, "returns": "\0"}), KEPT_KEYWORDS)[2] == ""


def test_the_schema_of_what_a_tool_returns():
    assert result_schema({"returns": {"type": "number"}}) == {"type": "float"}
    for unreadable in ({}, {"returns": {}}, {"returns": 3}, {"returns": {"$ref": "#/x"}}):
        assert result_schema(unreadable) == {}


def test_a_schema_is_written_down_to_a_depth():
    def nested(depth: int) -> dict[str, Any]:
        return {"type": "object", "properties": {"in": nested(depth - 1)}} if depth else {"type": "string"}

    def depth(schema: dict[str, Any]) -> int:
        return 1 + depth(schema["properties"]["in"]) if "properties" in schema else 0

    assert [depth(normalize_schema(nested(k), "x", 0)) for k in (4, 5, 6)] == [4, 5, 5]
    assert normalize_schema({"anyOf": [{"type": "null"}]}, "x", 1) == {"anyOf": []}
    assert normalize_schema({"minimum": 1, "maximum": 2}, "x", 1, ["maximum"]) == {
        "maximum": 2,
        "type": "string",
        "description": "x.",
    }
