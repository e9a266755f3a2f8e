"""Runs in a store as run folders of this machine, which every command reads."""

import fcntl
import json
import os
import re
import resource
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from wildtool.engine.record.format import segment_path
from wildtool.engine.record.run_folder import is_locked
from wildtool.engine.record.worker_list import WORKERS_FILE, workers_as_json
from wildtool.errors import RecordError
from wildtool.json_codec import as_object
from wildtool.outputs import write_error
from wildtool.scale.overview import listed_workers, worker_reports
from wildtool.scale.segments import ShardRecord, read_segments, shard_records
from wildtool.scale.store import JOB_KEY, FolderStore, ObjectStore, find_stores, open_object_store, store_url
from wildtool.temporary import temporary_folder

STORE_FOLDER = "store"
"""Folder of the store inside a run folder."""
_COPIED = "copied.json"
"""File of a run folder that says which generation of each shard it holds."""
_SPARE_FILES = 256
"""Open files beside those of a record."""


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """Where a shared run lies."""

    store: ObjectStore
    folder: Path
    """Its run folder on this machine."""

    @property
    def label(self) -> str:
        """How users name it."""
        return str(self.folder) if _is_inside(self.store, self.folder) else self.store.url


def place_of(path: Path | str) -> SharedPlace:
    """The place that a user names by a URL or a run folder. Raises UsageError for an address that cannot be one."""
    if url := store_url(path):
        return SharedPlace(open_object_store(url), _copy_folder(url))
    folder = Path(path)
    return SharedPlace(FolderStore(folder / STORE_FOLDER), folder)


def _is_inside(store: ObjectStore, folder: Path) -> bool:
    return store.url == (folder / STORE_FOLDER).absolute().as_uri()


def cache_folder_of_runs() -> Path:
    """`WILDTOOL_CACHE_DIR`, else the user's cache folder for wildtool."""
    if folder := os.environ.get("WILDTOOL_CACHE_DIR"):
        return Path(folder).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("wildtool")


def url_digest(url: str) -> str:
    """A name for what belongs to a URL."""
    return sha256(url.encode()).hexdigest()[:16]


def _copy_folder(url: str) -> Path:
    """Below the cache as in the store, so that a run has one copy whichever folder above it is named."""
    scheme, _, place = url.partition(":")
    names = (re.sub(r"[^A-Za-z0-9._-]", "_", name) for name in place.split("/") if name.strip("."))
    return Path(cache_folder_of_runs(), "runs", scheme, *names)


def local_folder(path: Path) -> Path:
    """A path as other commands read it: of a URL the folder with copies of all runs there, as they are now.

    Raises RecordError where there is none, StoreError where the store cannot be read.
    """
    if url := store_url(path):
        root, folder = open_object_store(url), _copy_folder(url)
        stores = list(find_stores(root))
        if not stores:
            raise RecordError(
                f"{url}: there is no run; give the address that --out had, or one above several"
            )
        for store in stores:
            copy_run(store, folder / store.url.removeprefix(root.url).strip("/"))
        return folder
    if (path / STORE_FOLDER / JOB_KEY).exists() and os.access(path, os.W_OK) and not is_locked(path):
        copy_run(FolderStore(path / STORE_FOLDER), path)
    return path


def copy_run(store: ObjectStore, folder: Path) -> None:
    """Brings a run folder up to date with its store: shard N becomes segment N + 1. What a copy holds of an earlier run
    at the same address is dropped.

    Raises RecordError where nothing may be written there, StoreError where the store cannot be read.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".copying").open("wb") as lock:
            # Another command may be copying the same run.
            fcntl.flock(lock, fcntl.LOCK_EX)
            records = _copy_all(store, folder)
    except OSError as error:
        raise write_error(folder, error) from error
    _allow_files(records + _SPARE_FILES)


def _copy_all(store: ObjectStore, folder: Path) -> int:
    """Returns how many shards have a record."""
    job = store.get_json(JOB_KEY)
    run, copied = job.get("run", ""), _read_copied(folder)
    if copied["run"] != run and not _is_inside(store, folder):
        for path in [path for path in folder.iterdir() if path.is_file() and path.name[0] != "."]:
            path.unlink()
        copied = dict[str, Any](run=run)
    if described := store.get("run.json"):
        _replace(folder / "run.json", described)
    if workers := listed_workers(worker_reports(store, job.get("sitting", 0))):
        _replace(folder / WORKERS_FILE, workers_as_json(workers))
    for record in shard_records(store):
        _copy_shard(store, folder, record, copied.get(str(record.claim.shard)))
        copied[str(record.claim.shard)] = record.claim.generation
    _replace(folder / _COPIED, json.dumps(copied).encode())
    return len(copied) - 1


def _copy_shard(store: ObjectStore, folder: Path, record: ShardRecord, generation: int | None) -> None:
    path = segment_path(folder, record.claim.shard + 1)
    size = path.stat().st_size if path.exists() else 0
    end, prefix_segments = 0, 0
    if generation == record.claim.generation:
        for number, segment in enumerate(record.segments, 1):
            end += segment.size
            if end == size:
                prefix_segments = number
    if not prefix_segments:
        _replace(path, read_segments(store, record.segments))
        return
    with path.open("ab") as file:
        file.write(read_segments(store, record.segments[prefix_segments:]))


def _read_copied(folder: Path) -> dict[str, Any]:
    """The run whose shards a folder holds, and the generation of each."""
    with suppress(OSError, ValueError):
        return {"run": "", **as_object(json.loads((folder / _COPIED).read_bytes()))}
    return {"run": ""}


def _replace(path: Path, data: bytes) -> None:
    if path.exists() and path.read_bytes() == data:
        return
    with temporary_folder(path.parent) as place:
        new = place / path.name
        new.write_bytes(data)
        new.replace(path)


def _allow_files(count: int) -> None:
    """Lets this process open so many files, as far as it may: a record opens one for each shard."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        most = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
