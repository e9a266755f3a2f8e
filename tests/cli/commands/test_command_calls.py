"""What `show`, `score`, `report`, `compare` and `gate` ask of their parts; all parts only note calls."""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import pytest
from typer.testing import CliRunner

from cli.output.test_tables import result
from wildtool.cli import app
from wildtool.cli.commands.compare import _default_group
from wildtool.errors import UsageError
from wildtool.types import Metric

TASK = Metric("accuracy", "task", 0.5, 1, 2, headline=True)
COST = Metric("cost", "time", 0.5, 1, 2)


class Parts:
    """Functions replaced by ones that note their names and arguments."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[Any] = []
        self._monkeypatch = monkeypatch

    def note(self, place: str, answer: Any = None) -> None:
        name = place.rpartition(".")[2]

        def noted(*args: Any, **named: Any) -> Any:
            self.calls.append((name, *args, *([named] if named else [])))
            if isinstance(answer, BaseException):
                raise answer
            return answer

        self._monkeypatch.setattr(f"wildtool.{place}", noted)

    def type_(self, line: str) -> tuple[int, str, str]:
        self.calls.clear()
        ended = CliRunner().invoke(app, shlex.split(line), prog_name="wildtool")
        return ended.exit_code, ended.stdout, ended.stderr


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Parts:
    monkeypatch.chdir(tmp_path)
    return Parts(monkeypatch)


# show --------------------------------------------------------------------------------------------------

RESULTS = [result("m", TASK, COST), result("n", TASK)]
MORE = "More tables: --all, or --group with one of: accuracy, cost\n"


@pytest.fixture
def showing(parts: Parts) -> Parts:
    parts.note("cli.output.results.find_results", (RESULTS, 1))
    for name in (
        "print_results_json",
        "print_results_csv",
        "print_overview",
        "print_groups",
        "print_caveats",
    ):
        parts.note(f"cli.output.tables.{name}")
    return parts


ALONE = [replace(RESULTS[0], metrics=(COST,)), replace(RESULTS[1], metrics=())]


@pytest.mark.parametrize(
    ("options", "printers", "shown", "err"),
    [
        ("", ["print_overview"], RESULTS, MORE),
        ("--all", ["print_overview", "print_groups"], RESULTS, ""),
        ("--group Cost", ["print_groups", "print_caveats"], ALONE, ""),
        ("--group cost --json", ["print_results_json"], ALONE, ""),
        ("--json", ["print_results_json"], RESULTS, ""),
        ("--csv", ["print_results_csv"], RESULTS, ""),
    ],
)
def test_results_are_printed_as_asked(
    options: str, printers: list[str], shown: list[Any], err: str, showing: Parts
) -> None:
    assert showing.type_(f"show a b --profile p {options}") == (1, "", err)
    assert showing.calls == [
        ("find_results", [Path("a"), Path("b")], "p"),
        *((printer, shown) for printer in printers),
    ]


def test_nothing_is_printed_of_no_results(showing: Parts) -> None:
    showing.note("cli.output.results.find_results", ([], 2))
    assert showing.type_("show a") == (2, "", "")
    assert showing.calls == [("find_results", [Path("a")], None)]


def test_other_things_to_show_are_left_to_others(showing: Parts) -> None:
    showing.note("cli.output.published.show_published", 3)
    showing.note("cli.output.why.show_why", 1)
    assert showing.type_("show --published toleap")[0] == 3
    assert [(name, given.runs) for name, given in showing.calls] == [("show_published", [Path("toleap")])]
    assert showing.type_("show a --why task")[0] == 1
    assert [(name, given.runs, text) for name, given, text in showing.calls] == [
        ("show_why", [Path("a")], "task")
    ]
    refusal = "wildtool: --why explains a number of runs, such as `wildtool show runs --why task`\n"
    for line in ("show --why task", "show a --why task --published"):
        assert showing.type_(line) == (2, "", refusal)
    missing = "wildtool: nothing to show: give run folders, such as `wildtool show runs`\n"
    assert showing.type_("show") == (2, "", missing)


# score -------------------------------------------------------------------------------------------------


@pytest.fixture
def scoring(parts: Parts) -> Parts:
    parts.note("cli.output.results.find_results", (RESULTS, 0))
    parts.note("cli.output.tables.print_overview")
    return parts


def test_runs_are_scored_again_with_what_was_asked_for(scoring: Parts) -> None:
    scoring.note("tool_formats.detect.resolve_format")
    assert scoring.type_("score a b --profile p --data d --tool-format hermes")[0] == 0
    again = {"data": "d", "again": True, "tool_format": "hermes"}
    assert scoring.calls == [
        ("resolve_format", "hermes", ""),
        ("find_results", [Path("a"), Path("b")], "p", again),
        ("print_overview", RESULTS),
    ]
    for line, form in (("score a", None), ("score a --tool-format auto", "auto")):
        assert scoring.type_(line)[0] == 0
        again = {"data": None, "again": True, "tool_format": form}
        assert scoring.calls == [("find_results", [Path("a")], None, again), ("print_overview", RESULTS)]


def test_the_status_is_the_worst_of_reading_and_judging(scoring: Parts) -> None:
    faulty = [*RESULTS, replace(RESULTS[0], faults=("odd",))]
    for results, status, expected in ((RESULTS, 2, 2), (faulty, 0, 1), (faulty, 2, 1)):
        scoring.note("cli.output.results.find_results", (results, status))
        assert scoring.type_("score a")[0] == expected


@pytest.mark.parametrize(
    "option", ["--benchmark b", "--out o", "--mode m", "--lang l", "--split s", "--force"]
)
def test_what_a_run_has_itself_needs_replies(option: str, scoring: Parts) -> None:
    needs = "--benchmark, --out, --mode, --lang, --split and --force need --replies; a run has its own"
    assert scoring.type_(f"score a {option}") == (2, "", f"wildtool: {needs}\n")
    assert scoring.calls == []


def test_replies_are_kept_as_runs_where_asked_and_scored(
    scoring: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark, items = SimpleNamespace(name="b"), object()
    data = SimpleNamespace(locate=lambda *args: ("located", *args))
    selections: list[dict[str, Any]] = []

    def select(**named: Any) -> Any:
        selections.append(named)
        return SimpleNamespace(read=lambda: items)

    scoring.note("engine.registry.detect_benchmark", "detected")
    scoring.note("engine.registry.in_mode", benchmark)
    scoring.note("data.data_set.data_of", data)
    scoring.note("engine.replies.import_replies", [Path("kept")])
    monkeypatch.setattr("wildtool.engine.plan.Selection", select)
    monkeypatch.setattr("sys.argv", ["wildtool", "typed"])
    line = "score --replies r --benchmark b --data d --profile p --mode m --split s --lang l --force -o runs"
    assert scoring.type_(line)[0] == 0
    source = ("located", "d", "s")
    named = scoring.calls[3][-1]
    report: Callable[[str], None] = named.pop("report")
    assert scoring.calls == [
        ("detect_benchmark", "b", "d"),
        ("in_mode", "detected", "m"),
        ("data_of", benchmark),
        (
            *("import_replies", benchmark, source, Path("r"), Path("runs")),
            {"split": "s", "lang": "l", "items": items, "command": ["wildtool", "typed"], "force": True},
        ),
        ("find_results", [Path("kept")], "p", {"data": items, "again": True, "tool_format": None}),
        ("print_overview", RESULTS),
    ]
    assert selections == [{"benchmark": benchmark, "source": source, "split": "s", "lang": "l"}]
    assert report.__name__ == "print_err"
    assert scoring.type_("score --replies r --data d")[0] == 0
    place = scoring.calls[3][4]
    assert not place.exists() and not scoring.calls[3][-1]["force"]


# report ------------------------------------------------------------------------------------------------


@pytest.fixture
def reporting(parts: Parts) -> Parts:
    read = [SimpleNamespace(folder=Path(name), result=result(name)) for name in ("x", "y")]
    parts.note("engine.score.results.run_folders", [Path("x"), Path("y")])
    parts.note("report.check_libraries")
    parts.note("report.model.read_runs", read)
    parts.note("cli.output.results.print_run_notes")
    parts.note("report.build.build", Path("written"))
    parts.note("report.texts.markdown", "markdown")
    parts.note("report.texts.latex", "latex")
    parts.note("outputs.check_file")
    parts.note("outputs.check_folder")
    return parts


def noted(calls: list[Any], *names: str) -> list[Any]:
    return [call for call in calls if call[0] in names]


@pytest.mark.parametrize(
    ("options", "place", "is_folder", "single", "audited", "force"),
    [
        ("", "report", True, False, False, False),
        ("-o o --audit --force", "o", True, False, True, True),
        ("--single-file", "report.html", False, True, False, False),
        ("--single-file -o o --force", "o", False, True, False, True),
    ],
)
def test_pages_are_built_where_asked(
    options: str, place: str, is_folder: bool, single: bool, audited: bool, force: bool, reporting: Parts
) -> None:
    assert reporting.type_(f"report a --profile p {options}") == (0, "Report: written\n", "")
    read, *notes = noted(reporting.calls, "read_runs", "print_run_notes")
    assert read == ("read_runs", [Path("x"), Path("y")], "p")
    assert [(name, folder, about.model) for name, folder, about in notes] == [
        ("print_run_notes", Path("x"), "x"),
        ("print_run_notes", Path("y"), "y"),
    ]
    (check,) = noted(reporting.calls, "check_file", "check_folder")
    assert (check[0], check[1], check[-1]) == (
        "check_folder" if is_folder else "check_file",
        Path(place),
        {"force": force},
    )
    ((_, runs, target, settings),) = noted(reporting.calls, "build")
    assert ([run.folder.name for run in runs], target) == (["x", "y"], Path(place))
    assert settings == {"single": single, "audited": audited}
    assert reporting.calls[0] == ("check_libraries",)


@pytest.mark.parametrize(("form", "text"), [("md", "markdown"), ("latex", "latex")])
def test_tables_are_printed_or_written(form: str, text: str, reporting: Parts) -> None:
    assert reporting.type_(f"report a --format {form}") == (0, f"{text}\n", "")
    assert noted(reporting.calls, "check_libraries", "check_file", "check_folder", "build") == []
    assert reporting.type_(f"report a --format {form} -o o.txt --force") == (0, "", "Written: o.txt\n")
    assert noted(reporting.calls, "check_file", "check_folder") == [
        ("check_file", Path("o.txt"), {"force": True})
    ]
    assert Path("o.txt").read_text("utf-8") == text
    refusal = "wildtool: --single-file and --audit are for pages; leave them out with --format\n"
    for option in ("--single-file", "--audit"):
        assert reporting.type_(f"report a --format {form} {option}") == (2, "", refusal)


def test_a_fault_of_one_run_is_the_status_of_a_report(reporting: Parts) -> None:
    runs = [SimpleNamespace(folder=Path("x"), result=result("x", faults=faults)) for faults in ((), ("odd",))]
    reporting.note("report.model.read_runs", runs)
    assert reporting.type_("report a --format md")[0] == 1


# compare -----------------------------------------------------------------------------------------------


def side(name: str, *faults: str) -> Any:
    return SimpleNamespace(label=name, result=result(name, folder=Path(name), faults=faults), cells={})


@pytest.fixture
def comparing(parts: Parts) -> Parts:
    parts.note("engine.compare.suites.holds_several_benchmarks", False)
    parts.note("cli.output.results.print_run_notes")
    parts.note("engine.score.results.run_folders", [Path("x"), Path("y")])
    parts.note("engine.compare.load.load_compared_runs", [side("x"), side("y")])
    parts.note("engine.compare.load.check_comparable", ["differs"])
    parts.note("engine.compare.runs.grouping_columns", ["task type", "turns"])
    parts.note("engine.compare.runs.headline_column", "turns")
    parts.note("engine.compare.runs.caveats", ["caveat"])
    parts.note("engine.compare.comparison.compare_all", ["comparison"])
    parts.note("engine.compare.comparison.aid_effects", ["effect"])
    for name in ("print_comparison", "print_comparison_json", "print_comparison_csv"):
        parts.note(f"cli.output.comparison.{name}")
    return parts


@pytest.mark.parametrize(
    ("options", "group", "metric", "played", "anyway", "pairs", "seed", "printer"),
    [
        ("", "turns", "unit", False, False, False, 0, ("print_comparison", {"flips": False})),
        ("--flips --anyway", "turns", "unit", False, True, False, 0, ("print_comparison", {"flips": True})),
        ("--group 'Task-Type' --json", "task type", "unit", False, False, False, 0, ("print_comparison_json",)),
        (
            *("--only-played --all-pairs --metric item --seed 7 --csv", "turns", "item", True, False, True, 7),
            ("print_comparison_csv",),
        ),
    ],
)  # fmt: skip
def test_runs_of_one_benchmark_are_compared_as_asked(
    options: str, group: str, metric: str, played: bool, anyway: bool, pairs: bool, seed: int,
    printer: tuple[Any, ...], comparing: Parts,
) -> None:  # fmt: skip
    assert comparing.type_(f"compare a --profile p {options}") == (0, "", "")
    (load,) = noted(comparing.calls, "load_compared_runs")
    assert load == ("load_compared_runs", [Path("x"), Path("y")], "p", metric)
    assert [(folder, about.model) for _, folder, about in noted(comparing.calls, "print_run_notes")] == [
        (Path("x"), "x"),
        (Path("y"), "y"),
    ]
    settings = {name: named for name, *_, named in comparing.calls if isinstance(named, dict)}
    columns = ["task type", "turns"]
    assert {name: value for name, value in settings.items() if not name.startswith("print")} == {
        "check_comparable": {"all_pairs": pairs, "only_played": played, "anyway": anyway},
        "compare_all": {
            "all_pairs": pairs,
            "only_played": played,
            "group": group,
            "columns": columns,
            "seed": seed,
        },
        "aid_effects": {"all_pairs": pairs, "only_played": played},
    }
    name, report, *more = comparing.calls[-1]
    assert (name, *more) == printer
    assert ([one.label for one in report.runs], report.comparisons) == (["x", "y"], ("comparison",))
    assert (report.metric, report.only_played, report.differing) == (metric, played, ("differs",))
    assert (report.caveats, report.grouping_columns, report.aid_effects) == (
        ("caveat",),
        tuple(columns),
        ("effect",),
    )


def test_a_fault_of_one_run_is_the_status_of_a_comparison(comparing: Parts) -> None:
    comparing.note("engine.compare.load.load_compared_runs", [side("x"), side("y", "odd")])
    assert comparing.type_("compare a")[0] == 1


@pytest.mark.parametrize(
    ("form", "printer"),
    [("", "print_suites"), (" --csv", "print_suites_csv"), (" --json", "print_suites_json")],
)
def test_suites_are_compared_as_asked(form: str, printer: str, comparing: Parts) -> None:
    report = SimpleNamespace(runs=[side("x"), side("y", "odd")])
    comparing.note("engine.compare.suites.holds_several_benchmarks", True)
    comparing.note("engine.compare.suites.load_suites", "places")
    comparing.note("engine.compare.suites.suite_pairs", "pairs of places")
    comparing.note("engine.compare.suites.compare_suites", "pairs")
    comparing.note("cli.output.suite_comparison.suite_report", report)
    for name in ("print_suites", "print_suites_csv", "print_suites_json"):
        comparing.note(f"cli.output.suite_comparison.{name}")
    options = f"--profile p --metric item --all-pairs --only-played --anyway --seed 7{form}"
    assert comparing.type_(f"compare a b {options}") == (1, "", "")
    assert comparing.calls == [
        ("holds_several_benchmarks", [Path("a"), Path("b")]),
        ("load_suites", [Path("a"), Path("b")], "p", "item"),
        ("suite_pairs", "places", {"all_pairs": True}),
        ("compare_suites", "pairs of places", {"only_played": True, "anyway": True, "seed": 7}),
        ("suite_report", "pairs", "item", {"only_played": True}),
        ("print_run_notes", Path("x"), report.runs[0].result),
        ("print_run_notes", Path("y"), report.runs[1].result),
        (printer, "pairs", report),
    ]
    report.runs.pop()
    assert comparing.type_("compare a")[0] == 0
    for option in ("--flips", "--group turns"):
        refusal = f"{option.split()[0]} looks inside one benchmark; give its runs, such as runs/all/BENCH"
        assert comparing.type_(f"compare a {option}") == (2, "", f"wildtool: {refusal}\n")


def test_published_numbers_are_left_to_their_printer(comparing: Parts) -> None:
    comparing.note("cli.output.reproduction.print_reproductions", 1)
    forms = {"absolute": True, "as_json": True, "as_csv": False}
    assert comparing.type_("compare a --profile p --published --published-model m --absolute --json")[0] == 1
    assert comparing.calls == [("print_reproductions", [Path("a")], "p", "m", forms)]
    assert comparing.type_("compare --published --csv")[0] == 1
    forms = {"absolute": False, "as_json": False, "as_csv": True}
    assert comparing.calls == [("print_reproductions", [], None, None, forms)]


def cells(values: int) -> Iterator[tuple[int, Any]]:
    return ((number, SimpleNamespace(kinds={"few": number % 2, "kind": number})) for number in range(values))


@pytest.mark.parametrize(
    ("values", "count", "main", "columns", "column"),
    [
        (2, 2, "kind", ["few", "kind"], "kind"),
        (2, 3, "kind", ["few", "kind"], "kind"),
        (2, 2, None, ["few", "kind"], "few"),
        (2, 3, None, ["few", "kind"], None),
        (1, 2, "kind", ["few"], None),
        (20, 2, None, ["kind"], "kind"),
        (21, 2, None, ["kind"], None),
        (21, 1, "kind", ["kind", "few"], "kind"),
        (21, 1, "other", ["kind", "few"], "few"),
        (2, 2, None, [], None),
    ],
)
def test_units_are_grouped_by_the_main_column_or_the_first_of_a_few_values(
    values: int,
    count: int,
    main: str | None,
    columns: list[str],
    column: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("wildtool.engine.compare.runs.headline_column", lambda first: main)
    sides: list[Any] = [SimpleNamespace(cells=dict(cells(values))) for _ in range(count)]
    assert _default_group(sides, columns) == column


# gate --------------------------------------------------------------------------------------------------


@pytest.fixture
def gating(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> Parts:
    old, new, alone = (side(name) for name in ("old", "new", "alone"))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    parts.note("cli.commands.gate.check_file")
    parts.note("engine.compare.suites.load_suites", [[old], [new, alone]])
    parts.note("engine.compare.suites.suite_pairs", "pairs of places")
    parts.note("engine.compare.suites.compare_suites", [SimpleNamespace(old=old, new=new)])
    parts.note("cli.output.suite_comparison.suite_report", SimpleNamespace(runs=[old, new]))
    parts.note("cli.output.results.print_run_notes")
    parts.note("engine.compare.gate.check_evidence")
    parts.note("cli.output.suite_comparison.print_suites")
    losses = [SimpleNamespace(text=f"loss {over}", excessive=over) for over in (False, True)]
    parts.note("engine.compare.gate.significant_losses", losses)
    parts.note("engine.compare.gate.reason", "failed: why")
    parts.note("engine.compare.suites.omission_lines", ["omitted"])
    parts.note("engine.compare.leaderboard.parts_line", "a part")
    parts.note("cli.output.gate.annotate")
    parts.note("cli.output.gate.write_summary")
    return parts


def test_a_gate_compares_with_the_baseline_and_tells_what_it_found(gating: Parts) -> None:
    line = "gate n --against o --worse-than 2.5 --profile p --only-played --markdown m.md"
    assert gating.type_(line) == (1, "\nfailed: why\n", "")
    (pairs,) = [call[1] for call in gating.calls if call[0] == "check_evidence"]
    (losses,) = [call[2] for call in gating.calls if call[0] == "reason"]
    (report,) = [call[2] for call in gating.calls if call[0] == "print_suites"]
    assert [call for call in gating.calls if call[0] != "parts_line"] == [
        ("check_file", Path("m.md")),
        ("load_suites", [Path("o"), Path("n")], "p"),
        ("suite_pairs", [[pairs[0].old], [pairs[0].new, ANY]]),
        ("compare_suites", "pairs of places", {"only_played": True}),
        ("suite_report", pairs, "unit", {"only_played": True}),
        ("print_run_notes", Path("old"), pairs[0].old.result),
        ("print_run_notes", Path("new"), pairs[0].new.result),
        ("check_evidence", pairs, {"only_played": True}),
        ("print_suites", pairs, report),
        ("significant_losses", pairs, 2.5),
        ("reason", pairs, losses, 2.5),
        ("omission_lines", pairs),
        ("annotate", "warning", "loss False"),
        ("annotate", "error", "loss True"),
        ("annotate", "warning", "omitted"),
        ("annotate", "warning", "alone has no counterpart and is not compared."),
        (
            *("write_summary", Path("m.md"), pairs, "failed: why"),
            ["a part", "omitted", "alone has no counterpart and is not compared."],
        ),
    ]


def test_a_gate_without_an_excessive_loss_passes(gating: Parts) -> None:
    gating.note("engine.compare.gate.significant_losses", [SimpleNamespace(text="t", excessive=False)])
    gating.note("engine.compare.leaderboard.parts_line", "")
    assert gating.type_("gate n --against o")[0] == 0
    assert gating.calls[0] == ("load_suites", [Path("o"), Path("n")], None)
    named = [call[-1] for call in gating.calls if isinstance(call[-1], dict)]
    assert named == [{"only_played": False}] * 3
    name, markdown, _, _, remarks = gating.calls[-1]
    assert (name, markdown, remarks[0], len(remarks)) == ("write_summary", None, "omitted", 2)


def test_what_stops_a_gate_is_told_to_the_job(gating: Parts) -> None:
    gating.note("engine.compare.gate.check_evidence", UsageError("incomplete"))
    assert gating.type_("gate n --against o") == (2, "", "wildtool: incomplete\n")
    assert gating.calls[-1] == ("annotate", "error", "incomplete")
