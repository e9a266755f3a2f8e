"""The original prompt: its texts, read from its authors' file, and the request, tools and examples that they ask with.

ToLeaP's prompt has the same texts. It differs in what is put into them: the request of the label, and tools in full.
"""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.benchmarks.taskbench.data import (
    COMMIT,
    DOMAINS,
    REPOSITORY,
    REQUESTS_FILE,
    Example,
    Library,
    TaskRecord,
    label_files,
    library_file,
    read_labels,
)
from wildtool.data.files import find_packed, read_packed_lines
from wildtool.data.pinned import PinnedFile, ReportProgress, fetch_all, find_in_folder, official_folder
from wildtool.data.prompt_files import digest_of, parse_module
from wildtool.errors import DataError
from wildtool.json_codec import as_objects
from wildtool.types import Item, Message

_FILE = "inference.py"
_REQUEST = "{{user_request}}"
"""Where the text after the examples has the request."""
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "huggingface": ("10523150", "14611002", "22067492"),
    "multimedia": ("30934207", "20566230", "19003517"),
    "dailylifeapis": ("38563456", "27267145", "91005535"),
}
"""Ids of the labels that the authors show as solved examples."""


@dataclass(frozen=True, slots=True)
class PublishedPrompt:
    """The texts of the prompt, in their order."""

    heading: str
    """Before the tools, one a line."""
    resource: str
    """Goal and requirements where tools pass resources."""
    temporal: str
    """Goal and requirements where tools are linked by time."""
    between: str
    """Before the examples, where there are any."""
    example: tuple[str, str]
    """Before the request of an example, and before its plan."""
    closing: str
    """After all, with `_REQUEST`."""

    @property
    def digest(self) -> str:
        return digest_of(asdict(self))

    def message(self, record: TaskRecord) -> Message:
        """The message with the record's tools, examples and request."""
        library = record.library
        text = (library.temporal and self.temporal) or self.resource
        for number, (request, plan) in enumerate(record.examples):
            parts = ("task_steps", "task_nodes", "task_links")[: 3 if library.temporal else 2]
            values = zip(parts, (plan.steps, plan.nodes, plan.links), strict=False)
            text += ("" if number else self.between) + self.example[0] + request
            text += self.example[1] + json.dumps(dict(values))
        tools = "".join(json.dumps(tool) + "\n" for tool in library.tools)
        filled = (text + self.closing).replace(_REQUEST, record.request)
        return {"role": "user", "content": self.heading + tools + filled}


# The file ----------------------------------------------------------------------------------------------


class _PromptFile(PinnedFile):
    """A Python file that is pinned by the texts in it: the digest of its bytes is not known to us."""

    __slots__ = ()

    def id_of(self, path: Path) -> str:
        try:
            return f"SHA-256 {read_texts(path).digest}"
        except DataError as error:
            return str(error)


PROMPTS = _PromptFile(
    REPOSITORY,
    COMMIT,
    f"taskbench/{_FILE}",
    sha256="c5c70f33513585034c28391a82bed35399b2f2ec95ea0caead0e2adfdd4d592a",
    other_path=_FILE,
)
_REQUEST_DIGESTS = {
    "huggingface": "643c981f5a2bc0a5a665884fc721bb914fac698b619e3efd4a4364872b33f93c",
    "multimedia": "2189a7561e0b0b0cf3d92f753efe2581dd54e614724ec9393723d2a340e8211b",
    "dailylifeapis": "6f22c7cf1239c3d7c9138b8c7ce4081cefc51e2cff20ec58f4757e877b246bbc",
}


def pull_prompt(copies: Path | None, mirror: str | None, report: ReportProgress) -> None:
    """Brings the prompt's texts and the authors' requests into the cache, verified. Raises DataError.

    Args:
        copies: copy them from this folder; if it does not have the prompt, nothing is done.
    """
    if copies is not None and find_in_folder(copies, PROMPTS) is None:
        report(
            f"{copies} does not hold the original prompt ({_FILE}); `wildtool data pull taskbench` fetches it"
        )
        return
    folder = official_folder("taskbench")
    paths = {domain: f"data_{domain}/{REQUESTS_FILE}" for domain in DOMAINS}
    requests = {
        folder / path: PinnedFile(
            REPOSITORY, COMMIT, f"taskbench/{path}", sha256=_REQUEST_DIGESTS[domain], other_path=path
        )
        for domain, path in paths.items()
    }
    fetch_all({folder / _FILE: PROMPTS, **requests}, folder=copies, mirror=mirror, report=report)
    report("the original prompt is read; `wildtool run … --prompts original` sends it")


def prompt_in_mode(benchmark: Benchmark, split: str | None) -> PublishedPrompt | None:
    """The texts as pulled; None where they were not, or the mode has none. Raises DataError where they are others."""
    path = official_folder("taskbench") / _FILE
    if benchmark.mode == "graph" or not path.is_file():
        return None
    texts = read_texts(path)
    if f"SHA-256 {texts.digest}" != PROMPTS.id:
        raise DataError(
            f"{path}: not the pinned texts; get the original prompt again with `wildtool data pull taskbench`, or run"
            " with --prompts own"
        )
    return texts


def read_texts(path: Path) -> PublishedPrompt:
    """The texts that the authors' program puts together, from its syntax tree. Raises DataError where it has others."""
    try:
        tree = parse_module(path.read_text(encoding="utf-8"), str(path))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error})") from error
    functions = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    try:
        (_, (heading,)), *_ = _assigned(functions["main"], "tool_string")
        *goals, (_, (between,)), (_, (before, after)), (_, (closing,)) = _assigned(
            functions["inference"], "prompt"
        )
        wholes: list[str] = []
        for begins, (part,) in goals:
            wholes[len(wholes) :] = [part] if begins else [wholes.pop() + part]
        resource, temporal = wholes
    except (KeyError, ValueError, IndexError) as error:
        raise DataError(f"{path}: the prompt is not put together as expected; take {PROMPTS.path} of {REPOSITORY}"
                        f" at commit {COMMIT}") from error  # fmt: skip
    return PublishedPrompt(heading, resource, temporal, between, (before, after), closing)


def _assigned(function: ast.AST, name: str) -> Iterator[tuple[bool, list[str]]]:
    """The texts that a function gives to a variable or adds to it, in order: whether it is given, and its parts around
    values."""
    nodes = [
        node
        for node in ast.walk(function)
        if (isinstance(node, ast.Assign) and _is_name(node.targets[0], name))
        or (isinstance(node, ast.AugAssign) and _is_name(node.target, name))
    ]
    for node in sorted(nodes, key=lambda node: node.lineno):
        parts = node.value.values if isinstance(node.value, ast.JoinedStr) else [node.value]
        yield (
            isinstance(node, ast.Assign),
            [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)],
        )


def _is_name(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


# What the authors put into it ----------------------------------------------------------------------------


def as_authors_ask(path: Path, items: Iterable[Item], examples: int) -> Iterator[Item]:
    """Records with the authors' own request, tools with the names of their parameters alone, and solved examples.

    A label whose id the authors' requests do not have keeps its own. Raises DataError where requests or examples are not
    at hand.

    Args:
        path: the file or folder of the labels.
        examples: how many of the authors' three examples.
    """
    files, domains = dict(label_files(path)), dict[str, _AuthorsDomain]()
    for item in items:
        record: TaskRecord = item.data
        domain = record.library.domain
        if domain not in domains:
            domains[domain] = _AuthorsDomain(files[domain], record.library, examples)
        yield domains[domain].item(item)


class _AuthorsDomain:
    """What the authors put into the prompts of a domain."""

    def __init__(self, labels: Path, library: Library, examples: int) -> None:
        """Raises DataError where requests or examples are not at hand."""
        self._requests = _read_requests(labels, library.domain)
        self._library, self._examples = _with_names_of_parameters(library), ()
        ids = EXAMPLES[library.domain][:examples]
        records = [(id_of(item), item.data) for item in read_labels(labels, library)] if ids else []
        demonstrations = [(id_, record) for id_, record in records if id_ in ids]
        if missing := [id_ for id_ in ids if id_ not in dict(demonstrations)]:
            raise DataError(
                f"{labels}: the authors' examples {', '.join(missing)} are not among the labels; --mode authors has none"
            )
        self._examples = tuple(Example(record.shown_request, record.gold) for _, record in demonstrations)

    def item(self, item: Item) -> Item:
        """The item as the authors ask it."""
        record: TaskRecord = item.data
        request = self._requests.get(id_of(item), record.request)
        complete = replace(record, request=request, library=self._library, examples=self._examples)
        return replace(item, data=complete)


def id_of(item: Item) -> str:
    """The id of a label."""
    return item.id.partition("/")[2]


def _read_requests(labels: Path, domain: str) -> dict[Any, str]:
    """The authors' requests by id. Raises DataError where they are not at hand."""
    folder = library_file(labels, domain, official_folder("taskbench")).parent
    file = find_packed(folder, REQUESTS_FILE)
    if file is None:
        raise DataError(
            f"{folder}: no {REQUESTS_FILE}, which has the requests as the authors ask them; `wildtool data pull"
            " taskbench` fetches it, and --mode chat does not need it"
        )
    lines = (line for _, line in read_packed_lines(file))
    return {line["id"]: line["user_request"] for line in lines if isinstance(line.get("user_request"), str)}


def _with_names_of_parameters(library: Library) -> Library:
    """The tools with the names of their parameters in place of their descriptions, where they have any."""
    if not library.temporal:
        return library
    names = ([each.get("name") for each in as_objects(tool.get("parameters"))] for tool in library.tools)
    tools = ({**tool, "parameters": list(its)} for tool, its in zip(library.tools, names, strict=True))
    return replace(library, tools=tuple(tools))
