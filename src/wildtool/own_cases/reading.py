"""Reads case files: YAML, JSON, JSON lines, CSV, with the place of each record."""

import csv
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wildtool.data.files import read_text
from wildtool.json_codec import LINE_LIMITS, as_list, as_object, check_limits
from wildtool.own_cases.places import CaseDocument, CaseRecord
from wildtool.own_cases.yaml_text import YAML_LIMITS, YamlError, YamlText, read_yaml_text
from wildtool.shapes.reading import of_json
from wildtool.toolcall.schema import ValuePath

YAML, JSON, LINES, CSV = "yaml", "json", "lines", "csv"
SUFFIXES: Mapping[str, str] = {
    ".yaml": YAML,
    ".yml": YAML,
    ".json": JSON,
    ".jsonl": LINES,
    ".ndjson": LINES,
    ".csv": CSV,
}
"""What a case file's name ends with, and how it is written."""
_COLUMN = re.compile(r"\w[\w -]*")
"""The name of a column; a line of YAML has other signs, or begins with one."""
_CSV_LISTS = ("expect", "never", "also", "tags")
_REVIEWERS = "reviewers"
_FILE_KEYS = ("defaults", "cases", "$schema", _REVIEWERS)
_HEAD_KEYS = {"defaults", _REVIEWERS}
"""Keys of the line of JSON lines that is about the file."""
_SEPARATOR = re.compile(r";(?![^()]*\))")
"""Between the members of a list in a cell; not inside the brackets of a call."""


def read_case_text(path: Path) -> str:
    """The text of a case file. Raises DataError."""
    return read_text(path, YAML_LIMITS.bytes)


def read_case_document(path: Path, text: str) -> CaseDocument:
    """The records of the text of a case file. What is not well written is among the faults.

    Args:
        path: names the file in messages; its suffix says how it is written.
    """
    document = CaseDocument(path)
    match SUFFIXES.get(path.suffix.casefold(), YAML):
        case "lines":
            _read_lines(document, text)
        case "csv":
            _read_csv(document, text)
        case "json":
            _read_json(document, text)
        case _:
            _read_yaml(document, text)
    return document


def _read_yaml(document: CaseDocument, text: str) -> None:
    try:
        tree = read_yaml_text(text)
    except YamlError as error:
        document.fail(error.line, "", str(error))
        return
    _add_tree(document, tree)


def _read_json(document: CaseDocument, text: str) -> None:
    """JSON is read as such, and once more as YAML, which knows the lines and which keys occur twice."""
    try:
        # Between the values of JSON a tab is a blank, which YAML refuses; inside of texts JSON has none.
        tree = read_yaml_text(text.replace("\t", " "))
    except YamlError:
        tree = None
    try:
        value = _parsed(text, check_keys=tree is None)
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        document.fail(line, "", f"not JSON: {error}")
        return
    _add_tree(document, YamlText(value, {}, {}, []) if tree is None else replace(tree, value=value))


def _add_tree(document: CaseDocument, tree: YamlText) -> None:
    """Adds the records of a file that is one value: an object with cases, a list of records, or one record."""
    for line, place in tree.repeated:
        name = str(place[-1])
        again = f"calls of one tool are list items: - {name}: …"
        document.fail(line, name, f"{name!r} occurs twice in one object, and only one would be read; {again}")
    held = as_object(tree.value)
    if "cases" in held or "defaults" in held:
        for key in held:
            if key not in _FILE_KEYS:
                message = f"{key!r} is not a key here; known: cases, defaults, reviewers"
                document.fail(tree.lines.get((key,), 1), key, message)
        _read_reviewers(document, held, tree.lines.get((_REVIEWERS,), 1))
        if held.get("defaults") is not None:
            document.defaults = _record(document, tree, held["defaults"], ("defaults",))
        if not as_list(held.get("cases")):
            document.fail(tree.lines.get(("cases",), 1), "cases", "expected a list of cases")
        records = as_list(held.get("cases"))
        document.records += [_record(document, tree, each, ("cases", at)) for at, each in enumerate(records)]
        return
    several = as_list(tree.value)
    document.records += [_record(document, tree, each, (at,)) for at, each in enumerate(several)]
    if not isinstance(tree.value, list | None):
        document.records.append(_record(document, tree, tree.value, ()))


def _read_reviewers(document: CaseDocument, head: Mapping[str, Any], line: int) -> None:
    """What a file says of its own review."""
    if _REVIEWERS not in head:
        return
    number = head[_REVIEWERS]
    if type(number) is int and number in (1, 2):
        document.reviewers = number
    else:
        document.fail(line, _REVIEWERS, "expected 1 or 2, how many people have to review each case")


def _record(document: CaseDocument, tree: YamlText, value: Any, base: ValuePath) -> CaseRecord:
    return CaseRecord(value, document.path, tree.lines.get(base, 1), tree.lines, tree.sources, base)


def _read_lines(document: CaseDocument, text: str) -> None:
    said: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = _parsed(line)
        except json.JSONDecodeError as error:
            document.fail(
                number, "", f"not JSON at column {error.colno}: {error.msg}; expected a case a line"
            )
            continue
        except ValueError as error:
            document.fail(number, "", f"not JSON: {error}")
            continue
        held = as_object(value)
        if held and {*held} <= _HEAD_KEYS:
            for key in sorted(said.intersection(held)):
                document.fail(
                    number, key, f"{key!r} is on an earlier line, too, and holds for the whole file"
                )
            said |= held.keys()
            _read_reviewers(document, held, number)
            if "defaults" in held:
                document.defaults = CaseRecord(held["defaults"], document.path, number)
        else:
            document.records.append(CaseRecord(value, document.path, number))


def _parsed(text: str, *, check_keys: bool = True) -> Any:
    """The value of a JSON text. Raises ValueError, also where a key occurs twice if that is to be checked."""
    check_limits(text.encode("utf-8", "surrogatepass"), LINE_LIMITS)
    try:
        return json.loads(text, object_pairs_hook=_unique if check_keys else None)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} occurs twice in one object")
    return members


def _read_csv(document: CaseDocument, text: str) -> None:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    csv.field_size_limit(min(sys.maxsize, YAML_LIMITS.bytes))
    line = 1
    heads: list[str] = []
    try:
        for cells in rows:
            if not heads:
                heads = [head.strip() for head in cells]
                for head in {head for head in heads if heads.count(head) > 1}:
                    document.fail(line, head, f"the column {head!r} occurs twice, and only one would be read")
            elif any(cell.strip() for cell in cells):
                _add_row(document, line, heads, cells)
            line = rows.line_num + 1
    except csv.Error as error:
        document.fail(line, "", f"not CSV: {error}")


def _add_row(document: CaseDocument, line: int, heads: Sequence[str], cells: Sequence[str]) -> None:
    if len(cells) > len(heads):
        document.fail(line, "", "more cells than columns; a text with a comma needs quotes")
        return
    row = {head: cell.strip() for head, cell in zip(heads, cells, strict=False)}
    if row.get("expect") == "":
        document.fail(line, "expect", "is empty; write none for no call")
        return
    values = {key: _cell(key, cell) for key, cell in row.items() if cell}
    document.records.append(CaseRecord(values, document.path, line))


def _cell(column: str, text: str) -> Any:
    if column == "expect" and text == "none":
        return text
    if column in _CSV_LISTS:
        return [part.strip() for part in _SEPARATOR.split(text) if part.strip()]
    if column == "must":
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
            text.casefold(), text
        )
    return text


def input_suffix(content: bytes) -> str:
    """How cases without a file name are written, as the suffix of one: JSON lines, JSON, CSV, or else YAML."""
    lines = [line for line in content.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    if len(lines) > 1 and all(
        line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines[:5]
    ):
        return ".jsonl"
    if isinstance(of_json("\n".join(lines)), dict | list):
        return ".json"
    heads = [head.strip() for head in next(csv.reader(lines[:1]), list[str]())]
    return ".csv" if len(heads) > 1 and all(map(_COLUMN.fullmatch, heads)) else ".yaml"
