"""The original's system prompt, sent word for word in mode `prompt`: where it is and how it is put together."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from wildtool.benchmarks.bfcl.prompt_forms import DEFAULT_FORM, Documents, PromptForm, documents_text
from wildtool.data.pinned import PinnedFile
from wildtool.data.prompt_files import Constants, PromptFile, are_pulled, check_blanks, digest_of, read_files
from wildtool.errors import DataError
from wildtool.json_codec import as_object

ORIGINALS_NOTE = (
    "what descriptions of functions say about the language, and the line that announces further functions in multi-turn"
    " entries, are wildtool's words in both"
)
PATH = "berkeley-function-call-leaderboard/bfcl_eval/constants/default_prompts.py"
BLOB = "1f5e9e1e8119b2277bee2198214ee9d6aaf6f6e2"
_FORMAT = "DEFAULT_SYSTEM_PROMPT_FORMAT"
"""The constant that names the parts of the default prompt: form of calls, tag, form of documents, template, style."""
_ANSWER_FORM, _PARTS = "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT", "MEMORY_AGENT_SETTINGS"
_ONE_MEMORY, _TWO_MEMORIES = "MEMORY_BACKEND_INSTRUCTION_UNIFIED", "MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL"
_AGENTIC = (_ANSWER_FORM, _PARTS, _ONE_MEMORY, _TWO_MEMORIES)
"""Constants of the agentic part. The file is pinned, so the digest of the others covers them too."""
_CONSTANTS = (
    _FORMAT,
    "OUTPUT_FORMAT_MAPPING",
    "PARAM_TYPE_MAPPING",
    "PROMPT_STYLE_TEMPLATES",
    "PROMPT_TEMPLATE_MAPPING",
)


def original_files(repository: str, commit: str) -> list[PromptFile]:
    """The file with the original's prompts."""
    return [PromptFile(PinnedFile(repository, commit, PATH, git_blob=BLOB), (*_CONSTANTS, *_AGENTIC))]


@dataclass(frozen=True, slots=True)
class OriginalTexts:
    """The original's texts, and the prompt made of them."""

    texts: Constants
    digest: str

    def system_prompt(self, documents: Documents, form: PromptForm = DEFAULT_FORM) -> str:
        """The system prompt with these functions. Raises DataError where a part is missing."""
        ascii_only = form.documents == "json"
        functions = (
            json.dumps(documents, indent=4) if ascii_only else documents_text(documents, form.documents)
        )
        return self._composed(functions, form)

    def check(self) -> None:
        """Raises DataError where a part of the prompt is missing or of another shape."""
        self._composed("", DEFAULT_FORM)
        for scenario in as_object(self.texts[_PARTS]):
            for unified in (True, False):
                self.memory(scenario, "", unified=unified)
        self.answer_form()

    def answer_form(self) -> str:
        """How the final answer of an agentic entry is to be written."""
        return _text(_ANSWER_FORM, self.texts[_ANSWER_FORM])

    def memory(self, scenario: str, content: str, *, unified: bool) -> str:
        """The system prompt of a conversation with a memory. Raises DataError."""
        name = _ONE_MEMORY if unified else _TWO_MEMORIES
        blanks = {"scenario_setting": self._part(_PARTS, scenario), "memory_content": content}
        return _filled(name, self.texts[name], blanks)

    def _composed(self, functions: str, form: PromptForm) -> str:
        chosen = {name: values[-1] for name, values in parse_qs(str(self.texts[_FORMAT])).items()}
        if form != DEFAULT_FORM:
            chosen = form.parts()
        style = self._part("PROMPT_STYLE_TEMPLATES", chosen.get("style", ""))
        template = self._part("PROMPT_TEMPLATE_MAPPING", chosen.get("prompt_fmt", ""))
        shape = chosen.get("ret_fmt", "")
        tagged = chosen.get("tool_call_tag") == "True"
        parts = as_object(style)
        blanks = {
            "format": chosen.get("func_doc_fmt", ""),
            "functions": functions,
            "output_format": self._part("OUTPUT_FORMAT_MAPPING", shape),
            "param_types": self._part("PARAM_TYPE_MAPPING", shape),
        }
        filled = {name: _filled(name, text, blanks) for name, text in parts.items()}
        filled["tool_call_format"] = filled.get("tool_call_with_tag" if tagged else "tool_call_no_tag", "")
        return _filled("PROMPT_TEMPLATE_MAPPING", template, filled)

    def _part(self, constant: str, key: str) -> Any:
        found = as_object(self.texts[constant])
        if key not in found:
            raise DataError(f"{PATH}: the constant {constant} has no {key!r}")
        return found[key]


def _text(name: str, text: Any) -> str:
    """Raises DataError for anything else."""
    if not isinstance(text, str):
        raise DataError(f"{PATH}: {name}: expected a text, found {type(text).__name__}")
    return text


def _filled(name: str, text: Any, blanks: Mapping[str, Any]) -> str:
    """A text with its blanks filled. Raises DataError for one that cannot be."""
    check_blanks(_text(name, text), blanks, f"{PATH}: {name}")
    return text.format(**blanks)


def read_original_texts(files: Sequence[PromptFile], folder: Path) -> OriginalTexts | None:
    """The original's prompts from where they were pulled to; None where they were not.

    Raises DataError naming file and constant where one is damaged or of another shape.
    """
    if not are_pulled(files, folder):
        return None
    (texts,) = read_files(files, folder).values()
    found = OriginalTexts(texts, digest_of({name: texts[name] for name in _CONSTANTS}))
    found.check()
    return found
