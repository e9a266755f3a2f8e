"""Places of runs as the record has them: each wrong unit has one, and together they are the difference."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import wildtool
from engine.echo_benchmark import ScriptedModel
from wildtool.cli import app
from wildtool.engine.compare.comparison import compare_all
from wildtool.engine.compare.load import load_compared_runs
from wildtool.engine.compare.losses import lost_tries, split_losses
from wildtool.engine.score.results import load_result
from wildtool.errors import CallError

MODELS = ("gold", "lexical", "random", "chat", "first-tool")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory):
    out = tmp_path_factory.mktemp("runs")
    for model in MODELS:
        wildtool.run(
            "wild-mini", model=f"baseline/{model}", profile="fixed", limit=6, repeats=2, out=out / model
        )
    return out


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS[1:])
def test_places_sum_to_the_difference_that_the_runs_have(runs: Path, model: str):
    both = [lost_tries(runs / each, "fixed") for each in ("gold", model)]
    split = split_losses(*both, {})
    rates = [
        next(metric.value for metric in load_result(runs / each).metrics if metric.group == "accuracy")
        for each in ("gold", model)
    ]
    assert split.units == 24 and not split.left_out
    assert split.net == pytest.approx(rates[1] - rates[0])
    assert sum(each.difference for each in split.places) == pytest.approx(-split.net)


@pytest.mark.parametrize("model", MODELS[1:])
def test_under_other_rules_places_are_of_the_units_with_a_verdict(runs: Path, model: str):
    split = split_losses(lost_tries(runs / "gold", "official"), lost_tries(runs / model, "official"), {})
    assert split.units + split.left_out == 24
    assert sum(each.difference for each in split.places) == pytest.approx(-split.net)


def test_each_policy_is_lost_where_it_errs(runs: Path):
    def places(model: str) -> set[str | None]:
        return {place for tries in lost_tries(runs / model, "fixed").values() for place in tries}

    assert places("gold") == {None}
    assert places("chat") == {None, "text instead of a call"}
    assert {"wrong argument", "another tool"} <= places("first-tool")


def play(folder: Path, model: ScriptedModel, **alterations: str) -> Path:
    altered = wildtool.Alterations(**alterations)
    wildtool.run("wild-mini", model=model, profile="fixed", limit=2, alterations=altered, out=folder)
    return folder


@pytest.mark.long
def test_chance_is_not_of_a_run_with_other_settings_of_the_model(tmp_path: Path):
    cold, warm = ScriptedModel(), ScriptedModel()
    warm.temperature = 1.0
    shown, hot = play(tmp_path / "shown", cold), play(tmp_path / "hot", warm)
    again = play(tmp_path / "again", cold)
    searched = play(tmp_path / "searched", cold, expose="search")
    floors: list[str] = []
    for other in (hot, again):
        *_, pair = compare_all(load_compared_runs([shown, other, searched]))
        assert pair.losses is not None
        floors.append(pair.losses.floor)
    assert floors == ["", "another run like it"]


def failing(first_fails: bool, others_fail: bool) -> ScriptedModel:
    """A model whose first call fails or its later ones, or both."""
    asked: list[object] = []

    def answer(request: object):
        asked.append(request)
        fails = first_fails if len(asked) == 1 else others_fail
        return CallError("server", "broken", final=True) if fails else "Fine."

    return ScriptedModel(answer)


def test_units_whose_calls_failed_in_both_runs_are_counted_as_left_out(tmp_path: Path):
    shown = play(tmp_path / "shown", failing(True, False))
    searched = play(tmp_path / "searched", failing(True, False), expose="search")
    (pair,) = compare_all(load_compared_runs([shown, searched]))
    assert pair.losses is not None
    assert (pair.losses.units, pair.losses.left_out) == (7, 1)


def test_runs_without_a_verdict_in_common_have_no_losses_to_draw(tmp_path: Path):
    shown = play(tmp_path / "shown", failing(False, True))
    searched = play(tmp_path / "searched", failing(True, False), expose="search")
    words = ["compare", str(shown), str(searched), "--curve", "losses"]
    done = CliRunner().invoke(app, words, prog_name="wildtool")
    assert done.exit_code == 2 and "verdict" in done.output and "--expose" not in done.output
