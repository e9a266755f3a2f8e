"""Describes a set of sessions in numbers: tasks, intents, transitions, graphs, tools, parameters, texts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import SUBTYPES, TASK_TYPES, VIRTUAL, Session, Task, read_session
from wildtool.benchmarks.wildtoolbench.stats.diversity import diversity_metrics
from wildtool.benchmarks.wildtoolbench.stats.figure5 import figure5
from wildtool.benchmarks.wildtoolbench.stats.shapes import (
    PARAMETER_KINDS,
    call_graph,
    has_diamond,
    kinds_defined,
    kinds_used,
    questions,
    same_name_groups,
    transitions,
    unused_tools,
)
from wildtool.toolcall.graph import depth, topology
from wildtool.toolcall.schema import as_schema
from wildtool.types import Metric


def stats(records: Iterable[Mapping[str, Any]]) -> list[Metric]:
    """The numbers of a set of records.

    Raises:
        DataError: for a record that cannot be read, by its number from 1.
    """
    read = (_read(record, number) for number, record in enumerate(records, 1))
    return describe([session for session in read if session is not None])


def _read(record: Mapping[str, Any], number: int) -> Session | None:
    """A session; what made it may name its domain, which does not claim that the set is balanced over domains."""
    session = read_session(record, f"record {number}")
    domain = as_schema(record.get("made_by")).get("domain")
    if session is None or session.domain or not isinstance(domain, str):
        return session
    return replace(session, domain=domain)


def describe(sessions: Sequence[Session]) -> list[Metric]:
    """The numbers of a set of sessions: counts (of the group's denominator), means, and the paper's panels."""
    tasks = [task for session in sessions for task in session.tasks]
    counts = [Metric("size", "sessions", len(sessions), len(sessions), len(sessions), kind="count")]
    counts.append(Metric("size", "tasks", len(tasks), len(tasks), len(tasks), kind="count"))
    own = [*counts, *_means(sessions, tasks), *_session_counts(sessions), *_task_counts(tasks)]
    return [*own, *diversity_metrics(sessions), *figure5(sessions)]


def _means(sessions: Sequence[Session], tasks: Sequence[Task]) -> Iterator[Metric]:
    per_session: dict[str, Callable[[Session], int]] = {
        "tools a session": lambda session: len(session.tools),
        "tools without gold call a session": lambda session: len(unused_tools(session)),
        "user turns a session": lambda session: sum(1 + questions(task) for task in session.tasks),
    }
    per_task: dict[str, Callable[[Task], int]] = {
        "calls a task": _calls,
        "steps a task": _steps,
        "characters a user text": lambda task: len(task.text),
    }
    for name, measure in per_session.items():
        yield _mean(name, [measure(session) for session in sessions])
    for name, measure in per_task.items():
        yield _mean(name, [measure(task) for task in tasks])


def _session_counts(sessions: Sequence[Session]) -> Iterator[Metric]:
    used = Counter(kind for session in sessions for kind in kinds_used(session))
    defined = Counter(kind for session in sessions for kind in kinds_defined(session))
    yield from _counts("transitions", Counter(str(transitions(s)) for s in sessions), list("0123"))
    yield from _counts("tools", _numbers(len(s.tools) for s in sessions))
    yield from _counts("language", Counter(s.lang for s in sessions))
    yield from _counts("domain", Counter(s.domain for s in sessions if s.domain))
    yield from _counts("subdomain", Counter(f"{s.domain}: {s.subdomain}" for s in sessions if s.subdomain))
    yield from _counts("parameter kind in gold", used, PARAMETER_KINDS)
    yield from _counts("parameter kind defined", defined, PARAMETER_KINDS)


def _task_counts(tasks: Sequence[Task]) -> Iterator[Metric]:
    graphs = [call_graph(task) for task in tasks]
    special = Counter(
        {
            "same-name calls": sum(same_name_groups(task) > 0 for task in tasks),
            "diamond": sum(map(has_diamond, graphs)),
        }
    )
    yield from _counts("task type", Counter(task.type for task in tasks), TASK_TYPES)
    yield from _counts("hidden intent", Counter(task.subtype for task in tasks), ("First Turn", *SUBTYPES))
    yield from _counts("topology", Counter(topology(graph) for graph in graphs))
    yield from _counts("special shape", special, total=len(tasks))
    yield from _counts("calls", _numbers(map(_calls, tasks)))
    yield from _counts("longest chain of calls", _numbers(depth(graph) or 0 for graph in graphs))
    yield from _counts("steps", _numbers(map(_steps, tasks)))
    yield from _counts("questions to the user", _numbers(map(questions, tasks)))


def _calls(task: Task) -> int:
    return sum(node.name not in VIRTUAL for node in task.nodes)


def _steps(task: Task) -> int:
    """Steps of the shortest run, questions and answer included; 0 where the graph cannot be executed."""
    return depth(task.deps) or 0


def _numbers(values: Iterable[int]) -> Counter[str]:
    """A histogram in ascending order."""
    return Counter({str(value): count for value, count in sorted(Counter(values).items())})


def _counts(
    group: str, counts: Mapping[str, int], first: Sequence[str] = (), *, total: int | None = None
) -> Iterator[Metric]:
    """One count per name: those of `first` always and in front, then the others in order of appearance."""
    whole = sum(counts.values()) if total is None else total
    for name in dict.fromkeys([*first, *counts]):
        number = counts.get(name, 0)
        yield Metric(group, name, number, number, whole, kind="count")


def _mean(name: str, values: Sequence[int]) -> Metric:
    value = sum(values) / len(values) if values else None
    return Metric("mean", name, value, sum(values), len(values), kind="mean")
