"""`--batch` on the command line and in `wildtool.toml`: whom it is about, what it costs, what it does not go with."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.echo_benchmark import EchoBenchmark
from wildtool.cli import app
from wildtool.engine import registry

FILE = Path("wildtool.toml")
PRICED = 'base_url = "http://127.0.0.1:1/v1"\nprices = {input = 1000, output = 1000'


class Installed:
    dist = None
    module = value = "echo"

    def load(self) -> EchoBenchmark:
        return EchoBenchmark(items=3, steps=4)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(registry, "_entries", lambda: {"echo": (Installed(),)})


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def outlook(text: str, line: str) -> tuple[float, bool]:
    """The upper end of the cost that is told, and whether rounds are."""
    FILE.write_text(text)
    ended = type_(f"run echo {line} --dry-run")
    assert ended.exit_code == 0, ended.output
    cost = next(part for part in ended.output.splitlines() if part.split()[:1] == ["cost"])
    rounds = [part.split()[1:] for part in ended.output.splitlines() if part.split()[:1] == ["rounds"]]
    assert rounds in ([], [["4,", "each", "up", "to", "a", "day"]])
    assert ("batch price" in cost) == bool(rounds)
    return float(cost.split()[3]), bool(rounds)


def test_a_batch_costs_what_the_price_says_of_batches():
    priced = f'[models.x]\nmodel = "m"\n{PRICED}, batch = 0.5}}\n'
    alone, batched = outlook(priced, "--model x"), outlook(priced, "--model x --batch")
    assert (alone[1], batched[1]) == (False, True)
    assert batched[0] == pytest.approx(alone[0] / 2, rel=1e-3) and alone[0] > 0


def test_a_price_that_says_nothing_of_batches_is_counted_whole_and_that_is_said():
    priced = f'[models.x]\nmodel = "m"\n{PRICED}}}\n'
    assert outlook(priced, "--model x --batch")[0] == outlook(priced, "--model x")[0]
    assert (
        "no batch price is known for x; the full price is assumed"
        in type_("run echo --model x --batch --dry-run").output
    )


@pytest.mark.parametrize(
    ("run", "model", "typed", "batched"),
    [
        ("batch = true", "", "", True),
        ("", "batch = true", "", True),
        ("batch = true", "batch = false", "", False),
        ("", "batch = false", "--batch", True),
        ("", "", "", False),
    ],
)
def test_what_is_typed_counts_before_the_model_and_the_model_before_the_rest(
    run: str, model: str, typed: str, batched: bool
):
    priced = f'[run]\n{run}\n[models.x]\nmodel = "m"\n{model}\n{PRICED}, batch = 0.5}}\n'
    assert outlook(priced, f"--model x {typed}")[1] is batched


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "--model baseline/gold",
            "baseline/gold cannot be asked by batches: its protocol has no batches here",
        ),
        ("--model m --stream", "m cannot be asked by batches: streams cannot"),
        ("--model gemini/m", "gemini/m cannot be asked by batches"),
        ("--model m --order prefix", "--order prefix runs units one after another"),
    ],
)
def test_what_cannot_go_together_is_refused_before_anything_is_sent(
    line: str, why: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("GEMINI_API_KEY", "key-0123456789")
    ended = type_(f"run echo {line} --batch")
    assert ended.exit_code == 2 and why in ended.output, ended.output
    assert not Path("runs").exists()


@pytest.mark.parametrize("share", ["-0.1", "1.5", "true", '"half"'])
def test_a_share_of_the_price_lies_between_none_and_all(share: str):
    FILE.write_text(f'[models.x]\nmodel = "m"\n{PRICED}, batch = {share}}}\n')
    ended = type_("run echo --model x")
    assert ended.exit_code == 2 and "models.x.prices.batch: must be" in ended.output


def test_a_default_of_the_file_is_about_models_that_can_and_names_the_others():
    FILE.write_text("[run]\nbatch = true\n")
    ended = type_("run echo --model baseline/gold")
    assert ended.exit_code == 0, ended.output
    assert "baseline/gold has no batch API and is called directly" in ended.output
