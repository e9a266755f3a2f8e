"""`wildtool compare` as it is typed, on runs of the embedded set; whole texts are in `golden/printed/compare.txt`."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from e2e.surface import typed
from wildtool.cli import app
from wildtool.cli.output.comparison import COMPARISON_CSV_COLUMNS


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four items played by three baselines; elsewhere by another language and fewer items."""
    place = tmp_path_factory.mktemp("compare")
    models = "--model baseline/lexical --model baseline/chat --model baseline/gold"
    assert type_(f"run wild-mini --quiet --limit 4 {models} --out {place}/runs").exit_code == 0
    assert type_(f"run wild-mini --quiet --limit 3 --model baseline/gold --out {place}/fewer").exit_code == 0
    return place


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


LEXICAL, CHAT, GOLD = (f"runs/baseline--{name}" for name in ("lexical", "chat", "gold"))


def as_json(line: str) -> Any:
    ended = type_(f"compare {line} --json")
    assert ended.exit_code == 0, ended.stderr
    return json.loads(ended.stdout)


def unfolded(text: str) -> str:
    """The text without the breaks of its lines."""
    return " ".join(text.split())


def unplay(run: str) -> None:
    """Takes all but the first replies from a run's record."""
    segment = Path(run) / "record-0001.jsonl"
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:6]))


def test_a_comparison_says_difference_intervals_test_and_finding():
    ended = type_(f"compare {LEXICAL} {GOLD}")
    assert ended.exit_code == 0
    for said in ("difference", "95 % bootstrap", "p after Holm", "detectable", "finding"):
        assert said in ended.stdout
    # Four items that all lead have p = 2 / 2^4.
    assert "0.1250" in ended.stdout
    assert "baseline/gold and baseline/lexical are not distinguishable on these 4 items" in ended.stdout


def test_the_numbers_are_those_of_the_runs():
    found = as_json(f"{CHAT} {GOLD}")
    whole = found["comparisons"][0]["whole"]
    assert (whole["units"], whole["items"], whole["accuracy"]["value"]) == (16, 4, 1.0)
    right = [run["accuracy"]["value"] for run in found["runs"]]
    assert whole["difference"] == pytest.approx(right[1] - right[0])
    assert len(found["comparisons"][0]["flips"]) == whole["gained"] + whole["lost"]


def test_the_accuracy_is_the_one_that_show_prints():
    shown = json.loads(type_(f"show {LEXICAL} --json").stdout)["runs"][0]["metrics"][0]
    run = as_json(f"{LEXICAL} {GOLD}")["runs"][0]
    assert run["accuracy"] == pytest.approx(
        {name: shown[name] for name in ("value", "low", "high", "least", "most")}
    )


def test_the_first_run_is_the_baseline_of_the_others():
    found = as_json(f"{GOLD} {LEXICAL} {CHAT}")
    assert [(one["baseline"], one["model"]) for one in found["comparisons"]] == [
        ("baseline/gold", "baseline/lexical"),
        ("baseline/gold", "baseline/chat"),
    ]


def test_p_of_the_comparisons_is_said_to_be_others_than_those_of_the_ranks():
    assert "for these 2 comparisons" in " ".join(type_(f"compare {GOLD} {LEXICAL} {CHAT}").stdout.split())
    for words in (f"{GOLD} {LEXICAL}", "runs --all-pairs"):
        assert "p after Holm is for" not in type_(f"compare {words}").stdout


def test_a_folder_of_runs_stands_for_all_of_them():
    assert len(as_json("runs --all-pairs")["comparisons"]) == 3


def test_whole_items_can_be_compared():
    found = as_json(f"{CHAT} {GOLD} --metric item")["comparisons"][0]
    assert (found["whole"]["units"], found["test"]) == (4, "McNemar's exact test")


def test_flips_are_listed_with_their_ids():
    ended = type_(f"compare {CHAT} {GOLD} --flips --group task_type")
    assert "wild_mini_0 0" in ended.stdout
    assert "gained (baseline/gold against baseline/chat)" in ended.stdout
    assert "lost (" not in ended.stdout


def test_units_are_grouped_by_a_column_of_the_benchmark():
    parts = as_json(f"{CHAT} {GOLD} --group task_type")["comparisons"][0]["parts"]
    assert sum(part["units"] for part in parts) == 16
    chat = next(part for part in parts if part["name"] == "Chat")
    assert (chat["difference"], chat["gained"], chat["lost"]) == (0, 0, 0)


def test_several_comparisons_stand_in_one_table():
    ended = type_("compare runs")
    assert ended.stdout.count("against baseline/chat") == 1


def test_csv_has_a_row_for_each_comparison_and_group():
    ended = type_(f"compare {LEXICAL} {GOLD} --csv --group position")
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    assert tuple(rows[0]) == COMPARISON_CSV_COLUMNS
    assert [(row["group"], row["name"]) for row in rows] == [
        ("", "all"),
        *(("position", str(i)) for i in range(1, 5)),
    ]
    assert rows[0]["p"] != ""
    assert rows[1]["p"] == ""


def test_verdicts_are_made_on_the_spot():
    found = as_json(f"{CHAT} {GOLD} --profile fixed")
    assert {run["profile"] for run in found["runs"]} == {"fixed"}
    assert (Path(CHAT) / "verdicts-fixed.parquet").exists()


def test_two_runs_of_one_model_are_told_apart_by_their_folders():
    shutil.copytree(GOLD, "again")
    labels = [run["label"] for run in as_json(f"{GOLD} again")["runs"]]
    assert labels == [f"baseline/gold ({GOLD})", "baseline/gold (again)"]


def test_compared_anyway_json_and_csv_say_so():
    assert len(as_json(f"{LEXICAL} fewer --anyway")["differing"]) == 1
    rows = list(csv.DictReader(io.StringIO(type_(f"compare {LEXICAL} fewer --anyway --csv").stdout)))
    assert "differ in units" in rows[0]["differing"]


def test_runs_played_under_different_rules_are_refused():
    type_("run wild-mini --quiet --limit 4 --model baseline/gold --profile fixed --out other")
    ended = type_(f"compare {LEXICAL} other --profile official")
    assert ended.exit_code == 2
    assert "profile they were run under: official and fixed" in ended.stderr


def fail(run: str) -> None:
    """Makes the calls of a run's first steps ones that failed."""
    segment = Path(run) / "record-0001.jsonl"
    header, *rows = map(json.loads, segment.read_bytes().splitlines())
    for row in rows:
        failed = {"row": "error", "kind": "http 500", "message": "down", "attempts": 1}
        row |= failed if row["step"] == 0 else {}
        row.pop("synced", None), row.pop("crc32", None)
    segment.write_text("".join(json.dumps(row) + "\n" for row in [header, *rows]))


def test_a_run_that_was_not_played_to_its_end_is_refused_unless_asked_for():
    unplay(LEXICAL)
    ended = type_(f"compare {GOLD} {LEXICAL}")
    assert ended.exit_code == 2
    assert "baseline/lexical: 12 of 16 units were not played" in ended.stderr
    assert "--only-played" in ended.stderr
    assert type_(f"compare {GOLD} {LEXICAL} --anyway").exit_code == 2
    assert type_(f"compare {GOLD} {LEXICAL} --only-played").exit_code == 0


def test_units_whose_calls_failed_decide_nothing_and_it_is_said():
    fail(LEXICAL)
    ended = type_(f"compare {GOLD} {LEXICAL}")
    assert ended.exit_code == 0
    assert "no finding: " in ended.stdout and "units without a verdict" in unfolded(ended.stdout)
    assert "count as not right; differences, intervals and p allow for all" in unfolded(ended.stdout)


def test_unplayed_units_that_are_left_out_are_counted():
    unplay(LEXICAL)
    assert as_json(f"{GOLD} {LEXICAL} --only-played")["comparisons"][0]["left_out"] > 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare", "needs two runs or more"),
        (f"compare {GOLD}", "needs two runs or more"),
        (f"compare {GOLD} {GOLD}", "the same run is given twice"),
        (f"compare {GOLD} nowhere", "nowhere"),
        (f"compare {GOLD} {CHAT} --metric session", "unknown metric 'session' (known: unit, item)"),
        (f"compare {GOLD} {CHAT} --group nonsense", "task_type"),
        (f"compare {GOLD} {CHAT} --group outcome", "task_type"),
        (f"compare {GOLD} {CHAT} --json --csv", "not both"),
        (f"compare {GOLD} {CHAT} --profile nonsense", "official"),
        (f"compare {GOLD} --published --flips", "--flips means nothing with --published"),
    ],
)
def test_a_wrong_command_says_what_to_do(line: str, said: str):
    ended = type_(line)
    assert ended.exit_code == 2
    assert said in ended.stderr


@pytest.mark.long
def test_the_worked_example_of_the_docs_is_what_the_command_prints():
    type_("run wild-mini --quiet --model baseline/lexical --model baseline/chat --out runs/demo")
    page = (Path(__file__).parents[3] / "docs" / "compare.md").read_text(encoding="utf-8")
    line, example = page.split("```\n$ wildtool ")[1].split("\n```")[0].split("\n", maxsplit=1)
    assert type_(line).stdout.startswith(example)


@pytest.mark.long
def test_hostile_names_of_models_stay_text():
    about = json.loads((Path(GOLD) / "run.json").read_text())
    about["identity"]["models"]["agent"]["name"] = "\x1b[31m[bold]\u202ered"
    (Path(GOLD) / "run.json").write_text(json.dumps(about))
    for option in ("", " --csv", " --json", " --flips"):
        ended = type_(f"compare {CHAT} {GOLD}{option}")
        assert ended.exit_code == 0
        assert "\x1b" not in ended.stdout
        assert "\u202e" not in ended.stdout
    assert "[bold]" in type_(f"compare {CHAT} {GOLD}").stdout


def test_beside_published_numbers_it_is_said_how_the_runs_were_found():
    (folder,) = {path.parent for path in Path("fewer").rglob("run.json")}
    (folder / "verdicts-paper.parquet").write_bytes(b"PAR1")
    ended = type_(f"compare {folder} --published --profile paper --published-model claude-4-sonnet")
    assert ended.exit_code == 0
    assert "so its verdicts were made again" in ended.stderr


@pytest.mark.long
def test_a_run_beside_published_numbers(tmp_path: Path):
    folder = tmp_path / "run"
    words = ("run", "wild-mini", "--model", "baseline/gold", "--limit", "2", "--out", folder, "--quiet")
    assert typed(*words)[0] == 0
    asked = ("compare", folder, "--published", "--profile", "paper", "--published-model", "claude-4-sonnet")
    status, told = typed(*asked)
    assert status == 0
    assert "Possible causes:" in told
    assert "blue" in told
    (found,) = json.loads(typed(*asked, "--json")[1])
    assert found["published_model"] == "Claude-4-Sonnet"
    assert sum(found["bands"].values()) == len(found["numbers"])
    head, *rows = typed(*asked, "--csv")[1].splitlines()
    assert head.startswith("run,benchmark,profile")
    assert len(rows) == len(found["numbers"])
    assert typed("compare", folder, "--absolute")[0] == 2


@pytest.mark.long
@pytest.mark.parametrize(
    "setting",
    ["--failures first-call", "--noise names:slight", "--history own", "--among 12", "--inject base"],
)
def test_an_altered_run_is_compared_with_one_that_is_not_in_both_orders(setting: str):
    assert (
        type_(f"run wild-mini --quiet --limit 4 --model baseline/gold --out altered {setting}").exit_code == 0
    )
    for line in (f"altered {GOLD}", f"{GOLD} altered"):
        ended = type_(f"compare {line}")
        assert ended.exit_code == 0, ended.stderr
        assert "difference" in ended.stdout
