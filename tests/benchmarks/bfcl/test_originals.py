"""The original's texts, read from a package of its shape with invented texts and put together."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from wildtool.benchmarks.bfcl.originals import OriginalTexts, hinted, original_texts
from wildtool.benchmarks.bfcl.package import package_file
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.errors import DataError

PROMPTS = """
OUTPUT_FORMAT_MAPPING = {"python": "[name(x=1)]", "json": "[{}]"}
PARAM_TYPE_MAPPING = {"python": "", "json": "typed"}
_TEMPLATE = "{persona} {task}|{tool_call_format}|{multiturn_behavior}|{available_tools}"
PROMPT_TEMPLATE_MAPPING = {"plaintext": _TEMPLATE, "markdown": "# {task}"}
PROMPT_STYLE_TEMPLATES = {
    "classic": {
        "persona": "You call.",
        "task": "Choose.",
        "tool_call_no_tag": "Write {output_format}.{param_types}",
        "tool_call_with_tag": "Write <T>{output_format}</T>.",
        "multiturn_behavior": "Go on.",
        "available_tools": "In {format}: {functions}",
    }
}
DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC = "More."
DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING = "{functions} " + DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC
ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT = "Answer as {'answer': X}."
MEMORY_AGENT_SETTINGS = {"shop": "You sell."}
MEMORY_BACKEND_INSTRUCTION_UNIFIED = "{scenario_setting} One: {memory_content}"
MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL = "{scenario_setting} Two: {memory_content}"
raise SystemExit("must never run")
"""
HINTS = """
raise SystemExit("must never run")
def _get_language_specific_hint(category):
    if category == 1:
        return " J."
    elif category == 2:
        return " S."
    else:
        return " P."
def _func_doc_language_specific_pre_processing(function, category):
    for item in function:
        item["description"] = item["description"] + _get_language_specific_hint(category)
        for key, value in properties.items():
            if category == 1:
                if value["type"] == "any":
                    properties[key]["description"] += " Anything."
                else:
                    value["description"] += f" A {value['type']}."
                value["description"] += f" Of {value['items']['type']}."
            elif category == 2:
                value["description"] += " Any."
                value["description"] += f" The {value['type']}."
                value["description"] += f" Each {value['items']['type']}."
                value["description"] += f" Has {json.dumps(value['properties'])}"
    return function
"""


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OriginalTexts:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    package_file("v4").parent.mkdir(parents=True)
    with ZipFile(package_file("v4"), "w") as package:
        package.writestr("bfcl_eval/constants/default_prompts.py", PROMPTS)
        package.writestr("bfcl_eval/utils.py", HINTS)
    return original_texts()


def test_the_prompt_is_put_together_as_its_form_says(texts: OriginalTexts) -> None:
    expected = (
        'You call. Choose.|Write [name(x=1)].|Go on.|In json: [\n    {\n        "name": "\\u00e9{"\n    }\n]'
    )
    assert texts.system_prompt([{"name": "é{"}]) == expected
    tagged = texts.system_prompt([], PROMPT_FORMS["json/tag/json/plaintext/classic"])
    assert "|Write <T>[{}]</T>.|" in tagged


def test_notices_and_memories_are_filled_in(texts: OriginalTexts) -> None:
    assert (texts.notice, texts.written_notice([{"name": "f"}])) == ("More.", "[{'name': 'f'}] More.")
    assert texts.memory("shop", "{x}", unified=True) == "You sell. One: {x}"
    assert texts.memory("shop", "", unified=False) == "You sell. Two: "
    assert texts.answer_form == "Answer as {'answer': X}."
    with pytest.raises(DataError, match="'zoo': expected one of shop"):
        texts.memory("zoo", "", unified=True)


def test_documents_name_the_language_and_the_types_of_texts(texts: OriginalTexts) -> None:
    values = {
        "a": {"type": "any", "description": "A."},
        "b": {"type": "array", "description": "B.", "items": {"type": "float"}},
        "c": {"type": "dict", "properties": {"d": {}}},
        "e": {"type": "array"},
        "f": {"type": "dict"},
    }
    document = {"name": "f", "description": "F.", "parameters": {"properties": values}}
    (python,), (script,) = hinted([document], "python"), hinted([document], "javascript")
    assert python == {**document, "description": "F. P."}
    assert script["description"] == "F. S."
    assert script["parameters"]["properties"] == {
        "a": {"type": "string", "description": "A. Any."},
        "b": {"type": "string", "description": "B. The array. Each float."},
        "c": {"type": "string", "description": ' The dict. Has {"d": {}}'},
        "e": {"type": "string", "description": " The array."},
        "f": {"type": "string", "description": " The dict."},
    }
    (java,) = hinted([document], "java")
    shown = java["parameters"]["properties"]
    assert shown["a"]["description"] == "A. Anything." and shown["b"]["items"] == {"type": "float"}
    assert hinted(hinted([document], "python"), "python")[0]["description"] == "F. P. P."


def test_a_package_that_is_missing_or_damaged_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match="wildtool data pull bfcl"):
        original_texts()
    package_file("v4").parent.mkdir(parents=True)
    package_file("v4").write_text("no zip")
    with pytest.raises(DataError, match="cannot be read"):
        original_texts()
