"""`wildtool report` as it is typed."""

import csv
import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from report.report_build import ATTACK, Scripted, hostile, play, undrawn
from wildtool import steps
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.cli import app
from wildtool.report.build import build
from wildtool.report.model import group_leaderboards, read_runs
from wildtool.report.pages.overview import run_descriptions
from wildtool.report.texts import latex, markdown
from wildtool.table.latex import MAX_TABLE_ROWS, NAMES, PAGE


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    for name in ("gold", "chat"):
        play(place / name, f"baseline/{name}", limit=2)
    return place


def type_(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)), prog_name="wildtool")


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wildtool.report.pages.metrics.render_chart", undrawn)
        ended = type_("report", runs, "-o", folder)
    assert (ended.exit_code, ended.stdout) == (0, f"Report: {folder / 'index.html'}\n")
    return folder


@pytest.mark.long
def test_it_writes_a_site_and_says_which_file_to_open(site: Path):
    assert (site / "index.html").is_file()


@pytest.mark.long
def test_a_single_file_is_the_only_one(runs: Path, tmp_path: Path):
    assert type_("report", runs, "--single-file", "-o", tmp_path / "r.html").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


@pytest.mark.long
@pytest.mark.parametrize("order", ["rank", "model"])
def test_models_are_in_the_order_that_is_asked_for_and_keep_their_ranks(runs: Path, order: str):
    text = type_("report", runs, "--format", "md", "--sort", order).stdout
    places = [text.index(f"| {row} |") for row in ("=1 `baseline/gold`", "=1 `baseline/chat`")]
    assert places == sorted(places, reverse=order == "model")


def test_latex_has_the_ranks_of_the_screen_and_says_why_they_are_shared(runs: Path):
    text = type_("report", runs, "--format", "latex").stdout
    assert "    =1 baseline/gold & 100.0" in text and "    =1 baseline/chat & " in text
    assert "% Tied (=):" in text


def test_csv_has_the_rank_of_each_run_as_a_number(site: Path):
    (path,) = (site / "files").glob("*-official.csv")
    for row in csv.DictReader(path.read_text("utf-8").splitlines()):
        assert row["rank"] == "1"


def test_scores_of_several_runs_are_in_the_order_of_reports_with_the_same_ranks(runs: Path):
    models = ["=1 baseline/gold", "=1 baseline/chat"]
    for order in ("rank", "model"):
        places = list(map(type_("score", runs, "--sort", order).stdout.index, models))
        assert places == sorted(places, reverse=order == "model")


def test_an_order_that_is_none_is_refused_before_anything_is_written(runs: Path, tmp_path: Path):
    ended = type_("report", runs, "--sort", "nothing", "-o", tmp_path / "site")
    assert (ended.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "nothing" in ended.stderr


def test_without_the_extra_it_says_what_to_install(runs: Path, monkeypatch: pytest.MonkeyPatch):
    found = importlib.util.find_spec
    monkeypatch.setattr("wildtool.report.find_spec", lambda name: None if name == "altair" else found(name))
    ended = type_("report", runs)
    assert ended.exit_code == 2
    assert "pip install 'wildtool[report]'" in ended.stderr


def test_markdown_needs_no_extra(runs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wildtool.report.find_spec", lambda name: None)
    ended = type_("report", runs, "--format", "md")
    assert ended.exit_code == 0
    assert "`baseline/gold` | 100.0 % [" in ended.stdout


@pytest.mark.long
def test_latex_is_a_table_of_booktabs(runs: Path, tmp_path: Path):
    assert type_("report", runs, "--format", "latex", "-o", tmp_path / "t.tex").exit_code == 0
    text = (tmp_path / "t.tex").read_text("utf-8")
    assert text.count(r"\toprule") == text.count(r"\end{tabular}") > 5
    assert r"baseline/gold & 100.0 {\scriptsize [" in text


@pytest.mark.long
def test_a_latex_table_has_no_more_columns_rows_and_letters_than_a_page_holds(tmp_path: Path):
    names = [f"organisation/a-model-with-a-name-{n}" * 3 for n in range(45)]
    (first, *_) = read_runs([play(tmp_path / "run", Scripted("m"), limit=1)])
    runs = [
        replace(first, result=replace(first.result, model=name, folder=tmp_path / name)) for name in names
    ]
    tables = latex(runs).split(r"\begin{table}")[1:]
    for table in tables:
        rows = re.findall(r"^    (.*) \\\\$", table, re.MULTILINE)
        assert len(rows) <= MAX_TABLE_ROWS + 1
        assert "max width=\\textwidth" in table
        for row in rows[1:]:
            cells = re.sub(r"\\[a-z]+ ?|[{}]", "", row).split(" & ")
            assert sum(len(cell) + 2 for cell in cells[1:]) <= PAGE - NAMES or len(cells) == 2
            assert all(len(piece) <= 20 for piece in row.split(" & ")[0].split(r"\allowbreak{}"))
    shown = set(re.findall(r"\\label\{([^}]*)\}", "".join(tables)))
    assert len(shown) == len(tables)


@pytest.mark.parametrize("words", [[], ["--format", "md", "--audit"], ["--format", "latex", "--single-file"]])
def test_what_makes_no_sense_is_refused(words: list[str], runs: Path):
    assert type_("report", *([runs] if words else []), *words).exit_code == 2


def test_runs_of_different_rules_stand_on_boards_of_their_own(runs: Path):
    both = [*read_runs([runs / "gold"]), *read_runs([runs / "chat"], "fixed")]
    assert [board.title for board in group_leaderboards(both)] == [
        "wild-mini, profile official",
        "wild-mini, played official, judged fixed",
    ]


@pytest.mark.long
def test_two_runs_of_one_model_are_told_apart(runs: Path, tmp_path: Path):
    play(tmp_path / "again", "baseline/gold", limit=2)
    board = group_leaderboards(read_runs([runs / "gold", tmp_path / "again"]))[0]
    assert sorted(board.labels) == ["baseline/gold (again)", "baseline/gold (gold)"]


@pytest.mark.long
def test_two_runs_of_one_model_in_folders_of_one_name_are_told_apart_by_those_above(tmp_path: Path):
    folders = [play(tmp_path / when / "gold", "baseline/gold", limit=1) for when in ("may", "june")]
    board = group_leaderboards(read_runs(folders))[0]
    assert sorted(board.labels) == ["baseline/gold (june/gold)", "baseline/gold (may/gold)"]


def test_a_command_is_shown_without_the_folder_it_is_installed_in(runs: Path):
    (run,) = read_runs([runs / "gold"])
    run.about["sittings"][0]["command"] = ["/srv/me/.venv/bin/wildtool", "run", "wild-mini"]
    (shown,) = run_descriptions(group_leaderboards([run])[0])
    assert shown.commands == ("wildtool run wild-mini",)


def test_what_must_be_known_of_a_number_is_said_with_the_table_of_models(runs: Path):
    assert "task type, Chat: any text passes" in markdown(read_runs([runs / "gold"]))


def test_runs_that_cover_different_items_are_marked(runs: Path, tmp_path: Path):
    play(tmp_path / "more", Scripted("more"), limit=3)
    said = markdown(read_runs([runs / "gold", tmp_path / "more"]))
    assert "These runs cover different items" in said


@pytest.mark.long
def test_a_name_in_csv_is_no_formula(tmp_path: Path):
    play(tmp_path / "run", Scripted("=HYPERLINK(1)"), limit=1)
    assert type_("report", tmp_path / "run", "-o", tmp_path / "site").exit_code == 0
    (file,) = (tmp_path / "site" / "files").glob("wild-mini*.csv")
    with file.open(newline="", encoding="utf-8") as opened:
        assert {row["model"] for row in csv.DictReader(opened)} == {"'=HYPERLINK(1)"}


@pytest.mark.long
def test_hostile_names_in_markdown_stay_code(tmp_path: Path):
    said = markdown(hostile(tmp_path))
    assert ATTACK[:9] in said
    for line in said.splitlines():
        outside = "".join(line.split("`")[::2]) if ATTACK[:9] in line else line
        assert "<script" not in outside
        assert "<img" not in outside


def test_the_core_loads_no_library_of_pages():
    import subprocess
    import sys

    script = (
        "import sys; from wildtool.cli import app; app(['report', '--help'], standalone_mode=False);"
        "assert not {'altair', 'jinja2', 'vl_convert', 'markupsafe'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=False).returncode == 0


@pytest.mark.long
def test_a_report_with_an_audit_has_gold_answers_and_no_folder_of_this_machine(tmp_path: Path):
    data = tmp_path / "place" / "mine.jsonl"
    data.parent.mkdir()
    data.write_bytes(b"".join(WILD_MINI.data.locate(None).path.read_bytes().splitlines(keepends=True)[:2]))
    folder = play(tmp_path / "runs" / "one", "baseline/chat", data=str(data))
    about = json.loads((folder / "run.json").read_text("utf-8"))
    about["sittings"][0]["command"] = ["/opt/bin/wildtool", "run", f"--data={data}", "--out", str(folder)]
    about["identity"]["models"]["agent"]["settings"] = {"path": f"{tmp_path}/model"}
    (folder / "run.json").write_text(json.dumps(about), "utf-8")
    assert type_("report", folder, "--audit", "-o", tmp_path / "site").exit_code == 0
    (tmp_path / "site.md").write_text(markdown(read_runs([folder])), "utf-8")
    written = [*(path for path in (tmp_path / "site").rglob("*") if path.is_file()), tmp_path / "site.md"]
    assert [path for path in written if str(tmp_path).encode() in path.read_bytes()] == []
    index = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "wildtool run --data=mine.jsonl --out one" in index
    assert "(data mine.jsonl)" in index
    assert "gold answers, parallel" in index


@pytest.mark.long
def test_incomplete_runs_say_so_on_every_page_and_in_every_table(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    found = read_runs([runs / "gold", runs / "chat"])
    evidence = replace(found[1].result.evidence, unplayed=1)
    found[1] = replace(found[1], result=replace(found[1].result, evidence=evidence))
    shown: list[str] = []
    monkeypatch.setattr(steps, "_show", shown.append)
    build(found, tmp_path / "site")
    for page in ("index", "types-and-positions", "side-by-side"):
        assert "baseline/chat (incomplete)" in (tmp_path / "site" / f"{page}.html").read_text("utf-8")
    assert "baseline/chat (incomplete)" in (tmp_path / "site" / "data" / "t.js").read_text("utf-8")
    for said in (markdown(found), latex(found)):
        assert "baseline/chat (incomplete)" in said.replace(r"\allowbreak{}", "")
        assert "baseline/gold (incomplete)" not in said
    assert "comparing 2 models" in shown
    assert shown[-1] == ""


@pytest.mark.long
def test_the_value_that_a_perfect_run_has_is_explained_where_it_is_shown(site: Path):
    for page in ("index", "orchestration"):
        assert "A perfect run need not have an AP" in (site / f"{page}.html").read_text("utf-8")
