"""Series of catalogue sizes: runs that differ in nothing else, and what a unit took."""

import json
from pathlib import Path
from typing import Any

import wildtool
from engine.echo_benchmark import ScriptedModel
from wildtool.catalogue.size_curve import size_series


def run(folder: Path, size: int, model: Any = "baseline/chat", **settings: Any) -> None:
    settings = {"limit": 2, "quiet": True, "catalogue": str(size), **settings}
    wildtool.run("wild-mini", model=model, out=folder / f"{len([*folder.glob('*')])}", **settings)


def tools_file(folder: Path, word: str) -> Path:
    path = folder / f"{word}.json"
    tools = [{"name": f"{word} {k}", "description": f"Reads {word} {k}", "parameters": {}} for k in range(60)]
    path.write_text(json.dumps(tools))
    return path


def test_tools_of_another_file_make_another_series(tmp_path: Path):
    runs = tmp_path / "runs"
    for size, word in ((12, "alpha"), (40, "beta"), (40, "alpha")):
        run(runs, size, catalogue_tools=tools_file(tmp_path, word))
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
