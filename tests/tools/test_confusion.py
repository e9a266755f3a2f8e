"""What runs over a catalogue show: models that are planted to be drawn, or not to recognise, are found out."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tools.choice_play import Choose, played, requests_file, tools
from wildtool.tools.commands.choice_output import print_choices, print_versions
from wildtool.tools.commands.choice_page import matrix_of, write_pages
from wildtool.tools.confusion import FEWEST_ON_A_SIDE, ChoiceReport, choice_report
from wildtool.tools.versions import compare_versions

CATALOGUE = tools(
    tides="Tells when high and low tide are at a harbour",
    weather="Tells everything about a harbour, on any day",
    ferries="Finds ferries between two harbours for people on foot",
    crossings="Finds ferries between two harbours for people in cars",
)
REQUESTS = [
    *({"request": f"tides {place}", "tool": "tides"} for place in range(6)),
    *({"request": f"crossings {place}", "tool": "crossings"} for place in range(6)),
    *({"request": f"ferries {place}", "tool": "ferries"} for place in range(4)),
    *({"request": f"thanks {place}", "tool": None} for place in range(4)),
]


def planted(said: str, offered: Sequence[str]) -> Sequence[str] | str:
    """Weather draws what is for tides; crossings are not recognised; ferries are called where nothing is needed."""
    word, _, place = said.partition(" ")
    if word == "tides":
        return ["weather"] if "weather" in offered and int(place) < 5 else ["tides"]
    if word == "crossings":
        return [next(name for name in ("ferries", "weather") if name in offered)]
    return ["ferries"] if word == "ferries" or place == "0" else "Fine."


def report_of(folder: Path, rows: Sequence[Any], choose: Choose, name: str = "run") -> ChoiceReport:
    return choice_report(played(folder, CATALOGUE, requests_file(folder, rows), choose, name))


def report(folder: Path, choose: Choose, name: str = "run") -> ChoiceReport:
    return report_of(folder, REQUESTS, choose, name)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> ChoiceReport:
    return report(tmp_path_factory.mktemp("planted"), planted, "old")


def test_names_that_no_tool_has_are_blamed_on_no_description(tmp_path: Path):
    shown = report(
        tmp_path, lambda said, offered: ["Tides"] if said.startswith("tides") else planted(said, offered)
    )
    (invented,) = [each for each in shown.confusions if each.pick == "(not in the catalogue)"]
    assert (invented.expected, invented.count, invented.blamed) == ("tides", 6, "")
    assert invented.advice.startswith("The model makes up names")
    assert {each.name: each.blamed for each in shown.tools}["tides"] == 0


def test_the_matrix_tells_a_right_call_from_a_wrong_one_in_the_same_square(tmp_path: Path):
    rows = [
        {"request": "either", "tool": ["crossings", "ferries"]},
        {"request": "by car", "tool": "crossings"},
    ]

    def choose(said: str, offered: Sequence[str]) -> Sequence[str] | str:
        return [next(name for name in ("ferries", "weather") if name in offered)]

    path = requests_file(tmp_path, rows)
    shown = choice_report(played(tmp_path, CATALOGUE, path, choose, repeats=2))
    assert [(each.expected, each.pick, each.count, each.of) for each in shown.confusions] == [
        ("crossings", "ferries", 2, 4)
    ]
    matrix = matrix_of(shown)
    assert {(each.title, each.right, each.half) for each in matrix.cells} == {
        ("crossings needed, ferries called: 2 of 4", False, True),
        ("crossings needed, ferries called: 2 of 4, right", True, True),
    }


def test_repeats_are_samples_of_a_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = requests_file(tmp_path, REQUESTS)
    shown = choice_report(played(tmp_path, CATALOGUE, path, planted, repeats=3))
    assert (shown.requests, len(shown.choices)) == (20, 60)
    assert {each.name: (each.requests, each.samples) for each in shown.tools}["tides"] == (6, 18)
    print_choices(shown)
    assert "planted: 4 tools, 20 requests with 60 samples, 40.0 % right" in capsys.readouterr().out
    assert "20 requests (60 samples)" in write_pages(tmp_path / "pages", [("run", shown)], []).read_text()


def test_a_finding_is_given_an_effect_only_with_enough_tools(tmp_path: Path):
    good = {f"good_{n}": f"Tells all that is known about subject number {n}" for n in range(FEWEST_ON_A_SIDE)}
    bare = {f"bare_{n}": "" for n in range(FEWEST_ON_A_SIDE)}
    rows = [{"request": name, "tool": name} for name in (*good, *bare) for _ in range(4)]

    def choose(said: str, offered: Sequence[str]) -> Sequence[str] | str:
        return [said] if said.startswith("good") else "Which tool?"

    def effect(folder: Path, **descriptions: str) -> object:
        folder.mkdir()
        its = [row for row in rows if row["tool"] in descriptions]
        run = played(folder, tools(**descriptions), requests_file(folder, its), choose)
        return next(each for each in choice_report(run).effects if each.rule == "no description").difference

    value, low, high = effect(tmp_path / "six", **good, **bare)  # type: ignore[misc]
    assert (value, high) < (-0.99, 0) and low >= -1.5
    assert effect(tmp_path / "five", **dict([*good.items()][1:]), **bare) is None


def test_where_all_requests_are_for_changed_tools_or_none_is_there_is_no_part_of_them(shown: ChoiceReport):
    def names(*changed: str) -> list[str]:
        definitions = {**shown.definitions, **{name: {} for name in changed}}
        return [each.name for each in compare_versions(shown, replace(shown, definitions=definitions)).parts]

    assert (
        names() == names("weather") == names("tides", "crossings", "ferries", "(no tool)") == ["all requests"]
    )
    assert names("tides") == ["all requests", "for changed tools", "for the others"]


def test_failed_calls_are_not_lost_requests_and_a_renamed_tool_fixes_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    rows = [{"request": f"ferry {n}", "tool": ["ferry", "crossing"]} for n in range(3)]
    path = requests_file(tmp_path, [*rows, *REQUESTS[:3]])
    text = "Tells when high and low tide are at a harbour"

    def right(said: str, offered: Sequence[str]) -> Sequence[str] | str:
        return [offered[1]] if said.startswith("tides") else ["tides"]

    old, new = (
        choice_report(played(tmp_path, tools(**{name: ""}, tides=text), path, right, name))
        for name in ("ferry", "crossing")
    )
    failed = [
        replace(each, outcome="infra_error", pick="(no tool)") if each.outcome == "correct" else each
        for each in new.choices
    ]
    compared = compare_versions(old, replace(new, choices=failed))
    assert [each.name for each in compared.parts] == ["all requests", "for changed tools", "for the others"]
    assert (compared.parts[0].lost, compared.parts[0].missing, compared.flips) == (0, 3, [])
    print_versions(compared)
    told = " ".join(capsys.readouterr().out.split())
    assert "3 requests lack a verdict in a version" in told and "lost: " not in told
    page = write_pages(tmp_path / "pages", [("old", old), ("new", new)], [compared])
    assert "3 requests lack a verdict in a version" in page.read_text()


def test_versions_that_were_asked_otherwise_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = requests_file(tmp_path, REQUESTS)
    old = choice_report(played(tmp_path, CATALOGUE, path, planted, "old", temperature=0, base_url="http://a"))
    new = choice_report(
        played(tmp_path, CATALOGUE, path, planted, "new", repeats=2, temperature=1, base_url="http://b")
    )
    compared = compare_versions(old, new)
    told = [
        "old and new were asked with different settings: temperature 0 and 1",
        "old was played once, new 2 times",
    ]
    assert compared.caveats == told
    print_versions(compared)
    printed = " ".join(capsys.readouterr().out.split())
    page = write_pages(tmp_path / "pages", [("old", old), ("new", new)], [compared]).read_text()
    assert all(each in printed and each in page for each in told)
    assert compare_versions(old, old).caveats == []


def test_hostile_names_and_texts_stay_texts_on_the_page(tmp_path: Path):
    bad = "<img src=x onerror=alert(1)>"
    catalogue = tools(tides=bad, ferries="Finds ferries between two harbours")
    path = requests_file(tmp_path, [{"request": bad, "tool": "tides"}] * 2)

    def choose(said: str, offered: Sequence[str]) -> Sequence[str] | str:
        return ["ferries"] if "ferries" in offered else [bad]

    shown = choice_report(played(tmp_path, catalogue, path, choose))
    text = write_pages(tmp_path / "pages", [(bad, shown)], []).read_text()
    assert "<img" not in text
    assert "&lt;img src=x" in text
