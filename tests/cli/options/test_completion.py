"""What the shell is offered for a word that is typed in part."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.benchmarks import SUITES
from wildtool.cli.options import completion
from wildtool.engine import registry
from wildtool.engine.registry import benchmark_names, load_benchmark
from wildtool.errors import UsageError
from wildtool.models.baselines import BASELINES
from wildtool.models.resolve import PRESETS, installed_prefixes
from wildtool.tool_formats import CALL_FORMATS


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    for name in ("wilderness.py", "wild.jsonl", "mine/other.py", "mine/calqa.py"):
        (tmp_path / name).touch()


def test_a_run_takes_suites_too():
    assert completion.benchmarks_and_suites("") == [*benchmark_names(), "wilderness.py", *SUITES]
    assert completion.benchmarks_and_suites("tole") == ["toleap"]


def words(*args: str, **params: str) -> Any:
    return SimpleNamespace(args=[*args], params=params)


def test_profiles_and_modes_are_those_of_the_benchmark_or_of_all(monkeypatch: pytest.MonkeyPatch):
    acebench, every = load_benchmark("acebench"), [load_benchmark(name) for name in benchmark_names()]
    for typed in (words("acebench", "-m"), words(benchmark="acebench"), words("bfcl", benchmark="acebench")):
        assert completion.profiles(typed, "") == [*acebench.profiles]
        assert completion.modes(typed, "") == [*acebench.modes]
    for typed in (words(), words("nothing", benchmark="nothing")):
        assert completion.profiles(typed, "") == [*dict.fromkeys(p for b in every for p in b.profiles)]
        assert completion.modes(typed, "") == [*dict.fromkeys(m for b in every for m in b.modes)]
    assert completion.profiles(words("acebench"), "f") == ["fixed"]
    assert completion.modes(words("acebench"), "t") == ["text"]

    def broken(name: str) -> None:
        raise UsageError("broken")

    monkeypatch.setattr(registry, "load_benchmark", broken)
    assert completion.profiles(words(), "") == completion.modes(words(), "") == []


def test_models_are_those_of_the_file_baselines_and_prefixes():
    known = [*BASELINES, *(f"{prefix}/" for prefix in (*PRESETS, *installed_prefixes()))]
    assert completion.models("") == known
    Path("wildtool.toml").write_text('[models.mine]\nmodel = "m"\n[models.other]\nmodel = "n"\n')
    assert completion.models("") == ["mine", "other", *known]
    assert completion.models("m") == ["mine", *(name for name in known if name.startswith("m"))]
    Path("wildtool.toml").write_text("[")
    assert completion.models("") == known


def test_formats_end_with_the_choice_by_name():
    assert completion.tool_formats("") == [*CALL_FORMATS, "auto"]
    assert completion.tool_formats("aut") == ["auto"]
