"""A file of tools is read as it was read before: which tools, in which words, and what is said of what is left out."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from generate.golden import check, digest
from tools.sources.openapi_fuzz import document, fan, joined_fan, ring
from wildtool.errors import DataError
from wildtool.json_codec import JsonLimits
from wildtool.tools.sources.markup import without_html, without_markup
from wildtool.tools.sources.tool_files import described_tools, named_tools, read_yaml, tools_of_file
from wildtool_data.make.procedural.tool_sets import read_tool_sets, result_schemas


def _described(value: Any) -> Any:
    notes: list[str] = []
    try:
        tools = described_tools(value, notes.append)
    except DataError as error:
        return str(error)
    return [digest(tools), [tool["function"]["name"] for tool in tools or ()], notes]


def _read(path: Path) -> Any:
    """Slots and definitions of the tools of a file, and what is noted; or why it is refused."""
    notes: list[str] = []
    try:
        sets = read_tool_sets(path, "en", notes.append)
        return [[digest([tool.definition, repr(tool)]) for tool in tools] for tools in sets] + [
            digest(result_schemas(path)),
            digest(tools_of_file(path)),
            [note.replace(str(path), "FILE") for note in notes],
            *(
                [json.dumps(tool.definition["function"]["parameters"]) for tool in sets[0]]
                if path.stem == "types"
                else []
            ),
        ]
    except DataError as error:
        return str(error).replace(str(path), "FILE")


def test_drawn_documents_give_the_same_tools():
    check("openapi_drawn", {str(seed): _described(document(Random(seed))) for seed in range(120)})


def test_drawn_documents_give_the_same_sets(tmp_path: Path):
    outcomes: dict[str, Any] = {}
    for seed in range(200, 260):
        path = tmp_path / f"{seed}.json"
        path.write_text(json.dumps(document(Random(seed))))
        outcomes[str(seed)] = _read(path)
    check("openapi_sets", outcomes)


def test_large_documents_are_cut_in_the_same_places():
    documents = {
        f"fan {width} {depth}": fan(width, depth) for width, depth in ((2, 3), (3, 5), (6, 4), (9, 9))
    }
    documents |= {
        f"joined {width} {depth}": joined_fan(width, depth) for width, depth in ((2, 4), (3, 90), (2, 110))
    }
    documents |= {
        f"ring {size} {word}": ring(size, word) for size in (1, 3, 120) for word in ("allOf", "oneOf", "$ref")
    }
    check("openapi_large", {name: _described(value) for name, value in documents.items()})


def _chain(wide: int) -> dict[str, Any]:
    """A document whose one body is a chain of six objects beside many texts."""
    schema: dict[str, Any] = {"type": "string"}
    for k in range(6):
        schema = {"type": "object", "properties": {f"c{k}": schema, f"t{k}": {"type": "string"}}}
    for k in range(wide):
        schema["properties"][f"p{k}"] = {"type": "string"}
    content = {"content": {"application/json": {"schema": schema}}}
    return {"openapi": "3.0.0", "paths": {"/a": {"post": {"summary": "Add it.", "requestBody": content}}}}


@pytest.mark.parametrize(
    ("wide", "levels"),
    [
        (586, 6),
        (587, 6),
        (588, 5),
        (590, 5),
        (591, 4),
        (592, 4),
        (593, 3),
        (594, 3),
        (595, 2),
        (596, 2),
        (597, 1),
        (700, 1),
    ],
)
def test_a_schema_is_cut_from_the_size_on_that_is_too_large(wide: int, levels: int):
    (tool,) = described_tools(_chain(wide)) or [{}]
    properties, depth = tool["function"]["parameters"]["properties"], 0
    while deeper := [child for child in properties.values() if child.get("properties")]:
        properties, depth = deeper[0]["properties"], depth + 1
    assert depth == levels - 1, (depth, levels)


@pytest.mark.parametrize(
    ("schema", "is_read"),
    [
        ({"default": {str(k): 0 for k in range(59_999)}}, True),
        ({"default": {str(k): 0 for k in range(60_000)}}, False),
        ({"default": [0] * 59_999}, True),
        ({"default": [0] * 60_000}, False),
        ({"x-note": "x" * 1_199_999}, True),
        ({"x-note": "x" * 1_200_000}, False),
    ],
)
def test_a_schema_beyond_any_size_is_left_out(schema: dict[str, Any], is_read: bool):
    notes: list[str] = []
    parameter = {"name": "q", "in": "query", "schema": {"type": "string", **schema}}
    document = {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [parameter]}}}}
    tools = described_tools(document, notes.append) or []
    assert (len(tools), notes) == (
        (1, []) if is_read else (0, ["GET /a: left out: it has too many parameters"])
    )


YAML = [
    "a: 1",
    "a: &x [1, 2]\nb: *x",
    "a: &x [1, 2]\nb: *x\nc: *x",
    "[[[1]]]",
    "[[[[1]]]]",
    "a: &x {b: 1}\nc: &x 2\nd: *x",
    "&x [*x]",
    "a: *y",
    "[1, 2, 3, 4, 5, 6, 7]",
    "[1, 2, 3, 4, 5, 6, 7, 8]",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9]",
    "a: &x 1\nb: [*x, *x, *x]",
    "a: &x 1\nb: &x [*x]",
    "a: &x 1\nb: &x {c: *x}",
    "[yes, no, on, 0o7, 0x1f, +1, -1, .5, 1., 1e3, 1_000, 007, ~, Null, NULL, nil, 12:30, 2024-05-01, .inf, '1', TRUE]",
    "? [1]\n: 2",
    "1: a\ntrue: b\n~: c\n1.5: d",
    "2: a\ntrue: b\nfalse: c",
    "a: !!binary aGk=",
    "a: !!set {b}",
    "a: [",
    "- a\n b",
]


def test_yaml_is_read_as_json_within_limits(tmp_path: Path):
    rows: dict[str, Any] = {}
    for text in YAML:
        limits = JsonLimits(bytes=1000, depth=3, values=30 if "yes" in text else 9)
        try:
            rows[text] = read_yaml(Path("a.yaml"), text, limits)
        except DataError as error:
            rows[text] = str(error).splitlines()[0]
    check("yaml", rows)


def test_tools_of_several_lists_are_named_once(tmp_path: Path):
    def tool(name: Any, about: str = "") -> dict[str, Any]:
        return {"type": "function", "function": {"name": name, "description": about}}

    path = tmp_path / "tools.json"
    lists = [
        [tool("a"), tool("a"), tool("")],
        [tool("a"), tool("a", "other"), tool("b"), tool(3)],
        [tool("b")],
    ]
    path.write_text(json.dumps(lists))
    assert named_tools(path) == [tool("a"), tool("a"), tool("a", "other"), tool("b")]
    assert tools_of_file(path) == (tool("a"), tool("b"))
    path.write_text(json.dumps([[tool("")]]))
    with pytest.raises(DataError) as refused:
        named_tools(path)
    assert str(refused.value) == (
        f"{path}: holds no tool with a name; expected a JSON list in the OpenAI shape, an OpenAPI document or "
        "an MCP tool list"
    )


def _lines(name: str, field: str) -> dict[str, Any]:
    """The values of a file beside this one, by name."""
    rows = map(json.loads, Path(__file__).with_name(name).read_text("utf-8").splitlines())
    return {row["name"]: row[field] for row in rows}


DOCUMENTS = _lines("documents.jsonl", "document")
FILES: dict[str, str] = _lines("files.jsonl", "text")


def test_each_form_of_a_document_is_read_as_before():
    check("openapi_forms", {name: _shown(value) for name, value in DOCUMENTS.items()})


def _shown(value: Any) -> Any:
    """As `_described`, with the tools in full."""
    notes: list[str] = []
    try:
        tools = described_tools(value, notes.append)
    except DataError as error:
        return str(error)
    functions = [json.dumps(tool["function"], ensure_ascii=False) for tool in tools] if tools else tools
    return [functions, *([notes] if notes else [])]


@pytest.mark.parametrize("name", FILES)
def test_each_form_of_a_file_is_read_as_before(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_text(FILES[name])
    check(f"tool_files/{path.stem.replace(' ', '_')}_{path.suffix[1:]}", _read(path))


MARKUP = [
    "a <b>bold</b> word",
    "a<br>b<p>c",
    "<id> stays",
    "<x>no</x> end",
    "&lt;b&gt;twice&lt;/b&gt;",
    "<!-- out -->in",
    "a\r\n  b \n\n c",
    "\x07\u200ebell",
    "a \t\xa0 b",
    "<li>one</li><li>two</li>",
    "<code>x</code>y",
    "[text](https://x.y) and ![picture](a.png)",
    "`code` *it* **bold** _under_ snake_case",
    "# Head\n## Two",
    "{a} [b] |c| \\d",
    "1 < 2 & 3",
    "<A HREF='x'>Up</A>",
    "<em>i</em><div>j</div>k",
    "  ",
]


def test_markup_is_taken_out_of_texts_as_before():
    check("markup", {text: [without_html(text), without_markup(text)] for text in MARKUP})
