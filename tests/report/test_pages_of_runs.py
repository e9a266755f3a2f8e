"""A report of three runs, page by page: texts, links, data of scripts and what the charts show."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from report.page_texts import page_text
from report.report_build import Scripted, play
from wildtool.engine.score.audit import Audit, Ceiling, KillRate
from wildtool.report.build import build
from wildtool.report.charts.data import ChartData
from wildtool.report.charts.render import Chart
from wildtool.report.model import read_runs

PAGES = (
    "index",
    "trajectories",
    "types-and-positions",
    "hidden-intent",
    "instruction-transitions",
    "what-went-before",
    "orchestration",
    "errors",
    "cost",
    "other-numbers",
    "side-by-side",
    "dataset",
)


def data_of(site: Path, name: str) -> Any:
    """What a script of a report is given."""
    text, call = (site / "data" / f"{name}.js").read_text("utf-8"), f'wildtool.put("{name}",'
    assert text.startswith(call) and text.endswith(");\n")
    return json.loads(text.removeprefix(call).removesuffix(");\n"))


def test_a_report_has_what_its_runs_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Files, pages, charts (which are not drawn), data of scripts and numbers, with gold answers that are not scored."""
    half = Scripted("half", right=lambda address: address.unit in "02")
    models = ("baseline/chat", "baseline/gold", half, replace(half, text="No."))
    runs = read_runs([play(tmp_path / f"r{n}", model, limit=2) for n, model in enumerate(models)])
    drawings: list[ChartData] = []

    def drawn(drawing: ChartData) -> Chart:
        drawings.append(drawing)
        return Chart(f"<svg>{drawing.title}</svg>", "<svg/>", b"svg", b"png", "some")

    def audited(benchmark: Any, source: Any, profile: str, **options: Any) -> Audit:
        assert (benchmark.name, source.sha256, profile, options) == (
            "wild-mini", runs[0].result.data_sha256, "official", {"split": None, "lang": None}
        )  # fmt: skip
        first = runs[1].result
        ceiling = Ceiling(style="parallel", counts=first.counts, metrics=tuple(first.metrics))
        kills = (KillRate(kind="a", killed=3, mutants=4), KillRate(kind="b", killed=2000, mutants=2000))
        return Audit(
            profile="official",
            mode="fc",
            ceilings=(ceiling,),
            wrong_gold=(),
            kills=kills,
            survivors=(),
            faults=(),
        )

    monkeypatch.setattr("wildtool.report.pages.metrics.render_chart", drawn)
    monkeypatch.setattr("wildtool.report.build.audit_profile", audited)
    site = tmp_path / "site"
    assert build(runs, site, audited=True) == site / "index.html"
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file())
    assert sorted(f"{page}.html" for page in PAGES) == [name for name in names if name.endswith(".html")]
    same_as_golden("report/files.json", names)
    for page in PAGES:
        same_as_golden(f"report/{page}.txt", page_text((site / f"{page}.html").read_text("utf-8")))
    rows = [json.dumps(asdict(drawing), ensure_ascii=False) for drawing in drawings]
    same_as_golden("report/charts.jsonl", "\n".join(rows) + "\n")
    for name in ("t", "ts-0", "tx-0", "tx-2", "tr-0-0", "tr-2-0", "pairs-side-by-side"):
        same_as_golden(f"report/{name}.json", data_of(site, name))
    units = [
        [*unit["seen"][-1:], unit["gold"], [tool[:40] for tool in unit["tools"]]]
        for item in data_of(site, "ti-0-0")
        for unit in item
    ]
    same_as_golden("report/ti-0-0.json", units)
    same_as_golden(
        "report/numbers.csv", (site / "files" / "wild-mini-profile-official.csv").read_text("utf-8")
    )
