"""What happens where the extra for Inspect is missing."""

import sys
from pathlib import Path

import pytest

from export.export_build import play, written
from wildtool.errors import UsageError


def test_a_missing_inspect_is_named_with_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # None in the table of modules makes Python raise ModuleNotFoundError.
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(UsageError, match=r"wildtool\[inspect\]"):
        written("inspect", play(tmp_path / "run"), tmp_path)
    assert not list(tmp_path.glob("*.eval"))
