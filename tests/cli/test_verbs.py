"""The verbs as they are typed."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.cells import cell_len
from typer.core import TyperGroup
from typer.testing import CliRunner, Result

import wildtool
from wildtool.cli import app
from wildtool.cli.command import worst_status
from wildtool.cli.commands.list import ListKind, list_
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score import pool, results, score
from wildtool.engine.score.verdict_table import verdicts_path
from wildtool.installed import own_entries
from wildtool.training.readers.data_sets import DATA_SETS

VERBS = [
    "run",
    "score",
    "show",
    "compare",
    "gate",
    "tools",
    "tools lint",
    "tools try",
    "tools compare",
    "report",
    "view",
    "export",
    "list",
    "check",
    "board submit",
    "board verify",
    "board build",
    "audit",
    "trust",
    "worker start",
    "worker slurm",
    "worker kubernetes",
    "new",
    "new benchmark",
    "generate",
    "generate acebench",
    "review",
    "review start",
    "review export",
    "review stats",
    "review log",
    "review merge",
    "review round",
    "review people add",
    "review people revoke",
    "review people list",
    "data",
    "data pull",
    "data lint",
    "data stats",
    "data overlap",
    "data mix",
    "data refresh",
]
ITEM = "wild_mini_0"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "WILDTOOL_DEBUG"):
        monkeypatch.delenv(name, raising=False)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def play(model: str = "baseline/gold", more: str = "", limit: int = 1) -> Result:
    return type_(f"run wild-mini --limit {limit} --quiet --model {model} {more}")


def replies_file(**replies: list[list[dict[str, str]]]) -> Path:
    path = Path("replies.jsonl")
    rows = [{"item": ITEM, "model": model, "tasks": tasks} for model, tasks in replies.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_has_an_example(verb: str):
    ended = type_(f"{verb} --help")
    assert ended.exit_code == 0
    assert f"    wildtool {verb}" in ended.stdout


def test_there_are_no_verbs_but_these():
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    assert set(group.list_commands(typer.Context(group))) == {verb.split()[0] for verb in VERBS}


def test_help_loads_nothing_that_costs():
    script = (
        "import sys; from wildtool.cli import app; app(['run', '--help'], standalone_mode=False); "
        "print('LOADED', *({'rich', 'duckdb', 'aiohttp', 'jieba', 'orjson'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "LOADED"


def test_an_overview_imports_no_command():
    lines = ("--help", "generate nothing", "review nothing set", "data --help", "review people --help")
    script = (
        "import sys; from wildtool.cli import app\n"
        f"for line in {lines}:\n"
        "    try: app(line.split())\n"
        "    except SystemExit: print('IMPORTED', *(n for n in sys.modules if 'wildtool' in n and '.commands' in n))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    overview, *groups = [
        set(line.split()[1:]) for line in ended.stdout.splitlines() if line.startswith("IMPORTED")
    ]
    assert (overview, len(groups)) == (set(), 4)
    places = [entry.value.partition(":") for entry in own_entries("wildtool.commands").values()]
    of_groups = {module for module, _, target in places if target.isupper()}
    packages = {module.rpartition(".")[0] for module in of_groups}
    assert groups[-1] <= of_groups | packages


def test_an_overview_says_of_each_command_the_first_sentence_of_its_own_help():
    groups: list[Any] = [typer.main.get_command(app)]
    for group in groups:
        for name, command in group.commands.items():
            assert group.get_command(None, name).get_short_help_str(1_000) == command.get_short_help_str(
                1_000
            )
        groups += [command for command in group.commands.values() if isinstance(command, TyperGroup)]
    assert len(groups) == 9


def test_the_version_is_told():
    assert type_("--version").stdout == f"wildtool {wildtool.__version__}\n"


def test_a_run_is_played_judged_shown_and_kept():
    ended = type_("run wild-mini --limit 1 --model baseline/gold")
    assert ended.exit_code == 0
    assert "100.0 %" in ended.stdout
    assert "wildtool show runs/wild-mini/baseline--gold" in ended.stderr
    assert verdicts_path(Path("runs/wild-mini/baseline--gold"), "official").exists()


def test_quiet_leaves_only_the_table():
    ended = play()
    assert "100.0 %" in ended.stdout
    assert ended.stderr == ""


def test_the_same_command_again_asks_nothing():
    play()
    record = Path("runs/wild-mini/baseline--gold/record-0001.jsonl")
    before = record.read_bytes()
    assert play().exit_code == 0
    assert record.read_bytes() == before


def test_several_models_get_a_folder_each():
    ended = play("baseline/gold", "--model baseline/chat --out here")
    assert ended.exit_code == 0
    assert sorted(path.name for path in Path("here").iterdir()) == ["baseline--chat", "baseline--gold"]
    assert "baseline/chat" in ended.stdout


def test_options_select_what_is_played():
    ended = play("baseline/gold", "--lang zh --repeats 2 --order prefix --profile fixed --seed 3 --out run")
    assert ended.exit_code == 0
    run = json.loads(Path("run/run.json").read_text())
    assert (run["identity"]["lang"], run["identity"]["profile"], run["identity"]["seed"]) == (
        "zh",
        "fixed",
        3,
    )
    assert (run["scope"]["repeats"], run["scope"]["in_order"]) == (2, True)


def test_ids_may_be_given_with_commas_and_again():
    type_(f"run wild-mini --quiet --model baseline/chat --ids {ITEM},wild_mini_1 --ids wild_mini_2")
    run = json.loads(Path("runs/wild-mini/baseline--chat/run.json").read_text())
    assert run["scope"]["ids"] == [ITEM, "wild_mini_1", "wild_mini_2"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run nonsense --model baseline/gold", "known: "),
        ("run wild-mini --model baseline/nonsense", "baseline/gold"),
        ("run wild-mini --model m", "--base-url"),
        ("run wild-mini --model baseline/gold --profile nonsense", "official"),
        ("run wild-mini --model baseline/gold --ids nonsense", "nonsense"),
        ("run wild-mini --model baseline/gold --data nonsense", "nonsense"),
        ("run wild-mini --model baseline/gold --extra-body [1]", "--extra-body"),
        ("run wild-mini --model baseline/gold --extra-body {", "--extra-body"),
        ("run wild-mini --model baseline/gold --limit 0", "limit"),
        ("run wild-mini", "--model"),
        ("run wild-mini --model baseline/gold --retries -1", "--retries"),
        ("run wild-mini --model baseline/gold --timeout inf", "--timeout"),
        ("run wild-mini --model baseline/gold --timeout nan", "--timeout"),
        ("run wild-mini --model baseline/gold --timeout 0", "--timeout"),
        ("run wild-mini --model baseline/gold --ids ,", "--ids is empty"),
        ("run wild-mini --model=", "--model is empty"),
        ("run wild-mini --model baseline/gold --lang fr", "its languages are: en, zh"),
        ("run wild-mini --model baseline/gold --split x", "its splits are: "),
        ("score", "give run folders"),
        ("score nowhere", "nowhere"),
        ("score nowhere --replies r.jsonl", "not both"),
        ("score nowhere --out o", "--out"),
        ("score --replies r.jsonl", "--data"),
        ("show", "give run folders"),
        ("show nowhere", "nowhere"),
        ("show . --json --csv", "not both"),
        ("list profiles wild-mini", "cards"),
        ("list cards nonsense", "nonsense"),
        ("audit wild-mini --profile nonsense", "official"),
        ("data lint nowhere.jsonl", "nowhere.jsonl"),
    ],
)
def test_what_cannot_work_ends_with_2_and_says_what_to_do(line: str, said: str):
    ended = type_(line)
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.output


def test_an_extra_body_is_never_repeated_in_a_message():
    assert "s3cret" not in play("baseline/gold", '--extra-body {"key":"s3cret"').output


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [([], 0), ([0, 0], 0), ([0, 3], 3), ([3, 2], 2), ([2, 1, 3], 1), ([1, 130], 130)],
)
def test_the_worst_of_several_statuses_counts(statuses: list[int], expected: int):
    assert worst_status(statuses) == expected


def test_a_model_whose_run_breaks_does_not_stop_the_next(monkeypatch: pytest.MonkeyPatch):
    from wildtool.engine.run import runner as engine

    played = engine._play

    async def breaking(job: engine.RunJob, *more: object) -> object:
        if job.out.name == "baseline--chat":
            raise RuntimeError("broken")
        return await played(job, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "_play", breaking)
    ended = play("baseline/chat", "--model baseline/gold")
    assert ended.exit_code == 1
    assert "broken" in ended.stderr
    assert "baseline/gold" in ended.stdout


def test_a_recorded_run_answers_as_a_model():
    play("baseline/chat")
    ended = play("replay:runs/wild-mini/baseline--chat", "--out again --profile official")
    assert ended.exit_code == 0
    csvs = [type_(f"show {folder} --csv --group accuracy").stdout for folder in ("runs", "again")]
    numbers = [[line.split(",")[2:] for line in text.splitlines()] for text in csvs]
    assert numbers[0] == numbers[1]


def test_a_replies_file_answers_as_a_model():
    file = replies_file(a=[[], [], [], []], b=[[{"content": "hello"}], [], [], []])
    assert play(f"replay:{file}#b", "--out run").exit_code == 0
    assert "hello" in Path("run/record-0001.jsonl").read_text()


def test_one_of_several_recorded_models_must_be_chosen():
    file = replies_file(a=[], b=[])
    ended = play(f"replay:{file}")
    assert ended.exit_code == 2
    assert "a, b" in ended.stderr


def test_a_run_is_judged_by_other_rules_without_a_model():
    play()
    ended = type_("score runs --profile fixed")
    assert ended.exit_code == 0
    assert "played official, judged fixed" in ended.stdout
    assert verdicts_path(Path("runs/wild-mini/baseline--gold"), "fixed").exists()


@pytest.mark.long
def test_scoring_by_workers_shows_and_writes_the_same(monkeypatch: pytest.MonkeyPatch):
    type_("run wild-mini --limit 3 --repeats 2 --quiet --model baseline/gold")
    table = verdicts_path(Path("runs/wild-mini/baseline--gold"), "fixed")
    found: set[tuple[str, bytes]] = set()
    asked: list[bool] = []
    monkeypatch.setattr(pool, "_has_threads", lambda: asked.append(True))
    monkeypatch.setattr(pool.os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    for rows in (1_000_000, 1):
        monkeypatch.setattr(score, "MANY_ROWS", rows)
        found.add((type_("score runs --profile fixed").stdout, table.read_bytes()))
    assert len(found) == len(asked) == 1


def test_a_replies_file_is_judged_with_a_row_for_each_model():
    file = replies_file(loud=[[{"content": "hello"}]] * 4, silent=[[], [], [], []])
    ended = type_(f"score --data wild-mini --replies {file} --profile official")
    assert ended.exit_code == 0
    assert "loud" in ended.stdout
    assert "silent" in ended.stdout
    assert list(Path().iterdir()) == [file]


@pytest.mark.long
def test_a_replies_file_can_be_kept_as_runs_and_shown_under_any_profile():
    file = replies_file(loud=[[{"content": "hello"}]] * 4)
    type_(f"score --data wild-mini --replies {file} --out kept")
    assert "loud" in type_("show kept --group accuracy").stdout
    ended = type_("show kept --profile fixed")
    assert ended.exit_code == 0
    assert "profile fixed" in ended.stdout


def test_show_judges_what_is_not_judged_yet():
    play()
    ended = type_("show runs --profile fixed --group accuracy")
    assert ended.exit_code == 0
    assert "played official, judged fixed" in ended.stdout


def test_show_does_not_use_verdicts_of_another_record_however_new_they_are():
    play("baseline/chat", "--out chat")
    play("baseline/gold", "--out gold")
    table = verdicts_path(Path("chat"), "official")
    table.write_bytes(verdicts_path(Path("gold"), "official").read_bytes())
    assert "0/4" in type_("show chat --group accuracy").stdout


def test_show_prints_the_summary_and_with_all_every_group():
    play()
    short, whole = type_("show runs"), type_("show runs --all")
    assert ("task type: Clarify" in short.stdout, "errors (" in short.stdout) == (True, False)
    assert "--all" in short.stderr
    assert whole.stdout.startswith(short.stdout)
    assert "errors (wild-mini, profile official)" in whole.stdout


def test_a_group_is_found_whatever_its_case_and_blanks():
    play()
    assert "Clarify" in type_("show runs --group Task_Type").stdout
    assert "did you mean 'errors'?" in type_("show runs --group error").stderr


def test_show_prints_json_and_csv():
    play()
    run = json.loads(type_("show runs --json").stdout)["runs"][0]
    assert (run["model"], run["played"]) == ("baseline/gold", "official")
    assert type_("show runs --csv").stdout.startswith("run,model,benchmark,profile,group,name,value,")


def test_list_names_benchmarks_profiles_models_and_cards():
    out = type_("list").stdout
    for word in ("wild-mini", "official", "baseline/gold", "replay:", "wildtool list cards wild-mini"):
        assert word in out


def test_coverage_names_every_benchmark_of_the_paper_and_what_runs_here():
    ended = type_("list --coverage")
    assert ended.exit_code == 0
    assert len([line for line in ended.stdout.splitlines() if line.startswith("  ")]) >= 32
    for words in ("`wildtool run rotbench`", "needs images", "Not in the paper", "wildtoolbench"):
        assert words in ended.stdout
    assert type_("list models --coverage").exit_code == 2


def test_coverage_names_every_training_set_with_its_licence_and_a_reader_that_exists():
    shown = " ".join(type_("list --coverage").stdout.split("training sets (21)")[1].split())
    readers = re.findall(r"`data convert --from (\S+)`", shown)
    assert len(readers) == 20
    assert set(readers) <= DATA_SETS.keys()
    for words in (
        "Team-ACE/ToolACE",
        "licence Apache-2.0",
        "licence unknown",
        "shows no licence",
        "not read",
    ):
        assert words in shown


def test_list_prints_a_card():
    assert (
        type_("list cards wild-mini").stdout.strip()
        == load_benchmark("wild-mini").card.read_text("utf-8").strip()
    )


def test_a_card_is_rendered_within_the_width_of_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    options = dict.fromkeys(["check", "base_url", "api_key_env", "header", "format_"])
    list_(ListKind.cards, "wild-mini", coverage=False, **options)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(cell_len, lines)) <= 50
    assert not any(line.startswith(("#", "|")) or "**" in line for line in lines)


def test_the_search_for_runs_ends_in_a_huge_folder(monkeypatch: pytest.MonkeyPatch):
    play()
    for number in range(4):
        Path(f"runs/{number}.txt").touch()
    monkeypatch.setattr(results, "MAX_ENTRIES", 6)
    assert type_("show runs").exit_code == 0
    Path("runs/4.txt").touch()
    ended = type_("show runs")
    assert ended.exit_code == 2
    assert "runs: the search for runs stopped after 6 files and folders" in ended.stderr


def test_lint_ends_with_0_where_nothing_is_found_and_with_1_where_something_is():
    assert type_("data lint wild-mini").exit_code == 0
    Path("broken.jsonl").write_text('{"id": 1}\n')
    ended = type_("data lint broken.jsonl --benchmark wild-mini")
    assert ended.exit_code == 1
    assert "broken.jsonl" in ended.stdout


def test_lint_asks_whose_data_they_are_where_they_could_be_of_several():
    Path("broken.jsonl").write_text('{"id": 1}\n')
    assert type_("data lint broken.jsonl").exit_code == 2


def test_stats_describe_data_as_table_and_as_json():
    assert "sessions" in type_("data stats wild-mini").stdout
    assert {"group", "name", "numerator"} <= set(json.loads(type_("data stats wild-mini --json").stdout)[0])


def test_pull_takes_data_from_a_file_and_refuses_others(monkeypatch: pytest.MonkeyPatch):
    Path("other.jsonl").write_text("{}\n")
    ended = type_("data pull wildtoolbench --from other.jsonl")
    assert ended.exit_code == 2
    assert "Traceback" not in ended.output


@pytest.mark.parametrize(
    "line",
    [
        "score --data wild-mini --replies empty.jsonl",
        "data lint empty.jsonl --benchmark wild-mini",
        "data stats empty.jsonl --benchmark wild-mini",
    ],
)
def test_an_empty_file_is_no_success(line: str):
    Path("empty.jsonl").write_text("\n")
    ended = type_(line)
    assert ended.exit_code == 2
    assert "empty.jsonl: contains no items" in ended.stderr


def test_damaged_verdicts_are_made_again():
    play()
    verdicts_path(Path("runs/wild-mini/baseline--gold"), "official").write_text("x")
    ended = type_("show runs")
    assert ended.exit_code == 0
    assert len(ended.stderr.splitlines()) == 1
    assert "4/4" in ended.stdout


def test_a_damaged_run_is_named_and_the_others_are_shown():
    play("baseline/gold", "--out runs/good")
    play("baseline/chat", "--out runs/bad")
    Path("runs/bad/run.json").write_text('{"format": 1, "kind": "played", "identity": {}, "sittings": []}')
    for verb in ("show", "score"):
        ended = type_(f"{verb} runs")
        assert ended.exit_code == 2
        assert "runs/bad/run.json: damaged" in ended.stderr
        assert "4/4" in ended.stdout


def test_a_run_whose_data_changed_says_how_to_judge_it():
    Path("mine.jsonl").write_bytes(data_of(load_benchmark("wild-mini")).locate(None).path.read_bytes())
    play("baseline/gold", "--data mine.jsonl --out run")
    Path("mine.jsonl").rename("moved.jsonl")
    for verdicts in Path("run").glob("verdicts-*"):
        verdicts.unlink()
    ended = type_("show run")
    assert ended.exit_code == 2
    assert "wildtool score run --data FILE" in ended.stderr
    assert type_("score run --data moved.jsonl").exit_code == 0
    assert "4/4" in type_("show run").stdout


@pytest.mark.long
def test_data_that_are_not_the_default_are_named_in_the_title():
    Path("mine.jsonl").write_text(first_line(data_of(load_benchmark("wild-mini")).locate(None).path))
    file = replies_file(m=[[], [], [], []])
    assert "(data mine.jsonl), profile" in play("baseline/gold", "--data mine.jsonl").stdout
    assert "(data mine.jsonl), profile" in type_(f"score --data mine.jsonl --replies {file}").stdout
    assert "(data" not in type_(f"score --data wild-mini --replies {file} --benchmark wild-mini").stdout


def first_line(path: Path) -> str:
    return path.read_text("utf-8").splitlines()[0]


def test_runs_of_more_and_of_fewer_items_are_not_compared_without_a_word():
    play("baseline/gold", "--out runs/few")
    play("baseline/chat", "--out runs/more", limit=2)
    said = " ".join(type_("show runs").stdout.split())
    assert "baseline/gold has no rank: its items are others than the 2 of the largest run" in said
    said = " ".join(type_("show runs --group accuracy").stdout.split())
    assert "not comparable. baseline/chat: 2 items; baseline/gold: 1 item" in said


def test_a_run_says_why_its_calls_failed():
    ended = play("m", "--base-url http://127.0.0.1:9/v1 --retries 0")
    assert ended.exit_code == 3
    assert "failed with network (4)" in ended.stderr
    assert "Connection refused" in " ".join(ended.stderr.split())


def test_a_model_that_never_answered_has_no_table_of_zeros():
    ended = play("m", "--base-url http://127.0.0.1:9/v1 --retries 0")
    assert ended.stdout == ""
    assert "wildtool show" not in ended.stderr


def test_what_no_record_holds_is_not_to_be_tried_again():
    file = replies_file(a=[[{"content": "hello"}]])
    file.write_text(file.read_text().replace(ITEM, "wild_mini_1"))
    ended = play(f"replay:{file}", "--out run")
    assert ended.exit_code == 3
    assert "not recorded (4)" in ended.stderr
    assert "same command again" not in ended.stderr
    assert "does not hold these calls" in ended.stderr
