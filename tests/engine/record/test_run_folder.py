"""Run folders: one writer, the same settings, and nothing lost when a process or a disk gives up."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from wildtool.engine.record.reader import LogReader
from wildtool.engine.record.run_folder import read_run, setting_diffs
from wildtool.engine.run.runner import RunResult, run_plan
from wildtool.errors import RecordError

TESTS = Path(__file__).parents[2]


def go(out: Path, *, command: tuple[str, ...] = (), **settings: Any) -> RunResult:
    return run_plan(plan_of(**settings), out, command=command, policy=PATIENT)


def start(script: str, out: Path) -> subprocess.Popen[str]:
    """Another process that runs a script with the echo benchmark at hand."""
    head = (
        "import os, resource, sys\nfrom pathlib import Path\nfrom engine.echo_benchmark import *\n"
        "from wildtool.engine.run.runner import run_plan\nout = Path(sys.argv[1])\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + script, str(out)],
        cwd=TESTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


WAITING = """
def wait(request):
    if "i2" in str(request.messages):
        print("waiting", flush=True)
        sys.stdin.readline()
    return "right"
run_plan(plan_of(EchoBenchmark(items=9), ScriptedModel(wait), concurrency=1), out, command=[])
"""
"""A run that stops in its third item until it is told to go on."""


def test_a_second_process_on_a_run_folder_is_refused(tmp_path: Path):
    with start(WAITING, tmp_path) as first:
        assert first.stdout is not None
        first.stdout.readline()
        with pytest.raises(RecordError, match=rf"process {first.pid} on .*another --out"):
            go(tmp_path, benchmark=EchoBenchmark(items=9))
        first.communicate("\n" * 9)
    assert first.returncode == 0


def test_a_killed_run_loses_nothing_it_recorded_and_leaves_no_lock(tmp_path: Path):
    with start(WAITING, tmp_path) as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.send_signal(signal.SIGKILL)
    result = go(tmp_path, benchmark=EchoBenchmark(items=9))
    assert (result.replayed, result.calls, result.counts.correct) == (8, 28, 18)
    assert [sitting["status"] for sitting in read_run(tmp_path)["sittings"]] == ["running", "done"]


def test_a_file_size_limit_stops_the_run_with_the_record_intact(tmp_path: Path):
    script = """
from wildtool.errors import StorageError
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    run_plan(plan_of(EchoBenchmark(items=99)), out, command=[])
except StorageError as error:
    print(error, error.exit_status)
"""
    with start(script, tmp_path) as process:
        told, trouble = process.communicate()
    assert "intact" in told and "run the same command again" in told and told.endswith("3\n"), trouble
    segment = tmp_path / "record-0001.jsonl"
    assert segment.read_bytes().endswith(b"\n") and segment.stat().st_size <= 20_000
    with LogReader(tmp_path) as reader:
        assert reader.torn == 0
    assert go(tmp_path, benchmark=EchoBenchmark(items=99)).counts.correct == 198


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"benchmark": EchoBenchmark(mode="loud")},
            'mode was "plain" in this run and is now "loud"',
        ),
        ({"seed": 2}, "seed was 1 in this run and is now 2"),
        ({"profile": "strict"}, 'profile was "official" in this run and is now "strict"'),
        ({"lang": "zh"}, 'lang was null in this run and is now "zh"'),
        (
            {"model": ScriptedModel(name="other")},
            'models.agent.name was "scripted" in this run and is now "other"',
        ),
    ],
)
def test_a_changed_setting_that_would_change_requests_is_named(
    tmp_path: Path, settings: dict[str, Any], told: str
):
    go(tmp_path, seed=1)
    with pytest.raises(RecordError, match=told):
        go(tmp_path, **{"seed": 1, **settings})


def test_all_changed_settings_are_named_at_once(tmp_path: Path):
    go(tmp_path, seed=1)
    with pytest.raises(RecordError, match=r"lang was null .* now \"zh\", seed was 1 .* now 2"):
        go(tmp_path, seed=2, lang="zh")


def test_a_changed_sampling_setting_is_named(tmp_path: Path):
    go(tmp_path)
    model = ScriptedModel()
    model.temperature = 0.7
    with pytest.raises(RecordError, match=r"models\.agent\.settings\.temperature was 0\.0 .* now 0\.7"):
        go(tmp_path, model=model)


def test_a_refused_setting_leaves_the_folder_as_it_was(tmp_path: Path):
    go(tmp_path, seed=1)
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(RecordError):
        go(tmp_path, seed=2)
    assert (tmp_path / "run.json").read_bytes() == before


def test_what_does_not_change_requests_may_change(tmp_path: Path):
    go(tmp_path, concurrency=1, limit=1)
    result = go(tmp_path, concurrency=9, repeats=2, timeout_s=1.0, in_order=True, max_attempts=1)
    assert (result.counts.units, read_run(tmp_path)["scope"]["concurrency"]) == (8, 9)


def test_a_record_without_run_json_is_refused(tmp_path: Path):
    go(tmp_path)
    (tmp_path / "run.json").unlink()
    with pytest.raises(RecordError, match=r"no run\.json"):
        go(tmp_path)


def test_a_damaged_run_json_is_named(tmp_path: Path):
    go(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(RecordError, match=r"run\.json: damaged"):
        go(tmp_path)


@pytest.mark.parametrize(
    "models", [[], {"agent": {"name": "m"}, "user": {}}, {"agent": {"name": "m"}, "user": 5}]
)
def test_a_run_json_with_damaged_models_is_named(tmp_path: Path, models: Any):
    go(tmp_path)
    about = json.loads((tmp_path / "run.json").read_text())
    about["identity"]["models"] = models
    (tmp_path / "run.json").write_text(json.dumps(about))
    with pytest.raises(RecordError, match=r"run\.json: damaged"):
        read_run(tmp_path)


def test_a_run_of_a_newer_format_is_refused(tmp_path: Path):
    go(tmp_path)
    about = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps(about | {"format": 99}))
    with pytest.raises(RecordError, match="newer wildtool"):
        read_run(tmp_path)


def test_a_folder_that_is_no_run_is_named(tmp_path: Path):
    with pytest.raises(RecordError, match="not a run folder"):
        read_run(tmp_path)


def test_a_run_folder_that_is_a_file_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="cannot be used as a run folder"):
        go(tmp_path / "file")


def test_a_login_in_the_command_is_not_written_down(tmp_path: Path):
    go(tmp_path, command=("wildtool", "run", "--endpoint", "https://me:q7Xk92hd@host/v1"))
    assert read_run(tmp_path)["sittings"][0]["command"][-1] == "https://host/v1"


@pytest.mark.parametrize("word", ["https://host/v1?api_key=secret&v=2", "--base-url=https://host?secret#a"])
def test_the_query_of_an_address_in_the_command_is_not_written_down(tmp_path: Path, word: str):
    go(tmp_path, command=("wildtool", "run", word))
    assert read_run(tmp_path)["sittings"][0]["command"][-1] == word.partition("?")[0] + "?…"


def test_words_of_any_language_can_be_read_in_the_file(tmp_path: Path):
    go(tmp_path, command=("wildtool", "你好"))
    assert '"你好"' in (tmp_path / "run.json").read_text("utf-8")


def test_a_pipe_in_place_of_a_record_is_named_and_not_opened(tmp_path: Path):
    os.mkfifo(tmp_path / "record-0001.jsonl")
    with pytest.raises(RecordError, match=r"record-0001\.jsonl: is a pipe, not a regular file"):
        go(tmp_path)
    assert not (tmp_path / "lock").exists()


def test_a_command_word_that_is_no_text_is_written_down(tmp_path: Path):
    go(tmp_path, command=("wildtool", "caf\udce9"))
    assert read_run(tmp_path)["sittings"][0]["command"] == ["wildtool", "caf\udce9"]


def test_differences_name_settings_that_come_and_go():
    assert list(setting_diffs({"a": 1, "b": {"c": 2}}, {"b": {"d": 3}})) == [
        ("a", "1", "not set"),
        ("b.c", "2", "not set"),
        ("b.d", "not set", "3"),
    ]
