"""Settings of a training, by method.

The papers on tool use that we follow print none of them. These are the values of LLaMA-Factory's own examples, and what a
user sets takes their place.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from json import dumps
from typing import Any, Literal, cast

from wildtool.errors import UsageError

Method = Literal["sft-lora", "sft-full", "dpo-lora"]
METHODS: tuple[Method, ...] = ("sft-lora", "sft-full", "dpo-lora")
CUTOFFS = (2048, 4096, 8192, 16384)
"""Lengths in tokens; the least that holds 99 % of the records is taken."""
HELD_SHARE = 0.99
DEEPSPEED_FILE = "zero3.json"
DEEPSPEED: Mapping[str, Any] = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "zero_allow_untested_optimizer": True,
    "bf16": {"enabled": "auto"},
    "zero_optimization": {
        "stage": 3,
        "overlap_comm": True,
        "contiguous_gradients": True,
        "stage3_gather_16bit_weights_on_model_save": True,
    },
}
"""Weights, gradients and optimizer state divided among all devices."""
CPU_SETTINGS: Mapping[str, Any] = {
    "use_cpu": True,
    "bf16": False,
    "preprocessing_num_workers": 1,
    "gradient_accumulation_steps": 1,
    "save_steps": 20,
}
"""Without a GPU a step takes seconds: small batches, and a training that is cut off keeps what it has."""
_OF_OPTIONS: Mapping[str, str] = {
    "model_name_or_path": "--base",
    "adapter_name_or_path": "--adapter",
    "stage": "--method",
    "finetuning_type": "--method",
    "template": "--template",
    "cutoff_len": "--cutoff",
    "seed": "--seed",
}
"""Settings that an option decides, and other files depend on."""
_OF_FILES = frozenset({"dataset", "dataset_dir"})
_COUNTED = ("num_train_epochs", "max_steps", "per_device_train_batch_size", "gradient_accumulation_steps")
"""Settings that steps are computed from."""
_ARGUMENTS = "arguments.txt"
"""Names of all settings that LLaMA-Factory 0.9.5 reads: the fields of its argument classes, those of transformers 4.57
and 5.6 among them."""
_TEMPLATES = "templates.csv"
"""Patterns of model names in lower case, the first that is found, and LLaMA-Factory's template for that family."""


def template_of(model: str) -> str | None:
    """LLaMA-Factory's chat template for a model, by its name; None for a family that is not known here."""
    name = model.rstrip("/").lower()
    with (files("wildtool_data.prepare.recipe") / _TEMPLATES).open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    return next((row["template"] for row in rows if re.search(row["pattern"], name)), None)


def check_changes(changes: Mapping[str, Any]) -> list[str]:
    """Warnings about settings of the user's own: names that LLaMA-Factory does not know. Raises UsageError for those that
    belong to the recipe, and for numbers that are none."""
    for name, value in changes.items():
        if name in _OF_OPTIONS:
            raise UsageError(f"--set {name}: is given by its own option, {_OF_OPTIONS[name]}")
        if name in _OF_FILES:
            raise UsageError(f"--set {name}: is decided by the data that are written; leave it out")
        if name in _COUNTED and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
            raise UsageError(f"--set {name}={value}: must be a number above 0")
    names = (files("wildtool_data.prepare.recipe") / _ARGUMENTS).read_text(encoding="utf-8").split()
    return [_unknown(name, names) for name in changes if name not in names]


def _unknown(name: str, names: Sequence[str]) -> str:
    close = get_close_matches(name, names, 1)
    meant = f" Did you mean {close[0]}?" if close else ""
    return (
        f"--set {name}: LLaMA-Factory 0.9.5 does not know this setting, and stops at it.{meant} It is written as given, "
        "for other versions."
    )


def is_preference(method: Method) -> bool:
    """Whether a method trains on pairs."""
    return method.startswith("dpo")


def train_settings(
    method: Method, *, model: str, template: str, dataset: str, cutoff: int, seed: int, adapter: str | None
) -> dict[str, Any]:
    """The settings of LLaMA-Factory's `train.yaml`, in its order.

    Args:
        adapter: an adapter to start from; None for none.
    """
    lora = method.endswith("lora")
    return {
        "model_name_or_path": model,
        **({"adapter_name_or_path": adapter} if adapter else {}),
        "stage": "dpo" if is_preference(method) else "sft",
        "do_train": True,
        "finetuning_type": "lora" if lora else "full",
        **({"lora_rank": 8, "lora_target": "all"} if lora else {"deepspeed": DEEPSPEED_FILE}),
        **({"pref_beta": 0.1, "pref_loss": "sigmoid"} if is_preference(method) else {}),
        "dataset_dir": "data",
        "dataset": dataset,
        "template": template,
        "cutoff_len": cutoff,
        "preprocessing_num_workers": 4,
        "output_dir": f"out/{method}",
        "logging_steps": 10,
        "save_steps": 500,
        "plot_loss": True,
        "report_to": "none",
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 8 if lora else 2,
        "learning_rate": {"sft-lora": 1e-4, "sft-full": 1e-5, "dpo-lora": 5e-6}[method],
        "num_train_epochs": 3.0,
        "lr_scheduler_type": "cosine",
        "warmup_ratio": 0.1,
        "bf16": True,
        "seed": seed,
    }


def merge_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that turn an adapter into weights."""
    return {
        "model_name_or_path": settings["model_name_or_path"],
        "adapter_name_or_path": settings["output_dir"],
        "template": settings["template"],
        "export_dir": f"{settings['output_dir']}-merged",
        "export_size": 5,
        "export_device": "cpu",
        "export_legacy_format": False,
    }


def trl_settings(
    method: Method, settings: Mapping[str, Any], data_file: str, *, completions: bool = False
) -> dict[str, Any]:
    """The same training for `trl sft --config` or `trl dpo --config`.

    Args:
        settings: of `train_settings`, after the user's changes.
        completions: whether rows are a prompt and the reply to learn.
    """
    lora = method.endswith("lora")
    learned = "completion_only_loss" if completions else "assistant_only_loss"
    return {
        "model_name_or_path": settings["model_name_or_path"],
        "datasets": [{"path": "json", "data_files": data_file, "split": "train"}],
        "output_dir": f"{settings['output_dir']}-trl",
        **(
            {"use_peft": True, "lora_r": settings["lora_rank"], "lora_target_modules": "all-linear"}
            if lora
            else {}
        ),
        **({"beta": settings["pref_beta"]} if is_preference(method) else {learned: True}),
        "max_length": settings["cutoff_len"],
        **{
            name: settings[name]
            for name in (
                "per_device_train_batch_size",
                "gradient_accumulation_steps",
                "learning_rate",
                "num_train_epochs",
                "lr_scheduler_type",
                "bf16",
                "seed",
                "logging_steps",
                "save_steps",
                "report_to",
                *(name for name in ("max_steps", "use_cpu") if name in settings),
            )
        },
        # Measured on a processor that computes with bfloat16; recomputing activations would take a third more time.
        **({"dtype": "bfloat16", "gradient_checkpointing": False} if settings.get("use_cpu") else {}),
    }


def yaml_text(values: Mapping[str, Any]) -> str:
    """Settings as YAML: a line each, lists of objects as blocks, other lists and objects as JSON."""
    lines: list[str] = []
    for name, value in values.items():
        if isinstance(value, list) and all(isinstance(entry, dict) for entry in cast(list[Any], value)):
            lines.append(f"{name}:")
            for entry in cast(list[dict[str, Any]], value):
                pairs = [f"{key}: {_scalar(inner)}" for key, inner in entry.items()]
                lines.append("  - " + "\n    ".join(pairs))
        else:
            lines.append(f"{name}: {_scalar(value)}")
    return "\n".join(lines) + "\n"


_PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|~)$)[A-Za-z_./][\w./@+-]*", re.IGNORECASE)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 1e-3 else repr(value)
    if isinstance(value, int) or (isinstance(value, str) and _PLAIN.fullmatch(value)):
        return str(value)
    return dumps(value, ensure_ascii=False)  # a JSON text is a YAML text
