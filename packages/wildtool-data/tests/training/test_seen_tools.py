"""The score of a run on tools that training had, on near ones, and on others."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wildtool.cli import app


def wildtool(*arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == status, result.output
    return result.output


def tool(name: str, description: str, *parameters: str) -> dict[str, Any]:
    properties = {each: {"type": "string"} for each in parameters}
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


WEATHER = tool("get_weather", "Gets the weather of a city for a day that the user names.", "city")
TRAINED = [WEATHER, tool("find_hotel", "Finds hotels.", "place")]
OFFERED = {
    "seen": ("get_weather", WEATHER),
    "words": ("weatherGet", tool("weatherGet", "Something else.", "town")),
    "description": ("forecast", tool("forecast", WEATHER["function"]["description"], "town")),
    "parameters": ("find_hotel", tool("find_hotel", "Finds hotels.", "city")),
    "unseen": ("play_song", tool("play_song", "Plays music by title.", "title")),
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A training file, and a run of which each case calls one tool."""
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'},
    }
    messages = [
        {"role": "user", "content": "How is the weather in Rome today?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "sunny"},
        {"role": "assistant", "content": "Sunny."},
    ]
    train = tmp_path / "train.jsonl"
    train.write_text(json.dumps({"messages": messages, "tools": TRAINED}) + "\n", encoding="utf-8")
    cases = [
        {"id": id_, "input": f"Do it: {id_}", "tools": [defined], "expect": [{name: {}}]}
        for id_, (name, defined) in OFFERED.items()
    ]
    cases.append({"id": "chat", "input": "Thanks!", "tools": [WEATHER], "expect": "none"})
    file = tmp_path / "cases.jsonl"
    file.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    wildtool("run", str(file), "--model", "baseline/gold", "--out", str(tmp_path / "run"))
    return train, tmp_path / "run"


def test_each_unit_counts_where_its_tool_stands_in_training(files: tuple[Path, Path]):
    train, run = files
    shown = json.loads(wildtool("data", "overlap", str(train), "--runs", str(run), "--json"))
    assert {each["name"]: (each["numerator"], each["denominator"]) for each in shown} == {
        "seen in training": (1, 1),
        "near one in training": (3, 3),
        "unseen in training": (1, 1),
        "no call expected": (1, 1),
    }
    assert all(each["low"] <= each["value"] <= each["high"] for each in shown)


def test_scores_by_tools_take_no_benchmark_to_compare_with(files: tuple[Path, Path]):
    train, run = files
    compared = wildtool("data", "overlap", str(train), "--runs", str(run), "--with", "wild-mini", status=2)
    assert "neither --with nor --remove" in compared
    assert "--profile is about" in wildtool("data", "overlap", str(train), "--profile", "fixed", status=2)


@pytest.mark.parametrize("share", ["0.25", "0.5"])
def test_items_are_made_over_the_tools_that_are_not_held_out(tmp_path: Path, share: str):
    tools = [
        tool(f"{verb}_{noun}", f"{verb}s {noun}.", "q") for verb in ("find", "get") for noun in ("a", "b")
    ]
    (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    options = ("--model", "procedural", "--kinds", "single", "--items", "4", "--hold-out-tools", share)
    out = tmp_path / "set"
    wildtool("generate", "acebench", *options, "--tools", str(tmp_path / "tools.json"), "-o", str(out))
    parts = [
        {each["function"]["name"] for its in json.loads((tmp_path / name).read_text()) for each in its}
        for name in ("set.tools.json", "set.held-out-tools.json")
    ]
    assert not parts[0] & parts[1]
    assert parts[0] | parts[1] == {each["function"]["name"] for each in tools}
    assert len(parts[1]) == round(4 * float(share))
    made = "".join(path.read_text(encoding="utf-8") for path in (out / "items").rglob("*.json*"))
    assert made
    assert not any(f'"{name}"' in made for name in parts[1])


def test_built_in_tools_are_split_for_sessions_of_templates_only(tmp_path: Path):
    options = ("--hold-out-tools", "0.25", "-o", str(tmp_path / "set"))
    said = wildtool("generate", "acebench", "--model", "procedural", *options, status=2)
    assert "--tools FILE" in said
