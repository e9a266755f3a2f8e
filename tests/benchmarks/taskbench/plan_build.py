"""Small TaskBench data for tests: two domains with a few tools, and labels in the released layout."""

import json
from pathlib import Path
from typing import Any

RESOURCE_TOOLS = [
    {"id": "Photo Finder", "desc": "Finds a photo.", "input-type": ["text"], "output-type": ["image"]},
    {
        "id": "Photo Painter",
        "desc": "Paints it, à la Klee.",
        "input-type": ["image"],
        "output-type": ["image"],
    },
    {"id": "Caption Maker", "desc": "Describes it.", "input-type": ["image"], "output-type": ["text"]},
]
NAMED_TOOLS = [
    {"id": name, "desc": name, "parameters": [{"name": "time", "type": "string", "desc": "When."}]}
    for name in ("book_ferry", "send_text", "set_alarm")
]


def node(task: Any, *arguments: Any) -> dict[str, Any]:
    return {"task": task, "arguments": list(arguments)}


def timed(task: str, time: Any) -> dict[str, Any]:
    return node(task, {"name": "time", "value": time})


def link(source: str, target: str) -> dict[str, str]:
    return {"source": source, "target": target}


def plan(nodes: list[Any], links: list[Any] | None = None, steps: Any = None) -> dict[str, Any]:
    made = [f"Step {n}: Call {one.get('task')}" for n, one in enumerate(nodes, 1)] if steps is None else steps
    return {"task_steps": made, "task_nodes": nodes, "task_links": links or []}


SINGLE = plan([node("Photo Finder", "a red boat")])
CHAIN = plan(
    [
        node("Photo Finder", "a red boat"),
        node("Photo Painter", "<node-0>"),
        node("Caption Maker", "<node-1>"),
    ],
    [link("Photo Finder", "Photo Painter"), link("Photo Painter", "Caption Maker")],
)
TIMED = plan(
    [timed("book_ferry", "9:00"), timed("send_text", "9:05"), timed("set_alarm", "8:00")],
    [link("book_ferry", "send_text"), link("send_text", "set_alarm")],
)


def label(name: str, shape: str, gold: dict[str, Any]) -> dict[str, Any]:
    """A label record as released: its parts are JSON texts."""
    parts = {f"tool_{part}": json.dumps(gold[f"task_{part}"]) for part in ("steps", "nodes", "links")}
    return {"id": name, "type": shape, "instruction": f"Please do {name}.", **parts}


def write_data(folder: Path) -> Path:
    """A folder with labels and tools of two domains."""
    domains = {
        "huggingface": (RESOURCE_TOOLS, [label("one", "single", SINGLE), label("three", "chain", CHAIN)]),
        "dailylifeapis": (NAMED_TOOLS, [label("timed", "chain", TIMED)]),
    }
    for domain, (tools, labels) in domains.items():
        place = folder / f"data_{domain}"
        place.mkdir(parents=True)
        (place / "tool_desc.json").write_text(json.dumps({"nodes": tools}), "utf-8")
        graph = {"nodes": tools, "links": [{**link(tools[0]["id"], tools[1]["id"]), "type": "x"}]}
        (place / "graph_desc.json").write_text(json.dumps(graph), "utf-8")
        lines = (json.dumps(one) for one in labels)
        (place / "data.json").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def prompt_program(texts: dict[str, Any]) -> str:
    """A program that puts texts together as the authors' does: goals in two parts each, examples, the request."""
    halves = {name: (text[: len(text) // 2], text[len(text) // 2 :]) for name, text in texts.items()}
    before, after = texts["example"]
    return f"""
import click

def main():
    tool_string = {texts["heading"]!r}
    for tool in tools:
        tool_string += json.dumps(tool) + "\\n"

async def inference(input, dependency_type):
    if dependency_type == "resource":
        prompt = {halves["resource"][0]!r}
        prompt += {halves["resource"][1]!r}
    else:
        prompt = {halves["temporal"][0]!r}
        prompt += {halves["temporal"][1]!r}
    if len(demos) > 0:
        prompt += {texts["between"]!r}
        for demo in demos:
            prompt += f{before + '{demo["user_request"]}' + after + '{json.dumps(demo["result"])}'!r}
    prompt += {texts["closing"]!r}
    final_prompt = tool_string + prompt.replace("user_request", input)

async def get_response(prompt):
    prompt = "not sent"
"""
