"""Series of numbers of tools: runs that differ in nothing else, and what a unit took."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import wildtool
from engine.echo_benchmark import ScriptedModel
from wildtool.cli.output.sizes import show_sizes
from wildtool.errors import CallError
from wildtool.tools.size_curve import UnitUsage, exposure_gains, size_series
from wildtool.types import Reply, Request


def run(folder: Path, size: int | None, model: Any = "baseline/chat", **settings: Any) -> None:
    altered: dict[str, Any] = {
        name: settings.pop(name) for name in ("among_tools", "expose") if name in settings
    }
    settings = {"limit": 2, "quiet": True, **settings}
    alterations = wildtool.Alterations(among=size, **altered)
    out = folder / f"{len([*folder.glob('*')])}"
    wildtool.run("wild-mini", model=model, out=out, alterations=alterations, **settings)


def tools_file(folder: Path, word: str) -> Path:
    path = folder / f"{word}.json"
    tools = [{"name": f"{word} {k}", "description": f"Reads {word} {k}", "parameters": {}} for k in range(60)]
    path.write_text(json.dumps(tools))
    return path


@pytest.mark.long
def test_tools_of_another_file_make_another_series(tmp_path: Path):
    runs = tmp_path / "runs"
    run(runs, None)  # of no other tools, and so of no series
    for size, word in ((12, "alpha"), (40, "beta"), (40, "alpha")):
        run(runs, size, among_tools=tools_file(tmp_path, word))
    run(runs, 12)
    alpha, beta, own = sorted(size_series([runs]), key=lambda each: (-len(each.points), -len(each.title)))
    assert [point.size for point in alpha.points] == [12, 40]
    assert [point.size for point in beta.points] == [40]
    assert len({each.title for each in (alpha, beta, own)}) == 3
    assert own.label == "baseline/chat (random)"
    assert alpha.label.startswith("baseline/chat (random), pool ")


def test_other_settings_of_the_model_make_another_series(tmp_path: Path):
    for size, temperature in ((12, 0.0), (12, 1.0), (40, 1.0)):
        model = ScriptedModel()
        model.temperature = temperature
        run(tmp_path, size, model)
    cold, warm = size_series([tmp_path])
    assert [each.label for each in (cold, warm)] == [
        "scripted (random); temperature 0.0",
        "scripted (random); temperature 1.0",
    ]
    assert [len(each.points) for each in (cold, warm)] == [1, 2]


@pytest.mark.long
def test_tokens_of_a_unit_are_those_of_units_that_have_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    reported = {12: 0, 20: 0, 40: 0}

    def answer(request: Request) -> Any:
        size = len(request.tools)
        if size == 40 and len(request.messages) > 3:
            return CallError("context_length_exceeded", "too long", final=True)
        reported[size] += 100 * size
        usage = {"prompt_tokens": 100 * size} if size != 20 else {}
        message = request.gold("") if request.gold and size < 40 else {"content": "Fine."}
        return Reply(message, raw="", finish_reason="stop", usage=usage)

    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"models": {"scripted": {"input": 10, "output": 0}}}))
    for size in (12, 20, 40):
        run(tmp_path / "runs", size, ScriptedModel(answer), limit=5)
    (series,) = size_series([tmp_path / "runs"], prices=prices)
    rows = [
        (
            each.size,
            each.folder,
            each.accuracy.value,
            (each.units, each.without_verdict, each.tries),
            each.pairs and (each.pairs.units, each.pairs.lost, each.pairs.difference.value),
            each.p,
            each.used.units,
        )
        for each in series.points
    ]
    runs = tmp_path / "runs"
    assert rows == [
        (12, runs / "0", 1.0, (20, 0, 20), None, None, 20),
        (20, runs / "1", 1.0, (20, 0, 20), (20, 0, 0.0), 1.0, 0),
        (40, runs / "2", 0.1, (20, 15, 20), (20, 3, -0.9), 0.5, 5),
    ]
    small, silent, large = series.points
    assert (small.used.units, small.used.tokens) == (20, reported[12] / 20)
    assert small.used.cost == pytest.approx(reported[12] / 20 * 10 / 1e6)
    assert silent.used == UnitUsage(0, None, None)
    assert large.used.tokens == reported[40] / large.used.units >= 4000
    assert large.used.cost == pytest.approx(reported[40] / large.used.units * 10 / 1e6)
    show_sizes([series], None)
    told = " ".join(capsys.readouterr().out.split())
    assert "of the units that have tokens: 5 of 20 at 40 tools." in told


def test_of_repeats_each_counts_among_those_without_a_verdict_and_among_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def answer(request: Request) -> Any:
        return CallError("refused", "no", final=True) if len(request.messages) > 3 else {"content": "Fine."}

    run(tmp_path, 12, ScriptedModel(answer), limit=1, repeats=3)
    show_sizes(size_series([tmp_path]), None)
    assert "counted as wrong: 9 of 12 units" in " ".join(capsys.readouterr().out.split())


@pytest.mark.long
def test_an_exposure_is_set_against_shown_tools_of_the_same_benchmark(tmp_path: Path):
    for name, expose in (("wild-mini", "direct"), ("wild-mini", "search"), ("ledger", "direct")):
        for size in (16, 32):
            alterations = wildtool.Alterations(among=size, among_kinds="near", expose=expose)
            out = tmp_path / name / expose / str(size)
            wildtool.run(name, model="baseline/chat", limit=2, alterations=alterations, out=out)
    series = size_series([tmp_path / "wild-mini", tmp_path / "ledger"])
    (gain,) = exposure_gains(series)
    assert "wild-mini" in gain.title
    assert "2 items" in gain.accuracy.reason


@pytest.mark.long
def test_where_an_exposure_pays_does_not_rest_on_failed_calls(tmp_path: Path):
    def failing(request: Request) -> Any:
        asked.append(len(request.tools))
        if asked[-1] == 16 or asked.count(32) == 1:
            return "Fine."
        return CallError("server", "broken", final=True)

    def gold(request: Request) -> Any:
        assert request.gold
        return Reply(request.gold("parallel"), raw="", finish_reason="stop")

    asked: list[int] = []
    models = {"direct": "Fine.", "failing": failing, "search:perfect": gold}
    for name, answer in models.items():
        for size in (16, 32):
            model = ScriptedModel(answer if callable(answer) else lambda _: "Fine.")
            expose = "direct" if name == "failing" else name
            run(tmp_path / name, size, model, limit=20, expose=expose)
    gains = [
        next(iter(exposure_gains(size_series([tmp_path / name, tmp_path / "search:perfect"])))).accuracy
        for name in ("direct", "failing")
    ]
    assert [(gain.size, gain.low) for gain in gains] == [(0, 0), (0, 0)]
    assert [gain.high for gain in gains] == [0, math.inf]
