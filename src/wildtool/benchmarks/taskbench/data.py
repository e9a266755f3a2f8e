"""TaskBench's files: tools and links of a domain, label records in either of their two layouts, and what is wrong in
them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

from wildtool.benchmark import Benchmark, Finding
from wildtool.data.data_set import DataSet, deferred
from wildtool.data.files import (
    find_packed,
    loads_line,
    read_json,
    read_packed_lines,
    read_unpacked,
    source_of_files,
)
from wildtool.data.pinned import ReportProgress, fetch_all, install, official_folder
from wildtool.errors import DataError, unknown_name
from wildtool.json_codec import as_list, as_object, json_type
from wildtool.types import FieldValue, Item, Source

REPOSITORY = "microsoft/JARVIS"
COMMIT = "c62e0faac76c4a2907cabe2cfe4bbe5f2e613400"
DOMAINS = ("huggingface", "multimedia", "dailylifeapis")
STRUCTURES = ("single", "chain", "dag")
"""Shapes of a plan: one tool, a chain, or a graph."""
TOOLS_FILE, GRAPH_FILE, LABELS_FILE = "tool_desc.json", "graph_desc.json", "data.json"
REQUESTS_FILE = "user_requests.json"
"""The requests in the words in which its authors ask them."""
TEMPORAL = "dailylifeapis"
"""The domain whose arguments have names and whose links are an order in time; in the others links pass resources."""


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """The tools of a domain."""

    domain: str
    tools: tuple[Mapping[str, Any], ...]
    """As written: `id`, `desc`, and `input-type` and `output-type` or `parameters`."""
    links: tuple[tuple[str, str], ...]
    """Which tool can come after which, by name; empty where the file is not there."""
    places: Mapping[str, int] = field(default_factory=dict[str, int])
    """Name of a tool to its place, from 0."""

    @property
    def temporal(self) -> bool:
        return self.domain == TEMPORAL

    def output_type(self, tool: str) -> str:
        """First output type of a tool; `none` where it has none, and `other` where it is not of the library."""
        if tool not in self.places:
            return "other"
        types = self.tools[self.places[tool]].get("output-type")
        return str(types[0]) if types else "none"


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """Steps, nodes and links, as a label or a reply has them; of a reply they may be anything."""

    steps: Any
    nodes: Any
    links: Any

    def as_json(self) -> str:
        """The plan as a model is asked to write it."""
        plan = {"task_steps": self.steps, "task_nodes": self.nodes, "task_links": self.links}
        return json.dumps(plan, ensure_ascii=False)


class Example(NamedTuple):
    """A solved request, shown before the one that is asked."""

    request: str
    plan: ToolPlan


@dataclass(frozen=True, slots=True, eq=False)
class TaskRecord:
    """One labelled request."""

    request: str
    structure: str
    gold: ToolPlan
    library: Library
    examples: tuple[Example, ...] = ()
    shown_request: str = ""
    """The request with which it is shown as a solved example: the label's own `user_request`, else `request`."""


def fields(benchmark: Benchmark, item: Item, unit: str) -> Mapping[str, FieldValue]:
    """The shape of the gold plan, and how many tools it has."""
    return {"structure": item.data.structure, "tools": len(item.data.gold.nodes)}


def label_file(path: Path, domain: str) -> Path | None:
    """The labels of a domain in a folder: `data_<domain>/data.json`, else a file with the domain in its name."""
    path_to_labels = find_packed(path / f"data_{domain}", LABELS_FILE)
    if path_to_labels is not None or not path.is_dir():
        return path_to_labels
    paths = sorted(file for file in path.iterdir() if domain in file.name and ".json" in file.suffixes)
    return paths[0] if paths else None


def domain_of(path: Path) -> str:
    """The domain that a file is about, by its name or that of its folder. Raises DataError where neither says it."""
    for name in (path.name, path.absolute().parent.name):
        for domain in DOMAINS:
            if domain in name:
                return domain
    raise DataError(
        f"{path}: which domain is it of? Put {', '.join(DOMAINS)} into the name of the file or of its folder"
    )


def label_files(path: Path) -> list[tuple[str, Path]]:
    """Domain and file of the labels in a folder, or of one file. Raises DataError where its name says no domain."""
    if path.is_file():
        return [(domain_of(path), path)]
    return [(domain, file) for domain in DOMAINS if (file := label_file(path, domain)) is not None]


def library_file(labels: Path, domain: str, pulled: Path) -> Path:
    """The tool descriptions beside labels, in a folder `data_<domain>` beside them, or as pulled.

    Raises DataError where there are none.
    """
    for folder in (labels.parent, labels.parent / f"data_{domain}", pulled / f"data_{domain}"):
        if (match := find_packed(folder, TOOLS_FILE)) is not None:
            return match
    raise DataError(
        f"the tools of {domain} are not at hand: `wildtool data pull taskbench` fetches them, or put {TOOLS_FILE} and"
        f" {GRAPH_FILE} beside {labels}"
    )


def read_library(path: Path, domain: str) -> Library:
    """The tools of a domain, with the links of the graph file beside them. Raises DataError naming file and field."""
    nodes = _objects(read_json(path), "nodes", path)
    for place, node in enumerate(nodes):
        if not isinstance(node.get("id"), str):
            raise DataError(f"{path}: nodes[{place}].id: expected a text, found {json_type(node.get('id'))}")
    graph = find_packed(path.parent, GRAPH_FILE)
    links = () if graph is None else _objects(read_json(graph), "links", graph)
    return Library(
        domain,
        tuple(nodes),
        tuple((str(link.get("source")), str(link.get("target"))) for link in links),
        {node["id"]: place for place, node in enumerate(nodes)},
    )


def read_labels(path: Path, library: Library) -> Iterator[Item]:
    """The records of a file of JSON lines. Raises DataError naming file, line, id and field."""
    for where, record in read_packed_lines(path):
        try:
            item = _labelled_item(record, library)
        except DataError as error:
            raise DataError(f"{where} (id {record.get('id')!r}): field {error}") from error.__cause__
        yield item


def _labelled_item(fields: dict[str, Any], library: Library) -> Item:
    """Raises DataError naming the field."""
    id_, structure = fields.get("id"), fields.get("type")
    if not isinstance(id_, str):
        raise DataError(f"id: expected a text, found {id_!r:.60}")
    if not isinstance(structure, str) or structure not in STRUCTURES:
        raise DataError(f"type: expected one of {', '.join(STRUCTURES)}, found {structure!r:.60}")
    request = fields.get("instruction") or fields.get("user_request")
    if not isinstance(request, str):
        raise DataError(f"instruction: expected a text, found {json_type(request)}")
    gold = ToolPlan(*[_label(fields, *names) for names in _LABELS])
    for place, node in enumerate(gold.nodes):
        if not isinstance(node, dict):
            raise DataError(f"tool_nodes[{place}]: expected an object, found {json_type(node)}")
    own = fields.get("user_request")
    shown = own if isinstance(own, str) and own else request
    record = TaskRecord(request, structure, gold, library, shown_request=shown)
    return Item(f"{library.domain}/{id_}", _UNITS, record, library.domain)


_UNITS = ("0",)
_LABELS = [(f"tool_{name}", f"task_{name}") for name in ("steps", "nodes", "links")]


def _label(record: Mapping[str, Any], released: str, decoded: str) -> list[Any]:
    """A part of a label: `tool_<name>` in JSON text as released, or `task_<name>`; decoded or not."""
    field = decoded if released not in record and decoded in record else released
    value = record.get(field)
    if isinstance(value, str):
        try:
            value = loads_line(value)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{field}: not JSON ({error})") from error
    if not isinstance(value, list):
        raise DataError(f"{field}: expected a list, found {json_type(value)}")
    return cast(list[Any], value)


def _objects(document: Any, name: str, path: Path) -> list[dict[str, Any]]:
    value = cast(dict[str, Any], document).get(name) if isinstance(document, dict) else None
    entries = cast(list[Any], value) if isinstance(value, list) else [None]
    if not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{path}: field {name}: expected a list of objects")
    return cast(list[dict[str, Any]], entries)


# Checks of labels -------------------------------------------------------------------------------------

_TAG = re.compile(r"<(?:node|output)[^>]*>")
_REFERENCE = re.compile(r"<node-(\d+)>")


def lint_source(source: Source) -> Iterator[Finding]:
    """Findings of a file or folder, by domain and record; a file that cannot be read is one finding."""
    for domain, path in label_files(source.path):
        ids: set[str] = set()
        try:
            for item in read_label_file(path, domain):
                where = f"{path}: {item.id}"
                if item.id in ids:
                    yield Finding(where, "repeated id", "another record has this id; give each its own")
                ids.add(item.id)
                yield from (Finding(where, rule, message) for rule, message in _record_faults(item))
        except DataError as error:
            yield Finding(str(path), "unreadable", str(error))


def _record_faults(item: Item) -> Iterator[tuple[str, str]]:
    record: TaskRecord = item.data
    gold, library = record.gold, record.library
    if len(gold.steps) != len(gold.nodes):
        yield "steps", f"{len(gold.steps)} steps for {len(gold.nodes)} nodes; expected one for each"
    names = [str(node.get("task")) for node in gold.nodes]
    for place, (node, name) in enumerate(zip(gold.nodes, names, strict=True)):
        where = f"tool_nodes[{place}] ({name:.60})"
        if name not in library.places:
            yield (
                "unknown tool",
                f"{where}: not in the library of {library.domain}; only `original` passes over it",
            )
        if not isinstance(node.get("arguments"), list):
            yield "argument", f"{where}: arguments: expected a list, found {json_type(node.get('arguments'))}"
        arguments = as_list(node.get("arguments"))
        faults = _named_faults if library.temporal else _reference_faults
        yield from (
            (rule, f"{where}: {message}") for rule, message in faults(arguments, place, library, names)
        )
    for link in gold.links:
        ends = {str(as_object(link).get(end)) for end in ("source", "target")}
        if not ends <= set(names):
            yield "link", f"{link!r:.100}: names a tool that no node has"


def _named_faults(
    arguments: list[Any], place: int, library: Library, names: list[str]
) -> Iterator[tuple[str, str]]:
    tool = next((tool for tool in library.tools if tool["id"] == names[place]), None)
    options = [as_object(parameter).get("name") for parameter in as_list(tool and tool.get("parameters"))]
    for argument in map(as_object, arguments):
        name, value = argument.get("name"), argument.get("value")
        if name is None:
            yield "argument", "one without a name; expected name and value"
        elif tool and name not in options:
            yield "unknown parameter", f"{name!r}; the tool has {', '.join(map(str, options))}"
        if not isinstance(value, str):
            yield "value", f"{name!r} is {value!r:.60}; expected a text"


def _reference_faults(
    arguments: list[Any], place: int, library: Library, names: list[str]
) -> Iterator[tuple[str, str]]:
    for argument in arguments:
        if not isinstance(argument, str):
            yield "argument", f"{argument!r:.60}; expected a text: `toleap` never matches another (Q6)"
            continue
        for tag in _TAG.findall(argument):
            match = _REFERENCE.fullmatch(tag)
            if match is None:
                yield "reference", f"{tag} is no <node-j>, so it counts as a text"
            elif int(match[1]) >= len(names):
                yield "reference", f"{tag}: there are {len(names)} nodes"
            elif int(match[1]) == place:
                yield "reference", f"{tag} is the node itself; the rules leave it out"


# Where the files come from ----------------------------------------------------------------------------

# Most commands only find data, and need neither.
_as_authors_ask = deferred("wildtool.benchmarks.taskbench.originals:as_authors_ask")
_pull_prompt = deferred("wildtool.benchmarks.taskbench.originals:pull_prompt")
_HOW_TO_GET = (
    "the labels are the files taskbench/data_<domain>/data.json of github.com/microsoft/JARVIS, or the split `test` of"
    " the Hugging Face data set microsoft/Taskbench saved as JSON lines; bring them with `wildtool data pull taskbench"
    " --from FOLDER`, FOLDER holding data_<domain>/data.json, or name a file or folder with --data"
)


class TaskData(DataSet):
    """Tools and links of a public repository, and labels from the user's copy."""

    def pull(self, *, file: Path | None, mirror: str | None, report: ReportProgress) -> Path:
        folder = official_folder(self.name)
        source = None if file is None else file / "taskbench" if (file / "taskbench").is_dir() else file
        self.check_folder(source)
        has_tools = source is not None and any(source.rglob(f"{TOOLS_FILE}*"))
        fetch_all(self.pinned_files(), folder=source if has_tools else None, mirror=mirror, report=report)
        _pull_prompt(source, mirror, report)
        domains = [
            domain for domain in DOMAINS if source is not None and _copy_labels(source, domain, report)
        ]
        there = [domain for domain in DOMAINS if label_file(folder, domain)]
        if not there:
            raise DataError(f"tools and links are at {folder}, the labels are not: {_HOW_TO_GET}")
        report(
            f"labels of {', '.join(there)} are there" + ("" if domains else "; --from FOLDER brings others")
        )
        self.report_source(report)
        return folder

    def locate(self, data: str | None, split: str | None = None) -> Source:
        _check_split(split)
        if data in (None, "official"):
            name, path = "official", official_folder(self.name)
        else:
            name, path = data, Path(data)
            if not path.exists():
                raise DataError(
                    f"no file or folder {data!r}; --data takes official, a folder of labels or one file"
                )
        if path.is_file():
            domain = domain_of(path)
            if split not in (None, domain):
                raise DataError(f"{path} is of {domain}, not of {split}")
            return source_of_files(name, path, [path])
        labels = [label_file(path, domain) for domain in DOMAINS if split in (None, domain)]
        files = [file for file in labels if file is not None]
        if not files:
            of = f" of {split}" if split else ""
            raise DataError(f"{path} holds no labels{of}: {_HOW_TO_GET}")
        return source_of_files(name, path, files)


def _copy_labels(folder: Path, domain: str, report: ReportProgress) -> bool:
    labels = label_file(folder, domain)
    if labels is None:
        return False
    target = official_folder("taskbench") / f"data_{domain}" / LABELS_FILE
    library = read_library(target.with_name(TOOLS_FILE), domain)
    count = sum(1 for _ in read_labels(labels, library))
    install(target, read_unpacked(labels))
    report(f"{target}: {count} records from {labels}; their digest is not known, so they are not verified")
    return True


def load(
    benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
) -> Iterator[Item]:
    """Records of a file or folder, domain by domain, in the modes of the authors as they ask. Raises DataError naming
    file, line, id and field."""
    _check_split(split)
    files = [(domain, file) for domain, file in label_files(source.path) if split in (None, domain)]
    items = chain.from_iterable(read_label_file(file, domain) for domain, file in files)
    if benchmark.mode.startswith("authors"):
        items = _as_authors_ask(source.path, items, int(benchmark.mode.partition("-")[2] or 0))
    return (item for item in items if lang in (None, item.lang))


def read_label_file(file: Path, domain: str) -> Iterator[Item]:
    """The records of one file, with the tools of its domain. Raises DataError."""
    library = read_library(library_file(file, domain, official_folder("taskbench")), domain)
    return read_labels(file, library)


def _check_split(split: str | None) -> None:
    if split is not None and split not in DOMAINS:
        raise DataError(unknown_name("split", split, DOMAINS, of="taskbench"))


DATA = TaskData(
    name="taskbench",
    repository=REPOSITORY,
    commit=COMMIT,
    home="taskbench",
    # The labels have no digest that we could verify.
    files={
        f"data_huggingface/{TOOLS_FILE}": "0eb0654faea9a5f07c0102ca57bfc6de3f9e03d8a00c2776b82e22b1b7c31fbd",
        f"data_huggingface/{GRAPH_FILE}": "48f774a01d1452ddf918ced6f04218fe311863725a0d6624d6e191e7ea6c4694",
        f"data_multimedia/{TOOLS_FILE}": "6300f287ebf7dd04f7e8f4d76462b2fe83b823f1cccf432608818f3df67ed0d7",
        f"data_multimedia/{GRAPH_FILE}": "1065e6041fecbf55c18891fcfb5a4e24ea941dcac3dab670423148902fe6dc55",
        f"data_dailylifeapis/{TOOLS_FILE}": "64b3ed4f0f3ad199d817695bc3bb7e2f7d9bc2cae2f310821744a62ae41aee13",
        f"data_dailylifeapis/{GRAPH_FILE}": "911ba3c1d3bd40fddeb73e49dc34f169479ec07ef0b7d9ce71a1bf57a106e70b",
    },
    licence="MIT",
    copies=f"one that holds data_<domain>/{LABELS_FILE}",
    read_results=deferred("wildtool.benchmarks.taskbench.results:read_results"),
    user_texts=lambda item: [item.data.request],
    lint=lint_source,
)
