"""How the numbers of runs are read for the verbs that print them, and what is told of it."""

from pathlib import Path
from typing import Any

import pytest

from cli.output.test_tables import result
from wildtool.cli.output import results
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.tool_formats import CALL_FORMATS
from wildtool.types import Metric

RUNS: dict[str, Any] = {
    "b": result("b", remarks=("one", "two"), kept=False),
    "a": RecordError("a: damaged"),
    "d": result("d", read_as="hermes", kept=False, faults=("odd", "odder")),
    "c": result("c", faults=("odd",)),
}
TOLD = """\
one
two
b: read-only, so its scores are not saved
wildtool: a: damaged
d: replies were read again as hermes; these scores are not saved
d: internal error: scoring failed 2 times. odd
c: internal error: scoring failed 1 time. odd
"""


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


def test_runs_that_cannot_be_read_are_told_and_left_out(
    asked: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    read, status = results.find_results([Path("x"), Path("y")], "p", data="d", again=True)
    assert (read, status) == ([RUNS["b"], RUNS["d"], RUNS["c"]], RecordError.exit_status)
    settings = {"data": "d", "again": True, "format": None}
    assert asked == [(name, "p", settings) for name in "badc"]
    assert capsys.readouterr() == ("", TOLD)
    assert results.find_results([Path("y")]) == ([RUNS["d"], RUNS["c"]], 0)
    assert asked[4] == ("d", None, {"data": None, "again": False, "format": None})


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


def test_the_worst_of_several_problems_is_the_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = {"a": DataError("bad"), "b": UsageError("wrong")}

    def load(folder: Path, *words: Any, **settings: Any) -> Any:
        raise problems[folder.name]

    monkeypatch.setattr(results, "run_folders", lambda path: [path])
    monkeypatch.setattr(results, "load_result", load)
    assert results.find_results([Path("a"), Path("b")]) == ([], 2)
    assert capsys.readouterr().err == "wildtool: bad\nwildtool: wrong\n"


def test_groups_are_found_by_their_names_in_any_of_the_results() -> None:
    one, two, three = (
        Metric(group, name, 0.5, 1, 2) for group, name in (("g h", "a"), ("i", "b"), ("g h", "c"))
    )
    both = [result("m", one, two), result("n", three)]
    assert results.result_groups(both) == ["g h", "i"]
    assert [each.metrics for each in results.select_group(both, "G-H")] == [(one,), (three,)]
    assert [each.metrics for each in results.select_group(iter(both), "i")] == [(two,), ()]
    with pytest.raises(UsageError) as error:
        results.select_group(both, "x")
    assert str(error.value) == "unknown group 'x' (known: g h, i)"
