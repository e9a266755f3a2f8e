"""Builds what a checkout of ACEBench's repository holds from the official data: invented classes, the same tables."""

import gzip
import json
from pathlib import Path
from typing import Any

from wildtool.benchmarks.acebench.sandbox.extract import CASES


def question_files(official: Path) -> dict[str, bytes]:
    """The question and answer files by their path in the repository."""
    files: dict[str, bytes] = {}
    for path in official.glob("*/**/data_*"):
        content = path.read_bytes()
        name = path.relative_to(official).as_posix().removesuffix(".gz")
        files[f"data_all/data_{name}"] = gzip.decompress(content) if path.suffix == ".gz" else content
    return files


def python_files(official: Path) -> dict[str, str]:
    """The Python files by their path in the repository."""
    messages: dict[str, dict[str, Any]] = _read(official / "sandbox_messages.json")
    undecodable, step, turn = (
        texts["en"] for case, texts in messages.items() if case.startswith("Execution.")
    )
    files = {
        "model_inference/multi_step/execution_role_step.py": f"def respond():\n    return {undecodable!r}",
        "model_inference/multi_step/multi_step_utils.py": _function(step),
        "model_inference/multi_turn/multi_turn_utils.py": _function(turn),
    }
    for lang in ("en", "zh"):
        folder = f"model_inference/multi_step/scenarios{lang}"
        for name in ("base_api", "message", "reminder", "food_services"):
            files[f"{folder}/phone_platform/{name}.py"] = ""
        texts = {case: by_lang[lang] for case, by_lang in messages.items()}
        files[f"{folder}/travel.py"] = _classes(_read(official / f"sandbox_initial_state_{lang}.json"), texts)
    return files


def _function(text: str) -> str:
    return f"def execute_agent_func_call():\n    return {text!r}"


def _classes(state: dict[str, Any], texts: dict[str, Any]) -> str:
    lines: list[str] = []
    for name, attributes in state.items():
        lines += [f"class {name}:", "    def __init__(self):"]
        lines += [f"        self.{attribute} = {value!r}" for attribute, value in attributes.items()]
        for method, cases in CASES.items():
            owner, _, short = method.partition(".")
            said = [texts[f"{method}.{case}"] for case in cases]
            if owner == name and None not in said:
                lines.append(f"    def {short}(self):")
                lines += [f"        return {{'message': {text!r}}}" for text in said]
    economy, business = texts["Travel.cabin_names"]
    lines.append("    def get_baggage_allowance(self):")
    lines.append(f"        table = {{'r': {{{economy!r}: 1, {business!r}: 2}}}}")
    return "\n".join(lines)


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
