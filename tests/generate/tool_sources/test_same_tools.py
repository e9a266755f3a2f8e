"""A file of tools is read as it was read before: which tools, in which words, and what is said of what is left out."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from generate.golden import check, digest
from generate.tool_sources.openapi_fuzz import document, fan, joined_fan, ring
from wildtool.errors import DataError
from wildtool.sets.make.procedural.tool_sets import read_tool_sets, result_schemas
from wildtool.sets.make.tool_sources.markup import without_html, without_markup
from wildtool.sets.make.tool_sources.tool_files import described_tools, tools_of_file


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
