"""`wildtool export` as it is typed."""

from pathlib import Path
from shutil import copytree

import pytest
from typer.testing import CliRunner, Result

from wildtool.cli import app
from wildtool.export import EXPORT_FORMATS
from wildtool.export.commands import WITH_PASSPORT

RUN = "runs/wild-mini/baseline--gold"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs as they are left by the command."""
    place = tmp_path_factory.mktemp("export")
    words = f"run wild-mini --quiet --model baseline/gold --model baseline/chat --out {place}/wild-mini"
    assert type_(words).exit_code == 0
    return place


@pytest.fixture(autouse=True)
def _in_a_folder_with_two_runs(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copytree(runs, tmp_path / "runs")
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def files(place: str = ".") -> list[str]:
    return sorted(path.name for path in Path(place).iterdir() if path.is_file())


@pytest.mark.long
def test_a_file_that_is_no_run_is_named_as_such():
    Path("notes.md").write_text("Some notes.")
    for verb in ("show", "score", "export --format csv"):
        ended = type_(f"{verb} notes.md")
        assert (
            ended.exit_code,
            "notes.md is no run: give the folder of a run, or a bundle" in ended.stderr,
        ) == (2, True)


def test_an_export_of_nothing_says_so_and_leaves_no_file():
    ended = type_("export runs --format openai --only infra_error -o out")
    assert (ended.exit_code, ended.stdout) == (1, "")
    says = "nothing to export: the run has no unit whose outcome is infra_error that gives a line of openai"
    assert ended.stderr.count(says) == 2
    assert not list(Path().glob("out*/*"))


@pytest.mark.long
@pytest.mark.parametrize("form", [form for form in EXPORT_FORMATS if form not in ("inspect", "pairs")])
def test_a_run_is_written_here_under_its_own_name(form: str):
    more = " --hub-dataset a/b" * ("hub_dataset" in EXPORT_FORMATS[form].options)
    ended = type_(f"export {RUN} --to {form}{more}")
    assert ended.exit_code == 0
    name = f"baseline--gold{EXPORT_FORMATS[form].suffix}"
    beside = f"{name}/passport.json" if EXPORT_FORMATS[form].folder else f"{name}.passport.json"
    written = [name, *([beside] if form in WITH_PASSPORT else [])]
    assert ended.stdout.split() == written and all(Path(path).exists() for path in written)
    here = {Path(path).parts[0] for path in written}
    assert {path.name for path in Path().iterdir()} == {*here, "runs"}


def test_out_names_the_file_of_one_run():
    assert type_(f"export {RUN} --to csv -o new/table.csv").exit_code == 0
    assert files("new") == ["table.csv", "table.csv.passport.json"]


def test_out_names_the_folder_of_several_runs():
    assert type_("export runs/wild-mini --to csv --out tables").exit_code == 0
    assert files("tables") == [
        f"wild-mini--baseline--{name}.csv{end}" for name in ("chat", "gold") for end in ("", ".passport.json")
    ]


def test_out_may_be_a_folder_that_is_there():
    Path("tables").mkdir()
    type_(f"export {RUN} --to csv --out tables")
    assert files("tables") == ["baseline--gold.csv", "baseline--gold.csv.passport.json"]


def test_a_bundle_takes_the_place_of_a_run():
    type_(f"export {RUN} --to bundle -o handed.zip")
    for line in ("show handed.zip", "score handed.zip --profile fixed", "export handed.zip --to csv"):
        assert type_(line).exit_code == 0
    assert "baseline/gold" in type_("show handed.zip").stdout
    assert files() == ["baseline--gold.csv", "baseline--gold.csv.passport.json", "handed.zip"]


def test_a_damaged_bundle_ends_with_2():
    Path("bad.zip").write_bytes(b"PK")
    for line in ("show bad.zip", "score bad.zip", "export bad.zip --to csv"):
        ended = type_(line)
        assert ended.exit_code == 2
        assert "bad.zip: not a bundle, or damaged" in ended.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"export {RUN}", "--format"),
        (f"export {RUN} --to nonsense", "parquet"),
        ("export --to csv", "give run folders"),
        ("export nowhere --to csv", "nowhere"),
        (f"export {RUN} --to csv --only correct", "--only cannot be used with --format csv"),
        (f"export {RUN} --to openai --only good", "known: correct"),
        (f"export {RUN} --to csv --with-data", "it is for: bundle"),
        (f"export {RUN} --to bundle --profile fixed", "--profile cannot be used with"),
        (f"export {RUN} --to csv --profile nonsense", "official"),
        (f"export {RUN} --to csv --out {RUN}", "inside a run folder"),
        (f"export {RUN} --to csv --out {RUN}/run.json", "inside a run folder"),
        (f"export {RUN} --to hf-card --out {RUN}", "inside a run folder"),
        (f"export {RUN} {RUN}/../../wild-mini/baseline--gold --to csv", "the same name"),
    ],
)
def test_what_cannot_work_ends_with_2_and_says_what_to_do(line: str, said: str):
    ended = type_(line)
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert files() == []
