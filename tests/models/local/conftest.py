"""Small libraries in place of torch and transformers, and batches that wait for nobody."""

import sys

import pytest

from models.local.plain_libraries import Libraries
from wildtool.models.local import hf


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Libraries:
    libraries = Libraries()
    monkeypatch.setitem(sys.modules, "torch", libraries.torch)
    monkeypatch.setitem(sys.modules, "transformers", libraries.transformers)
    monkeypatch.setitem(sys.modules, "transformers.utils.logging", libraries.quiet)
    monkeypatch.setattr(hf, "BATCH_WAIT_S", 0)
    return libraries
