"""Own cases that one person keeps or rejects, each by one key: the file of kept cases is all that is stored.

A kept case is there as it will be run, and a rejected one as a case that is skipped. What is in neither way there is
undecided, so a review continues where it ended.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_list, as_object, as_objects, canonical_json, object_text
from wildtool.outputs import check_not_input, check_regular, write_error
from wildtool.own_cases.case_file import CaseReader, made_id
from wildtool.own_cases.foreign.forms import is_foreign, record_form
from wildtool.own_cases.form import CALL_KEYS, JUDGED_KEYS
from wildtool.own_cases.places import CaseDocument
from wildtool.own_cases.reading import read_case_document, read_case_text
from wildtool.own_cases.tool_sources import ToolReader, read_listing
from wildtool.sanitize import single_line
from wildtool_review.drafts.case_drafts import case_text, head_text, write_case_text

REJECTED = "rejected in a quick review"
"""Why a rejected case is skipped in the file of kept cases."""
_WRITTEN = (".yaml", ".yml", ".jsonl", ".ndjson")
"""What the name of a file of kept cases ends with."""
_MOST_OF_OPTION = 300
"""Characters of an option of a call, such as its recorded result."""
_SHOWN_APART = frozenset({"input", "turns", "messages", "expect", "answer", "skip", "note", "id", "meta"})
"""Keys of a case or turn that are shown in a way of their own, or not at all."""


@dataclass(slots=True)
class QuickReview:
    """The cases of a file, and what was decided on each."""

    file: Path
    out: Path
    """The file of kept and rejected cases."""
    drafts: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """By id each case as it is proposed."""
    decided: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """By id each case as the file of kept cases has it."""
    head: str = ""
    """What the file of kept cases begins with."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """By id each decided case as it is written there."""
    seen: bytes | None = None
    """What that file held when it was last read or written; None while there is none."""
    _past: list[tuple[str, dict[str, Any] | None]] = field(
        default_factory=list[tuple[str, "dict[str, Any] | None"]]
    )
    """The decisions since the start: the case, and what was decided on it before."""

    @property
    def undecided(self) -> list[str]:
        """The ids of the cases that nothing was decided on, in the order of the file."""
        return [id_ for id_ in self.drafts if id_ not in self.decided]

    @property
    def rejected(self) -> int:
        """How many cases were rejected."""
        return sum(case.get("skip") == REJECTED for case in self.decided.values())

    def shown(self, id_: str) -> dict[str, Any]:
        """A case as it was kept, else as it is proposed."""
        kept = self.decided.get(id_)
        return kept if kept is not None and kept.get("skip") != REJECTED else self.drafts[id_]

    def choice(self, id_: str) -> str:
        """What was decided on a case; empty where nothing was."""
        if id_ not in self.decided:
            return ""
        return "rejected" if self.decided[id_].get("skip") == REJECTED else "kept"

    def refusal(self, case: Mapping[str, Any]) -> str:
        """Why a case cannot be kept; empty where it can."""
        if "skip" in case:
            return f"it is skipped: {case['skip']}; put that right, and remove 'skip'"
        # What is checked is what will be written, since YAML keeps the text of a number and JSON does not.
        try:
            document = read_case_document(self.out, self.head + case_text(case, self.out))
        except (DataError, ValueError, RecursionError) as error:
            return str(error)
        tools = ToolReader(self.file.parent, read_listing(self.file))
        cases = CaseReader(document, tools, self.file.parent).cases()
        errors = [fault for fault in document.faults if fault.level == "error"]
        if errors:
            return "; ".join(f"{fault.field or 'case'}: {fault.message}" for fault in errors)
        units = [unit for each in cases for unit in each.units.values()]
        if not tools.unlisted and any(unit.expectation.needs_call and not unit.tools for unit in units):
            return "calls are expected, but no tools are shown; name them with 'tools'"
        return ""

    def keep(self, id_: str, case: Mapping[str, Any]) -> None:
        """Keeps a case, and saves that. Raises UsageError for one that cannot be run."""
        renamed = case.get("id", id_) != id_
        refusal = f"its id must stay {id_!r}" if renamed else self.refusal(case)
        if refusal:
            raise UsageError(f"not kept: {refusal}")
        self._decide(id_, {"id": id_, **case})

    def reject(self, id_: str) -> None:
        """Rejects a case, and saves that."""
        said = user_words(self.drafts[id_])
        self._decide(id_, {"id": id_, "input": said or id_, "expect": "none", "skip": REJECTED})

    def undo(self) -> str:
        """Takes back the last decision since the start, and gives its case; empty where there is none."""
        if not self._past:
            return ""
        id_, before = self._past[-1]
        self._save(id_, before)
        self._past.pop()
        return id_

    def content(self) -> bytes | None:
        """What the file of kept cases holds now; None where there is none."""
        try:
            return self.out.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataError(f"cannot read {self.out}: {error.strerror}") from error

    def _decide(self, id_: str, case: dict[str, Any]) -> None:
        before = self.decided.get(id_)
        self._save(id_, case)
        self._past.append((id_, before))

    def _save(self, id_: str, case: dict[str, Any] | None) -> None:
        """Writes the file of kept cases with one of them changed, or without it.

        Raises UsageError if somebody else has changed it or it cannot be written, StorageError if there is no room.
        """
        if self.content() != self.seen:
            raise UsageError(
                f"not saved: {self.out} was changed meanwhile; quit, and start again to continue it"
            )
        texts = {other: text for other, text in self.texts.items() if other != id_}
        if case is not None:
            texts[id_] = case_text(case, self.out)
        if texts:
            ordered = [texts[each] for each in self.drafts if each in texts]
            write_case_text(self.head + "".join(ordered), self.out)
        else:
            try:
                self.out.unlink(missing_ok=True)
            except OSError as error:
                raise write_error(self.out, error) from error
        self.seen = self.content()
        self.texts = texts
        self.decided.pop(id_, None)
        if case is not None:
            self.decided[id_] = case


def open_quick_review(file: Path, out: Path | None) -> QuickReview:
    """The cases of a file, with what was decided on them before.

    Args:
        out: the file of kept cases; None for `NAME.kept.yaml` beside the file, with its suffix.

    Raises DataError for a file that cannot be read, UsageError for a place where nothing can be kept.
    """
    out = out or _usual_out(file)
    _check_out(file, out)
    document = _document(file)
    review = QuickReview(file, out, _by_id(document))
    defaults = as_object(document.defaults.value) if document.defaults else {}
    head = {"defaults": defaults, "reviewers": document.reviewers}
    review.head = head_text({key: value for key, value in head.items() if value}, out)
    review.seen = review.content()
    if review.seen is None:
        return review
    kept = _document(out)
    before = as_object(kept.defaults.value) if kept.defaults else {}
    if canonical_json(before) != canonical_json(defaults):
        raise UsageError(f"{out}: has other 'defaults' than {file}; name another file with --out")
    review.decided = _by_id(kept)
    unknown = [id_ for id_ in review.decided if id_ not in review.drafts]
    if unknown:
        raise UsageError(
            f"{out}: has the case {unknown[0]!r}, which {file} does not have; name another file with --out"
        )
    review.texts = {id_: case_text(case, out) for id_, case in review.decided.items()}
    return review


def _usual_out(file: Path) -> Path:
    suffix = file.suffix if file.suffix.casefold() in _WRITTEN else ".yaml"
    return file.with_name(f"{file.stem}.kept{suffix}")


def _check_out(file: Path, out: Path) -> None:
    """Raises UsageError for a place where nothing can be kept."""
    if out.suffix.casefold() not in _WRITTEN:
        raise UsageError(f"{out}: the name must end with one of {', '.join(_WRITTEN)}")
    if out.parent.resolve() != file.parent.resolve():
        raise UsageError(
            f"{out}: cases name tools and prompts by where {file} is, so put it into that folder"
        )
    check_not_input(out, [file])
    check_regular(out)


def _document(file: Path) -> CaseDocument:
    """The records of a file. Raises DataError for what is not well written, or in another form."""
    document = read_case_document(file, read_case_text(file))
    errors = [each for each in document.faults if each.level == "error"]
    if errors:
        raise DataError(str(errors[0]))
    for record in document.records:
        form = record_form(record.value)
        if is_foreign(form) or not as_object(record.value):
            raise DataError(f"{file}:{record.line}: expected an own case, not {form or 'this'}")
    if not document.records:
        raise DataError(f"{file}: holds no case")
    return document


def _by_id(document: CaseDocument) -> dict[str, dict[str, Any]]:
    """The cases of a file by id. Raises DataError where an id occurs twice."""
    cases: dict[str, dict[str, Any]] = {}
    for record in document.records:
        held = as_object(record.value)
        own = held.get("id")
        id_ = own if isinstance(own, str) and own else made_id(held)
        if id_ in cases:
            raise DataError(f"{document.path}:{record.line}: the id {id_!r} occurs twice")
        cases[id_] = dict(held)
    return cases


def user_words(case: Mapping[str, Any]) -> str:
    """What the user says first in a case; empty where nothing is said."""
    turns = as_objects(case.get("turns")) or [case]
    messages = [each for each in as_objects(case.get("messages")) if each.get("role") == "user"]
    texts = [turn.get("input") for turn in turns] + [message.get("content") for message in messages]
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def case_lines(case: Mapping[str, Any]) -> Iterator[str]:
    """A case as a person decides on it: what is said, what is expected, and what to look at."""
    for message in as_objects(case.get("messages")):
        calls = as_list(message.get("tool_calls"))
        said = message.get("content") or (_json(calls) if calls else "")
        yield f"{message.get('role')}: {said if isinstance(said, str) else _json(said)}"
    turns = as_objects(case.get("turns"))
    for turn in turns or [case]:
        yield from _turn_lines(turn)
    if turns:
        yield from _other_lines(case)
    proposed = as_objects(as_object(case.get("meta")).get("proposed"))
    if proposed:
        yield "what the agent did (meta.proposed):"
        for turn in proposed:
            yield from _turn_lines(turn)


def review_notes(case: Mapping[str, Any]) -> Sequence[str]:
    """What a case says that a person should look at."""
    return [f"{key}: {object_text(case[key])}" for key in ("skip", "note") if case.get(key)]


def _turn_lines(turn: Mapping[str, Any]) -> Iterator[str]:
    if "input" in turn:
        yield f"user: {object_text(turn['input'])}"
    if "expect" in turn:
        expected = turn["expect"]
        calls = as_list(expected) if isinstance(expected, list) else [expected]
        for call in calls or ["none"]:
            yield from _call_lines(call)
    if turn.get("answer"):
        yield f"  answer: {object_text(turn['answer'])}"
    yield from _other_lines(turn)


def _call_lines(call: Any) -> Iterator[str]:
    held = as_object(call)
    names = [key for key in held if key not in CALL_KEYS]
    if len(names) != 1:
        text = "no call" if call in ("none", None) else call if isinstance(call, str) else _json(call)
        yield f"  expect {text}"
        return
    name = names[0]
    arguments = "" if held[name] is None else f" {_json(held[name])}"
    yield f"  expect {name}{arguments}"
    for key, value in held.items():
        if key != name:
            yield f"    {key}: {single_line(_json(value), _MOST_OF_OPTION)}"


def _other_lines(held: Mapping[str, Any]) -> Iterator[str]:
    """Other keys that say what is right."""
    keys = [key for key in (*JUDGED_KEYS, "also", "ignore", "order", "must") if key not in _SHOWN_APART]
    for key in dict.fromkeys(keys):
        if key in held:
            yield f"  {key}: {_json(held[key])}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
