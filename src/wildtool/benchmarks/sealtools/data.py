"""Seal-Tools' files: where they come from, their records as items, and the pool of all tools."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, cast

from wildtool.benchmark import RETRIEVAL, Benchmark
from wildtool.data.data_set import DataSet, deferred
from wildtool.data.files import find_packed, read_packed_lines, read_record_list
from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, as_objects, json_type, loads, required_field
from wildtool.stats.describe import count_metrics, measure_metrics
from wildtool.types import FieldValue, Item, Metric, Source

DEV, IN_DOMAIN, OUT_DOMAIN = "dev", "test_in_domain", "test_out_domain"
RECORD_FILES = (DEV, IN_DOMAIN, OUT_DOMAIN)
_RECORDS, _POOL_FILE = "dataset_for_finetune", "tool.jsonl"
_TOOLS, _INSTRUCTION, _END = "api_list = ", '\ntask_instruction = "', '"\nOutput:'
_LABEL = re.compile(r"API_call_\d+")
_NAMED = re.compile(r"'api_name': '([^']*)'")


@dataclass(frozen=True, slots=True)
class SealRecord:
    """One request with its gold calls."""

    prompt: str
    """What the model is sent: task, format, five tools, request."""
    gold_text: str
    """The gold calls as the data write them: a Python literal."""
    gold: tuple[Mapping[str, Any], ...]
    """`api`, `parameters` and `responses` of each call."""
    pool: str = ""
    """Path of the file of all tools, where tools are retrieved."""

    @property
    def query(self) -> str:
        """The request alone."""
        return self.prompt.rpartition(_INSTRUCTION)[2].rpartition(_END)[0]

    @property
    def shape(self) -> str:
        """`single`, `multiple`, or `nested` where a call takes a result of another."""
        values = (value for call in self.gold for value in call["parameters"].values())
        if any(isinstance(value, str) and _LABEL.fullmatch(value) for value in values):
            return "nested"
        return "single" if len(self.gold) == 1 else "multiple"

    def candidates(self) -> list[str]:
        """Names of the tools that the prompt offers."""
        return _NAMED.findall(self.prompt[: self.prompt.rfind(_INSTRUCTION)])

    def tools(self) -> list[dict[str, Any]]:
        """The tools that the prompt offers. Raises ValueError where they are no list of objects."""
        start, end = self.prompt.find(_TOOLS) + len(_TOOLS), self.prompt.rfind(_INSTRUCTION)
        return as_objects(read_literal(self.prompt[start:end]))

    def prompt_with(self, tools: list[Any]) -> str:
        """The prompt with other tools, written as the data write them."""
        start, end = self.prompt.find(_TOOLS) + len(_TOOLS), self.prompt.rfind(_INSTRUCTION)
        return f"{self.prompt[:start]}{tools!r}{self.prompt[end:]}"


def read_literal(text: str) -> Any:
    """The value of a Python literal. Raises ValueError."""
    if '"' not in text and "\\" not in text:
        try:
            return loads(text.replace("'", '"'))  # the same where texts hold no quotes, and much faster
        except ValueError:
            pass  # it has words that JSON spells otherwise
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"not a Python literal ({type(error).__name__})") from error


# Records ---------------------------------------------------------------------------------------------


def load(
    benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
) -> Iterator[Item]:
    """The records of a split in the order of their files, with the pool where tools are retrieved. Raises DataError."""
    retrieves = benchmark.mode == RETRIEVAL
    pool, roles = (str(_pool_file(source.path)), ("retriever",)) if retrieves else ("", ())
    for file, path in DATA.files_of(source.path, split).items():
        for where, record in read_record_list(path):
            name = required_field(record, "id", str, where)
            parsed = replace(parse_record(record, f"{where} (id {name!r})"), pool=pool)
            item = Item(name, ("0",), parsed, split=PurePosixPath(file).stem, roles=roles)
            if lang in (None, item.lang):
                yield item


def fields(benchmark: Benchmark, item: Item, unit: str) -> Mapping[str, FieldValue]:
    """Shape and difficulty of a record."""
    return {"shape": item.data.shape, "easy": _difficulty_of(item.id) == "easy"}


def _difficulty_of(item: str) -> str:
    """The data's own word for how hard a record is, which its id holds."""
    return "easy" if "easy" in item else "difficult"


def parse_record(record: dict[str, Any], where: str) -> SealRecord:
    """One record. Raises DataError naming place and field."""
    turns = as_objects(required_field(record, "conversations", list, where))
    if len(turns) != 2:
        raise DataError(
            f"{where}: conversations: expected the user's turn and the gold one, found {len(turns)}"
        )
    prompt, gold = (
        required_field(turn, "value", str, f"{where}: conversations[{n}]") for n, turn in enumerate(turns)
    )
    if _INSTRUCTION not in prompt or _TOOLS not in prompt:
        raise DataError(
            f"{where}: conversations[0]: expected `{_TOOLS.strip()}` and `{_INSTRUCTION.strip()}`"
        )
    try:
        calls = read_literal(gold)
    except ValueError as error:
        raise DataError(f"{where}: conversations[1]: {error}") from error
    if not isinstance(calls, list) or not calls:
        raise DataError(f"{where}: conversations[1]: expected a list of calls, found {json_type(calls)}")
    for number, call in enumerate(cast(list[Any], calls)):
        place = f"{where}: call {number}"
        required_field(as_object(call), "api", str, place)
        required_field(as_object(call), "parameters", dict, place)
        required_field(as_object(call), "responses", list, place)
    return SealRecord(prompt, gold, tuple(cast(list[Any], calls)))


def read_pool(path: Path) -> dict[str, dict[str, Any]]:
    """All tools by name. Raises DataError."""
    return {
        required_field(tool, "api_name", str, where): tool for where, tool in read_packed_lines(path, "tool")
    }


def searched_text(tool: Mapping[str, Any]) -> str:
    """What a retriever reads of a tool: its name, description and field, and its parameters."""
    parameters = as_object(tool.get("parameters"))
    described = (f"{name} {as_object(entry).get('description', '')}" for name, entry in parameters.items())
    return " ".join(
        map(str, (tool.get("api_name"), tool.get("api_description"), tool.get("field"), *described))
    )


# What a benchmark declares ---------------------------------------------------------------------------


def _faults(record: SealRecord) -> Iterator[Finding]:
    """Gold calls that the offered tools do not admit, and those that the published rules cannot score."""
    try:
        tools = {tool.get("api_name"): as_object(tool.get("parameters")) for tool in record.tools()}
    except ValueError as error:
        yield fault("unreadable tools", str(error))
        return
    names = [call["api"] for call in record.gold]
    for name in dict.fromkeys(names):
        if name not in tools:
            yield fault("tool not offered", f"gold calls {name!r}; offered: {', '.join(map(str, tools))}")
        if names.count(name) > 1:
            yield fault(
                "tool called twice", f"{name!r}: the published rules compare only with its first call"
            )
    labels: list[Any] = []
    for call in record.gold:
        for key, value in call["parameters"].items():
            if key not in tools.get(call["api"], {key: None}):
                yield fault("unknown parameter", f"{call['api']!r} declares no {key!r}")
            if isinstance(value, str) and _LABEL.fullmatch(value) and value not in labels:
                yield fault("unknown result", f"{key!r} takes {value}, which no earlier call gives")
        labels += as_list(call["responses"])


def _stats(source: Source, items: Iterable[Item]) -> Iterator[Metric]:
    """Records, calls and parameters by split, and records by kind."""
    all_items = list(items)
    yield from measure_metrics(
        all_items,
        lambda item: item.split,
        {
            "records": lambda item: 1,
            "gold calls": lambda item: len(item.data.gold),
            "gold parameters": lambda item: sum(len(call["parameters"]) for call in item.data.gold),
            "gold APIs not offered": lambda item: len(
                {call["api"] for call in item.data.gold} - {*item.data.candidates()}
            ),
        },
    )
    shapes = Counter(cast(SealRecord, item.data).shape for item in all_items)
    yield from count_metrics("kind", shapes, ("single", "multiple", "nested"))
    yield from count_metrics("difficulty", Counter(_difficulty_of(item.id) for item in all_items))


def _pool_file(place: Path) -> Path:
    """The file of all tools beside the records. Raises DataError."""
    folder = place if place.is_dir() else place.parent
    for near in (folder, folder / DATA.home, folder.parent):
        if path := find_packed(near, _POOL_FILE):
            return path
    raise DataError(
        f"{folder}: {_POOL_FILE} is missing, the pool of all tools; `wildtool data pull sealtools` gets it"
    )


RULES_OF_DATA = (_faults,)
_FILES = {name: f"{_RECORDS}/{name}.json" for name in RECORD_FILES}
DATA = DataSet(
    name="sealtools",
    repository="fairyshine/Seal-Tools",
    commit="ce753ecd60ed08dd376984035de531ab8421f1c6",
    home="Seal-Tools_Dataset",
    files={
        _FILES[DEV]: "24cf1bbe0719aed1780ca43553611535cc0e1e626529011d131e860d4222cca3",
        _FILES[IN_DOMAIN]: "75d51adc3521c6dce1b0f19628446a5e49d30e7a36425fada7809b0f5a4e4d7a",
        _FILES[OUT_DOMAIN]: "adcdde6eac7cdeb5fe10ea3c77a89fbc55a8dca7fc8c2a23dc17222cb4f4f2f4",
        _POOL_FILE: "35e34aaec1f0793c2b5a5dff734cb925837988f59ed0fe4f410d67f3d8375f5c",
    },
    licence="Apache-2.0, as its LICENSE says",
    splits={
        "": tuple(_FILES.values()),
        **{name: (file,) for name, file in _FILES.items()},
        "test": (_FILES[IN_DOMAIN], _FILES[OUT_DOMAIN]),
    },
    takes="a folder of Seal-Tools, or one of its files",
    copies=f"a checkout of fairyshine/Seal-Tools or a folder with {_RECORDS} and {_POOL_FILE}",
    user_texts=lambda item: [item.data.query],
    read_results=deferred("wildtool.benchmarks.sealtools.results:read_results"),
    documents=lambda source: {
        name: searched_text(tool) for name, tool in read_pool(_pool_file(source.path)).items()
    },
    stats=_stats,
)


def _pool_files(place: Path) -> list[Path]:
    return [_pool_file(place)]


POOLED_DATA = replace(DATA, beside=_pool_files)
"""The data of runs that retrieve: the pool belongs to what they read."""
