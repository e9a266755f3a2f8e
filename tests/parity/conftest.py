"""Fixtures of the parity tests."""

from pathlib import Path

import pytest

from parity.cases import oracle_folder


@pytest.fixture(scope="session")
def oracle() -> Path:
    """The folder of WildToolBench's cases; tests that need it are skipped where it is absent."""
    folder = oracle_folder("wildtoolbench")
    if not folder.is_dir():
        pytest.skip(f"no oracle cases at {folder}; set WILDTOOL_ORACLE to their folder")
    return folder
