"""One run over a catalogue, whole: what is reported, printed, drawn and written as JSON."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from report.page_texts import page_text
from tools.choice_play import played, requests_file, tools
from tools.test_confusion import CATALOGUE, REQUESTS, planted
from wildtool.errors import UsageError
from wildtool.tools.commands import choice_page
from wildtool.tools.commands.choice_output import print_json, print_versions
from wildtool.tools.commands.choice_page import matrix_of, write_pages
from wildtool.tools.confusion import (
    ChoiceReport,
    choice_report,
)
from wildtool.tools.versions import compare_versions, pair_versions


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("catalogue")
    return played(made, CATALOGUE, requests_file(made, REQUESTS), planted)


@pytest.fixture
def shown(folder: Path) -> ChoiceReport:
    return choice_report(folder)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_numbers_are_of_all_requests_and_of_those_that_need_a_tool(shown: ChoiceReport, tmp_path: Path):
    def numbers(report: ChoiceReport) -> list[Any]:
        return [
            (each.group, each.name, each.numerator, each.denominator, each.headline)
            for each in report.result.metrics
            if each.group in ("choice", "requests")
        ]

    assert numbers(shown) == [
        ("choice", "right", 8, 20, True),
        ("choice", "right where a tool fits", 5, 16, False),
        ("choice", "right where none fits", 3, 4, False),
        ("requests", "own", 8, 20, False),
    ]
    thanks = [row for row in REQUESTS if row["tool"] is None]
    few = choice_report(played(tmp_path, CATALOGUE, requests_file(tmp_path, thanks), planted, "few"))
    assert numbers(few) == [
        ("choice", "right", 3, 4, True),
        ("choice", "right where none fits", 3, 4, False),
        ("requests", "own", 3, 4, False),
    ]
    tides = choice_report(
        played(tmp_path, CATALOGUE, requests_file(tmp_path, REQUESTS[:2]), planted, "tides")
    )
    assert [name for _, name, *_ in numbers(tides)] == ["right", "right where a tool fits", "own"]


def test_two_versions_are_printed(shown: ChoiceReport, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    changed = [*CATALOGUE[:3], *tools(crossings="Finds crossings for cars, vans and lorries")]

    def mended(said: str, offered: Sequence[str]) -> Sequence[str] | str:
        if said == "ferries 0":
            return ["tides"]
        return ["crossings"] if said.startswith("crossings") else planted(said, offered)

    new = choice_report(played(tmp_path, changed, requests_file(tmp_path, REQUESTS), mended, "new"))
    compared = compare_versions(shown, new)
    print_versions(compared)
    text = capsys.readouterr().out
    assert text.splitlines() == [
        "planted: 1 tool differs between the two versions.",
        "New against old",
        "",
        "                      requests     old      new  difference             95 %      p  gained  lost",
        "─────────────────────────────────────────────────────────────────────────────────────────────────",
        "all requests                20  40.0 %   65.0 %       +25.0    [-2.3, +52.3]  0.125       6     1",
        "for changed tools            6   0.0 %  100.0 %      +100.0  [+35.7, +100.0]  0.031       6     0",
        "for the others              14  57.1 %   50.0 %        -7.1   [-31.0, +16.8]  1.000       0     1",
        "finding fixed: alike        10  40.0 %   90.0 %       +50.0   [-1.8, +100.0]  0.125       6     1",
        "",
        "The same requests to both versions; intervals are clustered by item, p is of the exact paired test.",
        "lost: 'ferries 0' called ferries, now tides",
        "gained: 'crossings 3' called ferries, now crossings",
        "gained: 'crossings 4' called ferries, now crossings",
        "gained: 'crossings 5' called ferries, now crossings",
        "gained: 'crossings 0' called ferries, now crossings",
        "gained: 'crossings 1' called ferries, now crossings",
        "gained: 'crossings 2' called ferries, now crossings",
    ]
    pages = tmp_path / "pages"
    page = write_pages(pages, [("one", shown), ("two", new)], [compared, compare_versions(new, shown)])
    assert page == pages / "index.html"
    assert sorted(path.stem for path in pages.glob("*.html")) == ["index", "run-1", "run-2", "versions-2"]
    for path in pages.glob("*.html"):
        same_as_golden(f"catalogue/{path.stem}.txt", page_text(path.read_text("utf-8")))
    print_json([], [compared])
    content = json.loads(capsys.readouterr().out)
    (version,) = content["versions"]
    assert (version["model"], version["changed"], version["caveats"]) == ("planted", ["crossings"], [])
    assert [
        (part["name"], part["requests"], part["gained"], part["lost"], part["missing"])
        for part in version["parts"]
    ] == [
        ("all requests", 20, 6, 1, 0),
        ("for changed tools", 6, 6, 0, 0),
        ("for the others", 14, 0, 1, 0),
        ("finding fixed: alike", 10, 6, 1, 0),
    ]


def test_only_the_most_confused_tools_are_drawn(
    shown: ChoiceReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(choice_page, "MOST_DRAWN", 1)
    monkeypatch.setattr(choice_page, "MOST_PAIRS", 2)
    unknown = replace(shown.confusions[1], pick="(not in the catalogue)")
    few = replace(shown, confusions=[*shown.confusions, unknown])
    matrix = matrix_of(few)
    assert (matrix.names, matrix.left_out) == (["tides", "(no tool)", "(not in the catalogue)"], 3)
    page = write_pages(tmp_path, [("few", few)], [])
    assert page == tmp_path / "index.html"
    same_as_golden("catalogue/few.txt", page_text(page.read_text("utf-8")))


def test_versions_of_two_models_are_not_compared(shown: ChoiceReport):
    other = replace(shown, run=replace(shown.run, result=replace(shown.result, model="other")))
    with pytest.raises(UsageError) as refused:
        compare_versions(shown, other)
    assert str(refused.value) == "the versions were put to planted and other; take one model"
    with pytest.raises(UsageError) as refused:
        pair_versions([shown], [other])
    assert str(refused.value) == "no model was asked with both versions; put the same requests to one model"
    assert pair_versions([shown, other], [other]) == [(other, other)]
