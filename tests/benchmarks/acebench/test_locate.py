"""Where ACEBench's data are: official, finance or a folder; what is missing, what digests depend on, whose prompts."""

from pathlib import Path

import pytest

from benchmarks.acebench import prompts_build
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.source import originals_of


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    prompts_build.pin(monkeypatch)
    return tmp_path / "cache" / "acebench"


def test_only_texts_of_official_categories_have_the_originals_prompts(cache: Path) -> None:
    prompts_build.write(cache)
    found = {
        (mode, split): originals_of(ACEBENCH.in_mode(mode), split) is not None
        for mode in ACEBENCH.modes
        for split in (None, "agent", "agent_finance", "agent_finance_multi_turn")
    }
    assert {key for key, there in found.items() if there} == {("text", None), ("text", "agent")}
