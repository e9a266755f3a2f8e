"""What `show`, `score`, `report`, `compare` and `gate` ask of their parts, which only note calls, and in what order."""

import shlex
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from noted_parts import NotedParts
from terminal.test_tables import result
from wildtool.cli import app
from wildtool.cli.commands.compare import _default_group
from wildtool.cli.output.comparison import ComparisonReport
from wildtool.errors import UsageError
from wildtool.gating.outcome import GateSettings
from wildtool.outputs import is_site
from wildtool.terminal import print_err
from wildtool.types import Metric

MODULES = {
    "cli.commands": ("compare", "gate", "score", "show"),
    "cli.output": ("comparison", "gate", "published", "ranked", "reproduction", "results", "suite_comparison", "why"),
    "data": ("data_set",),
    "engine": ("plan", "registry", "replies", "score.results"),
    "engine.compare": ("comparison", "leaderboard", "load", "runs", "suites"),
    "gating": ("answering",),
    "report": ("build", "commands.report", "model", "texts"),
    "terminal": ("tables",),
    "tool_formats": ("detect",),
}  # fmt: skip
for package, names in MODULES.items():
    for name in names:
        import_module(f"wildtool.{package}.{name}")

A, B = Path("a"), Path("b")
TASK = Metric("accuracy", "task", 0.5, 1, 2, headline=True)
COST = Metric("cost", "time", 0.5, 1, 2)
RESULTS = [result("m", TASK, COST), result("n", TASK)]


def run(name: str, *faults: str) -> Any:
    return SimpleNamespace(
        label=name, folder=Path(name), result=result(name, folder=Path(name), faults=faults), cells={}
    )


RUNS = [run("x"), run("y")]
FAULTY = [run("x"), run("y", "odd")]
NOTES = [("print_run_notes", each.folder, each.result) for each in RUNS]


class Parts(NotedParts):
    def type_(self, line: str) -> tuple[int, str, str]:
        self.calls.clear()
        ended = CliRunner().invoke(app, shlex.split(line), prog_name="wildtool")
        return ended.exit_code, ended.stdout, ended.stderr


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Parts:
    monkeypatch.chdir(tmp_path)
    parts = Parts(monkeypatch)
    parts.put("cli.output.results", find_results=(RESULTS, 0), print_run_notes=None)
    parts.put("engine.score.results", run_folders=[each.folder for each in RUNS])
    return parts


# show --------------------------------------------------------------------------------------------------

TABLES = ["results_json", "results_csv", "overview", "groups", "caveats"]
MORE = "More tables: --all, or --group with one of: accuracy, cost\n"
ALONE = [replace(RESULTS[0], metrics=(COST,)), replace(RESULTS[1], metrics=())]


@pytest.mark.parametrize(
    ("options", "tables", "results", "err"),
    [
        ("", ["overview"], RESULTS, MORE),
        ("--all", ["overview", "groups"], RESULTS, ""),
        ("--group Cost", ["groups", "caveats"], ALONE, ""),
        ("--group cost --json", ["results_json"], ALONE, ""),
        ("--json", ["results_json"], RESULTS, ""),
        ("--csv", ["results_csv"], RESULTS, ""),
    ],
)
def test_results_are_printed_as_asked(
    options: str, tables: list[str], results: list[Any], err: str, parts: Parts
) -> None:
    parts.put("cli.output.results", find_results=(RESULTS, 1))
    parts.put("terminal.tables", **dict.fromkeys(f"print_{table}" for table in TABLES))
    parts.put("cli.output.ranked", rank_results=(RESULTS, {}))
    assert parts.type_(f"show a b --profile p {options}") == (1, "", err)
    assert parts.calls == [
        ("find_results", [A, B], "p"),
        ("rank_results", RESULTS, "rank"),
        *(
            (f"print_{table}", results, *([{}] if table in ("overview", "groups") else []))
            for table in tables
        ),
    ]


def test_nothing_is_printed_of_no_results(parts: Parts) -> None:
    parts.put("cli.output.results", find_results=([], 2))
    assert parts.type_("show a") == (2, "", "")
    assert parts.calls == [("find_results", [A], None)]


def test_other_things_to_show_are_left_to_others(parts: Parts) -> None:
    parts.put("cli.output.published", show_published=3)
    parts.put("cli.output.why", show_why=1)
    assert parts.type_("show --published toleap")[0] == 3
    assert [(name, options.runs) for name, options in parts.calls] == [("show_published", [Path("toleap")])]
    assert parts.type_("show a --why task")[0] == 1
    assert [(name, options.runs, text) for name, options, text in parts.calls] == [("show_why", [A], "task")]
    refusal = "wildtool: --why explains a number of runs, such as `wildtool show runs --why task`\n"
    for line in ("show --why task", "show a --why task --published"):
        assert parts.type_(line) == (2, "", refusal)
    missing = "wildtool: nothing to show: give run folders, such as `wildtool show runs`\n"
    assert parts.type_("show") == (2, "", missing)


# score -------------------------------------------------------------------------------------------------


@pytest.fixture
def scoring(parts: Parts) -> Parts:
    parts.put("terminal.tables", print_overview=None)
    parts.put("cli.output.ranked", rank_results=(RESULTS, {}))
    return parts


@pytest.mark.parametrize(
    ("line", "folders", "profile", "data", "form"),
    [
        ("a b --profile p --data d --tool-format hermes", [A, B], "p", "d", "hermes"),
        ("a", [A], None, None, None),
        ("a --tool-format auto", [A], None, None, "auto"),
    ],
)
def test_runs_are_scored_again_with_what_was_asked_for(
    line: str, folders: list[Path], profile: str | None, data: str | None, form: str | None, scoring: Parts
) -> None:
    scoring.put("tool_formats.detect", named_format=None)
    assert scoring.type_(f"score {line}")[0] == 0
    assert scoring.calls == [
        *([("named_format", "hermes")] if form == "hermes" else []),
        (
            "find_results",
            folders,
            profile,
            {"data": data, "again": True, "tool_format": form, "score_command": None},
        ),
        ("rank_results", RESULTS, "rank"),
        ("print_overview", RESULTS, {}),
    ]


def test_the_status_is_the_worst_of_reading_and_judging(scoring: Parts) -> None:
    faulty = [*RESULTS, replace(RESULTS[0], faults=("odd",))]
    for results, status, expected in ((RESULTS, 2, 2), (faulty, 0, 1), (faulty, 2, 1)):
        scoring.put("cli.output.results", find_results=(results, status))
        scoring.put("cli.output.ranked", rank_results=(results, {}))
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
    scoring.put("engine.registry", detect_benchmark="detected", in_mode="benchmark")
    scoring.put("data.data_set", data_of=SimpleNamespace(locate=scoring.noted("locate", "source")))
    scoring.put("engine.plan", Selection=SimpleNamespace(read=lambda: "items"))
    scoring.put("engine.replies", import_replies=[Path("kept")])
    monkeypatch.setattr(sys, "argv", ["wildtool", "typed"])
    line = "score --replies r --benchmark b --data d --profile p --mode m --split s --lang l --force -o runs"
    assert scoring.type_(line)[0] == 0
    items = {"split": "s", "lang": "l"}
    replies = {"items": "items", "command": ["wildtool", "typed"], "force": True, "report": print_err}
    assert scoring.calls == [
        ("detect_benchmark", "b", "d"),
        ("in_mode", "detected", "m"),
        ("data_of", "benchmark"),
        ("locate", "d", "s"),
        ("Selection", {"benchmark": "benchmark", "source": "source", **items}),
        ("import_replies", "benchmark", "source", Path("r"), Path("runs"), {**items, **replies}),
        (
            "find_results",
            [Path("kept")],
            "p",
            {"data": "items", "again": True, "tool_format": None, "score_command": None},
        ),
        ("rank_results", RESULTS, "rank"),
        ("print_overview", RESULTS, {}),
    ]
    assert scoring.type_("score --replies r --data d")[0] == 0
    *_, place, settings = scoring.calls[5]
    assert (place.exists(), settings["force"]) == (False, False)


# report ------------------------------------------------------------------------------------------------


@pytest.fixture
def reporting(parts: Parts) -> Parts:
    parts.put("report", check_libraries=None)
    parts.put("report.model", read_runs=RUNS)
    parts.put("report.build", build=Path("written"))
    parts.put("report.texts", markdown="markdown", latex="latex")
    parts.put("outputs", check_file=None, check_folder=None)
    return parts


@pytest.mark.parametrize(
    ("options", "check", "single", "audited"),
    [
        ("", ("check_folder", Path("report"), is_site, {"force": False}), False, False),
        ("-o o --audit --force", ("check_folder", Path("o"), is_site, {"force": True}), False, True),
        ("--single-file", ("check_file", Path("report.html"), {"force": False}), True, False),
        ("--single-file -o o --force", ("check_file", Path("o"), {"force": True}), True, False),
    ],
)
def test_pages_are_built_where_asked(
    options: str, check: tuple[Any, ...], single: bool, audited: bool, reporting: Parts
) -> None:
    assert reporting.type_(f"report a --profile p {options}") == (0, "Report: written\n", "")
    assert reporting.calls == [
        ("check_libraries",),
        check,
        ("run_folders", A),
        ("read_runs", [Path("x"), Path("y")], "p"),
        *NOTES,
        (
            "build",
            RUNS,
            check[1],
            {"single": single, "audited": audited, "better_mode": False, "sort": "rank"},
        ),
    ]


@pytest.mark.parametrize(("form", "text"), [("md", "markdown"), ("latex", "latex")])
def test_tables_are_printed_or_written(form: str, text: str, reporting: Parts) -> None:
    read = [("run_folders", A), ("read_runs", [Path("x"), Path("y")], None), *NOTES, (text, RUNS, "rank")]
    assert reporting.type_(f"report a --format {form}") == (0, f"{text}\n", "")
    assert reporting.calls == read
    assert reporting.type_(f"report a --format {form} -o o.txt --force") == (0, "", "Written: o.txt\n")
    assert reporting.calls == [("check_file", Path("o.txt"), {"force": True}), *read]
    assert Path("o.txt").read_text("utf-8") == text
    refusal = (
        "wildtool: --single-file, --audit and --better-mode are for pages; leave them out with --format\n"
    )
    for option in ("--single-file", "--audit", "--better-mode"):
        assert reporting.type_(f"report a --format {form} {option}") == (2, "", refusal)


def test_a_fault_of_one_run_is_the_status_of_a_report(reporting: Parts) -> None:
    reporting.put("report.model", read_runs=FAULTY)
    assert reporting.type_("report a --format md")[0] == 1


# compare -----------------------------------------------------------------------------------------------

COLUMNS = ["task type", "turns"]


@pytest.fixture
def comparing(parts: Parts) -> Parts:
    parts.put("engine.compare.suites", holds_several_benchmarks=False)
    loaded = {"load_compared_runs": RUNS, "check_comparable": ["differs"], "missing_plain_runs": ["lacks"]}
    parts.put("engine.compare.load", **loaded)
    parts.put("engine.compare.runs", grouping_columns=COLUMNS, headline_column="turns", caveats=["caveat"])
    parts.put("engine.compare.comparison", compare_all=["comparison"], hint_effects=["effect"])
    forms = ("print_comparison", "print_comparison_json", "print_comparison_csv")
    parts.put("cli.output.comparison", **dict.fromkeys(forms))
    return parts


@pytest.mark.parametrize(
    ("options", "group", "metric", "played", "anyway", "pairs", "seed", "printer"),
    [
        ("", "turns", "unit", False, False, False, 0, ("print_comparison", {"flips": False})),
        ("--flips --anyway", "turns", "unit", False, True, False, 0, ("print_comparison", {"flips": True})),
        ("--group 'Task-Type' --json", "task type", "unit", False, False, False, 0, ("print_comparison_json",)),
        (
            "--only-played --all-pairs --metric item --seed 7 --csv", "turns", "item", True, False, True, 7,
            ("print_comparison_csv",),
        ),
    ],
)  # fmt: skip
def test_runs_of_one_benchmark_are_compared_as_asked(
    options: str, group: str, metric: str, played: bool, anyway: bool, pairs: bool, seed: int,
    printer: tuple[Any, ...], comparing: Parts,
) -> None:  # fmt: skip
    assert comparing.type_(f"compare a --profile p {options}") == (0, "", "")
    which = {"all_pairs": pairs, "only_played": played}
    names: Any = (("differs",), ("caveat", "lacks"), tuple(COLUMNS), ("effect",))
    report = ComparisonReport(tuple(RUNS), cast(Any, ("comparison",)), metric, played, *names)
    assert comparing.calls == [
        ("holds_several_benchmarks", [A]),
        ("run_folders", A),
        ("load_compared_runs", [Path("x"), Path("y")], "p", metric),
        *NOTES,
        ("check_comparable", RUNS, {**which, "anyway": anyway, "modes": False}),
        ("grouping_columns", RUNS),
        *([("headline_column", RUNS[0])] if "--group" not in options else []),
        ("compare_all", RUNS, {**which, "group": group, "columns": COLUMNS, "seed": seed}),
        ("caveats", RUNS),
        ("missing_plain_runs", RUNS),
        ("hint_effects", RUNS, which),
        (printer[0], report, *printer[1:]),
    ]


def test_a_fault_of_one_run_is_the_status_of_a_comparison(comparing: Parts) -> None:
    comparing.put("engine.compare.load", load_compared_runs=FAULTY)
    assert comparing.type_("compare a")[0] == 1


@pytest.mark.parametrize(
    ("form", "printer"),
    [("", "print_suites"), (" --csv", "print_suites_csv"), (" --json", "print_suites_json")],
)
def test_suites_are_compared_as_asked(form: str, printer: str, comparing: Parts) -> None:
    report = SimpleNamespace(runs=RUNS)
    comparing.put(
        "engine.compare.suites",
        holds_several_benchmarks=True, load_suites="places", suite_pairs="places in pairs", compare_suites="pairs",
    )  # fmt: skip
    printers = dict.fromkeys(("print_suites", "print_suites_csv", "print_suites_json"))
    comparing.put("cli.output.suite_comparison", suite_report=report, **printers)
    options = f"--profile p --metric item --all-pairs --only-played --anyway --seed 7{form}"
    assert comparing.type_(f"compare a b {options}") == (0, "", "")
    assert comparing.calls == [
        ("holds_several_benchmarks", [A, B]),
        ("load_suites", [A, B], "p", "item"),
        ("suite_pairs", "places", {"all_pairs": True}),
        ("compare_suites", "places in pairs", {"only_played": True, "anyway": True, "seed": 7}),
        ("suite_report", "pairs", "item", {"only_played": True}),
        *NOTES,
        (printer, "pairs", report),
    ]
    report.runs = FAULTY
    assert comparing.type_("compare a")[0] == 1
    for option in ("--flips", "--group turns"):
        refusal = f"{option.split()[0]} looks inside one benchmark; give its runs, such as runs/all/BENCH"
        assert comparing.type_(f"compare a {option}") == (2, "", f"wildtool: {refusal}\n")


@pytest.mark.parametrize(
    ("line", "named", "absolute", "form"),
    [
        ("a --profile p --published --published-model m --absolute --json", ([A], "p", "m"), True, "json"),
        ("--published --csv", ([], None, None), False, "csv"),
    ],
)
def test_published_numbers_are_left_to_their_printer(
    line: str, named: tuple[Any, ...], absolute: bool, form: str, comparing: Parts
) -> None:
    comparing.put("cli.output.reproduction", print_reproductions=1)
    assert comparing.type_(f"compare {line}")[0] == 1
    forms = {"absolute": absolute, "as_json": form == "json", "as_csv": form == "csv"}
    assert comparing.calls == [("print_reproductions", *named, forms)]


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
    values: int, count: int, main: str | None, columns: list[str], column: str | None, parts: Parts
) -> None:
    parts.put("engine.compare.runs", headline_column=main)
    cells = {number: SimpleNamespace(kinds={"few": number % 2, "kind": number}) for number in range(values)}
    sides: list[Any] = [SimpleNamespace(cells=cells)] * count
    assert _default_group(sides, columns) == column


# gate --------------------------------------------------------------------------------------------------


@pytest.fixture
def gate_parts(parts: Parts) -> Parts:
    parts.put("cli.commands.gate", check_file=None)
    parts.put("gating.answering", run_gate=SimpleNamespace(problem="", status=4))
    parts.put("cli.output.gate", annotate=None, print_outcome=None, write_forms=None)
    return parts


def test_a_gate_is_asked_what_its_options_say(gate_parts: Parts) -> None:
    line = (
        "gate n --against o --worse-than 2.5 --allow-undecided --at-least 0.9 --at-least t:0.8 --newly-broken 1 "
        "--burn-in 7 --profile p --only-played --junit j.xml --json j.json --markdown m.md"
    )
    assert gate_parts.type_(line)[0] == 4
    checked, asked = gate_parts.calls[:3], gate_parts.calls[3]
    assert checked == [("check_file", Path(name)) for name in ("j.xml", "j.json", "m.md")]
    settings = GateSettings(
        against=Path("o"),
        worse_than=2.5,
        allow_undecided=True,
        at_least=("0.9", "t:0.8"),
        newly_broken=1,
        burn_in=7,
        profile="p",
        only_played=True,
    )
    assert asked == ("run_gate", Path("n"), settings)
    forms = {"junit": Path("j.xml"), "json": Path("j.json"), "markdown": Path("m.md")}
    assert gate_parts.calls[-1][-1] == forms


def test_a_gate_without_an_answer_writes_its_forms_and_ends_with_2(gate_parts: Parts) -> None:
    gate_parts.put("gating.answering", run_gate=SimpleNamespace(problem="incomplete", status=2))
    assert gate_parts.type_("gate n --against o") == (2, "", "wildtool: incomplete\n")
    assert gate_parts.calls[-1][0] == "write_forms"


def test_what_stops_a_gate_is_told_to_the_job(gate_parts: Parts) -> None:
    gate_parts.put("gating.answering", run_gate=UsageError("incomplete"))
    assert gate_parts.type_("gate n --against o") == (2, "", "wildtool: incomplete\n")
    assert gate_parts.calls[-1] == ("annotate", "error", "incomplete")
