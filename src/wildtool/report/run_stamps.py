"""What the shards of a run follow from, as one SHA-256 by which a later report finds out that they would be the same.

It is of every file in the folder of the run, byte by byte, of the run that holds what all runs on the same items have in
common, of the profile, of the numbers, and of the code: wildtool's own, and the versions of all packages that are
installed. A run has none where more could matter: a benchmark or an alteration from elsewhere, prompts that are read from
another folder, data that are not at hand.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

import wildtool
from wildtool.data.embeddings import chosen_encoder
from wildtool.data.files import file_sha256
from wildtool.engine.score.number_units import UnitsOfNumbers
from wildtool.engine.score.score import prepare_judging
from wildtool.errors import WildtoolError
from wildtool.json_codec import dumps
from wildtool.outputs import is_regular
from wildtool.report.model import ReportRun
from wildtool.temporary import is_temporary, lasting_files

_OWN_BENCHMARKS = "wildtool.benchmarks."
_LOCK = "lock"
"""Of a run folder: who writes to it, which says nothing of the run."""


def run_stamps(runs: Sequence[ReportRun], firsts: Sequence[ReportRun]) -> list[str | None]:
    """The stamp of the shards of each run; None if they are made in any case.

    Args:
        firsts: for each run the one on the same items that holds what they have in common.
    """
    code = installed_code_digest()
    digests: dict[Path, str | None] = {}
    for run in (*runs, *firsts):
        if run.folder not in digests:
            digests[run.folder] = _digest_of_run(run)
    stamps: list[str | None] = []
    for run, first in zip(runs, firsts, strict=True):
        own, common = digests[run.folder], digests[first.folder]
        parts = [code, own, common, run is first, run.result.profile, _numbers_digest(run.numbers)]
        stamps.append(None if own is None or common is None else sha256(dumps(parts)).hexdigest())
    return stamps


def _digest_of_run(run: ReportRun) -> str | None:
    """SHA-256 of a run and of what judges it; None where that is not all that its shards follow from."""
    try:
        if not _follows_from_its_files(run.folder, run.result.profile):
            return None
        return sha256(dumps([files_digest(run.folder), chosen_encoder().name])).hexdigest()
    except (OSError, WildtoolError):
        return None


def _follows_from_its_files(folder: Path, profile: str) -> bool:
    """Whether the files of a run and this code are all that its shards follow from. Raises WildtoolError where its data
    are not at hand."""
    judging = prepare_judging(folder, profile=profile)
    variant, identity = judging.variant, judging.run_json["identity"]
    is_own = type(variant.benchmark).__module__.startswith(_OWN_BENCHMARKS)
    return is_own and not variant.alterations and not identity.get("prompts")


def files_digest(folder: Path) -> str:
    """SHA-256 of the names and bytes of all files below a folder, but for its lock. Raises OSError, also for what is no
    regular file."""
    digests = [
        (path, file_sha256(folder / path))
        for path in sorted(_files_below(folder))
        if path != _LOCK and not any(map(is_temporary, Path(path).parts))
    ]
    return sha256(dumps(digests)).hexdigest()


def _files_below(folder: Path) -> Iterator[str]:
    """Paths of all files below a folder, from there. Raises OSError."""
    for entry in folder.rglob("*"):
        if entry.is_dir() and not entry.is_symlink():
            continue
        if not is_regular(entry):
            raise OSError(f"{entry} is no regular file")
        yield entry.relative_to(folder).as_posix()


def _numbers_digest(numbers: UnitsOfNumbers) -> str:
    """SHA-256 of the units behind the numbers of a run, which were read before its files."""
    sets = [[f"{its:x}" for its in (each.counted, each.adding, each.losing)] for each in numbers.numbers]
    words = [[each.name, each.formula, each.by_unit, each.lost_first] for each in numbers.numbers]
    return sha256(dumps([list(map(list, numbers.units)), words, sets])).hexdigest()


@cache
def installed_code_digest() -> str:
    """SHA-256 of wildtool's own files, and of the names and versions of all packages that Python finds."""
    root = Path(wildtool.__file__).parent
    # Prompts, word lists and corrections of data beside the modules decide as much as these.
    own = [
        (path.relative_to(root).as_posix(), file_sha256(path))
        for path in lasting_files(root)
        if path.parent.name != "__pycache__"
    ]
    packages = sorted(
        entry.name
        for place in map(Path, sys.path)
        if place.is_dir()
        for entry in os.scandir(place)
        if entry.name.endswith((".dist-info", ".egg-info"))
    )
    return sha256(dumps([sys.version, own, packages])).hexdigest()
