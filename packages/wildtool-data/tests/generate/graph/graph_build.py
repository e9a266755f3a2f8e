"""Builds sessions of one task from its calls, for tests of dependency graphs."""

from typing import Any

from wildtool.benchmarks.wildtoolbench.data import ANSWER, GoldNode, Session, Task


def call(name: str, observation: Any = None, **arguments: Any) -> GoldNode:
    return GoldNode(name, arguments, observation, ())


def answer() -> GoldNode:
    return GoldNode(ANSWER, {"answer_type": "tool"}, "Done.", ())


def session(text: str, *nodes: GoldNode, before: tuple[Task, ...] = ()) -> Session:
    """A session whose last task has these nodes; the schemas know strings and whole numbers."""
    tools = tuple(
        {
            "type": "function",
            "function": {"name": n.name, "parameters": {"type": "object", "properties": properties(n)}},
        }
        for n in nodes
    )
    task = Task(text, (*nodes, answer()), "Mixed Multi-Tool", "First Turn")
    return Session("s", "en", "2025-06-18 13:41:00 Wednesday", tools, tools, (*before, task), None)


def properties(node: GoldNode) -> dict[str, Any]:
    return {name: {"type": "string", "description": name} for name in node.arguments}
