"""Seal-Tools' files: where they come from, their records as items, and the pool of all tools."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Finding
from wildtool.data.files import find_packed, read_record_list, read_unpacked, source_of_files
from wildtool.data.pinned import PinnedFile, data_place, fetch_all, official_folder
from wildtool.errors import DataError, unknown_name
from wildtool.json_codec import as_list, as_object, as_objects, json_type, loads, required_field
from wildtool.stats.describe import count_metrics
from wildtool.types import Item, Metric, Source

DEV, IN_DOMAIN, OUT_DOMAIN = "dev", "test_in_domain", "test_out_domain"
RECORD_FILES = (DEV, IN_DOMAIN, OUT_DOMAIN)
SPLITS = (*RECORD_FILES, "test")
"""One file each, and both tests together."""
REPOSITORY = "fairyshine/Seal-Tools"
COMMIT = "ce753ecd60ed08dd376984035de531ab8421f1c6"
_FOLDER, _RECORDS, POOL_FILE = "Seal-Tools_Dataset", "dataset_for_finetune", "tool.jsonl"
DIGESTS: Mapping[str, str] = {
    f"{_RECORDS}/{DEV}.json": "24cf1bbe0719aed1780ca43553611535cc0e1e626529011d131e860d4222cca3",
    f"{_RECORDS}/{IN_DOMAIN}.json": "75d51adc3521c6dce1b0f19628446a5e49d30e7a36425fada7809b0f5a4e4d7a",
    f"{_RECORDS}/{OUT_DOMAIN}.json": "adcdde6eac7cdeb5fe10ea3c77a89fbc55a8dca7fc8c2a23dc17222cb4f4f2f4",
    POOL_FILE: "35e34aaec1f0793c2b5a5dff734cb925837988f59ed0fe4f410d67f3d8375f5c",
}
"""SHA-256 of each file."""
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


# Files -----------------------------------------------------------------------------------------------


def pinned_files() -> dict[Path, PinnedFile]:
    """Target to pinned file."""
    return {
        official_folder("sealtools") / name: PinnedFile(
            REPOSITORY, COMMIT, f"{_FOLDER}/{name}", sha256=digest, other_path=name
        )
        for name, digest in DIGESTS.items()
    }


def pull(file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
    """Brings the records and the pool into the cache, verified; `file` is a folder to copy them from."""
    if file is not None and not file.is_dir():
        raise DataError(
            f"{file}: no folder; --from takes a checkout of {REPOSITORY} or a folder with {_RECORDS} and {POOL_FILE}"
        )
    fetch_all(pinned_files(), folder=file, mirror=mirror, report=report)
    report(f"source: {REPOSITORY} at commit {COMMIT}; licence: Apache-2.0, as its LICENSE says")
    return official_folder("sealtools")


def locate(data: str | None, split: str | None, *, with_pool: bool) -> Source:
    """The data a user named: None or `official`, a folder, or one file of records. Raises DataError.

    Args:
        with_pool: whether the pool of all tools belongs to them.
    """
    place = data_place(data, "sealtools", "a folder of Seal-Tools, or one of its files")
    pool = [pool_file(place)] if with_pool else []
    return source_of_files(data or "official", place, [*files_of(place, split).values(), *pool])


def files_of(place: Path, split: str | None) -> dict[str, Path]:
    """By name the files of a split; one file alone, whatever the split. Raises DataError."""
    if split is not None and split not in SPLITS:
        raise DataError(unknown_name("split", split, SPLITS))
    if place.is_file():
        return {place.name.removesuffix(".gz").removesuffix(".json"): place}
    wanted = {"test": RECORD_FILES[1:], None: RECORD_FILES}.get(split, (split or "",))
    for folder in (place / _FOLDER / _RECORDS, place / _RECORDS, place):
        found = {name: path for name in wanted if (path := find_packed(folder, f"{name}.json"))}
        if len(found) == len(wanted):
            return found
        if found:
            missing = next(name for name in wanted if name not in found)
            raise DataError(f"{folder}: {missing}.json is missing; choose what is there with --split")
    raise DataError(f"{place}: holds no {_RECORDS}/{wanted[0]}.json (nor .json.gz)")


def pool_file(place: Path) -> Path:
    """The file of all tools beside the records. Raises DataError."""
    folder = place if place.is_dir() else place.parent
    for near in (folder, folder / _FOLDER, folder.parent):
        if found := find_packed(near, POOL_FILE):
            return found
    raise DataError(
        f"{folder}: {POOL_FILE} is missing, the pool of all tools; `wildtool data pull sealtools` gets it"
    )


# Records ---------------------------------------------------------------------------------------------


def read_items(source: Source, split: str | None) -> Iterator[Item]:
    """The records of a split in the order of their files. Raises DataError."""
    for name, path in files_of(source.path, split).items():
        for where, record in read_record_list(path):
            item = required_field(record, "id", str, where)
            yield Item(item, ("0",), parse_record(record, f"{where} (id {item!r})"), split=name)


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
    pool: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(read_unpacked(path).splitlines(), 1):
        if line.strip():
            try:
                tool = as_object(loads(line))
            except ValueError as error:
                raise DataError(f"{path}:{number}: not JSON ({error})") from error
            pool[required_field(tool, "api_name", str, f"{path}:{number}")] = tool
    return pool


def searched_text(tool: Mapping[str, Any]) -> str:
    """What a retriever reads of a tool: its name, description and field, and its parameters."""
    parameters = as_object(tool.get("parameters"))
    described = (f"{name} {as_object(about).get('description', '')}" for name, about in parameters.items())
    return " ".join(
        map(str, (tool.get("api_name"), tool.get("api_description"), tool.get("field"), *described))
    )


# Description and checks ----------------------------------------------------------------------------------------------


def lint(source: Source) -> Iterator[Finding]:
    """Gold calls that the offered tools do not admit, and those that the published rules cannot score."""
    try:
        for item in read_items(source, None if source.path.is_dir() else DEV):
            yield from _lint_record(f"{source.path}: {item.id}", item.data)
    except DataError as error:
        yield Finding(str(source.path), "unreadable", str(error))


def _lint_record(where: str, record: SealRecord) -> Iterator[Finding]:
    try:
        tools = {tool.get("api_name"): as_object(tool.get("parameters")) for tool in record.tools()}
    except ValueError as error:
        yield Finding(where, "unreadable tools", str(error))
        return
    called = [call["api"] for call in record.gold]
    for name in dict.fromkeys(called):
        if name not in tools:
            yield Finding(
                where, "tool not offered", f"gold calls {name!r}; offered: {', '.join(map(str, tools))}"
            )
        if called.count(name) > 1:
            yield Finding(
                where, "tool called twice", f"{name!r}: the published rules compare only with its first call"
            )
    labels: list[Any] = []
    for call in record.gold:
        for key, value in call["parameters"].items():
            if key not in tools.get(call["api"], {key: None}):
                yield Finding(where, "unknown parameter", f"{call['api']!r} declares no {key!r}")
            if isinstance(value, str) and _LABEL.fullmatch(value) and value not in labels:
                yield Finding(where, "unknown result", f"{key!r} takes {value}, which no earlier call gives")
        labels += as_list(call["responses"])


def stats(source: Source) -> Iterator[Metric]:
    """Records, calls and parameters by split, and records by kind. Raises DataError."""
    found = list(read_items(source, None))
    measures: Mapping[str, Callable[[SealRecord], int]] = {
        "records": lambda record: 1,
        "gold calls": lambda record: len(record.gold),
        "gold parameters": lambda record: sum(len(call["parameters"]) for call in record.gold),
        "gold APIs not offered": lambda record: len(
            {call["api"] for call in record.gold} - {*record.candidates()}
        ),
    }
    for name, measure in measures.items():
        counts: Counter[str] = Counter()
        for item in found:
            counts[item.split] += measure(item.data)
        yield from count_metrics(name, counts)
    shapes = Counter(cast(SealRecord, item.data).shape for item in found)
    yield from count_metrics("kind", shapes, ("single", "multiple", "nested"))
    yield from count_metrics("difficulty", Counter(difficulty_of(item.id) for item in found))


def difficulty_of(item: str) -> str:
    """The data's own word for how hard a record is, which its id holds."""
    return "easy" if "easy" in item else "difficult"
