"""Stores: nothing acknowledged is lost, nobody's entry is overwritten. The same for SQLite and PostgreSQL."""

import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from long import a_fiftieth_of
from review.made_sets import decide, edit, project_in, tiny_records
from review.postgres_server import PostgresServer, missing_postgres
from wildtool.cli import app
from wildtool.errors import DataError, RecordError, StorageError
from wildtool_review.log import Draft, verified
from wildtool_review.project import ReviewProject
from wildtool_review.server.regeneration import Regeneration
from wildtool_review.sets import open_store
from wildtool_review.state import fold
from wildtool_review.store.base import StoreConflict
from wildtool_review.store.sqlite import SqliteStore

KILLS = a_fiftieth_of(200)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    if reason := missing_postgres():
        # The gate installs a server, so there a skipped test would be green for the wrong reason.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    with PostgresServer() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The name of a store that is empty."""
    if request.param == "sqlite":
        return str(tmp_path / "set.review.sqlite")
    running: PostgresServer = request.getfixturevalue("server")
    return running.new_database()


def note(item: str, text: str) -> Draft:
    return Draft("note", "ann", item, note=text)


def test_what_is_appended_is_read_in_order_with_a_chain_that_holds(place: str):
    store = open_store(place)
    store.append([note("a", "1"), note("b", "2")], {"a": 0, "b": 0})
    store.append([note("a", "3"), Draft("note", "ann", note="4")], {"a": 1, "": 0})
    assert [entry.note for entry in store.read()] == ["1", "2", "3", "4"]
    assert [entry.note for entry in store.read(2)] == ["3", "4"]
    assert [entry.note for entry in store.history("a")] == ["1", "3"]
    assert list(verified(store.lines(), "store", last=store.head()[1])) == list(store.read())


def test_a_writer_who_has_not_seen_the_last_entry_of_an_item_writes_nothing(place: str):
    store, other = open_store(place), open_store(place)
    store.append([note("a", "1")], {"a": 0})
    assert other.append([note("b", "2"), note("a", "3")], {"b": 0, "a": 0}) == StoreConflict("a", 0, 1)
    assert isinstance(other.append([note("a", "3")], {"a": 1}), list)
    assert store.head()[0] == 2


def test_ids_and_texts_of_any_characters_come_back(place: str):
    store = open_store(place)
    odd = "é\0\ud800'\"; DROP TABLE review_log; --‮😀"
    store.append([note(odd, odd)], {odd: 0})
    assert [(entry.item, entry.note) for entry in store.history(odd)] == [(odd, odd)]
    assert isinstance(store.append([note(odd, odd)], {odd: 0}), StoreConflict)


def test_settings_and_the_snapshot_are_kept(place: str):
    store = open_store(place)
    store.set_setting("token x", "ann")
    store.set_setting("token y", "bob")
    store.set_setting("token x", None)
    store.save_snapshot(3, b"three")
    store.save_snapshot(2, b"an older one")
    store.close()
    again = open_store(place)
    assert (again.settings("token "), again.snapshot()) == ({"token y": "bob"}, b"three")


def test_a_review_opens_from_its_snapshot_and_what_came_after(place: str):
    review = project_in(open_store(place), tiny_records(3), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    decide(review, "ann", "s0")
    review.close()
    review = ReviewProject.open(open_store(place))
    edit(review, "bob", "s1", "Better.")
    live = review.state.dump()
    again = ReviewProject.open(open_store(place))
    assert again.state.dump() == live == fold(review.format, review.store.read()).dump()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE review_log SET item = 's9' WHERE n = 3",
        "UPDATE review_items SET last = 1 WHERE item = 's0'",
        "DELETE FROM review_items WHERE item = 's1'",
    ],
)
def test_an_index_that_does_not_follow_from_the_log_is_named_and_mended(place: str, damage: str):
    review = project_in(open_store(place), tiny_records(3))
    decide(review, "owner", "s0")
    review.close()
    store: Any = open_store(place)
    store.rows(damage)
    with pytest.raises(RecordError, match=r"index .* did not follow from the log"):
        ReviewProject.open(store).verify("set")
    mended = ReviewProject.open(store)
    assert mended.verify("set") == mended.state.n
    assert [len(store.history(item)) for item in ("s0", "s1", "s2")] == [3, 1, 1]
    edit(mended, "owner", "s1", "It can be written.")


def test_a_review_goes_on_after_its_database_was_started_again(server: PostgresServer):
    place = server.new_database()
    review, other = project_in(open_store(place), tiny_records(2)), ReviewProject.open(open_store(place))
    server.restart()
    edit(review, "owner", "s0", "After the restart.")
    assert other.refresh()[-1].item == "s0"
    server.restart()
    with pytest.raises(StorageError, match="what was saved is intact"), review.store.transaction():  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        server.restart()
        review.store.append([note("s1", "in a transaction that was cut off")], {})
    edit(review, "owner", "s1", "And again.")
    assert [entry.note for entry in review.store.read() if entry.kind == "note"] == []
    list(verified(review.store.lines(), "store", last=review.store.head()[1]))


SECRET = "ge heim:wört@%"


def test_the_password_of_a_database_is_shown_nowhere(
    server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    place = server.new_database()
    hidden = quote(SECRET, safe="")
    by_login = place.replace("://", f"://tester:{hidden}@", 1).replace("&user=tester", "")
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(record) + "\n" for record in tiny_records(2)))
    monkeypatch.chdir(tmp_path)
    shown: list[str] = []
    for address in (
        by_login,
        f"{place}&password={hidden}",
        f"{place}&sslpassword={hidden}&connect_timeout=3",
    ):
        for line in (
            ["start", "set.jsonl", "--store", address],
            ["log", address, "--verify"],
            ["log", address, "--verify", "--last", "0"],
            ["people", "list", address],
            ["export", address, "-o", "out"],
            ["stats", address.replace("review", "nosuch")],
        ):
            ended = CliRunner().invoke(app, ["review", *line], prog_name="wildtool")
            assert ended.exit_code in (0, 2, 3), (line, ended.output, ended.exception)
            shown.append(ended.output)
    for wrong in (
        f"postgresql://ann:{SECRET}@h/db",
        f"postgresql://ann:x/{hidden}@h/db",
        "postgresql://ann:%zz@h",
    ):
        for line in (["log", wrong], ["start", "set.jsonl", "--store", wrong], [wrong, "--port", "0"]):
            ended = CliRunner().invoke(app, ["review", *line], prog_name="wildtool")
            assert ended.exit_code == 2 and "PGPASSWORD" in ended.output
            shown.append(ended.output)
    every = "".join(shown) + caplog.text
    assert "heim" not in every and hidden not in every and "%zz" not in every
    assert "postgresql:///review" in every


def test_a_process_that_makes_tasks_again_is_called_without_the_password(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
):
    place = server.new_database()
    project_in(open_store(place), tiny_records(1)).close()
    called: list[Regeneration] = []

    async def serve(project: ReviewProject, name: str, *_: Any, **about: Any) -> None:
        called.append(about["regeneration"])
        assert name.startswith("review") and "?" not in name
        project.close()

    monkeypatch.setattr("wildtool_review.server.app.serve_review", serve)
    address = place.replace("://", f"://tester:{quote(SECRET, safe='')}@", 1).replace("&user=tester", "")
    ended = CliRunner().invoke(app, ["review", "serve", address, "-m", "baseline/gold"], prog_name="wildtool")
    assert ended.exit_code == 0, ended.output
    code = "import os, sys; sys.exit(' '.join([*sys.argv, os.environ['PGPASSWORD']]))"
    (made,) = called
    made._command[:] = [sys.executable, "-c", code, *made._command[1:]]  # pyright: ignore[reportPrivateUsage]
    made.start("s0", "owner", 0, keep_texts=False)
    while (state := made.state("s0", "owner")).running:
        pass
    words, _, password = state.problem.partition(" postgresql://tester@/")
    assert password.endswith(SECRET) and "heim" not in words and password.count("heim") == 1


def test_two_processes_lose_no_update(place: str):
    review = project_in(open_store(place), tiny_records(4))
    writers = [forked(lambda say, name=name: remarks(place, name, say)) for name in "ab"]
    acknowledged: list[str] = []
    for pid, said in writers:
        with os.fdopen(said) as lines:
            acknowledged += lines.read().splitlines()
        assert os.waitpid(pid, 0)[1] == 0
    review.refresh()
    notes = [entry.note for entry in review.store.read() if entry.kind == "note"]
    assert sorted(notes) == sorted(acknowledged)
    assert len(notes) == 30
    list(verified(review.store.lines(), "store"))


def remarks(place: str, name: str, say: Callable[[str], None]) -> None:
    review = ReviewProject.open(open_store(place))
    for k in range(15):
        review.remark("me", f"s{k % 4}", f"{name} {k}")
        say(f"{name} {k}")


def forked(act: Callable[[Callable[[str], None]], None]) -> tuple[int, int]:
    """A process, and a pipe from which each line that it says can be read."""
    here, there = os.pipe()
    pid = os.fork()
    if pid:
        os.close(there)
        return pid, here
    status = 1
    try:
        os.close(here)

        def say(line: str) -> None:
            os.write(there, f"{line}\n".encode())

        act(say)
        status = 0
    finally:
        os._exit(status)


def test_a_kill_at_any_moment_loses_no_acknowledged_save(tmp_path: Path):
    place = str(tmp_path / "set.review.sqlite")
    project_in(open_store(place), tiny_records(4)).close()
    draw = random.Random(7)
    acknowledged: list[str] = []
    for attempt in range(KILLS):
        pid, said = forked(lambda say, attempt=attempt: save_without_end(Path(place), attempt, say))
        with os.fdopen(said) as lines:
            for _ in range(draw.randint(1, 25)):
                acknowledged.append(lines.readline().strip())
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            acknowledged += [line.strip() for line in lines if line.endswith("\n")]
    store = SqliteStore(Path(place))
    found = {entry.note for entry in verified(store.lines(), "store", last=store.head()[1])}
    assert set(acknowledged) <= found
    assert len(acknowledged) >= KILLS and "" not in acknowledged


def save_without_end(place: Path, attempt: int, say: Callable[[str], None]) -> None:
    """Says each save that was acknowledged."""
    store = SqliteStore(place)
    for k in count():
        item, text = f"s{k % 4}", f"{attempt}/{k}"
        store.append([note(item, text)], {item: store.history(item)[-1].n})
        say(text)


def test_a_file_that_is_no_review_is_named(tmp_path: Path):
    file = tmp_path / "set.review.sqlite"
    file.write_text(json.dumps({"not": "a review"}) * 100)
    with pytest.raises(DataError, match="is no review, or damaged"):
        SqliteStore(file)


def test_a_server_that_does_not_answer_is_named_without_its_password():
    pytest.importorskip("psycopg")
    with pytest.raises(StorageError, match="reviews: cannot be used") as error:
        open_store(f"postgresql://ann:{quote('geheim')}@127.0.0.1:1/reviews")
    assert "geheim" not in str(error.value)
