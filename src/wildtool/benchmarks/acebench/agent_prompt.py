"""What the agent and the simulated user of an episode are sent (sections 8.1 and 8.2), from our own wording."""

from collections.abc import Mapping, Sequence
from typing import Any

from wildtool.benchmarks.acebench import agent_texts_en, agent_texts_zh
from wildtool.benchmarks.acebench.agent_texts import AgentTexts
from wildtool.benchmarks.acebench.sandbox_edition import Lang
from wildtool.types import Message

_TEXTS: Mapping[Lang, AgentTexts] = {"en": agent_texts_en.TEXTS, "zh": agent_texts_zh.TEXTS}


def agent_messages(
    lang: Lang,
    classes: Sequence[str],
    functions: Sequence[Mapping[str, Any]],
    lines: Sequence[str],
    *,
    multi_turn: bool,
) -> tuple[Message, Message]:
    """System prompt and one user message: the tools in Python's own spelling, then the transcript so far.

    Args:
        classes: involved sandbox classes, which decide the rules of a multi-turn scenario.
        lines: the transcript, one line per message.
    """
    texts = _TEXTS[lang]
    parts = [texts.multi_turn if multi_turn else texts.multi_step]
    if multi_turn:
        if "Travel" in classes:
            parts.append(texts.travel_rules)
        if "BaseApi" in classes:
            parts.append(texts.phone_rules)
    shown = texts.input.format(functions=list(functions), transcript="\n".join(lines))
    return {"role": "system", "content": "\n\n".join(parts)}, {"role": "user", "content": shown}


def simulator_system(lang: Lang, classes: Sequence[str], instruction: str) -> str:
    """The rules of the simulated user with the record's instruction."""
    texts = _TEXTS[lang]
    rules = texts.travel_user if "Travel" in classes else texts.phone_user
    return rules.format(instruction=instruction)


def simulator_greeting(lang: Lang) -> str:
    """What the simulated user is greeted with."""
    return _TEXTS[lang].greeting


def cooperative_reply(lang: Lang) -> str:
    """What the user without a model says to every question."""
    return _TEXTS[lang].go_on
