"""`wildtool new benchmark` writes what runs as it is written, as a file and as a package."""

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from difflib import ndiff
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from e2e.command import Ended, verdicts, wildtool
from wildtool.cli import app


def typed(*words: object, cwd: Path, **environment: str) -> Ended:
    return asyncio.run(wildtool(*words, cwd=cwd, **environment))


def its_tests(folder: Path, path: str, **environment: str) -> str:
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ".",
        path,
    ]
    done = subprocess.run(
        words, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.long
def test_a_new_benchmark_runs_and_passes_its_tests(tmp_path: Path) -> None:
    done = typed("new", "benchmark", "calendar-tasks", cwd=tmp_path)
    assert done.status == 0, done.err
    assert {path.name for path in tmp_path.iterdir()} == {
        "calendar_tasks.py",
        "calendar_tasks.jsonl",
        "test_calendar_tasks.py",
    }
    steps = [line.split() for line in done.out.splitlines() if line.startswith("  wildtool")]
    assert len(steps) == 2
    for _, *words in steps:
        done = typed(*words, *(["--json"] if words[0] == "audit" else []), cwd=tmp_path)
        assert done.status == 0, done.err
    rows = verdicts(tmp_path / "runs" / "calendar-tasks" / "baseline--gold")
    assert [row["outcome"] for row in rows] == ["correct"] * 10
    (audit,) = json.loads(done.out)
    assert audit["survivors"] == []
    assert "event made instead of found" in {kill["kind"] for kill in audit["kills"]}
    assert " passed" in its_tests(tmp_path, "test_calendar_tasks.py")


@pytest.mark.long
def test_a_new_package_offers_the_benchmark_with_its_data(tmp_path: Path) -> None:
    done = typed("new", "benchmark", "calqa", "--package", cwd=tmp_path)
    assert done.status == 0, done.err
    package, source = tmp_path / "calqa", tmp_path / "calqa" / "src"
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))
    (pattern,) = project["tool"]["setuptools"]["package-data"]["calqa"]
    assert [path.name for path in (source / "calqa").glob(pattern)] == ["calqa.jsonl"]
    # As an installer puts it beside other packages.
    info = source / "calqa-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: calqa\nVersion: 0.1.0\n", encoding="utf-8")
    entries = project["project"]["entry-points"]["wildtool.benchmarks"].items()
    text = "".join(f"{name} = {place}\n" for name, place in entries)
    (info / "entry_points.txt").write_text(f"[wildtool.benchmarks]\n{text}", encoding="utf-8")
    words = ("run", "calqa", "--model", "baseline/gold", "--out", "run", "-q")
    done = typed(*words, cwd=tmp_path, PYTHONPATH=str(source))
    assert done.status == 0, done.err
    assert [row["outcome"] for row in verdicts(tmp_path / "run")] == ["correct"] * 10
    assert " passed" in its_tests(package, "tests", PYTHONPATH=str(source))


def in_process(*words: str) -> tuple[int, str, str]:
    ended = CliRunner().invoke(app, ["new", *words], prog_name="wildtool", env={"COLUMNS": "500"})
    return ended.exit_code, ended.stdout, ended.stderr


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_benchmark_files: Callable[[], None]) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILE_STEPS = """\
wrote {folder}tide_tables.py
wrote {folder}tide_tables.jsonl
wrote {folder}test_tide_tables.py

Next:
  wildtool run {reference} --model baseline/gold
  wildtool audit {reference}
  python -m pytest {folder}test_tide_tables.py
"""
PACKAGE_STEPS = """\
wrote {folder}/pyproject.toml
wrote {folder}/README.md
wrote {folder}/src/tide_tables/__init__.py
wrote {folder}/src/tide_tables/tide_tables.jsonl
wrote {folder}/tests/test_tide_tables.py

Next:
  pip install -e '{folder}[dev]'
  wildtool run tide-tables --model baseline/gold
  wildtool audit tide-tables
  python -m pytest {folder}/tests
"""


def test_the_next_steps_name_what_was_written(place: Path):
    of_file = FILE_STEPS.format(folder="", reference="./tide_tables.py")
    assert in_process("benchmark", "tide-tables") == (0, of_file, "")
    of_file = FILE_STEPS.format(folder="a/b/", reference="./a/b/tide_tables.py")
    assert in_process("benchmark", "tide-tables", "-o", "a/b") == (0, of_file, "")
    of_file = FILE_STEPS.format(folder=f"{place}/c/", reference=f"{place}/c/tide_tables.py")
    assert in_process("benchmark", "tide-tables", "-o", str(place / "c")) == (0, of_file, "")
    of_package = PACKAGE_STEPS.format(folder="tide-tables")
    assert in_process("benchmark", "tide-tables", "--package") == (0, of_package, "")
    of_package = PACKAGE_STEPS.format(folder="d/tide-tables")
    assert in_process("benchmark", "tide-tables", "--package", "-o", "d") == (0, of_package, "")


@pytest.mark.usefixtures("place")
def test_the_files_have_the_name_in_place_of_the_examples(monkeypatch: pytest.MonkeyPatch):
    assert in_process("benchmark", "tide-tables")[0] == 0
    assert in_process("benchmark", "tide-tables", "--package")[0] == 0
    names = {"my-benchmark": "tide-tables", "my_benchmark": "tide_tables"}
    names |= {"MY_BENCHMARK": "TIDE_TABLES", "MyBenchmark": "TideTables"}
    templates = files("wildtool.data") / "new_benchmark"
    for template, *paths in (
        ("benchmark", "tide_tables.py", "tide-tables/src/tide_tables/__init__.py"),
        ("items", "tide_tables.jsonl", "tide-tables/src/tide_tables/tide_tables.jsonl"),
        ("pyproject", "tide-tables/pyproject.toml"),
        ("readme", "tide-tables/README.md"),
    ):
        text = (templates / f"{template}.txt").read_text("utf-8")
        for old, new in names.items():
            text = text.replace(old, new)
        assert [Path(path).read_text("utf-8") for path in paths] == [text] * len(paths)
    alone = Path("test_tide_tables.py").read_text("utf-8")
    packed = Path("tide-tables/tests/test_tide_tables.py").read_text("utf-8")
    difference = [line for line in ndiff(packed.splitlines(), alone.splitlines()) if line[0] in "+-"]
    assert difference == [
        "+ ",
        "+ from pathlib import Path",
        '- BENCH = wt.load("tide-tables")',
        '+ BENCH = wt.load(Path(__file__).with_name("tide_tables.py"))',
    ]


@pytest.mark.usefixtures("place")
def test_files_that_are_there_are_replaced_only_if_asked():
    Path("calqa.py").write_text("mine", encoding="utf-8")
    status, out, err = in_process("benchmark", "calqa")
    assert (status, out, [path.name for path in Path().iterdir()]) == (2, "", ["calqa.py"])
    assert "add --force to replace it" in err
    assert in_process("benchmark", "calqa", "--force")[0] == 0
    assert Path("calqa.py").read_text("utf-8") != "mine"


NO_NAME = (
    "'{}' is no name for a benchmark: a name begins with a lower-case letter and has lower-case letters, digits, - and"
    " _, such as calendar-tasks"
)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("wild-mini", "there is a benchmark 'wild-mini' already (wildtool list); choose another name"),
        ("CalQA", NO_NAME.format("CalQA")),
        ("../calqa", NO_NAME.format("../calqa")),
        ("a--b", NO_NAME.format("a--b")),
        ("json", "'json' is a word or module of Python; choose another name"),
        ("class", "'class' is a word or module of Python; choose another name"),
        ("wildtool", "'wildtool' is a word or module of Python; choose another name"),
    ],
)
def test_a_name_that_cannot_work_is_refused(place: Path, name: str, problem: str):
    assert in_process("benchmark", name) == (2, "", f"wildtool: {problem}\n")
    assert [*place.iterdir()] == []


def test_what_can_be_new_is_listed():
    status, out, err = in_process()
    assert (status, out, err) == (2, "", in_process("--help")[1])
    assert [line.split()[0] for line in err.splitlines()[-2:]] == ["benchmark", "cases"]


@pytest.mark.long
def test_two_benchmark_files_of_one_name_are_not_mixed(
    place: Path, monkeypatch: pytest.MonkeyPatch, no_benchmark_files: Callable[[], None]
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(place / "data"))
    monkeypatch.setenv("WILDTOOL_BENCHMARK_FILES", "")

    def ended(*words: str) -> tuple[int, str]:
        no_benchmark_files()
        result = CliRunner().invoke(app, list(words), prog_name="wildtool")
        return result.exit_code, result.stderr

    for folder in ("a", "b"):
        assert ended("new", "benchmark", "tides", "-o", folder)[0] == 0
        status, err = ended(
            "run", f"{folder}/tides.py", "--model", "baseline/gold", "--out", f"{folder}/run", "-q"
        )
        assert status == 0, err
    # The same file in two places is one benchmark.
    assert ended("report", "a/run", "b/run", "-o", "same")[0] == 0
    assert ended("compare", "a/run", "b/run")[0] == 0
    file = place / "b" / "tides.py"
    file.write_text(file.read_text("utf-8") + "# stricter\n", "utf-8")
    status, err = ended("report", "a/run", "b/run", "-o", "mixed")
    assert status == 2 and "define different benchmarks of one name, tides" in err, err
    assert str(place / "a" / "tides.py") in err and not (place / "mixed").exists()
    assert ended("report", "b/run", "-o", "one")[0] == 0
    status, err = ended("compare", "a/run", "b/run")
    assert status == 2 and "Python file that defines tides (SHA-256): " in err, err
