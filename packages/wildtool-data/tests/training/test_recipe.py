"""Folders with what a training needs."""

import hashlib
import json
import re
import shlex
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from wildtool.engine.series import read_series
from wildtool.errors import DataError, UsageError
from wildtool_data.prepare.overlap.benchmark import BenchmarkItem, ItemText
from wildtool_data.prepare.overlap.search import OverlapSearch
from wildtool_data.prepare.recipe.recipe import Recipe, RecipeResult, is_recipe, write_recipe
from wildtool_data.prepare.recipe.settings import (
    METHODS,
    check_changes,
    template_of,
    train_settings,
    yaml_text,
)

TOOL = {
    "name": "level",
    "description": "",
    "parameters": {"type": "object", "properties": {"station": {"type": "string"}}, "required": ["station"]},
}


def row(number: int, *, pair: bool = False) -> dict[str, Any]:
    turns = [
        {"from": "human", "value": f"How high is the water at station {number} this fine morning?"},
        {
            "from": "function_call",
            "value": json.dumps({"name": "level", "arguments": {"station": f"S{number}"}}),
        },
        {"from": "observation", "value": f"{number}.12 m"},
        {"from": "gpt", "value": f"It is {number}.12 m."},
    ]
    tools = json.dumps([TOOL])
    if pair:
        reply = {"from": "gpt", "value": "I cannot."}
        return {
            "conversations": turns[:1],
            "system": "",
            "tools": tools,
            "chosen": turns[1],
            "rejected": reply,
        }
    return {"conversations": turns, "system": "", "tools": tools}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., tuple[RecipeResult, Path]]:
    """Writes a recipe for twenty records."""

    def written(
        *, pair: bool = False, search: OverlapSearch | None = None, **given: Any
    ) -> tuple[RecipeResult, Path]:
        data = tmp_path / "train.jsonl"
        data.write_text(
            "".join(json.dumps(row(number, pair=pair)) + "\n" for number in range(20)), encoding="utf-8"
        )
        recipe = Recipe(files=(data,), **{"model": "Qwen/Qwen3-8B", "benchmarks": ("wild-mini",), **given})
        out = tmp_path / "recipe"
        return write_recipe(recipe, out, search=search), out

    return written


def settings_in(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_folder_holds_all_that_a_training_needs(write: Callable[..., tuple[RecipeResult, Path]]):
    result, out = write(trl=True)
    train = settings_in(out / "train.yaml")
    assert (train["template"], train["learning_rate"], train["enable_thinking"]) == ("qwen3", 1e-4, False)
    entry = json.loads((out / "data" / "dataset_info.json").read_text())[train["dataset"]]
    assert (out / "data" / entry["file_name"]).read_bytes().count(b"\n") == 20
    assert settings_in(out / "merge.yaml")["adapter_name_or_path"] == train["output_dir"]
    trl = settings_in(out / "trl.yaml")
    # Of each record both the call and the text after it.
    assert (out / trl["datasets"][0]["data_files"]).read_bytes().count(b"\n") == 40
    assert (trl["learning_rate"], trl["max_length"]) == (train["learning_rate"], train["cutoff_len"])
    listed = (out / "SHA256SUMS").read_text().splitlines()
    assert len(listed) == sum(path.is_file() for path in out.rglob("*")) - 1
    for line in listed:
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    assert is_recipe(out)
    # Nobody looked for benchmark items, and it says so.
    assert "Nobody looked for benchmark items" in (out / "README.md").read_text()
    assert result.trainings[0].file == "train.yaml"


def test_sizes_of_a_curve_are_nested_and_seeds_draw_other_parts(
    write: Callable[..., tuple[RecipeResult, Path]],
):
    shares = (Fraction(1, 4), Fraction(1, 2), Fraction(1))
    result, out = write(shares=shares, seeds=3)
    assert [(one.rows, one.seed) for one in result.trainings] == [
        (size, seed) for size in (5, 10, 20) for seed in (42, 43, 44)
    ]
    parts = {
        (one.rows, one.seed): set((out / "data" / f"{one.dataset}.jsonl").read_bytes().splitlines())
        for one in result.trainings
    }
    for seed in (42, 43, 44):
        assert parts[5, seed] < parts[10, seed] < parts[20, seed]
    assert parts[5, 42] != parts[5, 43]
    series = read_series(out / "series.toml")
    assert [(point.size, point.train_seed) for point in series.points] == [
        (0, None),
        *((one.rows, one.seed) for one in result.trainings),
    ]
    outputs = [settings_in(out / one.file)["output_dir"] for one in result.trainings]
    assert len(set(outputs)) == 9
    readme = (out / "README.md").read_text()
    for point, folder in zip(result.trainings, outputs, strict=True):
        assert f"{point.name}={folder}" in readme


def test_with_fixed_steps_each_size_gets_those_of_the_whole(write: Callable[..., tuple[RecipeResult, Path]]):
    result, out = write(shares=(Fraction(1, 4), Fraction(1)), fixed="steps")
    small, whole = (settings_in(out / one.file) for one in result.trainings)
    # 20 records in batches of 8 are 3 steps, three times.
    assert (small["max_steps"], "num_train_epochs" in small, "max_steps" in whole) == (9, False, False)
    assert "# 5 records" in (out / result.trainings[0].file).read_text()


def test_pairs_are_trained_on_by_dpo(write: Callable[..., tuple[RecipeResult, Path]]):
    with pytest.raises(UsageError, match="holds pairs; train on them with --method dpo-lora"):
        write(pair=True)
    _, out = write(pair=True, method="dpo-lora", changes={"pref_beta": 0.3, "report_to": "wandb"})
    train = settings_in(out / "train.yaml")
    assert (train["stage"], train["pref_beta"], train["report_to"]) == ("dpo", 0.3, "wandb")
    assert json.loads((out / "data" / "dataset_info.json").read_text())[train["dataset"]]["ranking"] is True
    with pytest.raises(
        UsageError, match="holds conversations; train on them with --method sft-lora or sft-full"
    ):
        write(method="dpo-lora")


def test_unknown_settings_are_written_with_a_warning(write: Callable[..., tuple[RecipeResult, Path]]):
    changes = {"learningrate": 1e-5, "lora_dropout": 0.1, "freeze_extra_modules": None, "fsdp": ["a", "b"]}
    result, out = write(changes=changes)
    train = settings_in(out / "train.yaml")
    assert {name: train[name] for name in changes} == changes
    (warning,) = result.warnings[:-1]
    assert "--set learningrate" in warning and "Did you mean learning_rate?" in warning
    assert warning in (out / "README.md").read_text()


def test_every_setting_that_a_recipe_writes_is_known():
    for method in METHODS:
        settings = train_settings(
            method, model="m", template="t", dataset="d", cutoff=1, seed=1, adapter="a"
        ).items()
        own = ("--base", "--adapter", "--method", "--template", "--cutoff", "--seed", "decided by the data")
        for name, value in settings:
            try:
                assert check_changes({name: value}) == []
            except UsageError as error:
                assert any(option in str(error) for option in own)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("seed", 7, "--seed"),
        ("dataset", "d", "leave it out"),
        ("num_train_epochs", "three", "number above 0"),
        ("max_steps", -1, "number above 0"),
        ("gradient_accumulation_steps", True, "number above 0"),
    ],
)
def test_settings_that_would_break_the_recipe_are_refused(
    write: Callable[..., tuple[RecipeResult, Path]], name: str, value: Any, said: str
):
    with pytest.raises(UsageError, match=said):
        write(changes={name: value})


def test_a_full_training_divides_its_state_among_devices(write: Callable[..., tuple[RecipeResult, Path]]):
    _, out = write(method="sft-full")
    train = settings_in(out / "train.yaml")
    assert json.loads((out / train["deepspeed"]).read_text())["zero_optimization"]["stage"] == 3
    assert not (out / "merge.yaml").exists()


def test_data_that_hold_benchmark_items_are_refused(write: Callable[..., tuple[RecipeResult, Path]]):
    text = "How high is the water at station 7 this fine morning?"
    search = OverlapSearch()
    search.add("wild-mini", [BenchmarkItem("i", (ItemText("i", "user", text),), frozenset())])
    with pytest.raises(
        UsageError, match=r"hold 1 item of wild-mini .in 1 record.*--remove exact,near,long -o"
    ):
        write(search=search)


def test_records_that_mix_would_keep_are_kept_with_a_warning(write: Callable[..., tuple[RecipeResult, Path]]):
    search = OverlapSearch()
    search.add("wild-mini", [BenchmarkItem("i", (ItemText("i", "user", "at station 7 this"),), frozenset())])
    result, _ = write(search=search)
    assert result.summary.written == 20
    (warning,) = [text for text in result.warnings if "contained" in text]
    assert "in 1 record most of a benchmark's text occurs (`contained`); they stay" in warning
    assert "--remove exact,near,long,contained -o clean.jsonl" in warning


def test_rows_that_trl_leaves_out_are_counted_before_the_training(tmp_path: Path):
    def line(words: int, reply: str) -> str:
        texts = ("Hello.", "user"), ("Hello.", "assistant"), ("water " * words, "user")
        prompt = [{"role": role, "content": text} for text, role in texts]
        return json.dumps({"prompt": prompt, "completion": [{"role": "assistant", "content": reply}]}) + "\n"

    data = tmp_path / "train.jsonl"
    # Estimated at 3.5 characters a token: prompts of about 90 and 370 tokens, and a reply that is cut off but not lost.
    data.write_text(line(40, "Yes.") + line(200, "No.") + line(41, "deep " * 200), encoding="utf-8")
    recipe = Recipe(files=(data,), model="Qwen/Qwen3-8B", benchmarks=("wild-mini",), trl=True, cutoff=100)
    result = write_recipe(recipe, tmp_path / "recipe", search=None)
    (warning,) = [text for text in result.warnings if "TRL" in text]
    assert "leaves out, without a word, 1 of 3 rows, whose prompt alone is longer than 100 tokens" in warning
    assert warning in (tmp_path / "recipe" / "README.md").read_text()


def test_without_findings_the_series_knows_what_was_looked_for(
    write: Callable[..., tuple[RecipeResult, Path]],
):
    search = OverlapSearch()
    search.add(
        "wild-mini", [BenchmarkItem("i", (ItemText("i", "user", "An entirely different wish"),), frozenset())]
    )
    _, out = write(search=search)
    series = read_series(out / "series.toml")
    assert series.overlap == out / "overlap.json"
    assert json.loads((out / "overlap.json").read_text())["benchmarks"][0]["benchmark"] == "wild-mini"


def test_replies_with_weight_0_are_context_of_the_record_that_ends_with_the_next(tmp_path: Path):
    user = {"role": "user", "content": "How high is the water?"}
    replies = [{"role": "assistant", "content": f"{height} m."} for height in range(3)]
    replies[0]["weight"] = 0
    messages = [message for reply in replies for message in (user, reply)]
    data, out = tmp_path / "train.jsonl", tmp_path / "recipe"
    data.write_text(json.dumps({"messages": messages}) + "\n", encoding="utf-8")
    recipe = Recipe(files=(data,), model="Qwen/Qwen3-8B", benchmarks=("wild-mini",), trl=True)
    write_recipe(recipe, out, search=None)
    rows = [json.loads(line) for line in (out / "data" / "train_sft.jsonl").read_text().splitlines()]
    assert [row["conversations"][-1]["value"] for row in rows] == ["1 m.", "2 m."]
    assert settings_in(out / "train.yaml")["mask_history"] is True
    assert "`mask_history: true` trains on that one alone" in (out / "README.md").read_text()
    completions = [
        json.loads(line) for line in (out / "data" / "train_sft_trl.jsonl").read_text().splitlines()
    ]
    assert [row["completion"][0]["content"] for row in completions] == ["1 m.", "2 m."]
    trl = settings_in(out / "trl.yaml")
    assert (trl["completion_only_loss"], "assistant_only_loss" in trl) == (True, False)


def test_without_weights_all_replies_of_a_record_are_learned(write: Callable[..., tuple[RecipeResult, Path]]):
    _, out = write(trl=True)
    assert "mask_history" not in settings_in(out / "train.yaml")
    assert "weight" not in (out / "data" / "train_sft.jsonl").read_text()


MARKED = (
    "{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}{{ message.role }}"
    "{% generation %}{{ message.content }}{{ message.tool_calls | tojson if message.tool_calls }}{% endgeneration %}"
    "{% endfor %}"
)


@pytest.mark.parametrize(
    ("template", "loss", "rows", "reason"),
    [
        (MARKED, "assistant_only_loss", 20, None),
        (re.sub(r"\{% (end)?generation %\}", "", MARKED), "completion_only_loss", 40, "base has none"),
        (None, "completion_only_loss", 40, "has it"),
    ],
)
def test_trl_learns_every_reply_whether_or_not_the_template_marks_them(
    write: Callable[..., tuple[RecipeResult, Path]],
    tmp_path: Path,
    template: str | None,
    loss: str,
    rows: int,
    reason: str | None,
):
    pytest.importorskip("jinja2")
    base = tmp_path / "base"
    if template is not None:
        base.mkdir()
        (base / "chat_template.jinja").write_text(template, "utf-8")
    result, out = write(trl=True, model=str(base), template="chatml")
    trl = settings_in(out / "trl.yaml")
    losses = [name for name in ("assistant_only_loss", "completion_only_loss") if name in trl]
    assert losses == [loss] and trl[loss] is True
    lines = (out / trl["datasets"][0]["data_files"]).read_text().splitlines()
    assert len(lines) == rows
    notes = [warning for warning in result.warnings if "{% generation %}" in warning]
    assert bool(notes) is (reason is not None)
    for note in notes:
        assert f"{rows} rows" in note and str(reason) in note
        assert note in (out / "README.md").read_text()


def test_arguments_are_texts_for_a_template_that_joins_them_to_a_text(
    write: Callable[..., tuple[RecipeResult, Path]], tmp_path: Path
):
    pytest.importorskip("jinja2")
    base = tmp_path / "base"
    base.mkdir()
    joined = MARKED.replace(
        "{{ message.tool_calls | tojson if message.tool_calls }}",
        "{% for call in message.tool_calls %}{{ call.function.name + call.function.arguments }}{% endfor %}",
    )
    (base / "chat_template.jinja").write_text(joined, "utf-8")
    result, out = write(trl=True, model=str(base), template="chatml")
    (line, *_) = (out / "data" / "train_sft_trl.jsonl").read_text().splitlines()
    (call,) = json.loads(line)["messages"][1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"station": "S0"}
    assert [warning for warning in result.warnings if "arguments of calls as JSON text" in warning]


@pytest.mark.parametrize(("method", "packages"), [("sft-lora", {"trl", "peft"}), ("sft-full", {"trl"})])
def test_the_readme_installs_what_trl_needs(
    write: Callable[..., tuple[RecipeResult, Path]], method: str, packages: set[str]
):
    _, out = write(trl=True, method=method)
    commands = (out / "README.md").read_text().partition("```sh\n")[2].partition("```")[0].splitlines()
    (installed,) = [shlex.split(line) for line in commands if line.startswith("python3 -m venv")]
    words = installed[installed.index("install") + 1 :]
    assert {re.split("[=<>]", word)[0] for word in words} == packages


def test_data_with_errors_are_refused_with_their_place(tmp_path: Path):
    broken = tmp_path / "broken.jsonl"
    bad = row(1)
    bad["conversations"] = bad["conversations"][:3]
    broken.write_text(json.dumps(row(0)) + "\n" + json.dumps(bad) + "\n")
    with pytest.raises(DataError, match=r"broken\.jsonl:2: S06"):
        write_recipe(
            Recipe(files=(broken,), model="qwen3", benchmarks=("wild-mini",)), tmp_path / "out", search=None
        )
    assert not (tmp_path / "out").exists()


def test_an_unknown_template_is_asked_for(write: Callable[..., tuple[RecipeResult, Path]]):
    with pytest.raises(UsageError, match="which chat template does mine/model have"):
        write(model="mine/model")
    _, out = write(model="mine/model", template="chatml")
    assert settings_in(out / "train.yaml")["template"] == "chatml"


def test_a_folder_of_others_is_not_written_into(
    write: Callable[..., tuple[RecipeResult, Path]], tmp_path: Path
):
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"notes\.txt"):
        write()


def test_the_same_recipe_gives_the_same_bytes(write: Callable[..., tuple[RecipeResult, Path]]):
    asked: dict[str, Any] = {"shares": (Fraction(1, 4), Fraction(1)), "seeds": 2, "trl": True}
    _, out = write(**asked)
    before = (out / "SHA256SUMS").read_bytes()
    write(**asked)
    assert (out / "SHA256SUMS").read_bytes() == before


@pytest.mark.parametrize(
    ("model", "template"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen"),
        ("Qwen/Qwen3-8B", "qwen3"),
        ("Qwen/Qwen3-4B-Instruct-2507", "qwen3_nothink"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral"),
        ("/weights/mine", None),
    ],
)
def test_templates_follow_the_family(model: str, template: str | None):
    assert template_of(model) == template


@pytest.mark.parametrize("method", METHODS)
def test_settings_are_read_back_by_a_yaml_library(method: Any):
    settings = train_settings(
        method, model="C:\\weights: #1", template="on", dataset="d", cutoff=4096, seed=1, adapter="yes"
    )
    assert yaml.safe_load(yaml_text(settings)) == settings


def test_a_training_without_a_gpu_has_settings_of_its_own(write: Callable[..., tuple[RecipeResult, Path]]):
    _, out = write(cpu=True, trl=True, changes={"gradient_accumulation_steps": 2})
    both = {"use_cpu": True, "bf16": False, "gradient_accumulation_steps": 2}
    for name in ("train.yaml", "trl.yaml"):
        settings = settings_in(out / name)
        assert {key: settings[key] for key in both} == both
    assert settings_in(out / "trl.yaml")["dtype"] == "bfloat16"


def test_a_base_that_shows_no_tools_is_refused_before_anything_is_written(
    write: Callable[..., tuple[RecipeResult, Path]], tmp_path: Path
):
    pytest.importorskip("jinja2")
    base = tmp_path / "base"
    base.mkdir()
    (base / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}", "utf-8")
    with pytest.raises(UsageError, match="leaves out the tools"):
        write(model=str(base), template="chatml")
    assert not (tmp_path / "recipe").exists()
