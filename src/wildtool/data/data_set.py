"""Where the data of a benchmark come from, as a declaration: repository, files with their digests, splits, layouts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from pkgutil import resolve_name
from typing import Any, Protocol, Self

from wildtool.data.files import find_packed, source_of_files
from wildtool.data.pinned import PinnedFile, ReportProgress, data_place, fetch_all, official_folder
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.findings import Finding
from wildtool.types import Item, Metric, Source, Transcript, Upstream

OFFICIAL = "official"
"""What published data and the rules of a published evaluator are called: the newest, where there are several versions."""


def version_name(versions: Sequence[str], version: str) -> str:
    """What a version of data, and the profile of its evaluator, are called. Args: versions: all, the newest first."""
    return OFFICIAL if version == versions[0] else f"{OFFICIAL}-{version}"


def deferred(place: str) -> Callable[..., Any]:
    """A function of a module that is imported at the first call: to find data needs no checks of them.

    Args:
        place: module and name, as entry points are written.
    """
    return lambda *arguments: resolve_name(place)(*arguments)


@dataclass(frozen=True, slots=True)
class ResultRow:
    """What a model answered in units of one item. Several rows of an item, each with other units, belong together."""

    where: str
    """File and line, or file and entry, for messages."""
    model: str
    item: str
    """Id of the item; whether there is one is checked by who asked for the rows."""
    units: Mapping[str, Transcript]


@dataclass(frozen=True, slots=True)
class Results:
    """The content of result files."""

    rows: Iterable[ResultRow]
    """May raise DataError, naming the place, while they are read."""
    left_out: Sequence[str] = ()
    """Which files are not read, and why."""


ReadResults = Callable[[Path, Mapping[str, Item], str], Results | None]


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """The data of one benchmark. A subclass overrides what it does in another way, mostly `pull`."""

    name: str
    """The benchmark's, which is also its folder in the cache."""
    shipped: Path | None = None
    """The file that comes with the benchmark's package and is read where the user names none."""
    repository: str = ""
    """Owner and name of the public repository that holds the files."""
    commit: str = ""
    date: str = ""
    """The day of that commit, such as 2025-10-29; empty if it is not known."""
    home: str = ""
    """The folder of the repository below which the files lie."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path below `home`, and below the folder in the cache, to the SHA-256 of each file to fetch."""
    licence: str = ""
    """The licence of the files, and who says so."""
    splits: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Name of each split that users can name to its files; that of the empty name is read where they name none."""
    parts: Sequence[str | None] = (None,)
    """Splits that hold all of the data together, for checks and descriptions."""
    suffixes: tuple[str, ...] = ()
    """What the name of a single file may end in, without `.gz`; empty for anything."""
    takes: str = "one of its files"
    """What `--data` takes beside `official`, for messages."""
    copies: str = ""
    """What `--from` takes, for messages."""
    beside: Callable[[Path], Iterable[Path]] = lambda place: ()
    """Files that runs over a place read beside those of the split. Raises DataError."""
    documents: Callable[[Source], Mapping[str, str]] = lambda source: {}
    """By name the text of everything that the benchmark's retriever may find (`Role.searches`)."""
    user_texts: Callable[[Item], Sequence[str] | None] = lambda item: None
    """What the user says in an item, for comparison with training data; None where the user's messages in requests are
    just that, with no prompt around them."""
    read_results: ReadResults = lambda path, items, mode: None
    """Reads a result file of the original tool, or a folder of them; gives None for anything else. Its arguments are the
    path, by id the items that may be in the files, in the order of the data, and the benchmark's mode. Raises DataError
    where a file breaks the format, or cannot be scored in this mode."""
    stats: Callable[[Source, Iterable[Item]], Iterable[Metric]] | None = None
    """Describes data in numbers, given all their items; None for counts of items, units, splits and languages."""
    lint: Callable[[Source], Iterable[Finding]] | None = None
    """Checks data as a whole; None for the benchmark's `rules_of_data`, record by record."""

    @property
    def upstream(self) -> Upstream | None:
        """Where the files come from; None where that is no public repository."""
        return Upstream(self.repository, self.commit, self.date, self.home) if self.repository else None

    def at_version(self, version: str) -> Self:
        """These data in one of their versions. Raises UsageError where there is none of that name."""
        raise UsageError(f"{self.name} has its data in one version; leave --version {version} out")

    @property
    def can_pull(self) -> bool:
        """Whether there is anything to fetch."""
        return bool(self.files) or type(self).pull is not DataSet.pull

    def pinned_files(self) -> dict[Path, PinnedFile]:
        """Where each file is kept, to what it is."""
        folder = official_folder(self.name)
        return {
            folder / path: PinnedFile(
                self.repository,
                self.commit,
                str(PurePosixPath(self.home, path)),
                sha256=digest,
                other_path=path,
            )
            for path, digest in self.files.items()
        }

    def pull(self, *, file: Path | None, mirror: str | None, report: ReportProgress) -> Path:
        """Brings the official data into the cache, verified.

        Args:
            file: copy from this folder instead.

        Raises:
            DataError: there is nothing to fetch, or a file is missing or not the pinned one.
        """
        if self.shipped is not None:
            report(f"the data of {self.name} come with its package; there is nothing to fetch")
            return self.shipped
        if not self.files:
            raise DataError(f"{self.name} has no data to fetch; name a file with --data FILE when you run it")
        self.check_folder(file)
        fetch_all(self.pinned_files(), folder=file, mirror=mirror, report=report)
        self.report_source(report)
        return official_folder(self.name)

    def check_folder(self, file: Path | None) -> None:
        """Raises DataError where `--from` names no folder."""
        if file is not None and not file.is_dir():
            raise DataError(f"{file}: no folder; --from takes {self.copies}")

    def report_source(self, report: ReportProgress) -> None:
        """Says where the data come from and on what terms."""
        report(f"source: {self.repository} at commit {self.commit}; licence: {self.licence}")

    def prepare(self, data: str | None) -> None:
        """What a run does before its data are read, such as to ask servers for their tools; nothing by default.

        Raises UsageError where that needs trust.
        """

    def locate(self, data: str | None, split: str | None = None) -> Source:
        """Finds the data the user named (None: the default for the split). Raises DataError saying how to get them."""
        if self.shipped is not None and data in (None, self.name):
            return source_of_file(self.name, self.shipped)
        if not self.files:
            if data in (None, self.name):
                raise DataError(f"{self.name} ships no data; name a file with --data FILE")
            return source_of_file(data, Path(data))
        place = data_place(data, self.name, self.takes)
        if place.is_file() and self.suffixes and not place.name.removesuffix(".gz").endswith(self.suffixes):
            raise DataError(
                f"{place}: neither a folder nor a {self.suffixes[0]} file; --data takes {self.takes}"
            )
        files = [*self.files_of(place, split).values(), *self.beside(place)]
        return source_of_files(data or "official", place, files)

    def files_of(self, place: Path, split: str | None) -> dict[str, Path]:
        """By its name in `files`, each file of a split; one file alone, whatever the split. Raises DataError."""
        if split is not None and (split not in self.splits or not split):
            raise DataError(unknown_name("split", split, [*filter(None, self.splits)]))
        if place.is_file():
            return {place.name.removesuffix(".gz"): place}
        names = self.splits[split or ""]
        for folder, paths in self._layouts(place, names):
            files = {name: find_packed(folder, path) for name, path in zip(names, paths, strict=True)}
            if any(files.values()):
                break
        else:
            raise DataError(f"{place}: holds no {names[0]} (nor {names[0]}.gz)")
        missing = [path for path, name in zip(paths, names, strict=True) if files[name] is None]
        if missing:
            choice = ", ".join(filter(None, self.splits))
            raise DataError(f"{folder / missing[0]} is missing; choose what is there with --split: {choice}")
        return {name: path for name, path in files.items() if path is not None}

    def whole(self, place: Path) -> Sequence[str | None]:
        """Splits that hold all of the data in a place together; one file is whole whatever its split."""
        if place.is_file():
            return self.parts[:1]
        return [split for number, split in enumerate(self.parts) if not number or self.has(place, split)]

    def has(self, place: Path, split: str | None) -> bool:
        """Whether all files of a split are there."""
        try:
            return bool(self.files_of(place, split))
        except DataError:
            return False

    def _layouts(self, place: Path, names: Sequence[str]) -> Iterator[tuple[Path, Sequence[str]]]:
        """Folders that may hold files of some names, and the paths that they have there: a checkout, its folder of data,
        or the files alone, which are those of the default split unless their folder is called otherwise."""
        for folder in (place / self.home, place):
            yield folder, names
        plain = PurePosixPath(self.splits[""][0]).parent.name, place.name
        if all(PurePosixPath(name).parent.name in plain for name in names):
            yield place, [PurePosixPath(name).name for name in names]


def source_of_file(name: str, path: Path) -> Source:
    """Describes one data file by name, path and SHA-256. Raises DataError where it cannot be read."""
    import hashlib

    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; name a data file with --data FILE") from error
    return Source(name, path, digest)


class HasData(Protocol):
    """What has data: a benchmark."""

    @property
    def name(self) -> str: ...
    @property
    def data(self) -> DataSet | Path | None: ...


def data_of(benchmark: HasData) -> DataSet:
    """The data of a benchmark; one that names a file, or nothing, has them like any `DataSet`."""
    declared = benchmark.data
    return declared if isinstance(declared, DataSet) else DataSet(name=benchmark.name, shipped=declared)
