"Parts of reports that need no whole one: texts, single files, published rows, effects and lists of runs."

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from golden_files import same_as_golden
from report.report_build import Scripted, play
from wildtool.benchmark import Published
from wildtool.engine.score.audit import Audit, Ceiling, KillRate
from wildtool.report.build import build
from wildtool.report.charts.render import Chart
from wildtool.report.model import ReportRun, group_leaderboards, read_runs
from wildtool.report.pages import overview
from wildtool.report.server import run_index
from wildtool.report.texts import latex, markdown
from wildtool.types import Metric


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[ReportRun]:
    folder = tmp_path_factory.mktemp("runs")
    half = Scripted("half", right=lambda address: address.unit in "02")
    models = ("baseline/gold", half, "baseline/chat")
    return read_runs([play(folder / f"r{n}", model, limit=2) for n, model in enumerate(models)])


@pytest.mark.parametrize("text", [markdown, latex])
def test_runs_as_one_text(runs: list[ReportRun], text: Any):
    same_as_golden(f"report/runs-{text.__name__}.txt", text(runs))


# One file -----------------------------------------------------------------------------------------------


def test_leaderboards_of_a_single_file_have_pages_of_their_own(
    runs: list[ReportRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    drawn = Chart("<svg/>", "<svg/>", b"svg", b"png", "")
    monkeypatch.setattr("wildtool.report.pages.metrics.render_chart", lambda drawing: drawn)
    two_boards = [*runs[:2], *read_runs([runs[1].folder], "fixed")]
    assert build(two_boards, tmp_path / "r.html", single=True) == tmp_path / "r.html"
    text = (tmp_path / "r.html").read_text("utf-8")
    same_as_golden("report/pages-of-two-boards.json", re.findall(r'id="page-([^"]+)"', text))
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


# Published rows and gold --------------------------------------------------------------------------------

KEY, OTHER = ("accuracy", "task"), ("time", "seconds")
FIGURES = [
    Published("A", "open", "Paper, table 1", "official", {KEY: 0.5, ("none", "x"): 1.0}, data="wild-mini"),
    Published("A", "", "Paper, table 2", "official", {OTHER: 12.5}, data="wild-mini"),
    Published("B" * 80, "", "Paper, table 1", "official", {KEY: 0.75}, data="wild-mini"),
    Published("without", "", "Paper, table 1", "official", {OTHER: 1.0}, data="wild-mini"),
]


def test_what_is_published_and_what_gold_reaches_is_said(runs: list[ReportRun]):
    (board,) = group_leaderboards(runs)
    about = overview._about_published  # pyright: ignore[reportPrivateUsage]
    assert about(board, [], None) == ""
    assert about(board, FIGURES, "of other data") == "No published rows: of other data."
    assert about(board, FIGURES, None) == "Published rows: Paper, table 1; Paper, table 2."
    ceiling = Ceiling(style="parallel", counts=runs[0].result.counts, metrics=(Metric(*KEY, 1.0, 8, 8),))
    audit = Audit(
        profile="official", mode="fc", ceilings=(ceiling, replace(ceiling, style="serial")), wrong_gold=(),
        kills=(KillRate(kind="a", killed=1500, mutants=2000),), survivors=(), faults=(),
    )  # fmt: skip
    said = overview._about_ceiling  # pyright: ignore[reportPrivateUsage]
    assert said(board, audit) == (
        "Gold answers under profile official: 8 of 8 units correct (parallel), 8 of 8 units correct (serial); it catches "
        "1,500 of 2,000 corrupted gold answers."
    )
    assert said(board, replace(audit, kills=())).endswith("(serial).")
    assert said(board, None).startswith("Not measured; ")
    rows = overview._gold(audit)  # pyright: ignore[reportPrivateUsage]
    assert [(row.label, row.kind, row.about, row.cells[KEY].value) for row in rows] == [
        ("gold answers, parallel", "gold", "gold ceiling", "100.0 %"),
        ("gold answers, serial", "gold", "gold ceiling", "100.0 %"),
    ]


# Lists of runs ------------------------------------------------------------------------------------------


def worker(name: str, **fields: Any) -> Any:
    defaults = {
        "last_sign": 1000.0,
        "ended": False,
        "shares": (0, 1),
        "items": 1,
        "calls": 2,
        "last_words": "",
    }
    return SimpleNamespace(name=name, **{**defaults, **fields})


def test_workers_are_listed_with_what_they_hold(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run_index.time, "time", lambda: 1010.4)
    workers = [
        worker("a"),
        worker("b", shares=tuple(range(9)), last_sign=1020.0, calls=1, items=2),
        worker("c", shares=()),
        worker("d", last_words="killed"),
        worker("e"),
    ]
    lines = run_index._worker_lines(workers, {"a", "b", "c"})  # pyright: ignore[reportPrivateUsage]
    assert lines.splitlines() == [
        "a: shares 0, 1; 1 item, 2 calls; seen 10 s ago",
        "b: shares 0, 1, 2, 3, 4, 5, 6, 7, …; 2 items, 1 call; seen 0 s ago",
        "c: shares none; 1 item, 2 calls; seen 10 s ago",
        "d ended: killed",
    ]
    many = [worker(f"w{n}") for n in range(21)]
    lines = run_index._worker_lines(many, {each.name for each in many})  # pyright: ignore[reportPrivateUsage]
    assert lines.splitlines()[20:] == ["and 1 more workers"]
    seen = run_index._is_seen  # pyright: ignore[reportPrivateUsage]
    assert [seen(worker("x", last_sign=at)) for at in (860.4, 860.3)] == [True, False]
    assert not seen(worker("x", last_sign=1010.0, ended=True))
