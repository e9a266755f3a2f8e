"""The folder of a training, file by file and word by word."""

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from training.training_rows import call_row, text_row, turn, write_rows
from wildtool import __version__
from wildtool.errors import DataError, UsageError
from wildtool.sets.prepare.converted_files import info_entry
from wildtool.sets.prepare.keys import drawn_number
from wildtool.sets.prepare.overlap.benchmark import BenchmarkItem, ItemText
from wildtool.sets.prepare.overlap.search import OverlapSearch
from wildtool.sets.prepare.recipe.recipe import Recipe, RecipeResult, is_recipe, steps_of, write_recipe
from wildtool.sets.prepare.recipe.settings import (
    CPU_SETTINGS,
    DEEPSPEED,
    check_changes,
    merge_settings,
    train_settings,
    trl_settings,
    yaml_text,
)

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


CURVE: dict[str, Any] = {
    "shares": (Fraction(1, 2),),
    "seeds": 2,
    "trl": True,
    "fixed": "steps",
    "devices": 2,
    "changes": {"lora_dropout": 0.1},
    "benchmarks": ("wild-mini", "bfcl"),
}
SFT = {
    "model_name_or_path": "Qwen/Qwen3-8B",
    "stage": "sft",
    "do_train": True,
    "finetuning_type": "lora",
    "lora_rank": 8,
    "lora_target": "all",
    "dataset_dir": "data",
    "dataset": "t_sft",
    "template": "qwen3",
    "cutoff_len": 2048,
    "preprocessing_num_workers": 4,
    "output_dir": "out/sft-lora",
    "logging_steps": 10,
    "save_steps": 500,
    "plot_loss": True,
    "report_to": "none",
    "per_device_train_batch_size": 1,
    "gradient_accumulation_steps": 8,
    "learning_rate": 1e-4,
    "num_train_epochs": 3.0,
    "lr_scheduler_type": "cosine",
    "warmup_ratio": 0.1,
    "bf16": True,
    "seed": 42,
}
HEADING = "# Values of LLaMA-Factory's examples; no paper gives them.\n"


def test_every_file_of_a_curve():
    result = written(recipe(**CURVE), search=OverlapSearch())
    lines = text("data/t_sft.jsonl").splitlines()
    assert len(lines) == 4
    sizes = [-(-len(line) * 2 // 7) for line in lines]
    parts: dict[str, int] = {}
    for seed in (42, 43):
        order = sorted(
            range(4), key=lambda at: drawn_number(str(seed), sha256(lines[at].encode()).hexdigest())
        )
        part = sorted(order[:2])
        assert text(f"data/t_sft_2_{seed}.jsonl").splitlines() == [lines[at] for at in part]
        parts[f"trained-2-{seed}"] = sum(sizes[at] for at in part)
    tokens = {**parts, "trained-4-42": sum(sizes), "trained-4-43": sum(sizes)}
    settings = {**SFT, "enable_thinking": False, "lora_dropout": 0.1}
    assert result.settings == settings
    assert [(t.name, t.dataset, t.rows, t.tokens, t.seed, t.file) for t in result.trainings] == [
        ("trained-2-42", "t_sft_2_42", 2, tokens["trained-2-42"], 42, "curve/size-2-seed-42.yaml"),
        ("trained-2-43", "t_sft_2_43", 2, tokens["trained-2-43"], 43, "curve/size-2-seed-43.yaml"),
        ("trained-4-42", "t_sft", 4, sum(sizes), 42, "train.yaml"),
        ("trained-4-43", "t_sft", 4, sum(sizes), 43, "curve/size-4-seed-43.yaml"),
    ]
    assert (result.name, result.cut, result.by_reply) == ("t_sft", 0, False)
    (of_trl,) = result.warnings
    assert "completion_only_loss" in of_trl
    assert text("train.yaml") == (
        f"# 4 records, about {sum(sizes)} tokens an epoch, 3 steps on 2 devices.\n{HEADING}{yaml_text(settings)}"
    )
    other = {**settings, "seed": 43, "output_dir": "out/sft-lora-size-4-seed-43"}
    assert text("curve/size-4-seed-43.yaml").endswith(HEADING + yaml_text(other))
    for seed in (42, 43):
        own = {
            **settings,
            "dataset": f"t_sft_2_{seed}",
            "seed": seed,
            "output_dir": f"out/sft-lora-size-2-seed-{seed}",
        }
        del own["num_train_epochs"]
        used = tokens[f"trained-2-{seed}"]
        assert text(f"curve/size-2-seed-{seed}.yaml") == (
            f"# 2 records, about {used} tokens an epoch, 3 steps on 2 devices.\n{HEADING}"
            + yaml_text({**own, "max_steps": 3})
        )
    names = ("t_sft", "t_sft_2_42", "t_sft_2_43")
    entries = {name: info_entry(f"{name}.jsonl", ranking=False) for name in names}
    assert text("data/dataset_info.json") == json.dumps(entries, indent=2) + "\n"
    points = "".join(
        f'\n[[point]]\nname = "{t.name}"\nmodel = "{t.name}"\nbase_url = "http://127.0.0.1:8000/v1"\n'
        f"size = {t.rows}\ntrain_seed = {t.seed}\ntokens = {t.tokens}\n"
        for t in result.trainings
    )
    assert text("series.toml") == (
        "# Serve the models under these names, then: wildtool curve series.toml\n[series]\n"
        'benchmarks = ["wild-mini", "bfcl"]\noverlap = "overlap.json"\n\n[[point]]\nname = "base"\n'
        f'model = "Qwen/Qwen3-8B"\nbase_url = "http://127.0.0.1:8000/v1"\nsize = 0\n{points}'
    )
    assert json.loads(text("overlap.json")) == {
        "rows": 4,
        "unreadable": 0,
        "removed": 0,
        "written": 0,
        "left": 0,
        "benchmarks": [],
    }
    assert text("merge.yaml") == yaml_text(merge_settings(settings))
    trl = trl_settings("sft-lora", settings, "data/t_sft_trl.jsonl", completions=True)
    assert text("trl.yaml") == yaml_text(trl)
    rows = [json.loads(line) for line in text("data/t_sft_trl.jsonl").splitlines()]
    assert [(set(row), isinstance(row["tools"], str)) for row in rows] == [
        ({"prompt", "completion", "tools"}, True)
    ] * 4
    assert text("README.md") == README
    files = sorted(path for path in Path("out").rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    assert text("SHA256SUMS") == "".join(
        f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to('out')}\n" for path in files
    )
    assert len(files) == 14


README = f"""\
<!-- written by wildtool {__version__} -->
# Training Qwen/Qwen3-8B: sft-lora

4 records from t.jsonl, checked.

```sh
pip install llamafactory
llamafactory-cli train curve/size-2-seed-42.yaml
llamafactory-cli train curve/size-2-seed-43.yaml
llamafactory-cli train train.yaml
llamafactory-cli train curve/size-4-seed-43.yaml
# The same training with TRL instead. LLaMA-Factory needs an older TRL, so in another environment:
python3 -m venv trl-env && trl-env/bin/pip install 'trl>=1.16' peft
trl-env/bin/trl sft --config trl.yaml
llamafactory-cli export merge.yaml  # only if you want weights without an adapter
vllm serve Qwen/Qwen3-8B --enable-lora --lora-modules trained-2-42=out/sft-lora-size-2-seed-42 \
trained-2-43=out/sft-lora-size-2-seed-43 trained-4-42=out/sft-lora trained-4-43=out/sft-lora-size-4-seed-43
wildtool curve series.toml
```

## Before you train
- LLaMA-Factory prints the first record as the model sees it. Compare it with Qwen/Qwen3-8B's own chat template: \
`template: qwen3` was chosen by its name, and a wrong one spoils a training without a word.
- The values in `train.yaml` are those of LLaMA-Factory's examples. No paper on these procedures gives its own. Steps \
and tokens are at the top of the file; tokens estimated from characters.
- LoRA of an 8B model needs about 16 GB for the weights in bf16, and more for activations: 24 GB are tight at \
4,096 tokens.
- One training says little about a recipe: `--seeds 3` writes three of each size, so that `wildtool curve` knows how \
much they differ.
- Train on as many random records, too, and add them to `series.toml` with `arm = "random"`: else nobody knows what the \
choice of the data brought.
- TRL gets 4 rows, one for each reply, and `completion_only_loss` in place of `assistant_only_loss`: it finds the \
replies of a whole conversation by `{{% generation %}}` in the chat template, and nobody looked whether that of \
Qwen/Qwen3-8B has it.
"""


def test_rows_that_were_left_out_are_counted_where_the_commands_are():
    user = {"role": "user", "content": "q"}
    replies = [{"role": "assistant", "content": "r", "weight": weight} for weight in (0, 1)]
    written(recipe(*({"messages": [user, reply]} for reply in replies)))
    head = text("README.md").partition("\n```sh")[0].splitlines()[2:]
    left_out = "Left out: 1 row; see the files `.rejects.jsonl` in `data`."
    assert head == ["", "1 record from t.jsonl, checked.", left_out]


def test_a_full_training_of_the_plainest_kind():
    result = written(recipe(method="sft-full", template="qwen", seeds=3), tokens=lambda text: 1)
    assert not Path("out/merge.yaml").exists() and not Path("out/overlap.json").exists()
    assert not Path("out/trl.yaml").exists()
    assert text("zero3.json") == json.dumps(DEEPSPEED, indent=2) + "\n"
    series = text("series.toml")
    assert "overlap" not in series
    readme = text("README.md").splitlines()
    assert readme[2:15] == [
        "",
        "4 records from t.jsonl, checked.",
        "",
        "```sh",
        "pip install llamafactory",
        "llamafactory-cli train train.yaml",
        "llamafactory-cli train curve/size-4-seed-43.yaml",
        "llamafactory-cli train curve/size-4-seed-44.yaml",
        "vllm serve FOLDER --served-model-name NAME  # a server for each model: set base_url in series.toml",
        "wildtool curve series.toml",
        "```",
        "",
        "## Before you train",
    ]
    told = "\n".join(readme)
    assert "`template: qwen` was given, and" in told
    assert told.count("tokens by the tokenizer.") == 1
    assert (
        "- Full training of an 8B model needs over 120 GB in all: `zero3.json` divides it among devices."
        in readme
    )
    assert (
        "- **Nobody looked for benchmark items in these data** (`--no-overlap-check`). Scores on a benchmark"
        " may be worthless." in readme
    )
    assert "One training says little" not in told
    assert [training.tokens for training in result.trainings] == [4, 4, 4]
    assert json.loads(text("data/dataset_info.json")) == {"t_sft": info_entry("t_sft.jsonl", ranking=False)}
    assert text("train.yaml").startswith("# 4 records, about 4 tokens an epoch, 6 steps on 1 device.\n")


def talk(*replies: dict[str, Any]) -> dict[str, Any]:
    user = {"role": "user", "content": "q"}
    return {"messages": [part for reply in replies for part in (user, {"role": "assistant", **reply})]}


def test_replies_of_weight_0_make_each_other_reply_end_a_record():
    result = written(
        recipe(talk({"content": "a", "weight": 0}, {"content": "b"}, {"content": "c"}), trl=True)
    )
    assert (result.by_reply, result.settings["mask_history"], result.settings["enable_thinking"]) == (
        True,
        True,
        False,
    )
    assert len(text("data/t_sft.jsonl").splitlines()) == len(text("data/t_sft_trl.jsonl").splitlines()) == 2
    assert (
        "- Replies with weight 0 are context: each other reply ends a record, and `mask_history: true` trains"
        " on that one alone." in text("README.md").splitlines()
    )
    assert yaml.safe_load(text("trl.yaml"))["completion_only_loss"] is True


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


def test_thoughts_in_the_data_leave_thinking_on():
    row = talk({"content": "<think>\nHm.\n</think>\n\na"})
    assert "enable_thinking" not in written(recipe(row)).settings


@pytest.mark.parametrize(
    ("lengths", "most", "cutoff", "cut"),
    [
        ([2048] * 4, 16384, 2048, 0),
        ([2049, 1, 1, 1], 16384, 4096, 0),
        ([20000, 1, 1, 1], 16384, 16384, 1),
        ([5000, 4096, 1, 1], 4096, 4096, 1),
        ([100, 50, 51, 1], 50, 50, 2),
    ],
)
def test_the_cutoff_holds_nearly_all_records(lengths: list[int], most: int, cutoff: int, cut: int):
    counts = iter(lengths)
    result = written(recipe(cutoff=most), tokens=lambda text: next(counts))
    assert (result.settings["cutoff_len"], result.cut) == (cutoff, cut)
    long = f"longer than {cutoff:,} tokens, so that LLaMA-Factory cuts the end off: {cut} of 4 records."
    assert result.warnings == ([long] if cut else [])
    assert (f"- {long}" in text("README.md").splitlines()) is bool(cut)


def test_one_of_a_hundred_records_may_be_cut():
    rows = [text_row(f"q{k}") for k in range(100)]
    for long, cutoff in ((1, 2048), (2, 16384)):
        counts = iter([20_000] * long + [1] * 100)
        result = written(recipe(*rows), tokens=lambda text, counts=counts: next(counts))
        assert result.settings["cutoff_len"] == cutoff


def test_prompts_that_trl_leaves_out_are_counted():
    row = {
        "prompt": [
            {"role": "user", "content": "abc"},
            {"role": "assistant", "content": "de"},
            {"role": "user", "content": "f"},
        ],
        "completion": [{"role": "assistant", "content": "g"}],
    }
    shared: list[str] = []

    def tokens(shown: str) -> int:
        shared.append(shown)
        return 85

    for cutoff, left in ((100, 0), (99, 1)):
        result = written(recipe(row, trl=True, cutoff=cutoff), tokens=tokens)
        assert shared.pop() == "abcdef[]"
        out = (
            f"TRL leaves out, without a word, 1 of 1 row, whose prompt alone is longer than {cutoff} tokens."
        )
        assert result.warnings[:left] == [out][:left]
        assert len([warning for warning in result.warnings if "TRL" in warning]) == left
    estimated = written(recipe(row, trl=True, cutoff=17)).warnings[0]
    assert estimated.endswith("longer than 17 tokens (estimated; count with --tokenizer).")


def test_what_a_model_has_in_common_with_benchmarks_is_refused_or_told():
    def search(*texts: str) -> OverlapSearch:
        search = OverlapSearch()
        for name in ("one", "two", "three"):
            items = [
                BenchmarkItem(str(k), (ItemText(str(k), "user", text),), frozenset())
                for k, text in enumerate(texts)
            ]
            search.add(name, items if name != "three" else [])
        return search

    rows = [text_row(f"one two three {k}") for k in range(3)]
    with pytest.raises(UsageError) as refused:
        written(recipe(*rows), search=search("one two three 0", "One two three 1!"))
    assert str(refused.value) == (
        "the data hold 2 items of one, 2 items of two (in 2 records), so scores on them would mean nothing;"
        " leave these out"
        " with `wildtool data overlap t.jsonl --remove exact,near,long -o clean.jsonl`, or add --no-overlap-check"
    )
    assert not Path("out").exists()
    result = written(recipe(*rows), search=search("one two three"))
    assert result.warnings == [
        "in 3 records most of a benchmark's text occurs (`contained`); they stay, as in `data mix`. To leave them out:"
        " `wildtool data overlap t.jsonl --remove exact,near,long,contained -o clean.jsonl`."
    ]


def test_what_stops_a_recipe_is_said():
    with pytest.raises(UsageError) as refused:
        written(recipe(model="mine"))
    assert str(refused.value) == (
        "which chat template does mine have? Name LLaMA-Factory's with --template; a wrong one spoils a"
        " training without a"
        " word"
    )
    Path("out/data").mkdir(parents=True)
    inside = write_rows(Path("out/data/t.jsonl"), ROWS)
    with pytest.raises(UsageError) as refused:
        written(recipe(files=(inside,)))
    assert (
        str(refused.value)
        == "out/data/t.jsonl: lies where the data are written; name another folder with --out"
    )
    with pytest.raises(DataError) as broken:
        written(recipe(*ROWS, {"conversations": [turn("human", "a")]}))
    assert str(broken.value) == (
        "t.jsonl:5: S06: ends with human: nothing to learn after it; LLaMA-Factory drops this record; `wildtool data lint"
        " t.jsonl` lists all errors, and `wildtool data convert` leaves such rows out"
    )
    same = written(recipe(*[call_row("q")] * 4))
    assert same.warnings == [
        "t.jsonl: exact duplicates of earlier records: 3 of 4 records.",
        "t.jsonl: no record is without a call: such sets teach a model to call always.",
    ]


def test_the_folder_is_known_before_it_is_complete(monkeypatch: pytest.MonkeyPatch):
    def stopped(*given: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wildtool.sets.prepare.recipe.recipe.write_llamafactory", stopped)
    with pytest.raises(KeyboardInterrupt):
        written(recipe())
    assert (
        text("README.md")
        == f"<!-- written by wildtool {__version__} -->\nNot complete: run the command again.\n"
    )
    assert is_recipe(Path("out"))
    assert not is_recipe(Path())


# Settings --------------------------------------------------------------------------------------------


def settings(method: Any, **more: Any) -> dict[str, Any]:
    given = {"model": "m", "template": "t", "dataset": "d", "cutoff": 9, "seed": 7, "adapter": None}
    return train_settings(method, **{**given, **more})


OWN = {"model_name_or_path": "m", "template": "t", "dataset": "d", "cutoff_len": 9, "seed": 7}


def test_settings_of_each_method():
    lora = {**SFT, **OWN}
    assert settings("sft-lora") == lora
    assert list(settings("sft-lora")) == list(SFT)
    assert settings("sft-lora", adapter="a") == {**lora, "adapter_name_or_path": "a"}
    full = {key: value for key, value in lora.items() if not key.startswith("lora_")}
    assert settings("sft-full") == {
        **full,
        "finetuning_type": "full",
        "deepspeed": "zero3.json",
        "output_dir": "out/sft-full",
        "gradient_accumulation_steps": 2,
        "learning_rate": 1e-5,
    }
    assert settings("dpo-lora") == {
        **lora,
        "stage": "dpo",
        "pref_beta": 0.1,
        "pref_loss": "sigmoid",
        "output_dir": "out/dpo-lora",
        "learning_rate": 5e-6,
    }


def test_settings_of_devices_and_of_none():
    auto = (
        "train_batch_size",
        "train_micro_batch_size_per_gpu",
        "gradient_accumulation_steps",
        "gradient_clipping",
    )
    assert {
        **dict.fromkeys(auto, "auto"),
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": "auto"},
        "zero_optimization": {
            "stage": 3,
            "overlap_comm": True,
            "contiguous_gradients": True,
            "stage3_gather_16bit_weights_on_model_save": True,
        },
    } == DEEPSPEED
    assert CPU_SETTINGS == {
        "use_cpu": True,
        "bf16": False,
        "preprocessing_num_workers": 1,
        "gradient_accumulation_steps": 1,
        "save_steps": 20,
    }


def test_settings_of_merging_and_of_trl():
    lora = settings("sft-lora")
    assert merge_settings(lora) == {
        "model_name_or_path": "m",
        "adapter_name_or_path": "out/sft-lora",
        "template": "t",
        "export_dir": "out/sft-lora-merged",
        "export_size": 5,
        "export_device": "cpu",
        "export_legacy_format": False,
    }
    trl = {
        "model_name_or_path": "m",
        "datasets": [{"path": "json", "data_files": "f", "split": "train"}],
        "output_dir": "out/sft-lora-trl",
        "use_peft": True,
        "lora_r": 8,
        "lora_target_modules": "all-linear",
        "assistant_only_loss": True,
        "max_length": 9,
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 8,
        "learning_rate": 1e-4,
        "num_train_epochs": 3.0,
        "lr_scheduler_type": "cosine",
        "bf16": True,
        "seed": 7,
        "logging_steps": 10,
        "save_steps": 500,
        "report_to": "none",
    }
    assert trl_settings("sft-lora", lora, "f") == trl
    completions = {"completion_only_loss" if key == "assistant_only_loss" else key: trl[key] for key in trl}
    assert trl_settings("sft-lora", lora, "f", completions=True) == completions
    with_more = trl_settings("sft-lora", {**lora, "max_steps": 5, "use_cpu": True}, "f")
    cpu = {"max_steps": 5, "use_cpu": True, "dtype": "bfloat16", "gradient_checkpointing": False}
    assert with_more == {**trl, **cpu}
    assert trl_settings("sft-lora", {**lora, "use_cpu": False}, "f") == {**trl, "use_cpu": False}
    full = trl_settings("sft-full", settings("sft-full"), "f")
    assert not {"use_peft", "lora_r", "lora_target_modules"} & full.keys()
    dpo = trl_settings("dpo-lora", settings("dpo-lora"), "f")
    assert (dpo["beta"], "assistant_only_loss" in dpo, dpo["use_peft"]) == (0.1, False, True)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"seed": 1}, "--set seed: is given by its own option, --seed"),
        ({"model_name_or_path": 1}, "--set model_name_or_path: is given by its own option, --base"),
        ({"dataset_dir": 1}, "--set dataset_dir: is decided by the data that are written; leave it out"),
        ({"max_steps": 0}, "--set max_steps=0: must be a number above 0"),
        ({"max_steps": True}, "--set max_steps=True: must be a number above 0"),
        ({"num_train_epochs": "3"}, "--set num_train_epochs=3: must be a number above 0"),
    ],
)
def test_settings_that_belong_to_the_recipe_are_refused(changes: dict[str, Any], problem: str):
    with pytest.raises(UsageError) as refused:
        check_changes({"lora_dropout": 0.1, **changes})
    assert str(refused.value) == problem


def test_settings_that_llamafactory_does_not_know_are_told():
    known = {"max_steps": 1, "num_train_epochs": 0.5, "lora_dropout": 0, "logging_steps": -1}
    assert check_changes(known) == []
    unknown = "LLaMA-Factory 0.9.5 does not know this setting, and stops at it."
    assert check_changes({"lora_dropuot": 1, "lora_dropout": 1, "ünknown": 2}) == [
        f"--set lora_dropuot: {unknown} Did you mean lora_dropout? It is written as given, for other versions.",
        f"--set ünknown: {unknown} It is written as given, for other versions.",
    ]


def test_steps_of_a_training():
    plain = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4, "num_train_epochs": 3.0}
    assert [steps_of(rows, plain, 1) for rows in (1, 8, 9, 16, 17)] == [3, 3, 6, 6, 9]
    assert steps_of(17, plain, 2) == 6
    assert steps_of(9, {**plain, "num_train_epochs": 0.6}, 1) == 2
    assert steps_of(9, {**plain, "max_steps": 5}, 1) == 5


def test_settings_as_yaml():
    values = {
        "a": True,
        "b": False,
        "c": 1e-4,
        "d": -5e-6,
        "e": 0.001,
        "f": 0.0,
        "g": 3,
        "h": "a/b.c@d+e-f",
        "i": "On",
        "j": "",
        "k": "two words",
        "l": [1, "é"],
        "m": {"n": None},
        "o": [{"p": "q", "r": "yes"}, {"s": 1e-9}],
        "t": None,
        "u": "1a",
        "v": "only",
    }
    assert yaml_text(values) == (
        "a: true\nb: false\nc: 1.0e-04\nd: -5.0e-06\ne: 0.001\nf: 0.0\ng: 3\nh: a/b.c@d+e-f\n"
        'i: "On"\nj: ""\nk: "two words"\nl: [1, "é"]\nm: {"n": null}\n'
        'o:\n  - p: q\n    r: "yes"\n  - s: 1.0e-09\nt: null\nu: "1a"\nv: only\n'
    )
    assert yaml.safe_load(yaml_text(values)) == values


def test_pairs_are_trained_with_the_verb_of_their_own():
    pair = {
        **text_row("q"),
        "conversations": [turn("human", "q")],
        "chosen": turn("gpt", "a"),
        "rejected": turn("gpt", "b"),
    }
    result = written(recipe(pair, method="dpo-lora", trl=True, shares=(Fraction(1, 9),)))
    assert result.settings["pref_beta"] == 0.1
    assert "trl-env/bin/trl dpo --config trl.yaml" in text("README.md").splitlines()
    assert not [warning for warning in result.warnings if "assistant_only_loss" in warning]
    assert [training.rows for training in result.trainings] == [1]
    assert json.loads(text("data/dataset_info.json")) == {"t_dpo": info_entry("t_dpo.jsonl", ranking=True)}
    two = recipe(pair, {**pair, "rejected": turn("gpt", "c")}, method="dpo-lora", shares=(Fraction(1, 2),))
    assert len(written(two).trainings) == 2
    assert json.loads(text("data/dataset_info.json"))["t_dpo_1_42"] == info_entry(
        "t_dpo_1_42.jsonl", ranking=True
    )
    with pytest.raises(UsageError) as refused:
        written(replace(two, method="sft-full"))
    assert str(refused.value) == "t.jsonl holds pairs; train on them with --method dpo-lora"
