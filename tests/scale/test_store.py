"""Stores: a folder, and a bucket where obstore is installed."""

import errno
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from wildtool.errors import UsageError
from wildtool.scale.store import (
    FolderStore,
    ObjectStore,
    StoredObject,
    StoreError,
    open_object_store,
    store_url,
)


def bucket(folder: Path) -> ObjectStore:
    """Any of obstore's own stores is used as a bucket is."""
    pytest.importorskip("obstore")
    from obstore.store import LocalStore

    from wildtool.scale.store import BucketStore

    made = BucketStore("s3://any-bucket/run")
    made._store = LocalStore(folder, mkdir=True)  # pyright: ignore[reportPrivateUsage]
    return made


@pytest.fixture(params=[FolderStore, bucket], ids=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    opened: Callable[[Path], ObjectStore] = request.param
    return opened(tmp_path / "store")


def test_an_object_is_created_once(store: ObjectStore):
    assert store.create("share/0000001.0001.held", b"one")
    assert not store.create("share/0000001.0001.held", b"two")
    assert store.get("share/0000001.0001.held") == b"one"


def test_what_is_put_replaces(store: ObjectStore):
    store.put("worker/a", b"1")
    store.put("worker/a", b"2")
    assert store.get("worker/a") == b"2"
    assert store.get("worker/b") is None


def test_a_list_is_sorted_by_key(store: ObjectStore):
    for name in ("b/2", "a", "b/1", "c"):
        store.put(f"record/{name}", name.encode())
    store.put("records", b"another folder")
    assert [entry.key for entry in store.entries("record/")] == [
        "record/a",
        "record/b/1",
        "record/b/2",
        "record/c",
    ]
    assert [entry.size for entry in store.entries("record/b/")] == [3, 3]
    assert store.entries("nothing/") == []


def test_a_store_lists_its_folders(store: ObjectStore):
    store.put("one/run.json", b"{}")
    store.put("two/run.json", b"{}")
    store.put("run.json", b"{}")
    assert store.folders() == ["one", "two"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match=r"file:///.*check that the folder can be written"):
        FolderStore(tmp_path / "file").put("share/1", b"")


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("s3://bucket/runs/a/", "s3://bucket/runs/a"),
        (Path("s3://bucket/runs/a"), "s3://bucket/runs/a"),
        (Path("file:///shared/a b"), "file:///shared/a%20b"),
        ("file:///shared/a%20b", "file:///shared/a%20b"),
        ("runs/a", None),
        ("C:/runs", None),
    ],
)
def test_urls_are_told_from_paths_also_as_paths_write_them(typed: Path | str, url: str | None):
    assert store_url(typed) == url


@pytest.mark.parametrize(
    "typed", ["s3://key:secret@bucket/a", "s3://bucket/a?X-Amz-Signature=abc", "gs://b/a#x"]
)
def test_an_address_with_credentials_is_refused_without_repeating_them(typed: str):
    with pytest.raises(UsageError, match="no login and no query") as caught:
        store_url(typed)
    assert "secret" not in str(caught.value) and "abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "No space left on device; make room"),
        (errno.EACCES, "Permission denied; check that the folder can be written and read"),
    ],
)
def test_what_keeps_a_folder_from_being_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, advice: str
):
    def fail(*words: object) -> None:
        raise OSError(number, os.strerror(number))

    opened = FolderStore(tmp_path)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreError) as caught:
        opened.put("a", b"1")
    assert str(caught.value) == f"{opened.url}: {advice}"
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(StoreError, match="file://"):
        opened.get("a")


# Buckets -----------------------------------------------------------------------------------------------


class BaseError(Exception):
    """obstore's."""


class AlreadyExistsError(BaseError):
    """obstore's."""


class Bucket:
    """As much of obstore as a bucket takes, in memory."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.opened: list[object] = []
        self.error: Exception | None = None

    def from_url(self, url: str, **options: object) -> str:
        self.opened.append((url, options))
        if "wrong" in url:
            raise ValueError("no such place\nmore")
        return url

    def _check(self) -> None:
        if self.error is not None:
            raise self.error

    def put(self, store: str, key: str, data: bytes, *, use_multipart: bool, mode: str = "overwrite") -> None:
        self._check()
        assert not use_multipart
        if mode == "create" and key in self.objects:
            raise AlreadyExistsError(key)
        self.objects[key] = data

    def get(self, store: str, key: str) -> object:
        self._check()
        if key not in self.objects:
            raise FileNotFoundError(key)
        return SimpleNamespace(bytes=lambda: memoryview(self.objects[key]))

    def list(self, store: str, prefix: str, *, chunk_size: int) -> object:
        self._check()
        assert chunk_size == 1_000
        time = datetime.fromtimestamp(7.5, UTC)
        rows = [
            {"path": key, "size": len(data), "last_modified": time}
            for key, data in self.objects.items()
            if key.startswith(prefix)
        ]
        return [rows[:1], rows[1:]]

    def list_with_delimiter(self, store: str) -> object:
        self._check()
        return {"common_prefixes": ["run/b/", "run/a/"]}


@pytest.fixture
def obstore(monkeypatch: pytest.MonkeyPatch) -> Bucket:
    bucket = Bucket()
    exceptions = SimpleNamespace(BaseError=BaseError, AlreadyExistsError=AlreadyExistsError)
    for name, module in (("obstore", bucket), ("obstore.store", bucket), ("obstore.exceptions", exceptions)):
        monkeypatch.setitem(sys.modules, name, module)  # pyright: ignore
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ALLOW_HTTP"):
        monkeypatch.delenv(name, raising=False)
    return bucket


def test_a_bucket_is_a_store(obstore: Bucket):
    opened = open_object_store("s3://bucket/run/")
    assert opened.create("a/2", b"22")
    assert not opened.create("a/2", b"other")
    opened.put("a/1", b"1")
    opened.put("a/.b", b"hidden")
    assert (opened.get("a/2"), opened.get("a/3")) == (b"22", None)
    assert opened.entries("a/") == [StoredObject("a/1", 1, 7.5), StoredObject("a/2", 2, 7.5)]
    assert sorted(obstore.objects) == ["a/.b", "a/1", "a/2"]
    assert opened.folders() == ["a", "b"]
    assert opened.below("x").url == "s3://bucket/run/x"
    retries = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}
    options = {"client_options": {"allow_http": False}, "retry_config": retries}
    assert obstore.opened == [("s3://bucket/run/", options), ("s3://bucket/run/x", options)]


def test_a_bucket_that_refuses_is_named_with_the_first_line_of_its_answer(obstore: Bucket):
    with pytest.raises(UsageError) as refused:
        open_object_store("s3://wrong")
    assert str(refused.value) == "s3://wrong: cannot be opened (no such place); check the address"
    opened = open_object_store("s3://bucket")
    for error, words in (
        (BaseError("\ndenied\nlong answer"), "denied"),
        (BaseError(""), "BaseError"),
        (BaseError("x" * 400), "x" * 300),
    ):
        obstore.error = error
        for action in (
            lambda: opened.create("a", b""),
            lambda: opened.put("a", b""),
            lambda: opened.get("a"),
            lambda: opened.entries("a/"),
            opened.folders,
        ):
            with pytest.raises(StoreError) as caught:
                action()
            assert str(caught.value) == (
                f"s3://bucket: the store cannot be used ({words}); check the address, the credentials of its provider"
                " and the network. What was recorded is intact"
            )
    obstore.error = KeyError("not the store's")
    with pytest.raises(KeyError):
        opened.get("a")


def test_a_store_is_opened_by_its_url(tmp_path: Path):
    opened = open_object_store((tmp_path / "a b").as_uri())
    opened.put("run.json", b"{}")
    assert (tmp_path / "a b" / "run.json").read_bytes() == b"{}"
    assert opened.below("c").url == (tmp_path / "a b" / "c").as_uri()


def test_a_file_that_cannot_even_be_opened_is_an_error_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(self: Path, mode: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(StoreError) as caught:
        FolderStore(tmp_path).put("a", b"")
    assert str(caught.value) == f"{tmp_path.as_uri()}: No space left on device; make room"
