"""Traces and other conversations as a file of own cases: what was read, what became of it, and the file."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from wildtool.data.files import read_json
from wildtool.json_codec import canonical_json
from wildtool.outputs import atomic_replace, check_absent
from wildtool.own_cases.drafts import DraftCase, draft_case
from wildtool.shapes import Reading, ShapeError, read_tools
from wildtool.steps import with_steps
from wildtool_data.conversations.files import conversations_in
from wildtool_data.conversations.personal import Redactor

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

    def refuse(error: ShapeError) -> None:
        if not skip_unclear:
            raise ShapeError(f"{error}; leave such conversations out with --skip-unclear") from error
        made.left_out[str(error)] += 1

    talks = conversations_in(paths, source, lost, refuse, made.lines.extend)
    numbered = enumerate(talks, 1)
    for _, (messages, own) in with_steps("reading conversations", numbered, lambda pair: pair[0]):
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
