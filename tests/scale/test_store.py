"""Stores: a folder, and a bucket where obstore is installed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from wildtool.errors import UsageError
from wildtool.scale.store import FolderStore, ObjectStore, StoreError, open_object_store, store_url


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


def test_a_list_is_sorted_and_begins_behind_a_key(store: ObjectStore):
    for name in ("b/2", "a", "b/1", "c"):
        store.put(f"record/{name}", name.encode())
    store.put("records", b"another folder")
    assert [entry.key for entry in store.entries("record/")] == [
        "record/a",
        "record/b/1",
        "record/b/2",
        "record/c",
    ]
    assert [entry.key for entry in store.entries("record/", after="record/b/1")] == ["record/b/2", "record/c"]
    assert [entry.size for entry in store.entries("record/b/")] == [3, 3]
    assert store.entries("nothing/") == []


def test_a_deleted_object_is_gone_and_may_be_deleted_again(store: ObjectStore):
    store.put("a/b", b"")
    for _ in range(2):
        store.delete("a/b")
    assert store.entries("a/") == []


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


def test_a_store_is_opened_by_its_url(tmp_path: Path):
    opened = open_object_store((tmp_path / "a b").as_uri())
    opened.put("run.json", b"{}")
    assert (tmp_path / "a b" / "run.json").read_bytes() == b"{}"
    assert opened.below("c").url == (tmp_path / "a b" / "c").as_uri()
