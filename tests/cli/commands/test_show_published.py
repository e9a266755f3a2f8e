"""`wildtool show --published`, as it is typed: the papers' models with runs among them."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wildtool.benchmark import Published
from wildtool.benchmarks.wildtoolbench import WildToolBench
from wildtool.benchmarks.wildtoolbench.summary import PUBLISHED
from wildtool.cli import app

RUN = "runs/wild-mini/baseline--gold"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "no-data"))


@pytest.fixture
def as_if_published_on_wild_mini(monkeypatch: pytest.MonkeyPatch) -> None:
    """The official data are not at hand in tests, so the embedded set stands for them."""

    def figures(benchmark: WildToolBench) -> Sequence[Published]:
        return [replace(row, data="wild-mini") for row in PUBLISHED()]

    monkeypatch.setattr(WildToolBench, "published", figures)


def type_(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="wildtool")


def run(*more: str) -> None:
    assert type_("run", "wild-mini", "--quiet", "--model", "baseline/gold", *more).exit_code == 0


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All items, played under two profiles."""
    place = tmp_path_factory.mktemp("played")
    for profile in ("paper", "official"):
        run("--profile", profile, "--out", str(place / profile / Path(RUN).relative_to("runs")))
    return place


@pytest.fixture
def play(played: Path) -> Callable[[str], object]:
    """Puts the run of a profile into the folder of the test."""
    return lambda profile: copytree(played / profile, "runs")


def published(*words: str) -> str:
    ended = type_("show", "--published", *words)
    assert ended.exit_code == 0, ended.stderr
    return ended.stdout


def boards(*words: str) -> dict[str, Any]:
    return json.loads(published(*words, "--json"))


def model_names(found: dict[str, Any]) -> list[str]:
    return [entry["model"] for entry in found["boards"][0]["models"]]


def line_of(model: str, out: str) -> str:
    return next(line for line in out.splitlines() if line.strip().startswith(model))


def test_without_names_every_table_is_listed():
    out = published()
    assert [name in out for name in ("wildtoolbench_table6_accuracy", "acebench_zh", "toleap_teval")] == [
        True
    ] * 3


def test_a_paper_that_is_no_benchmark_lists_its_tables():
    out = published("toleap")
    assert "toleap_injecagent" in out
    assert "acebench" not in out


def test_a_table_is_shown_as_printed_with_what_its_columns_mean():
    out = published("toleap_apibank")
    assert line_of("GPT-4o", out).split()[:5] == ["GPT-4o", "41.55", "35.69", "40.44", "Proprietary"]
    assert "level1_given_desc: level 1, tools given" in out


@pytest.mark.parametrize("benchmark", [("wildtoolbench",), ("--benchmark", "wildtoolbench")])
def test_the_figures_of_a_benchmark_stand_by_its_headline(benchmark: tuple[str, ...]):
    found = boards(*benchmark)["boards"][0]
    assert found["order"] == ["accuracy", "session"]
    sessions = [
        value["value"]
        for entry in found["models"]
        for value in entry["values"]
        if (value["group"], value["name"]) == ("accuracy", "session")
    ]
    assert len(sessions) == 57
    assert sessions == sorted(sessions, reverse=True)


def test_what_must_be_known_of_a_published_number_is_said_where_it_is_shown():
    said = "task type, Chat: any text passes"
    assert said in published("wildtoolbench", "--group", "task type")
    assert said not in published("wildtoolbench", "--group", "errors")


def test_the_title_names_paper_table_and_profile():
    title = published("wildtoolbench").splitlines()[0]
    assert title == "WildToolBench paper (arXiv 2604.06185), Table 6 (%, profile paper), by accuracy session"


def test_a_group_is_shown_with_the_table_that_it_stands_in():
    out = published("wildtoolbench", "--group", "errors")
    assert "Table 8, errors" in out.splitlines()[0]
    assert line_of("GPT-4o", out).split()[1] == "5.41"


def test_the_tables_of_a_language_are_in_the_order_of_that_language():
    out = published("acebench", "--group", "Table 2 (zh)")
    assert out.index("Claude-3-5-Sonnet") < out.index("Gemini-1.5-Pro") < out.index("Doubao")
    assert " ".join(out.splitlines()[:2]).rstrip().endswith("by Overall")


def test_numbers_have_the_decimals_of_their_paper():
    assert line_of("GPT-4o ", published("acebench")).split()[1:3] == ["85.4", "87.6"]


def test_an_unknown_group_is_refused_with_the_known_ones():
    ended = type_("show", "--published", "wildtoolbench", "--group", "colour")
    assert ended.exit_code == 2
    assert "optimal path (OP)" in ended.stderr


def test_a_name_that_is_nothing_is_refused():
    ended = type_("show", "--published", "acebenhc")
    assert ended.exit_code == 2
    assert "acebenhc" in ended.stderr


@pytest.mark.long
@pytest.mark.usefixtures("as_if_published_on_wild_mini")
def test_a_run_stands_among_the_models_at_its_place_and_is_marked(play: Callable[[str], object]):
    play("paper")
    out = published("runs")
    first = out.splitlines()[5]
    assert first.split()[:4] == ["baseline/gold", "(measured", "here)", "100.00"]
    assert f"baseline/gold: measured here, 32 items, from {RUN}" in out


@pytest.mark.long
@pytest.mark.usefixtures("as_if_published_on_wild_mini")
def test_a_weak_run_stands_below():
    assert (
        type_("run", "wild-mini", "--quiet", "--model", "baseline/chat", "--profile", "paper").exit_code == 0
    )
    names = model_names(boards("runs"))
    assert names[0] == "Gemini-2.0-Thinking"
    assert "baseline/chat" in names


@pytest.mark.long
@pytest.mark.usefixtures("as_if_published_on_wild_mini")
def test_every_published_metric_is_one_that_a_run_has(play: Callable[[str], object]):
    play("paper")
    found = boards("runs")["boards"][0]["models"]
    wanted = {key for row in PUBLISHED() for key in row.values}
    (ours,) = ({(v["group"], v["name"]) for v in entry["values"]} for entry in found if entry["run"])
    assert ours == wanted


@pytest.mark.usefixtures("as_if_published_on_wild_mini")
def test_a_run_judged_by_other_rules_is_named_with_the_command_that_judges_it_by_these(
    play: Callable[[str], object],
):
    play("official")
    ended = type_("show", "--published", "runs")
    assert "baseline/gold" not in ended.stdout
    assert f"`wildtool score {RUN} --profile paper`" in ended.stderr


@pytest.mark.usefixtures("as_if_published_on_wild_mini")
def test_after_that_command_the_run_stands_in_the_table_with_the_rules_it_was_played_by(
    play: Callable[[str], object],
):
    play("official")
    assert type_("score", RUN, "--profile", "paper").exit_code == 0
    assert "baseline/gold: measured here, 32 items, played official, judged paper" in published("runs")


@pytest.mark.usefixtures("as_if_published_on_wild_mini")
def test_a_profile_that_is_named_judges_the_runs_on_the_spot(play: Callable[[str], object]):
    play("official")
    assert "baseline/gold (measured here)" in published("runs", "--profile", "paper")


@pytest.mark.long
@pytest.mark.usefixtures("as_if_published_on_wild_mini")
@pytest.mark.parametrize(
    ("words", "part"), [("--limit 2", "--limit 2"), ("--ids wild_mini_0,wild_mini_1", "--ids of 2"), ("--limit 33", "")]
)  # fmt: skip
def test_a_run_of_chosen_items_is_named_and_stays_out(words: str, part: str):
    run("--profile", "paper", *words.split())
    ended = type_("show", "--published", "runs")
    assert ("baseline/gold" in ended.stdout) == (not part)
    assert (f"played on a part of the data ({part})" in ended.stderr) == bool(part)


def test_a_run_over_other_data_is_named_and_stays_out(play: Callable[[str], object]):
    play("paper")
    ended = type_("show", "--published", "runs")
    assert "baseline/gold" not in ended.stdout
    assert f"{RUN} is not in the table: played on wild-mini" in ended.stderr


def test_why_a_run_stays_out_stands_in_json_too(play: Callable[[str], object]):
    play("paper")
    assert "wild-mini" in boards("runs")["left_out"][RUN]


@pytest.mark.usefixtures("as_if_published_on_wild_mini")
def test_csv_has_one_number_a_row_with_its_source(play: Callable[[str], object]):
    play("paper")
    rows = list(csv.DictReader(io.StringIO(published("runs", "--csv"))))
    wanted = [r for r in rows if (r["group"], r["name"]) == ("accuracy", "session")]
    assert (wanted[0]["run"], wanted[0]["value"], wanted[0]["source"]) == (RUN, "1.0", "measured here")
    assert wanted[1]["source"] == "WildToolBench paper (arXiv 2604.06185), Table 6"
    assert any(row["group"] == "errors" for row in rows)


def test_tables_and_the_list_of_them_are_csv_too():
    source = '"ToLeaP paper (arXiv 2505.11833), Table 9"'
    assert published("toleap_apibank", "--csv").splitlines()[:2] == [
        "model,kind,table,column,value,unit,source",
        f"Llama-3.2-1B,6B- Open-source LLMs,toleap_apibank,level1_given_desc,,percent,{source}",
    ]
    head, *rows = published("--csv").splitlines()
    assert head == "table,models,source,about"
    assert f"toleap_apibank,41,{source},API-Bank: mean ROUGE-L F of replies" in rows


def test_csv_of_two_kinds_is_refused():
    assert type_("show", "--published", "wildtoolbench", "toleap_apibank", "--csv").exit_code == 2


def test_json_and_csv_together_are_refused():
    assert type_("show", "--published", "--json", "--csv").exit_code == 2


def test_a_benchmark_without_published_goes_with_nothing():
    ended = type_("show", "--benchmark", "wildtoolbench", "runs")
    assert ended.exit_code == 2
    assert "--published" in ended.stderr


def test_a_folder_goes_before_a_benchmark_of_its_name():
    Path("wildtoolbench").mkdir()
    ended = type_("show", "--published", "wildtoolbench")
    assert ended.exit_code == 2
    assert "holds no run" in ended.stderr
