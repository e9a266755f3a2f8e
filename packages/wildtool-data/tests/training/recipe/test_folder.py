"""The folder of a training, file by file and word by word."""

import json
from pathlib import Path
from typing import Any

import pytest

from training.training_rows import call_row, text_row, turn, write_rows
from wildtool import __version__
from wildtool_data.prepare.recipe.recipe import Recipe, RecipeResult, is_recipe, write_recipe

ROWS = [call_row(f"w{k} x", f"S{k}") if k % 2 else text_row(f"w{k} x") for k in range(4)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def recipe(*rows: dict[str, Any], **more: Any) -> Recipe:
    file = write_rows(Path("t.jsonl"), list(rows or ROWS))
    return Recipe(**{"files": (file,), "model": "Qwen/Qwen3-8B", "benchmarks": ("wild-mini",), **more})


def written(plan: Recipe, **more: Any) -> RecipeResult:
    return write_recipe(plan, Path("out"), **{"search": None, "force": True, **more})


def text(name: str) -> str:
    return Path("out", name).read_text()


def test_rows_that_were_left_out_are_counted_where_the_commands_are():
    user = {"role": "user", "content": "q"}
    replies = [{"role": "assistant", "content": "r", "weight": weight} for weight in (0, 1)]
    written(recipe(*({"messages": [user, reply]} for reply in replies)))
    head = text("README.md").partition("\n```sh")[0].splitlines()[2:]
    left_out = "Left out: 1 row; see the files `.rejects.jsonl` in `data`."
    assert head == ["", "1 record from t.jsonl, checked.", left_out]


def talk(*replies: dict[str, Any]) -> dict[str, Any]:
    user = {"role": "user", "content": "q"}
    return {"messages": [part for reply in replies for part in (user, {"role": "assistant", **reply})]}


def test_text_beside_calls_is_written_before_tags():
    made = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    tools = [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    ]
    written(recipe({**talk({"content": "Look.", "tool_calls": [made]}), "tools": tools}))
    (row,) = map(json.loads, text("data/t_sft.jsonl").splitlines())
    assert row["conversations"][-1] == turn(
        "function_call", 'Look.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    )


def test_the_folder_is_known_before_it_is_complete(monkeypatch: pytest.MonkeyPatch):
    def stopped(*given: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wildtool_data.prepare.recipe.recipe.write_llamafactory", stopped)
    with pytest.raises(KeyboardInterrupt):
        written(recipe())
    assert (
        text("README.md")
        == f"<!-- written by wildtool {__version__} -->\nNot complete: run the command again.\n"
    )
    assert is_recipe(Path("out"))
    assert not is_recipe(Path())
