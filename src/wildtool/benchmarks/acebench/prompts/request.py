"""The two messages that a Normal or Special record is put in, in three strategies (section 3), from our own wording."""

from collections.abc import Mapping

from wildtool.benchmarks.acebench.data import NormalRecord, SpecialRecord
from wildtool.benchmarks.acebench.prompts.texts import prompt_texts
from wildtool.types import Message

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
    kind = "special" if isinstance(record, SpecialRecord) else "preference" if record.profile else "normal"
    rules = (texts[f"{kind}_{part}"] for part in _RULES[mode])
    parts = (*rules, _situation(record), *more)
    return {"role": "system", "content": "\n\n".join(part for part in parts if part)}


def _situation(record: NormalRecord | SpecialRecord) -> str:
    """The sentence about the current date, or the headed profile; empty where the record gives neither."""
    if isinstance(record, NormalRecord) and record.profile:
        return f"{prompt_texts(record.lang)['profile_heading']}\n{record.profile}"
    return record.time
