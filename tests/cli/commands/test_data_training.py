"""`wildtool data` for training files, as it is typed."""

import csv
import errno
import fcntl
import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from training.training_rows import TOOL, call_row, text_row, turn, write_rows
from wildtool.cli import app
from wildtool.engine.registry import load_benchmark

ASKED = "lunch at Corner Bistro just now, 42.18 on my everyday card, log it (eating out)"
QUESTION = f"{ASKED}. also did Sam's half get there already?? same card. if it did tie it to the lunch"
"""The first request of the embedded data."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def words(k: int) -> str:
    """A request that is like no other."""
    return " ".join(f"word{k}x{j}" for j in range(12))


def rows(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [call_row(words(k)) if k % 3 else text_row(words(k)) for k in range(start, start + count)]


def lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


# lint ------------------------------------------------------------------------------------------------


def test_a_good_file_has_no_findings():
    write_rows(Path("good.jsonl"), rows(30))
    ended = type_("data lint good.jsonl")
    assert (ended.exit_code, ended.stdout) == (0, "")
    assert "30 records, no findings" in ended.stderr


def test_findings_name_line_id_and_field_and_broken_lines_are_passed_over():
    bad = {**text_row("a"), "id": "r7"}
    bad["conversations"].append(turn("human", "b"))
    write_rows(Path("bad.jsonl"), [*rows(3), bad])
    with Path("bad.jsonl").open("a") as file:
        file.write("{broken\n[1]\n")
    ended = type_("data lint bad.jsonl")
    assert ended.exit_code == 1
    assert "bad.jsonl:4 r7 conversations[2]: S06: ends with human" in ended.stdout
    assert "bad.jsonl:5 record 5: unreadable-line: no JSON" in ended.stdout
    assert "bad.jsonl:6 record 6: S01: a record must be an object, this is a list" in ended.stdout
    assert "2 of 6 rows could not be read\nbad.jsonl: 4 records, 3 errors" in ended.stderr


def test_one_row_is_one_record():
    write_rows(Path("one.jsonl"), [text_row("a")])
    assert "one.jsonl: 1 record, no findings" in type_("data lint one.jsonl").stderr
    made = type_("data recipe one.jsonl --base Qwen/Qwen3-8B --no-overlap-check -o out")
    assert "out: 1 record, 1 training, " in made.stdout
    Path("one.jsonl").write_text("[1]\n{broken\n")
    ended = type_("data overlap one.jsonl --with wild-mini")
    assert (ended.exit_code, "one.jsonl:1: expected an object" in ended.stderr) == (2, True)


def test_warnings_alone_are_no_failure_unless_strict():
    write_rows(Path("w.jsonl"), [*rows(30), call_row("a", tools="")])
    assert type_("data lint w.jsonl").exit_code == 0
    assert "S12" in type_("data lint w.jsonl").stdout
    assert type_("data lint w.jsonl --strict").exit_code == 1


def test_rules_of_the_whole_file():
    pair = {**text_row("a"), "chosen": turn("gpt", "x"), "rejected": turn("gpt", "y")}
    pair["conversations"].pop()
    long = text_row(words(1), "x" * 9000)
    odd = [text_row(words(k)) for k in range(2)]
    odd[1]["id"], odd[0]["id"] = 1, "one"
    odd[1]["conversations"][1]["value"] = "nul \x00"
    write_rows(Path("f.jsonl"), [pair, long, *odd, *[call_row("same")] * 8])
    found = type_("data lint f.jsonl").stdout
    assert [rule for rule in ("F01", "F02", "F03", "F04", "F05") if f" {rule}: " not in found] == []
    write_rows(
        Path("calls.jsonl"),
        [{**call_row(words(k)), "source": s} for k, s in enumerate(["glaive-chatml", "pandora"])],
    )
    found = type_("data lint calls.jsonl").stdout
    assert "F06: no record is without a call" in found
    assert "F07: glaive-chatml, pandora are partly the same data" in found


def test_what_each_trainer_does_is_told():
    broken = text_row("b")
    broken["conversations"].reverse()
    write_rows(Path("t.jsonl"), [{**call_row("a"), "system": "Be kind."}, broken, text_row("c", "x" * 9000)])
    found = type_("data lint t.jsonl --trainer all")
    for said in (
        "t.jsonl:2 record 2 conversations[0]: llama-factory drops: turn 1 is gpt",
        "t.jsonl:3 record 3: llama-factory cuts: about",
        "t.jsonl:1 record 1 system: trl changes: the column system is not read",
        "t.jsonl:2 record 2 tools: trl stops: tools is an empty text",
        "t.jsonl: verl stops: every record: reads Parquet files only",
        "t.jsonl:3 record 3: axolotl drops: about",
        "t.jsonl: axolotl changes: every record: needs field_messages",
    ):
        assert said in found.stdout
    assert "LLaMA-Factory (0.9.5, run on rows; lengths read in its code): drops 1, cuts 1" in found.stderr
    assert "trl" not in type_("data lint t.jsonl --trainer llama-factory").stdout
    assert type_("data lint t.jsonl --trainer nobody").exit_code == 2


def test_messages_are_checked_by_their_reader():
    call = {"id": "c", "type": "function", "function": {"name": "level", "arguments": "{broken"}}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    weighted = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "weight": 0}]
    orphan = [{"role": "user", "content": "a"}, {"role": "tool", "content": "1", "tool_call_id": "c"}]
    unknown = {**call, "function": {"name": "tide", "arguments": "{}"}}
    system, user = {"role": "system", "content": "S"}, {"role": "user", "content": "a"}
    wrong = [system, user, {"role": "assistant", "content": None, "tool_calls": [unknown]}]
    tools = [{"type": "function", "function": TOOL}]
    rows = [{"messages": m, "tools": []} for m in (messages, weighted, orphan)]
    write_rows(Path("m.jsonl"), [*rows, {"messages": wrong, "tools": tools}])
    ended = type_("data lint m.jsonl --trainer all")
    assert ended.exit_code == 1
    assert (
        "m.jsonl:1 record 1 messages[1]: axolotl stops: the arguments of a call are no JSON" in ended.stdout
    )
    assert "m.jsonl:2 record 2 messages[1]: trl changes: weight 0 is not read" in ended.stdout
    assert "m.jsonl:3 record 3: orphan-result" in ended.stdout
    assert 'm.jsonl:4 record 4 messages[2]: S13: turn 2: calls "tide"' in ended.stdout


def test_options_of_training_files_are_refused_for_others():
    ended = type_("data lint wild-mini --trainer trl")
    assert (ended.exit_code, "--trainer is for training files" in ended.stderr) == (2, True)
    write_rows(Path("other.jsonl"), rows(2))
    assert (
        "nofile.jsonl: there is no such file" in type_("data stats nofile.jsonl --compare other.jsonl").stderr
    )
    Path("folder").mkdir()
    assert "of training files, name one of them" in type_("data lint folder").stderr
    write_rows(Path("raw.jsonl"), [{"query": "a", "answers": "[]", "tools": "[]"}])
    assert "convert it first: `wildtool data convert raw.jsonl" in type_("data lint raw.jsonl").stderr
    write_rows(Path("x.jsonl"), [{"a": 1}])
    assert type_("data lint x.jsonl --benchmark training").exit_code == 2


# overlap ---------------------------------------------------------------------------------------------


def planted() -> None:
    write_rows(
        Path("train.jsonl"), [*rows(20), text_row(QUESTION.upper()), text_row(f"Hi. {QUESTION} Thanks!")]
    )


def test_a_planted_question_is_found_and_removed():
    planted()
    ended = type_("data overlap train.jsonl --with wild-mini")
    assert ended.exit_code == 1
    assert "train.jsonl:21: LUNCH AT CORNER" in ended.stdout
    shown = json.loads(type_("data overlap train.jsonl --with wild-mini --json").stdout)
    found = shown["benchmarks"][0]
    assert shown["left"] == 2
    assert found["items_touched"]["exact"] == ["wild_mini_0"]
    assert found["worst"][0]["place"] == "train.jsonl:21"
    removed = type_("data overlap train.jsonl --with wild-mini --remove exact,near,long -o clean.jsonl")
    assert removed.exit_code == 0
    assert lines("clean.jsonl") == [json.dumps(row, separators=(",", ":")) for row in rows(20)]
    assert type_("data overlap clean.jsonl --with wild-mini").exit_code == 0


def test_json_has_every_pair():
    write_rows(Path("train.jsonl"), [text_row(f"Hi. {QUESTION} Thanks!")] * 15)
    shown = json.loads(type_("data overlap train.jsonl --with wild-mini --json").stdout)["benchmarks"][0]
    assert [pair["place"] for pair in shown["pairs"]] == [f"train.jsonl:{k}" for k in range(1, 16)]
    assert shown["worst"] == shown["pairs"][:10]
    assert "train.jsonl:11" not in type_("data overlap train.jsonl --with wild-mini").stdout


def test_training_files_are_compared_with_training_files_and_files_of_benchmarks():
    write_rows(Path("held-out.jsonl"), [*rows(3), call_row("Severity at the harbour?", "the old harbour")])
    Path("sessions.jsonl").write_bytes(Path(str(files("wildtool.data") / "wild_mini.jsonl")).read_bytes())
    calls = call_row("Another request?", "The Old Harbour")
    write_rows(
        Path("train.jsonl"), [text_row(words(2).upper()), *rows(9, start=5), calls, text_row(QUESTION)]
    )
    ended = type_("data overlap train.jsonl --with held-out.jsonl --with sessions.jsonl --json")
    assert ended.exit_code == 1
    held_out, sessions = json.loads(ended.stdout)["benchmarks"]
    assert (held_out["benchmark"], held_out["items"]) == ("held-out.jsonl", 4)
    assert held_out["items_touched"]["exact"] == ["3", "4"]
    assert [pair["kind"] for pair in held_out["pairs"]] == ["user", "call"]
    assert sessions["items_touched"]["exact"] == ["wild_mini_0"]
    assert type_("data mix a=train.jsonl --with held-out.jsonl -o mix").exit_code == 0
    assert len(lines("mix/train.jsonl")) == 10


def test_without_with_every_benchmark_here_is_compared(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WILDTOOL_DATA_DIR", "nothing-here")
    few = [load_benchmark(name) for name in ("wild-mini", "wildtoolbench")]
    monkeypatch.setattr("wildtool_data.prepare.overlap.benchmark.usable_benchmarks", lambda: few)
    planted()
    ended = type_("data overlap train.jsonl")
    assert ended.exit_code == 1
    assert "not on this machine: wildtoolbench\n" in ended.stderr
    assert "wild-mini" in ended.stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("data overlap train.jsonl --remove exact", "--remove and --out go together"),
        ("data overlap train.jsonl --remove exat -o x", "did you mean 'exact'"),
        ("data overlap train.jsonl --with nothing", "unknown benchmark"),
        ("data overlap train.jsonl --with nothing.jsonl", "nothing.jsonl: there is no such file"),
        ("data overlap nowhere.jsonl --with wild-mini", "nowhere.jsonl"),
        ("data overlap broken.jsonl --with wild-mini", "broken.jsonl:1: no JSON"),
        ("data overlap train.jsonl --with wild-mini --from nothing", "unknown set"),
        ("data mix a=train.jsonl", "--out mix"),
        ("data mix train.jsonl -o m", "NAME=FILE"),
        ("data mix a=train.jsonl a=train.jsonl -o m --no-overlap-check", "same name"),
        ("data mix a=train.jsonl -o m --by sqrt --no-overlap-check", "--total N"),
        ("data mix a=train.jsonl -o m --by nothing --no-overlap-check", "unknown value of --by"),
        ("data mix a=train.jsonl -o m --by sqrt=3 --no-overlap-check", "unknown value of --by"),
        ("data mix a=train.jsonl -o m --by temperature --no-overlap-check", "--by temperature=2"),
        ("data mix a=train.jsonl -o m --by temperature=0 --total 3 --no-overlap-check", "above 0"),
        ("data mix a=train.jsonl -o m --split train=0.5 --no-overlap-check", "add up to 1"),
        ("data mix a=train.jsonl -o m --split ../x=1 --no-overlap-check", "name of a file"),
        ("data mix a=train.jsonl:x -o m --no-overlap-check", "no number"),
        ("data mix a=train.jsonl -o m --cap b=3 --no-overlap-check", "unknown set"),
        ("data mix a=broken.jsonl -o m --no-overlap-check", "broken.jsonl:1"),
        (
            "data overlap train.jsonl --with wild-mini --remove exact --force -o train.jsonl",
            "is read and would",
        ),
        (
            "data overlap train.jsonl --with wild-mini --remove exact --force -o ./link.jsonl",
            "is read and would",
        ),
        ("data mix a=train.jsonl -o . --force --no-overlap-check", "train.jsonl: is read and would"),
        (
            "data mix a=train.jsonl -o m --audit train.jsonl --no-overlap-check",
            "train.jsonl: is read and would",
        ),
        ("data recipe data/train.jsonl --base Qwen/Qwen3-8B -o . --force --no-overlap-check", "lies where"),
        ("data recipe train.jsonl --base Qwen/Qwen3-8B --seeds 101 -o m", "101 is not in the range"),
    ],
)
def test_what_cannot_work_is_said(line: str, said: str):
    planted()
    Path("broken.jsonl").write_text("{\n")
    Path("link.jsonl").symlink_to("train.jsonl")
    Path("data").mkdir()
    Path("data/train.jsonl").write_bytes(Path("train.jsonl").read_bytes())
    before = Path("train.jsonl").read_bytes()
    ended = type_(line)
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert Path("train.jsonl").read_bytes() == before


@pytest.mark.parametrize("path", ["pipe.jsonl", "/dev/zero"])
@pytest.mark.parametrize(
    "command",
    [
        "overlap {}",
        "mix a={} -o m",
        "recipe {} --base m -o r",
        "convert {} --to openai -o o.jsonl",
        "lint {} --benchmark training",
        "stats {} --benchmark training",
        "lint {}",
        "stats {}",
        "lint {} --benchmark wild-mini",
        "stats {} --benchmark wild-mini",
        "stats good.jsonl --compare {}",
        "overlap good.jsonl --with {}",
        "refresh {} -o o.jsonl",
    ],
)
def test_what_is_no_regular_file_is_refused_at_once(command: str, path: str):
    write_rows(Path("good.jsonl"), rows(3))
    os.mkfifo("pipe.jsonl")
    ended = type_(f"data {command.format(path)}")
    assert (ended.exit_code, f"{path}: is no regular file" in ended.stderr) == (2, True)


_LIMITED = """
import resource, sys
from pathlib import Path
from wildtool.cli import app
pages = int(Path("/proc/self/statm").read_text().split()[0])
allowed = pages * resource.getpagesize() + 35_000_000
resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
app(sys.argv[1:], prog_name="wildtool")
"""
"""wildtool with 35 MB beyond what it has when it starts."""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="tells how much memory a process has")
@pytest.mark.parametrize(
    "command",
    [
        "lint long.jsonl",
        "stats long.jsonl",
        "overlap long.jsonl --with wild-mini",
        "mix a=long.jsonl --no-overlap-check -o out",
        "convert long.jsonl --to trl -o out",
        "recipe long.jsonl --base Qwen/Qwen3-8B --no-overlap-check -o out",
    ],
)
def test_too_little_memory_is_said_and_leaves_no_half_file(command: str):
    write_rows(Path("long.jsonl"), [text_row("x" * 15_000_000)])
    line = [sys.executable, "-c", _LIMITED, "data", *command.split()]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ended.returncode == 3, ended.stderr
    assert "wildtool: not enough memory" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert sorted(path.name for path in Path.cwd().rglob("*")) == ["long.jsonl"]


@pytest.mark.parametrize(
    "command", ["overlap nowhere.jsonl", "mix a=nowhere.jsonl -o m", "recipe nowhere.jsonl --base m -o r"]
)
def test_a_missing_file_is_said_before_benchmarks_are_read(command: str):
    ended = type_(f"data {command}")
    assert (ended.exit_code, ended.stderr) == (
        2,
        "wildtool: cannot read nowhere.jsonl: No such file or directory\n",
    )


# mix -------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_and_a_smaller_total_is_a_part():
    write_rows(Path("a.jsonl"), rows(60))
    write_rows(Path("b.jsonl"), rows(30, start=100))
    command = "data mix a=a.jsonl b=b.jsonl --by sqrt --no-overlap-check"
    for name, more in (
        ("one", "--total 50"),
        ("two", "--total 50"),
        ("part", "--total 20"),
        ("other", "--total 50 --seed 2"),
    ):
        assert type_(f"{command} {more} -o {name}").exit_code == 0
    for file in ("train.jsonl", "mix.json"):
        assert Path("one", file).read_bytes() == Path("two", file).read_bytes()
    assert set(lines("part/train.jsonl")) < set(lines("one/train.jsonl"))
    assert lines("other/train.jsonl") != lines("one/train.jsonl")
    assert len(lines("one/train.jsonl")) == 50
    counts = json.loads(Path("one/mix.json").read_text())["sets"]
    assert {name: found["drawn"] for name, found in counts.items()} == {"a": 29, "b": 21}


def test_a_temperature_of_2_is_the_root():
    write_rows(Path("a.jsonl"), rows(60))
    write_rows(Path("b.jsonl"), rows(30, start=100))
    for by, out in (("sqrt", "one"), ("temperature=2", "two"), ("temperature=1", "size")):
        assert (
            type_(f"data mix a=a.jsonl b=b.jsonl --by {by} --total 30 --no-overlap-check -o {out}").exit_code
            == 0
        )
    assert lines("one/train.jsonl") == lines("two/train.jsonl")
    counts = json.loads(Path("size/mix.json").read_text())["sets"]
    assert [found["drawn"] for found in counts.values()] == [20, 10]


def test_rejected_rows_benchmark_items_and_duplicates_are_left_out_and_counted():
    pytest.importorskip("rensa", reason="the extra `training` is not installed")
    bad = text_row("b")
    bad["conversations"].reverse()
    near = call_row(" ".join([*[f"word1x{j}" for j in range(12)], "more"]))
    write_rows(Path("a.jsonl"), [*rows(9), rows(9)[1], near, text_row(QUESTION), bad])
    ended = type_("data mix a=a.jsonl --dedupe near --with wild-mini --audit audit.jsonl --strict -o mix")
    assert ended.exit_code == 1
    found = json.loads(Path("mix/mix.json").read_text())["sets"]["a"]
    assert (found["rejected"], found["overlap"]) == ({"S05": 1}, {"exact": 1})
    assert found["duplicates"] == {"exact": 1, "near": 1}
    assert sorted(lines("mix/train.jsonl")) == sorted(
        json.dumps(row, separators=(",", ":")) for row in rows(9)
    )
    audit = [json.loads(line) for line in lines("audit.jsonl")]
    assert [(one["kept"], one["removed"], one["rule"]) for one in audit] == [
        ("a:2", "a:10", "exact"),
        ("a:2", "a:11", "near"),
    ]
    assert 'row":13' in Path("mix/rejects.jsonl").read_text()


@pytest.mark.parametrize("level", ["prompt", "near"])
def test_conversations_that_share_a_greeting_are_no_duplicates(level: str):
    pytest.importorskip("rensa", reason="the extra `training` is not installed")
    greeted = [
        {**row, "conversations": [turn("human", "Hello!"), turn("gpt", "Hi."), *row["conversations"]]}
        for row in rows(4)
    ]
    write_rows(Path("a.jsonl"), greeted)
    assert type_(f"data mix a=a.jsonl --dedupe {level} --no-overlap-check -o mix").exit_code == 0
    assert len(lines("mix/train.jsonl")) == 4


def test_of_near_duplicates_the_one_with_most_turns_to_learn_stays():
    pytest.importorskip("rensa", reason="the extra `training` is not installed")
    short = text_row(words(1))
    longer = {**short, "conversations": [*short["conversations"], turn("human", "ok"), turn("gpt", "Bye.")]}
    write_rows(Path("a.jsonl"), [short, longer, text_row(words(1) + " more")])
    command = "data mix a=a.jsonl --dedupe near --similar 0.5 --no-overlap-check --audit audit.jsonl -o mix"
    assert type_(command).exit_code == 0
    assert [json.loads(line) for line in lines("mix/train.jsonl")] == [longer]
    assert [json.loads(line)["kept"] for line in lines("audit.jsonl")] == ["a:2", "a:2"]
    listed = type_("data lint a.jsonl --duplicates near").stdout.splitlines()
    assert [line.split(":")[1] for line in listed if "duplicate" in line] == ["1", "3"]


def test_near_duplicates_fall_into_one_split_however_the_files_are_cut():
    pytest.importorskip("rensa", reason="the extra `training` is not installed")
    records = [call_row(f"{words(k)} {extra}") for k in range(40) for extra in ("", "more")]
    write_rows(Path("all.jsonl"), records)
    write_rows(Path("one.jsonl"), records[:33])
    write_rows(Path("two.jsonl"), records[33:])
    share = "--split train=0.6,val=0.4 --no-overlap-check"
    assert type_(f"data mix all=all.jsonl {share} -o whole").exit_code == 0
    assert type_(f"data mix one=one.jsonl two=two.jsonl {share} -o cut").exit_code == 0
    for file in ("train.jsonl", "val.jsonl"):
        assert set(lines(f"whole/{file}")) == set(lines(f"cut/{file}")) != set()
    train, val = (
        {json.loads(line)["conversations"][0]["value"][:60] for line in lines(f"whole/{name}.jsonl")}
        for name in ("train", "val")
    )
    assert not train & val


def test_equal_tools_fall_into_one_split_when_asked_for():
    def with_tool(k: int, name: str) -> dict[str, Any]:
        return {**text_row(words(k)), "tools": json.dumps([{"name": name, "parameters": {"properties": {}}}])}

    write_rows(Path("a.jsonl"), [with_tool(k, f"tool{k % 10}") for k in range(60)])
    assert (
        type_(
            "data mix a=a.jsonl --split train=0.5,val=0.5 --group-by tools --no-overlap-check -o m"
        ).exit_code
        == 0
    )
    train, val = (
        {json.loads(line)["tools"] for line in lines(f"m/{name}.jsonl")} for name in ("train", "val")
    )
    assert train
    assert val
    assert not train & val


def test_small_sets_give_all_they_have_or_are_repeated():
    write_rows(Path("a.jsonl"), rows(3))
    write_rows(Path("b.jsonl"), rows(40, start=50))
    command = "data mix a=a.jsonl:1 b=b.jsonl:1 --by weights --total 20 --no-overlap-check"
    ended = type_(f"{command} -o m")
    assert "a: 3 rows instead of 10: it has no more" in ended.stderr
    assert "a: repeated 3 times" in type_(f"{command} --repeat -o r").stderr
    counts = json.loads(Path("r/mix.json").read_text())["sets"]
    assert {name: found["drawn"] for name, found in counts.items()} == {"a": 10, "b": 10}
    assert "17 rows" not in ended.stdout
    assert len(lines("m/train.jsonl")) == 20
    assert type_(f"{command} --cap b=4 -o c").exit_code == 0
    assert len(lines("c/train.jsonl")) == 7


def test_sets_of_one_family_and_sets_without_calls_are_told():
    write_rows(Path("a.jsonl"), [text_row(words(k)) for k in range(5)])
    ended = type_("data mix glaive-chatml=a.jsonl pandora=a.jsonl --no-overlap-check -o m")
    assert "glaive-chatml and pandora are partly the same data" in ended.stderr
    assert "pandora: no tool calls in this set" in ended.stderr


def test_other_folders_and_mixed_forms_are_refused():
    write_rows(Path("a.jsonl"), rows(3))
    write_rows(
        Path("m.jsonl"),
        [{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}],
    )
    Path("full").mkdir()
    Path("full/thesis.txt").write_text("mine")
    assert type_("data mix a=a.jsonl --no-overlap-check -o full").exit_code == 2
    ended = type_("data mix a=a.jsonl m=m.jsonl --no-overlap-check -o m")
    assert (ended.exit_code, "two forms" in ended.stderr) == (2, True)


def test_a_second_process_is_refused_and_what_a_killed_one_left_is_removed():
    write_rows(Path("a.jsonl"), rows(3))
    Path("m/.wildtool-abcd1234.tmp").mkdir(parents=True)
    Path("m/.wildtool-abcd1234.tmp/train.jsonl").touch()
    with Path("m/lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = type_("data mix a=a.jsonl --no-overlap-check -o m")
        assert (ended.exit_code, "another wildtool" in ended.stderr) == (2, True)
    assert type_("data mix a=a.jsonl --no-overlap-check -o m").exit_code == 0
    assert {path.name for path in Path("m").iterdir()} == {
        "lock",
        "mix.json",
        "rejects.jsonl",
        "train.jsonl",
        "train.origins.csv",
    }


def test_a_full_disk_is_said_and_leaves_no_half_file(monkeypatch: pytest.MonkeyPatch):
    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write_rows(Path("a.jsonl"), rows(3))
    monkeypatch.setattr("wildtool_data.prepare.mix.mix.MixStore.add", full)
    ended = type_("data mix a=a.jsonl --no-overlap-check -o m")
    assert (ended.exit_code, "No space left" in ended.stderr) == (3, True)
    assert {path.name for path in Path("m").iterdir()} == {"lock"}


# stats -----------------------------------------------------------------------------------------------


def test_numbers_of_a_training_file():
    write_rows(Path("a.jsonl"), [*rows(9), call_row("Severity at Husum?"), text_row("Severity?", "Where?")])
    found = {(m["group"], m["name"]): m for m in json.loads(type_("data stats a.jsonl --json").stdout)}
    assert found["size", "records"]["value"] == 11
    assert found["records", "without a call"]["numerator"] == 4
    assert found["replies", "texts that ask back, before any call"]["numerator"] == 1
    assert found["argument values occur in", "a user text"]["numerator"] == 1
    assert found["tools offered", "1"]["numerator"] == 7
    assert found["script of the user texts", "Latin"]["numerator"] == 11


def test_a_part_of_a_longer_word_is_no_given_value():
    write_rows(Path("a.jsonl"), [call_row("Level in the Husumer Bucht?", station="Husum")])
    found = {(m["group"], m["name"]): m for m in json.loads(type_("data stats a.jsonl --json").stdout)}
    assert found["argument values occur in", "a user text"]["numerator"] == 0
    assert found["argument values occur in", "neither"]["numerator"] == 1


def by_set(file: str) -> dict[str, dict[str, tuple[float, int]]]:
    found: dict[str, dict[str, tuple[float, int]]] = {}
    for metric in json.loads(type_(f"data stats {file} --json").stdout):
        if metric["group"].startswith("set ") or metric["group"] == "all sets":
            found.setdefault(metric["group"], {})[metric["name"]] = metric["numerator"], metric["denominator"]
    return found


def test_a_mixture_is_described_by_set_with_totals():
    write_rows(Path("a.jsonl"), [text_row(words(k)) for k in range(6)])
    write_rows(Path("b.jsonl"), [row for row in rows(9) if "function_call" in str(row)][:3])
    assert type_("data mix b=b.jsonl a=a.jsonl --no-overlap-check -o m").exit_code == 0
    found = by_set("m/train.jsonl")
    assert list(found) == ["set a", "set b", "all sets"]
    assert [part["records"] for part in found.values()] == [(6, 9), (3, 9), (9, 9)]
    assert [part["without a call"] for part in found.values()] == [(6, 6), (0, 3), (6, 9)]
    shown = type_("data stats m/train.jsonl").stdout
    assert "all sets" in shown
    origins = [*csv.DictReader(lines("m/train.origins.csv"))]
    listed = [json.loads(lines(f"{one['set']}.jsonl")[int(one["row"]) - 1]) for one in origins]
    assert listed == [json.loads(line) for line in lines("m/train.jsonl")]
    # A file that was edited is no longer what the mixture lists.
    Path("m/train.jsonl").write_text("\n".join(lines("m/train.jsonl")[1:]))
    assert by_set("m/train.jsonl") == {}


@pytest.mark.parametrize("column", ["source", "dataset"])
def test_a_column_says_which_set_a_record_is_of(column: str):
    write_rows(Path("a.jsonl"), [{**row, column: "xlam"} if k else row for k, row in enumerate(rows(3))])
    found = by_set("a.jsonl")
    assert {name: part["records"] for name, part in found.items()} == {
        "set xlam": (2, 3), "set not named": (1, 3), "all sets": (3, 3)
    }  # fmt: skip
    write_rows(Path("b.jsonl"), [{**row, column: str(k)} for k, row in enumerate(rows(51))])
    assert by_set("b.jsonl") == {}
    shown = type_("data stats a.jsonl --compare b.jsonl").stdout
    assert ("sets of a.jsonl" in shown, "sets of b.jsonl" in shown) == (True, False)


def test_two_files_side_by_side_and_unreadable_rows():
    write_rows(Path("a.jsonl"), rows(9))
    write_rows(Path("b.jsonl"), rows(4))
    ended = type_("data stats a.jsonl --compare b.jsonl")
    assert ended.exit_code == 0
    assert "a.jsonl" in ended.stdout
    assert "b.jsonl" in ended.stdout
    Path("b.jsonl").write_text("{\n" + Path("b.jsonl").read_text())
    assert type_("data stats b.jsonl").exit_code == 1


def test_duplicates_are_listed_when_asked_for():
    pytest.importorskip("rensa", reason="the extra `training` is not installed")
    near = call_row(f"{words(1)} more")
    write_rows(Path("d.jsonl"), [*rows(3), rows(3)[1], near])
    assert "duplicate: " not in type_("data lint d.jsonl").stdout
    found = type_("data lint d.jsonl --duplicates near")
    assert "d.jsonl:4: exact duplicate: of line 2\n" in found.stdout
    assert "d.jsonl:5: near duplicate: of line 2 (0.89)\n" in found.stdout
    assert type_("data lint d.jsonl --duplicates exact").stdout.count("duplicate: ") == 1
    assert type_("data lint d.jsonl --duplicates some").exit_code == 2


def test_tokens_are_counted_by_a_tokenizer(monkeypatch: pytest.MonkeyPatch):
    class Tokenizer:
        """As many tokens as characters."""

        ids: str

        @classmethod
        def from_file(cls, path: str) -> "Tokenizer":
            if not Path(path).read_text():
                raise Exception("empty")
            return cls()

        def encode(self, text: str, *, add_special_tokens: bool) -> "Tokenizer":
            self.ids = text
            return self

    module = ModuleType("tokenizers")
    module.__dict__["Tokenizer"] = Tokenizer
    monkeypatch.setitem(sys.modules, "tokenizers", module)
    write_rows(Path("a.jsonl"), [text_row(words(k), "x" * 100) for k in range(3)])
    Path("tokenizer.json").write_text("{}")
    Path("broken.json").write_text("")
    assert "F03" not in type_("data lint a.jsonl --tokenizer . --cutoff 300").stdout
    found = type_("data lint a.jsonl --tokenizer tokenizer.json --cutoff 150").stdout
    assert "F03: longer than 150 tokens: 3 of 3 records\n" in found
    assert type_("data stats a.jsonl --tokenizer broken.json").exit_code == 2
    assert type_("data stats a.jsonl --tokenizer nowhere").exit_code == 2
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    ended = type_("data lint a.jsonl --tokenizer .")
    assert (ended.exit_code, "pip install tokenizers" in ended.stderr) == (2, True)
