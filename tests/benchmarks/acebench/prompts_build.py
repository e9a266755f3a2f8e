"""Builds files of the shape of ACEBench's prompt files with invented texts, and pins that fit them."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from wildtool.benchmarks.acebench.prompts import originals

AGENT = "\n".join(
    f'MULTI_TURN_AGENT_PROMPT_SYSTEM_{lang} = """{{kind}} agent {lang}\\n"""\n'
    f'MULTI_TURN_AGENT_PROMPT_USER_{lang} = """{{kind}} {lang} <{{{{functions}}}}>\\n{{{{history}}}}"""'
    for lang in ("EN", "ZH")
)


def _normal(lang: str) -> str:
    return f'''
SYSTEM_PROMPT_FOR_NORMAL_DATA_{lang} = """normal {lang} {{time}} """ "[{{function}}]"
SYSTEM_PROMPT_FOR_PREFERENCE_DATA_{lang} = ("preference {lang} {{profile}} " + "[{{function}}]")
SYSTEM_PROMPT_FOR_SPECIAL_DATA_{lang} = """special {lang} {{time}} [{{function}}]"""
USER_PROMPT_{lang} = """history {lang}\\n{{question}}"""
TRAVEL_PROMPT_{lang} = """travel {lang} {{not a blank}}"""
BASE_PROMPT_{lang} = """phone {lang}"""
'''


USER = '''
import os

SYSTEM_PROMPT_TRAVEL_ZH = """旅客 {instruction}"""
SYSTEM_PROMPT_BASE_ZH = """用户 {instruction}"""
SYSTEM_PROMPT_TRAVEL_EN = """traveller {instruction}"""
SYSTEM_PROMPT_BASE_EN = """person {instruction}"""
raise SystemExit("must never run")


class User:
    def get_init_prompt(self, question):
        """Opens."""
        if self.lang == "zh":
            self.messages = [{"role": "system", "content": rules}, {"role": "user", "content": "要帮忙吗?"}]
        else:
            self.messages = [{"role": "system", "content": rules}, {"role": "user", "content": "Help?"}]
        return {"role": "system", "content": "no line of the user"}
'''
FILES: Mapping[str, str] = {
    "model_inference/prompt_en.py": _normal("EN"),
    "model_inference/prompt_zh.py": _normal("ZH"),
    "model_inference/multi_turn/APIModel_agent.py": AGENT.format(kind="turn"),
    "model_inference/multi_turn/APIModel_user.py": USER,
    "model_inference/multi_step/APIModel_agent.py": AGENT.format(kind="step")
    + '\nFOOD_SYSTEM_ZH = """{"Ann": 1}"""\nFOOD_SYSTEM_EN = FOOD_SYSTEM_ZH + "!"\n',
}


def blob(content: bytes) -> str:
    """The git blob id of some bytes."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def pin(monkeypatch: pytest.MonkeyPatch, files: Mapping[str, str] = FILES) -> None:
    """Makes the pins those of these files."""
    monkeypatch.setattr(originals, "BLOBS", {path: blob(text.encode()) for path, text in files.items()})


def write(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """Writes the files by their path in the repository."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder
