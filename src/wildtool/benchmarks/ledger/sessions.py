"""The sessions of a seed as data.

A file of data names the seed, the number of sessions and, if the set must stay what it is, the digest of what they make.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Benchmark
from wildtool.benchmarks.ledger.book import check_extra
from wildtool.benchmarks.ledger.generate import make_session
from wildtool.benchmarks.ledger.records import LedgerSession
from wildtool.data.data_set import DataSet
from wildtool.data.files import read_json
from wildtool.errors import DataError
from wildtool.json_codec import as_object, required_field
from wildtool.types import Item, Source

UNIT = "session"
"""The unit of an item: a session is one, since each of its turns begins with the book that the turn before left."""
MAX_SESSIONS = 10_000


class _SessionSet(DataSet):
    """Sessions from a file with their seed; to run them needs the extra."""

    def locate(self, data: str | None, split: str | None = None) -> Source:
        check_extra()
        return DataSet.locate(self, data, split)


DATA = _SessionSet(
    name="ledger",
    shipped=Path(__file__).parent / "sessions.json",
    takes='a file such as {"seed": 7, "sessions": 50}',
    user_texts=lambda item: [text for turn in item.data.turns for text in (turn.text, turn.more) if text],
)


def load(
    benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
) -> Iterator[Item]:
    """The sessions that a file names. Raises DataError."""
    where = str(source.path)
    try:
        record = as_object(read_json(source.path))
    except DataError as error:
        raise DataError(f'{error}; expected a file such as {{"seed": 7, "sessions": 50}}') from error
    if split is not None:
        raise DataError(f"ledger has no splits, so not {split!r}; choose a language with --lang")
    seed, count = (required_field(record, name, int, where) for name in ("seed", "sessions"))
    if not 1 <= count <= MAX_SESSIONS:
        raise DataError(f"{where}: sessions: expected 1 to {MAX_SESSIONS}, not {count}")
    sessions = _sessions_of(seed, count)
    if "sha256" in record and record["sha256"] != (digest := _digest_of(seed, count)):
        raise DataError(
            f"{where}: sha256: this version of wildtool makes other sessions from this seed ({digest});"
            " install the version that the file is from, or leave sha256 out to run the new ones"
        )
    for session in sessions:
        if lang in (None, session.lang):
            yield Item(session.id, (UNIT,), session, lang=session.lang)


@lru_cache(maxsize=4)
def _sessions_of(seed: int, count: int) -> tuple[LedgerSession, ...]:
    return tuple(make_session(seed, number) for number in range(1, count + 1))


@lru_cache(maxsize=4)
def _digest_of(seed: int, count: int) -> str:
    """As of `sessions_digest`, which takes as long as to make the sessions."""
    return sessions_digest(_sessions_of(seed, count))


def sessions_digest(sessions: tuple[LedgerSession, ...]) -> str:
    """SHA-256 over all that sessions hold."""
    text = json.dumps(sessions, ensure_ascii=False, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """What JSON lacks: a record as its fields, a set as its sorted members, anything else as its text."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return sorted(cast(frozenset[str], value)) if isinstance(value, frozenset) else str(value)
