"""The wording of prompts by language, and the three messages that a Special record is answered with."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template

from wildtool.data.text_blocks import text_blocks

INCORRECT_MESSAGE = (
    '["There is incorrect value ({values}) for the parameters ({keys}) in the conversation history."]'
)
MISSING_MESSAGE = '["Missing necessary parameters ({keys}) for the api ({api})"]'
LIMITATIONS_MESSAGE = '["Due to the limitations of the function, I cannot solve this problem."]'
PROBLEM_MESSAGES = "\n".join(
    (
        f"1. {INCORRECT_MESSAGE.format(values='value', keys='key')}",
        f"2. {MISSING_MESSAGE.format(keys='key1, key2, ...', api='ApiName')}",
        f"3. {LIMITATIONS_MESSAGE}",
    )
)
"""What a Special record is answered with (section 4): part of the task's definition, English in both languages."""


@cache
def prompt_texts(lang: str) -> Mapping[str, str]:
    """Our own wording in a language, by the name of its block in `<lang>.txt`."""
    texts = {"problem_messages": PROBLEM_MESSAGES}
    for name, text in text_blocks(Path(__file__).with_name(f"{lang}.txt")).items():
        texts[name] = Template(text).substitute(texts)
    return texts
