"""The files of own cases: which they are, what they refer to, and their cases."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from wildtool.data.files import (
    check_regular_file,
    file_version,
    files_under,
    loads_line,
    read_json,
    read_whole,
)
from wildtool.errors import DataError, ToolsNotListedError
from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.case_file import CaseReader
from wildtool.own_cases.conversations import conversation_cases
from wildtool.own_cases.foreign.forms import (
    ADK_FORMS,
    CONVERSATION,
    OWN,
    foreign_cases,
    is_foreign,
    record_form,
)
from wildtool.own_cases.foreign.literal import NoGoldError
from wildtool.own_cases.form import JUDGED_KEYS
from wildtool.own_cases.places import CaseDocument, CaseFault, CaseRecord
from wildtool.own_cases.reading import SUFFIXES, YAML, read_case_document, read_case_text
from wildtool.own_cases.records import Case
from wildtool.own_cases.tool_sources import (
    PYTHON,
    StartedSource,
    ToolReader,
    listing_of,
    read_listing,
)
from wildtool.shapes.record_files import log_reader
from wildtool.tools.sources.named import LISTING_SUFFIX

CASES_SUFFIX = ".cases"
"""Before the suffix of a file that holds cases, as in `refunds.cases.yaml`."""
ADK_CONFIG = "test_config.json"
"""Beside an evalset: how its calls are compared."""
TOOLS_FILE = "tools.json"
"""Beside a file of another form that names no tools."""
MOST_FAULTS = 20
"""Faults that a message names."""
_TOLD_BY = 5
"""Rows that tell what a file of lines holds."""
_reported: set[tuple[Path, int | str]] = set()


@dataclass(slots=True)
class CaseFile:
    """What a case file holds."""

    path: Path
    cases: list[Case] = field(default_factory=list[Case])
    faults: list[CaseFault] = field(default_factory=list[CaseFault])
    sources: Sequence[StartedSource] = ()
    """What has to be started before its tools are known."""
    files: list[Path] = field(default_factory=list[Path])
    """Files that it refers to."""
    executed: list[Path] = field(default_factory=list[Path])
    """Python files that list its tools."""
    without_gold: int = 0
    """Records of other forms that say nothing of what is right, or nothing that can be judged by rule."""
    has_tools: bool = True
    """Whether each case that expects a call shows tools."""

    @property
    def errors(self) -> list[CaseFault]:
        return [fault for fault in self.faults if fault.level == "error"]


def case_paths(place: Path) -> list[Path]:
    """The case files of a folder, sorted; of a file itself alone. Raises DataError where there is none."""
    check_regular_file(place)
    if not place.is_dir():
        return [place]
    files = [path for path in files_under(place) if path.suffix.casefold() in SUFFIXES]
    paths = [path for path in files if not path.name.endswith(LISTING_SUFFIX) and is_case_file(path)]
    if not paths:
        raise DataError(f"{place}: holds no case file; `wildtool new cases` writes a first one")
    return paths


def is_case_file(path: Path) -> bool:
    """Whether a file holds cases in our form or in one of another program; not one of conversations alone."""
    kind = SUFFIXES.get(path.suffix.casefold())
    if kind is None or not path.is_file():
        return False
    if path.stem.endswith(CASES_SUFFIX):
        return True
    form = _form_of_file(path)
    return form == OWN or is_foreign(form)


def holds_conversations(path: Path) -> bool:
    """Whether a file holds conversations and no cases. Raises DataError where there is no such file."""
    check_regular_file(path)
    if not path.exists():
        raise DataError(f"{path}: there is no such file; `wildtool new cases` writes a first one")
    kind = SUFFIXES.get(path.suffix.casefold())
    return kind is None or (kind != YAML and _form_of_file(path) == CONVERSATION)


def read_case_file(path: Path) -> CaseFile:
    """The cases of a file, and what is wrong with it. Raises DataError where it cannot be read."""
    if holds_conversations(path):
        return CaseFile(path, list(conversation_cases(path)))
    before = _READ.get(path.absolute())
    if before is None or before[0] != _versions(before[1]):
        case_file = _read(path)
        before = _READ[path.absolute()] = _versions(case_file), case_file
    return before[1]


_READ: dict[Path, tuple[list[tuple[int, int]], CaseFile]] = {}
"""What was read, with the versions of its files: a command reads them several times."""


def _versions(case_file: CaseFile) -> list[tuple[int, int]]:
    path = case_file.path
    beside = [listing_of(path), path.with_name(ADK_CONFIG), path.with_name(TOOLS_FILE)]
    return [file_version(file) for file in (path, *beside, *case_file.files, *case_file.executed)]


def _read(path: Path) -> CaseFile:
    document = read_case_document(path, read_case_text(path))
    case_file = CaseFile(path)
    reader = log_reader(document.records[0].value) if document.records else ""
    if reader:
        raise DataError(f"{path}: {reader}")
    _replace_foreign(document, case_file)
    if not document.records and not document.faults:
        document.fail(1, "", "the file holds no case")
    tools = ToolReader(path.parent, read_listing(path))
    case_file.cases = CaseReader(document, tools, path.parent).cases()
    case_file.faults = sorted(document.faults, key=lambda fault: (fault.line, fault.field))
    case_file.files = [file for file in tools.files.values() if file.is_file()]
    python = [source for source in tools.sources.values() if source.kind == PYTHON]
    case_file.executed = [path.parent / source.target for source in python]
    if not case_file.errors:
        case_file.sources = tools.unlisted
    if tools.sources and listing_of(path).is_file():
        case_file.files.append(listing_of(path))
    case_file.has_tools = not any(
        unit.expectation.needs_call and not unit.tools
        for case in case_file.cases
        for unit in case.units.values()
    )
    return case_file


def checked_cases(path: Path) -> list[Case]:
    """The cases of a file without faults, ready to be run. Raises DataError naming each fault, or what is missing."""
    case_file = read_case_file(path)
    if errors := case_file.errors:
        listing = "\n".join(map(str, errors[:MOST_FAULTS]))
        more = f"\nand {len(errors) - MOST_FAULTS} more" if len(errors) > MOST_FAULTS else ""
        raise DataError(f"{listing}{more}")
    if case_file.without_gold and not case_file.cases:
        number = case_file.without_gold
        raise DataError(
            f"{path}: {number} {'case' if number == 1 else 'cases'} without an expectation, so nothing can be judged"
            f"{_first_reason(case_file)}"
        )
    if case_file.sources:
        names = ", ".join(source.key for source in case_file.sources)
        raise ToolsNotListedError(
            f"{path}: the tools of {names} are not listed yet; `wildtool run {path}` lists them"
        )
    if not case_file.has_tools:
        raise DataError(
            f"{path}: calls are expected, but no tools are shown; name them with 'tools', or put {TOOLS_FILE} beside "
            "a file of another form"
        )
    if case_file.without_gold and (path, case_file.without_gold) not in _reported:
        _reported.add((path, case_file.without_gold))
        logging.getLogger("wildtool").warning(
            "%s: cases left out since they have no expectation that can be judged: %d%s",
            path,
            case_file.without_gold,
            _first_reason(case_file),
        )
    _report_tools(case_file)
    return case_file.cases


def _report_tools(case_file: CaseFile) -> None:
    """Says once what of the tools of a file is not offered."""
    warned = [
        fault for fault in case_file.faults if fault.level == "warning" and fault.field.startswith("tools")
    ]
    for fault in warned:
        if (fault.file, fault.message) not in _reported:
            _reported.add((fault.file, fault.message))
            logging.getLogger("wildtool").warning("%s", fault)


def _first_reason(case_file: CaseFile) -> str:
    reasons = [fault for fault in case_file.faults if fault.level == "warning" and fault.field == "form"]
    return f" (line {reasons[0].line}: {reasons[0].message})" if reasons else ""


def _replace_foreign(document: CaseDocument, case_file: CaseFile) -> None:
    """Puts cases of our form in the place of records of others; those that cannot be judged are counted and noted."""
    records: list[CaseRecord] = []
    is_foreign_file = False
    config_file = case_file.path.with_name(ADK_CONFIG)
    for record in document.records:
        form = record_form(record.value)
        if not is_foreign(form):
            records.append(record)
            continue
        is_foreign_file = True
        cases: list[dict[str, Any]] = []
        config = read_json(config_file) if form in ADK_FORMS and config_file.is_file() else None
        for case in foreign_cases(form, as_object(record.value), config):
            if isinstance(case, NoGoldError):
                case_file.without_gold += 1
                document.fail(record.line, "form", f"left out ({form}): {case}", "warning")
                continue
            if note := case.get("note"):
                document.fail(record.line, "note", note, "warning")
            cases.append(case)
        records += [CaseRecord(case, record.file, record.line) for case in _numbered(cases)]
    document.records = records
    beside = case_file.path.with_name(TOOLS_FILE)
    if is_foreign_file and document.defaults is None and beside.is_file():
        document.defaults = CaseRecord({"tools": TOOLS_FILE}, case_file.path, 1)


def _numbered(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cases of one record; those after the first of an id have their number behind it."""
    numbers: dict[str, int] = {}
    for case in cases:
        if "id" in case:
            numbers[case["id"]] = numbers.get(case["id"], 0) + 1
            if numbers[case["id"]] > 1:
                case["id"] = f"{case['id']}-{numbers[case['id']]}"
    return cases


def _form_of_file(path: Path) -> str:
    """The form of a file by its first records; empty where nothing tells it."""
    forms: list[str] = []
    try:
        for value in islice(_values_of_file(path), _TOLD_BY):
            form = record_form(value)
            is_misspelt = form in ("", CONVERSATION) and _resembles_case(value)
            forms.append(OWN if is_misspelt else form)
    except (DataError, ValueError, RecursionError):
        # What is read up to there tells it. YAML is of cases, so that they are not left out without a word.
        if not forms and SUFFIXES[path.suffix.casefold()] == YAML:
            return OWN
    return OWN if OWN in forms else next(filter(None, forms), "")


def _values_of_file(path: Path) -> Iterator[Any]:
    """The records of a file, or the object that holds them all. Raises DataError or ValueError."""
    match SUFFIXES[path.suffix.casefold()]:
        case "lines":
            with path.open("rb") as lines:
                yield from (loads_line(line) for line in lines if line.strip())
        case "json":
            value = loads_line(read_whole(path))
            yield from as_list(value) or [value]
        case _:
            document = read_case_document(path, read_case_text(path))
            if document.faults and not document.records:
                raise DataError(str(document.faults[0]))
            yield from [{"defaults": {}}] if document.defaults else []
            yield from (record.value for record in document.records)


def _resembles_case(value: Any) -> bool:
    """Whether a record that asks something has nearly a key that says what is expected, such as `expects`."""
    held = as_object(value)
    last = as_object(next(reversed(as_list(held.get("messages"))), None))
    asks = isinstance(held.get("input"), str) or "turns" in held or last.get("role") == "user"
    # What is less near is a column of training data: `text`, `system` and `server` resemble these keys, too.
    return asks and any(get_close_matches(key, JUDGED_KEYS, 1, 0.8) for key in held)


def prefixed(cases: Sequence[Case], prefix: str) -> list[Case]:
    """Cases of one of several files, whose ids begin with its name."""
    return [replace(case, id=f"{prefix}:{case.id}") for case in cases] if prefix else list(cases)
