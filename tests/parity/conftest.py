"""Fixtures of the parity tests. A test whose cases are not there is skipped with the reason."""

from pathlib import Path

import pytest

from parity.cases import oracle_folder, present


@pytest.fixture(scope="session")
def oracle() -> Path:
    """The folder of WildToolBench's cases."""
    return present(oracle_folder("wildtoolbench"))


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of ACEBench's cases."""
    return present(oracle_folder("acebench"))


@pytest.fixture(scope="session")
def official(cases: Path) -> Path:
    """ACEBench's official data, which lie beside the cases of all benchmarks."""
    return present(cases.parents[1] / "data" / "acebench")
