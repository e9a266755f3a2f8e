"""Opens bundles: one zip file with everything that judging a run again takes, for handing it around.

`manifest.json` names the run and every other member with its size and SHA-256. The members are `run.json`, the
plain segments of the record, tables of verdicts, and perhaps `labels.jsonl` and the data below `data/`. A bundle comes
from strangers: nothing of it is unpacked that the manifest does not name, that is not what its digest says, or that
would lie anywhere but in the folder made for it.
"""

import json
import lzma
import os
import re
import shutil
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any, cast
from zipfile import BadZipFile, ZipFile, ZipInfo

from wildtool import json_codec
from wildtool.engine.record.format import LABELS_FILE
from wildtool.errors import DISK_FULL, RecordError, StorageError
from wildtool.outputs import is_regular
from wildtool.temporary import folder_until_exit, is_temporary

BUNDLE_FORMAT = "wildtool bundle"
BUNDLE_VERSION = 2
"""That of a bundle with labels of failures, which earlier versions refuse; one without any is of version 1."""
MANIFEST = "manifest.json"
BUNDLE_SUFFIX = ".bundle.zip"
"""What the name of a bundle ends with, unless its maker named it otherwise."""
MAX_BUNDLE_BYTES = 8 << 30
"""Bytes of all members together, unpacked."""
_MAX_GROWTH = 200
"""Times that a bundle may grow. Records grow 10 to 30 times; what was made to fill a disk, 1,000 times."""
_ALWAYS_ALLOWED = 64 << 20
"""Bytes that any bundle may hold."""
_MAX_MEMBERS = 10_000
"""Members at most."""
_LARGEST_TEXT = 16 << 20
"""Bytes of the manifest and of `run.json` at most."""
_BLOCK = 1 << 20
RUN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")
"""Names of runs that a bundle may have: it becomes that of a folder."""
_PART = r"(?!\.)[^/\\:\x00-\x1f\x7f]{1,200}"
_MEMBER = re.compile(
    rf"run\.json|{re.escape(LABELS_FILE)}|record-\d{{4,8}}\.jsonl|verdicts-[A-Za-z0-9_-]{{1,100}}\.parquet|data(?:/{_PART}){{1,20}}"
)
_KIND = "bundles"
"""In the names of the folders that bundles are unpacked into."""
_BUNDLE_OF: dict[Path, Path] = {}
"""Unpacked run folders with the bundle that each came from."""


class _DamagedError(Exception):
    """What is wrong with a bundle."""


_UNREADABLE = (
    _DamagedError,
    BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    KeyError,
    EOFError,
    NotImplementedError,
    ValueError,
    TypeError,
)
"""What a file that is no bundle, or a damaged one, ends in when it is read."""


def is_bundle(path: Path) -> bool:
    """Whether a path is a file, which among runs only a bundle is."""
    return path.is_file()


def holds_bundle(path: Path) -> bool:
    """Whether a file that nobody named is a bundle: a zip file whose manifest says so, or by its name."""
    if path.suffix != ".zip" or not is_regular(path):
        return False
    if path.name.endswith(BUNDLE_SUFFIX):
        return True
    try:
        with ZipFile(path) as archive:
            entry = archive.NameToInfo.get(MANIFEST)
            return _object(_text(archive, entry, MANIFEST), MANIFEST).get("format") == BUNDLE_FORMAT
    except (*_UNREADABLE, OSError, RecursionError):
        return False


def bundle_origin(folder: Path) -> Path:
    """The bundle that a run folder was unpacked from, as the user named it; the folder itself where there is none."""
    return _BUNDLE_OF.get(folder, folder)


def is_unpacked(folder: Path) -> bool:
    """Whether a run folder was unpacked from a bundle, by this process or the one that started it."""
    return is_temporary(folder.parent.parent.name, _KIND)


def unpack_bundle(bundle: Path) -> Path:
    """A run folder with what a bundle holds, checked; it goes when the process ends.

    Raises RecordError where the file is no bundle, or damaged; StorageError where there is no room for it.
    """
    status = bundle.stat()
    return _unpacked(bundle, status.st_mtime_ns, status.st_size)


@cache
def _unpacked(bundle: Path, mtime: int, size: int) -> Path:
    try:
        with ZipFile(bundle) as archive:
            run, members = _verified_members(archive, size)
            place = Path(mkdtemp(dir=folder_until_exit(_KIND)))
            folder = place / run
            _check_room(Path(gettempdir()), members)
            for info, digest in members:
                _extract(archive, info, digest, folder)
            _finish_unpacking(folder, [info.filename for info, _ in members])
    except _UNREADABLE as error:
        if bundle.suffix != ".zip":
            raise RecordError(f"{bundle} is no run: give the folder of a run, or a bundle") from error
        raise RecordError(f"{bundle}: not a bundle, or damaged ({error}); get it again") from error
    except RecursionError as error:
        raise RecordError(f"{bundle}: not a bundle, or damaged (nested too deep); get it again") from error
    except OSError as error:
        kind = StorageError if error.errno in DISK_FULL else RecordError
        raise kind(f"{bundle}: cannot be unpacked ({error.strerror or error})") from error
    _BUNDLE_OF[folder] = bundle
    return folder


def _verified_members(archive: ZipFile, size: int) -> tuple[str, list[tuple[ZipInfo, str]]]:
    """The name of the run, and each member with its digest; nothing is unpacked yet.

    Args: size: of the file, in bytes. What its entries say of their packed sizes may overlap.
    """
    infos = {info.filename: info for info in archive.infolist()}
    if len(infos) != len(archive.infolist()) or len(infos) > _MAX_MEMBERS:
        raise _DamagedError("it holds a name twice, or too many files")
    manifest = _object(_text(archive, infos.pop(MANIFEST, None), MANIFEST), MANIFEST)
    if manifest.get("format") != BUNDLE_FORMAT or not isinstance(manifest.get("version"), int):
        raise _DamagedError(f"{MANIFEST} is not one of a {BUNDLE_FORMAT}")
    if manifest["version"] > BUNDLE_VERSION:
        raise _DamagedError("it was written by a newer wildtool; update wildtool")
    run, checksums = manifest.get("run"), manifest.get("members")
    if not isinstance(run, str) or not RUN_NAME.fullmatch(run):
        raise _DamagedError("the name of its run cannot be that of a folder")
    if not isinstance(checksums, dict) or set(cast(dict[str, Any], checksums)) != set(infos):
        raise _DamagedError("it does not hold exactly the files that its manifest names")
    if "run.json" not in infos:
        raise _DamagedError("it holds no run.json")
    if sum(info.file_size for info in infos.values()) > MAX_BUNDLE_BYTES:
        raise _DamagedError(f"it holds more than {MAX_BUNDLE_BYTES >> 30} GiB")
    if sum(info.file_size for info in infos.values()) > max(_ALWAYS_ALLOWED, _MAX_GROWTH * size):
        raise _DamagedError(f"its files grow to more than {_MAX_GROWTH} times their size, as no record does")
    members = cast(Mapping[str, Any], checksums)
    return run, [(info, _digest(info, members[name])) for name, info in infos.items()]


def _digest(info: ZipInfo, entry: Any) -> str:
    """What the manifest says of a member that may be unpacked."""
    name = info.filename
    if not _MEMBER.fullmatch(name) or info.orig_filename != name:
        raise _DamagedError(f"a file of it has the name {name!r}, which no bundle has")
    # Bit 0: encrypted. The upper half holds the mode of a file from Unix.
    if info.flag_bits & 1 or stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        raise _DamagedError(f"{name} is not a plain file")
    fields: Any = cast(dict[str, Any], entry) if isinstance(entry, dict) else {}
    if fields.get("size") != info.file_size or not isinstance(fields.get("sha256"), str):
        raise _DamagedError(f"{name} does not have the size that the manifest tells")
    return fields["sha256"]


def _text(archive: ZipFile, info: ZipInfo | None, name: str) -> bytes:
    if info is None or info.file_size > _LARGEST_TEXT:
        raise _DamagedError(f"it holds no {name}, or too large a one")
    if info.flag_bits & 1:
        raise _DamagedError(f"{name} is encrypted")
    return b"".join(_blocks(archive, info))


def _blocks(archive: ZipFile, info: ZipInfo) -> Iterator[bytes]:
    """The bytes of a member, never more than it declares."""
    remaining = info.file_size
    with archive.open(info) as member:
        while block := member.read(min(_BLOCK, remaining + 1)):
            remaining -= len(block)
            if remaining < 0:
                break
            yield block
    if remaining:
        raise _DamagedError(f"{info.filename} is not as long as declared")


def _object(text: bytes, name: str) -> dict[str, Any]:
    value = json_codec.loads_within(text, json_codec.REPLY_LIMITS)
    if not isinstance(value, dict):
        raise _DamagedError(f"{name} is not a JSON object")
    return cast(dict[str, Any], value)


def free_bytes(place: Path) -> int:
    """Room on the disk of a folder."""
    return shutil.disk_usage(place).free


def _check_room(place: Path, members: list[tuple[ZipInfo, str]]) -> None:
    needed = sum(info.file_size for info, _ in members)
    if needed > (free := free_bytes(place)):
        raise StorageError(
            f"{place}: no room to unpack a bundle ({needed >> 20} MiB, {free >> 20} MiB are free); make room, "
            "or name another folder by TMPDIR"
        )


def _extract(archive: ZipFile, info: ZipInfo, digest: str, folder: Path) -> None:
    target = folder / info.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    digester = sha256()
    with target.open("xb") as file:
        for block in _blocks(archive, info):
            digester.update(block)
            file.write(block)
    if digester.hexdigest() != digest:
        raise _DamagedError(f"{info.filename} does not have the SHA-256 that the manifest tells")


def _finish_unpacking(folder: Path, names: list[str]) -> None:
    """Says in `run.json` where the data are now, and makes the verdicts newer than what they are about."""
    file = folder / "run.json"
    if file.stat().st_size > _LARGEST_TEXT:
        raise _DamagedError("run.json is too large")
    run = _object(file.read_bytes(), "run.json")
    data = run.get("data")
    if not isinstance(data, dict) or not isinstance(cast(dict[str, Any], data).get("name"), str):
        raise _DamagedError("run.json does not tell its data")
    source = cast(dict[str, Any], data)
    # Of a path of another machine, which would open something of this one, the last part.
    name = re.split(r"[/\\]", source["name"].rstrip("/\\"))[-1]
    source["name"] = "data" if name in ("", ".", "..") else name
    place: Any = source.get("path")
    inside = isinstance(place, str) and any(n == place or n.startswith(f"{place}/") for n in names)
    # What a stranger's bundle says of other places on this disk is never looked at.
    source["path"] = str(folder / place) if inside else source["name"]
    file.write_text(json.dumps(run, indent=2), encoding="utf-8")
    for path in folder.iterdir():
        when = 2 if path.name.startswith("verdicts-") else 1
        os.utime(path, (when, when))
