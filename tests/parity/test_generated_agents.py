"""Agent items made over the published sandbox, which is at hand only where the published data are."""

from pathlib import Path

from typer.testing import CliRunner

from parity.cases import oracle_folder, present
from wildtool.benchmarks.acebench.data import read_items
from wildtool.cli import app

KINDS = ("agent_multi_step", "agent_multi_turn")


def command(*words: object) -> str:
    ran = CliRunner().invoke(app, [str(word) for word in words], prog_name="wildtool")
    assert ran.exit_code == 0, ran.output
    return ran.output


def test_items_of_templates_over_the_published_sandbox_are_right_for_the_published_evaluator(tmp_path: Path):
    sandbox = present(present(oracle_folder("acebench")).parents[1] / "data" / "acebench")
    made = ("generate", "acebench", "-m", "procedural", "--kinds", ",".join(KINDS), "--sandbox", sandbox)
    assert "20 items, 0 lost" in command(*made, "-n", 20, "--lang", "en,zh", "-o", tmp_path / "set")
    items = tmp_path / "set" / "items"
    classes = {name for item in read_items(items) for name in item.data.records[0].involved_classes}
    assert classes == {"BaseApi", "MessageApi", "ReminderApi", "FoodPlatform", "Travel"}
    for profile in ("official", "fixed"):
        run = ("run", "acebench", "--data", items, "-m", "baseline/gold", "--profile", profile)
        assert "20/20 tasks · 100.0 % correct" in command(*run, "-o", tmp_path / profile)
