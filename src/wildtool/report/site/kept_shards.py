"""Shards of runs that a later report in the same folder takes over, so that a report with one run more costs that run.

A list in the user's cache folder says of each run of the last finished report there under which stamp its shards were
made, and the SHA-256 of each. It does not lie with the pages, since a folder from elsewhere could then bring its own.
Nothing is taken over on trust: the stamp is of all that the shards follow from (`run_stamps.py`), and each file is read
and compared. What is missing, cut or changed is made again, and all of it where there is no list. The list is written
last: a killed report leaves the one before it, and what it replaced since has another SHA-256.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from wildtool import json_codec
from wildtool.outputs import is_regular, write_file
from wildtool.redact import redacted
from wildtool.report.site.shards import Shards
from wildtool.written import COMMAND

MAX_KEPT_LISTS = 50
"""Lists of other reports that are kept, the newest ones."""
_ASIDE = ".before"
"""Ending of a file of the last report whose run has another number now, until it is taken over."""
Digests = Mapping[str, str]
"""SHA-256 of the shards of a run by name; empty for one that is tried again in any case."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """The shards of one run of a report."""

    stamp: str
    """SHA-256 of all that they follow from."""
    number: int
    """Of the run in the report; part of their names."""
    shards: Digests


class KeptShards:
    """The shards of the last report in the folder of a site; none for a single file, nor without a command."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._list = None if shards.single or not COMMAND.get() else _list_of(shards.folder)
        self._kept: dict[str, KeptRun] = {}
        if self._list is not None:
            self._kept = {run.stamp: run for run in _read(self._list)}

    @property
    def is_listed(self) -> bool:
        """Whether a later report may take anything over, or this one may."""
        return self._list is not None

    def take(self, stamps: Sequence[str | None]) -> dict[int, Digests]:
        """Takes over the shards that are as they were; gives them by the number of their run in the new report.

        Args:
            stamps: of each run of the new report; None for one whose shards are made in any case.
        """
        matches = {
            number: self._kept.pop(stamp)
            for number, stamp in enumerate(stamps)
            if stamp is not None and stamp in self._kept
        }
        for number, run in matches.items():
            if run.number != number:
                self._set_aside(run)
        digests = {number: self._take(run, number) for number, run in matches.items()}
        self._remove_aside()
        return {number: shards for number, shards in digests.items() if shards is not None}

    def write(self, stamps: Sequence[str | None], digests: Mapping[int, Digests]) -> None:
        """Lists the shards of the new report. Where there is no cache folder, a later one makes them again.

        Args:
            stamps: as of `take`.
            digests: the shards of each run, by its number.
        """
        if self._list is None:
            return
        runs = [
            KeptRun(stamp, number, digests[number])
            for number, stamp in enumerate(stamps)
            if stamp is not None and all(digests[number].values())
        ]
        with suppress(OSError):
            self._list.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self._list.with_suffix(".new")
            new.write_bytes(json_codec.dumps([asdict(run) for run in runs]))
            new.replace(self._list)
            _remove_old_lists(self._list.parent)

    def _set_aside(self, run: KeptRun) -> None:
        """Renames the shards of a run, so that those of the run that has its number now do not replace them."""
        for path in map(self._shards.path, run.shards):
            with suppress(OSError):
                path.replace(_aside(path))

    def _remove_aside(self) -> None:
        for path in self._shards.folder.glob(f"t[nrwx]-*{_ASIDE}"):
            path.unlink(missing_ok=True)

    def _take(self, run: KeptRun, number: int) -> Digests | None:
        """The shards of a run under its new number; None where one of them is not as it was."""
        if run.number == number:
            paths = {self._shards.path(name): digest for name, digest in run.shards.items()}
            intact = all(_content(path, digest) is not None for path, digest in paths.items())
            return run.shards if intact else None
        digests: dict[str, str] = {}
        for name, digest in run.shards.items():
            content = _content(_aside(self._shards.path(name)), digest)
            if content is None:
                return None
            kind, _, *rest = name.split("-")
            new = "-".join([kind, str(number), *rest])
            content = self._shards.renamed(content, name, new)
            write_file(self._shards.path(new), content)
            digests[new] = sha256(content).hexdigest()
        return digests


def _content(path: Path, digest: str) -> bytes | None:
    """What a file holds; None where that is not what was written, or has a key that is known by now."""
    try:
        content = path.read_bytes() if is_regular(path) else b""
    except OSError:
        return None
    return content if sha256(content).hexdigest() == digest and redacted(content) is content else None


def _aside(path: Path) -> Path:
    return path.with_name(path.name + _ASIDE)


def _list_of(folder: Path) -> Path:
    from platformdirs import user_cache_path  # only where a report is made

    name = sha256(str(folder.absolute()).encode(errors="surrogateescape")).hexdigest()
    return user_cache_path("wildtool") / "reports" / f"{name}.json"


def _read(path: Path) -> Iterator[KeptRun]:
    """The runs of a list; none where it cannot be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        rows: Any = json_codec.loads(path.read_bytes()) if is_regular(path) else []
        yield from [KeptRun(row["stamp"], row["number"], dict(row["shards"])) for row in rows]


def _remove_old_lists(folder: Path) -> None:
    lists = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for old in lists[MAX_KEPT_LISTS:]:
        old.unlink(missing_ok=True)
