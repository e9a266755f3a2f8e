"Parts of reports that need no whole one: texts, single files, published rows, effects and lists of runs."

import asyncio
import copy
import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from multidict import CIMultiDict

from golden_files import same_as_golden
from report.report_build import Scripted, play
from wildtool.alter.base import Alteration
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.noise.noise import Noise
from wildtool.benchmark import Published
from wildtool.engine.score.audit import Audit, Ceiling, KillRate
from wildtool.report.build import build
from wildtool.report.charts.render import Chart
from wildtool.report.model import ReportRun, RunUsage, group_leaderboards, read_runs
from wildtool.report.pages import overview, trajectory_page
from wildtool.report.pages.effects import AlterationEffect, alteration_effects
from wildtool.report.server import run_index
from wildtool.report.server.app import ViewApp
from wildtool.report.server.run_index import RunIndex
from wildtool.report.site.shards import script_json
from wildtool.report.site.site import Site
from wildtool.report.texts import latex, markdown
from wildtool.table import Cell, Head, Row
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


def test_a_run_is_read_with_what_is_missing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    steps: list[str] = []
    monkeypatch.setattr("wildtool.report.model.show_step", steps.append)
    folder = play(tmp_path / "run", "baseline/gold", limit=1, repeats=3)
    (record,) = folder.glob("record*")
    rows = record.read_text("utf-8").splitlines(keepends=True)
    record.write_text("".join(row for row in rows if '"repeat":2' not in row), "utf-8")
    (run,) = read_runs([folder])
    assert steps == ["reading 1 runs", "read 1 of 1 runs"]
    units = [("wild_mini_0", unit) for unit in "0123"]
    assert (run.folder, run.scores.shares, run.scores.missing, run.spent) == (
        folder,
        dict.fromkeys(units, Fraction(2, 3)),
        dict.fromkeys(units, Fraction(1, 3)),
        RunUsage(calls=22, prompt_tokens=None, completion_tokens=None),
    )


# One file -----------------------------------------------------------------------------------------------


def small_site(folder: Path, *, single: bool) -> Site:
    site = Site(folder, title="title", single=single)
    site.shard("one", {"a": "</script>", "n": 2**70, "lone": "\ud800"})
    site.add("first", "First", "trajectories.html", scripts=("compare.js",), styles=("trajectories.css",))
    site.add(
        "second", "Second", "trajectories.html", group="Group", scripts=("compare.js", "trajectories.js")
    )
    return site


def test_a_site_of_one_file_has_its_scripts_styles_and_data_inside(tmp_path: Path):
    site = small_site(tmp_path / "parts", single=True)
    assert [site.link("first"), site.link("first", "run=1")] == ["#first", "#first?run=1"]
    assert site.file("files/x.csv", b"a,b") == "data:text/csv;base64,YSxi"
    assert site.finish(tmp_path / "out.html") == tmp_path / "out.html"
    text = (tmp_path / "out.html").read_text("utf-8")
    data = '{"a":"\\u003c/script\\u003e","n":"1180591620717411303424","lone":"?"}'
    assert f'<script type="application/json" id="shard-one">{data}</script>\n' in text
    assert text.count("&#39;sha256-") == 3 + 2
    assert "<!-- shards -->" not in text
    assert text.index("shard-one") < text.index("</body>")
    assert [path.name for path in tmp_path.iterdir() if path.suffix] == ["out.html"]


def test_a_site_of_a_folder_has_its_files_beside_it(tmp_path: Path):
    site = small_site(tmp_path, single=False)
    assert [site.link("first"), site.link("first", "run=1")] == ["first.html", "first.html#run=1"]
    assert [site.unique("x"), site.unique("y"), site.unique("x")] == ["x-1", "y-1", "x-2"]
    assert site.file("files/x.csv", b"a,b") == "files/x.csv"
    assert site.finish(tmp_path) == tmp_path / "first.html"
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == [
        "assets/compare.js", "assets/site.css", "assets/site.js", "assets/trajectories.css", "assets/trajectories.js",
        "data/one.js", "files/x.csv", "first.html", "second.html",
    ]  # fmt: skip
    first = (tmp_path / "first.html").read_text("utf-8")
    assert re.findall(r'"assets/([^"]+)"', first) == [
        "site.css", "trajectories.css", "site.js", "compare.js"
    ]  # fmt: skip
    numbers = [-(2**63) - 1, -(2**63), 2**63 - 1, 2**63, 10**1000 - 1, 10**1000, 1.5]
    assert json.loads(script_json(numbers)) == [
        "-9223372036854775809", *numbers[1:3], "9223372036854775808", "9" * 1000, "…", 1.5
    ]  # fmt: skip


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


def test_published_models_stand_among_those_measured(runs: list[ReportRun]):
    heads = [Head(*KEY, headline=True), Head(*OTHER, better="less")]
    rows = overview._published(FIGURES, heads, heads[0])  # pyright: ignore[reportPrivateUsage]
    assert [(row.label[:5], len(row.label), row.kind, row.about, list(row.cells)) for row in rows] == [
        ("A", 1, "published", "published, open", [KEY, OTHER]),
        ("BBBBB", 60, "published", "published", [KEY]),
    ]
    assert [(cell.value, cell.counts, cell.number) for cell in rows[0].cells.values()] == [
        ("50.0 %", "", 0.5),
        ("12.5", "", 12.5),
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


@pytest.mark.parametrize(("better", "order"), [("more", "dcab"), ("less", "acdb")])
def test_rows_are_in_the_order_of_the_number_that_ranks(better: Any, order: str):
    rank = Head(*KEY, better=better)
    rows = {
        "a": Row(label="a", cells={KEY: Cell(number=0.25)}, kind="published"),
        "b": Row(label="b", cells={KEY: Cell(number=0.9)}),
        "c": Row(label="c", cells={KEY: Cell(number=0.5)}, place="2"),
        "d": Row(label="d", cells={KEY: Cell(number=0.75)}, kind="gold"),
    }
    key = overview._order  # pyright: ignore[reportPrivateUsage]
    assert "".join(sorted(rows, key=lambda name: key(rows[name], rank))) == order


# Effects ------------------------------------------------------------------------------------------------


NOISE, DOWN = Noise.parse("order:slight"), Failures(FailureSchedule.parse("down"))


def altered(run: ReportRun, *alterations: Alteration, **changes: Any) -> ReportRun:
    result = replace(run.result, alterations=alterations, **changes)
    return replace(run, result=result)


def test_an_effect_is_that_of_what_one_run_has_more(runs: list[ReportRun]):
    gold, half, _ = runs
    plain, noisy = altered(gold), altered(half, NOISE, model="baseline/gold")
    noisy = replace(noisy, about=gold.about)
    both = altered(noisy, NOISE, DOWN)
    effects = alteration_effects([plain, both, noisy, altered(gold, NOISE, mode="other")])
    first = AlterationEffect(
        "baseline/gold", "wild-mini, profile official", "failures down", 8, "50.0 %", "50.0 %", "+0.0",
        "[-100.0, +100.0]", "1.000", "not distinguishable",
    )  # fmt: skip
    assert effects[0] == first
    assert effects[1] == replace(
        first,
        alteration="noise order:slight",
        before="100.0 %",
        difference="-50.0",
        interval=effects[1].interval,
        p=effects[1].p,
    )
    assert len(effects) == 2


@pytest.mark.parametrize(
    "change",
    [
        *({name: "other"} for name in ("model", "benchmark", "profile", "played", "mode", "prompts")),
        *({name: "other"} for name in ("data_sha256", "split", "read_as")),
        {"roles": {"user": "another"}},
    ],
)
def test_an_effect_is_seen_between_runs_that_are_otherwise_alike(runs: list[ReportRun], change: Any):
    gold = runs[0]
    assert alteration_effects([gold, altered(gold, NOISE, **change)]) == []


def test_an_effect_is_seen_between_runs_whose_model_has_the_same_settings(runs: list[ReportRun]):
    gold, noisy = runs[0], altered(runs[0], NOISE)
    identity = copy.deepcopy(gold.about["identity"])
    identity["models"]["agent"]["settings"] = {"temperature": 1}
    warm = replace(gold, about={**gold.about, "identity": identity})
    assert [effect.alteration for effect in alteration_effects([gold, noisy])] == ["noise order:slight"]
    assert alteration_effects([warm, noisy]) == []


def test_an_effect_is_told_with_its_p_where_runs_share_units(
    runs: list[ReportRun], monkeypatch: pytest.MonkeyPatch
):
    difference = Metric("", "", -0.5, 1, 2, -0.625, -0.25)
    effects: list[Any] = []
    for p in (0.001, 0.00099, None):
        pairs = SimpleNamespace(difference=difference, units=5, missing=0, test=lambda p=p: (p, 1))
        shared = None if p is None else pairs
        monkeypatch.setattr(
            "wildtool.report.pages.effects.pair_units", lambda base, run, shared=shared: shared
        )
        effects.append(alteration_effects([runs[0], altered(runs[0], NOISE)]))
    first = AlterationEffect(
        "baseline/gold", "wild-mini, profile official", "noise order:slight", 5, "100.0 %", "100.0 %", "-50.0",
        "[-62.5, -25.0]", "0.001", "worse",
    )  # fmt: skip
    assert effects == [[first], [replace(first, p="<0.001")], []]


# Trajectories -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        *(("result", name, "other") for name in ("benchmark", "data_sha256", "profile", "prompts")),
        ("result", "alterations", (NOISE,)),
        *(("identity", name, "other") for name in ("mode", "split", "lang")),
        ("scope", "limit", 3),
        ("scope", "ids", ["a"]),
    ],
)
def test_items_are_shown_once_for_runs_that_show_the_same(
    runs: list[ReportRun], part: str, name: str, value: Any
):
    gold, half, _ = runs
    result, about = gold.result, gold.about
    if part == "result":
        result = replace(result, **{name: value})
    else:
        about = {**about, part: {**about[part], name: value}}
    key = trajectory_page._same_items  # pyright: ignore[reportPrivateUsage]
    assert key(gold) == key(half) != key(replace(gold, result=result, about=about))


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


def test_a_run_is_listed_with_its_settings_progress_and_score(runs: list[ReportRun]):
    index = RunIndex(runs[0].folder.parent)
    index.scan()
    assert index.listing["again"] is True
    while index.measure():
        pass
    rows = [dict(row) for row in index.listing["runs"]]
    assert [len(row.pop("id")) for row in rows] == [16] * 3
    assert all(row.pop("since") for row in rows)
    first = {
        "folder": "r0",
        "state": "done",
        "going": False,
        "model": "baseline/gold",
        "benchmark": "wild-mini",
        "how": "mode fc, profile official",
        "workers": "",
        "problem": "",
        "done": 8,
        "planned": 8,
        "remark": "",
        "metric": "accuracy, task",
        "score": "100.0 %",
        "interval": "34.2–100.0",
        "counts": "8/8",
    }
    assert index.listing["again"] is False
    assert rows[0] == first
    assert [(row["folder"], row["score"], row["counts"]) for row in rows] == [
        ("r0", "100.0 %", "8/8"), ("r1", "50.0 %", "4/8"), ("r2", "0.0 %", "0/8")
    ]  # fmt: skip
    keys = [row["id"] for row in index.listing["runs"]]
    assert [index.find(chosen) for chosen in ([], [keys[1], keys[0]], [keys[0], "x"])] == [
        None, [run.folder for run in runs[:2]], None
    ]  # fmt: skip


async def test_what_is_not_there_any_more_is_said(tmp_path: Path):
    viewer = ViewApp(tmp_path, tmp_path / "pages")
    answers: list[Any] = []
    for ask, query in ((viewer.open, {"run": "x"}), (viewer.made, {"key": "x"}), (viewer.made, {})):
        answer = await ask(SimpleNamespace(query=CIMultiDict(query)))  # pyright: ignore[reportArgumentType]
        answers.append((answer.status, json.loads(answer.body or b"")))  # pyright: ignore[reportArgumentType]
    assert answers == [
        (404, {"problem": "This run no longer exists."}),
        (404, {"problem": "This report no longer exists."}),
        (404, {"problem": "This report no longer exists."}),
    ]
    for get, match in ((viewer.report, {"key": "x", "path": "y"}), (viewer.page, {"path": "none"})):
        with pytest.raises(web.HTTPNotFound) as missing:
            await get(SimpleNamespace(match_info=match))  # pyright: ignore[reportArgumentType]
        assert missing.value.text == "Page not found. The list of runs: /\n"
    page = await viewer.page(SimpleNamespace(match_info={"path": ""}))  # pyright: ignore[reportArgumentType]
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    await viewer.close()
    await asyncio.sleep(0)
