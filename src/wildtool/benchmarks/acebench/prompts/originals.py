"""The original's own prompts, sent word for word: where they stand, and how each request is made of them."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.benchmarks.acebench.data import NormalRecord, SpecialRecord
from wildtool.benchmarks.acebench.sandbox.edition import Lang
from wildtool.data.pinned import PinnedFile
from wildtool.data.prompt_files import (
    Constants,
    PromptFile,
    are_pulled,
    check_blanks,
    digest_of,
    parse_module,
    read_files,
)
from wildtool.errors import DataError
from wildtool.types import Message

ORIGINAL_SAMPLING: Mapping[str, Any] = {"temperature": 0.001, "max_tokens": 1000, "top_p": 1, "attempts": 6}
"""What the original asks agents and simulated users with (Q56)."""
NOTE = "multi-step agents are sent the Chinese prompt in both languages, as the original does behind an API (Q55)"
_FOLDER = "model_inference"
_NORMAL: Mapping[Lang, str] = {lang: f"{_FOLDER}/prompt_{lang}.py" for lang in ("en", "zh")}
_TURN_AGENT = f"{_FOLDER}/multi_turn/APIModel_agent.py"
_TURN_USER = f"{_FOLDER}/multi_turn/APIModel_user.py"
_STEP_AGENT = f"{_FOLDER}/multi_step/APIModel_agent.py"
_STEP_SYSTEM = "MULTI_TURN_AGENT_PROMPT_SYSTEM"
_OPENING = "get_init_prompt"
"""The function that holds the lines with which the simulated user is greeted."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]")

BLOBS: Mapping[str, str] = {
    _NORMAL["en"]: "48a4318bb66da926536524b944516f8e2f06409e",
    _NORMAL["zh"]: "92c436cfa3dd0a0199618666c13b91b1a6a92a71",
    _TURN_AGENT: "d1ecfa90a72565a2b478a47f695cc8714020044a",
    _TURN_USER: "cf32599eb802e1d207ed8ea2903075fe8774905a",
    _STEP_AGENT: "604575ab23abefd196062daf1876aadd44f5bfea",
}
"""Path of each file to its git blob id."""


def _both(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}_{lang}" for name in names for lang in ("EN", "ZH"))


_CONSTANTS: Mapping[str, tuple[str, ...]] = {
    **{
        path: tuple(
            f"{name}_{lang.upper()}"
            for name in (
                *(f"SYSTEM_PROMPT_FOR_{kind}_DATA" for kind in ("NORMAL", "PREFERENCE", "SPECIAL")),
                "USER_PROMPT",
                "TRAVEL_PROMPT",
                "BASE_PROMPT",
            )
        )
        for lang, path in _NORMAL.items()
    },
    _TURN_AGENT: _both("MULTI_TURN_AGENT_PROMPT_SYSTEM", "MULTI_TURN_AGENT_PROMPT_USER"),
    _TURN_USER: _both("SYSTEM_PROMPT_TRAVEL", "SYSTEM_PROMPT_BASE"),
    # The last is in the original's file and in none of its requests.
    _STEP_AGENT: _both("MULTI_TURN_AGENT_PROMPT_SYSTEM", "MULTI_TURN_AGENT_PROMPT_USER", "FOOD_SYSTEM"),
}
_BLANKS: Mapping[str, frozenset[str]] = {
    "SYSTEM_PROMPT_FOR_NORMAL_DATA": frozenset({"time", "function"}),
    "SYSTEM_PROMPT_FOR_PREFERENCE_DATA": frozenset({"profile", "function"}),
    "SYSTEM_PROMPT_FOR_SPECIAL_DATA": frozenset({"time", "function"}),
    "USER_PROMPT": frozenset({"question"}),
    "MULTI_TURN_AGENT_PROMPT_USER": frozenset({"functions", "history"}),
    "SYSTEM_PROMPT_TRAVEL": frozenset({"instruction"}),
    "SYSTEM_PROMPT_BASE": frozenset({"instruction"}),
}
"""Constants that are filled, each with the blanks it may have; others are sent as they are."""


def prompt_files(repository: str, commit: str, blobs: Mapping[str, str] | None = None) -> list[PromptFile]:
    """The files with the original's prompts. Args: blobs: path to git blob id, where another than the pinned counts."""
    pins = BLOBS if blobs is None else blobs
    return [
        PromptFile(
            PinnedFile(repository, commit, path, git_blob=pins[path]),
            names,
            _read_openings if path == _TURN_USER else None,
        )
        for path, names in _CONSTANTS.items()
    ]


@dataclass(frozen=True, slots=True)
class Originals:
    """The original's texts, and the requests made of them."""

    texts: Mapping[str, Constants]
    """Path to constants."""
    digest: str

    def text_messages(self, record: NormalRecord | SpecialRecord) -> tuple[Message, Message]:
        """The two messages of a Normal or Special record."""
        path = _NORMAL["zh" if record.lang == "zh" else "en"]
        function = list(record.functions)
        if isinstance(record, SpecialRecord):
            system = self._filled(path, "SYSTEM_PROMPT_FOR_SPECIAL_DATA", time=record.time, function=function)
        elif record.profile:
            system = self._filled(
                path, "SYSTEM_PROMPT_FOR_PREFERENCE_DATA", profile=record.profile, function=function
            )
        else:
            system = self._filled(path, "SYSTEM_PROMPT_FOR_NORMAL_DATA", time=record.time, function=function)
        return _pair(system, self._filled(path, "USER_PROMPT", question=record.question))

    def agent_system(self, lang: Lang, classes: Sequence[str], *, multi_turn: bool) -> str:
        """The system prompt of an agent; one that works alone gets the Chinese one in both languages (Q55)."""
        if not multi_turn:
            return self._filled(_STEP_AGENT, _STEP_SYSTEM, "zh", time="")
        suffix, rules = lang.upper(), self.texts[_NORMAL[lang]]
        return "".join(
            (
                self.texts[_TURN_AGENT][f"MULTI_TURN_AGENT_PROMPT_SYSTEM_{suffix}"],
                rules[f"TRAVEL_PROMPT_{suffix}"] if "Travel" in classes else "",
                rules[f"BASE_PROMPT_{suffix}"] if "BaseApi" in classes else "",
            )
        )

    def agent_input(
        self, lang: Lang, functions: Sequence[Any], lines: Sequence[str], *, multi_turn: bool
    ) -> str:
        """The user message of an agent; for one that works alone in Chinese too."""
        path, lang = (_TURN_AGENT, lang) if multi_turn else (_STEP_AGENT, "zh")
        history = "".join(f"{line}\n" for line in lines)
        return self._filled(
            path, "MULTI_TURN_AGENT_PROMPT_USER", lang, functions=list(functions), history=history
        )

    def user_messages(self, lang: Lang, classes: Sequence[str], instruction: str) -> tuple[Message, Message]:
        """What the simulated user is sent first: its rules, and the line that offers help."""
        name = "SYSTEM_PROMPT_BASE" if "BaseApi" in classes else "SYSTEM_PROMPT_TRAVEL"
        system = self._filled(_TURN_USER, name, lang, instruction=instruction)
        return _pair(system, self.texts[_TURN_USER][f"{_OPENING} {lang}"])

    def _filled(self, path: str, name: str, lang: Lang | None = None, **values: Any) -> str:
        """A text with its blanks filled; its language is that of the file where none is named."""
        suffix = (lang or ("zh" if path == _NORMAL["zh"] else "en")).upper()
        return self.texts[path][f"{name}_{suffix}"].format(**values)


def read_originals(files: Sequence[PromptFile], folder: Path) -> Originals | None:
    """The original's prompts from where they were pulled to; None where they were not.

    Raises DataError naming file and constant where one is damaged or of another shape.
    """
    if not are_pulled(files, folder):
        return None
    texts = read_files(files, folder)
    for path, constants in texts.items():
        for constant, text in constants.items():
            _check(path, constant, text)
    return Originals(texts, digest_of(texts))


def _check(path: str, constant: str, text: Any) -> None:
    """Raises DataError for what is no text, or has other blanks than are filled."""
    where = f"{path}: the constant {constant}"
    if not isinstance(text, str):
        raise DataError(f"{where}: expected text, found {type(text).__name__}")
    name = constant.rpartition("_")[0]
    allowed = frozenset({"time"}) if (path, name) == (_STEP_AGENT, _STEP_SYSTEM) else _BLANKS.get(name)
    if allowed is None:
        return
    check_blanks(text, allowed, where)


def _read_openings(source: str, where: str) -> dict[str, str]:
    """The lines that offer help, by language: texts that a message of role `user` has in one function."""
    openings: dict[str, set[str]] = {"en": set(), "zh": set()}
    for function in ast.walk(parse_module(source, where)):
        if isinstance(function, ast.FunctionDef) and function.name == _OPENING:
            for text in filter(None, map(_user_text, ast.walk(function))):
                openings["zh" if _CHINESE.search(text) else "en"].add(text)
    for lang, texts in openings.items():
        if len(texts) != 1:
            raise DataError(
                f"{where}: {_OPENING}: expected one line of role user for {lang}, found {len(texts)}"
            )
    return {f"{_OPENING} {lang}": next(iter(texts)) for lang, texts in openings.items()}


def _user_text(node: ast.AST) -> str | None:
    """The content of a message of role `user` that is written out."""
    if not isinstance(node, ast.Dict):
        return None
    fields = {
        key.value: value.value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
    }
    content = fields.get("content")
    return content if fields.get("role") == "user" and isinstance(content, str) else None


def _pair(system: str, user: str) -> tuple[Message, Message]:
    return {"role": "system", "content": system}, {"role": "user", "content": user}
