"""Replies kept for other runs: found by the very same request only, and never believed when damaged."""

import errno
import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import ScriptedModel
from wildtool.engine.call.cache import CACHE_FILE, ReplyCache, model_digest
from wildtool.engine.record.format import request_hashes
from wildtool.errors import StorageError, UsageError
from wildtool.types import Reply, Request

REQUEST = Request([{"role": "user", "content": "hi 你"}], [{"type": "function", "function": {"name": "f"}}])
REPLY = Reply(
    {"content": "yes", "tool_calls": None}, "<yes>", "stop", {"prompt_tokens": 3}, 0.5, 2, ("merged",)
)


def key_of(cache: ReplyCache, model: Any, request: Request = REQUEST) -> str:
    return cache.key(model_digest(model), request_hashes(request)[-1])


def put(folder: Path) -> tuple[ReplyCache, str]:
    cache = ReplyCache(folder)
    key = key_of(cache, ScriptedModel())
    cache.put(key, REPLY)
    cache.flush()
    return cache, key


def rewrite(folder: Path, sql: str, *values: Any) -> None:
    """Changes the database behind the cache's back."""
    with closing(sqlite3.connect(folder / CACHE_FILE)) as database, database:
        database.execute(sql, values)


def test_a_reply_comes_back_whole_and_says_where_from(tmp_path: Path):
    cache, key = put(tmp_path)
    assert cache.get(key) == replace(REPLY, cached=True)


def warm() -> ScriptedModel:
    model = ScriptedModel()
    model.temperature = 0.7
    return model


@pytest.mark.parametrize(
    ("model", "request_"),
    [
        (ScriptedModel(name="another"), REQUEST),
        (warm(), REQUEST),
        (ScriptedModel(), replace(REQUEST, messages=[{"role": "user", "content": "hi"}])),
        (ScriptedModel(), replace(REQUEST, tools=[])),
    ],
)
def test_whatever_a_reply_may_depend_on_is_in_its_key(tmp_path: Path, model: Any, request_: Request):
    cache = ReplyCache(tmp_path)
    assert key_of(cache, model, request_) != key_of(cache, ScriptedModel())


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "torn": lambda data: data[: len(data) // 2],
    "another text": lambda data: data.replace(b"yes", b"no!"),
    "no object": lambda data: b"[]",
    "wrong types": lambda data: json.dumps(json.loads(data) | {"usage": "many"}).encode(),
    "deep": lambda data: b"[" * 100_000,
    "null": lambda data: b"null",
    "binary": lambda data: b"\xff\xfe\x00",
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("digest", ["old", "right"])
def test_a_damaged_row_counts_as_not_there_and_is_replaced(tmp_path: Path, how: str, digest: str):
    cache, key = put(tmp_path)
    with closing(sqlite3.connect(tmp_path / CACHE_FILE)) as database:
        (line,) = database.execute("SELECT line FROM reply").fetchone()
    wrong = DAMAGE[how](line)
    rewrite(tmp_path, "UPDATE reply SET line = ?", wrong)
    if digest == "right" and how != "another text":
        rewrite(tmp_path, "UPDATE reply SET digest = ?", hashlib.sha256(key.encode() + wrong).hexdigest())
    assert cache.get(key) is None
    cache.put(key, REPLY)
    assert cache.get(key) is not None


@pytest.mark.parametrize("value", [None, 3, "text"])
def test_a_row_of_other_types_counts_as_not_there(tmp_path: Path, value: Any):
    cache, key = put(tmp_path)
    rewrite(tmp_path, "UPDATE reply SET line = ?", value)
    assert cache.get(key) is None


def test_a_reply_moved_to_another_key_is_not_believed(tmp_path: Path):
    cache, _ = put(tmp_path)
    other = key_of(cache, ScriptedModel(name="another"))
    rewrite(tmp_path, "UPDATE reply SET key = ?", other)
    assert cache.get(other) is None


def test_two_users_of_a_folder_see_each_others_replies(tmp_path: Path):
    one, other = ReplyCache(tmp_path), ReplyCache(tmp_path)
    key = key_of(one, ScriptedModel())
    assert other.get(key) is None
    one.put(key, REPLY)
    one.close()
    assert other.get(key) == replace(REPLY, cached=True)
    other.put(key, REPLY)
    other.flush()
    assert other.get(key) == replace(REPLY, cached=True)


def test_a_reply_is_found_before_it_is_written(tmp_path: Path):
    cache = ReplyCache(tmp_path)
    cache.put(key_of(cache, ScriptedModel()), REPLY)
    assert cache.get(key_of(cache, ScriptedModel())) == replace(REPLY, cached=True)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="file/cache: cannot be used as a cache"):
        ReplyCache(tmp_path / "file" / "cache")


def test_a_file_that_is_no_database_is_named_with_advice(tmp_path: Path):
    (tmp_path / CACHE_FILE).write_bytes(b"x" * 5000)
    with pytest.raises(StorageError, match=r"cannot be used as a cache .*; delete it"):
        ReplyCache(tmp_path)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, StorageError), (errno.EDQUOT, StorageError), (errno.EACCES, UsageError)],
)
def test_a_folder_that_takes_no_cache_is_named(
    number: int, kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(*arguments: Any, **settings: Any) -> None:
        raise OSError(number, "why")

    monkeypatch.setattr(Path, "mkdir", fails)
    with pytest.raises((StorageError, UsageError)) as caught:
        ReplyCache(tmp_path / "new")
    message = f"{tmp_path / 'new'}: cannot be used as a cache (why)"
    assert (type(caught.value), str(caught.value)) == (kind, message)
