"""Writes results safely: whole files, and nothing overwritten that wildtool did not make.

wildtool's own files are recognised by their content, never by name; other files need `--force`. Only regular files are
opened and replaced: a pipe would block, and a device or a symbolic link would lead elsewhere.
"""

import errno
import fcntl
import json
import os
import re
import stat
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from wildtool.errors import DISK_FULL, RecordError, StorageError, UsageError
from wildtool.redact import redacted
from wildtool.sanitize import ellipsize
from wildtool.temporary import clear_dead, is_temporary, temporary_folder
from wildtool.written import remember, written_before

STORE_SCHEMES = ("file:", "s3:", "gs:", "az:")
"""First parts of addresses of stores, as `Path` has them."""


def is_remote(path: Path) -> bool:
    """Whether a path of the command line is the address of a store."""
    return path.parts != () and path.parts[0] in STORE_SCHEMES


def is_shared(path: Path) -> bool:
    """Whether a path names a run of several workers."""
    return is_remote(path) or (path / "store" / "job.json").exists()


GENERATOR = '<meta name="generator" content="wildtool'
"""Part of the head of every page that wildtool writes."""
MARKDOWN = "<!-- written by wildtool report -->"
"""First line of tables for a pull request."""
LATEX = "% written by wildtool report"
"""First line of tables for a paper."""
OwnershipCheck = Callable[[Path], bool]
"""Whether wildtool made the contents of a folder."""
_STORAGE = (*DISK_FULL, errno.EIO, errno.EFBIG)
"""System errors of a disk that accepts no more data."""
_PACKED = (b"PAR1", b"PK\x03\x04")
"""First bytes of Parquet files and archives, whose texts are compressed; they are cleaned before they are written."""
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_claimed: set[Path] = set()
"""Files, and folders of files, that this process checked before it writes them."""
_HEAD = 1 << 16
"""Bytes at the start of a file (for Parquet, at the end) that are searched for wildtool's marks."""
_LARGEST = 16 << 20
"""Size limit of the archive member that identifies an archive."""
_COLUMNS = ("run", "model", "benchmark", "item", "unit", "outcome")
"""Columns of every table of verdicts."""
_TEXTS = re.compile(
    rb"\s*(?:"
    rb"<!-- written by wildtool|[%#] written by wildtool|% Needs \\usepackage\{booktabs\}\n\\begin\{table\}"
    rb"|run,model,benchmark,|arm,benchmark,profile,size,|series,size,accuracy,"
    rb'|\{"run":[^\n]*"benchmark":[^\n]*"outcome":'
    rb"|<!doctype html>.{0,2000}?"
    rb"(?:<meta name=\"generator\" content=\"wildtool|<title>(?:[^<]* \S+ )?wildtool (?:report|view)</title>)"
    rb"|---\n.{0,60000}?<!-- written by wildtool"
    rb'|\{\s*"wildtool": "[^"\n]*",\s*"(?:suite|passport|catalogue|baseline|gate)":'
    rb'|<\?xml [^>\n]*\?>\s*<testsuites name="wildtool gate"'
    rb")",
    re.DOTALL,
)
"""How the texts that wildtool writes begin, including those of versions without marks."""
_OF_RUNS = re.compile(
    r"run\.json(\.new)?|lock|record-\d+\.jsonl(\.gz)?|verdicts-.*\.parquet|batches\.jsonl", re.DOTALL
)
"""Names of the files in a run folder."""
_MEMBERS: Mapping[str, Callable[[Any], bool]] = {
    "manifest.json": lambda about: about["format"] == "wildtool bundle",
    "header.json": lambda about: "wildtool" in about["eval"]["packages"],
}
"""The member that identifies an archive of wildtool, and its check."""


def check_file(path: Path, *, force: bool = False) -> None:
    """Raises UsageError if a path has no regular file, or one that wildtool did not make (`force` allows the latter).
    Empty files may always be replaced."""
    claim(path)
    status = _status(path)
    if status is None:
        return
    check_regular(path)
    if not force and status.st_size and not is_wildtool_file(path) and not written_before(path):
        raise UsageError(
            f"{path}: is there already, and wildtool did not make it; name another file with --out, or add --force to"
            " replace it"
        )


def check_absent(path: Path, *, force: bool = False) -> None:
    """Raises UsageError if a path has no regular file, or one that is not empty and not as the same command left it
    (`force` allows the latter)."""
    claim(path)
    check_regular(path)
    if not force and path.exists() and path.stat().st_size and not written_before(path):
        raise UsageError(f"{path} is there already; name another file, or add --force to replace it")


def check_folder(path: Path, is_own: OwnershipCheck, *, force: bool = False) -> None:
    """Raises UsageError if a path is not a folder, or a folder with files that wildtool did not make (`force` allows the
    latter). Empty and missing folders are fine.

    Args:
        is_own: whether wildtool made what the folder holds.
    """
    status = _status(path, follow=True)
    if status is None:
        if path.is_symlink():
            raise UsageError(f"{path}: is a symbolic link that leads nowhere; name another place with --out")
        return
    if not stat.S_ISDIR(status.st_mode):
        raise UsageError(f"{path}: is {_kind(status)}, not a folder; name another place with --out")
    try:
        clear_dead(path)
        names = contents_of(path)
    except OSError as error:
        raise write_error(path, error) from error
    if names and not force and not is_own(path):
        listing = ", ".join(ellipsize(name, 40) for name in names[:3]) + (", …" if len(names) > 3 else "")
        raise UsageError(
            f"{path}: holds what wildtool did not make here ({listing}); name another folder with --out, or add --force"
            " to write into it"
        )


def contents_of(folder: Path) -> list[str]:
    """The sorted names in a folder, without temporary ones. Raises OSError."""
    return sorted(entry.name for entry in os.scandir(folder) if not is_temporary(entry.name))


def check_regular(path: Path) -> None:
    """Raises UsageError if a path exists and is not a regular file."""
    status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise UsageError(
            f"{path}: is {_kind(status)}, and only regular files are replaced; name another place with --out"
        )


def check_not_input(target: Path, inputs: Iterable[Path]) -> None:
    """Raises UsageError if a file to write is one that is read, or of a run that is read."""
    for path in inputs:
        in_run = target.parent.resolve().is_relative_to(path.resolve()) and _OF_RUNS.fullmatch(target.name)
        if in_run or (target.exists() and path.exists() and target.samefile(path)):
            raise UsageError(f"{target}: is read and would be replaced; name another place with --out")


@contextmanager
def atomic_replace(target: Path) -> Generator[Path]:
    """The place of a new file on the disk of `target`, which replaces it once it is complete.

    Raises StorageError if the disk is full, UsageError if nothing may be written there.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        check_regular(target)
        with temporary_folder(target.parent) as place:
            new = place / target.name
            yield new
            _put_in_place(new, target)
    except OSError as error:
        raise write_error(target, error) from error


def put_in_place(new: Path, target: Path) -> None:
    """Moves a complete file to its place on the same disk, as `atomic_replace` does."""
    try:
        check_regular(target)
        _put_in_place(new, target)
    except OSError as error:
        raise write_error(target, error) from error


def _put_in_place(new: Path, target: Path) -> None:
    remove_keys(new)
    with new.open("rb") as file:
        os.fsync(file.fileno())
    note_written(target, new)
    new.replace(target)
    sync_folder(target.parent)


@contextmanager
def sole_writer(target: Path) -> Generator[None]:
    """Keeps other processes from writing the same file or folder meanwhile; a killed process leaves no lock behind.

    Raises UsageError if another one is writing it, or nothing may be written there, StorageError if the disk is full.
    """
    path = target.with_name(f".{target.name[-100:]}.lock")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        raise write_error(target, error) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last holder may have removed the file after it was opened here.
            is_replaced = os.fstat(lock).st_ino != path.stat().st_ino
        except (BlockingIOError, FileNotFoundError):
            is_replaced = True
        if is_replaced:
            raise UsageError(f"{target}: another wildtool is writing it; wait for it, or use another --out")
        try:
            for leftover in target.parent.iterdir():  # of writers that were killed
                if re.fullmatch(rf"\.\d+\.{re.escape(target.name[-100:])}", leftover.name):
                    leftover.unlink(missing_ok=True)
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(lock)


def sync_folder(folder: Path) -> None:
    """Flushes a folder to disk, so that a new file name survives a power failure. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems cannot, and need not.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EBADF):
            raise
    finally:
        os.close(handle)


def write_file(target: Path, content: bytes) -> None:
    """Writes a file into a folder that was checked. Raises as `atomic_replace`."""
    try:
        check_regular(target)
        if _is_claimed(target):
            with temporary_folder(target.parent) as place:
                new = place / target.name
                new.write_bytes(redacted(content))
                _put_in_place(new, target)
            return
        with open(target, "wb", opener=_open_nofollow) as file:
            file.write(redacted(content))
    except OSError as error:
        raise write_error(target, error) from error


def claim(path: Path) -> None:
    """Says that this process writes a file, or all files of a folder, so that the same command may write them again."""
    _claimed.add(path.absolute())


def _is_claimed(target: Path) -> bool:
    place = target.absolute()
    return not _claimed.isdisjoint((place, *place.parents))


def note_written(target: Path, new: Path) -> None:
    """Lets the same command write a file again, if it was claimed. Args: new: the complete file, before it is moved."""
    if _is_claimed(target):
        remember(target, new)


def remove_keys(new: Path) -> None:
    """Removes known keys from a text file, line by line."""
    with new.open("rb") as file:
        if file.read(4) in _PACKED:
            return
        file.seek(0)
        if not any(redacted(line) is not line for line in file):
            return
        clean = new.with_name(f"{new.name}.clean")
        try:
            file.seek(0)
            with clean.open("wb") as out:
                out.writelines(map(redacted, file))
            clean.replace(new)
        finally:
            clean.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Makes a folder and its parents. Raises UsageError if that is impossible, StorageError if the disk is full."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(path, error) from error


def make_subfolder(path: Path) -> None:
    """Makes a folder inside one that was checked, like `make_folder`, but refuses a symbolic link, which could lead out
    of it."""
    if path.is_symlink():
        raise UsageError(
            f"{path}: is a symbolic link, and nothing is written through it; name another place with --out"
        )
    make_folder(path)


def is_disk_full(error: OSError) -> bool:
    """Whether a disk is full, so that the same command may succeed later."""
    return error.errno in _STORAGE or "No space left" in (error.strerror or str(error))


def write_error(target: Path, error: OSError) -> StorageError | UsageError:
    """The error for a failed write: StorageError for a full disk, else UsageError."""
    reason = error.strerror or str(error)
    if is_disk_full(error):
        return disk_full_error(target, reason)
    return UsageError(f"{target}: could not be written ({reason}); name another place with --out")


def disk_full_error(target: Path | str, reason: str) -> StorageError:
    """The error for a full disk."""
    return StorageError(
        f"{target}: could not be written ({reason}); everything else is intact. Make room, then run the same "
        "command again."
    )


def is_regular(path: Path) -> bool:
    """Whether a path is a regular file and not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def check_run_files(folder: Path) -> None:
    """Raises RecordError if a file of a run folder is not a regular file: opening it could block or lead elsewhere.

    Other files in the folder, and a missing folder, are ignored.
    """
    try:
        entries = [entry for entry in os.scandir(folder) if _OF_RUNS.fullmatch(entry.name)]
    except OSError:
        return
    for entry in entries:
        if not entry.is_file(follow_symlinks=False):
            kind = _kind(entry.stat(follow_symlinks=False))
            raise RecordError(
                f"{entry.path}: is {kind}, not a regular file; put the file itself in its place"
            )


def is_wildtool_file(path: Path) -> bool:
    """Whether wildtool wrote a file, by its content."""
    try:
        if not is_regular(path):
            return False
        with open(path, "rb", opener=_open_nofollow) as file:
            head = file.read(_HEAD)
            if head.startswith(b"PAR1"):
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _HEAD))
                footer = file.read()
                return all(name.encode() in footer for name in _COLUMNS)
            if head.startswith(b"PK"):
                return _is_archive(file)
            return _TEXTS.match(head) is not None
    except OSError:
        return False


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run, perhaps of one that was killed before it wrote anything."""
    names = set(contents_of(folder))
    return "run.json" in names or any(re.fullmatch(r"record-\d+\.jsonl", name) for name in names) or (
        names <= {"lock", "run.json.new"}
    )  # fmt: skip


def is_generation(folder: Path) -> bool:
    """Whether a folder is a working folder of `wildtool generate`."""
    record = folder / "record"
    return record.is_dir() and is_run(record)


def is_site(folder: Path) -> bool:
    """Whether a folder contains pages of `wildtool report`."""
    return is_wildtool_file(folder / "index.html")


def is_dataset(folder: Path) -> bool:
    """Whether a folder contains a dataset of `wildtool export`, perhaps an incomplete one."""
    return is_wildtool_file(folder / "README.md") or all(
        is_wildtool_file(folder / name) for name in contents_of(folder)
    )


def _is_archive(file: IO[bytes]) -> bool:
    try:
        with ZipFile(file) as archive:
            for name, tells in _MEMBERS.items():
                entry = archive.NameToInfo.get(name)
                if entry is not None and entry.file_size <= _LARGEST:
                    return bool(tells(json.loads(archive.read(entry))))
    except (BadZipFile, NotImplementedError, ValueError, KeyError, TypeError, RecursionError, EOFError):
        return False
    return False


def _status(path: Path, *, follow: bool = False) -> os.stat_result | None:
    """The status of a path; None if there is nothing. Raises UsageError if it cannot be read."""
    try:
        return path.stat() if follow else path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise write_error(path, error) from error


def _kind(status: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(status.st_mode), "a file")


def _open_nofollow(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
