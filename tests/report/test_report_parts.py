"Parts of reports that need no whole one: texts, single files, published rows, effects and lists of runs."

import copy
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from golden_files import same_as_golden
from report.report_build import Scripted, play
from wildtool.alter.base import Alteration
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.noise.noise import Noise
from wildtool.benchmark import Published
from wildtool.engine.compare.pairs import UnitScores
from wildtool.engine.score.audit import Audit, Ceiling, KillRate
from wildtool.report.build import build
from wildtool.report.charts.render import Chart
from wildtool.report.model import ReportRun, group_leaderboards, read_runs
from wildtool.report.pages import overview
from wildtool.report.pages.effects import alteration_effects
from wildtool.report.server import run_index
from wildtool.report.site.shards import script_json
from wildtool.report.site.site import Site
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


def small_site(folder: Path, *, single: bool) -> Site:
    site = Site(folder, title="title", single=single)
    site.shard("one", {"a": "</script>", "n": 2**70, "lone": "\ud800"})
    site.add("first", "First", "trajectories.html", scripts=("compare.js",), styles=("trajectories.css",))
    site.add(
        "second", "Second", "trajectories.html", group="Group", scripts=("compare.js", "trajectories.js")
    )
    return site


def test_a_site_of_a_folder_has_its_files_beside_it(tmp_path: Path):
    site = small_site(tmp_path, single=False)
    assert [site.link("first"), site.link("first", "run=1")] == ["first.html", "first.html#run=1"]
    assert [site.unique("x"), site.unique("y"), site.unique("x")] == ["x-1", "y-1", "x-2"]
    assert site.file("files/x.csv", b"a,b") == "files/x.csv"
    assert site.finish(tmp_path) == tmp_path / "first.html"
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == [
        "assets/addresses.js", "assets/compare.js", "assets/copy_tables.css", "assets/copy_tables.js", "assets/site.css",
        "assets/site.js",
        "assets/trajectories.css", "assets/trajectories.js",
        "data/one.js", "files/x.csv", "first.html", "second.html",
    ]  # fmt: skip
    first = (tmp_path / "first.html").read_text("utf-8")
    assert re.findall(r'"assets/([^"]+)"', first) == [
        "site.css", "copy_tables.css", "trajectories.css", "site.js", "addresses.js", "copy_tables.js", "compare.js"
    ]  # fmt: skip
    numbers = [-(2**63) - 1, -(2**63), 2**63 - 1, 2**63, 10**1000 - 1, 10**1000, 1.5]
    assert json.loads(script_json(numbers)) == [
        "-9223372036854775809", *numbers[1:3], "9223372036854775808", "9" * 1000, "…", 1.5
    ]  # fmt: skip


@pytest.mark.long
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


# Effects ------------------------------------------------------------------------------------------------


NOISE, DOWN = Noise.parse("order:slight"), Failures(FailureSchedule.parse("down"))


def altered(run: ReportRun, *alterations: Alteration, **changes: Any) -> ReportRun:
    result = replace(run.result, alterations=alterations, **changes)
    return replace(run, result=result)


def test_an_effect_is_seen_between_runs_whose_model_has_the_same_settings(runs: list[ReportRun]):
    gold, noisy = runs[0], altered(runs[0], NOISE)
    identity = copy.deepcopy(gold.about["identity"])
    identity["models"]["agent"]["settings"] = {"temperature": 1}
    warm = replace(gold, about={**gold.about, "identity": identity})
    assert [effect.alteration for effect in alteration_effects([gold, noisy])] == ["noise order:slight"]
    assert alteration_effects([warm, noisy]) == []


def test_accuracies_of_an_effect_are_weighted_as_its_difference_is(runs: list[ReportRun]):
    a, b, weights = ("a", "0"), ("b", "0"), {"a": 3.0, "b": 1.0}
    before = replace(runs[0], scores=UnitScores({a: 1, b: 0}, {}, weights))
    after = altered(replace(runs[0], scores=UnitScores({a: 0, b: 1}, {}, weights)), NOISE)
    (effect,) = alteration_effects([before, after])
    assert (effect.before, effect.after, effect.difference) == ("75.0 %", "25.0 %", "-50.0")
    (effect,) = alteration_effects([replace(before, scores=replace(before.scores, missing={b: 1})), after])
    assert (effect.before, effect.after, effect.difference) == ("75.0 to 100.0 %", "25.0 %", "-75.0 to -50.0")


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
        "a: shards 0, 1; 1 item, 2 calls; seen 10 s ago",
        "b: shards 0, 1, 2, 3, 4, 5, 6, 7, …; 2 items, 1 call; seen 0 s ago",
        "c: shards none; 1 item, 2 calls; seen 10 s ago",
        "d ended: killed",
    ]
    many = [worker(f"w{n}") for n in range(21)]
    lines = run_index._worker_lines(many, {each.name for each in many})  # pyright: ignore[reportPrivateUsage]
    assert lines.splitlines()[20:] == ["and 1 more workers"]
    seen = run_index._is_seen  # pyright: ignore[reportPrivateUsage]
    assert [seen(worker("x", last_sign=at)) for at in (860.4, 860.3)] == [True, False]
    assert not seen(worker("x", last_sign=1010.0, ended=True))
