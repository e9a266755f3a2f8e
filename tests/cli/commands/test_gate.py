"""`wildtool gate` as it is typed: what fails a build, what passes and why, what is refused, and what GitHub is told."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from wildtool.cli import app

PAGE = Path(__file__).parents[3] / "docs" / "gate.md"
MINI = "wild-mini/baseline--"


def type_(line: str, **environment: str) -> Result:
    return CliRunner().invoke(app, shlex.split(line), prog_name="wildtool", env=environment)


def ended(line: str, **environment: str) -> tuple[int, str]:
    result = type_(line, **environment)
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gold and a weaker model on two benchmarks, in a folder of each."""
    place = tmp_path_factory.mktemp("gate")
    for name in ("gold", "chat"):
        model = f"--quiet --limit 8 --model baseline/{name} --out {place}/{name}"
        assert type_(f"run wild-mini {model}/wild-mini/baseline--{name}").exit_code == 0
        assert type_(f"run acebench --data finance --mode fc {model}/acebench").exit_code == 0
    return place


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "WILDTOOL_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_a_significant_loss_fails():
    status, text = ended(f"gate chat/{MINI}chat --against gold/{MINI}gold")
    assert status == 1
    assert re.search(
        r"failed: baseline/chat lost \d\d\.\d points on wild-mini \(\[-.*Allowed: 0 points\.", text
    )


def test_a_loss_that_may_be_larger_than_allowed_is_undecided():
    line = f"gate chat/{MINI}chat --against gold/{MINI}gold --worse-than 99"
    status, text = ended(line)
    assert status == 4
    assert re.search(r"undecided: baseline/chat may have lost more .* items like these 8 would decide", text)
    assert ended(f"{line} --allow-undecided")[0] == 0


def test_no_loss_of_more_than_allowed_passes():
    status, text = ended(f"gate gold/{MINI}gold --against chat/{MINI}chat --worse-than 10")
    assert status == 0
    assert "passed: not worse by more than 10 points" in text


def test_newly_broken_units_are_named_and_may_be_limited():
    for name in ("gold", "chat"):
        line = f"run wild-mini --quiet --limit 1 --model baseline/{name} --out few/{name}"
        assert type_(line).exit_code == 0
    status, text = ended("gate few/chat --against few/gold")
    assert status == 0
    assert "Newly broken, 4 of 4: wild_mini_0, 0: Refusal" in text
    assert ended("gate few/chat --against few/gold --newly-broken 3")[0] == 1
    assert ended("gate few/chat --against few/gold --newly-broken 4")[0] == 0


def test_a_gain_passes_and_says_which_loss_would_have_been_found():
    status, text = ended(f"gate gold/{MINI}gold --against chat/{MINI}chat")
    assert status == 0
    assert re.search(
        r"passed: no significant loss\. A loss of \d+\.\d points would be found four times", text
    )


def test_a_loss_that_may_be_luck_passes():
    for name in ("gold", "chat"):
        line = f"run wild-mini --quiet --limit 2 --model baseline/{name} --out few/{name}"
        assert type_(line).exit_code == 0
    status, text = ended("gate few/chat --against few/gold")
    assert status == 0
    assert "So few items" in text


@pytest.mark.long
def test_benchmarks_are_tested_each_and_overall():
    status, text = ended("gate chat --against gold")
    assert status == 1
    assert "points on acebench (data finance), mode fc" in text
    assert "points on wild-mini" in text
    assert "points overall" in text


def test_a_benchmark_that_only_the_baseline_has_is_refused_unless_asked_for():
    shutil.rmtree("chat/acebench")
    status, text = ended("gate chat --against gold")
    assert status == 2
    assert "incomplete evidence: acebench (data finance), mode fc: only in baseline/gold" in text
    status, text = ended("gate chat --against gold --only-played")
    assert status == 1
    assert "Left out: acebench (data finance), mode fc: only in baseline/gold" in text


def test_a_benchmark_that_only_the_new_side_has_is_named():
    shutil.rmtree("chat/acebench")
    status, text = ended("gate gold --against chat", GITHUB_ACTIONS="true")
    assert status == 0
    assert (
        "::warning title=wildtool gate::Left out: acebench (data finance), mode fc: only in baseline/gold."
        in text
    )


def test_a_run_cut_short_is_refused_unless_asked_for():
    segment = Path(f"chat/{MINI}chat/record-0001.jsonl")
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:12]))
    status, text = ended("gate chat --against gold", GITHUB_ACTIONS="true")
    assert status == 2
    assert "wild-mini: baseline/chat incomplete" in text
    assert "::error title=wildtool gate::incomplete evidence:%0A wild-mini: baseline/chat incomplete" in text
    assert ended("gate chat --against gold --only-played")[0] == 1


def test_other_data_are_refused_whatever_is_asked_for():
    line = "run wild-mini --quiet --limit 8 --noise names:heavy --model baseline/gold --out other/a"
    assert type_(line).exit_code == 0
    status, text = ended("gate chat/acebench --against other/a --only-played")
    assert status == 2
    assert "differ in benchmark: wild-mini and acebench;" in text


@pytest.mark.long
def test_what_was_changed_on_purpose_is_compared_and_noted():
    line = "run wild-mini --quiet --limit 8 --noise names:heavy --model baseline/gold --out other/a"
    assert type_(line).exit_code == 0
    status, text = ended(f"gate other/a --against gold/{MINI}gold")
    assert status == 0
    assert "names:heavy" in text


@pytest.mark.long
def test_a_new_model_beside_the_namesake_is_named():
    shutil.copytree("chat/acebench", "gold/acebench", dirs_exist_ok=True)
    status, text = ended("gate gold --against chat", GITHUB_ACTIONS="true")
    assert status == 2
    shutil.copytree("chat/wild-mini", "gold/wild-mini", dirs_exist_ok=True)
    shutil.copytree("gold", "more")
    line = "run wild-mini --quiet --limit 8 --model baseline/lexical --out more/wild-mini/baseline--lexical"
    assert type_(line).exit_code == 0
    status, text = ended("gate more --against gold", GITHUB_ACTIONS="true")
    assert status == 0
    assert "::warning title=wildtool gate::baseline/lexical has no counterpart" in text


@pytest.mark.long
def test_the_summary_goes_into_the_file_and_onto_the_page_of_the_job():
    Path("page.md").write_text("before\n")
    status, _ = ended("gate chat --against gold --markdown gate.md", GITHUB_STEP_SUMMARY="page.md")
    summary = Path("gate.md").read_text("utf-8")
    assert status == 1
    assert Path("page.md").read_text("utf-8") == "before\n" + summary
    assert "### wildtool gate: failed" in summary
    assert "`baseline/chat` against `baseline/gold`" in summary
    assert "- Not all items: acebench, --limit 8; wild-mini, --limit 8." in summary
    assert re.search(r"^\| wild-mini \| 32 \| 100\.0 % \| .* \| worse \|$", summary, re.MULTILINE)
    assert ended("gate gold --against chat --markdown gate.md")[0] == 0
    assert "### wildtool gate: passed" in Path("gate.md").read_text("utf-8")


def test_a_file_of_somebody_else_is_not_replaced():
    Path("mine.md").write_text("mine")
    status, text = ended("gate chat --against gold --markdown mine.md")
    assert (status, Path("mine.md").read_text()) == (2, "mine")
    assert "wildtool did not make it" in text


@pytest.mark.parametrize("points", ["-1", "101", "much"])
def test_points_are_between_0_and_100(points: str):
    assert ended(f"gate chat --against gold --worse-than={points}")[0] == 2


@pytest.mark.long
def test_the_workflow_of_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (workflow,) = [block for block in map(yaml.safe_load, blocks) if "jobs" in block]
    steps = workflow["jobs"]["gate"]["steps"]
    commands = {
        event: [
            step["run"].replace('"$MODEL"', "baseline/lexical").replace("--sample 50", "--sample 2")
            for step in steps
            if "run" in step and event in step.get("if", event)
        ]
        for event in ("push", "pull_request")
    }
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "none"))
    assert commands["push"][-1] == "mv runs/new runs/old"
    for command in [*commands["push"], *commands["pull_request"]]:
        if command.startswith("wildtool "):
            assert ended(command.removeprefix("wildtool "))[0] == 0, command
        elif command.startswith("mv "):
            shutil.move(*command.split()[1:])
    restored, saved = (step["with"] for step in steps if "cache" in step.get("uses", ""))
    assert restored["path"] == saved["path"] == "runs/old"
    assert saved["key"].startswith(restored["restore-keys"])
