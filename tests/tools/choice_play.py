"""A small catalogue with requests, played by a scripted model."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wildtool
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.tools.requests import choice_text
from wildtool.types import Reply, Request, Tool

Choose = Callable[[str, Sequence[str]], Sequence[str] | str]
"""Gives the names to call, or a text, from what the user says and the names of the offered tools."""


def tools(**descriptions: str) -> list[Tool]:
    return [
        {
            "type": "function",
            "function": {"name": name, "description": text, "parameters": {"type": "object"}},
        }
        for name, text in descriptions.items()
    ]


def requests_file(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@dataclass
class Planted:
    """A model that chooses by a function; its name is always the same."""

    choose: Choose
    name: str = "planted"
    asked_with: Mapping[str, Any] = field(default_factory=dict[str, Any])

    async def complete(self, request: Request) -> Reply:
        offered = [tool["function"]["name"] for tool in request.tools]
        said = self.choose(str(request.messages[-1]["content"]), offered)
        if isinstance(said, str):
            return Reply({"role": "assistant", "content": said})
        return Reply(calls_message([made_call(name, "{}") for name in said]))

    async def close(self) -> None:
        pass

    def settings(self) -> Mapping[str, Any]:
        return self.asked_with


def played(
    folder: Path,
    catalogue: Sequence[Tool],
    requests: Path,
    choose: Choose,
    name: str = "run",
    repeats: int = 1,
    **asked_with: Any,
) -> Path:
    """The folder of a run over a catalogue."""
    data = folder / f"{name}.json"
    data.write_bytes(choice_text(catalogue, [requests], print))
    bench = wildtool.load("own-tools", data=data)
    wildtool.run(
        bench, model=Planted(choose, asked_with=asked_with), out=folder / name, repeats=repeats, quiet=True
    )
    return folder / name
