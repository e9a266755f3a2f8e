"""Conversations of a run that are the beginning of another one of their session, as each step of a session repeats it."""

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from wildtool import json_codec
from wildtool.export.conversations import ConversationRow, ExportedConversation, message_meaning
from wildtool.export.files import portable_value

MERGED = "merged"
"""Conversations that were the beginning of a longer one."""
OTHER_HISTORY = "other-history"
"""Conversations with replies before them that the model did not give there."""


def with_remark_on_repeats(rows: Iterable[ConversationRow]) -> Iterator[ConversationRow]:
    """Conversations as they are; at the end `logging` says how many are the beginning of another one of their session."""
    notes: Counter[str] = Counter()
    count = 0
    for session in sessions_of(rows):
        for _ in merged_conversations(session, notes):
            pass
        count += len(session)
        yield from session
    if notes[MERGED]:
        logging.getLogger("wildtool").warning(
            "%d of %d conversations are the beginning of another one, so that their replies are learned several times; "
            "`wildtool data convert RUN --to sharegpt` learns each once",
            notes[MERGED],
            count,
        )


def sessions_of(rows: Iterable[ConversationRow]) -> Iterator[list[ConversationRow]]:
    """The conversations of each item and repeat."""
    for _, session in groupby(rows, key=lambda row: (row[0]["item"], row[0]["repeat"])):
        yield list(session)


def merged_conversations(session: list[ConversationRow], notes: Counter[str]) -> Iterator[ConversationRow]:
    """The conversations of a session that no other one starts with, with the replies of those that they start with."""
    digests = [_beginnings(talk) for _, talk in session]
    replies = [set(talk.replies) for _, talk in session]
    longest_first = sorted(range(len(session)), key=lambda place: -len(digests[place]))
    places: list[int] = []
    for place in longest_first:
        digest = digests[place][-1]
        host = next((other for other in places if digest in digests[other]), None)
        if host is None:
            places.append(place)
        else:
            replies[host] |= replies[place]
            notes[MERGED] += 1
    for place in sorted(places):
        fields, talk = session[place]
        if len(replies[place]) < sum(message.get("role") == "assistant" for message in talk.messages):
            notes[OTHER_HISTORY] += 1
        yield fields, replace(talk, replies=tuple(sorted(replies[place])))


def _beginnings(talk: ExportedConversation) -> list[bytes]:
    """A digest of each beginning of a conversation, from one message to all of them."""
    digest = hashlib.blake2b(json_codec.canonical_json(portable_value(list(talk.tools))), digest_size=16)
    digests: list[bytes] = []
    for message in talk.messages:
        digest.update(json_codec.canonical_json(portable_value(message_meaning(message, reasoning=True))))
        digests.append(digest.copy().digest())
    return digests
