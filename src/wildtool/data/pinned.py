"""Downloads public files pinned by commit and digest; no file is used before it is verified."""

import gzip
import hashlib
import os
import re
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from wildtool.data.files import file_sha256
from wildtool.errors import DataError
from wildtool.secret_places import register_foreign
from wildtool.temporary import temporary_folder

if TYPE_CHECKING:
    from concurrent.futures import Future

# Network modules are imported only to download: every command that reads data imports this module.

HOST = "https://raw.githubusercontent.com"
"""Host that serves files of public repositories by commit; `--mirror` selects another."""
TIMEOUT_S = 60
MAX_FILE_BYTES = 256 * 1024 * 1024
"""Largest file that is downloaded; the pinned ones are far smaller."""
MAX_PARALLEL_FETCHES = 8
"""Files that are downloaded at the same time."""
_CHUNK = 1 << 20
ReportProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One file of a public repository at one commit, with a digest of its bytes."""

    repository: str
    """Owner and name."""
    commit: str
    path: str
    """Path inside the repository."""
    git_blob: str = ""
    """Git blob id (SHA-1 of the header `blob <size>` NUL and the bytes), lower-case hex; or else:"""
    sha256: str = ""
    """SHA-256 of the bytes, lower-case hex."""
    other_path: str = ""
    """Its path in a folder that is not a checkout of the repository."""

    def __post_init__(self) -> None:
        if bool(self.git_blob) == bool(self.sha256):
            raise ValueError(f"{self.path}: pin it by git_blob or by sha256, one of them")

    def url(self, mirror: str | None = None) -> str:
        return source_url(self.repository, self.commit, self.path, mirror)

    @property
    def id(self) -> str:
        """The expected digest with its name."""
        return f"git blob id {self.git_blob}" if self.git_blob else f"SHA-256 {self.sha256}"

    def id_of(self, path: Path) -> str:
        """The digest of a file's bytes, named as in `id`."""
        if self.git_blob:
            return f"git blob id {git_blob_id(path)}"
        return f"SHA-256 {file_sha256(path)}"

    def is_at(self, path: Path) -> bool:
        return path.is_file() and self.id_of(path) == self.id


def source_url(repository: str, commit: str, path: str, mirror: str | None = None) -> str:
    """URL of the file."""
    return f"{(mirror or HOST).rstrip('/')}/{repository}/{commit}/{path}"


def cache_folder() -> Path:
    """`WILDTOOL_DATA_DIR`, else the user's cache folder for wildtool."""
    folder = os.environ.get("WILDTOOL_DATA_DIR")
    if folder:
        return Path(folder)
    return _user_folder(*map(os.environ.get, ("XDG_CACHE_HOME", "HOME")))


@cache
def _user_folder(*_: str | None) -> Path:
    """In the user's cache folder. Kept, since some benchmarks ask for each request. Args: what the folder depends on."""
    from platformdirs import user_cache_path  # only where the variable of `cache_folder` is not set

    return user_cache_path("wildtool") / "data"


def official_folder(benchmark: str) -> Path:
    """Where the official data of a benchmark are kept once pulled."""
    return cache_folder() / benchmark


def data_place(data: str | None, benchmark: str, takes: str) -> Path:
    """The file or folder that a user named: for None and `official`, where the pulled data are kept.

    Args:
        takes: what `--data` takes beside `official`, for the message.

    Raises:
        DataError: nothing is there; the message says how to get the data.
    """
    if data not in (None, "official"):
        if not Path(data).exists():
            raise DataError(f"no file or folder {data!r}; --data takes official, {takes}")
        return Path(data)
    place = official_folder(benchmark)
    if not place.exists():
        raise DataError(
            f"the official data are not at {place}; get them with `wildtool data pull {benchmark}` (or `--from FOLDER`"
            f" if you have them), or name {takes} with --data"
        )
    return place


def git_blob_id(path: Path) -> str:
    """The id git gives to a file's bytes."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def fetch(
    pinned: PinnedFile,
    target: Path,
    *,
    file: Path | None = None,
    mirror: str | None = None,
    report: ReportProgress = lambda _: None,
) -> Path:
    """Installs a verified pinned file at `target`; does nothing if it is there already.

    Args:
        file: copy this file instead of downloading; one that ends in `.gz` is unpacked.
        mirror: base address to use instead of the public host.

    Raises:
        DataError: not an http(s) address, not reachable, not found, cut short, too long, or not the pinned
            bytes. `target` is then unchanged.
    """
    register_foreign(mirror)
    if pinned.is_at(target):
        report(f"{target} is there and verified")
        return target
    _make_folder(target.parent)
    with _new_file(target) as part:
        if file is not None:
            _copy(file, part)
        else:
            report(f"fetching {pinned.url(mirror)}")
            download(pinned.url(mirror), part)
        blob_id = pinned.id_of(part)
        if blob_id != pinned.id:
            size = part.stat().st_size
            raise DataError(
                f"{file or pinned.url(mirror)}: not the pinned file: {blob_id} ({size} bytes), expected"
                f" {pinned.id}; nothing was installed. Take {pinned.path} at commit {pinned.commit} of"
                f" {pinned.repository}, or give another file to a run with --data FILE"
            )
    report(f"{target} verified: {pinned.id}")
    return target


def fetch_all(
    files: Mapping[Path, PinnedFile],
    *,
    folder: Path | None = None,
    mirror: str | None = None,
    report: ReportProgress = lambda _: None,
) -> None:
    """Installs many pinned files at their targets, several at once; verified ones are kept.

    Args:
        files: target to pinned file.
        folder: copy them from this folder, by their path in the repository or their other path, `.gz` or not.

    Raises:
        DataError: some files are missing; it names them. The others are installed, so running again continues.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    missing = {target: pinned for target, pinned in files.items() if not pinned.is_at(target)}
    if missing:
        home = next(iter(missing.values())).repository
        report(f"taking {len(missing)} of {len(files)} files from {folder or f'{mirror or HOST}/{home}'}")
    failed: dict[Path, DataError] = {}
    pool = ThreadPoolExecutor(MAX_PARALLEL_FETCHES)
    try:
        runs = {pool.submit(_fetch_one, *want, folder, mirror): want[0] for want in missing.items()}
        for number, run in enumerate(as_completed(runs), 1):
            if error := _error_of(run):
                failed[runs[run]] = error
            if folder is None and number == MAX_PARALLEL_FETCHES == len(failed):
                break  # all of the first failed: do not wait for the rest
    finally:
        pool.shutdown(cancel_futures=True)
    if failed:
        raise _incomplete(files, failed)
    report(f"{len(files)} files are there and verified")


def _fetch_one(target: Path, pinned: PinnedFile, folder: Path | None, mirror: str | None) -> None:
    fetch(pinned, target, file=None if folder is None else _find(pinned, folder), mirror=mirror)


def find_in_folder(folder: Path, pinned: PinnedFile) -> Path | None:
    """The pinned file in a folder, by its path in the repository or its other path, `.gz` or not; None if missing."""
    return next((folder / name for name in _names(pinned) if (folder / name).is_file()), None)


def _names(pinned: PinnedFile) -> list[str]:
    return [path + suffix for path in (pinned.path, pinned.other_path) if path for suffix in ("", ".gz")]


def _find(pinned: PinnedFile, folder: Path) -> Path:
    source = find_in_folder(folder, pinned)
    if source is None:
        names = " nor ".join(_names(pinned))
        raise DataError(f"{folder}: holds neither {names}; --from names a folder that does")
    return source


def _error_of(run: "Future[None]") -> DataError | None:
    """The DataError of a failed download; raises any other exception."""
    error = run.exception()
    if error is None or isinstance(error, DataError):
        return error
    raise error


def _incomplete(files: Mapping[Path, PinnedFile], failed: Mapping[Path, DataError]) -> DataError:
    missing = [pinned.path for target, pinned in files.items() if not pinned.is_at(target)]
    names = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
    reason = next(failed[target] for target in files if target in failed)
    rest = "" if len(missing) == len(files) else " The others are in place."
    return DataError(
        f"{len(missing)} of {len(files)} files are missing: {names}. The first reason: {reason}.{rest}"
        " Run the same command again to continue"
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"cannot make {folder}: {error.strerror}; WILDTOOL_DATA_DIR names another folder"
        ) from error


def install(target: Path, content: bytes) -> None:
    """Puts a file among the official data, whole. Raises DataError where it cannot be written."""
    _make_folder(target.parent)
    with _new_file(target) as part:
        part.write_bytes(content)


@contextmanager
def _new_file(target: Path) -> Generator[Path]:
    """A new file, which is put in its place if it is complete. Raises DataError where it cannot be written."""
    try:
        with temporary_folder(target.parent) as place:
            yield place / target.name
            (place / target.name).replace(target)
    except OSError as error:
        raise DataError(
            f"cannot write {target}: {error.strerror}; WILDTOOL_DATA_DIR names another folder"
        ) from error


def _copy(file: Path, part: Path) -> None:
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rb") as source, part.open("wb") as stream:
            received = _copy_bounded(cast(BinaryIO, source), stream)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot copy {file}: {reason}; --from names the official file on disk") from error
    if received > MAX_FILE_BYTES:
        raise DataError(
            f"{file}: longer than {MAX_FILE_BYTES} bytes, so it is not the file; --from names another"
        )


def download(url: str, part: Path) -> None:
    """Downloads a URL to a file.

    Raises:
        DataError: not an http(s) address, not reachable, not found, cut short, too long.
    """
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    hint = "check the network or proxy, try again, or give a downloaded copy with --from FILE"
    if not re.match("https?://", url, re.IGNORECASE):
        raise DataError(
            f"{url}: a mirror is an http:// or https:// address; give a file on disk with --from FILE"
        )
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response, part.open("wb") as stream:
            expected = response.headers.get("Content-Length")
            received = _copy_bounded(response, stream)
    except urllib.error.HTTPError as error:
        raise DataError(f"{url}: the server answered {error.code} {error.reason}; {hint}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise DataError(f"{url}: {getattr(error, 'reason', None) or error}; {hint}") from error
    if received > MAX_FILE_BYTES:
        raise DataError(
            f"{url}: longer than {MAX_FILE_BYTES} bytes, so it is not the file; check the mirror, or give a"
            " downloaded copy with --from FILE"
        )
    if expected is not None and expected.isdigit() and received < int(expected):
        raise DataError(f"{url}: cut short after {received} of {expected} bytes; {hint}")


def _copy_bounded(response: BinaryIO, stream: BinaryIO) -> int:
    """Copies a response up to the size limit; returns the number of bytes read."""
    received = 0
    while received <= MAX_FILE_BYTES and (chunk := response.read(_CHUNK)):
        stream.write(chunk)
        received += len(chunk)
    return received
