"""RoTBench's files: records as items, what is refused and how, lint, descriptions, and result files."""

import json
from pathlib import Path
from typing import Any

import pytest

from wildtool.benchmarks.rotbench import ROTBENCH
from wildtool.benchmarks.rotbench.data import Answer, RotRecord, parse_record
from wildtool.types import Item

TOOLS: list[dict[str, Any]] = [
    {"name": "hours", "parameters": {"properties": {"place": {}, "day": {}}}},
    {"name": "ask_to_user"},
    {"name": "finish"},
]
HOURS = 'Thought:\nAction: hours\nAction Input: {"place": "x"}'


def turn(role: str, value: Any) -> dict[str, Any]:
    return {"from": role, "value": value}


def record(id: str = "a", *answers: str, scenario: str = "PL", tools: Any = TOOLS, more: int = 0) -> Any:
    system = f"Use tools:\n{json.dumps(tools)}\n\nLet's Begin!"
    turns = [turn("system", system), turn("user", f"{id}?\nBegin!\n")]
    turns += [turn("assistant", "A"), turn("function", "F")][:more]
    turns.append(turn("assistant", list(answers or [HOURS])))
    return {"id": id, "scenario": scenario, "conversations": turns}


def write(folder: Path, name: str, *records: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records), "utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("clean", "union"):
        write(tmp_path, f"First_Turn/{name}.json", record("a"), record("b", scenario="TG"), record("a"))
    for name in ("slight", "medium", "heavy"):
        write(tmp_path, f"First_Turn/{name}.json", record("b"), record("a"), record("a"), record("b"))
    for name in ("clean", "slight", "medium", "heavy", "union"):
        write(tmp_path, f"Third_Turn/{name}.json", record("c", more=2), record("a", more=1))
    return tmp_path


def test_a_record_is_read_whole() -> None:
    parsed = parse_record(record("a", HOURS, "Action: \nAction Input: {}"), "heavy", 2, "here")
    system = f"Use tools:\n{json.dumps(TOOLS)}\n\nLet's Begin!"
    assert parsed == RotRecord(
        "heavy",
        "parameters",
        "first",
        "PL",
        (("system", system), ("user", "a?\nBegin!\n")),
        tuple(TOOLS),
        (Answer(HOURS, "hours", {"place": "x"}), Answer("Action: \nAction Input: {}", "", {})),
    )
    assert ROTBENCH.fields(Item("x", ("u",), {"u": parsed}), "u") == {
        "turn": "first",
        "environment": "heavy",
        "noise": "parameters",
        "scenario": "PL",
    }
    item = Item("x", ("u", "v"), {"u": parsed, "v": parse_record(record("b", more=2), "clean", 1, "here")})
    assert ROTBENCH.data.user_texts is not None
    assert list(ROTBENCH.data.user_texts(item)) == ["a?", "b?"]
