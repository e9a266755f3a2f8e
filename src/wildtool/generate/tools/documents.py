"""Technical documents, read by a role for domains, sub-domains and functions: where a tree of one's own comes from."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from wildtool.errors import DataError
from wildtool.generate.core.parsing import RuleFault, read_object
from wildtool.generate.core.plan import Lang
from wildtool.generate.core.roles import AttemptFailedError, RoleCoroutine, RoleSession
from wildtool.generate.core.script import RejectedAttempt
from wildtool.generate.tools.script import API_PROMPTS
from wildtool.generate.tools.tree import child_id, name_problem
from wildtool.toolcall.schema import as_schema

PASSAGE_CHARACTERS = 4_000
"""Characters of a passage, about."""
MAX_DOCUMENT_BYTES = 20_000_000
"""Bytes of a document at most."""
MAX_PASSAGE_NODES = 12
"""Names of a kind that a passage gives at most."""


@dataclass(frozen=True, slots=True)
class DocumentPassage:
    """A part of a document, read at once."""

    document: str
    """Name of its file."""
    number: int
    lang: Lang
    """The language that the tree is to be in."""
    text: str


@dataclass(frozen=True, slots=True)
class MinedPassage:
    """What was found in a passage."""

    passage: DocumentPassage
    nodes: tuple[tuple[str, str], ...]
    """Id of the node above (empty for a domain), and name."""
    counters: Counter[str]


def passages(files: Sequence[Path], langs: Sequence[Lang]) -> list[DocumentPassage]:
    """The passages of all documents, for each language of the tree.

    Raises DataError for a file that cannot be read, is too large, is no text, or is empty.
    """
    found: list[DocumentPassage] = []
    for file in files:
        parts = list(_parts(_text(file)))
        if not parts:
            raise DataError(f"{file}: holds no text")
        found += [DocumentPassage(file.name, k, lang, part) for lang in langs for k, part in enumerate(parts)]
    return found


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_DOCUMENT_BYTES:
            raise DataError(
                f"{file}: is larger than {MAX_DOCUMENT_BYTES:,} bytes; give the parts that matter"
            )
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: no text in UTF-8 ({error}); save it as plain text or Markdown") from error
    if "\0" in text:
        raise DataError(f"{file}: no text; save it as plain text or Markdown")
    return text


def _parts(text: str) -> Iterator[str]:
    """A text cut between paragraphs, or between lines where one is too long."""
    part = ""
    for piece in re.split(r"(?<=\n)(?=\s*\n)|(?<=\n)", text):
        for k in range(0, max(1, len(piece)), PASSAGE_CHARACTERS):
            cut = piece[k : k + PASSAGE_CHARACTERS]
            if part.strip() and len(part) + len(cut) > PASSAGE_CHARACTERS:
                yield part.strip()
                part = ""
            part += cut
    if part.strip():
        yield part.strip()


def mine_script(passage: DocumentPassage) -> RoleCoroutine[MinedPassage | RejectedAttempt]:
    """Looks for nodes in a passage: yields what to ask, returns what came of it."""
    tally: Counter[str] = Counter()
    roles = RoleSession(API_PROMPTS, passage.lang, {}, tally)
    try:
        nodes = yield from roles.ask(
            "reader", [], {"passage": passage.text}, lambda text: _read_nodes(text, passage.text)
        )
    except AttemptFailedError as lost:
        return RejectedAttempt(
            lost.reason, f"{passage.document}, passage {passage.number}: {lost}", tally, tally["requests"]
        )
    return MinedPassage(passage, nodes, tally)


def _read_nodes(text: str, passage: str) -> tuple[tuple[tuple[str, str], ...] | None, list[RuleFault]]:
    written, faults = read_object(text, "M1")
    if faults:
        return None, faults
    domains = written.get("domains")
    if not isinstance(domains, list):
        return None, [
            RuleFault("M1", "`domains` must be a list; an empty one where the passage is about none.")
        ]
    faults = list[RuleFault]()
    nodes: list[tuple[str, str]] = []
    for domain in _rows(cast(list[Any], domains)):
        name = _name(domain, faults)
        if not name:
            continue
        nodes.append(("", name))
        for below in _rows(domain.get("subdomains")):
            place = _name(below, faults)
            quote = below.get("quote")
            if place and (not isinstance(quote, str) or not _is_quoted(quote, passage)):
                faults.append(
                    RuleFault("M3", f"the quote for {place!r} does not stand in the passage; copy it.")
                )
            elif place:
                nodes.append((child_id("", name), place))
                above = child_id(child_id("", name), place)
                functions = below.get("functions", [])
                listed = cast(list[Any], functions)[:MAX_PASSAGE_NODES] if isinstance(functions, list) else []
                nodes += [(above, function) for function in listed if not name_problem(function)]
    return (None if faults else tuple(nodes)), faults


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return (
        [as_schema(row) for row in cast(list[Any], value)[:MAX_PASSAGE_NODES]]
        if isinstance(value, list)
        else []
    )


def _name(row: Mapping[str, Any], faults: list[RuleFault]) -> str:
    name = row.get("name")
    if problem := name_problem(name):
        faults.append(RuleFault("M2", f"a name {problem}."))
        return ""
    return str(name)


def _is_quoted(quote: str, passage: str) -> bool:
    plain = " ".join(quote.casefold().split())
    return bool(plain) and plain in " ".join(passage.casefold().split())
