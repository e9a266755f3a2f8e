"""Fetches public data files that are pinned by commit and checksum; nothing is used before its bytes are verified."""

import hashlib
import os
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO

from wildtool.errors import DataError

HOST = "https://raw.githubusercontent.com"
"""Where files of public repositories are served by commit; `--mirror` names another."""
TIMEOUT_S = 60
MOST_BYTES = 256 * 1024 * 1024
"""Longest file that is fetched; the pinned ones are far shorter."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One file of a public repository at one commit."""

    repository: str
    """Owner and name."""
    commit: str
    path: str
    """Path inside the repository."""
    git_blob: str
    """Git blob id (SHA-1 of the header `blob <size>` NUL and the bytes), lower-case hex."""

    def url(self, mirror: str | None = None) -> str:
        return f"{(mirror or HOST).rstrip('/')}/{self.repository}/{self.commit}/{self.path}"


def cache_folder() -> Path:
    """`WILDTOOL_DATA_DIR`, else the user's cache folder for wildtool."""
    named = os.environ.get("WILDTOOL_DATA_DIR")
    if named:
        return Path(named)
    from platformdirs import user_cache_path  # only where the variable is not set

    return user_cache_path("wildtool") / "data"


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
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Brings a pinned file to `target`, verified; does nothing if it is there already.

    Args:
        file: take the bytes from this file instead of the network.
        mirror: base address to use instead of the public host.

    Raises:
        DataError: not an http(s) address, not reachable, not found, cut short, too long, or not the pinned
            bytes. `target` is then as it was.
    """
    if target.is_file() and git_blob_id(target) == pinned.git_blob:
        report(f"{target} is there and verified")
        return target
    _make_folder(target.parent)
    part = target.with_name(target.name + ".part")
    try:
        if file is not None:
            _copy(file, part)
        else:
            report(f"fetching {pinned.url(mirror)}")
            _download(pinned.url(mirror), part)
        found = git_blob_id(part)
        if found != pinned.git_blob:
            size = part.stat().st_size
            raise DataError(
                f"{file or pinned.url(mirror)}: not the pinned file: git blob id {found} ({size} bytes), expected"
                f" {pinned.git_blob}; nothing was installed. Take {pinned.path} at commit {pinned.commit} of"
                f" {pinned.repository}, or give another file to a run with --data FILE"
            )
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    report(f"{target} verified: git blob id {pinned.git_blob}")
    return target


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"cannot make {folder}: {error.strerror}; WILDTOOL_DATA_DIR names another folder"
        ) from error


def _copy(file: Path, part: Path) -> None:
    try:
        shutil.copyfile(file, part)
    except OSError as error:
        raise DataError(
            f"cannot copy {file}: {error.strerror}; --from names the official file on disk"
        ) from error


def _download(url: str, part: Path) -> None:
    hint = "check the network or proxy, try again, or give a downloaded copy with --from FILE"
    if not re.match("https?://", url, re.IGNORECASE):
        raise DataError(
            f"{url}: a mirror is an http:// or https:// address; give a file on disk with --from FILE"
        )
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response, part.open("wb") as stream:
            expected = response.headers.get("Content-Length")
            received = _receive(response, stream)
    except urllib.error.HTTPError as error:
        raise DataError(f"{url}: the server answered {error.code} {error.reason}; {hint}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise DataError(f"{url}: {getattr(error, 'reason', None) or error}; {hint}") from error
    if received > MOST_BYTES:
        raise DataError(
            f"{url}: longer than {MOST_BYTES} bytes, so it is not the file; check the mirror, or give a"
            " downloaded copy with --from FILE"
        )
    if expected is not None and expected.isdigit() and received < int(expected):
        raise DataError(f"{url}: cut short after {received} of {expected} bytes; {hint}")


def _receive(response: BinaryIO, stream: BinaryIO) -> int:
    """Copies an answer, and stops where it is too long; gives the number of bytes read."""
    received = 0
    while received <= MOST_BYTES and (chunk := response.read(_CHUNK)):
        stream.write(chunk)
        received += len(chunk)
    return received
