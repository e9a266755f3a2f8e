"""Files of own cases: each case with the defaults of its file, checked as `wildtool run` checks it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from wildtool.errors import DataError
from wildtool.findings import Finding, FindingLevel, fault
from wildtool.json_codec import as_list, as_object, as_objects, object_text
from wildtool.own_cases.case_file import CaseReader, faults_of_case, made_id
from wildtool.own_cases.places import CaseDocument, CasePlace, CaseRecord
from wildtool.own_cases.reading import read_case_document, read_case_text
from wildtool.own_cases.tool_sources import ToolReader, read_listing
from wildtool_data.formats.base import Facets, RawItem, ReviewFormat
from wildtool_data.make.core.files import json_line, write_whole_file

_MEANINGS: tuple[tuple[str, str, FindingLevel], ...] = (
    ("skip", "skipped", "error"),
    ("note", "note", "note"),
)
"""Keys that say what to look at, the rule they are shown as, and its level."""


class CasesFormat(ReviewFormat):
    """Cases that people wrote, or that were drafted of conversations."""

    name = "own-cases"
    file_name = "cases.jsonl"

    def read(self, path: Path) -> Iterator[RawItem]:
        document = _document(path)
        defaults = as_object(document.defaults.value) if document.defaults else {}
        reader = CaseReader(document, ToolReader(path.parent, read_listing(path)), path.parent)
        for record in document.records:
            held = {**defaults, **as_object(record.value)}
            _take_in(held, CasePlace(CaseRecord(held, path, record.line), document.faults), reader)
            id_ = held.get("id")
            yield RawItem(id_ if isinstance(id_, str) and id_ else made_id(held), held)

    def reviewers(self, path: Path) -> int:
        return _document(path).reviewers or super().reviewers(path)

    def write(self, contents: Iterable[Any], out: Path) -> None:
        write_whole_file(out, map(json_line, contents))

    def check(self, content: Any) -> list[Finding]:
        held = as_object(content)
        try:
            faults = faults_of_case(held)
        except (DataError, ValueError, RecursionError) as error:
            return [fault("unreadable", str(error))]
        found = [fault(each.field or "case", each.message, "", each.level) for each in faults]
        named = [
            fault(rule, str(held[key]), f"/{key}", level) for key, rule, level in _MEANINGS if held.get(key)
        ]
        return [*named, *found]

    def facets(self, content: Any) -> Facets:
        tags = as_list(as_object(content).get("tags"))
        return Facets(((str(tags[0]) if tags else "", ""),))

    def user_texts(self, content: Any) -> list[str]:
        """What the user says, turn by turn."""
        held = as_object(content)
        turns = as_objects(held.get("turns")) or [held]
        return [object_text(turn["input"]) for turn in turns if turn.get("input")]


def _document(path: Path) -> CaseDocument:
    """What a file holds. Raises DataError for the first thing in it that is not well written."""
    document = read_case_document(path, read_case_text(path))
    errors = [each for each in document.faults if each.level == "error"]
    if errors:
        raise DataError(str(errors[0]))
    return document


def _take_in(held: dict[str, Any], place: CasePlace, reader: CaseReader) -> None:
    """Puts what a case takes from other files into it, since an item is all that a review and a release keep of it.

    Raises DataError for a file that cannot be read.
    """
    if str(held.get("system", "")).startswith("@"):
        text = reader.prompt(place.at("system"))
        held["system"] = f" {text}" if text.startswith("@") else text
    if isinstance(held.get("tools"), str | dict):
        tools = reader.tools.tools(place.at("tools"))
        if tools is not None:
            held["tools"] = tools
    errors = [each for each in place.faults if each.level == "error"]
    if errors:
        raise DataError(str(errors[0]))


CASE_FILES = CasesFormat()
