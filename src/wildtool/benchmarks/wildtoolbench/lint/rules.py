"""The rules for a session of a data file, one function each."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from wildtool.benchmarks.wildtoolbench.data import (
    ANSWER,
    ASK,
    EDGE_KINDS,
    SUBTYPES,
    TASK_TYPES,
    VIRTUAL,
    GoldNode,
    Session,
    Task,
)
from wildtool.benchmarks.wildtoolbench.grounding import parameter_schemas, ungrounded_values, valueless_edges
from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT, argument_schemas, argument_verdict
from wildtool.benchmarks.wildtoolbench.stats.shapes import call_graph
from wildtool.findings import RuleSet
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.graph import ancestors, heights, topology
from wildtool.toolcall.schema import argument_parts, path_text
from wildtool.toolcall.schema_check import SchemaFault, argument_faults, function_faults, shorten

_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_SHAPES = {
    "Single-Tool": "single",
    "Parallel Multi-Tool": "parallel",
    "Sequential Multi-Tool": "sequential",
    "Mixed Multi-Tool": "mixed",
    "Chat": "none",
}


@dataclass(frozen=True, slots=True)
class LintedSession:
    """A session with the parts of its raw record that the rules need."""

    session: Session
    prefix: str
    answers_key: str
    raw_nodes: list[list[dict[str, Any]]]
    second_list_differs: bool
    needs: list[list[set[int]] | None]
    """Per task the ancestors of each node; None if the graph cannot be executed."""

    def tasks(self) -> Iterator[tuple[int, Task, list[set[int]]]]:
        """The tasks whose graph is usable, with the ancestors of each node."""
        for t, (task, needs) in enumerate(zip(self.session.tasks, self.needs, strict=True)):
            if needs is not None:
                yield t, task, needs

    def node(self, t: int, i: int) -> str:
        return f"{self.answers_key}[{t}][{i}]"


SESSION_RULES = RuleSet[[LintedSession]]()
STRICT_RULES = RuleSet[[LintedSession]]()
"""Rules that only `strict` asks for."""


def linted_session(record: Mapping[str, Any], session: Session, prefix: str) -> LintedSession:
    """A session with the raw record it was read from."""
    key = f"{prefix}_answer_list" if f"{prefix}_answer_list" in record else "answer_list"
    return LintedSession(
        session=session,
        prefix=prefix,
        answers_key=key,
        raw_nodes=record[key],
        second_list_differs="answer_list" in record and record["answer_list"] != record[key],
        needs=[ancestors(task.deps) if heights(task.deps) is not None else None for task in session.tasks],
    )


@SESSION_RULES.rule("schema")
def check_schema(case: LintedSession) -> Iterator[SchemaFault]:
    """A session has four tasks of known types, a date line with the right weekday, and one gold list."""
    session, prefix = case.session, case.prefix
    if len(session.tasks) != 4:
        yield f"{prefix}_tasks", f"expected 4 tasks, found {len(session.tasks)} (Q33)"
    for t, task in enumerate(session.tasks):
        if task.type not in TASK_TYPES:
            yield (
                f"{prefix}_task_types[{t}]",
                f"unknown type {shorten(task.type)}; known: {', '.join(TASK_TYPES)}",
            )
        if t and task.subtype not in SUBTYPES:
            yield (
                f"{prefix}_turn_subtypes[{t - 1}]",
                f"unknown subtype {shorten(task.subtype)}; known: {', '.join(SUBTYPES)}",
            )
    if case.second_list_differs:
        yield "answer_list", f"differs from {case.answers_key}; keep one list (Q01)"
    fault = _date_fault(session.date)
    if fault:
        yield f"{prefix}_env_info", fault


@SESSION_RULES.rule("tools")
def check_tools(case: LintedSession) -> Iterator[SchemaFault]:
    """Tools have unique valid names, descriptions, and schemas that arguments can satisfy."""
    names: set[str] = set()
    for k, tool in enumerate(case.session.tools):
        field = f"{case.prefix}_tools[{k}]"
        function = cast(dict[str, Any], tool["function"])
        name = str(function["name"])
        if tool.get("type") != "function":
            yield f"{field}.type", "expected `function`"
        if name in names:
            yield f"{field}.function.name", f"{shorten(name)} is defined twice; only the last counts (Q48)"
        if name in VIRTUAL:
            yield f"{field}.function.name", f"{shorten(name)} cannot be the name of a tool"
        names.add(name)
        for path, message in function_faults(function):
            yield f"{field}.function.{path}", message


@SESSION_RULES.rule("nodes")
def check_nodes(case: LintedSession) -> Iterator[SchemaFault]:
    """Gold nodes have valid positions, names, arguments and order."""
    schemas = parameter_schemas(case.session)
    for t, task in enumerate(case.session.tasks):
        for i, node in enumerate(task.nodes):
            for path, message in node_faults(node, i, case.raw_nodes[t][i], schemas):
                yield f"{case.node(t, i)}.{path}", message
        if case.needs[t] is None:
            yield f"{case.answers_key}[{t}]", "the dependencies form a cycle or name a missing position (Q17)"
        yield from final_faults(task, f"{case.answers_key}[{t}]", case.needs[t])
    for t, task, needs in case.tasks():
        for i, k in crowded_questions(task, needs):
            yield (
                case.node(t, i),
                f"a question needs its own step, but node {k} can run in the same one (Q06)",
            )


@SESSION_RULES.rule("types")
def check_types(case: LintedSession) -> Iterator[SchemaFault]:
    """The declared task type fits the gold graph."""
    for t, task, _ in case.tasks():
        field = f"{case.prefix}_task_types[{t}]"
        shape = topology(call_graph(task))
        asks = any(node.name == ASK for node in task.nodes)
        if task.type == "Clarify" and not asks:
            yield field, "declared Clarify, but no gold node asks the user"
        elif task.type != "Clarify" and asks:
            yield field, f"declared {task.type}, but a gold node asks the user"
        elif task.type in _SHAPES and shape != _SHAPES[task.type]:
            yield field, f"declared {task.type}, but the gold calls are {shape}"
        kinds = {
            node.arguments.get("answer_type") for node in task.nodes if node.name == ANSWER and _plain(node)
        }
        if task.type == "Chat" and kinds - {"chat"}:
            yield f"{case.answers_key}[{t}]", "a Chat task ends with answer_type `chat`"
        elif task.type in _SHAPES and task.type != "Chat" and kinds - {"tool"}:
            yield f"{case.answers_key}[{t}]", f"a {task.type} task ends with answer_type `tool`"


@SESSION_RULES.rule("grounding")
def check_grounding(case: LintedSession) -> Iterator[SchemaFault]:
    """Every gold argument is found in what the model sees, or is marked as derived with a reason."""
    marks: dict[tuple[int, int], Mapping[str, str]] = {}
    for t, nodes in enumerate(case.raw_nodes):
        for i, node in enumerate(nodes):
            mark = node.get("grounding")
            if mark is None:
                continue
            field = f"{case.node(t, i)}.grounding"
            marks[t, i] = {}
            if not isinstance(mark, dict):
                yield field, "expected an object of argument paths and reasons"
                continue
            marks[t, i] = cast(dict[str, str], mark)
            yield from _mark_faults(cast(dict[str, Any], mark), case.session.tasks[t].nodes[i], field)
    if all(needs is not None for needs in case.needs):
        for gap in ungrounded_values(case.session, marks):
            yield f"{case.node(gap.task, gap.node)}.arguments.{gap.path}", gap.message


@SESSION_RULES.rule("text")
def check_text(case: LintedSession) -> Iterator[SchemaFault]:
    """Texts are not empty and have no control characters."""
    for t, task in enumerate(case.session.tasks):
        yield from _text_faults(task.text, f"{case.prefix}_tasks[{t}]")
        for i, node in enumerate(task.nodes):
            if node.name in VIRTUAL:
                yield from _text_faults(node.observation, f"{case.node(t, i)}.observation")
            if node.name == ASK:
                yield from _text_faults(node.user_input, f"{case.node(t, i)}.user_input")


@SESSION_RULES.rule("official")
def check_official(case: LintedSession) -> Iterator[SchemaFault]:
    """Gold passes the official rules: no equal calls in one step (Q31), arguments that equal themselves."""
    for t, task, needs in case.tasks():
        for i, node in enumerate(task.nodes):
            for k in range(i):
                beside = k not in needs[i] and i not in needs[k]
                if beside and node.name not in VIRTUAL and _call_text(node) == _call_text(task.nodes[k]):
                    yield case.node(t, i), f"the same call as node {k}, in one step with it (Q31)"
    schemas = argument_schemas(case.session.sent_tools)
    for t, task in enumerate(case.session.tasks):
        for i, node in enumerate(task.nodes):
            result = _official_result(schemas, node) if node.name in schemas else CORRECT
            if result != CORRECT:
                yield f"{case.node(t, i)}.arguments", f"not even gold passes the official check: {result}"


@STRICT_RULES.rule("edges")
def check_edges(case: LintedSession) -> Iterator[SchemaFault]:
    """Every dependency between two calls carries a value (only with `strict`)."""
    for t, _, _ in case.tasks():
        for i, j in valueless_edges(case.session, t):
            yield f"{case.node(t, i)}.dependency_list", f"no argument value comes from node {j}"


def _date_fault(line: str) -> str:
    stamp, _, weekday = line.rpartition(" ")
    try:
        date = datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        date = datetime.min
    if str(date) != stamp:
        return f"expected `YYYY-MM-DD HH:MM:SS Weekday`, found {shorten(line)}"
    k = date.weekday()
    if weekday in (_WEEKDAYS[k], "星期" + "一二三四五六日"[k], "周" + "一二三四五六日"[k]):
        return ""
    return f"{stamp[:10]} is a {_WEEKDAYS[k]}, not a {weekday}"


def _mark_faults(mark: Mapping[str, Any], node: GoldNode, field: str) -> Iterator[SchemaFault]:
    paths = {path_text(path) for path, _, _ in argument_parts(node.arguments, {})}
    for path, reason in mark.items():
        if path not in paths:
            yield field, f"marks {shorten(path)}, but the node has no such argument"
        if not isinstance(reason, str) or not re.match(r"derived:\s*\S", reason):
            yield f"{field}.{path}", "expected `derived: <reason>`"


def _text_faults(text: Any, field: str) -> Iterator[SchemaFault]:
    if not isinstance(text, str) or not text.strip():
        yield field, "expected a text that is not empty"
        return
    odd = sorted(
        {c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"}
        | ({"\ufffd"} & set(text))
    )
    if odd:
        yield field, f"holds characters no user types: {', '.join(f'U+{ord(c):04X}' for c in odd[:5])}"


def _official_result(schemas: Mapping[str, Mapping[str, Any]], node: GoldNode) -> str:
    """The result of the official check for gold against itself."""
    text = json.dumps(node.arguments, ensure_ascii=False)
    try:
        return argument_verdict(schemas, node.name, text, text)
    except (AttributeError, IndexError, TypeError) as error:
        return f"it breaks off with {shorten(error)}"


def _call_text(node: GoldNode) -> str:
    return json.dumps([node.name, node.arguments], sort_keys=True)


def _plain(node: GoldNode) -> bool:
    return isinstance(node.arguments.get("answer_type"), str)


# Gold nodes of one task -------------------------------------------------------------------------------


def node_faults(
    node: GoldNode, i: int, raw: Mapping[str, Any], schemas: Mapping[str, Mapping[str, Any]]
) -> Iterator[SchemaFault]:
    """What is wrong with one gold node, by field; `raw` is the node as written."""
    if raw.get("idx") != i or isinstance(raw.get("idx"), bool):
        yield "idx", f"expected the position {i}, found {shorten(raw.get('idx'))}"
    if "observation" not in raw:
        yield "observation", "expected what the tool returns (for virtual actions the gold text)"
    for j in node.deps:
        if j >= i:
            yield "dependency_list", f"node {j} does not come before node {i}; write nodes in order"
    if "dependency_kinds" in raw:
        yield from _kind_faults(node, raw["dependency_kinds"])
    if len(set(node.deps)) < len(node.deps):
        yield "dependency_list", "names a node twice"
    if node.name == ASK:
        yield from _question_faults(node, schemas)
    elif node.name == ANSWER:
        if node.arguments.get("answer_type") not in ("tool", "chat") or len(node.arguments) != 1:
            yield "action.arguments", 'expected {"answer_type": "tool"} or {"answer_type": "chat"}'
    elif node.name not in schemas:
        yield "action.name", f"{shorten(node.name)} is not in the tool list"
    else:
        for path, message in argument_faults(node.arguments, schemas[node.name]):
            yield f"action.arguments.{path}", message
    if "alternatives" in raw:
        schema = None if node.name in VIRTUAL else schemas.get(node.name)
        yield from _alternative_faults(node, raw["alternatives"], schema)


def _kind_faults(node: GoldNode, kinds: Any) -> Iterator[SchemaFault]:
    """An object that gives dependencies, by position, one of the kinds."""
    if not isinstance(kinds, dict):
        yield "dependency_kinds", "expected an object with a kind for each position"
        return
    needed = {str(j) for j in node.deps}
    for position, kind in as_object(kinds).items():
        if position not in needed:
            yield "dependency_kinds", f"the node does not depend on {shorten(position)}"
        if kind not in EDGE_KINDS:
            yield "dependency_kinds", f"{shorten(kind)} is no kind; expected one of {', '.join(EDGE_KINDS)}"


def _alternative_faults(
    node: GoldNode, alternatives: Any, schema: Mapping[str, Any] | None
) -> Iterator[SchemaFault]:
    """An object of lists of values, each valid in the place of gold's and none gold's own."""
    if not isinstance(alternatives, dict) or not all(
        as_list(values) for values in as_object(alternatives).values()
    ):
        yield "alternatives", "expected an object with a list of other values for each argument"
    elif schema is None:
        yield "alternatives", "only arguments of tools have alternatives"
    else:
        own_faults = set(argument_faults(node.arguments, schema))
        for name, values in node.alternatives.items():
            for value in values:
                # Null is leaving it out, which an optional argument allows.
                left_out = {key: inner for key, inner in node.arguments.items() if key != name}
                tried = left_out if value is None else {**left_out, name: value}
                if repr(tried.get(name)) == repr(node.arguments.get(name)):
                    yield "alternatives", f"{shorten(value)} is what gold has for {shorten(name)}"
                for path, message in argument_faults(tried, schema):
                    if (path, message) not in own_faults:
                        yield "alternatives", f"{shorten(value)} for {path or name}: {message}"


def _question_faults(node: GoldNode, schemas: Mapping[str, Mapping[str, Any]]) -> Iterator[SchemaFault]:
    name = node.arguments.get("tool_name")
    if not isinstance(name, str) or name not in schemas:
        yield "action.arguments.tool_name", f"{shorten(name)} is not in the tool list"
        return
    missing = node.arguments.get("missing_required_parameters")
    if not isinstance(missing, list) or not missing:
        yield "action.arguments.missing_required_parameters", "expected a non-empty list of parameter names"
        return
    parameters = set(_parameter_paths(schemas[name]))
    for parameter in cast(list[Any], missing):
        if not isinstance(parameter, str) or re.sub(r"\[\d*\]", "", parameter) not in parameters:
            yield (
                "action.arguments.missing_required_parameters",
                f"{shorten(parameter)} is not a parameter of {name}",
            )


def _parameter_paths(schema: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """All parameters, each by its name and by its dotted path without array indices."""
    for name, child in as_object(schema.get("properties")).items():
        yield from (name, f"{path}{name}")
        yield from _parameter_paths(as_object(child), f"{path}{name}.")
    if "items" in schema:
        yield from _parameter_paths(as_object(schema["items"]), path)


def final_faults(task: Task, field: str, needs: Sequence[set[int]] | None) -> Iterator[SchemaFault]:
    """The answer occurs once, as the last node, and depends on all others."""
    finals = [i for i, node in enumerate(task.nodes) if node.name == ANSWER]
    if finals != [len(task.nodes) - 1]:
        yield field, f"expected {ANSWER} exactly once, as the last node"
    elif needs is not None:
        loose = sorted(set(range(finals[0])) - needs[finals[0]])
        if loose:
            yield (
                f"{field}[{finals[0]}].dependency_list",
                f"the answer does not depend on nodes {loose} (Q06, Q25)",
            )


def crowded_questions(task: Task, needs: Sequence[set[int]]) -> Iterator[tuple[int, int]]:
    """Pairs of a question and another node that can run in the same step."""
    for i, node in enumerate(task.nodes):
        for k, other in enumerate(task.nodes):
            beside = k != i and k not in needs[i] and i not in needs[k]
            # The answer has its own rule, and two questions are one pair.
            if node.name == ASK and beside and other.name != ANSWER and (other.name != ASK or i < k):
                yield i, k
