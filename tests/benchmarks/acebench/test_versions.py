"""Two versions of ACEBench's data and evaluator: pulled, told apart, and kept by the runs that were made with them."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from typer.testing import CliRunner, Result

from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.source import DATA
from wildtool.board.verify import verify
from wildtool.cli import app
from wildtool.engine.score.results import load_result
from wildtool.errors import DataError, UsageError

AUGUST = "official-2025-08"
SPLIT = "normal_atom_list"
"""A category whose English question and answer changed; gold answers of August are refused for blanks elsewhere."""
RUN = ("run", "acebench", "--split", SPLIT, "--lang", "en", "--model", "baseline/gold", "--quiet")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def typed(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="wildtool")


def pull(folder: Path, version: str = "2025-10") -> list[str]:
    said: list[str] = []
    DATA.at_version(version).pull(file=folder, mirror=None, report=said.append)
    return said


@pytest.fixture
def both(cache: Path, official: Path, newest: Path) -> Path:
    pull(official, "2025-08")
    pull(newest)
    return cache


@pytest.fixture
def earlier(cache: Path, official: Path, newest: Path) -> Callable[..., Path]:
    """Makes a run as wildtool 0.2 left it, which knew one version; the newest data are pulled afterwards."""

    def make(out: Path, *more: object) -> Path:
        pull(official, "2025-08")
        assert typed(*RUN, *more, "--data", AUGUST, "--out", out).exit_code == 0
        run = json.loads((out / "run.json").read_text())
        del run["identity"]["edition"]
        run["identity"]["profile"] = run["data"]["name"] = "official"
        (out / "run.json").write_text(json.dumps(run))
        (out / f"verdicts-{AUGUST}.parquet").unlink()
        assert typed("score", out).exit_code == 0
        (cache / "acebench-2025-08").rename(cache / "acebench")
        return out

    return make


# Data ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_pulling_the_newest_keeps_what_an_earlier_wildtool_had_pulled(
    cache: Path, official: Path, newest: Path
) -> None:
    pull(official, "2025-08")
    (cache / "acebench-2025-08").rename(cache / "acebench")
    before = DATA.locate(AUGUST)
    assert before.path == cache / "acebench"
    with pytest.raises(
        DataError, match=r"of version 2025-08; `wildtool data pull acebench` gets version 2025-10"
    ):
        DATA.locate("official")
    pull(newest)
    after = DATA.locate(AUGUST)
    assert (after.path, after.sha256) == (cache / "acebench-2025-08", before.sha256)
    assert DATA.locate("official").sha256 != before.sha256


@pytest.mark.long
def test_files_and_tables_that_are_the_same_are_taken_from_the_other_version(
    both: Path, official: Path
) -> None:
    changed = official.with_name("acebench_2025_10")
    (both / "acebench").rename(both / "gone")
    assert any("8 of 68 files" in line for line in pull(changed))
    assert DATA.locate("official").path == both / "acebench"


def test_a_version_that_is_not_there_says_how_to_get_it(cache: Path, newest: Path) -> None:
    pull(newest)
    with pytest.raises(DataError, match="wildtool data pull acebench --version 2025-08"):
        DATA.locate(AUGUST)
    assert DATA.locate("official-2025-10") == DATA.locate("official")
    # What did not change is in the newest version, too.
    assert DATA.locate(AUGUST, "normal_preference").path == cache / "acebench"
    with pytest.raises(UsageError, match="2025-10, 2025-08"):
        DATA.at_version("2024-01")


@pytest.mark.long
def test_a_folder_with_files_of_both_versions_is_no_version(both: Path) -> None:
    name = "en/possible_answer/data_normal_atom_list.json"
    (both / "acebench" / name).write_bytes((both / "acebench-2025-08" / name).read_bytes())
    with pytest.raises(DataError, match="mixture of versions 2025-10, 2025-08"):
        DATA.locate("official")


def test_the_command_takes_a_version(cache: Path, official: Path) -> None:
    done = typed("data", "pull", "acebench", "--version", "2025-08", "--from", official)
    assert done.exit_code == 0, done.output
    assert DATA.locate(AUGUST).path == cache / "acebench-2025-08"
    assert typed("data", "pull", "wildtoolbench", "--version", "2025-08").exit_code == 2


# Runs ------------------------------------------------------------------------------------------------


def test_a_new_run_is_judged_by_the_evaluator_of_the_version_of_its_data(both: Path, tmp_path: Path) -> None:
    for out, data in (("newest", ()), ("august", ("--data", AUGUST))):
        assert typed(*RUN, *data, "--out", out).exit_code == 0
    newest, august = (load_result(Path(out)) for out in ("newest", "august"))
    assert (newest.profile, newest.played, newest.data) == ("official", "official", "official")
    assert (august.profile, august.played, august.data) == (AUGUST, AUGUST, AUGUST)
    assert newest.data_sha256 != august.data_sha256
    said = typed("show", "newest", "august").output
    assert "ACEBench/ACEBench 56dd66c" in said
    assert "ACEBench/ACEBench e6db74b" in said


def test_a_run_of_an_earlier_wildtool_keeps_data_and_verdicts(
    earlier: Callable[..., Path], tmp_path: Path, newest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = earlier(tmp_path / "old", "--limit", 40)
    table = (run / "verdicts-official.parquet").read_bytes()
    before = load_result(run)
    assert (before.profile, before.played, before.data) == (AUGUST, AUGUST, AUGUST)
    pull(newest)
    assert load_result(run, again=True).counts == before.counts
    # The same command continues it, with the data that it began with.
    assert typed(*RUN, "--limit", 50, "--out", run).exit_code == 0
    assert load_result(run).counts.units == 50
    assert (load_result(run).profile, load_result(run).data) == (AUGUST, AUGUST)
    assert json.loads((run / "run.json").read_text())["identity"]["profile"] == "official"
    # The newest rules are another table, beside the one that it has.
    assert load_result(run, "official").profile == "official"
    assert {path.name for path in run.glob("verdicts*")} == {
        "verdicts-official.parquet",
        "verdicts-official-2025-10.parquet",
    }
    # Without any data its own table is shown.
    old = copytree(run, tmp_path / "copy")
    (old / "verdicts-official-2025-10.parquet").unlink()
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "nothing"))
    assert load_result(old).profile == AUGUST
    assert table != (old / "verdicts-official.parquet").read_bytes()  # it has ten items more


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        (
            "run",
            "acebench",
            "--split",
            SPLIT,
            "--data",
            "official-2025-10",
            "--model",
            "baseline/gold",
            "--out",
            "old",
        ),
        ("score", "old", "--data", "official"),
        ("run", "acebench", "--split", SPLIT, "--model", "replay:old", "--out", "again"),
    ],
)
def test_data_of_one_version_and_a_record_of_another_are_refused(
    earlier: Callable[..., Path], newest: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    earlier(tmp_path / "old")
    pull(newest)
    done = typed(*words)
    assert done.exit_code == 2
    assert "has the data of version 2025-08, and these are version 2025-10" in " ".join(done.output.split())


@pytest.mark.long
def test_a_submission_keeps_the_rules_that_it_was_made_with(
    earlier: Callable[..., Path], tmp_path: Path, newest: Path
) -> None:
    """A passport of wildtool 0.2 says `official`, too, and means the rules of then."""
    earlier(tmp_path / "old")
    done = typed("board", "submit", "old", "-o", "sent")
    assert done.exit_code == 0, done.output
    (passport,) = Path("sent").glob("*.passport.json")
    claims = json.loads(passport.read_text())
    assert claims["rules"]["profile"] == "official"
    pull(newest)
    result = verify(next(Path("sent").glob("*.bundle.zip"))).result
    assert result is not None
    assert (result.profile, result.counts.units) == (AUGUST, 50)


@pytest.mark.long
def test_imported_results_are_judged_by_the_version_of_the_data_that_are_named(both: Path) -> None:
    place = Path("result_en/m")
    place.mkdir(parents=True)
    line = {"id": f"{SPLIT}_0", "result": "Sure: []"}
    (place / f"data_{SPLIT}_result.json").write_text(json.dumps(line) + "\n")
    for out, data, profile in (("a", "official", "official"), ("b", AUGUST, AUGUST)):
        words = ("score", "--benchmark", "acebench", "--data", data, "--replies", "result_en", "--out", out)
        assert typed(*words).exit_code == 0
        assert load_result(Path(out, "m")).profile == profile


@pytest.mark.long
def test_published_figures_are_compared_under_the_rules_that_they_were_made_with(both: Path) -> None:
    assert {(row.profile, row.data) for row in ACEBENCH.published()} == {(AUGUST, AUGUST)}
    assert typed(*RUN, "--out", "newest").exit_code == 0
    said = " ".join(typed("show", "--published", "newest").output.split())
    assert f"another data set than the published figures' ({AUGUST})" in said
