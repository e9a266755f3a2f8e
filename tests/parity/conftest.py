"""Where the published evaluators' recorded answers are found."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def oracle() -> Path:
    """The folder of WildToolBench oracle cases; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("WILDTOOL_ORACLE", ROOT.parent / "shared" / "oracle")) / "wildtoolbench"
    if not folder.is_dir():
        pytest.skip(f"no oracle cases at {folder}; set WILDTOOL_ORACLE to their folder")
    return folder
