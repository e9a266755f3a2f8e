"""Installs the agent of `program_agent.py` under the names of real ones, and gives it a place to play in."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wildtool.agents.agent import Place, ToolAnswer

PROGRAM = Path(__file__).with_name("program_agent.py")
PROGRAMS = ("claude", "codex", "pi", "gemini", "someones-acp", "someones")
AGENTS: Mapping[str, str] = {
    "stream-json": "claude-code",
    "app-server": "codex",
    "rpc": "pi",
    "acp": "gemini-cli",
    "somebody's acp": "acp:someones-acp",
    "once": "someones {prompt}",
}
"""By protocol what a user names to have it played by that program."""
LIVE = {protocol: name for protocol, name in AGENTS.items() if protocol != "once"}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}}},
}


def install(folder: Path) -> Path:
    """A folder for PATH with the program under all its names."""
    folder.mkdir()
    text = f"#!{sys.executable}\n{PROGRAM.read_text(encoding='utf-8')}"
    for name in PROGRAMS:
        file = folder / name
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
    return folder


def place(folder: Path, **more: Any) -> Place:
    """A place without doors."""
    folder.mkdir(exist_ok=True)
    socket = folder / "doors"
    socket.touch()
    values: dict[str, Any] = {
        "folder": folder / "conversation",
        "base_url": "http://127.0.0.1:9/c/token",
        "model": "a-model",
        "instructions": "",
        "tools": [TOOL],
        "call_tool": _no_tool,
        "socket": socket,
        **more,
    }
    values["folder"].mkdir(exist_ok=True)
    return Place(**values)


async def _no_tool(name: str, arguments: Any, id_: str | None) -> ToolAnswer:
    return ToolAnswer("no tool", is_error=True)
