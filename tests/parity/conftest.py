"""Fixtures of the parity tests. A test whose cases are not there is skipped with the reason.

Where WILDTOOL_ORACLE names the folder of cases, as the gate does, a skipped test would be green for the wrong reason: it
fails.
"""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and "WILDTOOL_ORACLE" in os.environ:
        report.outcome = "failed"
        report.longrepr = f"skipped although WILDTOOL_ORACLE names the cases: {report.longrepr}"
    return report


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
    """ACEBench's data of August 2025, which lie beside the cases of all benchmarks."""
    return present(cases.parents[1] / "data" / "acebench")


@pytest.fixture(scope="session")
def newest(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ACEBench's data of October 2025: those of August with the files that changed in their place."""
    official = present(cases.parents[1] / "data" / "acebench")
    changed = present(official.with_name("acebench_2025_10"))
    folder = tmp_path_factory.mktemp("acebench_2025_10")
    for source in (official, changed):
        for file in source.rglob("*"):
            if file.is_file() and file.name != "SOURCE.md":
                target = folder / file.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                # One of them may be packed, the other not.
                for name in (target.name.removesuffix(".gz"), f"{target.name.removesuffix('.gz')}.gz"):
                    target.with_name(name).unlink(missing_ok=True)
                target.write_bytes(file.read_bytes())
    return folder
