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
from wildtool.report.model import read_runs, slug
from wildtool.report.pages.dataset import dataset_charts
from wildtool.report.pages.trajectory_data import called_names, message_view, part_text
from wildtool.types import Metric

PAGES = (
    "index",
    "trajectories",
    "types-and-positions",
    "hidden-intent",
    "instruction-transitions",
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


# Parts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "view"),
    [
        ({}, ["", "", [], []]),
        (
            {"role": "user", "content": "x", "name": "n", "type": "t", "tool_call_id": "c"},
            ["user", "x", [], []],
        ),
        ({"role": 7, "content": [1]}, ["", "[1]", [], []]),
        (
            {
                "role": "assistant",
                "refusal": "no",
                "reasoning": "",
                "reasoning_content": "hm",
                "z": None,
                "a": 1,
            },
            ["assistant", "", [], [["reasoning_content", "hm"], ["refusal", "no"], ["a", "1"]]],
        ),
        (
            {
                "tool_calls": [
                    {"id": "c", "function": {"name": "f", "arguments": {"a": 1}}},
                    "x",
                    {"function": {"name": 7}},
                ]
            },
            ["", "", [["f", '{"a":1}', "c"], ["", "x", ""], ["7", "", ""]], []],
        ),
        ({"tool_calls": {"function": {"arguments": "{}"}, "id": 3}}, ["", "", [["", "{}", "3"]], []]),
    ],
)
def test_a_message_is_shown_in_parts(message: dict[str, Any], view: list[Any]):
    assert message_view(message) == view


def test_names_of_calls_are_those_that_are_texts():
    calls = [{"function": {"name": "f" * 201}}, {"function": {"name": 7}}, 7, {"function": 1}]
    assert list(called_names({"tool_calls": calls})) == ["f" * 200]
    assert list(called_names({"tool_calls": calls[0]})) == []
    assert [part_text(value) for value in (None, "x", 1, {"a": "ä"}, {1: {2}})] == [
        "",
        "x",
        "1",
        '{"a":"ä"}',
        "{1: {2}}",
    ]


@pytest.mark.parametrize(
    ("text", "part"), [("Wild Mini, profile é", "wild-mini-profile"), ("--", "x"), ("a" * 61, "a" * 60)]
)
def test_a_title_becomes_a_part_of_a_file_name(text: str, part: str):
    assert slug(text) == part


def test_what_cannot_be_compared_is_not_drawn():
    def numbers(count: int, **fields: Any) -> list[Metric]:
        return [Metric("g", f"n{k}", 0.5, 1234.5, 2000, **fields) for k in range(count)]

    drawings = [
        drawing
        for metrics in (
            numbers(2),
            numbers(1),
            numbers(41),
            numbers(40, kind="mean", unit="s"),
            numbers(2, kind="mean"),
            numbers(2, kind="count"),
            [replace(metric, denominator=0) for metric in numbers(2, kind="count")],
            [*numbers(2), replace(numbers(3)[2], value=None)],
        )
        for drawing in dataset_charts("group", metrics)
    ]
    rows = [
        (d.title, d.about[:70], len(d.points), d.names[:2], d.percent, d.values, d.points[0].short)
        for d in drawings
    ]
    assert rows == [
        ("group", "Bars. n0: 50.0 %; n1: 50.0 %.", 2, ("n0", "n1"), True, "share", "50.0 %"),
        (
            "group (s)",
            "Bars. n0: 0.5 s; n1: 0.5 s; n2: 0.5 s; n3: 0.5 s; n4: 0.5 s; n5: 0.5 s",
            40,
            ("n0", "n1"),
            False,
            "s",
            "0.5 s",
        ),
        (
            "group",
            "Bars. n0: 1,234.5 of 2,000; n1: 1,234.5 of 2,000.",
            2,
            ("n0", "n1"),
            False,
            "number, of 2,000",
            "1,234.5",
        ),
        ("group", "Bars. n0: 1,234.5; n1: 1,234.5.", 2, ("n0", "n1"), False, "number", "1,234.5"),
    ]
