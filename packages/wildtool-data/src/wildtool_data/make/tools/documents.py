"""Technical documents, read by a role for domains, sub-domains and functions: where a tree of one's own comes from."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_objects
from wildtool_data.make.core.parsing import RefusedReplyError, read_object
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.core.roles import (
    AttemptFailedError,
    RoleCoroutine,
    RoleSession,
    ScriptResult,
    run_tries,
)
from wildtool_data.make.tools.script import API_PROMPTS, NodeProposal
from wildtool_data.make.tools.tree import child_id, name_problem

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


def passages(files: Sequence[Path], langs: Sequence[Lang]) -> list[DocumentPassage]:
    """The passages of all documents, for each language of the tree.

    Raises DataError for a file that cannot be read, is too large, is no text, or is empty.
    """
    passages_: list[DocumentPassage] = []
    for file in files:
        parts = list(_parts(_text(file)))
        if not parts:
            raise DataError(f"{file}: holds no text")
        passages_ += [
            DocumentPassage(file.name, k, lang, part) for lang in langs for k, part in enumerate(parts)
        ]
    return passages_


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
        for k in range(0, len(piece), PASSAGE_CHARACTERS):
            cut = piece[k : k + PASSAGE_CHARACTERS]
            if part.strip() and len(part) + len(cut) > PASSAGE_CHARACTERS:
                yield part.strip()
                part = ""
            part += cut
    if part.strip():
        yield part.strip()


def mine_script(passage: DocumentPassage) -> RoleCoroutine[ScriptResult[tuple[NodeProposal, ...]]]:
    """Looks for nodes in a passage: yields what to ask, returns those that were found."""

    def attempt(number: int, counters: Counter[str]) -> RoleCoroutine[tuple[NodeProposal, ...]]:
        roles = RoleSession(API_PROMPTS, passage.lang, {}, counters)
        context = {"passage": passage.text}
        try:
            return (yield from roles.ask("reader", [], context, lambda text: _read_nodes(text, passage.text)))
        except AttemptFailedError as error:
            place = f"{passage.document}, passage {passage.number}"
            raise AttemptFailedError(error.reason, f"{place}: {error}") from error

    return run_tries(1, attempt)


def _read_nodes(text: str, passage: str) -> tuple[tuple[NodeProposal, ...], list[Finding]]:
    domains = read_object(text, "M1").get("domains")
    if not isinstance(domains, list):
        message = "`domains` must be a list; an empty one where the passage is about none."
        raise RefusedReplyError(fault("M1", message))
    faults: list[Finding] = []
    nodes: list[NodeProposal] = []
    for domain in as_objects(domains)[:MAX_PASSAGE_NODES]:
        name = _name(domain, faults)
        if not name:
            continue
        nodes.append(("", name))
        for below in as_objects(domain.get("subdomains"))[:MAX_PASSAGE_NODES]:
            place = _name(below, faults)
            quote = below.get("quote")
            if place and (not isinstance(quote, str) or not _is_quoted(quote, passage)):
                message = f"the quote for {place!r} does not stand in the passage; copy it."
                faults.append(fault("M3", message))
            elif place:
                nodes.append((child_id("", name), place))
                above = child_id(child_id("", name), place)
                functions = as_list(below.get("functions"))[:MAX_PASSAGE_NODES]
                nodes += [(above, function) for function in functions if not name_problem(function)]
    return tuple(nodes), faults


def _name(row: Mapping[str, Any], faults: list[Finding]) -> str:
    name = row.get("name")
    if problem := name_problem(name):
        faults.append(fault("M2", f"a name {problem}."))
        return ""
    return str(name)


def _is_quoted(quote: str, passage: str) -> bool:
    plain = " ".join(quote.casefold().split())
    return bool(plain) and plain in " ".join(passage.casefold().split())
