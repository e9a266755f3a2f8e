"""What `wildtool export` asks of a format, for which run and where to: with a writer that only notes it."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.errors import UsageError
from wildtool.export import EXPORT_FORMATS, FOLDER_MARK, ExportRequest
from wildtool.export.commands import _check_outcome, _form, _formats, _targets

DEFAULTS: dict[str, Any] = {"profile": None, "only": None, "arguments": None, "lossless": False}
DEFAULTS |= {"with_data": False, "allow_benchmark_data": False, "hub_dataset": None}


@pytest.fixture(autouse=True)
def _among_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("runs/a", "runs/b/c", "one", "other/one"):
        Path(name).mkdir(parents=True)
        (Path(name) / "run.json").write_text("{}")
    Path("dataset").mkdir()
    Path("dataset/README.md").write_text(FOLDER_MARK)
    Path("tables").mkdir()
    Path("tables/mine").write_text("mine")
    Path("empty").mkdir()


INSIDE = "that is inside a run folder; name another place with --out"


def places(form: str, out: str | None, *paths: str) -> dict[str, str]:
    targets = _targets([Path(path) for path in paths], Path(out) if out else None, form)
    return {folder.as_posix(): target.as_posix() for folder, target in targets.items()}


@pytest.mark.parametrize(
    ("form", "out", "paths", "targets"),
    [
        ("csv", None, ["one"], {"one": "one.csv"}),
        ("eee", None, ["runs"], {"runs/a": "runs--a-eee", "runs/b/c": "runs--b--c-eee"}),
        ("csv", "tables", ["one"], {"one": "tables/one.csv"}),
        ("csv", "new.csv", ["one"], {"one": "new.csv"}),
        ("csv", "new", ["one", "runs/b"], {"one": "new/one.csv", "runs/b/c": "new/b--c.csv"}),
        ("eee", "tables", ["one"], {"one": "tables/one-eee"}),
        ("eee", "dataset", ["one"], {"one": "dataset"}),
        ("eee", "empty", ["one"], {"one": "empty"}),
        ("csv", "empty", ["one"], {"one": "empty/one.csv"}),
        ("csv", "dataset", ["one"], {"one": "dataset/one.csv"}),
        ("eee", "dataset", ["runs/b", "one"], {"runs/b/c": "dataset/b--c-eee", "one": "dataset/one-eee"}),
        ("csv", "new", ["runs", "runs/a"], {"runs/a": "new/a.csv", "runs/b/c": "new/runs--b--c.csv"}),
    ],
)  # fmt: skip
def test_each_run_has_its_place(form: str, out: str | None, paths: list[str], targets: dict[str, str]):
    assert places(form, out, *paths) == targets


@pytest.mark.parametrize(
    ("form", "out", "paths", "message"),
    [
        (
            "csv",
            None,
            ["one", "other/one"],
            "two of these runs have the same name; export them one by one, each with its own --out",
        ),
        ("csv", "one/a.csv", ["one"], f"one/a.csv: {INSIDE}"),
        ("csv", "one", ["runs"], f"one/runs--a.csv: {INSIDE}"),
        ("eee", "one", ["runs/a"], f"one/a-eee: {INSIDE}"),
    ],
)
def test_a_place_that_would_lose_something_is_refused(
    form: str, out: str | None, paths: list[str], message: str
):
    with pytest.raises(UsageError) as error:
        places(form, out, *paths)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("", {}, f"give a format: --format {'|'.join(EXPORT_FORMATS)}"),
        (
            "csw",
            {},
            f"unknown format 'csw'; did you mean 'csv'? (known: {', '.join(EXPORT_FORMATS)})",
        ),
        (
            "csv",
            {"profile": "fixed", "allow_benchmark_data": True},
            "--allow-benchmark-data cannot be used with --format csv; it is for: pairs",
        ),
        ("csv", {"only": "correct"}, "--only cannot be used with --format csv; it is for: openai, sharegpt, atif"),
    ],
)  # fmt: skip
def test_options_of_other_formats_are_refused(name: str, values: dict[str, Any], message: str):
    with pytest.raises(UsageError) as error:
        _form(name, DEFAULTS | values)
    assert str(error.value) == message


def test_formats_and_outcomes_go_by_their_names():
    assert _form("openai", DEFAULTS | {"only": "correct", "arguments": "object"}) == "openai"
    assert _formats("hf") == ["hf-card", "hf-results"]
    _check_outcome("correct")
    with pytest.raises(UsageError, match=r"^unknown outcome 'corect'; did you mean 'correct'"):
        _check_outcome("corect")


def test_a_format_gets_one_request_for_each_run(monkeypatch: pytest.MonkeyPatch):
    calls: list[tuple[str, ExportRequest, str, bool]] = []

    def write(form: str, request: ExportRequest, target: Path, *, force: bool) -> None:
        calls.append((form, request, target.as_posix(), force))
        target.parent.mkdir(exist_ok=True)
        target.write_text("" if request.folder.name == "a" else "line\n")

    monkeypatch.setattr("wildtool.export.export", write)
    line = "export runs --to openai --only correct --arguments object --profile p --data d -o new"
    ended = CliRunner().invoke(app, line.split())
    every: dict[str, Any] = {"profile": "p", "data": "d", "only": "correct", "arguments": "object"}
    assert calls == [
        ("openai", ExportRequest(folder=Path("runs/a"), **every), "new/runs--a.openai.jsonl", False),
        ("openai", ExportRequest(folder=Path("runs/b/c"), **every), "new/runs--b--c.openai.jsonl", False),
    ]
    assert (ended.exit_code, ended.stdout) == (1, "new/runs--b--c.openai.jsonl\n")
    assert ended.stderr == (
        "runs/a: nothing to export: the run has no unit whose outcome is correct that gives a line of openai\n"
    )
    assert [path.name for path in Path("new").iterdir()] == ["runs--b--c.openai.jsonl"]
    calls.clear()
    ended = CliRunner().invoke(app, ["export", "runs/a", "one", "--to", "sharegpt", "--lossless", "--force"])
    assert calls == [
        ("sharegpt", ExportRequest(folder=Path(name), lossless=True), f"{target}.sharegpt.jsonl", True)
        for name, target in (("runs/a", "a"), ("one", "one"))
    ]
    assert (ended.exit_code, ended.stdout) == (1, "one.sharegpt.jsonl\n")
    assert ended.stderr == "runs/a: nothing to export: the run has no unit that gives a line of sharegpt\n"
