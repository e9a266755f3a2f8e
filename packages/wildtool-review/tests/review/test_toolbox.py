"""Tools that people review before sessions are made: keep, edit, merge, drop, and what `generate` then gets."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from review.made_sets import decide, edit
from wildtool.cli import app
from wildtool_review.sets import open_review


def tool(name: str, description: str, **parameters: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


TOOLS = [
    tool("get_order", "Get an order.", order_id=text("Id of the order")),
    tool("fetch_order", "Fetch an order.", order_id=text("Order"), language=text("Language of the answer")),
    tool("cancel_order", "Cancel an ordre.", order_id=text("Id of the order"), reason=text("Why")),
    tool("do_magic", "Does things.", thing=text("Thing")),
]


def command(*words: object) -> tuple[int, str]:
    ran = CliRunner().invoke(app, [str(word) for word in words], prog_name="wildtool")
    return ran.exit_code, ran.output


@pytest.fixture
def toolbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    status, output = command("review", "start", "tools.json")
    assert (status, "4 items, 4 new" in output) == (0, True), output
    return Path("tools.json")


def released() -> dict[str, Mapping[str, Any]]:
    status, output = command("review", "export", "tools.json", "-o", "done")
    assert status == 0, output
    tools = json.loads(Path("done/tools.json").read_text(encoding="utf-8"))
    assert all(tool.keys() == {"type", "function"} for tool in tools)
    return {tool["function"]["name"]: tool["function"] for tool in tools}


def test_kept_edited_merged_and_dropped_tools_feed_generation(toolbox: Path):
    with open_review(str(toolbox)) as review:
        edit(review, "owner", "cancel_order", "Cancel an order.", "/function/description")
        edit(review, "owner", "fetch_order", "get_order", "/merge_into")
        for item in ("get_order", "fetch_order", "cancel_order"):
            decide(review, "owner", item)
        decide(review, "owner", "do_magic", "reject", "tool-misfit")
    tools = released()
    assert tools.keys() == {"get_order", "cancel_order"}
    assert tools["cancel_order"]["description"] == "Cancel an order."
    taken = tools["get_order"]["parameters"]
    assert [*taken["properties"]] == ["order_id", "language"]
    assert taken["required"] == ["order_id"], "what comes from the merged tool is optional"
    words = ("generate", "-m", "procedural", "--tools", "done/tools.json", "-n", "2", "-o", "made.jsonl")
    assert command(*words)[0] == 0
    assert "do_magic" not in Path("made.jsonl").read_text(encoding="utf-8")


def test_what_a_rule_finds_in_an_edited_tool_is_refused_at_export(toolbox: Path):
    with open_review(str(toolbox)) as review:
        edit(review, "owner", "get_order", "get order!", "/function/name")
        decide(review, "owner", "get_order")
    status, output = command("review", "export", toolbox, "-o", "done")
    assert (status, "D1" in output) == (2, True), output


@pytest.mark.parametrize(
    ("target", "said"), [("do_magic", "no approved tool"), ("cancel_order", "with different values")]
)
def test_a_merge_that_cannot_be_made_is_refused(toolbox: Path, target: str, said: str):
    with open_review(str(toolbox)) as review:
        number = {"type": "integer", "description": "Number of the order"}
        edit(review, "owner", "get_order", number, "/function/parameters/properties/order_id")
        edit(review, "owner", "get_order", target, "/merge_into")
        for item in ("get_order", "cancel_order"):
            decide(review, "owner", item)
    status, output = command("review", "export", toolbox, "-o", "done")
    assert (status, said in output) == (2, True), output


def test_two_tools_of_one_name_are_not_made_one_in_silence(toolbox: Path):
    with open_review(str(toolbox)) as review:
        edit(review, "owner", "fetch_order", "get_order", "/function/name")
        for item in ("get_order", "fetch_order"):
            decide(review, "owner", item)
    status, output = command("review", "export", toolbox, "-o", "done")
    assert (status, "two approved tools" in output) == (2, True), output


def test_several_sets_stay_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("tools.json").write_text(json.dumps([TOOLS[:2], TOOLS[:1]]), encoding="utf-8")
    assert command("review", "start", "tools.json", "--benchmark", "toolbox")[0] == 0
    with open_review("tools.json") as review:
        for item in ("get_order", "fetch_order", "get_order (2)"):
            decide(review, "owner", item)
    assert command("review", "export", "tools.json", "-o", "done")[0] == 0
    sets = json.loads(Path("done/tools.json").read_text(encoding="utf-8"))
    assert [[tool["function"]["name"] for tool in tools] for tools in sets] == [
        ["get_order", "fetch_order"],
        ["get_order"],
    ]


def test_data_of_a_benchmark_are_still_those_of_the_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert command("generate", "-m", "procedural", "-n", "2", "-o", "made.jsonl")[0] == 0
    assert command("review", "start", "made.jsonl")[0] == 0
    with open_review("made.jsonl") as review:
        assert review.format.name == "wildtoolbench"
