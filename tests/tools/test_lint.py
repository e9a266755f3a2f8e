"""What is found in names and descriptions."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.findings import Finding
from wildtool.tools import lint
from wildtool.tools.lint import lint_tools
from wildtool.tools.sources.named import ToolSource
from wildtool.tools.sources.tool_files import tools_of_file
from work import growth

GOOD = "Lists the tides of a harbour for one day, with height in metres"


def tool(name: str, text: object = GOOD, **parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}


def rules(*tools: Any) -> list[tuple[str, str]]:
    return [(each.where, each.rule) for each in lint_tools(tools)]


def test_a_good_tool_has_no_finding():
    part = {"day": {"type": "string", "description": "YYYY-MM-DD"}}
    assert rules(tool("list_tides", type="object", properties=part, required=["day"])) == []


def test_tools_that_are_alike_are_found_with_the_words_that_tell_them_apart():
    first = tool("tides", "Lists the tides of a harbour by day")
    second = tool("tide_list", "Lists the tides of a harbour by hour")
    apart = "day only in tides and hour, list, tide only in tide_list"
    message = "64% of the words of both are the same as of {}: {}; say when to take which"
    assert lint_tools([first, second]) == [
        Finding("tides", "alike", message.format("tide_list", apart), "warning"),
        Finding("tide_list", "alike", message.format("tides", apart), "warning"),
    ]


def test_tools_of_one_word_may_be_alike():
    alike = [each.message for each in lint_tools([tool("a", ""), tool("a_", "")]) if each.rule == "alike"]
    assert [message.partition(" ")[0] for message in alike] == ["100%", "100%"]


def test_tools_of_exactly_the_same_name_are_found(tmp_path: Path):
    other = tool("tides", "Sells tickets for ferries to the islands")
    assert rules(tool("tides"), other) == [("tides", "same name")]
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([tool("tides"), other]))
    assert len(ToolSource(name=str(path)).tools(print)) == 2
    path.write_text(json.dumps([[tool("tides")], [tool("tides"), other]]))
    assert ToolSource(name=str(path)).tools(print) == (tool("tides"), other), "two lists may share a tool"
    assert tools_of_file(path) == (tool("tides"),)


def test_a_description_that_fits_another_tool_better_is_found():
    findings = lint_tools(
        [
            tool("help", "Finds ferries and tides of harbours"),
            tool(
                "find_ferries_tides_harbours",
                "Finds ferries and tides of harbours, and finds ferries and tides of harbours",
            ),
        ]
    )
    assert [each for each in findings if each.rule == "another fits better"] == [
        Finding(
            "help",
            "another fits better",
            "a search for its own description finds find_ferries_tides_harbours first",
            "warning",
        )
    ]


KEYS = st.sampled_from(["name", "description", "parameters", "properties", "required", "a"])
VALUES = st.recursive(
    st.none() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)


@settings(max_examples=a_fiftieth_of(500), deadline=None)
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
    tools = ToolSource(name=str(tmp_path / "openapi.json")).tools(print)
    assert [tool["function"]["name"] for tool in tools] == ["listTides"]
    assert rules(*tools) == [("listTides", "parameter without description")]


# Catalogues of thousands ------------------------------------------------------------------------------------


def alike(count: int) -> list[dict[str, Any]]:
    return [tool(f"tides_{k}") for k in range(count)]


def twins(finding: Finding) -> tuple[list[str], int]:
    """The tools that a finding says its own is like, and how many more there are."""
    first = finding.message.partition("same as of ")[2].partition(":")[0]
    others = re.findall(r"[ ,](\S+) \(\d+%\)", finding.message)
    more = re.search(r"and ([\d,]+) more; say", finding.message)
    return [first, *others], int(more[1].replace(",", "")) if more else 0


def test_of_many_alike_tools_each_has_one_finding_that_lists_some_and_counts_the_others():
    found = [each for each in lint_tools(alike(40)) if each.rule == "alike"]
    assert [each.where for each in found] == [f"tides_{k}" for k in range(40)]
    for each in found:
        names, more = twins(each)
        assert len(names) < 39 and len(names) + more == 39
        assert each.where not in names


def test_the_tool_that_is_most_alike_comes_first():
    texts = ("ebb flow tide moon wave", "ebb flow tide moon", "ebb flow tide moon wave surf")
    found = lint_tools([tool(f"t{k}", text) for k, text in zip("abc", texts, strict=True)])
    assert {each.where: twins(each)[0] for each in found if each.rule == "alike"} == {
        "ta": ["tc", "tb"],
        "tb": ["ta", "tc"],
        "tc": ["ta", "tb"],
    }


def test_no_message_grows_with_the_number_of_its_names():
    many = {f"parameter_{k}": {} for k in range(500)}
    (found,) = lint_tools([tool("list_tides", properties=many, required=[])])
    assert found.message.endswith(" and 488 more") and len(found.message) < 300


@pytest.mark.long
def test_the_report_of_alike_tools_grows_with_their_number_alone():
    assert len(lint_tools(alike(400))) < 2.2 * len(lint_tools(alike(200)))


def test_tools_of_different_words_are_checked_in_linear_work():
    def linted(count: int) -> Callable[[], object]:
        # Each Chinese character is a word.
        texts = ["".join(chr(0x4E00 + 8 * k + place) for place in range(8)) for k in range(count)]
        tools = [tool(f"tides_{k}", text) for k, text in enumerate(texts)]
        return lambda: lint_tools(tools)

    assert growth(linted, 500) < 2.5


def test_what_of_a_large_catalogue_was_not_compared_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lint, "MOST_PAIRS", 5_000)
    monkeypatch.setattr(lint, "MOST_LOOKED_AT", 20_000)
    assert not [each for each in lint_tools(alike(30)) if each.rule == "left out"]
    said = [each for each in lint_tools(alike(110)) if each.rule == "left out"]
    assert len(said) == 2 and all(each.where == "" and "of 110 tools" in each.message for each in said)


@pytest.mark.long
def test_a_catalogue_of_more_than_a_thousand_alike_tools_is_compared_in_part():
    said = [each for each in lint_tools(alike(1_100)) if each.rule == "left out"]
    assert said and all(each.where == "" and "of 1,100 tools" in each.message for each in said)


@given(st.lists(st.sets(st.sampled_from("abcdefghij"), min_size=1), min_size=2, max_size=6))
def test_alike_are_those_that_share_half_of_their_words(drawn: list[set[str]]):
    words = [{f"{letter * 4}" for letter in letters} | {"tool"} for letters in drawn]
    tools = [tool(f"tool{chr(0x4E00 + k)}", " ".join(sorted(own))) for k, own in enumerate(words)]
    named = [own | {chr(0x4E00 + k)} for k, own in enumerate(words)]
    expected = {
        (f"tool{chr(0x4E00 + a)}", f"tool{chr(0x4E00 + b)}")
        for a in range(len(tools))
        for b in range(len(tools))
        if a != b and 2 * len(named[a] & named[b]) >= len(named[a] | named[b])
    }
    found = {each.where: twins(each) for each in lint_tools(tools) if each.rule == "alike"}
    assert {(where, other) for where, (names, _) in found.items() for other in names} <= expected
    assert {where: len(names) + more for where, (names, more) in found.items()} == Counter(
        where for where, _ in expected
    )
