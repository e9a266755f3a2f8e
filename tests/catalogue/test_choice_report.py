"""One run over a catalogue, whole: what is reported, printed, drawn and written as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from catalogue.choice_play import played, requests_file, tools
from catalogue.test_confusion import CATALOGUE, REQUESTS, planted
from golden_files import same_as_golden
from report.page_texts import page_text
from wildtool.catalogue import choice_output, choice_page
from wildtool.catalogue.choice_output import missing_note, print_choices, print_json, print_versions
from wildtool.catalogue.choice_page import matrix_of, write_pages
from wildtool.catalogue.confusion import (
    ChoiceReport,
    ChosenTool,
    Confusion,
    RuleEffect,
    choice_report,
    rule_effects,
)
from wildtool.catalogue.versions import compare_versions, pair_versions
from wildtool.engine.score.trust import TrustRemark
from wildtool.errors import UsageError
from wildtool.findings import Finding


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


def test_every_choice_is_reported(shown: ChoiceReport):
    counted = [
        (each.key, each.text, each.source, each.expected, each.pick, each.error, each.outcome)
        for each in shown.choices[:2]
    ]
    assert counted == [
        (("mine-1", "request"), "tides 0", "own", "tides", "weather", "drawn away", "wrong"),
        (("mine-10", "request"), "crossings 3", "own", "crossings", "ferries", "not recognised", "wrong"),
    ]
    assert (shown.requests, shown.counted, shown.trust, shown.without_verdict) == (20, "requests", "", 0)
    assert [*shown.definitions] == ["tides", "weather", "ferries", "crossings"]


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


def test_confusions_name_words_and_examples(shown: ChoiceReport):
    rows = [asdict(each) for each in shown.confusions]
    assert rows == [
        {
            "expected": "crossings",
            "pick": "ferries",
            "count": 6,
            "of": 6,
            "drawn": 0,
            "examples": ["crossings 3", "crossings 4", "crossings 5"],
            "only_expected": ["cars", "crossings"],
            "only_pick": ["foot"],
        },
        {
            "expected": "tides",
            "pick": "weather",
            "count": 5,
            "of": 6,
            "drawn": 5,
            "examples": ["tides 0", "tides 1", "tides 2"],
            "only_expected": ["high", "tide", "tides", "when"],
            "only_pick": ["about", "everything", "weather"],
        },
        {
            "expected": "(no tool)",
            "pick": "ferries",
            "count": 1,
            "of": 4,
            "drawn": 0,
            "examples": ["thanks 0"],
            "only_expected": [],
            "only_pick": ["between", "ferries", "finds", "foot", "harbours", "people"],
        },
    ]
    advice = [each.advice for each in shown.confusions]
    assert advice == [
        "Rewrite crossings: even without ferries the model does not find it. Only its text has: cars, crossings.",
        "Narrow weather: without it the model finds tides. Say when to take which.",
        "Say in ferries what it is not for.",
    ]


def test_tools_are_reported_those_to_blame_first(shown: ChoiceReport):
    rows = [
        (
            each.name,
            each.description,
            each.right and round(each.right[0], 4),
            each.requests,
            each.samples,
            each.drew,
            each.blamed,
            [f.rule for f in each.findings],
        )
        for each in shown.tools
    ]
    assert rows == [
        ("crossings", "Finds ferries between two harbours for people in cars", 0.0, 6, 6, 0, 6, ["alike"]),
        ("weather", "Tells everything about a harbour, on any day", None, 0, 0, 5, 5, []),
        ("ferries", "Finds ferries between two harbours for people on foot", 1.0, 4, 4, 7, 1, ["alike"]),
        ("tides", "Tells when high and low tide are at a harbour", 0.1667, 6, 6, 0, 0, []),
    ]
    effects = [
        (each.rule, each.tools, each.with_it is None, each.without is None, each.difference)
        for each in shown.effects
    ]
    assert effects == [("alike", 2, False, False, None)]


def test_a_report_is_printed(shown: ChoiceReport, capsys: pytest.CaptureFixture[str]):
    print_choices(shown)
    text = capsys.readouterr().out
    assert text.splitlines() == [
        "planted: 4 tools, 20 requests, 40.0 % right [21.5, 61.8].",
        "Confusions",
        "",
        "needed      called  times  right without it   to blame",
        "──────────────────────────────────────────────────────",
        "crossings  ferries    6/6               0/6  crossings",
        "tides      weather    5/6               5/5    weather",
        "(no tool)  ferries    1/4               0/1    ferries",
        "",
        (
            "crossings / ferries: Rewrite crossings: even without ferries the model does not find it. Only"
            " its text has: cars,"
        ),
        "crossings.",
        "tides / weather: Narrow weather: without it the model finds tides. Say when to take which.",
        "(no tool) / ferries: Say in ferries what it is not for.",
        "Tools, those to improve first",
        "",
        "tool         right           95 %  requests  drew others'  blamed  findings",
        "───────────────────────────────────────────────────────────────────────────",
        "crossings    0.0 %    [0.0, 39.0]         6             0       6  alike",
        "weather          –                        0             5       5",
        "ferries    100.0 %  [51.0, 100.0]         4             7       1  alike",
        "tides       16.7 %    [2.6, 59.7]         6             0       0",
        "",
        "Findings",
        "",
        "rule   tools  right with it  without     difference  95 %",
        "─────────────────────────────────────────────────────────",
        "alike      2         40.0 %   16.7 %  too few tools",
        "",
        "A finding's effect compares tools that have it with others, which may differ in more; --ab compares texts.",
        (
            "To blame: after a wrong call the same request is put once more without that tool. If the right"
            " tool is called then, the"
        ),
        "text of the wrong one draws; if not, the text of the right one is not recognised.",
    ]


def test_rows_beyond_the_most_are_left_to_the_page(
    shown: ChoiceReport, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(choice_output, "MOST_ROWS", 1)
    failed = [replace(each, outcome="infra_error") for each in shown.choices[:2]]
    print_choices(replace(shown, choices=[*failed, *shown.choices[2:]]))
    text = capsys.readouterr().out
    assert text.splitlines() == [
        "planted: 4 tools, 20 requests, 40.0 % right [21.5, 61.8].",
        "Confusions",
        "",
        "needed      called  times  right without it   to blame",
        "──────────────────────────────────────────────────────",
        "crossings  ferries    6/6               0/6  crossings",
        "",
        (
            "crossings / ferries: Rewrite crossings: even without ferries the model does not find it. Only"
            " its text has: cars,"
        ),
        "crossings.",
        "tides / weather: Narrow weather: without it the model finds tides. Say when to take which.",
        "(no tool) / ferries: Say in ferries what it is not for.",
        "Tools, those to improve first",
        "",
        "tool       right         95 %  requests  drew others'  blamed  findings",
        "───────────────────────────────────────────────────────────────────────",
        "crossings  0.0 %  [0.0, 39.0]         6             0       6  alike",
        "",
        "Findings",
        "",
        "rule   tools  right with it  without     difference  95 %",
        "─────────────────────────────────────────────────────────",
        "alike      2         40.0 %   16.7 %  too few tools",
        "",
        "A finding's effect compares tools that have it with others, which may differ in more; --ab compares texts.",
        (
            "To blame: after a wrong call the same request is put once more without that tool. If the right"
            " tool is called then, the"
        ),
        "text of the wrong one draws; if not, the text of the right one is not recognised.",
        "2 requests have no verdict, since calls failed, and count as not right.",
    ]
    pairs = [replace(shown.confusions[1], pick=f"weather {n}") for n in range(4)]
    print_choices(replace(shown, confusions=pairs))
    assert [
        line.split(":")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("tides / ")
    ] == [f"tides / weather {n}" for n in range(3)]
    print_choices(replace(shown, confusions=[], effects=[], tools=[]))
    text = capsys.readouterr().out
    assert text.splitlines() == [
        "planted: 4 tools, 20 requests, 40.0 % right [21.5, 61.8].",
        "Tools, those to improve first",
        "",
        "tool  right  95 %  requests  drew others'  blamed  findings",
        "───────────────────────────────────────────────────────────",
        "",
    ]


def test_the_effect_of_a_finding_is_printed_in_points(
    shown: ChoiceReport, capsys: pytest.CaptureFixture[str]
):
    effect = RuleEffect("short", 3, (0.25, 0.125, 0.5), None, (0.125, -0.25, 0.5))
    print_choices(replace(shown, confusions=[], tools=[], effects=[effect]))
    lines = capsys.readouterr().out.splitlines()
    row = lines[lines.index("Findings") + 4]
    assert row.split() == ["short", "3", "25.0", "%", "–", "+12.5", "[-25.0,", "+50.0]"]


def test_the_matrix_is_whole(shown: ChoiceReport):
    matrix = matrix_of(shown)
    assert (matrix.names, matrix.left_out) == (["crossings", "ferries", "tides", "weather", "(no tool)"], 0)
    cells = [(each.row, each.column, each.shade, each.title, each.right, each.half) for each in matrix.cells]
    assert cells == [
        (4, 4, 0.775, "(no tool) needed, (no tool) called: 3 of 4", True, False),
        (4, 1, 0.325, "(no tool) needed, ferries called: 1 of 4", False, False),
        (0, 1, 1.0, "crossings needed, ferries called: 6 of 6", False, False),
        (1, 1, 1.0, "ferries needed, ferries called: 4 of 4", True, False),
        (2, 2, 0.25, "tides needed, tides called: 1 of 6", True, False),
        (2, 3, 0.85, "tides needed, weather called: 5 of 6", False, False),
    ]


def test_everything_is_json(shown: ChoiceReport, folder: Path, capsys: pytest.CaptureFixture[str]):
    print_json([shown], [])
    content = json.loads(capsys.readouterr().out)
    assert content["versions"] == []
    (run,) = content["runs"]
    assert [*run] == [
        "model",
        "run",
        "right",
        "requests",
        "samples",
        "without_verdict",
        "trust",
        "tools",
        "confusions",
        "findings",
    ]
    assert (
        run["model"],
        run["run"],
        run["requests"],
        run["samples"],
        run["without_verdict"],
        run["trust"],
    ) == ("planted", str(folder), 20, 20, 0, [])
    assert run["right"] == [*shown.right]
    assert run["tools"] == json.loads(json.dumps([asdict(each) for each in shown.tools]))
    assert [(each["blamed"], each["advice"]) for each in run["confusions"]] == [
        (each.blamed, each.advice) for each in shown.confusions
    ]
    assert run["findings"] == json.loads(json.dumps([asdict(each) for each in shown.effects]))


def confusion(expected: str = "a", pick: str = "b", count: int = 4, drawn: int = 0, **more: Any) -> Confusion:
    words: dict[str, Any] = {"examples": [], "only_expected": [], "only_pick": [], **more}
    return Confusion(expected=expected, pick=pick, count=count, of=9, drawn=drawn, **words)


@pytest.mark.parametrize(
    ("made", "blamed", "advice"),
    [
        (confusion(drawn=3), "b", "Narrow b: without it the model finds a. Say when to take which."),
        (
            confusion(count=5, drawn=2),
            "a",
            "Rewrite a: even without b the model does not find it. Only its text has: no word that the other lacks.",
        ),
        (
            confusion(drawn=1, only_expected=["w"]),
            "a",
            "Rewrite a: even without b the model does not find it. Only its text has: w.",
        ),
        (
            confusion(drawn=2, only_expected=[*"uvwxyz"]),
            "",
            "Say in both when to take which. Only a has: u, v, w, x, y.",
        ),
        (confusion(drawn=2), "", "Say in both when to take which. Only a has: no word that the other lacks."),
        (
            confusion(pick="(no tool)"),
            "a",
            "Say in a for which requests it is the one to take, in the users' words.",
        ),
        (confusion("(no tool)"), "b", "Say in b what it is not for."),
        (
            confusion(pick="(not in the catalogue)", drawn=4),
            "",
            "The model makes up names: look at its replies and its tool format before any description.",
        ),
    ],
)
def test_advice_is_by_what_is_to_blame(made: Confusion, blamed: str, advice: str):
    assert (made.blamed, made.advice) == (blamed, advice)


def chosen(expected: str, outcome: str = "correct", item: str = "") -> ChosenTool:
    return ChosenTool((item or expected, "u"), "", "own", expected, expected, None, outcome)


def test_effects_of_findings_compare_tools_with_and_without_them():
    names = ["a1", "a2", "a3", "b1", "b2", "b3"]
    definitions = {name: {} for name in [*names, "unasked"]}
    choices = [
        *(
            chosen(name, outcome)
            for name in names
            for outcome in ("correct", "wrong" if name < "b" else "correct")
        )
    ]
    choices += [chosen("elsewhere")]
    findings = [Finding(name, "short", "") for name in ("a1", "a2", "a3", "unasked")]
    (effect,) = rule_effects(choices, definitions, findings)  # pyright: ignore
    assert (effect.rule, effect.tools) == ("short", 4)
    assert (effect.with_it and effect.with_it[0], effect.without and effect.without[0]) == (0.5, 1.0)
    assert effect.difference is not None
    numbers = [
        round(number, 4) for number in (*(effect.with_it or ()), *(effect.without or ()), *effect.difference)
    ]
    assert numbers == [0.5, 0.1876, 0.8124, 1.0, 0.4385, 1.0, -0.5, -0.8124, 0.1425]
    few = rule_effects([each for each in choices if each.expected != "b3"], definitions, findings)  # pyright: ignore
    assert few[0].difference is None
    none = rule_effects(choices[:6], definitions, findings)  # pyright: ignore
    assert (none[0].without, none[0].difference) == (None, None)


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


def distrusted(report: ChoiceReport) -> ChoiceReport:
    """The report of a run with a remark on its trust."""
    remark = TrustRemark("text-calls", 1, 20, "1 of 20 replies wrote a call as text", "--tool-format auto")
    return replace(report, run=replace(report.run, result=replace(report.run.result, trust=(remark,))))


def test_remarks_on_trust_and_small_p_are_printed_beside_versions(
    shown: ChoiceReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(choice_output, "MOST_ROWS", 1)
    plain = compare_versions(shown, shown)
    part = plain.parts[0]
    flips = [(each, each) for each in shown.choices[:2]]
    caveat = "old was played once, new 2 times"
    compared = replace(
        plain,
        old=distrusted(shown),
        new=distrusted(shown),
        parts=[replace(part, p=0.00099), replace(part, p=0.001, missing=1)],
        flips=flips,
        caveats=[caveat],
    )
    print_choices(compared.old)
    assert capsys.readouterr().out.splitlines()[1] == f"run: {compared.old.result.trust[0]}"
    print_versions(compared)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-3] for line in lines if line.startswith("all requests")] == ["<0.001", "0.001"]
    trust = f"run: {compared.old.result.trust[0]}"
    assert lines[-4:] == [
        f"old: {trust}",
        f"new: {trust}",
        f"{caveat}.",
        "gained: 'tides 0' called weather, now weather",
    ]
    page = write_pages(tmp_path, [("one", distrusted(shown))], [compared]).read_text("utf-8")
    text = page_text(page)
    assert text.count(trust) == 2
    assert f"{caveat}." in text


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


def test_missing_verdicts_are_counted():
    assert missing_note(1) == (
        "1 request lacks a verdict in a version, since calls failed: shares count that as not right, intervals and p hold"
        " whatever the verdict would be."
    )
    assert missing_note(2).startswith("2 requests lack a verdict")
