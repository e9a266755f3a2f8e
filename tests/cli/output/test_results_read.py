"""How the numbers of runs are read for the verbs that print them, and what is told of it."""

from pathlib import Path
from typing import Any

import pytest

from cli.output.test_tables import result
from wildtool.cli.output import results
from wildtool.errors import RecordError
from wildtool.tool_formats import CALL_FORMATS

RUNS: dict[str, Any] = {
    "b": result("b", remarks=("one", "two"), kept=False),
    "a": RecordError("a: damaged"),
    "d": result("d", read_as="hermes", kept=False, faults=("odd", "odder")),
    "c": result("c", faults=("odd",)),
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was asked of each run; `x` and `y` are folders of two runs each."""
    calls: list[Any] = []

    def load(folder: Path, profile: str | None, **settings: Any) -> Any:
        calls.append((str(folder), profile, settings))
        answer = RUNS[folder.name]
        if isinstance(answer, Exception):
            raise answer
        return answer

    below = {"x": ["b", "a"], "y": ["d", "c"]}
    models = {"b": {"agent": {"name": "qwen3"}}, "c": {}}
    monkeypatch.setattr(results, "load_result", load)
    monkeypatch.setattr(results, "run_folders", lambda path: [Path(name) for name in below[path.name]])
    monkeypatch.setattr(results, "read_run", lambda folder: {"identity": {"models": models[folder.name]}})
    return calls


def test_replies_are_read_in_the_format_of_that_name_or_of_the_model(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[tuple[str, str]] = []
    resolve = results.resolve_format
    monkeypatch.setattr(
        results, "resolve_format", lambda name, model: names.append((name, model)) or resolve(name, model)
    )
    monkeypatch.setattr(results, "run_folders", lambda path: [Path("b"), Path("c")])
    results.find_results([Path("x")], tool_format="hermes")
    assert names == [("hermes", "qwen3"), ("hermes", "")]
    assert [settings["format"] for _, _, settings in asked] == [CALL_FORMATS["hermes"]] * 2
