"""The original's system prompt, put together from a file of its shape with invented texts."""

import hashlib
from pathlib import Path

import pytest

from wildtool.benchmarks.bfcl import BFCL_BENCHMARK, originals
from wildtool.data.pinned import cache_folder
from wildtool.errors import DataError

TEXT = """
MAXIMUM_STEP_LIMIT = 20
DEFAULT_SYSTEM_PROMPT_FORMAT = "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=plain"
OUTPUT_FORMAT_MAPPING = {"python": "[name(x=1)]", "json": "[{}]"}
PARAM_TYPE_MAPPING = {"python": "", "json": "typed"}
_TEMPLATE = "{persona} {task}|{tool_call_format}|{multiturn_behavior}|{available_tools}"
PROMPT_TEMPLATE_MAPPING = {"plaintext": _TEMPLATE, "markdown": "# {task}"}
PROMPT_STYLE_TEMPLATES = {
    "plain": {
        "persona": "You call.",
        "task": "Choose.",
        "tool_call_no_tag": "Write {output_format}.{param_types}",
        "tool_call_with_tag": "Write <T>{output_format}</T>.",
        "multiturn_behavior": "Go on.",
        "available_tools": "In {format}: {functions}",
    }
}
ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT = "Answer as {'answer': X}."
MEMORY_AGENT_SETTINGS = {"shop": "You sell."}
MEMORY_BACKEND_INSTRUCTION_UNIFIED = "{scenario_setting} One: {memory_content}"
MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL = "{scenario_setting} Two: {memory_content}"
raise SystemExit("must never run")
"""


def install(text: str, monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(place))
    data = text.encode()
    monkeypatch.setattr(originals, "BLOB", hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest())
    path = cache_folder() / "bfcl" / "prompts" / originals.PATH
    path.parent.mkdir(parents=True)
    path.write_bytes(data)


def test_the_default_prompt_is_put_together_as_its_name_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(TEXT, monkeypatch, tmp_path)
    found = BFCL_BENCHMARK.in_mode("prompt").in_original_prompts(None)
    assert found is not None and len(found.prompts) == 64 and found.mode == "prompt"
    texts = found._originals  # pyright: ignore[reportPrivateUsage]
    assert texts is not None
    expected = (
        'You call. Choose.|Write [name(x=1)].|Go on.|In json: [\n    {\n        "name": "\\u00e9{"\n    }\n]'
    )
    assert texts.system_prompt([{"name": "é{"}]) == expected
    assert texts.memory("shop", "{x}", unified=True) == "You sell. One: {x}"
    assert texts.memory("shop", "", unified=False) == "You sell. Two: "
    assert texts.answer_form() == "Answer as {'answer': X}."


def test_native_calls_have_no_prompt_of_the_original(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(TEXT, monkeypatch, tmp_path)
    assert BFCL_BENCHMARK.in_mode("fc").in_original_prompts(None) is None
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "empty"))
    assert BFCL_BENCHMARK.in_mode("prompt").in_original_prompts(None) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("style=plain", "style=none"), "PROMPT_STYLE_TEMPLATES has no 'none'"),
        (("{persona}", "{person}"), "found 'person'"),
        (("PARAM_TYPE_MAPPING =", "OTHER ="), "PARAM_TYPE_MAPPING is missing"),
        (("One: {memory_content}", "{other}"), "MEMORY_BACKEND_INSTRUCTION_UNIFIED.*found 'other'"),
    ],
)
def test_a_prompt_of_another_shape_is_named(
    change: tuple[str, str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(TEXT.replace(*change), monkeypatch, tmp_path)
    with pytest.raises(DataError, match=message):
        BFCL_BENCHMARK.in_mode("prompt").in_original_prompts(None)
