"""Describes a set of sessions in numbers: tasks, intents, transitions, graphs, tools, parameters, texts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import (
    SUBTYPES,
    TASK_TYPES,
    Session,
    Task,
    read_records,
    read_session,
)
from wildtool.benchmarks.wildtoolbench.stats.diversity import diversity_metrics
from wildtool.benchmarks.wildtoolbench.stats.figure5 import figure5
from wildtool.benchmarks.wildtoolbench.stats.shapes import (
    PARAMETER_KINDS,
    call_count,
    call_graph,
    has_diamond,
    kinds_defined,
    kinds_used,
    questions,
    same_name_groups,
    unused_tools,
    user_turns,
)
from wildtool.stats.describe import count_metrics, histogram, mean_metric
from wildtool.toolcall.graph import depth, topology
from wildtool.toolcall.schema import as_schema
from wildtool.types import Item, Metric, Source


def stats(source: Source, items: Iterable[Item]) -> list[Metric]:
    """The numbers of a file of sessions. Its records say more than its items, which are not read. Raises DataError."""
    return stats_of(record for _, record in read_records(source.path))


def stats_of(records: Iterable[Mapping[str, Any]]) -> list[Metric]:
    """The numbers of a set of records.

    Raises:
        DataError: for a record that cannot be read, by its number from 1.
    """
    read = (_read(record, number) for number, record in enumerate(records, 1))
    return describe_sessions([session for session in read if session is not None])


def _read(record: Mapping[str, Any], number: int) -> Session | None:
    """A session, with the domain that its generator names; that one does not count for the balance of a set."""
    session = read_session(record, f"record {number}")
    domain = as_schema(record.get("made_by")).get("domain")
    if session is None or session.domain or not isinstance(domain, str):
        return session
    return replace(session, domain=domain)


def describe_sessions(sessions: Sequence[Session]) -> list[Metric]:
    """The numbers of a set of sessions: counts, means, diversity, and the panels of the paper's Figure 5."""
    tasks = [task for session in sessions for task in session.tasks]
    sizes = {"sessions": len(sessions), "tasks": len(tasks)}
    counts = [metric for name, n in sizes.items() for metric in count_metrics("size", {name: n})]
    own = [*counts, *_means(sessions, tasks), *_session_counts(sessions), *_task_counts(tasks)]
    return [*own, *diversity_metrics(sessions), *figure5(sessions)]


def _means(sessions: Sequence[Session], tasks: Sequence[Task]) -> Iterator[Metric]:
    per_session: dict[str, Callable[[Session], int]] = {
        "tools per session": lambda session: len(session.tools),
        "tools without gold call a session": lambda session: len(unused_tools(session)),
        "user turns a session": user_turns,
    }
    per_task: dict[str, Callable[[Task], int]] = {
        "calls per task": call_count,
        "steps a task": _steps,
        "characters per user message": lambda task: len(task.text),
    }
    for name, measure in per_session.items():
        yield mean_metric("mean", name, [measure(session) for session in sessions])
    for name, measure in per_task.items():
        yield mean_metric("mean", name, [measure(task) for task in tasks])


def _session_counts(sessions: Sequence[Session]) -> Iterator[Metric]:
    used = Counter(kind for session in sessions for kind in kinds_used(session))
    defined = Counter(kind for session in sessions for kind in kinds_defined(session))
    yield from count_metrics("transitions", Counter(str(s.transitions) for s in sessions), list("0123"))
    yield from count_metrics("tools", histogram(len(s.tools) for s in sessions))
    yield from count_metrics("language", Counter(s.lang for s in sessions))
    yield from count_metrics("domain", Counter(s.domain for s in sessions if s.domain))
    yield from count_metrics(
        "subdomain", Counter(f"{s.domain}: {s.subdomain}" for s in sessions if s.subdomain)
    )
    yield from count_metrics("parameter kind in gold", used, PARAMETER_KINDS)
    yield from count_metrics("parameter kind defined", defined, PARAMETER_KINDS)


def _task_counts(tasks: Sequence[Task]) -> Iterator[Metric]:
    graphs = [call_graph(task) for task in tasks]
    special = Counter(
        {
            "same-name calls": sum(same_name_groups(task) > 0 for task in tasks),
            "diamond": sum(map(has_diamond, graphs)),
        }
    )
    yield from count_metrics("task type", Counter(task.type for task in tasks), TASK_TYPES)
    yield from count_metrics(
        "hidden intent", Counter(task.subtype for task in tasks), ("First Turn", *SUBTYPES)
    )
    yield from count_metrics("topology", Counter(topology(graph) for graph in graphs))
    yield from count_metrics("special shape", special, total=len(tasks))
    yield from count_metrics("calls", histogram(map(call_count, tasks)))
    yield from count_metrics("longest chain of calls", histogram(depth(graph) or 0 for graph in graphs))
    yield from count_metrics("steps", histogram(map(_steps, tasks)))
    yield from count_metrics("questions to the user", histogram(map(questions, tasks)))


def _steps(task: Task) -> int:
    """Steps of the shortest run, questions and answer included; 0 where the graph cannot be executed."""
    return depth(task.deps) or 0
