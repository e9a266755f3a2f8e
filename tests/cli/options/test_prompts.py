"""`--prompts` and `--sampling`: what a run is told to send, what it keeps, and what its tables say."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from benchmarks.acebench import prompts_build
from benchmarks.acebench.reply_build import SINGLE, tool
from wildtool.benchmarks.acebench.prompts import own
from wildtool.cli import app
from wildtool.engine.score.score import prepare_judging


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, a data folder with one record, and room for runs."""
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    prompts_build.pin(monkeypatch)
    record = {
        "id": f"{SINGLE}_0",
        "question": "user: Do it.\n",
        "function": [tool("f", a={"type": "string"})],
        "time": "",
    }
    gold = {"id": f"{SINGLE}_0", "ground_truth": {"f": {"a": "x"}}}
    for folder, line in (("records/en", record), ("records/en/possible_answer", gold)):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / f"data_{SINGLE}.json").write_text(json.dumps(line) + "\n")
    return tmp_path


def pull(place: Path) -> None:
    prompts_build.write(place / "cache" / "acebench")


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def run(options: str = "", out: str = "run") -> Result:
    return type_(f"run acebench --data records --model baseline/gold --out {out} {options}")


def identity(place: Path, out: str = "run") -> dict[str, Any]:
    return json.loads((place / out / "run.json").read_text())["identity"]


def test_a_run_in_our_own_words_has_the_identity_of_earlier_runs(place: Path) -> None:
    assert run("--prompts own").exit_code == 0
    assert "prompts" not in identity(place)


def test_the_digest_of_the_originals_texts_is_part_of_the_identity(place: Path) -> None:
    pull(place)
    ended = run("--prompts original")
    assert ended.exit_code == 0
    assert "the original's prompts" in ended.stdout
    assert len(identity(place)["prompts"]) == 64


def test_without_an_option_the_original_is_sent_where_it_was_pulled_and_that_is_said(place: Path) -> None:
    assert "original" not in run(out="before").output
    pull(place)
    assert "Use --prompts own for wildtool's wording" in run(out="after").output
    assert ("prompts" in identity(place, "before"), "prompts" in identity(place, "after")) == (False, True)


def test_a_run_goes_on_with_the_prompts_it_was_begun_with(place: Path) -> None:
    assert run().exit_code == 0
    pull(place)
    assert run().exit_code == 0
    assert "prompts" not in identity(place)
    assert run(out="other").exit_code == 0
    assert run(out="other").exit_code == 0


def test_other_prompts_in_the_same_folder_are_refused(place: Path) -> None:
    assert run().exit_code == 0
    pull(place)
    ended = run("--prompts original")
    assert (ended.exit_code, "the settings differ: prompts was not set" in ended.output) == (2, True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run acebench --data records --model baseline/gold --prompts original", "`wildtool data pull acebench`"),
        ("run wild-mini --model baseline/gold --prompts original", "has no prompts of an original to fetch"),
        ("run wild-mini --model baseline/gold --sampling original", "leave --sampling out"),
        ("run acebench --data records --model m --sampling original --temperature 1", "sets --temperature"),
        ('run acebench --data records --model m --sampling original --extra-body {"top_p":0.5}', "sets top_p"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_the_remedy(line: str, said: str) -> None:
    ended = type_(line)
    assert (ended.exit_code, said in ended.output.replace("\n", " ")) == (2, True), ended.output


def test_damaged_prompts_are_named(place: Path) -> None:
    pull(place)
    (place / "cache/acebench/model_inference/prompt_en.py").write_text("")
    ended = run()
    assert (ended.exit_code, "prompt_en.py: not the pinned file" in ended.output) == (2, True)


def test_scoring_needs_no_prompts(place: Path) -> None:
    pull(place)
    assert run().exit_code == 0
    for path in prompts_build.FILES:
        (place / "cache/acebench" / path).unlink()
    ended = type_("score run")
    assert (ended.exit_code, "the original's prompts" in ended.stdout) == (0, True)


def test_runs_with_different_prompts_are_not_compared_unasked(place: Path) -> None:
    pull(place)
    assert run("--prompts own", "a").exit_code == run("--prompts original", "b").exit_code == 0
    ended = type_("compare a b")
    assert (ended.exit_code, "prompts: wildtool's own and the original's" in ended.output) == (2, True)
    assert "Chinese prompt" in type_("show b").stdout


def test_sampling_of_the_original_becomes_settings(place: Path) -> None:
    ended = type_("run acebench --data records --model baseline/gold --sampling original --out run")
    assert ended.exit_code == 0
    assert json.loads((place / "run" / "run.json").read_text())["scope"]["max_attempts"] == 6


def test_a_run_is_shown_with_the_prompts_it_was_made_with_as_long_as_they_are_there(place: Path) -> None:
    pull(place)
    assert run().exit_code == 0

    def system() -> str:
        judged = prepare_judging(place / "run").selection
        request = judged.benchmark.rules("official").episode(next(judged.items()), "0").request()
        assert request is not None
        return request.messages[0]["content"]

    assert system().startswith("normal EN ")
    (place / "cache/acebench/model_inference/prompt_en.py").write_text("")
    assert system().startswith("You are an AI assistant")


def test_a_run_whose_wording_has_changed_since_is_scored_but_does_not_go_on(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("--quiet").exit_code == 0
    changed = {**own.prompt_texts("en"), "history_heading": "Another heading:"}
    monkeypatch.setattr(own, "prompt_texts", lambda lang: changed)
    assert type_("score run").exit_code == 0
    ended = run("--quiet")
    assert ended.exit_code == 2
    assert (
        "its prompts have changed. What is recorded can be scored and shown as before"
        in ended.output.replace("\n", " ")
    )
