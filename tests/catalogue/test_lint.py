"""What is found in names and descriptions."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.catalogue.lint import lint_tools, read_catalogue
from wildtool.sets.make.tool_sources.tool_files import tools_of_file

GOOD = "Lists the tides of a harbour for one day, with height in metres"


def tool(name: str, text: object = GOOD, **parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}


def rules(*tools: Any) -> list[tuple[str, str]]:
    return [(each.where, each.rule) for each in lint_tools(tools)]


def test_a_good_tool_has_no_finding():
    part = {"day": {"type": "string", "description": "YYYY-MM-DD"}}
    assert rules(tool("list_tides", type="object", properties=part, required=["day"])) == []


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (tool("list tides"), "name"),
        (tool("tides", ""), "no description"),
        (tool("tides", None), "no description"),
        (tool("list_tides", "List the tides"), "description repeats name"),
        (tool("tides", "Harbour tide table"), "short description"),
        (tool("tides", GOOD * 20), "long description"),
        (tool("tides", properties={"day": {}}), "parameter without description"),
        (tool("tides", required=["day"]), "required but not defined"),
    ],
)
def test_each_fault_is_found_alone(made: Any, rule: str):
    assert [each for _, each in rules(made)] == [rule]


def test_tools_that_are_alike_are_found_with_the_words_that_tell_them_apart():
    first = tool("tides", "Lists the tides of a harbour by day")
    second = tool("tide_list", "Lists the tides of a harbour by hour")
    findings = [each for each in lint_tools([first, second]) if each.rule == "alike"]
    assert [each.where for each in findings] == ["tides", "tide_list"], "each of both can be changed"
    assert "day only in tides and hour, list, tide only in tide_list" in findings[0].message
    assert ("Tides", "same name") in rules(
        tool("tides"), tool("Tides", "Sells tickets for ferries to the islands")
    )


def test_tools_of_exactly_the_same_name_are_found(tmp_path: Path):
    other = tool("tides", "Sells tickets for ferries to the islands")
    assert rules(tool("tides"), other) == [("tides", "same name")]
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([tool("tides"), other]))
    assert len(read_catalogue(str(path), print)) == 2
    path.write_text(json.dumps([[tool("tides")], [tool("tides"), other]]))
    assert read_catalogue(str(path), print) == (tool("tides"), other), "two lists may share a tool"
    assert tools_of_file(path) == (tool("tides"),)


def test_a_description_that_fits_another_tool_better_is_found():
    found = rules(
        tool("help", "Finds ferries and tides of harbours"),
        tool(
            "find_ferries_tides_harbours",
            "Finds ferries and tides of harbours, and finds ferries and tides of harbours",
        ),
    )
    assert ("help", "another fits better") in found


KEYS = st.sampled_from(["name", "description", "parameters", "properties", "required", "a"])
VALUES = st.recursive(
    st.none() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from(["function", "type"]), VALUES), max_size=4))
def test_tools_of_any_shape_are_read(tools: list[Any]):
    assert all(each.rule and each.message for each in lint_tools(tools))


def test_an_openapi_document_is_read_like_a_file_of_tools(tmp_path: Path):
    operation = {
        "operationId": "listTides",
        "summary": GOOD,
        "parameters": [{"name": "day", "in": "query", "required": True, "schema": {"type": "string"}}],
        "responses": {},
    }
    document = {"openapi": "3.0.0", "info": {}, "paths": {"/tides": {"get": operation}}}
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    tools = read_catalogue(str(tmp_path / "openapi.json"), print)
    assert [tool["function"]["name"] for tool in tools] == ["listTides"]
    assert rules(*tools) == [("listTides", "parameter without description")]
