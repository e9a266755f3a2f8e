"""Traces and other conversations as a file of own cases: what was read, what became of it, and the file."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from wildtool.data.files import read_json
from wildtool.json_codec import as_object, canonical_json
from wildtool.outputs import atomic_replace, check_absent
from wildtool.own_cases.drafts import DraftCase, draft_case
from wildtool.shapes import Reading, ShapeError, is_record, log_reader, read_tools
from wildtool.traces import read_traces
from wildtool.traces.forms import values_of_file
from wildtool.traces.spans import holds_spans
from wildtool.types import Message, Tool
from wildtool_review.drafts.conversation import is_archive, read_conversations
from wildtool_review.drafts.personal import Redactor

TRACES, RECORDS, INSPECT = "otel", "openai", "inspect"
_YAML = (".yaml", ".yml")
_NUMBERS = re.compile(r"[-+]?[.\d].*|~|")
"""Texts that our reader of YAML would take for something else without quotes."""


@dataclass(slots=True)
class DraftSet:
    """Drafts of own cases, and what became of all that was read."""

    drafts: list[DraftCase] = field(default_factory=list[DraftCase])
    lines: list[str] = field(default_factory=list[str])
    """What was read and left out, for people."""
    left_out: Counter[str] = field(default_factory=Counter[str])
    """Conversations that became no case, by reason."""


def draft_cases(
    paths: Sequence[Path],
    source: str | None,
    tools: Path | None,
    redactor: Redactor | None,
    *,
    skip_unclear: bool,
) -> DraftSet:
    """The conversations of files as drafts of own cases.

    Args:
        source: what the files hold; None to tell it by each.
        tools: a file of definitions for conversations that have none.
        redactor: replaces personal details; None to leave them.
        skip_unclear: leave out records of no known shape, in place of an error.

    Raises DataError for files that cannot be read, and ShapeError for a record of no known shape.
    """
    made = DraftSet()
    lost = Counter[str]()
    given = [entry.tool for entry in read_tools(read_json(tools), Reading(str(tools)))] if tools else []
    seen: set[bytes] = set()
    for messages, own in _conversations(paths, source, made, lost, skip_unclear=skip_unclear):
        offered = own or given
        shown = redactor.conversation(messages, offered) if redactor else messages
        draft = draft_case(shown, offered)
        if draft is None:
            made.left_out["the user says nothing in it"] += 1
            continue
        key = canonical_json([shown, offered])
        if key in seen:
            made.left_out["occurs twice"] += 1
            continue
        seen.add(key)
        made.drafts.append(draft)
    _number_ids(made.drafts)
    made.lines += [f"  not kept: {name}: {number}" for name, number in lost.most_common()]
    return made


def _conversations(
    paths: Sequence[Path], source: str | None, made: DraftSet, lost: Counter[str], *, skip_unclear: bool
) -> Iterator[tuple[list[Message], list[Tool]]]:
    sources = {path: source or source_of(path) for path in paths}
    traced = [path for path in paths if sources[path] == TRACES]
    if traced:
        reading = read_traces(traced)
        made.lines += reading.lines()
        lost += reading.lost
        yield from ((each.messages, each.tools) for each in reading.conversations)

    def refuse(error: ShapeError) -> None:
        if not skip_unclear:
            raise ShapeError(f"{error}; leave such conversations out with --skip-unclear") from error
        made.left_out[str(error)] += 1

    for path in paths:
        if sources[path] != TRACES:
            for found in read_conversations(path, sources[path], lost, refuse):
                yield found.messages, found.tools


def source_of(path: Path) -> str:
    """What a file holds: spans, logs of Inspect, or conversations."""
    if is_archive(path):
        return INSPECT
    for _, value in values_of_file(path, Reading()):
        if "Inspect" in log_reader(value):
            return INSPECT
        is_conversation = isinstance(value, dict) and is_record(as_object(value)) and "traceId" not in value
        return TRACES if holds_spans(value) and not is_conversation else RECORDS
    return RECORDS


def _number_ids(drafts: Sequence[DraftCase]) -> None:
    """Gives ids that occur several times a number."""
    numbers = Counter[str]()
    for draft in drafts:
        name = str(draft.case["id"])
        numbers[name] += 1
        if numbers[name] > 1:
            draft.case["id"] = f"{name}-{numbers[name]}"


def write_cases(drafts: Sequence[DraftCase], out: Path, *, force: bool = False) -> None:
    """Writes a case file: YAML, where the tools of most cases are in the defaults, or JSON lines, by its name.

    Raises UsageError if the file exists, or may not be written.
    """
    cases = [draft.case for draft in drafts]
    head: dict[str, Any] = {}
    if _is_yaml(out):
        tools = _usual_tools(cases)
        head = {"defaults": {"tools": tools}} if tools else {}
        usual = canonical_json(tools)
        cases = [
            {key: value for key, value in case.items() if key != "tools" or canonical_json(value) != usual}
            for case in cases
        ]
    text = head_text(head, out) + "".join(case_text(case, out) for case in cases)
    check_absent(out, force=force)
    write_case_text(text, out)


def write_case_text(text: str, out: Path) -> None:
    """Replaces a case file at once. Raises UsageError if it may not be written."""
    with atomic_replace(out) as new:
        new.write_text(text, encoding="utf-8", errors="backslashreplace")


def head_text(head: Mapping[str, Any], out: Path) -> str:
    """What a case file begins with.

    Args:
        head: what is said of the file, such as its `defaults`.
        out: the file, whose name says how it is written.
    """
    if not _is_yaml(out):
        return f"{json.dumps(head, ensure_ascii=False)}\n" if head else ""
    return f"{_yaml_text(dict(head)) if head else ''}cases:\n"


def case_text(case: Mapping[str, Any], out: Path) -> str:
    """A case as an entry of a case file. Args: out: the file, whose name says how it is written."""
    return _yaml_text([dict(case)]) if _is_yaml(out) else f"{json.dumps(case, ensure_ascii=False)}\n"


def case_as_yaml(case: Mapping[str, Any]) -> str:
    """A case as a text that people edit."""
    return _yaml_text(dict(case))


def _is_yaml(out: Path) -> bool:
    return out.suffix.casefold() in _YAML


def _usual_tools(cases: Sequence[Mapping[str, Any]]) -> Any:
    """The tools that most cases have; None where none has any."""
    sets = Counter(canonical_json(case["tools"]) for case in cases if "tools" in case)
    usual = sets.most_common(1)[0][0] if sets else b""
    return next((case["tools"] for case in cases if canonical_json(case.get("tools")) == usual), None)


def _yaml_text(value: Any) -> str:
    return yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)


class _Dumper(yaml.SafeDumper):
    """Writes texts so that our reader reads them as texts, and no value as a reference to another."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_LINE_BREAKS = frozenset("\x85\u2028\u2029")
"""Characters besides the newline at which YAML breaks lines; only between double quotes are they escaped."""


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "'" if _NUMBERS.fullmatch(text) else "|" if "\n" in text and text == text.strip() else None
    if not _LINE_BREAKS.isdisjoint(text):
        style = '"'
    write: Any = getattr(dumper, "represent_scalar")  # noqa: B009 - its types are not known
    return write("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text_node)
