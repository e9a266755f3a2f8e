"""What a number rests on goes with it, wherever it is shown."""

import ast
from pathlib import Path

import wildtool
from wildtool.evidence import Evidence, joined_evidence

ROOT = Path(wildtool.__file__).parent
SHOWN = ("cli", "report", "table", "export", "engine/suite.py", "engine/compare")
"""Where numbers of runs become tables, pages and files."""
CARRIERS = {
    "evidence",
    "trust",
    "trust_line",
    "marked_labels",
    "labels",
    "why_unranked",
    "evidence_cells",
    "table_caveats",
    "print_caveats",
    "results_table",
    "number_fields",
    "INCOMPLETE",
}
"""Names of which a module that shows numbers uses at least one."""
OF_RUNS = {"ScoreResult", "ReportRun", "Leaderboard", "ComparedRun", "open_results", "load_result"}
"""Names by which a module reaches the numbers of runs."""
WITHOUT = {
    "cli/output/results.py": "passes results on",
    "engine/compare/runs.py": "reads notes and the names of the main numbers",
    "report/pages/dataset.py": "describes the data",
    "report/pages/remarks.py": "is itself what numbers rest on, in words",
}
"""Modules that need none, with the reason."""


def used(path: Path) -> set[str]:
    """The names and attributes that a module reads."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def test_a_module_that_shows_numbers_of_runs_shows_what_they_rest_on():
    files = [
        path
        for place in SHOWN
        for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"))
    ]
    bare: list[str] = []
    for path in files:
        names, name = used(path), path.relative_to(ROOT).as_posix()
        if (
            names & OF_RUNS
            and names & {"metrics", "headline"}
            and not names & CARRIERS
            and name not in WITHOUT
        ):
            bare.append(name)
    assert len(files) > 50
    assert not bare, bare


def test_missing_units_are_those_without_a_verdict():
    evidence = Evidence(10, 2, 1, cut_off=3)
    assert (evidence.missing, evidence.played, evidence.complete) == (3, 7, False)
    assert Evidence(10, cut_off=3).complete


def test_a_number_of_several_rests_on_all_of_them():
    both = joined_evidence([Evidence(4, 1, 0, 2, 0), Evidence(6, 0, 3, 1, None)])
    assert both == Evidence(10, 1, 3, 3, None)
    assert joined_evidence([Evidence(4), None]) is None
    assert joined_evidence([]) is None


def test_counts_that_one_part_does_not_know_are_unknown_of_the_whole():
    parts = [Evidence(4, 1, 2, None, 3), Evidence(6, 5, 0, 4, 2)]
    assert joined_evidence(parts) == Evidence(10, 6, 2, None, 5)
    assert joined_evidence(parts[:1]) == parts[0]
    assert joined_evidence([Evidence(1)]) == Evidence(1, 0, 0, None, None)
    assert joined_evidence([Evidence(1, cut_off=0, unread=0)]) == Evidence(1, 0, 0, 0, 0)
