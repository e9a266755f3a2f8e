"""The set that comes with it, and sets of other seeds."""

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.ledger.session_play import ITEMS
from long import WHOLE
from wildtool.benchmarks.ledger import LEDGER
from wildtool.benchmarks.ledger.book import Book, beancount_errors
from wildtool.benchmarks.ledger.generate import make_session
from wildtool.benchmarks.ledger.records import TURN_KINDS, LedgerSession
from wildtool.benchmarks.ledger.sessions import DATA, sessions_digest
from wildtool.data.data_set import source_of_file
from wildtool.errors import DataError

DIGEST = "71c343b18ef30bfb1927fd73fb21f78e0be8e24759aec4d818d6df636cbc7b0b"
"""Of the 200 sessions: they change only together with this line, the file of data and the changelog."""
SESSIONS: list[LedgerSession] = [item.data for item in ITEMS]


def test_the_set_is_the_pinned_one():
    assert DATA.shipped is not None
    assert json.loads(DATA.shipped.read_text()) == {"seed": 31, "sessions": 200, "sha256": DIGEST}
    sessions = tuple(make_session(31, number) for number in range(1, 201))
    assert (sessions_digest(sessions), sessions) == (DIGEST, tuple(SESSIONS))


def test_it_has_each_kind_of_turn_in_both_languages():
    assert Counter(session.lang for session in SESSIONS) == {"en": 100, "zh": 100}
    for lang in ("en", "zh"):
        kinds = Counter(turn.kind for session in SESSIONS if session.lang == lang for turn in session.turns)
        assert set(kinds) == set(TURN_KINDS)
        assert min(kinds.values()) >= 20, kinds
    assert {len(session.turns) for session in SESSIONS} == {4}


def test_a_correction_follows_a_change_and_a_reference_is_two_turns_away():
    for session in SESSIONS:
        for place, turn in enumerate(session.turns):
            if turn.kind == "correction":
                assert any(earlier.changes for earlier in session.turns[:place]), session.id
            if turn.kind == "reference":
                assert any(earlier.changes for earlier in session.turns[: place - 1]), session.id


def test_every_book_is_one_that_beancount_accepts():
    for session in SESSIONS if WHOLE else SESSIONS[::4]:
        assert beancount_errors(Book(session.base).text) == (), session.id


def test_people_do_not_say_the_same_twice():
    texts = [
        text for session in SESSIONS for turn in session.turns for text in (turn.text, turn.more) if text
    ]
    assert not [text for text in texts if "{" in text or "  " in text]
    spoken = [
        text
        for session in SESSIONS
        for t in session.turns
        if t.kind != "chat"
        for text in (t.text, t.more)
        if text
    ]
    assert len(set(spoken)) > 0.95 * len(spoken)
    assert max(map(len, texts)) < 260


def test_a_seed_makes_the_same_sessions_and_another_one_others():
    assert make_session(31, 8) == SESSIONS[7]
    assert make_session(32, 8).turns != SESSIONS[7].turns


def loaded(path: Path, text: str) -> list[str]:
    path.write_text(text)
    return [item.id for item in LEDGER.load(source_of_file(str(path), path))]


def test_a_file_names_seed_and_number(tmp_path: Path):
    assert loaded(tmp_path / "own.json", '{"seed": 7, "sessions": 2}') == ["ledger-7-001", "ledger-7-002"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "own.json: not JSON .*; expected a file such as"),
        pytest.param("[" * 100_000, "own.json: not JSON .*; expected a file such as", id="deep"),
        ('{"seed": 7}', "sessions"),
        ('{"seed": 7, "sessions": 0}', "sessions: expected 1 to 10000, not 0"),
        ('{"seed": 7, "sessions": 1, "sha256": "0"}', "makes other sessions from this seed"),
    ],
)
def test_a_file_with_a_fault_is_named_with_it(tmp_path: Path, text: str, words: str):
    with pytest.raises(DataError, match=words):
        loaded(tmp_path / "own.json", text)


def test_there_are_no_splits():
    with pytest.raises(DataError, match="no splits"):
        [*LEDGER.load(DATA.locate(None), split="base")]
    assert {item.lang for item in LEDGER.load(DATA.locate(None), lang="zh")} == {"zh"}
