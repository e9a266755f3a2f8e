"""API-Bank's dialogues as items: samples to be answered with a call or a reply, tools, recorded answers."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.benchmarks.apibank import REPLIES_MODE
from wildtool.benchmarks.apibank.tools import API_TOOLS
from wildtool.benchmarks.apibank.tools.state import Recorded, Tables, UnrecordedError
from wildtool.data.files import find_packed, read_json, read_packed_lines
from wildtool.errors import DataError
from wildtool.findings import Finding
from wildtool.json_codec import as_object, as_objects, checked, required_field
from wildtool.stats.describe import count_metrics
from wildtool.toolcall.retrieval import Bm25
from wildtool.types import FieldValue, Item, Metric, Source

LEVEL_1, LEVEL_2 = "level-1-given-desc", "level-2-toolsearcher"
DIALOGUE_LEVELS = (LEVEL_1, LEVEL_2)
"""The splits, one file each."""
TABLES_FILE, TOOLS_FILE = "init_database", "api_descriptions"
JOINED_FILES = (*DIALOGUE_LEVELS, TABLES_FILE, TOOLS_FILE)
CALL, REPLY = "call", "reply"
SEARCHER = "ToolSearcher"

Turn = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """One turn that a model must produce."""

    number: int
    """Its place among the samples of its dialogue."""
    position: int
    """The turn that is wanted; the model sees those before it."""
    task: str
    """`call` or `reply`; empty for a user's turn, which is not asked."""
    repeated: bool
    """Whether an earlier sample is the same (Q10)."""


_LIBRARIES = dict[Path, "ToolLibrary"]()
"""The library of the items that were last read from each folder."""


class ToolLibrary:
    """What all dialogues share: descriptions of the tools, shipped tables, recorded answers."""

    folder: Path | None = None
    """Where it was read for items."""

    def __init__(self, descriptions: Mapping[str, Mapping[str, Any]], tables: Mapping[str, Any]) -> None:
        self.descriptions = descriptions
        self.tables = tables
        self.recorded = Recorded(self._search)

    def __reduce__(self) -> tuple[Callable[[Path], "ToolLibrary"], tuple[Path]]:
        """Items that are put aside, each in a file, name their library instead of holding a copy of all its tables."""
        if self.folder is None:
            raise TypeError("a tool library that was read from no folder is not written")
        return _library_of, (self.folder,)

    def fresh(self) -> Tables:
        """A tool set as every sample begins with."""
        return Tables(self.tables, self.recorded)

    def parameters(self, tool: str) -> Mapping[str, Mapping[str, Any]]:
        """Declared parameters of a tool: name to type and description."""
        return self.descriptions[tool]["input_parameters"]

    def record(self, turns: list[dict[str, Any]]) -> None:
        """Keeps the answers of the tools, for those that need the network."""
        for turn in turns:
            if turn["role"] == "API":
                output = turn["result"]["output"]
                self.recorded.add(turn["api_name"], turn["param_dict"], output)
                if turn["api_name"] == SEARCHER:
                    names = tuple(str(tool_entry.get("name")) for tool_entry in _tools_of(output))
                    self.recorded.search_results.setdefault(names, output)

    def _search(self, tool: str, query: str) -> Any:
        """What a search by words finds where nothing is recorded. Raises UnrecordedError."""
        hits = (self._tool_index if tool == SEARCHER else self._page_index).search(query, 2)
        if not hits:
            raise UnrecordedError(f"no answer of {tool} is recorded, and no word of {query!r:.60} is known")
        if tool != SEARCHER:
            pages = self.tables["SearchEngine"]["raw_documents"]
            return [pages[int(name)] for name in hits]
        names = (hits[0],)
        if "token" in self.parameters(hits[0]):
            names = ("GetUserToken", hits[0])
        results = self.recorded.search_results
        if names not in results:
            described = [dict(self.descriptions[name]) for name in names]
            return described if len(described) > 1 else described[0]
        return results[names]

    @cached_property
    def _tool_index(self) -> Bm25:
        return Bm25(
            {
                name: f"{name} {description['description']}"
                for name, description in self.descriptions.items()
                if name != SEARCHER
            }
        )

    @cached_property
    def _page_index(self) -> Bm25:
        pages = as_objects(as_object(self.tables.get("SearchEngine")).get("raw_documents"))
        return Bm25({str(place): f"{page['title']} {page['abstract']}" for place, page in enumerate(pages)})


def _tools_of(output: Any) -> list[dict[str, Any]]:
    return as_objects(output) if isinstance(output, list) else [as_object(output)]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One dialogue with its samples."""

    level: str
    file: str
    turns: tuple[Turn, ...]
    samples: Mapping[str, Sample]
    """Unit to sample."""
    library: ToolLibrary

    @property
    def apis(self) -> list[str]:
        """Names of all tools that it calls, in the order of the alphabet."""
        return sorted({turn["api_name"] for turn in self.turns if turn["role"] == "API"})

    def target(self, unit: str) -> Turn:
        return self.turns[self.samples[unit].position]


def samples_of(turns: list[dict[str, Any]]) -> Iterator[Sample]:
    """For every call the call itself and the turn after it."""
    calls = [place for place, turn in enumerate(turns) if turn["role"] == "API"]
    places = [at for place in calls for at in (place, place + 1) if at < len(turns)]
    for number, at in enumerate(places):
        task = {"API": CALL, "AI": REPLY}.get(turns[at]["role"], "")
        yield Sample(number, at, task, at in places[:number])


# Reading ---------------------------------------------------------------------------------------------


def data_file(folder: Path, name: str) -> Path:
    """A file of the benchmark in a folder. Raises DataError."""
    suffix = ".jsonl" if name in DIALOGUE_LEVELS else ".json"
    path = find_packed(folder, name + suffix)
    if path is None:
        raise DataError(
            f"{folder}: {name}{suffix} is missing; `wildtool data pull apibank` fetches it, or name a folder with --data"
        )
    return path


def _library_of(folder: Path) -> ToolLibrary:
    return _LIBRARIES[folder]


def read_tool_library(folder: Path) -> ToolLibrary:
    """Descriptions and tables. Raises DataError."""
    places = [data_file(folder, name) for name in (TOOLS_FILE, TABLES_FILE)]
    descriptions, tables = (checked(read_json(place), dict, str(place)) for place in places)
    for name in API_TOOLS:
        description = as_object(descriptions.get(name))
        required_field(description, "description", str, f"{places[0]}: {name}")
        declared = as_object(required_field(description, "input_parameters", dict, f"{places[0]}: {name}"))
        for key, parameter in declared.items():
            required_field(as_object(parameter), "type", str, f"{places[0]}: {name}: {key}")
    return ToolLibrary(descriptions, tables)


def read_dialogues(folder: Path, level: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """File name and turns of each dialogue. Raises DataError naming file, line and field."""
    path = data_file(folder, level)
    for where, record in read_packed_lines(path, "dialogue"):
        file = required_field(record, "file", str, where)
        checked(record.get("turns"), list, f"{where} ({file}): field turns")
        turns = as_objects(record["turns"])
        for place, turn in enumerate(turns):
            _check_turn(turn, f"{where} ({file}): turns[{place}]")
        yield file, turns


def _check_turn(turn: dict[str, Any], where: str) -> None:
    role = required_field(turn, "role", str, where)
    if role in ("User", "AI"):
        required_field(turn, "text", str, where)
        return
    if role != "API":
        raise DataError(f"{where}: field role: expected User, AI or API, found {role!r}")
    name = required_field(turn, "api_name", str, where)
    if name not in API_TOOLS:
        raise DataError(f"{where}: field api_name: {name!r} is none of the {len(API_TOOLS)} tools")
    required_field(turn, "param_dict", dict, where)
    result = as_object(required_field(turn, "result", dict, where))
    for key in ("input", "output", "exception"):
        if key not in result:
            raise DataError(f"{where}: result.{key} is missing")


def read_items(folder: Path, split: str | None, selects: Callable[[Sample], bool]) -> Iterator[Item]:
    """Dialogues of a level, or of both; those without samples that are asked are left out. Raises DataError.

    Args:
        selects: whether a sample belongs to the mode.
    """
    library = read_tool_library(folder)
    library.folder = folder.resolve()
    _LIBRARIES[library.folder] = library
    by_level = {level: list(read_dialogues(folder, level)) for level in DIALOGUE_LEVELS}
    for dialogues in by_level.values():
        for _, turns in dialogues:
            library.record(turns)
    for level, dialogues in by_level.items():
        for file, turns in dialogues if split in (None, level) else ():
            samples = {str(each.number): each for each in samples_of(turns) if each.task and selects(each)}
            if samples:
                name = f"{level}/{file.removesuffix('.jsonl')}"
                record = Dialogue(level, file, tuple(turns), samples, library)
                yield Item(name, tuple(samples), record, split=level)


def load(
    benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
) -> Iterator[Item]:
    """Dialogues as `read_items` gives them, with the samples that the mode asks."""
    every = benchmark.mode != REPLIES_MODE
    items = read_items(source.path, split, lambda sample: every or sample.task == REPLY)
    return (item for item in items if lang in (None, item.lang))


def fields(benchmark: Benchmark, item: Item, unit: str) -> Mapping[str, FieldValue]:
    """Task, tool, and whether a sample is asked twice."""
    sample = item.data.samples[unit]
    # A reply belongs to the call before it.
    turn = item.data.turns[sample.position - (sample.task == REPLY)]
    return {"task": sample.task, "api": turn["api_name"], "repeated": sample.repeated}


# Description and checks ------------------------------------------------------------------------------


def stats(source: Source, items: Iterable[Item]) -> Iterator[Metric]:
    """Dialogues, turns and samples by level, also of dialogues that no item is made of. Raises DataError."""
    for level in DIALOGUE_LEVELS:
        dialogues = [turns for _, turns in read_dialogues(source.path, level)]
        samples = [sample for turns in dialogues for sample in samples_of(turns)]
        yield from count_metrics(level, {"dialogues": len(dialogues)})
        roles = Counter(turn["role"] for turns in dialogues for turn in turns)
        yield from count_metrics(f"{level}: turns", roles, ("User", "AI", "API"))
        tasks = Counter(sample.task or "not asked" for sample in samples)
        tasks["asked twice"] = sum(sample.repeated for sample in samples)
        yield from count_metrics(f"{level}: samples", tasks, (CALL, REPLY), total=len(samples))


def lint(source: Source) -> Iterator[Finding]:
    """Recorded calls that the tools do not take, and samples that nobody can answer or that are asked twice."""
    folder = source.path
    try:
        library = read_tool_library(folder)
        for level in DIALOGUE_LEVELS:
            names = set[str]()
            for file, turns in read_dialogues(folder, level):
                where = f"{data_file(folder, level)}: {file}"
                if file in names:
                    yield Finding(where, "repeated file", "another dialogue has this name; give each its own")
                names.add(file)
                yield from _lint_turns(where, turns, library)
    except DataError as error:
        yield Finding(str(folder), "unreadable", str(error))


def _lint_turns(where: str, turns: list[dict[str, Any]], library: ToolLibrary) -> Iterator[Finding]:
    for place, turn in enumerate(turns):
        if turn["role"] != "API":
            continue
        declared = library.parameters(turn["api_name"])
        for name in turn["param_dict"]:
            if name not in declared:
                message = f"{turn['api_name']} declares no {name!r}; the call is always refused (Q6)"
                yield Finding(f"{where}: turns[{place}]", "unknown parameter", message)
    samples = list(samples_of(turns))
    if not samples:
        yield Finding(where, "no call", "nothing is asked; the dialogue only counts in ToLeaP's weights")
    for sample in samples:
        if not sample.task:
            message = f"sample {sample.number} wants a user's turn; it is not asked"
            yield Finding(where, "user turn as target", message)
        if sample.repeated:
            message = (
                f"sample {sample.number} asks the same as the one before; only `fixed` counts it once (Q10)"
            )
            yield Finding(where, "sample asked twice", message)
