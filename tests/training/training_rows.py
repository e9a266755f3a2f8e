"""Small training records in ShareGPT's form."""

import json
from pathlib import Path
from typing import Any

TOOL = {
    "name": "level",
    "description": "",
    "parameters": {
        "type": "object",
        "properties": {"station": {"type": "string"}, "unit": {"type": "string"}},
        "required": ["station"],
    },
}


def call_row(text: str, station: str = "Husum", **more: Any) -> dict[str, Any]:
    """A request answered by a call."""
    call = {"name": "level", "arguments": {"station": station}}
    turns = [turn("human", text), turn("function_call", json.dumps(call))]
    return {"conversations": turns, "system": "", "tools": json.dumps([TOOL]), **more}


def text_row(text: str, reply: str = "Yes.") -> dict[str, Any]:
    """A request answered by a text."""
    return {"conversations": [turn("human", text), turn("gpt", reply)], "system": "", "tools": ""}


def turn(role: Any, value: Any) -> dict[str, Any]:
    return {"from": role, "value": value}


def write_rows(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
