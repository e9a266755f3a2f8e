"""Altered runs of a report stand beside the same runs without the alteration, paired."""

from dataclasses import replace
from pathlib import Path

import wildtool
from engine.echo_benchmark import ScriptedModel
from wildtool.report.model import ReportRun, read_runs
from wildtool.report.pages.effects import alteration_effects


def runs_of(
    folder: Path, *settings: dict[str, str], models: tuple[str, ...] = ("lexical",)
) -> list[ReportRun]:
    for number, setting in enumerate(settings):
        for model in models:
            out = folder / f"{model}-{number}"
            wildtool.run("wild-mini", model=f"baseline/{model}", limit=8, out=out, quiet=True, **setting)
    return read_runs(sorted(folder.iterdir()), None, keep=False)


def test_each_altered_run_is_paired_with_the_one_that_has_most_of_the_rest(tmp_path: Path):
    failing = {"failures": "down"}
    effects = alteration_effects(
        runs_of(tmp_path, {}, failing, {**failing, "noise": "order:slight"}, models=("chat", "gold"))
    )
    rows = {(each.model, each.alteration.partition(" ")[0]): each for each in effects}
    assert [*rows] == [
        ("baseline/chat", "failures"),
        ("baseline/chat", "noise"),
        ("baseline/gold", "failures"),
        ("baseline/gold", "noise"),
    ]
    cost = rows["baseline/gold", "failures"]
    assert (cost.before, cost.units, cost.finding) == ("100.0 %", 32, "worse")
    assert cost.difference.startswith("-")
    assert rows["baseline/gold", "noise"].difference == "+0.0"
    assert rows["baseline/chat", "failures"].finding == "not distinguishable"


def test_a_run_without_a_counterpart_has_no_effect(tmp_path: Path):
    runs = runs_of(tmp_path, {"history": "own"}, {"profile": "fixed"})
    assert alteration_effects(runs) == []


def test_an_altered_run_is_paired_only_with_one_that_was_asked_with_the_same_settings(tmp_path: Path):
    for number, (warm, setting) in enumerate([(0, {}), (1, {}), (1, {"noise": "order:slight"})]):
        model = ScriptedModel(lambda _, warm=warm: "Fine." if warm else "")
        model.temperature = warm
        wildtool.run("wild-mini", model=model, limit=4, out=tmp_path / str(number), quiet=True, **setting)
    runs = read_runs(sorted(tmp_path.iterdir()), None, keep=False)
    (effect,) = alteration_effects(runs)
    assert (effect.before, effect.difference) == (effect.after, "+0.0")
    assert effect.before != "0.0 %"
    assert alteration_effects(runs[::2]) == []


def test_an_altered_run_is_paired_only_with_one_that_had_the_same_models_beside_it(tmp_path: Path):
    plain, altered = runs_of(tmp_path, {}, {"noise": "order:slight"})
    other = replace(plain, result=replace(plain.result, roles={"user": "another"}))
    assert [effect.model for effect in alteration_effects([plain, altered])] == ["baseline/lexical"]
    assert alteration_effects([other, altered]) == []
