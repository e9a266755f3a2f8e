"""The two messages that a Normal or Special record is put in, in three strategies (section 3), from our own wording."""

from collections.abc import Callable, Mapping

from wildtool.benchmarks.acebench.data import NormalRecord, SpecialRecord
from wildtool.benchmarks.acebench.prompts import request_en, request_zh
from wildtool.benchmarks.acebench.prompts.request_texts import NormalTexts, PromptTexts, SpecialTexts
from wildtool.types import Message

PROMPT_TEXTS: Mapping[str, PromptTexts] = {"en": request_en.REQUEST_TEXTS, "zh": request_zh.REQUEST_TEXTS}
_NORMAL: Mapping[str, Callable[[NormalTexts], tuple[str, ...]]] = {
    "text": lambda texts: (
        texts.role,
        "\n".join(
            f"{number}. {rule}"
            for number, rule in enumerate(
                (texts.format, texts.several, texts.optional, texts.own_words, texts.empty), 1
            )
        ),
    ),
    "condensed": lambda texts: (texts.role, texts.format),
    "minimal": lambda texts: (texts.minimal,),
}
_SPECIAL: Mapping[str, Callable[[SpecialTexts], tuple[str, ...]]] = {
    "text": lambda texts: (texts.role, texts.solvable, texts.unsolvable),
    "condensed": lambda texts: (texts.role, texts.format),
    "minimal": lambda texts: (texts.minimal,),
}


def text_messages(record: NormalRecord | SpecialRecord, mode: str) -> tuple[Message, Message]:
    """System prompt with rules, time or profile, roles and APIs; and the conversation as one user message.

    Args:
        mode: `text`, `condensed` or `minimal`: how much the rules tell. The output contract is the same.
    """
    texts = PROMPT_TEXTS[record.lang]
    if isinstance(record, SpecialRecord):
        rules, roles = _SPECIAL[mode](texts.special), texts.special_roles
    else:
        rules, roles = _NORMAL[mode](normal_texts(record)), texts.roles
    # Python's own spelling of the list, not JSON, as the original shows it.
    apis = f"{texts.apis_heading}\n{list(record.functions)}"
    parts = (*rules, situation(record), roles, apis)
    return (
        {"role": "system", "content": "\n\n".join(part for part in parts if part)},
        {"role": "user", "content": f"{texts.history_heading}\n{record.question}"},
    )


def normal_texts(record: NormalRecord) -> NormalTexts:
    """The wording of a Normal record's rules."""
    texts = PROMPT_TEXTS[record.lang]
    return texts.preference if record.profile else texts.normal


def situation(record: NormalRecord | SpecialRecord) -> str:
    """The sentence about the current date, or the headed profile; empty where the record gives neither."""
    if isinstance(record, NormalRecord) and record.profile:
        return f"{PROMPT_TEXTS[record.lang].profile_heading}\n{record.profile}"
    return record.time
