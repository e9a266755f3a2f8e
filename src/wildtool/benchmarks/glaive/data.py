"""Glaive's files: the public dialogues, their conversion to ShareGPT as ToLeaP makes it, and records as items."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Benchmark
from wildtool.data.data_set import DataSet
from wildtool.data.files import read_unpacked, source_of_files
from wildtool.data.pinned import ReportProgress, install, official_folder
from wildtool.errors import DataError, unknown_name
from wildtool.findings import Finding
from wildtool.json_codec import (
    LINE_LIMITS,
    as_object,
    as_objects,
    checked,
    json_type,
    loads_within,
    required_field,
)
from wildtool.toolcall.text.json_in_text import objects_in
from wildtool.types import Item, Source

_CONVERTED_FILE = "sharegpt.json"
_HOW_TO_GET = (
    "download the data set glaiveai/glaive-function-calling of the Hugging Face Hub and bring it with"
    " `wildtool data pull glaive --from FILE`, or name the file with --data"
)
_SYSTEM = re.compile(r"SYSTEM: (.*?)(?=\nUSER:|\Z)", re.DOTALL)
_USER = re.compile(r"USER: (.*?)\n")
_CALL = re.compile(r"ASSISTANT: <functioncall> (.*?)\n")
_ANY_CALL = re.compile(r"<functioncall>")
_SUFFIXES = (".json", ".jsonl")
_LOOKED_AT = 1 << 16
"""Bytes at the beginning of a file that show whether it is one of ours."""


@dataclass(frozen=True, slots=True)
class GlaiveRecord:
    """One request with its gold call."""

    system: str
    """Instruction and functions."""
    request: str
    """What the user says."""
    gold_text: str
    """The gold call, as the data write it."""

    @property
    def gold(self) -> Any:
        """The gold call; None where it is not JSON."""
        try:
            return json.loads(self.gold_text)
        except (ValueError, RecursionError):
            return None

    def functions(self) -> dict[str, dict[str, Any]]:
        """Name to parameter schema of the functions that the system text describes."""
        entries = (entry for entry in objects_in(self.system) if isinstance(entry.get("name"), str))
        return {entry["name"]: as_object(entry.get("parameters")) for entry in entries}


# Conversion ------------------------------------------------------------------------------------------


def convert(samples: Iterable[str]) -> list[dict[str, Any]]:
    """Dialogues of Glaive as ShareGPT records, as ToLeaP's `glaive2sharegpt` makes them: first request, first call.

    A dialogue without a call that can be read on its line is left out; one without a system text gets that of the
    dialogue before it. ToLeaP's specification, section 2.
    """
    records: list[dict[str, Any]] = []
    system = ""
    for sample in samples:
        if match := _SYSTEM.search(sample):
            system = match[1].strip()
        users, calls = _USER.findall(sample), _CALL.findall(sample)
        if users and calls and _is_json(calls[0]):
            turns = [{"from": "human", "value": users[0]}, {"from": "gpt", "value": calls[0]}]
            records.append({"conversations": turns, "system": system})
    return records


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


# Files -----------------------------------------------------------------------------------------------


class GlaiveData(DataSet):
    """The user's copy of the public dialogues, converted."""

    def pull(self, *, file: Path | None, mirror: str | None, report: ReportProgress) -> Path:
        target = official_folder(self.name) / _CONVERTED_FILE
        if file is None:
            if not target.is_file():
                raise DataError(f"Glaive's dialogues have no pinned address: {_HOW_TO_GET}")
            report(f"{target} is there; --from FILE replaces it")
            return target
        if file.is_dir():
            near = ", ".join(path.name for path in sorted(file.iterdir()) if path.suffix in _SUFFIXES)
            raise DataError(
                f"{file} is a folder; --from takes one file of Glaive's dialogues, objects with `sample` in .json or "
                f".jsonl" + (f"; there are {near} in it" if near else "")
            )
        records = _read_records(file)
        install(target, json.dumps(records, ensure_ascii=False, indent=2).encode())
        report(
            f"{len(records)} records in ShareGPT's format; the digest of the data is not known, so not verified"
        )
        report("source: glaiveai/glaive-function-calling on the Hugging Face Hub; licence: Apache-2.0")
        return target

    def locate(self, data: str | None, split: str | None = None) -> Source:
        path = official_folder(self.name) / _CONVERTED_FILE if data in (None, "official") else Path(data)
        if not path.is_file():
            raise DataError(
                f"the records are not at {path}: {_HOW_TO_GET}"
                if data in (None, "official")
                else f"no file {data!r}; --data takes official, or a file of Glaive's dialogues or of ShareGPT records"
            )
        if not path.name.removesuffix(".gz").endswith(_SUFFIXES):
            raise DataError(
                f"{path}: expected a file that ends in {' or '.join(_SUFFIXES)}, or in .gz after it"
            )
        if not any(sign in read_unpacked(path)[:_LOOKED_AT] for sign in (b'"sample"', b'"conversations"')):
            raise DataError(f"{path}: expected objects with `sample`, or with `conversations` and `system`")
        return source_of_files(data or "official", path, [path])


def load(
    benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
) -> Iterator[Item]:
    """The records of a file in order; dialogues are converted first. Raises DataError."""
    if split is not None:
        raise DataError(unknown_name("split", split, ()))
    for number, record in enumerate(_read_records(source.path)):
        where = f"{source.path}: record {number}"
        item = Item(f"{number:05}", ("0",), parse_record(record, where))
        if lang in (None, item.lang):
            yield item


def _read_records(path: Path) -> list[Any]:
    """ShareGPT records, converted where the file has dialogues. Raises DataError."""
    samples = _read(path)
    if samples and "sample" in as_object(samples[0]):
        return convert(_samples(samples, path))
    return samples


def _samples(samples: list[Any], path: Path) -> Iterator[str]:
    for number, element in enumerate(samples):
        where = f"{path}: record {number}"
        yield required_field(checked(element, dict, where), "sample", str, where)


def _read(path: Path) -> list[Any]:
    """A JSON list, or the values of JSON Lines, whatever the file is called. Raises DataError."""
    data = read_unpacked(path)
    try:
        if data.lstrip()[:1] == b"[":
            return checked(loads_within(data, LINE_LIMITS), list, str(path))
        return [loads_within(line, LINE_LIMITS) for line in data.splitlines() if line.strip()]
    except ValueError as error:
        raise DataError(f"{path}: neither a JSON list nor JSON Lines ({error})") from error


def parse_record(record: Any, where: str) -> GlaiveRecord:
    """One ShareGPT record. Raises DataError naming place and field."""
    record = checked(record, dict, where)
    turns = as_objects(required_field(record, "conversations", list, where))
    speakers = [turn.get("from") for turn in turns]
    if speakers != ["human", "gpt"]:
        raise DataError(f"{where}: conversations: expected a turn of human and one of gpt, found {speakers}")
    request, gold = (
        required_field(turn, "value", str, f"{where}: conversations[{n}]") for n, turn in enumerate(turns)
    )
    return GlaiveRecord(required_field(record, "system", str, where), request, gold)


# Checks ----------------------------------------------------------------------------------------------


def _lint(source: Source) -> Iterator[Finding]:
    """What the conversion loses or mixes up in dialogues, and gold calls that the functions do not admit."""
    try:
        records = _read(source.path)
        if records and "sample" in as_object(records[0]):
            for number, sample in enumerate(_samples(records, source.path)):
                where = f"{source.path}: record {number}"
                yield from (Finding(where, *fault) for fault in _conversion_faults(sample))
        for number, record in enumerate(_read_records(source.path)):
            parsed = parse_record(record, f"{source.path}: record {number}")
            yield from (Finding(f"{source.path}: {number:05}", *fault) for fault in _gold_faults(parsed))
    except DataError as error:
        yield Finding(str(source.path), "unreadable", str(error))


def _conversion_faults(sample: str) -> Iterator[tuple[str, str]]:
    if not _SYSTEM.search(sample):
        yield "no system text", "the record gets the functions of the one before it (Q7)"
    calls = _CALL.findall(sample)
    if _ANY_CALL.search(sample) and not (calls and _is_json(calls[0])):
        yield "lost call", "its first call is no JSON on one line with a line end, so the record is lost (Q8)"
    elif calls and len(_USER.findall(sample.partition("<functioncall>")[0])) > 1:
        yield "late call", "the user spoke more than once before the call; only the first time is shown (Q9)"


def _gold_faults(record: GlaiveRecord) -> Iterator[tuple[str, str]]:
    gold = as_object(record.gold)
    functions: Mapping[str, dict[str, Any]] = record.functions()
    name, arguments = gold.get("name"), gold.get("arguments")
    if name not in functions:
        names = ", ".join(functions) or "none"
        yield "unknown function", f"gold calls {str(name)[:80]!r}; the system text describes {names}"
        return
    if not isinstance(arguments, dict):
        yield (
            "arguments",
            f"expected an object, found {json_type(arguments)}; `toleap` cannot compare it (Q2)",
        )
        return
    declared = as_object(functions[cast(str, name)].get("properties"))
    for key in (key for key in cast(dict[str, Any], arguments) if key not in declared):
        yield "unknown argument", f"{name!r} declares no {key!r}"


DATA = GlaiveData(name="glaive", user_texts=lambda item: [item.data.request], lint=_lint)
