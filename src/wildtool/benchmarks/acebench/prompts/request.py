"""Our own wording, and the two messages that a Normal or Special record is put in, in three strategies (section 3)."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template

from wildtool.benchmarks.acebench.data import NormalRecord, SpecialRecord
from wildtool.data.text_blocks import text_blocks
from wildtool.types import Message

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


_RULES: Mapping[str, tuple[str, ...]] = {
    "text": ("role", "rules"),
    "condensed": ("role", "format"),
    "minimal": ("minimal",),
    "native": ("native",),
}
"""Mode to the blocks that give its rules."""


def text_messages(record: NormalRecord | SpecialRecord, mode: str) -> tuple[Message, Message]:
    """System prompt with rules, time or profile, roles and APIs; and the conversation as one user message.

    Args:
        mode: `text`, `condensed` or `minimal`: how much the rules tell. The output contract is the same.
    """
    texts = prompt_texts(record.lang)
    roles = texts["special_roles" if isinstance(record, SpecialRecord) else "roles"]
    # Python's own spelling of the list, not JSON, as the original shows it.
    apis = f"{texts['apis_heading']}\n{list(record.functions)}"
    return (
        system_message(record, mode, roles, apis),
        {"role": "user", "content": f"{texts['history_heading']}\n{record.question}"},
    )


def system_message(record: NormalRecord | SpecialRecord, mode: str, *more: str) -> Message:
    """The rules of a mode (`native`: without what the others say about brackets), the situation, and more paragraphs."""
    texts = prompt_texts(record.lang)
    kind, situation = "special" if isinstance(record, SpecialRecord) else "normal", record.time
    if isinstance(record, NormalRecord) and record.profile:
        kind, situation = "preference", f"{texts['profile_heading']}\n{record.profile}"
    parts = (*(texts[f"{kind}_{part}"] for part in _RULES[mode]), situation, *more)
    return {"role": "system", "content": "\n\n".join(part for part in parts if part)}
