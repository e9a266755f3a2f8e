"""Brings ACEBench's data into the cache: pinned files, and the sandbox's tables read from the original's code.

The data have two versions. The newest lie in the folder `acebench` of the cache, those of August 2025 in
`acebench-2025-08`, or still in `acebench` where an earlier wildtool pulled them.
"""

import csv
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

from wildtool.benchmark import evaluators_of
from wildtool.benchmarks.acebench import ACEBENCH, REPOSITORY, ACEBench
from wildtool.benchmarks.acebench.data import (
    CATEGORIES,
    FINANCE,
    LANGUAGES,
    categories_in,
    categories_of,
    folder_languages,
    is_agent,
)
from wildtool.benchmarks.acebench.data_lines import find_file, read_bytes
from wildtool.benchmarks.acebench.prompts.originals import Originals, prompt_files, read_originals
from wildtool.benchmarks.acebench.sandbox.extract import MESSAGES_FILE, STATE_FILES, SandboxTable, read_tables
from wildtool.data.data_set import OFFICIAL, DataSet, deferred, version_name
from wildtool.data.files import file_version, find_packed, read_json, read_text
from wildtool.data.pinned import (
    PinnedFile,
    ReportProgress,
    data_place,
    download,
    fetch_all,
    install,
    official_folder,
    source_url,
)
from wildtool.data.prompt_files import PromptFile, digest_of, pull_prompts
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.temporary import temporary_folder
from wildtool.types import Source, Upstream

COMMITS: Mapping[str, Upstream] = {its.version: its for its in evaluators_of(ACEBENCH).values()}
"""Where each version of the data comes from, the newest first."""
NEWEST, OLDEST = next(iter(COMMITS)), "2025-08"
CHECKSUMS: Mapping[str, str] = {OLDEST: "checksums.tsv", NEWEST: "checksums-2025-10.tsv"}
"""For each version, the oldest first, the file with path in our layout and SHA-256 of each question and answer file; of
a later version only of those that changed."""
CODE_COMMIT = COMMITS[OLDEST].commit
"""Where the original's code was read: the sandbox's tables and the prompts are the same for both versions."""

TABLE_DIGESTS: Mapping[str, str] = {
    MESSAGES_FILE: "594dac20e7f8d28678e45c663e92721aa6032794d07214435f9420982d28c544",
    STATE_FILES["en"]: "7f4a234c61fe47014bb296fbb35bcdb798380f417f523e672bf90bd3f98a3551",
    STATE_FILES["zh"]: "bfe906b2fb30b894c9e1f1bf30d071da0d58e6bce5ba5d5cff9d766513736830",
}
"""SHA-256 of each sandbox table as JSON with sorted keys and no blanks."""


def prompts() -> list[PromptFile]:
    """The files with the original's prompts."""
    return prompt_files(REPOSITORY, CODE_COMMIT)


def read_prompts() -> Originals | None:
    """The original's prompts, where they were pulled. Raises DataError where they are damaged."""
    originals = (read_originals(prompts(), version_folder(version)) for version in COMMITS)
    return next((each for each in originals if each is not None), None)


def version_folder(version: str) -> Path:
    """Where the data of a version are kept once pulled."""
    return official_folder(ACEBENCH.name if version == NEWEST else f"{ACEBENCH.name}-{version}")


def originals_of(benchmark: ACEBench, split: str | None) -> Originals | None:
    """The original's prompts for the mode of a benchmark. Raises DataError where they are damaged."""
    if benchmark.mode != "text" or (split is not None and set(categories_of(split)) <= set(FINANCE)):
        return None
    return read_prompts()


def _install_tables(folder: Path, file: Path | None, mirror: str | None, report: ReportProgress) -> None:
    if all(_is_right(folder / name) for name in TABLE_DIGESTS):
        report(f"{len(TABLE_DIGESTS)} tables of the sandbox are there and verified")
        return
    try:
        tables = _given_tables(file) if file is not None else None
        if tables is None:
            tables = _tables_of_other_version()
        if tables is None:
            report("reading the sandbox's tables from the original's code, without running it")
            tables = read_tables(lambda path: _source(path, file, mirror))
        for name, expected in TABLE_DIGESTS.items():
            if (digest := digest_of(tables[name])) != expected:
                raise DataError(f"{name} has SHA-256 {digest}, expected {expected}")
    except (DataError, RecursionError) as error:
        raise DataError(
            f"the sandbox's initial state and sentences could not be had: {error}. Nothing of them was installed; the"
            " question and answer files are in place, but the agent categories need the tables: run the same"
            f" command again, or give a folder that holds {', '.join(TABLE_DIGESTS)} with --from DIR"
        ) from error
    for name, table in tables.items():
        install(folder / name, f"{json.dumps(table, ensure_ascii=False, indent=1)}\n".encode())
    report(f"{len(tables)} tables of the sandbox verified by SHA-256")


def _is_right(path: Path) -> bool:
    try:
        return path.is_file() and digest_of(read_json(path)) == TABLE_DIGESTS[path.name]
    except DataError:
        return False  # a damaged table is written again


def _given_tables(folder: Path) -> dict[str, SandboxTable] | None:
    """The tables of a folder that has them ready."""
    paths = {name: folder / name for name in TABLE_DIGESTS}
    if not all(path.is_file() for path in paths.values()):
        return None
    return {name: read_json(path) for name, path in paths.items()}


def _tables_of_other_version() -> dict[str, SandboxTable] | None:
    """The tables where a version has them already: they are the same for all."""
    for folder in map(version_folder, COMMITS):
        if all(_is_right(folder / name) for name in TABLE_DIGESTS):
            return _given_tables(folder)
    return None


def _source(path: str, folder: Path | None, mirror: str | None) -> str:
    if folder is not None:
        return read_text(folder / path)
    with temporary_folder() as place:
        part = Path(place) / "source.py"
        download(source_url(REPOSITORY, CODE_COMMIT, path, mirror), part)
        return read_text(part)


PACKAGED = Path(__file__).parents[2] / "data" / "acebench_finance"
"""Our finance episodes."""


@lru_cache
def _checksums(version: str) -> Mapping[str, str]:
    """Path in our layout and SHA-256 of each question and answer file of a version."""
    digests: dict[str, str] = {}
    for each, name in CHECKSUMS.items():
        with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as rows:
            digests |= {row["path"]: row["sha256"] for row in csv.DictReader(rows, delimiter="\t")}
        if each == version:
            break
    return digests


def _version_at(folder: Path, categories: tuple[str, ...], version: str) -> bool:
    """Whether the files of some categories in a folder may be those of a version: none is another version's."""
    digests = _checksums(version)
    foreign = {path: {its[path] for its in map(_checksums, COMMITS)} - {digests[path]} for path in digests}
    for lang in LANGUAGES:
        for category in categories:
            for name in (f"{lang}/data_{category}.json", f"{lang}/possible_answer/data_{category}.json"):
                if not foreign[name]:
                    continue
                file = find_packed(folder, name)
                if file is not None and _exact_digest(file, *file_version(file)) in foreign[name]:
                    return False
    return True


def _keep_older(report: ReportProgress) -> None:
    """Copies what an earlier wildtool pulled as the official data into the folder of its version."""
    place = version_folder(NEWEST)
    if not place.is_dir() or _version_at(place, CATEGORIES, NEWEST):
        return
    for version in COMMITS:
        older = version_folder(version)
        if not older.exists() and _version_at(place, CATEGORIES, version):
            with temporary_folder(older.parent) as part:
                copy = part / older.name
                shutil.copytree(place, copy)
                copy.replace(older)
            report(f"the data of version {version} that were at {place} are kept at {older}")


def _take_from_other_versions(files: Mapping[Path, PinnedFile], version: str) -> None:
    """Copies files that are the same in another version, where that was pulled: they need not be fetched again."""
    folders = [version_folder(each) for each in COMMITS if each != version]
    for target, pinned in files.items():
        if pinned.is_at(target):
            continue
        copy = next(
            (other / pinned.other_path for other in folders if pinned.is_at(other / pinned.other_path)), None
        )
        if copy is not None:
            install(target, copy.read_bytes())


def _require(folder: Path, categories: tuple[str, ...], version: str) -> None:
    """All files of the categories, in both languages: half of the official data would pass for all of it."""
    missing = [
        f"{place.relative_to(folder)}/data_{category}.json"
        for lang in LANGUAGES
        for category in categories
        for place in (folder / lang, folder / lang / "possible_answer")
        if find_packed(place, f"data_{category}.json") is None
    ]
    if missing:
        raise DataError(
            f"the official data at {folder} are not complete: {missing[0]} is missing"
            + (f", and {len(missing) - 1} more" if missing[1:] else "")
            + f"; `{_pull_command(version)}` gets what is missing"
        )


def _pull_command(version: str) -> str:
    return f"wildtool data pull {ACEBENCH.name}" + ("" if version == NEWEST else f" --version {version}")


def _described(name: str, folder: Path, categories: tuple[str, ...] | None) -> Source:
    """The source with the digest of its sorted files, unpacked, so that packing does not matter."""
    digests = {
        path.relative_to(folder).as_posix().removesuffix(".gz"): _digest(path, *file_version(path))
        for path in _files(folder, categories)
    }
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return Source(name, folder, hashlib.sha256(lines.encode()).hexdigest())


@lru_cache(maxsize=256)
def _exact_digest(path: Path, _time: int, _size: int) -> str:
    """SHA-256 of a file, unpacked."""
    return hashlib.sha256(read_bytes(path)).hexdigest()


@lru_cache(maxsize=256)
def _digest(path: Path, _time: int, _size: int) -> str:
    """SHA-256 of a file, unpacked and without line ends after its last line, which copies of the sandbox's tables differ
    by; a command asks for the same files several times."""
    return hashlib.sha256(read_bytes(path).rstrip(b"\r\n")).hexdigest()


def _files(folder: Path, categories: tuple[str, ...] | None) -> Iterator[Path]:
    for lang in folder_languages(folder):
        names = categories_in(folder, lang) if categories is None else categories
        for category in names:
            yield find_file(folder / lang, category)
            yield find_file(folder / lang / "possible_answer", category)
        if any(map(is_agent, names)):
            yield folder / "sandbox_messages.json"
            yield folder / f"sandbox_initial_state_{lang}.json"


@dataclass(frozen=True, kw_only=True)
class AceBenchData(DataSet):
    """A folder of the official layout: the official one, our finance episodes, or the user's."""

    version: str = NEWEST
    """What `pull` gets."""

    def at_version(self, version: str) -> Self:
        if version not in COMMITS:
            raise UsageError(unknown_name("version", version, COMMITS, of=self.name))
        its = COMMITS[version]
        return replace(self, version=version, commit=its.commit, date=its.date)

    def pull(self, *, file: Path | None, mirror: str | None, report: ReportProgress) -> Path:
        """Brings the official data into the cache, each file and table verified; what is there and right is kept.

        Args:
            file: take them from this folder: a checkout of the repository, or a folder like the one in the cache
                (files may be gzip-compressed).

        Raises:
            DataError: something could not be had or is not what it should be; the rest is in place.
        """
        self.check_folder(file)
        folder, files = version_folder(self.version), self.pinned_files()
        _keep_older(report)
        _take_from_other_versions(files, self.version)
        fetch_all(files, folder=file, mirror=mirror, report=report)
        _install_tables(folder, file, mirror, report)
        pull_prompts(prompts(), folder, source=file, mirror=mirror, report=report)
        self.report_source(report)
        return folder

    def pinned_files(self) -> dict[Path, PinnedFile]:
        """Target to pinned file, for each question and answer file."""
        folder = version_folder(self.version)
        return {
            folder / path: PinnedFile(
                self.repository, self.commit, f"data_all/data_{path}", sha256=digest, other_path=path
            )
            for path, digest in _checksums(self.version).items()
        }

    def locate(self, data: str | None, split: str | None = None) -> Source:
        """The data a user named: None or `official`, `official-VERSION`, `finance`, or a folder.

        Only the files of the split are described, so that a part of the data is enough for it.

        Raises:
            DataError: there is no such split, folder or file; the message says how to get them.
        """
        categories = None if split is None else categories_of(split)
        data = data or OFFICIAL
        versions = {f"{OFFICIAL}-{version}": version for version in COMMITS} | {OFFICIAL: NEWEST}
        if data == "finance" or (data in versions and set(categories or ()) & set(FINANCE)):
            return _described("finance", PACKAGED, categories)
        if data in versions:
            place = _place_of(versions[data], categories or CATEGORIES)
            name = version_name([*COMMITS], versions[data])
            return _described(name, place, categories or CATEGORIES)
        if not Path(data).is_dir():
            reason = f"{data!r} is a file" if Path(data).exists() else f"no data folder {data!r}"
            official = ", ".join(version_name([*COMMITS], version) for version in COMMITS)
            raise DataError(f"{reason}; --data takes {official}, finance or a folder of ACEBench files")
        return _described(data, Path(data), categories)


def _place_of(version: str, categories: tuple[str, ...]) -> Path:
    """The folder with some categories of a version. Raises DataError where they are not there, or another version's."""
    place = version_folder(version)
    if version == NEWEST:
        place = data_place(None, ACEBENCH.name, "finance or a folder")
    elif not place.exists():
        place = version_folder(NEWEST)
        if not place.exists() or not _version_at(place, categories, version):
            raise DataError(
                f"the data of version {version} are not here; get them with `{_pull_command(version)}`"
            )
    _require(place, categories, version)
    if not _version_at(place, categories, version):
        version_there = next((its for its in COMMITS if _version_at(place, categories, its)), None)
        if version_there is None:
            raise DataError(
                f"the data at {place} are a mixture of versions {', '.join(COMMITS)}; `{_pull_command(version)}` puts"
                f" version {version} there"
            )
        raise DataError(
            f"the data at {place} are of version {version_there}; `{_pull_command(version)}` gets version {version} and"
            f" keeps them, and --data {version_name([*COMMITS], version_there)} runs on them as they are"
        )
    return place


DATA = AceBenchData(
    name=ACEBENCH.name,
    repository=REPOSITORY,
    commit=COMMITS[NEWEST].commit,
    date=COMMITS[NEWEST].date,
    licence="MIT, Copyright (c) Microsoft Corporation, as its LICENSE.md says",
    copies=f"a checkout of {REPOSITORY} or a folder of its data files",
    user_texts=lambda item: [text for record in item.data.records for text in record.user_texts],
    read_results=deferred("wildtool.benchmarks.acebench.results:read_results"),
    stats=lambda source, _items: deferred("wildtool.benchmarks.acebench.stats:stats")(source.path),
    lint=lambda source: deferred("wildtool.benchmarks.acebench.lint:lint_folder")(source.path),
)
