"""`wildtool compare --curve data` and `step`: models before and after training on the same benchmarks."""

import csv
import json
import shutil
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from benchmarks.bfcl.bfcl_build import write_data
from wildtool.cli import app
from wildtool.cli.output import curve
from wildtool.cli.output.curve import show_curve
from wildtool.engine.compare.curve import CURVE_COLUMNS
from wildtool.engine.score.results import open_results
from wildtool.engine.series import read_series

POINT = '[[point]]\nname = "{name}"\nmodel = "baseline/{model}"\nsize = {size}\narm = "{arm}"\ntrain_seed = {seed}\n'
POINTS = (
    ("base", "random", 0, "all", 0),
    ("s1", "lexical", 100, "all", 1),
    ("s2", "chat", 100, "all", 2),
    ("s3", "lexical", 100, "all", 3),
    ("best", "gold", 1000, "all", 1),
    ("r", "random", 100, "random", 1),
)


def type_(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="wildtool", env={"COLUMNS": "100"})


def draw(series: Path, out: Path, *words: str) -> Result:
    """Runs a series, and draws its curve where that went well, or some calls failed."""
    ended = type_("run", str(series), "-o", str(out), *words)
    return ended if ended.exit_code not in (0, 3) else drawn(series, out)


def drawn(series: Path, out: Path, *words: str) -> Result:
    return type_("compare", str(series), "--curve", "data", "-o", str(out), *words)


def write_series(path: Path, head: str = "") -> None:
    text = f'[series]\nbenchmarks = ["wild-mini"]\n{head}'
    names = ("name", "model", "size", "arm", "seed")
    path.write_text(text + "".join(POINT.format(**dict(zip(names, point, strict=True))) for point in POINTS))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a series that was run on eight sessions."""
    place = tmp_path_factory.mktemp("curve")
    write_series(place / "series.toml")
    ended = draw(place / "series.toml", place / "runs", "--limit", "8")
    assert ended.exit_code == 0, ended.output
    (place / "shown").write_text(ended.output)
    return place


def rows(place: Path) -> dict[tuple[str, int], dict[str, str]]:
    with (place / "runs" / "curve.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert list(found[0]) == list(CURVE_COLUMNS)
    return {(row["arm"], int(row["size"])): row for row in found}


@pytest.mark.long
def test_each_size_is_compared_with_the_model_before_training(played: Path):
    found = rows(played)
    assert list(found) == [("all", 0), ("all", 100), ("all", 1000), ("random", 100)]
    assert found["all", 1000]["score"] == "1.0"
    assert float(found["all", 1000]["diff_base"]) == pytest.approx(
        1 - float(found["all", 0]["score"]), abs=1e-5
    )
    assert float(found["all", 1000]["p_adjusted"]) < 0.05
    # The random arm is the base itself, on other paths of chance.
    assert float(found["random", 100]["diff_base"]) == pytest.approx(0, abs=1e-9)
    assert found["all", 0]["diff_base"] == ""


@pytest.mark.long
def test_trainings_of_one_size_are_one_point(played: Path):
    three, one = rows(played)["all", 100], rows(played)["all", 1000]
    assert (three["seeds"], one["seeds"]) == ("3", "1")
    singles = [
        json.loads(type_("show", str(played / "runs" / name), "--json").stdout)["runs"][0]
        for name in ("s1", "s2", "s3")
    ]
    tasks = [next(m["value"] for m in run["metrics"] if m["name"] == "task") for run in singles]
    assert float(three["score"]) == pytest.approx(sum(tasks) / 3, abs=1e-5)
    mean = sum(tasks) / 3
    spread = sum((task - mean) ** 2 for task in tasks) / 2 / 3
    assert float(three["seed_se"]) == pytest.approx(spread**0.5, abs=1e-5)
    assert one["seed_se"] == ""


def test_each_point_says_what_its_score_rests_on(played: Path):
    columns = ("failed", "unplayed", "cut_off", "unread")
    assert [tuple(row[name] for name in columns) for row in rows(played).values()] == [("0",) * 4] * 4


def test_the_table_says_what_a_reader_must_know(played: Path):
    shown = " ".join((played / "shown").read_text().split())
    assert "wild-mini, profile official: score by training examples" in shown
    assert "With fewer than 3 trainings of a size" in shown
    assert "Nobody looked whether the training data hold items" in shown
    assert "no control arm" not in shown
    assert "accuracy: task" not in shown
    assert "Not all items: wild-mini, --limit 8." in shown
    assert "seeds n correct 95 % difference 95 % p (Holm)" in shown
    assert "before 1 32 " in shown
    assert "<svg" in (played / "runs" / "curve-wild-mini.svg").read_text()


def test_the_same_command_again_runs_nothing_and_gives_the_same(played: Path):
    before = (played / "runs" / "curve.csv").read_bytes()
    records = {path: path.read_bytes() for path in (played / "runs").rglob("record-*")}
    assert records
    assert draw(played / "series.toml", played / "runs", "--limit", "8").exit_code == 0
    assert (played / "runs" / "curve.csv").read_bytes() == before
    assert {path: path.read_bytes() for path in (played / "runs").rglob("record-*")} == records


@pytest.mark.long
def test_the_name_of_an_arm_is_no_formula_to_a_spreadsheet(played: Path, tmp_path: Path):
    place = Path(copytree(played, tmp_path / "a[1] ü"))
    series = place / "series.toml"
    series.write_text(series.read_text().replace('"random"\ntrain_seed', '"=1+1"\ntrain_seed'))
    assert draw(series, place / "runs", "--limit", "8").exit_code == 0
    assert ("'=1+1", 100) in rows(place)


@pytest.mark.long
def test_scores_are_also_shown_without_items_of_the_training_data(played: Path, tmp_path: Path):
    write_series(tmp_path / "series.toml", 'overlap = "overlap.json"\n')
    found = {
        "benchmarks": [
            {"benchmark": "wild-mini", "items_touched": {"exact": ["wild_mini_0"], "near": ["wild_mini_1"]}}
        ]
    }
    (tmp_path / "overlap.json").write_text(json.dumps(found))
    shutil.copytree(played / "runs", tmp_path / "runs")
    ended = draw(tmp_path / "series.toml", tmp_path / "runs", "--limit", "8")
    assert ended.exit_code == 0, ended.output
    assert "2 of 8 items of wild-mini are in the training data; `untouched` is" in " ".join(
        ended.output.split()
    )
    best = rows(tmp_path)["all", 1000]
    assert (best["touched_items"], best["score_untouched"]) == ("2", "1.0")
    assert "untouched" in " ".join(ended.output.split())


@pytest.mark.long
def test_a_file_that_is_no_overlap_is_refused(played: Path, tmp_path: Path):
    write_series(tmp_path / "series.toml", 'overlap = "overlap.json"\n')
    (tmp_path / "overlap.json").write_text("[]")
    shutil.copytree(played / "runs", tmp_path / "runs")
    ended = draw(tmp_path / "series.toml", tmp_path / "runs", "--limit", "8")
    assert ended.exit_code == 2
    assert "not what `wildtool data overlap FILE --json` prints" in " ".join(ended.output.split())


@pytest.mark.long
def test_endpoints_that_do_not_answer_are_named_before_anything_is_run(tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        write_series(tmp_path / "series.toml")
        with (tmp_path / "series.toml").open("a") as file:
            file.write(f'[[point]]\nname = "dead"\nmodel = "m"\nsize = 5\nbase_url = "{closed}"\n')
        asked = ("run", str(tmp_path / "series.toml"), "--limit", "2", "-o", str(tmp_path / "runs"), "-q")
        ended = type_(*asked)
        assert ended.exit_code == 2
        assert f"dead: {closed} does not answer" in " ".join(ended.output.split())
        assert not (tmp_path / "runs").exists()
        ended = type_(*asked, "--available")
    assert ended.exit_code == 0, ended.output
    ended = drawn(tmp_path / "series.toml", tmp_path / "runs")
    assert (ended.exit_code, "dead is not in the curve" in ended.stderr) == (3, True)
    assert ("all", 5) not in rows(tmp_path)


@pytest.mark.parametrize(("dry", "status"), [(True, 3), (False, 1)])
def test_every_point_is_run_on_every_benchmark(
    dry: bool, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    done: list[Any] = []

    def run(runs: Any, settings: Any, *, tables: bool) -> int:
        done.append(([(each.label, each.folder) for each in runs], settings.models, tables))
        return status

    monkeypatch.setattr("wildtool.cli.commands.run.execute_runs", run)
    write_series(tmp_path / "series.toml")
    words = ["--dry-run"] if dry else ["--force", "--quiet"]
    ended = type_("run", str(tmp_path / "series.toml"), "-o", str(tmp_path), *words)
    assert ended.exit_code == status, ended.output
    places = {name: tmp_path / name / "wild-mini" / f"baseline--{model}" for name, model, *_ in POINTS}
    runs = [(f"{name}: wild-mini", place) for name, place in places.items()]
    assert done == [(runs, ("baseline/random",), False)]


@pytest.mark.long
def test_the_older_verb_runs_a_series_and_draws_its_curve(tmp_path: Path):
    write_series(tmp_path / "series.toml")
    ended = type_("curve", str(tmp_path / "series.toml"), "--limit", "1", "-o", str(tmp_path / "runs"), "-q")
    assert ended.exit_code == 0, ended.output
    assert ended.stderr.count("`wildtool curve` is `wildtool run SERIES`") == 1
    again = drawn(tmp_path / "series.toml", tmp_path / "runs")
    assert (again.exit_code, again.stdout) == (0, ended.stdout)


def test_a_curve_by_steps_needs_the_steps_of_each_point(played: Path, tmp_path: Path):
    words = ("--curve", "step", "-o", str(played / "runs"))
    refused = type_("compare", str(played / "series.toml"), *words)
    assert (refused.exit_code, "s1 has no `steps`" in " ".join(refused.stderr.split())) == (2, True)
    text = (played / "series.toml").read_text()
    for number in (100, 1000):
        text = text.replace(f"size = {number}\n", f"size = 7\nsteps = {number // 10}\n")
    by_steps = tmp_path / "series.toml"
    by_steps.write_text(text.replace("train_seed = 1\n", "", 1))
    ended = type_("compare", str(by_steps), *words)
    assert ended.exit_code == 0, ended.output
    assert "score by training steps" in ended.stdout
    assert list(rows(played)) == [("all", 0), ("all", 10), ("all", 100), ("random", 10)]


@pytest.mark.long
def test_checkpoints_of_one_training_are_a_curve_by_steps_and_its_last_one_a_size(tmp_path: Path):
    points = [("base", "chat", 0, 0), ("early", "chat", 7, 10), ("late", "gold", 7, 20)]
    text = '[series]\nbenchmarks = ["wild-mini"]\n'
    for name, model, size, steps in points:
        text += f'[[point]]\nname = "{name}"\nmodel = "baseline/{model}"\nsize = {size}\nsteps = {steps}\n'
    series = tmp_path / "series.toml"
    series.write_text(text)
    assert type_("run", str(series), "--limit", "2", "-o", str(tmp_path / "runs"), "-q").exit_code == 0
    for axis, sizes in (("step", [0, 10, 20]), ("data", [0, 7])):
        ended = type_("compare", str(series), "--curve", axis, "-o", str(tmp_path / "runs"))
        assert ended.exit_code == 0, ended.output
        found = rows(tmp_path)
        assert [size for _, size in found] == sizes
        assert float(found["all", sizes[-1]]["score"]) == 1
    series.write_text(text.replace("steps = 20", "steps = 10"))
    assert type_("run", str(series), "-o", str(tmp_path / "runs"), "-q").exit_code == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("runs", "--curve", "data"), "is a folder; give the TOML file of a series"),
        (("series.toml", "--curve", "data"), "has no run of series.toml"),
        (("series.toml", "series.toml", "--curve", "step"), "takes the TOML file of one series"),
        (("series.toml", "--curve", "data", "--flips"), "--flips means nothing with --curve data"),
        (("series.toml", "--curve", "data", "--prices", "p"), "--prices means nothing with --curve data"),
        (("--curve", "tools"), "needs folders with runs of --among"),
        (("runs", "--out", "x"), "--out needs --curve"),
        (("runs", "--curve", "age"), "'age' is not one of"),
    ],
)
def test_what_no_curve_can_be_drawn_of_is_refused(
    words: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    write_series(Path("series.toml"))
    Path("runs").mkdir()
    ended = type_("compare", *words)
    assert (ended.exit_code, reason in " ".join(ended.output.split())) == (2, True), ended.output


@pytest.mark.parametrize("words", [("--model", "baseline/gold"), ("--data", "x"), ("--on", "local:2")])
def test_what_a_series_says_itself_is_no_option(words: tuple[str, ...], tmp_path: Path):
    write_series(tmp_path / "series.toml")
    ended = type_("run", str(tmp_path / "series.toml"), *words)
    assert (ended.exit_code, f"{words[0]} is not for a series" in ended.stderr) == (2, True)


def test_points_without_a_complete_run_are_named(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    series = read_series(played / "series.toml")
    folders = {("s1", "wild-mini"): tmp_path / "none"}
    assert show_curve(series, folders, tmp_path, force=False, quiet=False) == 3
    said = capsys.readouterr()
    reason = f"{tmp_path / 'none'}: not a run folder, run.json cannot be read (No such file or directory)"
    gone = f"s1 is not in the curve of wild-mini: {reason}\n"
    assert (said.out, said.err, [*tmp_path.iterdir()]) == ("", gone, [])
    folders |= {
        (name, "wild-mini"): played / "runs" / name / "wild-mini" / f"baseline--{model}"
        for name, model in (("base", "random"), ("s2", "chat"))
    }

    @contextmanager
    def opened(folder: Path) -> Generator[Any]:
        with open_results(folder) as (result, verdicts):
            yield replace(result, incomplete="s2" in folder.parts), verdicts

    monkeypatch.setattr(curve, "open_results", opened)
    monkeypatch.setattr(curve, "print_run_notes", lambda folder, result: None)
    assert show_curve(series, folders, tmp_path, force=False, quiet=True) == 3
    said = capsys.readouterr()
    assert said.err.startswith(f"{gone}s2 is not in the curve of wild-mini: its run is incomplete")
    with (tmp_path / "curve.csv").open(newline="") as file:
        assert [(row["arm"], row["size"]) for row in csv.DictReader(file)] == [("all", "0")]


def test_failed_units_of_a_point_bound_its_score_and_decide_nothing(tmp_path: Path):
    """Replays of right answers to some sessions alone: the calls of the others fail."""
    for sessions in (2, 7):
        folder = str(tmp_path / f"gold-{sessions}")
        of_gold = ("--model", "baseline/gold", "--limit", str(sessions), "--out", folder, "--quiet")
        assert type_("run", "wild-mini", *of_gold).exit_code == 0
    points = [("base", "baseline/chat", 0)]
    points += [(f"s{n}", f"replay:{tmp_path / f'gold-{n}'}", 100 * n) for n in (2, 7)]
    text = '[series]\nbenchmarks = ["wild-mini"]\n'
    text += "".join(
        f'[[point]]\nname = "{n}"\nmodel = {json.dumps(m)}\nsize = {size}\n' for n, m, size in points
    )
    (tmp_path / "series.toml").write_text(text)
    ended = draw(tmp_path / "series.toml", tmp_path / "runs", "--limit", "8")
    assert ended.exit_code == 0, ended.output
    found = rows(tmp_path)
    few, most = found["all", 200], found["all", 700]
    assert (few["units"], few["failed"], few["score"]) == ("32", "24", "0.25")
    assert (most["units"], most["failed"], most["score"]) == ("32", "4", "0.875")
    # Every failed unit might have been right, or wrong.
    assert few["high"] == most["high"] == "1.0"
    assert float(few["p_adjusted"]) >= 0.05 > float(most["p_adjusted"])
    shown = {line.split()[0]: line for line in ended.stdout.splitlines() if " (incomplete)" in line}
    assert "no finding" in shown["200"] and "no finding" not in shown["700"]
    assert "24 of 32 units failed (not recorded)" in " ".join(ended.output.split())


@pytest.mark.long
@pytest.mark.usefixtures("bfcl_package")
def test_published_figures_of_training_are_below_the_curve_of_their_benchmark(tmp_path: Path):
    write_data(tmp_path / "data")
    points = "".join(
        f'[[point]]\nname = "{name}"\nmodel = "baseline/{name}"\nsize = {size}\n'
        for name, size in (("chat", 0), ("gold", 10))
    )
    data = json.dumps(str(tmp_path / "data"))
    head = f'[series]\nbenchmarks = [{{name = "bfcl", data = {data}, split = "simple_python"}}]\n'
    (tmp_path / "series.toml").write_text(head + points)
    ended = draw(tmp_path / "series.toml", tmp_path / "runs")
    assert ended.exit_code == 0, ended.output
    below = " ".join(ended.stdout.partition("Table 10")[2].split())
    assert "Qwen2.5-1.5B (Auto) 62.92 74.50 52.50 56.00 35.83 56.35" in below
    assert "average: mean of the five" in below


def test_runs_lie_below_the_name_of_the_series_where_no_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    write_series(tmp_path / "tide.toml")
    (tmp_path / "runs" / "tide").mkdir(parents=True)
    (tmp_path / "runs" / "tide" / "curve.csv").write_text("mine")
    ended = type_("run", "tide.toml")
    assert (ended.exit_code, "runs/tide/curve.csv" in ended.stderr) == (2, True)


@pytest.mark.long
def test_a_chart_of_others_is_replaced_only_by_force(played: Path, tmp_path: Path):
    copytree(played / "runs", tmp_path / "runs")
    chart = tmp_path / "runs" / "curve-wild-mini.svg"
    assert chart.read_bytes().startswith(b"<!-- written by wildtool compare -->\n<svg")
    chart.write_text("<svg/>")
    ended = drawn(played / "series.toml", tmp_path / "runs")
    assert (ended.exit_code, chart.read_text()) == (2, "<svg/>")
    assert f"{chart.name}: is there already, and wildtool did not make it" in " ".join(ended.output.split())
    assert drawn(played / "series.toml", tmp_path / "runs", "--force").exit_code == 0
    assert chart.stat().st_size > 1_000
