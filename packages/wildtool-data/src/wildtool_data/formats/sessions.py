"""Sessions of several tasks, one JSON object a line: their parts, graphs, valid orders and rules."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import (
    ASK,
    LANGUAGE_PREFIXES,
    VIRTUAL,
    Session,
    Task,
    language_prefixes,
    read_records,
    read_session,
)
from wildtool.benchmarks.wildtoolbench.lint import lint_records
from wildtool.benchmarks.wildtoolbench.official.schedule import GraphStep, Schedule, ScheduleState
from wildtool.benchmarks.wildtoolbench.stats.shapes import call_graph
from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.graph import ancestors, heights, topology
from wildtool_data.formats.base import (
    MAX_ORDERS,
    Facets,
    GraphEdge,
    ItemPart,
    PartKind,
    RawItem,
    ReviewFormat,
    TaskGraph,
    confidence_of,
)
from wildtool_data.formats.gaps import open_gaps
from wildtool_data.make.core.files import json_line, write_whole_file
from wildtool_data.make.graph.infer import infer_edges
from wildtool_data.make.sessions.rules.final import LENGTH_FINDING, TYPE_OF_TOPOLOGY, gold_faults
from wildtool_data.pointers import nearest, pointer

_FIELD_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_MAX_LOOKAHEAD = 12
"""Calls that are ready at once from which orders are not listed: there are too many."""
_UNSEEN_LATER = {"alternatives", "dependency_kinds"}
"""Parts of a gold node that change nothing that later tasks see."""
_LISTS = ("tasks", "answer_list", "task_types", "turn_subtypes")


class SessionFormat(ReviewFormat):
    """Sessions; a record may hold one in each of several languages, whose lists have their own prefix."""

    name = WILDTOOLBENCH.name
    file_name = "sessions.jsonl"

    def read(self, path: Path) -> Iterator[RawItem]:
        for number, record in read_records(path):
            id_ = record.get("id")
            if not isinstance(id_, str) or not id_:
                raise DataError(f"{path}:{number}: field id: expected a text that names the session")
            yield RawItem(id_, record, as_object(record.get("made_by")))

    def write(self, contents: Iterable[Any], out: Path) -> None:
        write_whole_file(out, map(json_line, contents))

    def check(self, content: Any) -> list[Finding]:
        record = as_object(content)
        name = record["id"] if isinstance(record.get("id"), str) else "?"
        findings = list(open_gaps(record))
        for finding in lint_records([(1, record)], "", balanced=False, strict=True):
            if LENGTH_FINDING not in finding.message:
                field = nearest(record, _pointer_of(finding.where.removeprefix(f":1 {name} ")))
                level = "warning" if finding.rule == "edges" else "error"
                findings.append(fault(finding.rule, finding.message, field, level))
        if any(finding.rule in ("schema", "nodes") for finding in findings):
            return findings
        for prefix in language_prefixes(record):
            session = _read(record, prefix)
            for t in range(len(session.tasks) if session else 0):
                place = pointer(answers_key(record, prefix), t)
                findings += (replace(finding, field=place) for finding in gold_faults(record, t, prefix))
                findings += _graph_doubts(session, t, place) if session else ()
        return findings

    def facets(self, content: Any) -> Facets:
        record = as_object(content)
        prefix = next(iter(language_prefixes(record)), "")
        types = [str(value) for value in as_list(record.get(f"{prefix}_task_types"))]
        subtypes = ["First Turn", *(str(value) for value in as_list(record.get(f"{prefix}_turn_subtypes")))]
        sure, judged = confidence_of(record.get("made_by"))
        return Facets(
            strata=tuple(zip(types, [*subtypes, *[""] * len(types)], strict=False)),
            domain=str(record.get("domain", "")),
            lang=LANGUAGE_PREFIXES.get(prefix, prefix),
            confidence=sure,
            judged=judged,
            twin=str(as_object(record.get("made_by")).get("twin", "")),
        )

    def parts(self, content: Any) -> list[ItemPart]:
        record = as_object(content)
        return [part for prefix in language_prefixes(record) for part in _parts(record, prefix)]

    def task_count(self, content: Any) -> int:
        record = as_object(content)
        return max((len(as_list(record.get(f"{p}_tasks"))) for p in language_prefixes(record)), default=1)

    def first_stale_task(self, content: Any, field: str) -> int:
        """Later tasks build on texts and results; all tasks on tools and date; none on labels and other accepted values.

        A part of task i can make i itself wrong only where the person is just looking, or in another language.
        """
        _, key, *rest = [*field.split("/"), "", ""]
        name = next((name for name in _LISTS if key == name or key.endswith(f"_{name}")), "")
        if name in ("tasks", "answer_list") and _UNSEEN_LATER.isdisjoint(rest[2:3]):
            twins = len(language_prefixes(as_object(content))) > 1
            return int(rest[0]) + (0 if twins else 1) if rest[0].isdigit() else 0
        return 0 if key.endswith(("_tools", "_env_info")) or not key else self.task_count(content)

    def task_of(self, content: Any, field: str) -> int | None:
        """See ReviewFormat."""
        _, key, place, *_ = [*field.split("/"), "", ""]
        if not key.endswith(_LISTS) or not place.isdigit():
            return None
        return int(place) + key.endswith("turn_subtypes")

    def graphs(self, content: Any) -> list[TaskGraph]:
        record = as_object(content)
        prefix = next(iter(language_prefixes(record)), "")
        session = _read(record, prefix)
        if session is None:
            return []
        nodes = [as_list(task) for task in as_list(record.get(answers_key(record, prefix)))]
        return [_graph(session, t, nodes[t]) for t in range(len(session.tasks))]

    def written_edges(self, content: Any) -> list[frozenset[tuple[int, int]]]:
        record = as_object(content)
        session = _read(record)
        tasks = session.tasks if session else ()
        return [frozenset((j, i) for i, needed in enumerate(task.deps) for j in needed) for task in tasks]

    def user_texts(self, content: Any) -> Sequence[str]:
        record = as_object(content)
        prefix = next(iter(language_prefixes(record)), "")
        return [str(text) for text in as_list(record.get(f"{prefix}_tasks"))]


def _read(record: Mapping[str, Any], prefix: str = "") -> Session | None:
    try:
        return read_session(record, "session", prefix)
    except (DataError, RecursionError):
        return None


def answers_key(record: Mapping[str, Any], prefix: str) -> str:
    """The field of a record with its gold answers."""
    return f"{prefix}_answer_list" if f"{prefix}_answer_list" in record else "answer_list"


def _pointer_of(field: str) -> str:
    """The pointer of a field as findings write it, such as `english_answer_list[0][1].arguments.day`."""
    parts = [index or name for index, name in _FIELD_PART.findall(field)]
    if parts[3:4] in (["arguments"], ["name"]) and parts[0].endswith("answer_list"):
        parts.insert(3, "action")
    return pointer(*parts)


def _parts(record: Mapping[str, Any], prefix: str) -> Iterator[ItemPart]:
    yield ItemPart(pointer(f"{prefix}_env_info"), "date")
    for k in range(len(as_list(record.get(f"{prefix}_tools")))):
        yield ItemPart(pointer(f"{prefix}_tools", k), "tool")
    answers = answers_key(record, prefix)
    gold = as_list(record.get(answers))
    for t in range(len(as_list(record.get(f"{prefix}_tasks")))):
        yield ItemPart(pointer(f"{prefix}_tasks", t), "user text", t)
        yield ItemPart(pointer(f"{prefix}_task_types", t), "type", t)
        if t:
            yield ItemPart(pointer(f"{prefix}_turn_subtypes", t - 1), "subtype", t)
        for i, node in enumerate(as_list(gold[t]) if t < len(gold) else []):
            for name, kind in _node_parts(as_object(node)):
                yield ItemPart(pointer(answers, t, i) + name, kind, t)


def _node_parts(node: Mapping[str, Any]) -> Iterator[tuple[str, PartKind]]:
    action = as_object(node.get("action"))
    name = str(action.get("name"))
    if name not in VIRTUAL:
        yield "/action/name", "call"
        for argument in as_object(action.get("arguments")):
            yield "/action/arguments" + pointer(argument), "argument"
        if "alternatives" in node:
            yield "/alternatives", "alternatives"
        yield "/observation", "observation"
    else:
        yield "/observation", "question" if name == ASK else "answer"
    if name == ASK:
        yield "/user_input", "reply"
    yield "/dependency_list", "edges"
    if "dependency_kinds" in node:
        yield "/dependency_kinds", "edge kinds"


def _graph_doubts(session: Session, t: int, place: str) -> Iterator[Finding]:
    """Values that come from a call on which the written graph does not depend."""
    task = session.tasks[t]
    if heights(task.deps) is None:
        return
    needs = ancestors(task.deps)
    for edge in infer_edges(session, t):
        if edge.source not in needs[edge.target]:
            message = f"seems to need node {edge.source}: {edge.evidence} (confidence {edge.confidence:.2f})"
            yield fault("graph", message, f"{place}/{edge.target}/dependency_list", "warning")


def _graph(session: Session, t: int, written_nodes: Sequence[Any]) -> TaskGraph:
    """Args: written_nodes: the nodes of the task as written."""
    kinds = [as_object(as_object(node).get("dependency_kinds")) for node in written_nodes]
    task = session.tasks[t]
    names = tuple(node.name for node in task.nodes)
    inferred = {(edge.source, edge.target): edge for edge in infer_edges(session, t)}
    stated = {(j, i) for i, node in enumerate(task.nodes) for j in node.deps}
    edges: list[GraphEdge] = []
    for source, target in sorted(stated | inferred.keys(), key=lambda pair: pair[::-1]):
        edge = inferred.get((source, target))
        set_kind = str(kinds[target].get(str(source), "")) if 0 <= target < len(kinds) else ""
        both = GraphEdge(source, target, (source, target) in stated, edge is not None, set_kind=set_kind)
        if edge:
            both = replace(both, kind=edge.kind, evidence=edge.evidence, confidence=edge.confidence)
        edges.append(both)
    if heights(task.deps) is None:
        return TaskGraph(names, tuple(edges))
    schedule = Schedule(names, task.deps)
    shortest = schedule.first_shortest() or []
    more = list(islice(_orders(schedule, schedule.start()[0]), MAX_ORDERS + 1))
    orders = [tuple(shortest), *(order for order in more if order != tuple(shortest))]
    return TaskGraph(
        names,
        tuple(edges),
        tuple(orders[:MAX_ORDERS]),
        len(more) > MAX_ORDERS or not more,
        schedule.min_length,
        derived_type(task),
    )


def _orders(schedule: Schedule, state: ScheduleState) -> Iterator[tuple[GraphStep, ...]]:
    if schedule.finished(state):
        yield ()
    elif len(schedule.ready(state)) <= _MAX_LOOKAHEAD:
        for step in schedule.accepted(state):
            yield from ((step, *rest) for rest in _orders(schedule, schedule.after(state, step)))


def derived_type(task: Task) -> str:
    """The type of a task that its graph of calls has."""
    asks = any(node.name == ASK for node in task.nodes)
    return "Clarify" if asks else TYPE_OF_TOPOLOGY[topology(call_graph(task))]


SESSIONS = SessionFormat()
