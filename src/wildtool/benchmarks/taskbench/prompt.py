"""What a model is sent: tools, goal, requirements and the request, in one text."""

import json
from collections.abc import Callable

from wildtool.benchmarks.taskbench.data import Library, TaskRecord
from wildtool.types import Item, Message, Request

_RESOURCE_SCHEMA = """{"task_steps": ["what is done in one step", ...], \
"task_nodes": [{"task": "name of a tool", "arguments": ["text", "name of a file", "<node-j>", ...]}, ...]}"""
_TEMPORAL_SCHEMA = """{"task_steps": ["Step n: Call NAME with NAME_OF_ARGUMENT: 'VALUE'", ...], \
"task_nodes": [{"task": "name of a tool", "arguments": [{"name": "name of an argument", "value": "its value"}, ...]}, \
...], "task_links": [{"source": "name of a tool", "target": "name of the tool after it"}, ...]}"""
_RESOURCE_RULES = (
    "An argument is a piece of the user's own text, the name of a file that the user mentions, or <node-j> for the output"
    " of node j, where the first node has j = 0.",
    "Each argument must be of a type that its tool takes as input.",
)
_TEMPORAL_RULES = (
    "An argument has a name that its tool defines and a value from the user's request.",
    "A link says that its source is called before its target; the links must agree with the order of the steps.",
)


def request(item: Item, message: Callable[[TaskRecord], Message]) -> Request:
    """One user message."""
    record: TaskRecord = item.data
    gold: Message = {"role": "assistant", "content": record.gold.as_json()}
    return Request([message(record)], gold=lambda style: gold)


def own_message(record: TaskRecord, *, graph: bool) -> Message:
    """The message in our wording. Args: graph: whether it also lists which tool can come after which."""
    return {"role": "user", "content": prompt_text(record, graph=graph)}


def prompt_text(record: TaskRecord, *, graph: bool) -> str:
    """Tools one a line, links if wanted, goal with its schema, requirements, the request."""
    library = record.library
    schema, own = (
        (_TEMPORAL_SCHEMA, _TEMPORAL_RULES) if library.temporal else (_RESOURCE_SCHEMA, _RESOURCE_RULES)
    )
    rules = (
        "Use only tools of the list, by their exact names.",
        "Write as many steps as nodes, in the same order; steps and arguments must say the same.",
        *own,
    )
    parts = [
        "# Tools",
        *(json.dumps(tool, ensure_ascii=False) for tool in library.tools),
        *(_links(library) if graph else ()),
        "# Goal",
        "Plan how the tools fulfil the user's request. Answer in strict JSON of this form:",
        schema,
        "# Requirements",
        *(f"{number}. {rule}" for number, rule in enumerate(rules, 1)),
        *(f"# Example\n{each.request}\n{each.plan.as_json()}" for each in record.examples),
        "# Request",
        record.request,
        "Now answer with the JSON alone.",
    ]
    return "\n".join(parts)


def _links(library: Library) -> list[str]:
    after: dict[str, list[str]] = {}
    for source, target in library.links:
        after.setdefault(source, []).append(target)
    lines = (f"{source} -> {', '.join(targets)}" for source, targets in after.items())
    return ["# Links: which tools can take the output of, or follow, which", *lines]
