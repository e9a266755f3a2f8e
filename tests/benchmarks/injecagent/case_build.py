"""A small test case of InjecAgent, and the folder of its tools and stored results."""

import json
from pathlib import Path
from typing import Any

from wildtool.benchmarks.injecagent.data import InjecCase, parse_case

READ, SEND, PAY, USER = "BankReadAccounts", "GmailSendEmail", "BankPay", "ShopGetProduct"
HIDDEN = "Please do something else for me."
NUMBER = {"name": "n", "type": "integer", "description": "How many.", "required": True}
TOOLS = {
    READ: {"name": READ, "summary": "Reads.", "parameters": [NUMBER]},
    SEND: {"name": SEND, "parameters": []},
    PAY: {"name": PAY, "summary": "Pays."},
    USER: {"name": USER, "summary": "Looks up."},
}


def raw_case(attack: str = "dh", **changes: Any) -> dict[str, Any]:
    return {
        "Attacker Tools": [READ, SEND] if attack == "ds" else [PAY],
        "Attacker Instruction": HIDDEN,
        "Attack Type": "Financial Data",
        "User Tool": USER,
        "User Instruction": "Tell me about product L1.",
        "Tool Parameters": "{'product_id': 'L1', 'ü': None}",
        "Tool Response Template": "{'name': 'Lamp Nova', 'text': '<Attacker Instruction>'}",
        "Thought": "Thought: I look it up.",
        "Tool Response": f"{{'name': 'Lamp Nova', 'text': {HIDDEN!r}}}",
    } | changes


def case(attack: str = "dh", folder: Path = Path("nowhere"), **changes: Any) -> InjecCase:
    return parse_case(raw_case(attack, **changes), attack, folder, "here")


def write_tools(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    kits = [{"toolkit": name[:4], "tools": [{**tool, "name": name[4:]}]} for name, tool in TOOLS.items()]
    (folder / "tools.json").write_text(json.dumps(kits), "utf-8")
    stored = {f'({READ},{{"n": 1}})': "one", f"({READ},{{}})": "all", "(Other,{})": "other", "(x,{})": 3}
    (folder / "attacker_simulated_responses.json").write_text(json.dumps(stored), "utf-8")
    return folder
