"""The rules of a whole training file (specification of training data, 3.5: F01 to F07), and its check row by row."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError, UsageError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, dumps, json_type
from wildtool.training.conversation import ROW_REPAIRS
from wildtool.training.record import RejectedRow, ResultTurn, TrainingRecord
from wildtool.training.writers.options import DEFAULT_WRITING
from wildtool_data.prepare.check.rows import (
    CheckedRow,
    RowForm,
    checked_rows,
    is_parquet,
    keys_repeated_inside,
    repeated_keys,
)
from wildtool_data.prepare.check.rules import check_record, record_finding, record_kind
from wildtool_data.prepare.check.trainers import TRAINERS
from wildtool_data.prepare.keys import record_digest
from wildtool_data.prepare.writers.sharegpt import sharegpt_row

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "Glaive function calling v2": (
        "glaive-chatml",
        "glaive-toolcall",
        "pandora",
        "bitagent",
        "function-calling-chatml",
        "glaive-toolcall-en",
        "glaive-toolcall-zh",
        "glaive-toolcall-zh-tw",
        "pandora-tool-calling",
        "glaive-function-calling",
        "glaive-function-calling-v2",
    ),
    "ToolBench (RapidAPI)": (
        "toolbench",
        "toolgen",
        "toolbench-toolllama-g123-dfs",
        "toolgen-atomic",
        "toolgen-atomic-memorization",
        "toolgen-atomic-retrieval",
    ),
    "Hermes function calling": (
        "hermes",
        "hermes-prompts",
        "tool-calls-sampled-prompts",
        "tool-calls-multiturn",
        "tool-calls-singleturn",
    ),
}


def shared_families(names: Iterable[str]) -> dict[str, list[str]]:
    """Each family of which several of these names are members, with those names in order.

    Args:
        names: of sets or their files; a place on a hub, an ending and `_` for `-` make no difference.
    """
    families: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        plain = name.lower().rpartition("/")[2].partition(".")[0].replace("_", "-")
        for family, members in _FAMILIES.items():
            if plain in members:
                families.setdefault(family, []).append(name)
    return {family: members for family, members in families.items() if len(members) > 1}


TOKENIZER_FILE = "tokenizer.json"


def token_counter(path: Path) -> Callable[[str], int]:
    """A function that counts tokens with the tokenizer of a model.

    Args:
        path: a `tokenizer.json`, or a model's folder with one.

    Raises:
        UsageError: the library `tokenizers` is not installed.
        DataError: the file cannot be read as a tokenizer.
    """
    file = path / TOKENIZER_FILE if path.is_dir() else path
    try:
        library: Any = import_module("tokenizers")
    except ModuleNotFoundError as error:
        raise UsageError("--tokenizer needs the package tokenizers: pip install tokenizers") from error
    if not file.is_file():
        raise DataError(f"{file}: no such file; --tokenizer takes a {TOKENIZER_FILE} or a model's folder")
    try:
        tokenizer: Any = library.Tokenizer.from_file(str(file))
    except Exception as error:
        raise DataError(f"{file}: cannot be read as a tokenizer ({error})") from error
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


CUTOFF = 2048
"""Tokens of a record that LLaMA-Factory keeps by default."""
CHARACTERS_PER_TOKEN = 3.5
"""Rule of thumb where there is no tokenizer."""
LONG_SHARE, DUPLICATE_SHARE, PLAIN_SHARE = 0.01, 0.05, 0.02
"""Shares of F03, F05 and F06."""
_NO_OBJECT = "expected an object, found "
"""How the reader of files says that a row is another kind of JSON."""
_DEEPEST = 4
"""Fields within fields that F02 compares; schemas and arguments differ from record to record and are left out."""
_MOST_KEYS = 10
"""Repeated keys of a row that are named."""
_FREE = frozenset({"tools", "arguments", "parameters", "wildtool"})


@dataclass(slots=True)
class FileCheck:
    """Counts of a check, complete once all its findings were taken."""

    form: RowForm = "sharegpt"
    rows: int = 0
    unreadable: int = 0
    """Rows that are no JSON object."""
    levels: Counter[str] = field(default_factory=Counter[str])
    trainers: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    """By trainer, records that it drops, changes, cuts or stops at."""

    @property
    def records(self) -> int:
        """Rows that could be read."""
        return self.rows - self.unreadable


def check_training_file(
    path: Path,
    result: FileCheck,
    *,
    trainers: Sequence[str] = (),
    cutoff: int = CUTOFF,
    tokens: Callable[[str], int] | None = None,
    take: Callable[[TrainingRecord], None] = lambda record: None,
) -> Iterator[Finding]:
    """The findings of a file, row by row, then those of the whole.

    Args:
        result: takes the counts.
        trainers: names of `TRAINERS` whose treatment of each record is reported too.
        tokens: counts the tokens of a text; None estimates them from its characters.
        take: is given each record that could be read.

    Raises:
        DataError: the file cannot be read, or holds no training records.
    """
    for finding in _findings(path, result, trainers, _Whole(cutoff, tokens), take):
        result.levels[finding.level] += 1
        yield finding


def _findings(
    path: Path,
    result: FileCheck,
    trainers: Sequence[str],
    totals: "_Whole",
    take: Callable[[TrainingRecord], None],
) -> Iterator[Finding]:
    result.form, rows = checked_rows(path)
    result.trainers.update({name: Counter() for name in trainers})
    for row in rows:
        result.rows += 1
        place = f"{path}:{row.number}"
        findings = _row_findings(row, result.form)
        if isinstance(row.record, TrainingRecord):
            take(row.record)
        if row.value is None:
            result.unreadable += 1
        for finding in (*findings, *totals.add(row, place)):
            yield replace(finding, where=place, id=row.id)
        for name in trainers if row.value is not None else ():
            for note in _trainer_notes(name, row, result.form, findings, totals.length):
                result.trainers[name][note.rule] += 1
                yield replace(note, where=place, id=row.id, rule=f"{name} {note.rule}")
    for name in trainers:
        for note in TRAINERS[name].of_file(result.form, is_parquet(path)):
            yield Finding(str(path), f"{name} {note.rule}", f"every record: {note.message}", "note")
    for finding in totals.findings():
        yield replace(finding, where=str(path))


def _row_findings(row: CheckedRow, form: RowForm) -> list[Finding]:
    if row.value is None or (form == "messages" and isinstance(row.record, RejectedRow)):
        assert isinstance(row.record, RejectedRow)
        reason, detail = row.record.reason, row.record.detail
        if detail.startswith(_NO_OBJECT):
            reason, detail = "S01", f"a record must be an object, this is {detail[len(_NO_OBJECT) :]}"
        return [record_finding(reason, "", detail)]
    if form == "sharegpt":
        return check_record(row.value, record_kind(row.value))
    assert isinstance(row.record, TrainingRecord)
    repairs = [record_finding("repair", "", f"{ROW_REPAIRS[name]} when read") for name in row.record.repairs]
    return [*repairs, *_messages_findings(row.record)]


def _messages_findings(record: TrainingRecord) -> list[Finding]:
    """The findings of the rules in what a record of messages becomes in ShareGPT's form, with the places of messages."""
    sizes = (len(turn.results) if isinstance(turn, ResultTurn) else 1 for turn in record.turns)
    places = accumulate(sizes, initial=1 if record.system else 0)
    names = {f"conversations[{k}]": f"messages[{place}]" for k, place in enumerate(places)}
    findings = check_record(sharegpt_row(record, DEFAULT_WRITING), record.kind)
    return [replace(finding, field=names.get(finding.field, finding.field)) for finding in findings]


def _trainer_notes(
    name: str, row: CheckedRow, form: RowForm, findings: list[Finding], length: float
) -> Iterator[Finding]:
    trainer = TRAINERS[name]
    yield from trainer.of_record(as_object(row.value), form, findings)
    if length > trainer.cutoff:
        message = f"about {length:,.0f} tokens, more than its default of {trainer.cutoff}: {trainer.too_long.message}"
        yield replace(trainer.too_long, message=message)


class _Whole:
    """What the rules of the whole file need to know of its rows."""

    def __init__(self, cutoff: int, tokens: Callable[[str], int] | None) -> None:
        self._cutoff, self._tokens = cutoff, tokens
        self._kinds: dict[str, str] = {}
        self._types: dict[str, dict[str, str]] = {}
        self._digests: set[bytes] = set()
        self._records = self._readable = self._long = self._repeated = self._plain = 0
        self._sources: dict[str, None] = {}
        self.length = 0.0
        """Tokens of the last row, perhaps estimated."""

    def add(self, row: CheckedRow, place: str) -> Iterator[Finding]:
        """Takes a row; gives the findings of F04, and keys that the row has twice."""
        self.length = 0.0
        if row.value is None:
            return
        self._records += 1
        self._kinds.setdefault(record_kind(row.value), place)
        self._note_types("", row.value, place, 0)
        text = dumps(row.value)
        text_of_row = "\n".join(_texts(row.value))
        self.length = self._tokens(text_of_row) if self._tokens else len(text_of_row) / CHARACTERS_PER_TOKEN
        self._long += self.length > self._cutoff
        if isinstance(row.record, TrainingRecord):
            digest = record_digest(row.record)
            self._readable += 1
            self._plain += not row.record.calls
        else:
            digest = hashlib.sha256(text).digest()
        self._repeated += digest in self._digests
        self._digests.add(digest)
        for key in ("source", "dataset"):
            if isinstance(name := as_object(row.value).get(key), str) and len(self._sources) < 1000:
                self._sources[name] = None
        repeated = dict.fromkeys([*repeated_keys(row.text, text), *keys_repeated_inside(row.value)])
        for key in islice(repeated, _MOST_KEYS):
            place_of_key = f"an object has the key {dumps(key).decode()} more than once"
            yield record_finding("repeated-key", "", f"{place_of_key}; readers take its last value")
        if b"\\u0000" in text or b"\\ud" in text:
            for where, value in _leaves("", row.value):
                if "\x00" in value or any("\ud800" <= c <= "\udfff" for c in value):
                    character = "a NUL" if "\x00" in value else "half of a surrogate pair"
                    yield record_finding("F04", where, f"holds {character}, which loaders refuse")

    def _note_types(self, where: str, value: Any, place: str, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if isinstance(value, dict):
            for key, inner in as_object(value).items():
                name = f"{where}.{key}" if where else key
                if inner is not None:
                    self._types.setdefault(name, {}).setdefault(json_type(inner), place)
                if key not in _FREE:
                    self._note_types(name, inner, place, depth + 1)
        elif isinstance(value, list):
            for inner in as_list(value):
                self._note_types(f"{where}[]", inner, place, depth + 1)

    def findings(self) -> Iterator[Finding]:
        """F01 to F07 of the rows taken."""
        if len(self._kinds) > 1:
            places = ", ".join(f"{kind} at {place}" for kind, place in self._kinds.items())
            yield fault("F01", f"conversations and preference pairs in one file: {places}")
        for name, kinds in self._types.items():
            if len(kinds) > 1:
                places = ", ".join(f"{kind} at {place}" for kind, place in kinds.items())
                yield fault("F02", f"{name} has different types, which column loaders refuse: {places}")
        count = self._records
        of = f"of {counted(count, 'record')}"
        if self._long > LONG_SHARE * count:
            estimated = f" (estimated as characters ÷ {CHARACTERS_PER_TOKEN}; see --tokenizer)"
            length = f"{self._cutoff} tokens{'' if self._tokens else estimated}"
            yield record_finding("F03", "", f"longer than {length}: {self._long:,} {of}")
        if self._repeated > DUPLICATE_SHARE * count:
            yield record_finding("F05", "", f"exact duplicates of earlier records: {self._repeated:,} {of}")
        if self._plain < PLAIN_SHARE * self._readable:
            few = f"hardly any record is without a call ({self._plain:,} of {counted(self._readable, 'record')})"
            which = few if self._plain else "no record is without a call"
            yield record_finding("F06", "", f"{which}: such sets teach a model to call always")
        for family, names in shared_families(self._sources).items():
            yield fault("F07", f"{', '.join(names)} are partly the same data ({family})", level="note")


def _texts(row: Any) -> Iterator[str]:
    """What a model is shown of a row: texts of turns and messages, calls, system and tools."""
    for key, value in as_object(row).items():
        if key in ("id", "source", "dataset", "wildtool"):
            continue
        if isinstance(value, str):
            yield value
        elif key == "tools":
            yield dumps(value).decode("utf-8", "replace")
        else:
            for turn in as_list(value) or [value]:
                for inner in as_object(turn).values():
                    if inner is not None:
                        yield inner if isinstance(inner, str) else dumps(inner).decode("utf-8", "replace")


def _leaves(where: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every text in a value with its place, keys included."""
    pending = [(where, value)]
    while pending:
        name, holder = pending.pop()
        if isinstance(holder, str):
            yield name, holder
        elif isinstance(holder, dict):
            for key, inner in as_object(holder).items():
                yield f"{name}.{key}".strip("."), key
                pending.append((f"{name}.{key}".strip("."), inner))
        elif isinstance(holder, list):
            pending += [(f"{name}[{k}]", inner) for k, inner in enumerate(as_list(holder))]
