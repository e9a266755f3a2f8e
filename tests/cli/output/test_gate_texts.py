"""What a gate tells a pull request: annotations of a job, and a summary in Markdown."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wildtool.cli import app


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good run and a bad one."""
    place = tmp_path_factory.mktemp("gate")
    for name in ("gold", "chat"):
        line = f"run wild-mini --quiet --limit 9 --model baseline/{name} --out {place}/{name}"
        assert type_(line).exit_code == 0
    return place


@pytest.fixture(autouse=True)
def _in_a_job(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(played)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page.md"))


def notes(ended: Result) -> list[str]:
    """What GitHub takes for commands: nothing of what lies between the two marks that stop them."""
    before, mark, rest = ended.stdout.partition("::stop-commands::")
    if mark:
        token, _, rest = rest.partition("\n")
        before += rest.partition(f"::{token}::\n")[2]
    return [line for line in before.splitlines() if line.startswith("::")]


HEADS = (
    "|  | units | baseline | accuracy | difference | 95 % | p (Holm) | finding |\n"
    + "| --- "
    + "| ---: " * 7
    + "|"
)
LOST = "baseline/chat lost 83.3 points on wild-mini ([-100.0, -65.9], p after Holm 0.0039)"
ROW = r"| wild-mini | 36 | 100.0 % | 16.7 % | -83.3 | \[-100.0, -65.9\] | 0.0039 | worse |"
PART = "- Not all items: wild-mini, --limit 9."


@pytest.mark.long
def test_a_loss_is_an_error_of_the_job_and_stands_in_the_summary(tmp_path: Path) -> None:
    ended = type_(f"gate chat --against gold --markdown {tmp_path / 'gate.md'}")
    assert ended.exit_code == 1
    assert notes(ended) == [f"::error title=wildtool gate::{LOST}"]
    escaped = LOST.replace("[", r"\[").replace("]", r"\]")
    broken = [line for line in ended.stdout.splitlines() if line.startswith("  wild_mini")]
    assert len(broken) == 30
    named = [rf"- {line.strip().replace('_', chr(92) + '_')}" for line in broken]
    summary = "\n".join(
        [
            "<!-- written by wildtool gate -->",
            "### wildtool gate: failed",
            "",
            f"{escaped}. Allowed: 0 points.",
            "",
            "`baseline/chat` against `baseline/gold`",
            "",
            HEADS,
            ROW,
            "",
            "Newly broken, 30 of 36:",
            "",
            *named,
            "",
            PART,
            "",
        ]
    )
    assert (tmp_path / "gate.md").read_text("utf-8") == summary
    assert (tmp_path / "page.md").read_text("utf-8") == summary
    type_("gate chat --against gold")
    assert (tmp_path / "page.md").read_text("utf-8") == summary * 2


def test_a_loss_that_is_not_known_to_be_larger_than_allowed_is_a_warning() -> None:
    ended = type_("gate chat --against gold --worse-than 99")
    assert ended.exit_code == 4
    assert notes(ended) == [
        f"::warning title=wildtool gate::{LOST}",
        "::warning title=wildtool gate::undecided: baseline/chat, wild-mini",
    ]


def test_what_stops_a_gate_is_an_error_of_the_job() -> None:
    ended = type_("gate chat --against nowhere")
    assert ended.exit_code == 2
    where = "nowhere: there is no such folder; give the folder of a run, one above several, or a bundle"
    assert ended.stdout == f"::error title=wildtool gate::{where}\n"
    ended = type_("gate chat --against chat")
    assert ended.stdout == "::error title=wildtool gate::the same run is given twice; give each run once\n"
