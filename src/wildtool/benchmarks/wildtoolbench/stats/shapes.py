"""The structure of a session: task groups, transitions, graphs of calls, kinds of parameters."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from wildtool.benchmarks.wildtoolbench.data import ASK, VIRTUAL, Session, Task
from wildtool.benchmarks.wildtoolbench.grounding import parameter_schemas
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.graph import ancestors
from wildtool.toolcall.schema import argument_parts, as_schema

TASK_GROUPS = ("Single-Tool", "Multi-Tool", "Clarify", "Chat")
"""The four groups of task types whose order in a session is balanced."""
PARAMETER_KINDS = ("string", "integer", "float", "boolean", "enum", "array", "object", "nested object")
_KIND_OF_TYPE = {"number": "float"}


def call_graph(task: Task) -> list[list[int]]:
    """For each real call the calls it needs, directly or through others, as positions among the calls."""
    needs = ancestors(task.deps)
    calls = [i for i, node in enumerate(task.nodes) if node.name not in VIRTUAL]
    return [[k for k, j in enumerate(calls) if j in needs[i] and j != i] for i in calls]


def call_count(task: Task) -> int:
    """Number of real calls."""
    return sum(node.name not in VIRTUAL for node in task.nodes)


def has_diamond(graph: list[list[int]]) -> bool:
    """True if some call needs two independent calls that share a third; `graph` as `call_graph` gives it."""
    return any(
        b not in graph[c] and c not in graph[b] and set(graph[b]) & set(graph[c])
        for needs in graph
        for b in needs
        for c in needs
        if b < c
    )


def questions(task: Task) -> int:
    """Number of questions to the user."""
    return sum(node.name == ASK for node in task.nodes)


def user_turns(session: Session) -> int:
    """Messages of the user: tasks, and answers to questions."""
    return sum(1 + questions(task) for task in session.tasks)


def same_name_groups(task: Task) -> int:
    """Number of tools that the task calls more than once."""
    names = [node.name for node in task.nodes if node.name not in VIRTUAL]
    return sum(names.count(name) > 1 for name in set(names))


def unused_tools(session: Session) -> set[str]:
    """Tools that no gold call uses."""
    used = {node.name for task in session.tasks for node in task.nodes}
    return set(parameter_schemas(session)) - used


def kinds_used(session: Session) -> Iterator[str]:
    """The kind of every gold argument, containers included."""
    schemas = parameter_schemas(session)
    for task in session.tasks:
        for node in task.nodes:
            if node.name not in VIRTUAL:
                for path, _, schema in argument_parts(node.arguments, schemas.get(node.name)):
                    yield from _own_kind(schema, inside=len(path) > 1)


def kinds_defined(session: Session) -> Iterator[str]:
    """The kind of every parameter that the tools define, containers included."""
    for schema in parameter_schemas(session).values():
        for child in as_schema(schema.get("properties")).values():
            yield from _kinds_defined(as_schema(child))


def _kinds_defined(schema: Mapping[str, Any], *, inside: bool = False) -> Iterator[str]:
    yield from _own_kind(schema, inside=inside)
    for child in as_schema(schema.get("properties")).values():
        yield from _kinds_defined(as_schema(child), inside=True)
    if "items" in schema:
        yield from _kinds_defined(as_schema(schema["items"]), inside=True)


def _own_kind(schema: Mapping[str, Any], *, inside: bool) -> Iterator[str]:
    name = schema.get("type")
    if "enum" in schema:
        yield "enum"
    elif name == "object" and inside:
        yield "nested object"
    elif isinstance(name, str):
        yield _KIND_OF_TYPE.get(name, name)


def left_out(task: Task, schemas: Mapping[str, Mapping[str, Any]]) -> Literal["all", "some"]:
    """What the message of a task leaves out, by its questions: all required values of the tools that they are about, or
    some. Args: schemas: parameters of each tool."""
    asked: defaultdict[str, set[str]] = defaultdict(set)
    for node in task.nodes:
        if node.name == ASK:
            names = as_list(node.arguments.get("missing_required_parameters"))
            asked[str(node.arguments.get("tool_name"))].update(map(str, names))
    needed = {tool: set(map(str, as_list(as_object(schemas.get(tool)).get("required")))) for tool in asked}
    return "all" if all(needed[tool] <= names for tool, names in asked.items()) else "some"
