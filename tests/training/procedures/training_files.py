"""Training files that the tests of procedures share."""

import json
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "name": name,
        "description": f"{name} of a station",
        "parameters": {
            "type": "object",
            "properties": {"station": {"type": "string"}, "day": {"type": "integer"}},
            "required": ["station"],
        },
    }
    for name in ("level", "tide")
]


def call(name: str = "level", **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def row(*calls: dict[str, Any], user: str = "Level?", answer: str = "High.", **more: Any) -> dict[str, Any]:
    """One record: a request, its calls, their results, a text."""
    value = json.dumps(calls[0] if len(calls) == 1 else calls)
    results = ["5 m" for _ in calls]
    turns = [
        {"from": "human", "value": user},
        {"from": "function_call", "value": value},
        {"from": "observation", "value": results[0] if len(results) == 1 else json.dumps(results)},
        {"from": "gpt", "value": answer},
    ]
    return {"conversations": turns, "system": "Be brief.", "tools": json.dumps(TOOLS), **more}


def wrote(path: Path, *rows: Any) -> Path:
    """A file of JSON lines; texts are written as they are."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def message(*calls: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    """A reply in OpenAI's shape."""
    made = [
        {
            "id": f"r{number}",
            "type": "function",
            "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])},
        }
        for number, one in enumerate(calls)
    ]
    return {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
