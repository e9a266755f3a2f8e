"""Where workers meet: a folder that they share, or a bucket. Objects are written whole; the only condition that a store
must know is *create if absent*."""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from wildtool.errors import StorageError, UsageError
from wildtool.json_codec import as_object, loads
from wildtool.outputs import is_disk_full
from wildtool.temporary import is_temporary, temporary_folder

JOB_KEY = "job.json"
"""What a worker needs to know; every run in a store has it."""
_URL = re.compile(r"(file|s3|gs|az):/+(.*)", re.DOTALL)
"""A URL, also as `Path` writes it: with one slash for several."""
_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
"""What objects of a run are called; so no store can name a place elsewhere on this disk."""


_RETRIES: dict[str, Any] = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}
"""Of one request: workers try again themselves."""


class StoreError(StorageError):
    """A store that does not answer, or refuses."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as a store lists it."""

    key: str
    size: int
    """Bytes."""
    modified: float
    """When it was written, in seconds on the store's clock."""


class ObjectStore(ABC):
    """Objects by key. Every method raises StoreError where the store cannot be reached or refuses."""

    url: str
    """Its address, as users may see it."""

    @abstractmethod
    def create(self, key: str, data: bytes) -> bool:
        """Writes an object unless there is one of that key; whether it did. Of several that try, one does."""

    def get_json(self, key: str) -> dict[str, Any]:
        """The JSON object of that key; an empty one where there is none, or where it is damaged."""
        try:
            return as_object(loads(self.get(key) or b"{}"))
        except ValueError:
            return {}

    @abstractmethod
    def put(self, key: str, data: bytes) -> None:
        """Writes an object in place of any of that key."""

    @abstractmethod
    def get(self, key: str) -> bytes | None:
        """The content of an object; None where there is none."""

    @abstractmethod
    def entries(self, prefix: str) -> list[StoredObject]:
        """The objects of a folder, sorted by key. Args: prefix: the folder with its slash."""

    @abstractmethod
    def folders(self) -> list[str]:
        """Names of the folders at its top."""

    @abstractmethod
    def below(self, name: str) -> "ObjectStore":
        """The store of a folder in it."""


class FolderStore(ObjectStore):
    """A folder of this machine, or of a file server that several mount."""

    def __init__(self, folder: Path) -> None:
        self.url = folder.absolute().as_uri()
        self._folder = folder

    def create(self, key: str, data: bytes) -> bool:
        with self._written(key, data) as new:
            try:
                # A link fails where its name is taken, on NFS too; a rename would replace.
                os.link(new, self._folder / key)
            except FileExistsError:
                return False
        return True

    def put(self, key: str, data: bytes) -> None:
        with self._written(key, data) as new:
            new.replace(self._folder / key)

    def get(self, key: str) -> bytes | None:
        with self._errors():
            try:
                return (self._folder / key).read_bytes()
            except FileNotFoundError:
                return None

    def entries(self, prefix: str) -> list[StoredObject]:
        entries: list[StoredObject] = []
        with self._errors():
            for place, _, names in os.walk(self._folder / prefix):
                folder = Path(place).relative_to(self._folder).as_posix()
                for name in names:
                    key = f"{folder}/{name}"
                    if not _KEY.fullmatch(key):
                        continue
                    with suppress(FileNotFoundError):
                        status = Path(place, name).stat()
                        entries.append(StoredObject(key, status.st_size, status.st_mtime_ns / 1e9))
        return sorted(entries, key=lambda entry: entry.key)

    def folders(self) -> list[str]:
        names: list[str] = []
        with self._errors(), suppress(FileNotFoundError, NotADirectoryError):
            names = sorted(
                entry.name
                for entry in os.scandir(self._folder)
                if entry.is_dir() and not is_temporary(entry.name)
            )
        return names

    def below(self, name: str) -> "FolderStore":
        return FolderStore(self._folder / name)

    @contextmanager
    def _written(self, key: str, data: bytes) -> Generator[Path]:
        """A whole new file that may be moved to its key, and is gone afterwards. Raises StoreError."""
        with self._errors():
            (self._folder / key).parent.mkdir(parents=True, exist_ok=True)
            # The name of the folder begins with a dot, so it holds no keys.
            with temporary_folder(self._folder) as place:
                new = place / "new"
                with new.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                yield new

    def _errors(self) -> "_FolderErrors":
        return _FolderErrors(self.url)


class _FolderErrors:
    """Names the store in errors of the system."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            advice = "make room" if is_disk_full(error) else "check that the folder can be written and read"
            raise StoreError(f"{self._url}: {error.strerror or error}; {advice}") from error


class BucketStore(ObjectStore):
    """A bucket, or a folder in one, by obstore. Credentials come from the provider's usual chain: environment, files,
    the machine's role."""

    def __init__(self, url: str) -> None:
        try:
            library: Any = import_module("obstore")
            stores: Any = import_module("obstore.store")
            exceptions: Any = import_module("obstore.exceptions")
        except ImportError as error:
            raise UsageError(f"{url} needs a library: pip install 'wildtool[store]'") from error
        self.url = url
        self._library = library
        self._failures: type[Exception] = exceptions.BaseError
        self._exists: type[Exception] = exceptions.AlreadyExistsError
        try:
            self._store: Any = stores.from_url(url, client_options=_client_options(), retry_config=_RETRIES)
        except (self._failures, ValueError) as error:
            raise UsageError(f"{url}: cannot be opened ({_first_line(error)}); check the address") from error

    def create(self, key: str, data: bytes) -> bool:
        with _BucketErrors(self.url, self._failures):
            try:
                self._library.put(self._store, key, data, mode="create", use_multipart=False)
            except self._exists:
                return False
            return True

    def put(self, key: str, data: bytes) -> None:
        with _BucketErrors(self.url, self._failures):
            self._library.put(self._store, key, data, use_multipart=False)

    def get(self, key: str) -> bytes | None:
        with _BucketErrors(self.url, self._failures):
            try:
                return bytes(self._library.get(self._store, key).bytes())
            except FileNotFoundError:
                return None

    def entries(self, prefix: str) -> list[StoredObject]:
        with _BucketErrors(self.url, self._failures):
            pages = self._library.list(self._store, prefix, chunk_size=1_000)
            entries = [
                StoredObject(entry["path"], entry["size"], entry["last_modified"].timestamp())
                for page in pages
                for entry in page
                if _KEY.fullmatch(entry["path"])
            ]
        return sorted(entries, key=lambda entry: entry.key)

    def folders(self) -> list[str]:
        with _BucketErrors(self.url, self._failures):
            prefixes: list[str] = self._library.list_with_delimiter(self._store)["common_prefixes"]
        return sorted(prefix.rstrip("/").rsplit("/", 1)[-1] for prefix in prefixes)

    def below(self, name: str) -> "BucketStore":
        return BucketStore(f"{self.url.rstrip('/')}/{name}")


class _BucketErrors:
    """Names the store in errors of the library, which may hold long answers of the server."""

    def __init__(self, url: str, failures: type[Exception]) -> None:
        self._url, self._failures = url, failures

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, self._failures):
            raise StoreError(
                f"{self._url}: the store cannot be used ({_first_line(error)}); check the address, the credentials of "
                "its provider and the network. What was recorded is intact"
            ) from error


def _client_options() -> dict[str, Any]:
    """Servers of this machine speak http."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
    plain = endpoint.startswith("http://") or os.environ.get("AWS_ALLOW_HTTP", "").lower() == "true"
    return {"allow_http": plain}


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]


def store_url(path: Path | str) -> str | None:
    """The URL that a path of the command line stands for; None for a path of this machine.

    Raises UsageError for a URL with a login or a query, which would reach the record.
    """
    match = _URL.fullmatch(str(path))
    if match is None:
        return None
    scheme, rest = match[1], match[2].rstrip("/")
    if scheme == "file":
        return Path("/", unquote(rest)).as_uri()
    url = f"{scheme}://{rest}"
    parts = urlsplit(url)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError(
            f"{scheme}:// addresses take no login and no query: credentials come from the provider's usual chain"
        )
    if not parts.netloc:
        raise UsageError(f"{url}: names no bucket; expected such as {scheme}://bucket/folder")
    return url


def open_object_store(url: str) -> ObjectStore:
    """The store of a URL. Raises UsageError where its library is missing or the address cannot be one."""
    if url.startswith("file:"):
        return FolderStore(Path(unquote(urlsplit(url).path)))
    return BucketStore(url)


def find_stores(store: ObjectStore, depth: int = 4) -> Iterator[ObjectStore]:
    """The stores at or below a store that hold a run; the folders of a run are not looked at."""
    if store.get(JOB_KEY) is not None:
        yield store
    elif depth:
        for name in store.folders():
            if _KEY.fullmatch(name):
                yield from find_stores(store.below(name), depth - 1)
