"""BFCL's texts and classes come from its package, which most of its tests need."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def with_package(bfcl_package: Path) -> None: ...
