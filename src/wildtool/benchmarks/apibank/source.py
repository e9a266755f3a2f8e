"""Where API-Bank's files lie: fetched from its public repository file by file, joined into four, and verified."""

import ast
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from wildtool.benchmarks.apibank.data import (
    DIALOGUE_LEVELS,
    JOINED_FILES,
    TABLES_FILE,
    TOOLS_FILE,
    data_file,
    lint,
    stats,
)
from wildtool.data.data_set import DataSet, deferred
from wildtool.data.files import find_packed, read_json, read_packed_lines, read_unpacked, source_of_files
from wildtool.data.pinned import (
    MAX_PARALLEL_FETCHES,
    ReportProgress,
    data_place,
    download,
    install,
    official_folder,
    source_url,
)
from wildtool.data.prompt_files import digest_of, parse_module
from wildtool.errors import DataError, unknown_name
from wildtool.json_codec import dumps, loads
from wildtool.temporary import temporary_folder
from wildtool.types import Source

REPOSITORY = "AlibabaResearch/DAMO-ConvAI"
COMMIT = "483554eae102996f5ec1f4feab4e78ef29c2a394"
_HOME = "api-bank"
_SAMPLES = "lv1-lv2-samples"
_PARTS = Path(__file__).with_name("files.txt")
"""Paths of the repository's files below the benchmark's folder, one a line."""
CONTENT_DIGESTS = {
    DIALOGUE_LEVELS[0]: "ed2b039e3f5873329ba260920a89499ec0b25c9c514c975768096919b0e14f0e",
    DIALOGUE_LEVELS[1]: "ea1d88bb8a27ae5d1e8585809f5772b00182ab429ab6004c41f6e463d66c406c",
    TABLES_FILE: "59858285323bbf67799bb0bfae7530ea4145c10a2aaa06b883cfd326952cddea",
    TOOLS_FILE: "028ecc516ceeab6f5f4c2e30d2ac49c983255259edc777d5f7548e49b79a20d1",
}
"""SHA-256 of each joined file's value as JSON with sorted keys (`digest_of`)."""
_FIELDS = ("description", "input_parameters", "output_parameters")

ReadPart = Callable[[Path], bytes]
"""Gives the bytes of a file by its path below the benchmark's folder. Raises DataError."""


class ApiBankData(DataSet):
    """Dialogues, tables and descriptions: the repository's many files, joined into four."""

    def locate(self, data: str | None, split: str | None = None) -> Source:
        if split is not None and split not in DIALOGUE_LEVELS:
            raise DataError(unknown_name("split", split, DIALOGUE_LEVELS))
        place = data_place(data, self.name, "a folder of the four joined files")
        return source_of_files(data or "official", place, [data_file(place, name) for name in JOINED_FILES])

    def pull(self, *, file: Path | None, mirror: str | None, report: ReportProgress) -> Path:
        folder = official_folder(self.name)
        if _is_verified(folder):
            report(f"{folder}: all files are there and verified")
            return folder
        self.check_folder(file)
        if file is not None and find_packed(file, f"{DIALOGUE_LEVELS[0]}.jsonl"):
            joined = {name: _read_joined(file, name) for name in JOINED_FILES}
        elif file is not None:
            home = file / _HOME if (file / _HOME).is_dir() else file
            if not (home / _SAMPLES).is_dir():
                raise DataError(
                    f"{file}: holds neither {_HOME}/{_SAMPLES} nor {DIALOGUE_LEVELS[0]}.jsonl; --from takes"
                    f" {self.copies}"
                )
            joined = _joined(lambda path: read_unpacked(home / path))
        else:
            joined = _downloaded(mirror, report)
        for name in JOINED_FILES:
            if digest_of(joined[name]) != CONTENT_DIGESTS[name]:
                raise DataError(
                    f"{file or REPOSITORY}: {name} is not that of commit {COMMIT}; nothing was installed. Name other"
                    " data at a run with --data FOLDER"
                )
        _write(folder, joined)
        report(f"{folder}: {len(JOINED_FILES)} files, verified by SHA-256 of their contents")
        report(f"source: {REPOSITORY}, folder {_HOME}, at commit {COMMIT}; licence: Apache-2.0")
        return folder


def _is_verified(folder: Path) -> bool:
    """Whether all files are there and the right ones."""
    try:
        return all(digest_of(_read_joined(folder, name)) == CONTENT_DIGESTS[name] for name in JOINED_FILES)
    except DataError:
        return False  # a missing or damaged file is brought again


def _read_joined(folder: Path, name: str) -> Any:
    path = data_file(folder, name)
    if name not in DIALOGUE_LEVELS:
        return read_json(path)
    return [dialogue for _, dialogue in read_packed_lines(path, "dialogue")]


def _write(folder: Path, joined: dict[str, Any]) -> None:
    for name, value in joined.items():
        if name in DIALOGUE_LEVELS:
            install(folder / f"{name}.jsonl", b"".join(dumps(row) + b"\n" for row in value))
        else:
            install(folder / f"{name}.json", dumps(value))


# Joining ---------------------------------------------------------------------------------------------


def _downloaded(mirror: str | None, report: ReportProgress) -> dict[str, Any]:
    """The joined files from downloads, several at once. Raises DataError at the first that fails."""
    paths = part_paths()
    report(f"fetching {len(paths)} files of {source_url(REPOSITORY, COMMIT, _HOME, mirror)}")
    with temporary_folder() as place, ThreadPoolExecutor(MAX_PARALLEL_FETCHES) as pool:
        targets = [Path(place) / str(number) for number in range(len(paths))]
        urls = [source_url(REPOSITORY, COMMIT, f"{_HOME}/{path.as_posix()}", mirror) for path in paths]
        try:
            for _ in pool.map(download, urls, targets):
                pass
        except DataError:
            pool.shutdown(cancel_futures=True)
            raise
        contents = {path: target.read_bytes() for path, target in zip(paths, targets, strict=True)}
    return _joined(lambda path: contents[path])


def part_paths() -> list[Path]:
    """Paths of the repository's files below the benchmark's folder."""
    return [Path(line) for line in _PARTS.read_text("utf-8").split()]


def _joined(read: ReadPart) -> dict[str, Any]:
    """The four files from the repository's many. Raises DataError."""
    joined: dict[str, Any] = {level: [] for level in DIALOGUE_LEVELS}
    joined[TABLES_FILE], tools = {}, dict[str, Any]()
    for path in part_paths():
        content = read(path)
        match path.parent.name:
            case "init_database":
                joined[TABLES_FILE][path.stem] = _parsed(content, str(path))
            case "apis":
                description = _description(content, str(path))
                tools[description["name"]] = description
            case level:
                turns = [_parsed(line, str(path)) for line in content.splitlines() if line.strip()]
                joined[level].append({"file": path.name, "turns": turns})
    joined[TOOLS_FILE] = dict(sorted(tools.items()))
    return joined


def _parsed(text: bytes, where: str) -> Any:
    try:
        return loads(text)
    except ValueError as error:
        raise DataError(f"{where}: not JSON ({error})") from error


def _description(source: bytes, where: str) -> dict[str, Any]:
    """What a tool's class says of it, read from the syntax tree; its code is not run. Raises DataError."""
    for node in parse_module(source.decode("utf-8", "replace"), where).body:
        if isinstance(node, ast.ClassDef):
            constants = {
                target.id: statement.value
                for statement in node.body
                if isinstance(statement, ast.Assign)
                for target in statement.targets
                if isinstance(target, ast.Name)
            }
            try:
                return {"name": node.name} | {name: ast.literal_eval(constants[name]) for name in _FIELDS}
            except (LookupError, ValueError, TypeError, RecursionError) as error:
                raise DataError(
                    f"{where}: the class {node.name} lacks a plain {' or '.join(_FIELDS)}"
                ) from error
    raise DataError(f"{where}: holds no class")


DATA = ApiBankData(
    name="apibank",
    repository=REPOSITORY,
    commit=COMMIT,
    copies=f"a checkout of {REPOSITORY} or a folder with {', '.join(JOINED_FILES)}",
    stats=stats,
    lint=lint,
    read_results=deferred("wildtool.benchmarks.apibank.results:read_results"),
)
