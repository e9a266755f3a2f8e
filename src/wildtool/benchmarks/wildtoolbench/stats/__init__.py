"""Describes a set of sessions in numbers: tasks, intents, transitions, graphs, tools, parameters, texts."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import (
    ASK,
    SUBTYPES,
    TASK_TYPES,
    VIRTUAL,
    GoldNode,
    Session,
    Task,
    read_records,
    read_session,
)
from wildtool.benchmarks.wildtoolbench.grounding import (
    Leaf,
    SearchText,
    leaves,
    names_value,
    parameter_schemas,
)
from wildtool.benchmarks.wildtoolbench.stats import shapes
from wildtool.benchmarks.wildtoolbench.stats.proposals import ProposalCounts, missing_values
from wildtool.stats.describe import count_metrics, histogram, mean_metric, share_metric
from wildtool.toolcall.graph import ancestors, depth, topology
from wildtool.toolcall.schema import as_schema
from wildtool.toolcall.text.similarity import near_duplicates
from wildtool.types import Item, Metric, Source


def stats(source: Source, items: Iterable[Item]) -> list[Metric]:
    """The numbers of a file of sessions. Its records say more than its items, which are not read. Raises DataError."""
    return stats_of(record for _, record in read_records(source.path))


def stats_of(records: Iterable[Mapping[str, Any]]) -> list[Metric]:
    """The numbers of a set of records.

    Raises:
        DataError: for a record that cannot be read, by its number from 1.
    """
    proposals = ProposalCounts()
    sessions = [_read(proposals.add(record), number) for number, record in enumerate(records, 1)]
    return [*describe_sessions(sessions), *proposals.metrics()]


def _read(record: Mapping[str, Any], number: int) -> Session:
    """A session, with the domain that its generator names; that one does not count for the balance of a set."""
    session = read_session(record, f"record {number}")
    domain = as_schema(record.get("made_by")).get("domain")
    return session if session.domain or not isinstance(domain, str) else replace(session, domain=domain)


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
        "tools without gold call a session": lambda session: len(shapes.unused_tools(session)),
        "user turns a session": shapes.user_turns,
    }
    per_task: dict[str, Callable[[Task], int]] = {
        "calls per task": shapes.call_count,
        "steps a task": _steps,
        "characters per user message": lambda task: len(task.text),
    }
    for name, measure in per_session.items():
        yield mean_metric("mean", name, [measure(session) for session in sessions])
    for name, measure in per_task.items():
        yield mean_metric("mean", name, [measure(task) for task in tasks])


def _session_counts(sessions: Sequence[Session]) -> Iterator[Metric]:
    used = Counter(kind for session in sessions for kind in shapes.kinds_used(session))
    defined = Counter(kind for session in sessions for kind in shapes.kinds_defined(session))
    yield from count_metrics("transitions", Counter(str(s.transitions) for s in sessions), list("0123"))
    yield from count_metrics("tools", histogram(len(s.tools) for s in sessions))
    yield from count_metrics("language", Counter(s.lang for s in sessions))
    yield from count_metrics("domain", Counter(s.domain for s in sessions if s.domain))
    yield from count_metrics("subdomain", _subdomains(sessions))
    yield from missing_values(sessions)
    yield from count_metrics("parameter kind in gold", used, shapes.PARAMETER_KINDS)
    yield from count_metrics("parameter kind defined", defined, shapes.PARAMETER_KINDS)


def _task_counts(tasks: Sequence[Task]) -> Iterator[Metric]:
    graphs = [shapes.call_graph(task) for task in tasks]
    special = Counter(
        {
            "same-name calls": sum(shapes.same_name_groups(task) > 0 for task in tasks),
            "diamond": sum(map(shapes.has_diamond, graphs)),
        }
    )
    yield from count_metrics("task type", Counter(task.type for task in tasks), TASK_TYPES)
    yield from count_metrics(
        "hidden intent", Counter(task.subtype for task in tasks), ("First Turn", *SUBTYPES)
    )
    yield from count_metrics("topology", Counter(topology(graph) for graph in graphs))
    yield from count_metrics("special shape", special, total=len(tasks))
    yield from count_metrics("calls", histogram(map(shapes.call_count, tasks)))
    yield from count_metrics("longest chain of calls", histogram(depth(graph) or 0 for graph in graphs))
    yield from count_metrics("steps", histogram(map(_steps, tasks)))
    yield from count_metrics("questions to the user", histogram(map(shapes.questions, tasks)))


def _steps(task: Task) -> int:
    """Steps of the shortest run, questions and answer included; 0 where the graph cannot be executed."""
    return depth(task.deps) or 0


# Figure 5 of the paper --------------------------------------------------------------------------------


_TYPES: Mapping[str, float] = dict(zip(TASK_TYPES, (0.25, 0.152, 0.016, 0.082, 0.25, 0.25), strict=True))
_INTENTS: Mapping[str, float] = dict(zip(SUBTYPES, (348 / 768, 241 / 768, 179 / 768), strict=True))
_PARAMETERS = {
    "string": 0.57, "integer": 0.16, "string enum": 0.072, "boolean": 0.066, "array": 0.062, "object": 0.0283,
    "float": 0.0264, "nested object": 0.0098, "integer enum": 0.006,
}  # fmt: skip
_TURNS = {4: 73, 5: 93, 6: 50, 7: 30, 8: 9, 9: 1}
_CALLS = {1: 517, 2: 99, 3: 47, 4: 45, 5: 22, 6: 16, 7: 6, 8: 6, 9: 3, 10: 11}
_MOST_CALLS = 10
"""Tasks with this many calls or more are counted together."""
_TRANSITIONS = {0: 4, 1: 36, 2: 108, 3: 108}
_DOMAINS: Mapping[str, Mapping[str, float]] = {
    "Location": {"geographic": 12.2, "weather": 3.9},
    "Development": {"coding": 9.2, "data": 5.1, "financial": 4.6, "security": 3.5},
    "Entertainment": {"game": 6.7, "media": 5.8, "music": 2.5, "others": 2.3},
    "Information": {"news": 5.3, "social": 4.1, "UGC": 3.0},
    "Lifestyle": {"health": 4.8, "sports": 2.8, "food": 2.1, "calendar": 1.4},
    "Business": {"business": 5.3, "finance": 4.4},
    "Public": {"government": 6.2, "science": 1.8, "unnamed": 0.5},
    "Utilities": {"daily": 1.8, "system": 0.7},
}
_DOMAIN_SHARES = (16.1, 22.4, 17.3, 12.4, 11.1, 9.7, 8.5, 2.5)
NO_DOMAIN = "not stated"


def figure5(sessions: Sequence[Session]) -> Iterator[Metric]:
    """All panels; a `target` is the paper's number, and a name without one is the set's own."""
    tasks = [task for session in sessions for task in session.tasks]
    later = [task.subtype for session in sessions for task in session.tasks[1:]]
    kinds = Counter(kind for session in sessions for kind in parameter_classes(session))
    yield from _shares("task types", Counter(task.type for task in tasks), _TYPES)
    yield from _shares("hidden intent of later tasks", Counter(later), _INTENTS)
    yield from _shares("parameter types of tools", kinds, _PARAMETERS)
    yield from _turns(sessions)
    yield from _calls([calls for task in tasks if (calls := shapes.call_count(task))])
    yield from _nodes(tasks)
    yield from _changes(sessions)
    yield from _domains(sessions)


def parameter_classes(session: Session) -> Iterator[str]:
    """The class of each parameter of each tool, at the first level."""
    for schema in parameter_schemas(session).values():
        for child in as_schema(schema.get("properties")).values():
            below = as_schema(child)
            type_ = {"number": "float"}.get(str(below.get("type")), str(below.get("type")))
            if "enum" in below:
                yield f"{type_} enum"
            elif type_ == "object" and any(map(_composed, as_schema(below.get("properties")).values())):
                yield "nested object"
            else:
                yield type_


def _composed(schema: object) -> bool:
    return as_schema(schema).get("type") in ("object", "array")


def _turns(sessions: Sequence[Session]) -> Iterator[Metric]:
    """User messages: tasks, and answers to questions."""
    turns = [shapes.user_turns(session) for session in sessions]
    yield from _shares("user turns a session", histogram(turns), _of_counts(_TURNS))
    yield mean_metric(_title("user turns a session"), "mean", turns, 5.27)


def _calls(counts: Sequence[int]) -> Iterator[Metric]:
    panel = "calls of tasks that make any"
    targets = {_calls_name(count): share for count, share in _parts(_CALLS).items()}
    yield from _shares(panel, Counter(map(_calls_name, counts)), targets)
    yield mean_metric(_title(panel), "mean", counts, 1.92)


def _nodes(tasks: Sequence[Task]) -> Iterator[Metric]:
    """Nodes of the graphs of Sequential and Mixed tasks, the final answer included."""
    for type_, target in (("Sequential Multi-Tool", 53 / 16), ("Mixed Multi-Tool", 544 / 84)):
        sizes = [shapes.call_count(task) + 1 for task in tasks if task.type == type_]
        yield mean_metric(_title("nodes of a graph"), type_, sizes, target)


def _changes(sessions: Sequence[Session]) -> Iterator[Metric]:
    counts = histogram(session.transitions for session in sessions)
    yield from _shares("changes of type in a session", counts, _of_counts(_TRANSITIONS))
    pairs = [a.group != b.group for s in sessions for a, b in pairwise(s.tasks)]
    yield share_metric(
        _title("changes of type in a session"), "neighbours that differ", sum(pairs), len(pairs), 0.75
    )


def _domains(sessions: Sequence[Session]) -> Iterator[Metric]:
    domains = Counter(session.domain or NO_DOMAIN for session in sessions)
    yield from _shares(
        "domains", domains, dict(zip(_DOMAINS, (share / 100 for share in _DOMAIN_SHARES), strict=True))
    )
    targets = {f"{d}: {name}": share / 100 for d, names in _DOMAINS.items() for name, share in names.items()}
    yield from _shares("subdomains", _subdomains(sessions), targets, of=len(sessions))


def _subdomains(sessions: Iterable[Session]) -> Counter[str]:
    return Counter(f"{s.domain or NO_DOMAIN}: {s.subdomain}" for s in sessions if s.subdomain)


def _calls_name(count: int) -> str:
    return str(count) if count < _MOST_CALLS else f"{_MOST_CALLS} or more"


def _parts(counts: Mapping[int, int]) -> dict[int, float]:
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()}


def _of_counts(counts: Mapping[int, int]) -> dict[str, float]:
    return {str(name): share for name, share in _parts(counts).items()}


def _shares(
    panel: str, counts: Mapping[str, int], targets: Mapping[str, float], of: int | None = None
) -> Iterator[Metric]:
    total = sum(counts.values()) if of is None else of
    for name in dict.fromkeys([*targets, *counts]):
        yield share_metric(_title(panel), name, counts.get(name, 0), total, targets.get(name))


def _title(panel: str) -> str:
    return f"Figure 5: {panel}"


# Diversity --------------------------------------------------------------------------------------------


_WORDS = re.compile(r"[^\W\d_]+")
_WIDE = re.compile(r"[\u2e80-\U0003ffff]")
ORIGINS = ("user", "history", "observation", "other")
_QUESTIONS = 324 / 256
"""Questions of a Clarify task in the published set."""


def diversity_metrics(sessions: Sequence[Session]) -> Iterator[Metric]:
    """The diversity of a set, beyond the paper's figure."""
    yield from _tools(sessions)
    yield from _origins(sessions)
    yield from _tasks([task for session in sessions for task in session.tasks])
    yield from _texts(sessions)


def _tools(sessions: Sequence[Session]) -> Iterator[Metric]:
    """How the tools of the set are used; tools of one name are one."""
    offered = Counter(name for session in sessions for name in parameter_schemas(session))
    used = Counter(node.name for session in sessions for node in _calls_per_task(session))
    subsets = Counter(json.dumps(sorted(parameter_schemas(session))) for session in sessions)
    yield share_metric("use of tools", "tools that some gold call uses", len(used), len(offered))
    for name, pick in (("fewest calls of a tool", min), ("most calls of a tool", max)):
        value = pick((used[tool] for tool in offered), default=0)
        yield Metric("use of tools", name, value, value, 0, kind="count")
    yield mean_metric("use of tools", "calls of a tool", [used[tool] for tool in offered])
    alone = sum(count == 1 for count in subsets.values())
    yield share_metric("use of tools", "sessions with tools that no other has", alone, len(sessions))


def _calls_per_task(session: Session) -> Iterator[GoldNode]:
    for task in session.tasks:
        for node in task.nodes:
            if node.name not in VIRTUAL:
                yield node


def _origins(sessions: Sequence[Session]) -> Iterator[Metric]:
    """Where each gold value occurs first: in the user text, in earlier tasks, in a result of this task, elsewhere."""
    counts = Counter(origin for session in sessions for origin in origins(session))
    for name in ORIGINS:
        yield share_metric("origin of gold values", name, counts[name], counts.total())


def origins(session: Session) -> Iterator[str]:
    """The origin of every scalar in gold arguments; `other` is a default, the date, or a derived value."""
    schemas = parameter_schemas(session)
    history: list[SearchText] = []
    for task in session.tasks:
        user_texts = [SearchText.of(task.text)]
        user_texts += [
            SearchText.of(node.user_input) for node in task.nodes if node.name == ASK and node.user_input
        ]
        observations = [SearchText.of(node.observation) for node in task.nodes]
        needs = ancestors(task.deps)
        for i, node in enumerate(task.nodes):
            for leaf in (
                leaves(node.arguments, schemas.get(node.name, {})) if node.name not in VIRTUAL else ()
            ):
                yield _origin(
                    leaf, user_texts, history, [observations[j] for j in needs[i] if j < len(observations)]
                )
        history += [*user_texts, *observations]


def _origin(
    leaf: Leaf,
    user_texts: Sequence[SearchText],
    history: Sequence[SearchText],
    observations: Sequence[SearchText],
) -> str:
    for name, passages in zip(ORIGINS, (user_texts, history, observations), strict=False):
        if any(names_value(passage, leaf.value) for passage in passages):
            return name
    return ORIGINS[-1]


def _tasks(tasks: Sequence[Task]) -> Iterator[Metric]:
    later = [task for task in tasks if task.subtype != "First Turn"]
    hiding = sum(task.subtype in SUBTYPES for task in later)
    group = "tasks in themselves"
    yield share_metric(group, "later tasks that hide something", hiding, len(later), target=1.0)
    counts = [shapes.questions(task) for task in tasks if task.type == "Clarify"]
    yield mean_metric(group, "questions of a Clarify task", counts, _QUESTIONS)
    widths = [width for task in tasks if (width := _width(shapes.call_graph(task)))]
    yield mean_metric(group, "calls at once, at most, of a task with calls", widths)


def _width(graph: Sequence[Sequence[int]]) -> int:
    """Most calls in one step when each call is made as early as possible; 0 without calls."""
    heights: list[int] = []
    for k, needed in enumerate(graph):
        heights.append(1 + max((heights[j] for j in needed if j < k), default=-1))
    return max(Counter(heights).values(), default=0)


def _texts(sessions: Sequence[Session]) -> Iterator[Metric]:
    """A Chinese character counts as a word."""
    texts = [task.text for session in sessions for task in session.tasks]
    words = [word for text in texts for word in _spoken(text)]
    near = sum(1 for _ in near_duplicates((text, "") for text in texts))
    yield mean_metric("user texts", "words of a text", [sum(1 for _ in _spoken(text)) for text in texts])
    yield share_metric("user texts", "different words among all", len(set(words)), len(words))
    yield share_metric("user texts", "nearly equal to another", near, len(texts), target=0.0)


def _spoken(text: str) -> Iterator[str]:
    for word in _WORDS.findall(text.casefold()):
        if _WIDE.search(word):
            yield from word
        else:
            yield word
