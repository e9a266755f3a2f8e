"""OpenAPI documents of all kinds are read whole, or refused with the reason, in bounded work."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tools.sources.openapi_fuzz import fan, joined_fan, outcome, ring
from wildtool.errors import DataError
from wildtool.tools.sources.references import MAX_SCHEMA_SIZE, SchemaReader, UnreadableSchemaError
from wildtool.tools.sources.tool_files import described_tools
from wildtool_data.make.procedural.tool_sets import read_tool_sets

SWAGGER: dict[str, Any] = {
    "swagger": "2.0",
    "basePath": "/v1",
    "parameters": {"Shop": {"name": "shopId", "in": "path", "required": True, "type": "string"}},
    "definitions": {
        "Order": {
            "type": "object",
            "required": ["item"],
            "properties": {
                "item": {"type": "string"},
                "number": {"type": "integer", "readOnly": True},
                "gift": {"$ref": "#/definitions/Gift"},
            },
        },
        "Gift": {"type": "object", "properties": {"card": {"type": "string"}}},
    },
    "paths": {
        "/shops/{shopId}/orders": {
            "parameters": [{"$ref": "#/parameters/Shop"}],
            "post": {
                "operationId": "addOrder",
                "summary": "Add an order",
                "parameters": [
                    {
                        "name": "order",
                        "in": "body",
                        "required": True,
                        "schema": {"$ref": "#/definitions/Order"},
                    }
                ],
                "responses": {"201": {"description": "made", "schema": {"$ref": "#/definitions/Order"}}},
            },
            "get": {
                "operationId": "listOrders",
                "parameters": [
                    {
                        "name": "states",
                        "in": "query",
                        "type": "array",
                        "items": {"type": "string", "enum": ["open", "sent"]},
                        "collectionFormat": "csv",
                    }
                ],
            },
        },
        "/pictures": {
            "post": {
                "operationId": "sendPicture",
                "consumes": ["multipart/form-data"],
                "parameters": [
                    {"name": "title", "in": "formData", "required": True, "type": "string"},
                    {"name": "picture", "in": "formData", "required": True, "type": "file"},
                ],
            },
            "put": {
                "operationId": "nameAlbum",
                "parameters": [
                    {"name": "title", "in": "formData", "required": True, "type": "string", "maxLength": 9},
                    {"name": "cover", "in": "formData", "type": "file"},
                ],
            },
        },
    },
}


def read(value: Any) -> tuple[dict[str, Any], list[str]]:
    """The functions of a document by name, and what was said of those left out."""
    notes: list[str] = []
    tools = described_tools(value, notes.append)
    assert tools is not None
    return {tool["function"]["name"]: tool["function"] for tool in tools}, notes


def posting(schema: Any, **schemas: Any) -> dict[str, Any]:
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    operation = {"operationId": "add", "summary": "Add a thing", "requestBody": body}
    return {"openapi": "3.0.0", "paths": {"/a": {"post": operation}}, "components": {"schemas": schemas}}


def fields(value: Any) -> dict[str, Any]:
    return read(value)[0]["add"]["parameters"]["properties"]


def test_swagger_2_has_its_parameters_where_they_stand_there():
    found, notes = read(SWAGGER)
    order = found["addOrder"]["parameters"]
    assert list(order["properties"]) == ["shopId", "item", "gift"] and order["required"] == ["shopId", "item"]
    assert order["properties"]["gift"]["properties"]["card"]["type"] == "string"
    assert found["listOrders"]["parameters"]["properties"]["states"]["items"]["enum"] == ["open", "sent"]
    assert list(found["nameAlbum"]["parameters"]["properties"]) == ["title"]
    assert "sendPicture" not in found
    assert notes == ["POST /pictures: left out: 'picture' is a file, which cannot be said in a text"]


def test_swagger_2_says_what_comes_back():
    assert list(read(SWAGGER)[0]["addOrder"]["returns"]["properties"]) == ["item", "number", "gift"]


@pytest.mark.parametrize("head", [{"swagger": "1.2"}, {"openapi": "4.0"}, {}, {"swagger": None}])
def test_another_version_is_refused(tmp_path: Path, head: dict[str, Any]):
    (tmp_path / "api.json").write_text(json.dumps({**head, "paths": {"/a": {"get": {"operationId": "a"}}}}))
    with pytest.raises(DataError, match=r"api\.json: the document says version .* expected `openapi: 3\.x`"):
        read_tool_sets(tmp_path / "api.json", "en", print)


def test_references_are_followed_however_many_stand_in_a_row():
    chain = {f"S{k}": {"allOf": [{"$ref": f"#/components/schemas/S{k + 1}"}]} for k in range(40)}
    last = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    assert list(fields(posting({"$ref": "#/components/schemas/S0"}, **chain, S40=last))) == ["name"]


def test_types_below_many_references_stay_what_they_are():
    levels = {
        f"S{k}": {
            "type": "object",
            "required": ["in"],
            "properties": {"in": {"$ref": f"#/components/schemas/S{k + 1}"}},
        }
        for k in range(3)
    }
    leaf = {"allOf": [{"$ref": "#/components/schemas/Whole"}], "description": "How many."}
    found = fields(posting({"$ref": "#/components/schemas/S0"}, **levels, S3=leaf, Whole={"type": "integer"}))
    assert found["in"]["properties"]["in"]["properties"]["in"] == {
        "type": "integer",
        "description": "How many.",
    }


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_the_first_branch_that_is_more_than_null_is_taken(keyword: str):
    branches = [{"type": "null"}, {"type": "object", "properties": {"b": {"type": "boolean"}}}]
    schema = {"properties": {"a": {"type": "string"}}, keyword: branches}
    assert sorted(fields(posting(schema))) == ["a", "b"]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"$ref": "other.yaml#/Thing"}, "refers to 'other.yaml#/Thing', outside this file"),
        ({"$ref": "#/components/schemas/Gone"}, "refers to '#/components/schemas/Gone', which is not in the file"),
        ({"$ref": "#/components/schemas/Ring"}, "leads around in a ring"),
        ({"$ref": "#/components/schemas/Self"}, "no schema says what 'body.me.me.me.me.me.me' holds"),
        ({"required": ["a"], "properties": {"a": {"type": "object"}}}, "no schema says what 'body.a' holds"),
        ({"required": ["a\x1b"], "properties": {"a\x1b": {"type": "string"}}}, "holds control characters"),
    ],
)  # fmt: skip
def test_an_operation_that_cannot_be_read_whole_is_left_out_with_the_reason(schema: Any, why: str):
    schemas = {
        "Ring": {"allOf": [{"$ref": "#/components/schemas/Ring"}]},
        "Self": {"required": ["me"], "properties": {"me": {"$ref": "#/components/schemas/Self"}}},
    }
    found, (note,) = read(posting(schema, **schemas))
    assert not found and note.startswith("POST /a: left out: ") and why in note


def test_names_that_are_cut_stay_apart():
    paths = {f"/{k}": {"get": {"operationId": "a" * 70 + str(k)}} for k in range(12)}
    found, _ = read({"openapi": "3.0.0", "paths": paths})
    assert len(found) == 12 and all(len(name) <= 64 for name in found)


def test_html_of_descriptions_is_gone():
    document = posting(
        {"properties": {"a": {"type": "string", "description": "<p>The&nbsp;<i>name</i></p>"}}}
    )
    document["paths"]["/a"]["post"]["description"] = (
        "&lt;b&gt;Adds&lt;/b&gt; <fullname>a thing</fullname><br/>for <id>"
    )
    function = read(document)[0]["add"]
    assert function["description"] == "Add a thing. Adds a thing for <id>"
    assert function["parameters"]["properties"]["a"]["description"] == "The name"


@pytest.mark.parametrize(
    ("words", "description"),
    [
        ({"description": "Adds one to the list."}, "Adds one to the list."),
        ({"summary": "Add one to the list"}, "Add one to the list"),
        ({"summary": "Add one.", "description": "Add one to the list."}, "Add one to the list."),
        ({"summary": "Add one.", "description": "At most ten."}, "Add one. At most ten."),
        ({"summary": "Orders", "description": "Adds one to the list."}, "Adds one to the list."),
        ({"summary": "add", "description": "Adds one to the list."}, "Adds one to the list."),
        ({"summary": "Orders"}, ""),
        ({"summary": "Put orders", "operationId": "put Orders", "description": "Adds."}, "Adds."),
        ({"summary": 3, "description": None}, ""),
    ],
)
def test_a_tool_is_described_by_summary_and_description(words: dict[str, Any], description: str):
    operation = {"operationId": "add", "responses": {}, **words}
    found, _ = read({"openapi": "3.0.0", "paths": {"/a": {"post": operation}}})
    (function,) = found.values()
    assert function["description"] == description


@pytest.mark.parametrize(
    ("kinds", "field"),
    [
        (("text/plain", "multipart/form-data", "application/json"), "application/json"),
        (("text/plain", "multipart/form-data"), "multipart/form-data"),
        (("text/plain", "application/x-www-form-urlencoded"), "application/x-www-form-urlencoded"),
        (("text/plain", "image/png"), "text/plain"),
        (("application/hal+json", "application/json"), "application/hal+json"),
    ],
)
def test_a_body_is_of_json_before_forms_before_anything_else(kinds: tuple[str, ...], field: str):
    def content(kind: str) -> dict[str, Any]:
        return {"schema": {"type": "object", "properties": {kind: {"type": "string"}}}}

    operation = {
        "operationId": "add",
        "summary": "Add a thing",
        "requestBody": {"content": {"x/none-json": {}, **{kind: content(kind) for kind in kinds}}},
    }
    assert list(fields({"openapi": "3.0.0", "paths": {"/a": {"post": operation}}})) == [field]


@pytest.mark.parametrize(
    "value",
    [
        fan(2, 60), fan(30, 30), joined_fan(2, 60), joined_fan(50, 90), ring(1, "allOf"), ring(500, "oneOf"),
        ring(90, "$ref"), joined_fan(3, 3_000),
    ],
)  # fmt: skip
def test_references_that_multiply_take_bounded_work(value: Any):
    found, notes = read(value)
    assert "findPlace" in found
    assert "addThing" in found or "POST /a: left out" in notes[0]
    assert len(json.dumps(found)) < 100 * MAX_SCHEMA_SIZE


def test_a_document_that_takes_too_much_work_is_named(tmp_path: Path):
    wide = {f"p{k}": {"type": "string"} for k in range(3_000)}
    parts = [{"$ref": "#/components/schemas/Wide"}] * 4_000
    document = posting({"allOf": parts}, Wide={"type": "object", "properties": wide})
    (tmp_path / "api.json").write_text(json.dumps(document))
    with pytest.raises(DataError, match=r"api\.json: its schemas refer to each other so often"):
        read_tool_sets(tmp_path / "api.json", "en", print)


def laughs(levels: int, join: str) -> str:
    lines = ["openapi: 3.0.0", "a0: &a0 {k: 1}"]
    for k in range(levels):
        below = ", ".join([f"*a{k}"] * 9)
        lines.append(f"a{k + 1}: &a{k + 1} " + (f"{{<<: [{below}]}}" if join == "<<" else f"[{below}]"))
    return "\n".join([*lines, "paths: {}"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (laughs(12, ""), r"api\.yaml:\d+: more than [\d,]+ values, each alias counted"),
        (laughs(12, "<<"), r"api\.yaml:\d+: more than [\d,]+ values, each alias counted"),
        ("a: &a [*a]", r"api\.yaml:1: the alias \*a stands inside of what it means"),
        ("a: " + "[" * 300 + "]" * 300, r"api\.yaml:1: nested deeper than \d+ levels"),
        ("a: !!python/object/apply:os.getpid []", r"api\.yaml: not YAML"),
        ("{[1]: 2}", r"api\.yaml: not YAML"),
    ],
)  # fmt: skip
def test_yaml_that_blows_up_is_refused_by_place(tmp_path: Path, text: str, why: str):
    pytest.importorskip("yaml")
    (tmp_path / "api.yaml").write_text(text)
    with pytest.raises(DataError, match=why):
        read_tool_sets(tmp_path / "api.yaml", "en", print)


def test_yaml_has_the_values_that_json_would_have(tmp_path: Path):
    pytest.importorskip("yaml")
    parameter = "{name: at, in: query, required: true, type: string, enum: [no, 12:30, 2024-05-01, 010, y]}"
    path = tmp_path / "api.yaml"
    path.write_text(f"swagger: 2.0\npaths: {{/a: {{get: {{parameters: [{parameter}]}}}}}}")
    ((tool,),) = read_tool_sets(path, "en", print)
    assert tool.slots[0].members == ("no", "12:30", "2024-05-01", "010", "y")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500])
def test_json_that_is_too_deep_is_refused_by_name(tmp_path: Path, text: str):
    (tmp_path / "api.json").write_text(text)
    with pytest.raises(
        DataError, match=r"api\.json: not JSON within the limits: JSON nested deeper than \d+ levels"
    ):
        read_tool_sets(tmp_path / "api.json", "en", print)


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", tmp_path, Path("/dev/zero")):
        with pytest.raises(DataError, match="no regular file"):
            read_tool_sets(path, "en", print)


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path):
    with (tmp_path / "api.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(DataError, match=r"1,099,511,627,776 bytes; at most"):
        read_tool_sets(tmp_path / "api.json", "en", print)


def test_control_characters_of_names_and_values_are_refused_and_of_words_dropped(tmp_path: Path):
    def tool(name: str, **schema: Any) -> dict[str, Any]:
        parameters = {
            "type": "object",
            "properties": {"seat": {"type": "string", **schema}},
            "required": ["seat"],
        }
        return {
            "type": "function",
            "function": {"name": name, "description": "Take\x1b a seat", "parameters": parameters},
        }

    tools = [tool("take", description="The\x07 seat\r\n there"), tool("bad", enum=["a\x00"]), tool("ba\x1bd")]
    (tmp_path / "t.json").write_text(json.dumps(tools))
    notes: list[str] = []
    ((kept,),) = read_tool_sets(tmp_path / "t.json", "en", notes.append)
    assert kept.definition["function"]["description"] == "Take  a seat"
    assert (
        kept.definition["function"]["parameters"]["properties"]["seat"]["description"] == "The  seat\n there"
    )
    assert len(notes) == 2 and "control characters" in notes[0] and "'ba\\x1bd' is left out" in notes[1]


def test_references_inside_of_a_tools_own_parameters_are_followed(tmp_path: Path):
    parameters = {
        "type": "object",
        "required": ["stay"],
        "properties": {"stay": {"$ref": "#/$defs/Stay"}},
        "$defs": {
            "Stay": {"type": "object", "required": ["nights"], "properties": {"nights": {"type": "integer"}}}
        },
    }
    function = {"name": "book", "description": "Book a stay.", "inputSchema": parameters}
    (tmp_path / "t.json").write_text(json.dumps({"tools": [function]}))
    ((tool,),) = read_tool_sets(tmp_path / "t.json", "en", print)
    assert [(slot.key, slot.kind) for slot in tool.slots] == [("stay_nights", "integer")]


@pytest.mark.long
@pytest.mark.parametrize("seed", [*range(150), 10_002_124, 10_003_718])
def test_hostile_documents_are_read_or_refused(tmp_path: Path, seed: int):
    assert outcome(tmp_path / "api.json", seed) in ("read", "refused")


@pytest.mark.parametrize("length", [120, 121])
def test_a_reference_is_cut_where_it_is_named(length: int):
    reference = "#/s/".ljust(length, "x")
    shown = repr(reference if length == 120 else reference[:119] + "…")
    with pytest.raises(UnreadableSchemaError) as refused:
        SchemaReader({"s": {}}).resolve({"$ref": reference})
    assert str(refused.value) == f"it refers to {shown}, which is not in the file"


def test_a_schema_that_many_operations_share_is_not_written_without_end():
    """Each of them would hold its thousands of values."""
    members = {"type": "string", "enum": [f"v{k}" for k in range(5_000)]}
    operations: dict[str, Any] = {
        f"/{k}": {
            "get": {"parameters": [{"name": "q", "in": "query", "schema": {"$ref": "#/definitions/E"}}]}
        }
        for k in range(25_000)
    }
    document = {"openapi": "3.0.0", "definitions": {"E": members}, "paths": operations}
    with pytest.raises(DataError, match="together have too many parameters and values"):
        described_tools(document)
