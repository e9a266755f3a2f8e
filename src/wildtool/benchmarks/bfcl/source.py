"""Where BFCL's files lie: fetched from the public repository, copied from the user's folder, or read where they are."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from wildtool.benchmarks.bfcl.categories import split_categories
from wildtool.benchmarks.bfcl.data import (
    WEB_SEARCH_DOCUMENTS,
    answer_file,
    earlier_file,
    form_entries,
    question_file,
    version_of,
)
from wildtool.benchmarks.bfcl.multi_turn import document_file, simulated_files
from wildtool.benchmarks.bfcl.originals import OriginalTexts, original_files, read_original_texts
from wildtool.benchmarks.bfcl.simulated.extract import pull_tables
from wildtool.benchmarks.bfcl.simulated.memory import MEMORY_CLASSES
from wildtool.data.files import read_packed_lines, source_of_files
from wildtool.data.pinned import PinnedFile, ReportProgress, data_place, fetch_all, official_folder
from wildtool.data.prompt_files import pull_prompts
from wildtool.errors import DataError
from wildtool.types import Source

REPOSITORY = "ShishirPatil/gorilla"
COMMIT = "6ea57973c7a6097fd7c5915698c54c17c5b1b6c8"
_DATA = "berkeley-function-call-leaderboard/bfcl_eval/data"
_CHECKSUMS = Path(__file__).with_name("checksums.tsv")
"""Path of each file of the pull to its SHA-256."""


@cache
def pinned_files() -> dict[str, PinnedFile]:
    """Path in the cache to pinned file."""
    found: dict[str, PinnedFile] = {}
    for line in _CHECKSUMS.read_text("utf-8").splitlines()[1:]:
        path, digest = line.split("\t")
        published = path.removeprefix("question/")
        found[path] = PinnedFile(REPOSITORY, COMMIT, f"{_DATA}/{published}", sha256=digest, other_path=path)
    return found


def pull(file: Path | None, mirror: str | None, report: ReportProgress) -> Path:
    """Brings v4's questions, answers and documents into the cache, verified; `file` is a folder to copy them from."""
    if file is not None and not file.is_dir():
        raise DataError(
            f"{file}: no folder; --from takes a checkout of {REPOSITORY} or a folder of BFCL's files"
        )
    folder = official_folder("bfcl")
    wanted = {folder / path: pinned for path, pinned in pinned_files().items()}
    fetch_all(wanted, folder=file, mirror=mirror, report=report)
    pull_prompts(
        original_files(REPOSITORY, COMMIT), folder / "prompts", source=file, mirror=mirror, report=report
    )
    pull_tables(folder, REPOSITORY, COMMIT, source=file, mirror=mirror, report=report)
    report(f"source: {REPOSITORY} at commit {COMMIT}; licence: Apache-2.0")
    return folder


def pulled_texts() -> OriginalTexts | None:
    """The original's prompts; None where they were not pulled. Raises DataError where they are damaged."""
    return read_original_texts(original_files(REPOSITORY, COMMIT), official_folder("bfcl") / "prompts")


def locate(data: str | None, split: str | None) -> Source:
    """The data a user named: None or `official`, or a folder of v3 or v4 files. Raises DataError."""
    split_categories(split)
    place = data_place(data, "bfcl", "a folder with BFCL_v4_*.json or BFCL_v3_*.json")
    if not place.is_dir():
        raise DataError(f"{place}: no folder; expected one with BFCL_v4_*.json or BFCL_v3_*.json")
    return source_of_files(data or "official", place, _files(place, split))


def _files(folder: Path, split: str | None) -> Iterator[Path]:
    """The files of a split that are there. Raises DataError where one of a named split is not."""
    version, simulated = version_of(folder), False
    for category in split_categories(split):
        questions = question_file(folder, category, version) if category.runs_in(version) else None
        if questions is None and split is None:
            continue
        if not category.runs_in(version):
            raise DataError(f"{folder}: version 3 has no {category.name}; choose another --split")
        if questions is None:
            missing = category.file_name(version)
            raise DataError(f"{folder}: {missing} is missing; `wildtool data pull bfcl` gets it")
        yield questions
        answers = answer_file(folder, category, version)
        if answers is not None:
            yield answers
        if category.kind == "multi_turn":
            simulated = True
        if category.kind == "memory":
            yield document_file(folder, MEMORY_CLASSES[category.name].DOCUMENTS)
            scenarios = {str(entry.get("scenario")) for _, entry in read_packed_lines(questions, "entry")}
            yield from (earlier_file(folder, scenario) for scenario in sorted(scenarios))
        if category.kind == "web_search":
            yield document_file(folder, WEB_SEARCH_DOCUMENTS)
        if category.kind == "forms":
            for base in form_entries(questions):
                yield from _files(folder, base.name)
    if simulated:
        yield from simulated_files(folder)
