"""Where session files lie and what they hold: JSON lines in WildToolBench's format, any language; errors name file, line,
id and field."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import pairwise
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from wildtool.benchmark import Benchmark
from wildtool.data.data_set import DataSet, ResultRow, Results, deferred, source_of_file
from wildtool.data.files import as_named
from wildtool.data.pinned import PinnedFile, ReportProgress, fetch, official_folder
from wildtool.errors import DataError
from wildtool.json_codec import (
    as_list,
    as_object,
    as_objects,
    checked,
    dumps,
    json_type,
    numbered_json_lines,
    required_field,
)
from wildtool.types import Item, Reply, Source, Tool, Transcript

_TEXT = json.JSONEncoder(ensure_ascii=False)
"""Writes JSON as the original does; made once, since `json.dumps` would make one at each call."""

P = ParamSpec("P")
T = TypeVar("T")

ASK = "ask_user_for_required_parameters"
"""Virtual action: the model asks the user a question, in plain text."""
ANSWER = "prepare_to_answer"
"""Virtual action: the model gives its final answer, in plain text."""
VIRTUAL = frozenset({ASK, ANSWER})

EDGE_KINDS = ("barrier", "argument", "logical", "control")
"""Why one node needs another, as a node's `dependency_kinds` may say: it asks or answers, it takes a value, it has to be
done after, or whether it is done depends on the result."""

LANGUAGE_PREFIXES = {"english": "en", "chinese": "zh"}
"""Field prefix of a language to its code; any other prefix is its own code."""
TASK_TYPES = (
    "Single-Tool",
    "Parallel Multi-Tool",
    "Sequential Multi-Tool",
    "Mixed Multi-Tool",
    "Clarify",
    "Chat",
)
CHAT_NOTE = "any text passes, as published; nothing checks what it says"
"""What a reader of a Chat number must know."""
SUBTYPES = ("Coreferential Reference", "Partial Information", "Long-Range Dependency")


@dataclass(frozen=True)
class GoldNode:
    """One gold action; its texts are kept with it, since every model is judged by them."""

    name: str
    arguments: dict[str, Any]
    observation: Any
    """What the tool returns; for `ASK` the gold question, for `ANSWER` the gold answer."""
    deps: tuple[int, ...]
    """Positions of the nodes it needs, as written."""
    user_input: str | None = None
    """What the user replies to the question of an `ASK` node."""
    idx: Any = None
    """Its number as written, which only the profile `paper` reads; None where there is none."""
    alternatives: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    """By argument, other values that are as right as gold's; null is the same as leaving it out. Only the profile `fixed`
    reads them."""

    @cached_property
    def argument_text(self) -> str:
        """Its arguments as JSON, as the original writes them."""
        return _TEXT.encode(self.arguments)

    @cached_property
    def observation_text(self) -> str:
        """What the tool returns as JSON, a text in quotes."""
        return _TEXT.encode(self.observation)


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a session: what the user says and the gold actions."""

    text: str
    nodes: tuple[GoldNode, ...]
    type: str
    subtype: str
    """Kind of hidden intent; `First Turn` for the first task."""

    @property
    def deps(self) -> list[tuple[int, ...]]:
        return [node.deps for node in self.nodes]

    @property
    def group(self) -> str:
        """The group of its type: the three multi-tool types are one."""
        return "Multi-Tool" if "Multi-Tool" in self.type else self.type


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Session:
    """One record: tools and tasks that build on each other. Itself alone is equal to it, so that what follows from it
    can be kept with it (`cached_per_session`)."""

    id: str
    lang: str
    date: str
    """Text of the date line, such as `2024-05-05 14:29:52 Sunday`."""
    tools: tuple[Tool, ...]
    """As written in the record (decimals have the type name `float`)."""
    sent_tools: tuple[Tool, ...]
    """As sent to a model (`number` instead of `float`)."""
    tasks: tuple[Task, ...]
    answer_counts: tuple[int, ...] | None
    """Node counts a second `answer_list` field gives per task: the official AP divides by these."""
    domain: str = ""
    subdomain: str = ""

    @property
    def transitions(self) -> int:
        """How often the group changes from one task to the next (0 to 3 for four tasks)."""
        return sum(before.group != after.group for before, after in pairwise(self.tasks))


def load(
    benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
) -> Iterator[Item]:
    """Sessions as `read_items` gives them, those of a domain if a split is named."""
    return (item for item in read_items(source.path, lang) if split in (None, item.split))


def read_items(path: Path, lang: str | None = None) -> Iterator[Item]:
    """Sessions of a JSON-lines file as items, in file order.

    Args:
        lang: language code or field prefix to read; None takes the first language a record has.

    Raises:
        DataError: naming file, line, id and field, what was expected and what was found.
    """
    lines: dict[str, int] = {}
    for number, record in read_records(path):
        prefixes = language_prefixes(record)
        wanted = [p for p in prefixes if lang in (None, p, LANGUAGE_PREFIXES.get(p, p))]
        if prefixes and not wanted:
            continue
        session = read_session(record, f"{path}:{number}", next(iter(wanted), ""))
        if session.id in lines:
            raise DataError(f"{path}:{number}: id {session.id!r} is already used in line {lines[session.id]}")
        lines[session.id] = number
        units = tuple(str(position) for position in range(len(session.tasks)))
        yield Item(session.id, units, session, session.domain, session.lang)


def read_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and JSON object of every non-blank line."""
    return numbered_json_lines(path, "session")


def language_prefixes(record: Mapping[str, Any]) -> list[str]:
    """Field prefixes of the languages a record has, in order of appearance."""
    return [key.removesuffix("_tasks") for key in record if key.endswith("_tasks")]


def read_session(record: Mapping[str, Any], where: str, prefix: str = "") -> Session:
    """One record as a session, in the language of a field prefix; the first that it has if none is named."""
    prefix = prefix or next(iter(language_prefixes(record)), "")
    if not prefix:
        raise DataError(
            f"{where}: no field *_tasks (such as english_tasks); found fields {sorted(record)[:12]}"
        )
    reader = _Fields(record, where, prefix)
    tools = reader.tools()
    texts = reader.texts("tasks")
    if not texts:
        raise reader.fault(f"{prefix}_tasks", "a list with at least one user text", texts)
    types = reader.texts("task_types", len(texts))
    subtypes = reader.texts("turn_subtypes", len(texts) - 1)
    answers, counts = reader.answers(len(texts))
    tasks = tuple(
        Task(text, nodes, type_, subtype)
        for text, nodes, type_, subtype in zip(texts, answers, types, ["First Turn", *subtypes], strict=True)
    )
    return Session(
        id=reader.id(),
        lang=LANGUAGE_PREFIXES.get(prefix, prefix),
        date=reader.text(f"{prefix}_env_info"),
        tools=tools,
        sent_tools=send_tools(tools),
        tasks=tasks,
        answer_counts=counts,
        domain=str(record.get("domain", "")),
        subdomain=str(record.get("subdomain", "")),
    )


def send_tools(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tool list as sent: the type name `float` replaced by `number`, in the JSON text as the original does (Q07)."""
    if b'"type":"float"' not in dumps(list(tools)):
        return tuple(tools)
    text = json.dumps(list(tools), ensure_ascii=False)
    return tuple(json.loads(text.replace('"type": "float"', '"type": "number"')))


class _Fields:
    """Reads the fields of one record, with errors that name the place."""

    def __init__(self, record: Mapping[str, Any], where: str, prefix: str) -> None:
        self._record = record
        self._prefix = prefix
        self._where = f"{where} (id {record.get('id')!r})"

    def fault(self, field: str, expected: str, value: Any) -> DataError:
        return DataError(f"{self.at(field)}: expected {expected}, found {json_type(value)}")

    def at(self, field: str) -> str:
        """The place of a field, or of a part of one, for errors."""
        return f"{self._where}: field {field}"

    def text(self, field: str) -> str:
        return checked(self._record.get(field), str, self.at(field))

    def id(self) -> str:
        """The name of the session."""
        name = self.text("id")
        if not name:
            raise DataError(f"{self.at('id')}: is empty; give each session another name")
        return name

    def entries(self, field: str, length: int | None = None) -> list[Any]:
        items = checked(self._record.get(field), list, self.at(field))
        if length is not None and len(items) != length:
            raise DataError(f"{self.at(field)}: expected {length} entries, found {len(items)}")
        return items

    def texts(self, field: str, length: int | None = None) -> list[str]:
        name = f"{self._prefix}_{field}"
        values = enumerate(self.entries(name, length))
        return [checked(value, str, self.at(f"{name}[{position}]")) for position, value in values]

    def tools(self) -> tuple[Tool, ...]:
        name = f"{self._prefix}_tools"
        value = self._record.get(name)
        if isinstance(value, str):
            # Some published files hold the list as JSON text.
            try:
                value = json.loads(value)
            except (ValueError, RecursionError) as error:
                raise self.fault(name, "a list of tools", value) from error
        tools = checked(value, list, self.at(name), "a list of tools")
        for position, tool in enumerate(tools):
            if not isinstance(as_object(as_object(tool).get("function")).get("name"), str):
                raise self.fault(f"{name}[{position}].function.name", "an OpenAI tool with a name", tool)
        return tuple(tools)

    def answers(self, length: int) -> tuple[list[tuple[GoldNode, ...]], tuple[int, ...] | None]:
        """Gold nodes per task from `<language>_answer_list` (else `answer_list`), and the counts of `answer_list`."""
        name = f"{self._prefix}_answer_list"
        if name not in self._record:
            if "answer_list" not in self._record:
                raise self.fault(
                    name, f"a list of {length} lists of nodes (also accepted: answer_list)", None
                )
            name = "answer_list"
        tasks = [
            self._nodes(self.at(f"{name}[{i}]"), value) for i, value in enumerate(self.entries(name, length))
        ]
        counts: tuple[int, ...] | None = None
        if "answer_list" in self._record:
            counts = tuple(len(as_list(nodes)) for nodes in self.entries("answer_list", length))
        return tasks, counts

    def _nodes(self, place: str, value: Any) -> tuple[GoldNode, ...]:
        nodes = checked(value, list, place, "a list of nodes")
        return tuple(_gold_node(f"{place}[{i}]", node) for i, node in enumerate(nodes))


def _gold_node(place: str, value: Any) -> GoldNode:
    """A node as it is read. Raises DataError for what is none."""
    node = checked(value, dict, place, "a node object")
    action = checked(node.get("action"), dict, f"{place}.action", "an object with name and arguments")
    name = checked(action.get("name"), str, f"{place}.action.name")
    arguments = checked(action.get("arguments", {}), dict, f"{place}.action.arguments")
    listed_at = f"{place}.dependency_list"
    needs = checked(node.get("dependency_list", []), list, listed_at, "a list of node positions")
    for position, needed in enumerate(needs):
        checked(needed, int, f"{listed_at}[{position}]", "a node position")
    user_input = node.get("user_input")
    if name == ASK:
        checked(user_input, str, f"{place}.user_input", "the user's reply as a text")
    alternatives = as_object(node.get("alternatives"))
    return GoldNode(
        name=name,
        arguments=arguments,
        observation=node.get("observation"),
        deps=tuple(needs),
        user_input=user_input if isinstance(user_input, str) else None,
        idx=node.get("idx"),
        alternatives={name: as_list(values) for name, values in alternatives.items()},
    )


def cached_per_session(
    function: Callable[Concatenate[Session, P], T],
) -> Callable[Concatenate[Session, P], T]:
    """Keeps what a function of a session, and of positions in it, gives; for as long as the session lives.

    What it gives is shared by all who ask, so nobody may change it.
    """
    cache: WeakKeyDictionary[Session, dict[object, T]] = WeakKeyDictionary()

    @wraps(function)
    def cached(session: Session, *args: P.args, **keywords: P.kwargs) -> T:
        assert not keywords
        its = cache.get(session)
        if its is None:
            its = cache[session] = {}
        if args not in its:
            its[args] = function(session, *args, **keywords)
        return its[args]

    return cached


WILD_MINI_FILE = Path(__file__).parents[2] / "data" / "wild_mini.jsonl"
"""The embedded set."""
_OFFICIAL_FILE = PinnedFile(
    repository="yupeijei1997/WildToolBench",
    commit="80a5f427fb26c9a14eb419ccb565675671650065",
    path="wild-tool-bench/data/Wild-Tool-Bench.jsonl",
    git_blob="e91dd1c50a2a9ee8661a8564e11cbd6cd61f795a",
)


def _official_file() -> Path:
    return official_folder("wildtoolbench") / "Wild-Tool-Bench.jsonl"


class SessionData(DataSet):
    """One file of sessions: the official one, the embedded one, or the user's."""

    def locate(self, data: str | None, split: str | None = None) -> Source:
        name = data or ("official" if self.shipped is None else self.name)
        path = WILD_MINI_FILE if name == "wild-mini" else Path(name)
        if name == "official":
            path = _official_file()
        if name == "official" and not path.is_file():
            raise DataError(
                f"the official data are not at {path}; get them with `wildtool data pull wildtoolbench`"
                " (or `--from FILE` if you have them), or use the embedded set: `--data wild-mini`"
            )
        if not path.is_file():
            raise DataError(f"no data file {data!r}; --data takes official, wild-mini or a JSON-lines file")
        return source_of_file(name, path)

    def pull(self, *, file: Path | None, mirror: str | None, report: ReportProgress) -> Path:
        if self.shipped is not None:
            report("built in; there is nothing to fetch")
            return self.shipped
        path = fetch(_OFFICIAL_FILE, _official_file(), file=file, mirror=mirror, report=report)
        report(
            f"source: {_OFFICIAL_FILE.repository} at commit {_OFFICIAL_FILE.commit}; that repository has no licence file"
        )
        return path


# Result files of the original -------------------------------------------------------------------------


def _is_result_file(path: Path) -> bool:
    """Whether the first line looks like the original's: an id and a `result` that is a list of task logs or a text."""
    if not path.is_file():
        return False
    try:
        record = next(read_records(path), (0, dict[str, Any]()))[1]
    except DataError:
        # Some other format: its own reader says what is wrong with it.
        return False
    return "id" in record and isinstance(record.get("result"), list | str)


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results | None:
    """The sessions of the lines of a file; the model is the name of the file's folder. None for another file.

    A session that the original lost (its result is an error text) has no transcripts: its tasks are unplayed.
    """
    return Results(_results(path)) if _is_result_file(path) else None


def _results(path: Path) -> Iterator[ResultRow]:
    model = as_named(path).parent.name or path.stem
    for number, record in read_records(path):
        where = f"{path}:{number}"
        session = required_field(record, "id", str, where)
        where = f"{where} (id {session!r})"
        result = record.get("result")
        if not isinstance(result, str):
            checked(result, list, f"{where}: field result")
        tasks = as_objects(result)
        units = {str(n): _transcript(f"{where}: result[{n}]", task) for n, task in enumerate(tasks)}
        yield ResultRow(where, model, session, units)


def _transcript(where: str, task: dict[str, Any]) -> Transcript:
    steps = checked(task.get("inference_log"), dict, f"{where}.inference_log", "an object of steps")
    count = sum(1 for key in steps if key.startswith("step_"))
    replies: list[Reply] = []
    for position in range(count):
        output = as_object(steps.get(f"step_{position}")).get("inference_output")
        if not isinstance(output, dict):
            raise DataError(
                f"{where}.inference_log.step_{position}: expected an object with inference_output"
            )
        replies.append(_reply(as_object(output), task, position))
    return Transcript(tuple(replies))


def _reply(output: dict[str, Any], task: dict[str, Any], step: int) -> Reply:
    fields = ("content", "tool_calls", "reasoning_content")
    message = {key: output[key] for key in fields if key in output}
    usage = {
        name: value
        for name, field in (
            ("prompt_tokens", "input_token_count"),
            ("completion_tokens", "output_token_count"),
        )
        if isinstance(value := _at(task.get(field), step), int)
    }
    latency = _at(task.get("latency"), step)
    return Reply(
        message={"role": "assistant", **message},
        usage=usage,
        latency_s=float(latency) if isinstance(latency, int | float) else 0.0,
    )


def _at(values: Any, position: int) -> Any:
    return next(iter(as_list(values)[position : position + 1]), None)


DATA = SessionData(
    name="wildtoolbench",
    read_results=read_results,
    stats=deferred("wildtool.benchmarks.wildtoolbench.stats:stats"),
    lint=deferred("wildtool.benchmarks.wildtoolbench.lint:lint_sessions"),
)
MINI_DATA = replace(DATA, name="wild-mini", shipped=WILD_MINI_FILE)
