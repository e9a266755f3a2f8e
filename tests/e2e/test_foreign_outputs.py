"""Every verb that writes: nothing is overwritten that wildtool did not make, and nothing but regular files is opened."""

import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from e2e.command import contents, wildtool
from e2e.filesystems import freeze, small
from wildtool.cli import app

FOLDERS = {
    "report": "report run -o OUT",
    "run": "run wild-mini --model baseline/gold --limit 1 --out OUT",
    "hf-card": "export run --to hf-card -o OUT",
    "items": "generate acebench --model procedural --items 2 -o OUT",
}
FILES = {
    "page": "report run --single-file -o OUT",
    "md": "report run --format md -o OUT",
    "latex": "report run --format latex -o OUT",
    **{form: f"export run --to {form} -o OUT" for form in ("csv", "parquet", "openai", "sharegpt", "bundle")},
    "sessions": "generate --model procedural --sessions 1 -o OUT",
    "refreshed": "data refresh wild-mini --skip-unclear -o OUT",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made") / "run"
    assert type_(f"run wild-mini --model baseline/gold --limit 1 --out {place}").exit_code == 0
    return place


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_run(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(run, tmp_path / "run")
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


@pytest.mark.parametrize("line", FOLDERS.values(), ids=FOLDERS)
def test_a_folder_of_something_else_is_left_alone_without_force(line: str):
    line = line.replace("OUT", "thesis")
    # A folder of one export is made inside one that is there.
    place = Path("thesis", "run-dataset" if "hf-card" in line else "")
    place.mkdir(parents=True)
    (place / "index.html").write_text("mine")
    (place / "README.md").write_text("mine")
    ended = type_(line)
    assert ended.exit_code == 2
    assert "thesis" in ended.stderr
    assert "--force" in ended.stderr
    assert sorted(contents(Path("thesis")).values()) == [b"mine", b"mine"]
    assert type_(f"{line} --force").exit_code == 0


@pytest.mark.parametrize("line", [FOLDERS[name] for name in ("report", "run", "hf-card")])
def test_a_folder_that_the_same_command_made_is_written_to_again(line: str):
    for _ in range(2):
        assert type_(line.replace("OUT", "new/folder")).exit_code == 0
    Path("empty").mkdir()
    assert type_(line.replace("OUT", "empty")).exit_code == 0


@pytest.mark.long
@pytest.mark.parametrize("line", FILES.values(), ids=FILES)
def test_a_file_of_somebody_is_left_alone_without_force(line: str):
    line = line.replace("OUT", "thesis.txt")
    Path("thesis.txt").write_text("mine")
    ended = type_(line)
    assert ended.exit_code == 2
    assert "thesis.txt" in ended.stderr
    assert "--force" in ended.stderr
    assert Path("thesis.txt").read_text() == "mine"
    assert type_(f"{line} --force").exit_code == 0
    assert Path("thesis.txt").read_bytes() != b"mine"


@pytest.mark.long
@pytest.mark.parametrize(
    "line", [line for name, line in FILES.items() if name not in ("sessions", "refreshed")]
)
def test_a_file_that_wildtool_made_is_replaced_by_another_form(line: str):
    for before in ("report run --format md -o x", line.replace("OUT", "x"), "export run --to csv -o x"):
        assert type_(before).exit_code == 0


def test_replies_are_not_kept_in_a_folder_of_something_else():
    replies = (
        '{"session": "wild_mini_0", "model": "m", "tasks": [[{"role": "assistant", "content": "Hi"}]]}\n'
    )
    Path("replies.jsonl").write_text(replies)
    Path("out", "m").mkdir(parents=True)
    Path("out", "m", "notes").write_text("mine")
    ended = type_("score --data wild-mini --benchmark wild-mini --replies replies.jsonl --out out")
    assert (ended.exit_code, "did not make here" in ended.stderr) == (2, True), ended.stderr


async def test_a_pipe_in_place_of_a_file_is_refused_at_once(tmp_path: Path):
    os.mkfifo("pipe")
    for line in (
        FILES["csv"],
        FILES["page"],
        FILES["md"],
        FILES["sessions"],
        FOLDERS["report"],
        FOLDERS["run"],
    ):
        ended = await wildtool(*line.replace("OUT", "pipe").split(), "--force", cwd=tmp_path)
        assert (ended.status, "a pipe" in ended.err) == (2, True), (line, ended)


@pytest.mark.long
@pytest.mark.parametrize("name", ["run.json", "record-0001.jsonl", "lock", "verdicts-official.parquet"])
async def test_a_pipe_in_a_run_folder_is_refused_at_once(tmp_path: Path, name: str):
    (tmp_path / "run" / name).unlink()
    os.mkfifo(tmp_path / "run" / name)
    for line in ("show run", "score run", "report run -o new", FOLDERS["run"].replace("OUT", "run")):
        ended = await wildtool(*line.split(), cwd=tmp_path)
        assert (ended.status, f"{name}: is a pipe" in ended.err) == (2, True), (line, ended)


async def test_a_pipe_beside_runs_is_passed_over(tmp_path: Path):
    os.mkfifo("handed.bundle.zip")
    ended = await wildtool("show", ".", cwd=tmp_path)
    assert (ended.status, "baseline/gold" in ended.out) == (0, True), ended


def test_nothing_is_written_through_a_link_in_a_report():
    assert type_("report run -o site").exit_code == 0
    Path("mine").mkdir()
    shutil.rmtree("site/data")
    Path("site/data").symlink_to(Path("mine").resolve())
    ended = type_("report run -o site")
    assert (ended.exit_code, "symbolic link" in ended.stderr) == (2, True)
    assert list(Path("mine").iterdir()) == []


EVERY = [
    *FOLDERS.values(),
    *FILES.values(),
    "run wild-mini --model baseline/gold --limit 1 --out new --cache OUT",
]


def test_where_nothing_may_be_written_every_verb_ends_with_2_and_the_reason(tmp_path: Path):
    Path("file").write_text("")
    for line in EVERY:
        ended = type_(line.replace("OUT", "file/out"))
        assert (ended.exit_code, "Not a directory" in ended.stderr) == (2, True), (line, ended.stderr)
    with small(tmp_path / "disk", 100) as disk:
        freeze(disk)
        for line in EVERY:
            ended = type_(line.replace("OUT", str(disk / "out")))
            assert (ended.exit_code, "Read-only" in ended.stderr) == (2, True), (line, ended.stderr)
