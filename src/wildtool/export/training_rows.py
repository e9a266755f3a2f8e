"""The solved units of runs as rows of training data, in OpenAI's shape."""

import hashlib
import logging
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from wildtool.data.data_set import data_of
from wildtool.engine.score.results import run_folders
from wildtool.errors import DataError
from wildtool.export import ExportRequest
from wildtool.export.conversations import (
    ConversationRow,
    ExportedConversation,
    conversation_rows,
    message_meaning,
)
from wildtool.export.files import portable_value
from wildtool.export.trajectory import RecordedRun
from wildtool.training.files import FileRow, RawRow, raw_rows
from wildtool.training.keys import canonical_json
from wildtool.training.procedures.official import official_owner
from wildtool.types import PROVIDER_CONTENT

MERGED = "merged"
"""Conversations that were the beginning of a longer one."""
OTHER_HISTORY = "other-history"
"""Conversations with replies before them that the model did not give there."""
RUN_NOTES: Mapping[str, str] = {
    MERGED: "were the beginning of a longer conversation, which teaches their replies",
    OTHER_HISTORY: "have other replies in their history than the model gave there: context that is not learned",
}
"""What is counted while runs are read."""


def training_rows(path: Path, notes: Counter[str] | None = None) -> Iterator[RawRow]:
    """The rows of a file of training data; of a run folder, or one above several, those of `run_rows`.

    Raises as `raw_rows` and `score_run`.
    """
    return run_rows(path, Counter() if notes is None else notes) if path.is_dir() else raw_rows(path)


def run_rows(path: Path, notes: Counter[str]) -> Iterator[FileRow]:
    """The correct conversations of runs, in which each reply of the model is learned once.

    A session's units, and the steps of a benchmark that repeats them, begin with what came before. A conversation that
    another one of the session starts with is left out, and its replies are learned there. Others have weight 0.

    Args:
        notes: gets the counts of `RUN_NOTES`.
    """
    number = 0
    for folder in run_folders(path):
        rows = conversation_rows(ExportRequest(folder=folder, only="correct"), reasoning=True)
        for session in _sessions(rows):
            for about, talk in _merged(session, notes):
                number += 1
                row = {
                    "id": f"{about['item']}/{about['unit']}",
                    "messages": _weighted(talk),
                    "tools": list(talk.tools),
                }
                yield FileRow(number, portable_value(row))


def with_remark_on_repeats(rows: Iterable[ConversationRow]) -> Iterator[ConversationRow]:
    """Conversations as they are; at the end `logging` says how many are the beginning of another one of their session."""
    notes: Counter[str] = Counter()
    count = 0
    for session in _sessions(rows):
        deque(_merged(session, notes), maxlen=0)
        count += len(session)
        yield from session
    if notes[MERGED]:
        logging.getLogger("wildtool").warning(
            "%d of %d conversations are the beginning of another one, so that their replies are learned several times; "
            "`wildtool data convert RUN --to sharegpt` learns each once",
            notes[MERGED],
            count,
        )


def _sessions(rows: Iterable[ConversationRow]) -> Iterator[list[ConversationRow]]:
    """The conversations of each item and repeat."""
    for _, session in groupby(rows, key=lambda row: (row[0]["item"], row[0]["repeat"])):
        yield list(session)


def learns_all(path: Path) -> bool:
    """Whether a run's conversations hold no reply with weight 0."""
    notes: Counter[str] = Counter()
    return not any(notes[OTHER_HISTORY] for _ in run_rows(path, notes))


def _merged(session: list[ConversationRow], notes: Counter[str]) -> Iterator[ConversationRow]:
    """The conversations of a session that no other one starts with, with the replies of those that they start with."""
    digests = [_beginnings(talk) for _, talk in session]
    replies = [set(talk.replies) for _, talk in session]
    longest_first = sorted(range(len(session)), key=lambda place: -len(digests[place]))
    kept: list[int] = []
    for place in longest_first:
        whole = digests[place][-1]
        host = next((other for other in kept if whole in digests[other]), None)
        if host is None:
            kept.append(place)
        else:
            replies[host] |= replies[place]
            notes[MERGED] += 1
    for place in sorted(kept):
        about, talk = session[place]
        if len(replies[place]) < sum(message.get("role") == "assistant" for message in talk.messages):
            notes[OTHER_HISTORY] += 1
        yield about, replace(talk, replies=tuple(sorted(replies[place])))


def _beginnings(talk: ExportedConversation) -> list[bytes]:
    """A digest of each beginning of a conversation, from one message to all of them."""
    digest = hashlib.blake2b(canonical_json(portable_value(list(talk.tools))), digest_size=16)
    digests: list[bytes] = []
    for message in talk.messages:
        digest.update(canonical_json(portable_value(message_meaning(message, reasoning=True))))
        digests.append(digest.copy().digest())
    return digests


def benchmark_owners(path: Path) -> Iterator[str]:
    """The benchmarks whose own data a file is, or runs were made on."""
    if path.is_dir():
        for folder in run_folders(path):
            if (owner := data_owner(RecordedRun(ExportRequest(folder=folder)))) is not None:
                yield owner
    elif (owner := official_owner(path)) is not None:
        yield owner


def data_owner(run: RecordedRun) -> str | None:
    """The benchmark whose own data a run's are; None for data of the user's own."""
    benchmark, source = run.run.selection.benchmark, run.run.selection.source
    try:
        if data_of(benchmark).locate(None).sha256 == source.sha256:
            return benchmark.name
    except DataError:
        pass  # nothing is at hand that they could be
    return official_owner(source.path)


def _weighted(talk: ExportedConversation) -> list[dict[str, Any]]:
    """The messages of a conversation, with weight 0 for the assistant's that are only context."""
    messages: list[dict[str, Any]] = []
    for place, message in enumerate(talk.messages):
        row = {key: value for key, value in message.items() if key != PROVIDER_CONTENT}
        context = message.get("role") == "assistant" and place not in talk.replies
        messages.append({**row, "weight": 0} if context else row)
    return messages
