"""What the rules say of a reply, word by word; supervised turns, pairs of tries, names of records, official data."""

import os
from pathlib import Path

import pytest

from wildtool.training.procedures import official
from wildtool.training.procedures.official import official_owner

# Records ---------------------------------------------------------------------------------------------


def test_nothing_empty_is_a_benchmarks_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Packages of official data hold empty files, and whoever opened a pipe, which has no bytes, would wait for ever."""
    (tmp_path / "official").mkdir()
    (tmp_path / "official" / "__init__.py").touch()
    monkeypatch.setattr(official, "official_folder", lambda name: tmp_path / "official")
    monkeypatch.setattr(official, "file_sha256", lambda path: pytest.fail(f"{path} is opened"))
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    assert [official_owner(tmp_path / name) for name in ("empty", "pipe")] == [None, None]
