"""A mixture to the last count: its plan, its files, its manifest, its notes, and where each line is from."""

import json
from pathlib import Path
from typing import Any

import pytest

from training.training_rows import call_row, text_row, write_rows
from wildtool.errors import UsageError
from wildtool_data.prepare.mix.mix import (
    MixPlan,
    MixResult,
    MixSet,
    write_mix,
)
from wildtool_data.prepare.overlap.search import OverlapSearch


def words(k: int, count: int = 12) -> str:
    return " ".join(f"w{k}x{j}" for j in range(count))


def rows(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [call_row(words(k)) if k % 3 else text_row(words(k)) for k in range(start, start + count)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def mixed(plan: MixPlan, folder: str = "m", search: OverlapSearch | None = None, **more: Any) -> MixResult:
    return write_mix(plan, Path(folder), search=search, **more)


def plan(*names: str, **more: Any) -> MixPlan:
    return MixPlan(sets=tuple(MixSet(name, Path(f"{name}.jsonl")) for name in names), **more)


def test_a_mixture_is_put_beside_other_things_by_force_only_and_replaces_an_earlier_one():
    write_rows(Path("a.jsonl"), rows(2))
    Path("m").mkdir()
    Path("m/thesis.txt").touch()
    with pytest.raises(UsageError, match=r"m: holds what wildtool did not make here \(thesis\.txt\)"):
        mixed(plan("a"))
    assert [path.name for path in Path("m").iterdir()] == ["thesis.txt"]
    for seed, force in (("1", True), ("2", False)):
        mixed(plan("a", seed=seed), force=force)
        assert json.loads(Path("m/mix.json").read_text())["settings"]["seed"] == seed
    assert Path("m/thesis.txt").exists()
